//! An Analysis of AIMD Algorithms with Decreasing Increases (Gu, Hong and Grossman 2004): DAIMD and UDT.

mod claims;
mod delay;
mod errors;
mod paths;
mod rest;
mod stages;
mod testbed;

use cwnd::units::Bytes;

use super::files::{Files, paper_file};
use super::{Bench, PaperError};

pub(super) const FILES: Files = Files {
    id: "daimd",
    published: paper_file!("daimd/published.toml"),
    scenarios: &[
        ("alone", paper_file!("daimd/alone.toml")),
        ("beside-tcp", paper_file!("daimd/beside-tcp.toml")),
        ("chain", paper_file!("daimd/chain.toml")),
        ("delay", paper_file!("daimd/delay.toml")),
        ("pairs", paper_file!("daimd/pairs.toml")),
        ("pairs-many", paper_file!("daimd/pairs-many.toml")),
        ("pairs-crossed", paper_file!("daimd/pairs-crossed.toml")),
        ("round-trips", paper_file!("daimd/round-trips.toml")),
        ("testbed", paper_file!("daimd/testbed.toml")),
        ("tree", paper_file!("daimd/tree.toml")),
        ("two", paper_file!("daimd/two.toml")),
    ],
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
        ("text-equilibrium", stages::equilibria),
        ("table-1", testbed::table_1),
        ("text-testbed", testbed::claims),
        ("fig-7", testbed::figure_7),
        ("table-2", paths::table_2),
        ("fig-10", paths::figure_10),
        ("table-3", paths::table_3),
        ("fig-14", paths::figure_14),
        ("table-4", delay::table_4),
        ("table-5", delay::table_5),
        ("text-window-bound", delay::window_bound),
        ("text-capacity-estimate", errors::estimates),
        ("text-capacity-error", errors::ratios),
        ("text-large-share", errors::large_share),
        ("text-related-work", claims::related_work),
    ],
};

/// The two UDTs that are compared with the paper: its equations, and its author's ns-2 agent.
const PROFILES: [&str; 2] = ["paper", "ns2"];
/// A packet on the wire; the stages are balanced for this size.
const PACKET: Bytes = Bytes(1500);

/// UDT in a profile, with what is assumed of it.
fn udt(bench: &Bench<'_>, profile: &str) -> Result<String, PaperError> {
    let lambda = bench.assumed("lambda")?;
    if profile != "paper" {
        return Ok(format!("udt:profile={profile},lambda={lambda}"));
    }
    let (decrease, start) = (bench.assumed("decrease")?, bench.assumed("start")?);
    let window = bench.assumed("initial-window")?;
    Ok(format!("udt:profile=paper,decrease={decrease},start={start},initial_window={window},lambda={lambda}"))
}

/// Packets per SYN as Mbit/s.
fn mbit(packets_per_syn: f64) -> f64 {
    packets_per_syn * PACKET.bits() / cwnd::rate::udt::SYN.as_secs_f64() * 1e-6
}
