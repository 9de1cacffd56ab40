//! Flows that come and go between Chicago and Amsterdam: Table 1, Fig. 7, section V, in simulation.

use super::{profiles, udt};
use crate::change::set_algorithm;
use crate::over_time::SECOND;
use crate::{Bench, Computed, Curve, Figure, Findings, OverTime, Result};
use cwnd_run::measure::jain;
use cwnd_run::probe::Reduction;
use cwnd_run::probe::stages::STAGES;
use cwnd_run::scenario::Scenario;

/// From start to start and from stop to stop of four flows.
const STAGE_COUNT: usize = 7;
/// The flows, each with the last stage that it stays through; it starts with the stage of its number.
const STAYS: [(usize, usize); 4] = [(1, 7), (2, 6), (3, 5), (4, 4)];

fn runs(bench: &Bench<'_>, profile: &str) -> Result<Vec<Reduction>> {
    bench.run(scenario(bench, profile)?, STAGES)
}

fn scenario(bench: &Bench<'_>, profile: &str) -> Result<Scenario> {
    let algorithm = udt(bench, profile)?;
    bench.scenario("testbed", |document| set_algorithm(&mut document.flow, &algorithm))
}

fn stage(kept: &Reduction, stage: usize, what: &str) -> Vec<f64> {
    kept.all(&format!("stage_{stage}_{what}")).to_vec()
}

fn aggregate(kept: &Reduction, n: usize) -> Option<f64> {
    let rates = stage(kept, n, "throughput_bps");
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() * 1e-6)
}

/// The smallest or largest, by `pick`, of what the stages of a run have.
fn extreme(pick: fn(f64, f64) -> f64, of: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = (1..=STAGE_COUNT).map(of).collect();
    values?.into_iter().reduce(pick)
}

pub(super) fn table_1(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let runs = runs(bench, profile)?;
        for n in 1..=STAGE_COUNT {
            let one = |what: &str| Computed::mean(&runs, &format!("stage_{n}_{what}"));
            let fair = Computed::over(&runs, |kept| jain(&stage(kept, n, "throughput_bps")));
            findings
                .value(format!("{profile}: aggregate, stage {n}"), Computed::over(&runs, |kept| aggregate(kept, n)));
            findings.value(format!("{profile}: Jain index, stage {n}"), fair);
            findings.value(format!("{profile}: SI, stage {n}"), one("si"));
            let rtt = one("rtt_s").map(|rtt| rtt * 1e3);
            if profile == "paper" {
                findings.value(format!("{profile}: round trip, stage {n}"), rtt);
            } else {
                findings.extra(format!("{profile}: round trip, stage {n}"), "ms", rtt);
            }
        }
    }
    Ok(())
}

/// The flows with their first and last stages, and what the bottleneck lost in each.
pub(super) fn flows(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let runs = runs(bench, profile)?;
        for (flow, last) in STAYS {
            for n in flow..=last {
                let rate = |kept: &Reduction| Some(stage(kept, n, "throughput_bps").get(flow - 1)? * 1e-6);
                findings.value(format!("{profile}: flow {flow}, stage {n}"), Computed::over(&runs, rate));
            }
        }
        for n in 1..=STAGE_COUNT {
            let lost = Computed::mean(&runs, &format!("stage_{n}_loss"));
            findings.value(format!("{profile}: loss rate, stage {n}"), lost);
        }
    }
    Ok(())
}

pub(super) fn claims(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let runs = runs(bench, profile)?;
        let largest = |what: &'static str| {
            Computed::over(&runs, |kept| extreme(f64::max, |n| kept.one(&format!("stage_{n}_{what}"))))
        };
        findings.value(format!("{profile}: largest loss rate of a stage"), largest("loss"));
        if profile == "paper" {
            findings.value("paper: largest mean round trip of a stage", largest("rtt_s").map(|rtt| rtt * 1e3));
        }
    }
    Ok(())
}

pub(super) fn figure_7(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let runs = runs(bench, profile)?;
        let fair = |kept: &Reduction| extreme(f64::min, |n| jain(&stage(kept, n, "late_bps")));
        let total = |kept: &Reduction| extreme(f64::min, |n| aggregate(kept, n));
        findings.value(
            format!("{profile}: smallest Jain index over the second half of a stage"),
            Computed::over(&runs, fair),
        );
        findings.value(format!("{profile}: smallest aggregate of a stage"), Computed::over(&runs, total));
    }
    for &profile in profiles(bench) {
        draw(bench, profile, findings)?;
    }
    Ok(())
}

/// The four flows and their sum over time, with the rates of Table 1 in the middle of each stage.
fn draw(bench: &Bench<'_>, profile: &str, findings: &mut Findings) -> Result {
    let Some(run) = OverTime::of(bench, &scenario(bench, profile)?)? else { return Ok(()) };
    let middle = |stage: usize| (stage as f64 - 0.5) * run.length() / STAGE_COUNT as f64;
    let name = |flow| format!("flow {flow}");
    let mut curves = run.curves(STAYS.len(), name);
    curves.push(Curve::new("aggregate", run.total(STAYS.len(), SECOND)));
    for (flow, last) in STAYS {
        let rate = |stage| bench.printed("table-1-flows", &format!("paper: flow {flow}, stage {stage}"));
        curves.push(Curve::printed(name(flow), (flow..=last).filter_map(|stage| Some((middle(stage), rate(stage)?)))));
    }
    let total = |stage| bench.printed("table-1", &format!("paper: aggregate, stage {stage}"));
    curves
        .push(Curve::printed("aggregate", (1..=STAGE_COUNT).filter_map(|stage| Some((middle(stage), total(stage)?)))));
    findings.figure(Figure {
        title: "Four staged flows over time",
        caption: format!(
            "Means over seconds of the first run, profile {profile}. Diamonds: the mean rates of the stages in Table 1."
        ),
        x: "Time, s",
        y: "Throughput, Mbit/s",
        log: (false, false),
        curves,
    });
    Ok(())
}
