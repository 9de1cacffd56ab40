//! New AIMD in packets: the NCTUns dumbbell, and what its authors did not run on it.

use crate::change::{self, set_algorithm};
use crate::over_time::SECOND;
use crate::{Bench, Computed, Curve, Figure, Findings, OverTime, Result};
use cwnd_run::measure::jain;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Scenario, Written};

/// How many flows the paper ran.
pub(super) const FLOWS: [u32; 4] = [2, 3, 4, 5];

/// New AIMD as assumed, the other definitions of it, and AIMD.
fn algorithms(bench: &Bench<'_>) -> Result<Vec<(String, String)>> {
    let floor = bench.assumed("floor")?;
    let variant = |variant: &str| (format!("New AIMD {variant}"), format!("new-aimd:variant={variant},floor={floor}"));
    let floorless = ("New AIMD E without a floor".to_string(), "new-aimd:variant=E,floor=0".to_string());
    let aimd = ("AIMD".to_string(), AIMD.to_string());
    Ok(vec![variant("E"), variant("C"), variant("P"), floorless, aimd])
}

const AIMD: &str = "aimd:a=1,b=1/2";

/// The dumbbell with `flows` flows of New AIMD.
pub(super) fn runs(bench: &Bench<'_>, flows: u32) -> Result<Vec<Reduction>> {
    bench.run(scenario(bench, flows, &new_aimd(bench)?)?, Probe::SUMMARY)
}

/// New AIMD as assumed.
fn new_aimd(bench: &Bench<'_>) -> Result<String> {
    Ok(format!("new-aimd:variant={},floor={}", bench.assumed("variant")?, bench.assumed("floor")?))
}

fn scenario(bench: &Bench<'_>, flows: u32, algorithm: &str) -> Result<Scenario> {
    bench.scenario("dumbbell", |document| {
        document.flow[0].count = flows;
        set_algorithm(&mut document.flow, algorithm)
    })
}

/// Sum over flows of the value kept under `name`.
fn total(kept: &Reduction, name: &str) -> f64 {
    kept.all(name).iter().sum()
}

pub(super) fn table(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for flows in FLOWS {
        let runs = runs(bench, flows)?;
        let received =
            |kept: &Reduction| Some(total(kept, "flow_delivered_packets") / total(kept, "flow_sent_packets") * 100.0);
        findings.value(format!("received of what was sent, {flows} flows"), Computed::over(&runs, received));
        for (what, name) in [("sent", "flow_sent_packets"), ("received", "flow_delivered_packets")] {
            let kilobytes =
                |kept: &Reduction| Some(total(kept, name) / f64::from(flows) * kept.one("payload_bytes")? * 1e-3);
            findings.value(format!("{what} per flow, {flows} flows"), Computed::over(&runs, kilobytes));
        }
    }
    Ok(())
}

pub(super) fn figures(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for flows in FLOWS {
        let runs = runs(bench, flows)?;
        findings.value(format!("utilisation, {flows} flows"), Computed::mean(&runs, "utilisation"));
        findings.extra(format!("Jain index, {flows} flows"), "", Computed::mean(&runs, "jain"));
        draw(bench, flows, findings)?;
    }
    Ok(())
}

/// The flows over time, with the mean rate that Table I comes to.
fn draw(bench: &Bench<'_>, flows: u32, findings: &mut Findings) -> Result {
    let Some(run) = OverTime::of(bench, &scenario(bench, flows, &new_aimd(bench)?)?)? else { return Ok(()) };
    let many = flows as usize;
    let mut curves = run.curves(many, |flow| format!("flow {flow}"));
    curves.push(Curve::new("together", run.total(many, SECOND)));
    let received = bench.printed("table-1", &format!("received per flow, {flows} flows"));
    let mean = received.map(|kilobytes| (run.length(), kilobytes * 8e-3 / MEASURED_S));
    curves.push(Curve::printed("a flow, by Table I", mean));
    findings.figure(Figure {
        title: match flows {
            2 => "Fig. 4: two flows over time",
            3 => "Fig. 5: three flows over time",
            4 => "Fig. 6: four flows over time",
            _ => "Fig. 7: five flows over time",
        },
        caption: "Means over seconds of the first run. Diamond: what Table I says that a flow received in 300 s, as a rate; 3 and 4 of \
                  these flows exceed the link."
            .to_string(),
        x: "Time, s",
        y: "Goodput, Mbit/s",
        log: (false, false),
        curves,
    });
    Ok(())
}

