//! Starvation in End-to-End Congestion Control (Arun, Alizadeh and Balakrishnan 2022).

use super::change;
use super::files::paper_files;
use super::reproduction::Reproduction;
use super::{Bench, Computed, Findings, Result};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("starvation": "copa", "copa-width", "bbr", "acks"),
    runners: &[
        ("copa-alone", copa_alone),
        ("copa-pair", copa_pair),
        ("bbr-pair", bbr_pair),
        ("acknowledgements", acknowledgements),
        ("copa-width", copa_width),
    ],
};

fn copa_alone(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let copa = bench.assumed("copa")?;
    let algorithms = with_others(&copa, &["bbr3", "bbr", "vegas", "fast"]);
    let runs = bench.run_all(algorithms.iter().map(|algorithm| alone(bench, algorithm)), Probe::SUMMARY)?;
    findings.value("goodput", goodput(&runs[0], 0));
    for (algorithm, runs) in algorithms.iter().zip(&runs).skip(1) {
        findings.extra(format!("{algorithm}: goodput"), MBIT, goodput(runs, 0));
    }
    Ok(())
}

fn copa_pair(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let copa = bench.assumed("copa")?;
    let algorithms = with_others(&copa, &["bbr3", "bbr", "vegas", "fast"]);
    let runs = bench.run_all(algorithms.iter().map(|algorithm| of_all(bench, "copa", algorithm)), Probe::SUMMARY)?;
    findings.value("goodput of the flow with the packet", goodput(&runs[0], 0));
    findings.value("goodput of the other", goodput(&runs[0], 1));
    others(findings, &algorithms, &runs, ["with the packet", "the other"]);
    Ok(())
}

fn bbr_pair(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let bbr = bench.assumed("bbr")?;
    let algorithms = with_others(&bbr, &["bbr3", "bbr3:offload=3", COPA, "vegas", "fast"]);
    let runs = bench.run_all(algorithms.iter().map(|algorithm| of_all(bench, "bbr", algorithm)), Probe::SUMMARY)?;
    let [short, long] = [0, 1].map(|flow| goodput(&runs[0], flow));
    findings.value("the flow of 80 ms less that of 40 ms", long.minus(&short));
    findings.value("goodput of the flow of 40 ms", short);
    findings.value("goodput of the flow of 80 ms", long);
    others(findings, &algorithms, &runs, ["40 ms", "80 ms"]);
    Ok(())
}

fn acknowledgements(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let algorithms = ["reno", "cubic", "bbr3", "bbr", COPA, "vegas"].map(str::to_string);
    let runs = bench.run_all(algorithms.iter().map(|algorithm| of_all(bench, "acks", algorithm)), Probe::SUMMARY)?;
    findings.value("Reno: the one over the other", ratio(&runs[0]));
    findings.value("CUBIC: the one over the other", ratio(&runs[1]));
    others(findings, &algorithms[1..], &runs[1..], ["at once", "waiting"]);
    Ok(())
}

/// The difference of the greatest and the least round-trip time, as the packets that the link carries in it.
fn copa_width(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let copa = bench.assumed("copa")?;
    let algorithms = with_others(&copa, &["vegas", "fast", "bbr3", "bbr"]);
    let scenarios = algorithms.iter().map(|algorithm| of_all(bench, "copa-width", algorithm));
    let runs = bench.run_all(scenarios, Probe::OVER_TIME)?;
    findings.value("width of the delays", width(&runs[0]));
    for (algorithm, runs) in algorithms.iter().zip(&runs).skip(1) {
        findings.extra(format!("{algorithm}: width of the delays"), "packets", width(runs));
    }
    Ok(())
}

/// The paper's algorithm, and those that it did not run there.
fn with_others(own: &str, others: &[&str]) -> Vec<String> {
    [own].into_iter().chain(others.iter().copied()).map(str::to_string).collect()
}

fn alone(bench: &Bench<'_>, algorithm: &str) -> Result<Scenario> {
    bench.scenario("copa", |document| {
        document.flow.truncate(1);
        change::set_algorithm(&mut document.flow, algorithm)
    })
}

fn of_all(bench: &Bench<'_>, name: &str, algorithm: &str) -> Result<Scenario> {
    bench.scenario(name, |document| change::set_algorithm(&mut document.flow, algorithm))
}

/// The goodputs of both flows under the algorithms that the paper did not run there: all but the first.
fn others(findings: &mut Findings, algorithms: &[String], runs: &[Vec<Reduction>], flows: [&str; 2]) {
    for (algorithm, runs) in algorithms.iter().zip(runs).skip(1) {
        for (flow, name) in flows.iter().enumerate() {
            findings.extra(format!("{algorithm}: goodput of the flow, {name}"), MBIT, goodput(runs, flow));
        }
    }
}

/// The goodput of a flow in Mbit/s.
fn goodput(runs: &[Reduction], flow: usize) -> Computed {
    Computed::over(runs, |kept| Some(kept.all("flow_goodput_bps").get(flow)? * 1e-6))
}

/// The goodput of the first flow over that of the second.
fn ratio(runs: &[Reduction]) -> Computed {
    Computed::over(runs, |kept| match kept.all("flow_goodput_bps") {
        [one, other] => Some(one / other),
        _ => None,
    })
}

fn width(runs: &[Reduction]) -> Computed {
    Computed::over(runs, |kept| {
        let settled = kept.all("srtt_1").get(SETTLED..)?;
        let [least, greatest] = [f64::min, f64::max].map(|of| settled.iter().copied().reduce(of));
        Some((greatest? - least?) * RATE_OF_PACKETS)
    })
}

const MBIT: &str = "Mbit/s";
const COPA: &str = "copa:mode=default";
/// Intervals of [`Probe::OVER_TIME`] in 20 s.
const SETTLED: usize = 100;
/// 120 Mbit/s, packets per second.
const RATE_OF_PACKETS: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_what_the_link_carries_between_the_least_and_the_greatest_delay() {
        let mut kept = Reduction::default();
        let starting = vec![0.5; SETTLED];
        kept.keep("srtt_1", [starting, vec![0.0601, 0.0605, 0.0603]].concat());
        let [width] = width(&[kept, Reduction::default()]).values()[..] else { panic!("one run has an answer") };
        assert!((width - 4.0).abs() < 1e-9, "{width}");
    }

    #[test]
    fn the_waiting_receiver_is_the_second() {
        let mut kept = Reduction::default();
        kept.keep("flow_goodput_bps", [4e6, 2e6]);
        assert_eq!(ratio(std::slice::from_ref(&kept)).values(), [2.0]);
        assert_eq!(goodput(&[kept], 1).values(), [2.0]);
    }
}
