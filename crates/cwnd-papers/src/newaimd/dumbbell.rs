//! New AIMD in packets: the NCTUns dumbbell, and what its authors did not run on it.

use crate::{Bench, Findings, Ours, PaperError};
use cwnd_run::measure::jain;
use cwnd_run::probe::{Kept, Probe};

/// How many flows the paper ran.
pub(super) const FLOWS: [u32; 4] = [2, 3, 4, 5];

/// New AIMD as assumed, and beside it the other statements of it, and AIMD.
fn algorithms(bench: &Bench<'_>) -> Result<Vec<(String, String)>, PaperError> {
    let floor = bench.assumed("floor")?;
    let variant = |variant: &str| (format!("New AIMD {variant}"), format!("new-aimd:variant={variant},floor={floor}"));
    let floorless = ("New AIMD E without a floor".to_string(), "new-aimd:variant=E,floor=0".to_string());
    let aimd = ("AIMD".to_string(), "aimd:a=1,b=1/2".to_string());
    Ok(vec![variant("E"), variant("C"), variant("P"), floorless, aimd])
}

fn assumed(bench: &Bench<'_>) -> Result<String, PaperError> {
    Ok(format!("new-aimd:variant={},floor={}", bench.assumed("variant")?, bench.assumed("floor")?))
}

/// The dumbbell with so many flows.
pub(super) fn runs(bench: &Bench<'_>, flows: u32) -> Result<Vec<Kept>, PaperError> {
    let changes = [format!("flow.0.count={flows}"), format!("flow.0.algorithm={}", assumed(bench)?)];
    let scenario = bench.scenario("dumbbell", &changes)?;
    Ok(bench.run(&[scenario], Probe::SUMMARY)?.remove(0))
}

/// Sum over flows of what is kept under `name`.
fn total(kept: &Kept, name: &str) -> f64 {
    kept.all(name).iter().sum()
}

pub(super) fn table(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    for flows in FLOWS {
        let runs = runs(bench, flows)?;
        let received =
            |kept: &Kept| Some(total(kept, "flow_delivered_packets") / total(kept, "flow_sent_packets") * 100.0);
        findings.value(format!("received of what was sent, {flows} flows"), Ours::over(&runs, received));
        for (what, name) in [("sent", "flow_sent_packets"), ("received", "flow_delivered_packets")] {
            let kilobytes =
                |kept: &Kept| Some(total(kept, name) / f64::from(flows) * kept.one("payload_bytes")? * 1e-3);
            findings.value(format!("{what} per flow, {flows} flows"), Ours::over(&runs, kilobytes));
        }
    }
    Ok(findings)
}

pub(super) fn figures(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    for flows in FLOWS {
        let runs = runs(bench, flows)?;
        findings.value(format!("utilisation, {flows} flows"), Ours::mean(&runs, "utilisation"));
        findings.beside(format!("Jain index, {flows} flows"), "", Ours::mean(&runs, "jain"));
    }
    Ok(findings)
}

pub(super) fn variants(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    side_by_side(bench, "dumbbell", &["flow.0"], |findings, name, runs| {
        common(findings, name, runs);
        findings.beside(format!("{name}: Jain index"), "", Ours::mean(runs, "jain"));
    })
}

pub(super) fn capacity(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    side_by_side(bench, "capacity", &["flow.0"], |findings, name, runs| {
        common(findings, name, runs);
        findings.beside(format!("{name}: Jain index"), "", Ours::mean(runs, "jain"));
    })
}

pub(super) fn newcomer(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    side_by_side(bench, "newcomer", &["flow.0", "flow.1"], |findings, name, runs| {
        let share = |kept: &Kept| {
            let (newcomer, others) = kept.all("flow_goodput_bps").split_last()?;
            Some(newcomer * others.len() as f64 / others.iter().sum::<f64>())
        };
        findings.beside(
            format!("{name}: the newcomer's goodput over that of the others, after 100 s"),
            "",
            Ours::over(runs, share),
        );
        let among = |kept: &Kept| jain(kept.all("flow_goodput_bps"));
        findings.beside(format!("{name}: Jain index"), "", Ours::over(runs, among));
    })
}

pub(super) fn loss(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    for probability in LOSSES {
        for (name, algorithm) in algorithms(bench)? {
            let changes = [format!("dumbbell.loss={probability}"), format!("flow.0.algorithm={algorithm}")];
            let scenario = bench.scenario("loss", &changes)?;
            let runs = bench.run(&[scenario], Probe::SUMMARY)?.remove(0);
            findings.beside(format!("{name}: utilisation at p = {probability}"), "", Ours::mean(&runs, "utilisation"));
        }
    }
    Ok(findings)
}

/// Runs the scenario once per algorithm, each in place of those of `groups`.
fn side_by_side(
    bench: &Bench<'_>,
    scenario: &str,
    groups: &[&str],
    mut report: impl FnMut(&mut Findings, &str, &[Kept]),
) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let algorithms = algorithms(bench)?;
    let scenarios = algorithms.iter().map(|(_, algorithm)| {
        let changes: Vec<String> = groups.iter().map(|group| format!("{group}.algorithm={algorithm}")).collect();
        bench.scenario(scenario, &changes)
    });
    let scenarios = scenarios.collect::<Result<Vec<_>, _>>()?;
    for ((name, _), runs) in algorithms.iter().zip(bench.run(&scenarios, Probe::SUMMARY)?) {
        report(&mut findings, name, &runs);
    }
    Ok(findings)
}

fn common(findings: &mut Findings, name: &str, runs: &[Kept]) {
    for (what, unit, key, scale) in [
        ("utilisation", "", "utilisation", 1.0),
        ("loss", "%", "loss_rate", 100.0),
        ("queueing delay", "ms", "queue_delay_mean_s", 1e3),
    ] {
        findings.beside(format!("{name}: {what}"), unit, Ours::mean(runs, key).map(|value| value * scale));
    }
}

/// From a loss that AIMD fills the path under to one that it cannot.
const LOSSES: [&str; 3] = ["1e-4", "1e-3", "1e-2"];