/// The time that Table I counts over.
const MEASURED_S: f64 = 300.0;

/// The abstract's claim, which the paper does not test: it runs no AIMD.
pub(super) fn headline(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for flows in FLOWS {
        let (new, aimd) = (runs(bench, flows)?, bench.run(scenario(bench, flows, AIMD)?, Probe::SUMMARY)?);
        for (what, name) in [("utilisation", "utilisation"), ("Jain index", "jain")] {
            let less = Computed::mean(&new, name).minus(&Computed::mean(&aimd, name));
            findings.value(format!("{what}, {flows} flows, less that of AIMD"), less);
        }
    }
    Ok(())
}

pub(super) fn variants(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    side_by_side(bench, "dumbbell", |name, runs| {
        common(findings, name, runs);
        findings.extra(format!("{name}: Jain index"), "", Computed::mean(runs, "jain"));
    })
}

pub(super) fn capacity(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    side_by_side(bench, "capacity", |name, runs| {
        common(findings, name, runs);
        findings.extra(format!("{name}: Jain index"), "", Computed::mean(runs, "jain"));
    })
}

pub(super) fn newcomer(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    side_by_side(bench, "newcomer", |name, runs| {
        let share = |kept: &Reduction| {
            let (newcomer, others) = kept.all("flow_goodput_bps").split_last()?;
            Some(newcomer * others.len() as f64 / others.iter().sum::<f64>())
        };
        findings.extra(
            format!("{name}: the newcomer's goodput over that of the others, after 100 s"),
            "",
            Computed::over(runs, share),
        );
        let among = |kept: &Reduction| jain(kept.all("flow_goodput_bps"));
        findings.extra(format!("{name}: Jain index"), "", Computed::over(runs, among));
    })
}

pub(super) fn loss(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for probability in LOSSES {
        for (name, algorithm) in algorithms(bench)? {
            let scenario = bench.scenario("loss", |document| {
                change::dumbbell(document).loss = Written::literal(probability);
                set_algorithm(&mut document.flow, &algorithm)
            });
            let runs = bench.run(scenario?, Probe::SUMMARY)?;
            findings.extra(
                format!("{name}: utilisation at p = {probability}"),
                "",
                Computed::mean(&runs, "utilisation"),
            );
        }
    }
    Ok(())
}

/// Runs the scenario once per algorithm.
fn side_by_side(bench: &Bench<'_>, scenario: &str, mut report: impl FnMut(&str, &[Reduction])) -> Result {
    let algorithms = algorithms(bench)?;
    let scenarios = algorithms
        .iter()
        .map(|(_, algorithm)| bench.scenario(scenario, |document| set_algorithm(&mut document.flow, algorithm)));
    for ((name, _), runs) in algorithms.iter().zip(bench.run_all(scenarios, Probe::SUMMARY)?) {
        report(name, &runs);
    }
    Ok(())
}

fn common(findings: &mut Findings, name: &str, runs: &[Reduction]) {
    for (what, unit, key, scale) in [
        ("utilisation", "", "utilisation", 1.0),
        ("loss", "%", "loss_rate", 100.0),
        ("queueing delay", "ms", "queue_delay_mean_s", 1e3),
    ] {
        findings.extra(format!("{name}: {what}"), unit, Computed::mean(runs, key).map(|value| value * scale));
    }
}

/// From a loss that AIMD fills the path under to one that it cannot.
const LOSSES: [&str; 3] = ["1e-4", "1e-3", "1e-2"];
