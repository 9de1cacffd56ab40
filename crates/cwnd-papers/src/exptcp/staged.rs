//! Flows that come and go: Figs. 5 to 7.

use super::{algorithms, red};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::{coefficient_of_variation, jain, mean};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Document;

/// The runs of an algorithm.
struct Runs {
    name: &'static str,
    kept: Vec<Reduction>,
    /// The capacity, bit/s.
    rate: f64,
}

impl Runs {
    fn all(bench: &Bench<'_>, scenario: &str, change: impl Fn(&mut Document) -> Result) -> Result<Vec<Self>> {
        let algorithms = algorithms(bench)?;
        let scenarios = algorithms.iter().map(|(_, algorithm)| {
            bench.scenario(scenario, |document| {
                set_algorithm(&mut document.flow, algorithm)?;
                change(document)
            })
        });
        let scenarios = scenarios.collect::<Result<Vec<_>>>()?;
        let rate = |nth: usize| scenarios[nth].setup(1).links[0].rate.unwrap_or_default() as f64;
        let rates: Vec<f64> = (0..scenarios.len()).map(rate).collect();
        let runs = bench.run_all(scenarios.into_iter().map(Ok), Probe::OVER_TIME)?.into_iter().zip(rates);
        Ok(algorithms.iter().zip(runs).map(|((name, _), (kept, rate))| Self { name, kept, rate }).collect())
    }

    /// One value per run; runs that cannot answer are left out.
    fn over(&self, of: impl Fn(&Reduction) -> Option<f64>) -> Computed {
        Computed::over(&self.kept, of)
    }

    /// The share of the capacity that a flow had.
    fn share(&self, flow: usize, span: [f64; 2]) -> Computed {
        self.over(|kept| Some(goodput(kept, flow, span)? / self.rate))
    }
}

fn named<'a>(all: &'a [Runs], name: &str) -> impl Iterator<Item = &'a Runs> {
    all.iter().filter(move |runs| runs.name == name)
}

/// The part of a series of intervals that lies within a span of time, seconds.
fn within(series: &[f64], [from, to]: [f64; 2]) -> &[f64] {
    let place = |at: f64| ((at / INTERVAL).round() as usize).min(series.len());
    &series[place(from)..place(to)]
}

/// The mean rate of a flow, from 1, bit/s.
fn goodput(kept: &Reduction, flow: usize, span: [f64; 2]) -> Option<f64> {
    mean(within(kept.all(&format!("goodput_bps_{flow}")), span))
}

/// Jain's index of the three staged flows.
fn fairness(kept: &Reduction, span: [f64; 2]) -> Option<f64> {
    jain(&[goodput(kept, 1, span)?, goodput(kept, 2, span)?, goodput(kept, 3, span)?])
}

/// The intervals of the probe, seconds.
const INTERVAL: f64 = 0.2;
/// When the paper's claims about staged flows are tested: half a minute and more after the last one came.
const LATE: [f64; 2] = [250.0, 300.0];
const EARLY: [f64; 2] = [200.0, 220.0];

/// The value of an ordering: what `of` takes from the runs of each of two algorithms.
fn order(
    findings: &mut Findings,
    all: &[Runs],
    row: impl Into<String>,
    pair: [&str; 2],
    of: impl Fn(&Reduction) -> Option<f64>,
) {
    let parts = pair.iter().flat_map(|name| named(all, name));
    findings.order(row, parts.map(|runs| (runs.name, runs.over(&of))));
}

fn jain_rows(findings: &mut Findings, all: &[Runs], pairs: &[[&str; 2]]) {
    for [one, other] in pairs {
        let row = format!("Jain index, 250 to 300 s: {one}, {other}");
        order(findings, all, row, [one, other], |kept| fairness(kept, LATE));
    }
}

fn converges(findings: &mut Findings, all: &[Runs], name: &str) {
    for runs in named(all, name) {
        let later = runs.over(|kept| Some(fairness(kept, LATE)? - fairness(kept, EARLY)?));
        findings.value(format!("{name}: Jain index over 250 to 300 s less that over 200 to 220 s"), later);
    }
}

