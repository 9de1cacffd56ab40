//! An Analysis of AIMD Algorithms with Decreasing Increases (Gu, Hong and Grossman 2004): DAIMD and UDT.

mod claims;
mod delay;
mod errors;
#[cfg(test)]
mod fit;
mod paths;
mod profile;
mod rest;
mod stages;
mod testbed;

use cwnd::units::Bytes;

use super::bench::Bench;
use super::error::Result;
use super::files::paper_files;
use super::reproduction::Reproduction;
pub use profile::Profile;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("daimd": "alone", "beside-tcp", "chain", "coalesced", "delay", "fast", "pairs", "pairs-many", "pairs-crossed", "round-trips", "testbed", "tree", "two", "xcp"),
    runners: &[
        ("fig-1", stages::figure_1),
        ("fig-2", stages::figure_2),
        ("fig-3", stages::figure_3),
        ("fig-4", stages::figure_4),
        ("table-6", stages::table_6),
        ("text-fixed-time", rest::fixed_time),
        ("text-tcp-recovery", claims::tcp_recovery),
        ("text-tcp-friendly-threshold", claims::friendliness),
        ("text-fairness-index", claims::fairness_index),
        ("text-utility", claims::utility),
        ("text-equilibrium", stages::equilibria),
        ("table-1", testbed::table_1),
        ("table-1-flows", testbed::flows),
        ("text-testbed", testbed::claims),
        ("fig-7", testbed::figure_7),
        ("table-2", paths::table_2),
        ("fig-10", paths::figure_10),
        ("table-3", paths::table_3),
        ("fig-14", paths::figure_14),
        ("table-4", delay::table_4),
        ("table-4-si", delay::table_4_stability),
        ("table-5", delay::table_5),
        ("text-window-bound", delay::window_bound),
        ("text-capacity-estimate", errors::estimates),
        ("text-capacity-error", errors::ratios),
        ("text-large-share", errors::large_share),
        ("text-related-work", claims::related_work),
    ],
};

/// The two UDTs that are compared with the paper: what its sentences say, and release 2.2 of its author's ns-2 agent.
const PROFILES: [&str; 2] = ["paper", "ns2-2.2"];
/// A packet on the wire; the stages are balanced for this size.
const PACKET: Bytes = Bytes(1500);

/// The rules of profile `paper` that the paper leaves open, by parameter of `udt` and key of the assumption.
const RULES: [(&str, &str); 6] = [
    ("decrease", "decrease"),
    ("start", "start"),
    ("initial_window", "initial-window"),
    ("acknowledge", "acknowledge"),
    ("naks", "naks"),
    ("delay_warnings", "delay-warnings"),
];

/// The profiles for which there are rows; a variant takes the place of `paper`, alone.
fn profiles(bench: &Bench<'_>) -> &'static [&'static str] {
    if bench.variant().is_some() { &PROFILES[..1] } else { &PROFILES }
}

/// UDT in a profile, with the assumptions about it.
fn udt(bench: &Bench<'_>, profile: &str) -> Result<String> {
    let lambda = bench.assumed("lambda")?;
    if let Some(variant) = bench.variant() {
        return Ok(format!("{variant},lambda={lambda}"));
    }
    if profile != "paper" {
        return Ok(format!("udt:profile={profile},lambda={lambda}"));
    }
    let mut algorithm = format!("udt:profile=paper,lambda={lambda}");
    for (parameter, key) in RULES {
        algorithm.push_str(&format!(",{parameter}={}", bench.assumed(key)?));
    }
    Ok(algorithm)
}

/// Packets per SYN as Mbit/s.
fn mbit(packets_per_syn: f64) -> f64 {
    packets_per_syn * PACKET.bits() / cwnd::rate::udt::SYN.as_secs_f64() * 1e-6
}

#[cfg(test)]
mod tests {
    use super::PAPER;
    use cwnd_run::scenario::Scenario;

    /// Rows count what arrives in bits on the wire, `cwnd run` in bits of payload: the same number where a packet is all payload.
    #[test]
    fn scenarios_of_agents_alone_count_whole_packets() {
        let mut checked = 0;
        for (name, text) in PAPER.files.scenarios {
            let scenario = Scenario::read(&PAPER.files.path(&format!("{name}.toml")), text, &[])
                .unwrap_or_else(|error| panic!("{error}"));
            let document = scenario.document();
            let agents = document.flow.iter().all(|flow| flow.algorithm.to_string().starts_with("udt:profile=paper"));
            // The scenario of Tables 4 and 5 is TCP's, too.
            if document.cbr.is_empty() && agents && *name != "delay" {
                assert_eq!(document.payload.value(), document.packet.value(), "{name}");
                checked += 1;
            }
        }
        assert_eq!(checked, 7);
    }
}
