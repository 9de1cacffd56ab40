//! Figs. 1 and 2: one flow where bandwidth follows a pattern.

use super::environment::Scheme;
use crate::paper::{Bench, Findings, Ours, PaperError};
use crate::probe::{Kept, available};

/// The square waves: a rate from the start of each period on, and another from an instant within it.
const HIGH_PERIODS: &str = r#"dumbbell.schedule={repeat="5s",steps=[{at="4s",rate="5mbit"}]}"#;
const SUDDEN_RISE: &str = r#"dumbbell.schedule={repeat="10s",steps=[{at="5s",rate="1mbit"}]}"#;
const STEADY: &str = r#"dumbbell.schedule={steps=[{at="1s",rate="10mbit"}]}"#;

/// The runs of some schemes on a pattern; the saw-tooth is what the scenario has by itself.
fn runs(bench: &Bench<'_>, pattern: Option<&str>, schemes: &[Scheme]) -> Result<Vec<Vec<Kept>>, PaperError> {
    let scenario = |scheme: &Scheme| {
        let mut changes = vec![format!("flow.0.algorithm={}", scheme.algorithm)];
        changes.extend(pattern.map(str::to_string));
        bench.scenario("pattern", &changes)
    };
    let scenarios = schemes.iter().map(scenario).collect::<Result<Vec<_>, _>>()?;
    bench.run(&scenarios, available::SCORES)
}

pub(super) fn first(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let schemes = Scheme::chosen(bench)?;
    let tooth = runs(bench, None, &schemes)?;
    let periods = runs(bench, Some(HIGH_PERIODS), &schemes)?;
    let goodput = |runs: &[Vec<Kept>], scheme: usize| Ours::mean(&runs[scheme], "goodput");
    let loss = |scheme: usize| Ours::mean(&tooth[scheme], "loss");
    findings.value("goodput on (a), AIMD less AIAD", goodput(&tooth, 0).minus(&goodput(&tooth, 1)));
    findings.value("loss on (a), AIAD less AIMD", loss(1).minus(&loss(0)));
    findings.value("goodput on (b), AIAD less AIMD", goodput(&periods, 1).minus(&goodput(&periods, 0)));
    // From rest, so that the first high periods are there to be seen.
    let changes =
        [format!("flow.0.algorithm={}", schemes[1].algorithm), HIGH_PERIODS.to_string(), "warmup=0s".to_string()];
    let windows = bench.run(&[bench.scenario("pattern", &changes)?], available::WINDOWS)?.remove(0);
    for period in 1..=3 {
        let rise = |kept: &Kept| {
            let ends = kept.all("high_end_packets");
            Some(ends.get(period)? - ends.get(period - 1)?)
        };
        let row = format!("AIAD's window at the end of high period {} less {period}", period + 1);
        findings.value(row, Ours::over(&windows, rise));
    }
    for (panel, runs) in [("a", &tooth), ("b", &periods)] {
        findings.value(format!("goodput on ({panel}), AIMD"), goodput(runs, 0));
        findings.value(format!("goodput on ({panel}), AIAD"), goodput(runs, 1));
        findings.beside(format!("goodput on ({panel}), MIMD"), "", goodput(runs, 2));
        findings.beside(format!("goodput on ({panel}), MIAD"), "", goodput(runs, 3));
    }
    Ok(findings)
}

pub(super) fn second(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let schemes = Scheme::chosen(bench)?;
    let rise = runs(bench, Some(SUDDEN_RISE), &schemes)?;
    let steady = runs(bench, Some(STEADY), &schemes)?;
    let goodput = |runs: &[Vec<Kept>], scheme: usize| Ours::mean(&runs[scheme], "goodput");
    let (aimd, aiad, mimd) = (goodput(&steady, 0), goodput(&steady, 1), goodput(&steady, 2));
    findings.value("goodput on (a), AIMD less AIAD", goodput(&rise, 0).minus(&goodput(&rise, 1)));
    findings.value("goodput on (a), AIMD, too slow", goodput(&rise, 0));
    findings.value("goodput on (a), AIAD, too slow", goodput(&rise, 1));
    findings.value("goodput on (b), |AIMD less AIAD|", aimd.minus(&aiad).map(f64::abs));
    let lesser = if aimd.value() < aiad.value() { &aimd } else { &aiad };
    findings.value("goodput on (b), MIMD less the lesser of AIMD and AIAD", mimd.minus(lesser));
    for (panel, runs) in [("a", &rise), ("b", &steady)] {
        findings.value(format!("goodput on ({panel}), AIMD"), goodput(runs, 0));
        findings.value(format!("goodput on ({panel}), AIAD"), goodput(runs, 1));
        findings.beside(format!("goodput on ({panel}), MIMD"), "", goodput(runs, 2));
        findings.beside(format!("goodput on ({panel}), MIAD"), "", goodput(runs, 3));
    }
    Ok(findings)
}