fn staged_report(findings: &mut Findings, all: &[Runs]) {
    for runs in all {
        for flow in 1..=3 {
            let row = format!("{}: share of flow {flow}, 300 to 400 s", runs.name);
            findings.extra(row, "", runs.share(flow, [300.0, 400.0]));
        }
        let row = format!("{}: Jain index over 300 to 400 s", runs.name);
        findings.extra(row, "", runs.over(|kept| fairness(kept, [300.0, 400.0])));
        draw(findings, runs, 3);
    }
}

pub(super) fn figure_5(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let all = Runs::all(bench, "staged-droptail", |_| Ok(()))?;
    for runs in named(&all, "STCP") {
        for flow in [2, 3] {
            findings.value(format!("STCP: share of flow {flow}, 250 to 300 s"), runs.share(flow, LATE));
        }
    }
    let pairs = [["STCP", "TCP"], ["STCP", "HSTCP"], ["TCP", "EXP-TCP"], ["HSTCP", "EXP-TCP"]];
    jain_rows(findings, &all, &pairs);
    for runs in named(&all, "EXP-TCP") {
        findings.value("EXP-TCP: Jain index, 250 to 300 s", runs.over(|kept| fairness(kept, LATE)));
    }
    converges(findings, &all, "TCP");
    converges(findings, &all, "HSTCP");
    staged_report(findings, &all);
    Ok(())
}

pub(super) fn figure_6(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let extra: Vec<String> = bench.assumed_as("staged-extra")?;
    // 40 ms of the 38 ms path: the paper's bandwidth-delay product.
    let products = 40.0 / 38.0;
    let all = Runs::all(bench, "staged-red", |document| {
        for (flow, extra) in document.flow.iter_mut().zip(&extra) {
            flow.extra_rtt = Some(extra.parse()?);
        }
        change::dumbbell(document).queue = red(bench, products, true)?;
        Ok(())
    })?;
    for name in ["STCP", "TCP"] {
        for runs in named(&all, name) {
            findings.value(format!("{name}: Jain index, 250 to 300 s"), runs.over(|kept| fairness(kept, LATE)));
        }
    }
    jain_rows(findings, &all, &[["STCP", "TCP"], ["STCP", "HSTCP"], ["STCP", "EXP-TCP"]]);
    let rough = |kept: &Reduction| {
        let flows =
            (1..=3).map(|flow| coefficient_of_variation(within(kept.all(&format!("goodput_bps_{flow}")), LATE)));
        mean(&flows.collect::<Option<Vec<f64>>>()?)
    };
    order(findings, &all, "variation of throughput, EXP-TCP and TCP", ["EXP-TCP", "TCP"], rough);
    let settled = |kept: &Reduction| {
        let fair = |from: &f64| fairness(kept, [*from, from + 10.0]).is_some_and(|index| index >= 0.95);
        // A level that is not reached counts as reached at the end.
        let starts = (0..=1900).map(|step| 200.0 + f64::from(step) * 0.1);
        Some(starts.into_iter().find(fair).unwrap_or(400.0) - 200.0)
    };
    order(findings, &all, "time to a Jain index of 0.95 over 10 s", ["EXP-TCP", "HSTCP"], settled);
    for runs in named(&all, "HSTCP") {
        findings.value("HSTCP: time to a Jain index of 0.95 over 10 s", runs.over(settled));
    }
    converges(findings, &all, "HSTCP");
    for name in ["HSTCP", "EXP-TCP"] {
        for runs in named(&all, name) {
            let last = [300.0, 400.0];
            let more = runs.over(|kept| Some((goodput(kept, 1, last)? - goodput(kept, 3, last)?) / runs.rate));
            findings.value(format!("{name}: share at 38 ms less that at 42 ms, 300 to 400 s"), more);
        }
    }
    staged_report(findings, &all);
    Ok(())
}

pub(super) fn figure_7(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let all = Runs::all(bench, "change", |document| {
        change::dumbbell(document).queue = red(bench, 1.0, true)?;
        Ok(())
    })?;
    let refilled = |kept: &Reduction| {
        let used = within(kept.all("utilisation"), [200.0, f64::INFINITY]);
        let full = used.windows(5).position(|five| five.iter().all(|used| *used >= 0.95));
        Some(full.unwrap_or(used.len()) as f64 * INTERVAL)
    };
    for name in ["HSTCP", "STCP", "EXP-TCP"] {
        let row = format!("time from 200 s to a utilisation of 0.95: {name}, TCP");
        order(findings, &all, row, [name, "TCP"], refilled);
    }
    let used = |kept: &Reduction, span| mean(within(kept.all("utilisation"), span));
    for runs in named(&all, "TCP") {
        findings.value("TCP: utilisation over the last 2 s", runs.over(|kept| used(kept, [298.0, 300.0])));
    }
    for name in ["HSTCP", "STCP"] {
        let row = format!("time from 200 s to a utilisation of 0.95: EXP-TCP, {name}");
        order(findings, &all, row, ["EXP-TCP", name], refilled);
        let row = format!("increase per round trip, 60 to 100 s: EXP-TCP, {name}");
        order(findings, &all, row, ["EXP-TCP", name], increase);
    }
    let whole = |runs: &Runs| runs.over(|kept| used(kept, [0.0, 300.0]));
    let others = all.iter().filter(|runs| runs.name != "EXP-TCP").map(whole);
    let best = others.reduce(|one, other| if other.value() > one.value() { other } else { one });
    if let (Some(best), Some(exp)) = (best, named(&all, "EXP-TCP").next()) {
        findings.value("EXP-TCP: utilisation over 300 s less the highest of the others", whole(exp).minus(&best));
    }
    for runs in &all {
        findings.extra(format!("{}: utilisation over 300 s", runs.name), "", whole(runs));
        let row = format!("{}: time from 200 s to a utilisation of 0.95", runs.name);
        findings.extra(row, "s", runs.over(refilled));
        let row = format!("{}: increase per round trip, 60 to 100 s", runs.name);
        findings.extra(row, "packets", runs.over(increase));
        draw(findings, runs, 5);
    }
    Ok(())
}

/// Packets per round trip by which the windows of the first five flows grow from 60 to 100 s, cuts left out.
fn increase(kept: &Reduction) -> Option<f64> {
    let span = [60.0, 100.0];
    let flows = (1..=5).map(|flow| {
        let windows = within(kept.all(&format!("window_{flow}")), span);
        let rtt = mean(within(kept.all(&format!("srtt_{flow}")), span))?;
        let grown: f64 = windows.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).sum();
        let rises = windows.windows(2).filter(|pair| pair[1] >= pair[0]).count();
        (rises > 0).then(|| grown / (rises as f64 * INTERVAL / rtt))
    });
    mean(&flows.collect::<Option<Vec<f64>>>()?)
}

/// Rates of the first flows in the first run.
fn draw(findings: &mut Findings, runs: &Runs, flows: usize) {
    let Some(kept) = runs.kept.first() else { return };
    let line = |flow: usize| {
        let series = kept.all(&format!("goodput_bps_{flow}"));
        let seconds = series.chunks(5).enumerate().filter_map(|(second, rates)| Some((second as f64, mean(rates)?)));
        Curve::new(format!("flow {flow}"), seconds)
    };
    findings.figure(Figure {
        title: match runs.name {
            "TCP" => "Rates under TCP",
            "HSTCP" => "Rates under HSTCP",
            "STCP" => "Rates under STCP",
            _ => "Rates under EXP-TCP",
        },
        caption: "Means over seconds; the first run.".to_string(),
        x: "Time, s",
        y: "Goodput, bit/s",
        log: (false, false),
        curves: (1..=flows).map(line).collect(),
    });
}
