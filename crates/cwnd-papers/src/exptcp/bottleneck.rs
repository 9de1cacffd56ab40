//! Many flows on one bottleneck: Figs. 2 to 4, ECN, and sensitivity to what the paper leaves open.

use super::sweep::{Load, Sweep, as_it_is, capacities, drops, dumbbell, moderate};
use super::{algorithms, red, with};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Findings, Result};
use cwnd_run::probe::Reduction;
use cwnd_run::scenario::Written;

fn over_capacity(bench: &Bench<'_>, points: &[f64], marks: bool) -> Result<Sweep> {
    let algorithms = algorithms(bench)?;
    Sweep::run(bench, points, &algorithms, |algorithm, rate| {
        dumbbell(bench, algorithm, Load { marks, ..Load::of_capacity(rate) }, as_it_is)
    })
}

/// The capacities that rows are listed for, Mbit/s.
const CAPACITIES: [f64; 8] = [2.5, 10.0, 40.0, 160.0, 640.0, 2500.0, 5000.0, 10_000.0];

pub(super) fn figure_2(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let sweep = over_capacity(bench, &capacities(bench)?, true)?;
    let used = |name: &str, rate: f64| sweep.utilisation(name, rate);
    let part = |name: &'static str, rate: f64| (name, used(name, rate));
    for rate in CAPACITIES {
        findings.value(format!("EXP-TCP: utilisation, {rate} Mbit/s"), used("EXP-TCP", rate));
        if rate <= 640.0 {
            let parts = ["TCP", "STCP", "EXP-TCP"].map(|name| part(name, rate));
            findings.order(format!("utilisation, {rate} Mbit/s: TCP, STCP, EXP-TCP"), parts);
            let parts = ["HSTCP", "STCP"].map(|name| part(name, rate));
            findings.order(format!("utilisation, {rate} Mbit/s: HSTCP, STCP"), parts);
        }
        if rate >= 2500.0 {
            let least = sweep.extreme("TCP", |name| used(name, rate), f64::lt);
            findings.value(
                format!("smallest utilisation of the others less TCP's, {rate} Mbit/s"),
                least.minus(&used("TCP", rate)),
            );
        }
        if rate >= 640.0 {
            let (stcp, exp) = (used("STCP", rate), used("EXP-TCP", rate));
            let less = if stcp.value() < exp.value() { stcp } else { exp };
            findings.value(
                format!("smaller utilisation of STCP and EXP-TCP less HSTCP's, {rate} Mbit/s"),
                less.minus(&used("HSTCP", rate)),
            );
        }
        let lost = |name: &str| sweep.at(name, rate, drops);
        findings.value(
            format!("TCP: drop rate less the smallest of the others, {rate} Mbit/s"),
            lost("TCP").minus(&sweep.extreme("TCP", lost, f64::lt)),
        );
        if rate >= 5000.0 {
            let count = |kept: &Reduction| kept.all("link_dropped_packets").first().copied();
            findings.value(format!("TCP: drops in the last 100 s, {rate} Mbit/s"), sweep.at("TCP", rate, count));
        }
    }
    findings.value(
        "STCP: utilisation at 640 Mbit/s less that at 10000 Mbit/s",
        used("STCP", 640.0).minus(&used("STCP", 10_000.0)),
    );
    for name in sweep.names() {
        let longest = sweep.over_points(|rate| sweep.queue(name, rate), f64::gt);
        findings.value(format!("{name}: largest mean queue over its limit"), longest);
    }
    sweep.report(findings, |rate| format!("{rate} Mbit/s"));
    sweep.figure(findings, "Capacity, bit/s", 1e6);
    Ok(())
}

pub(super) fn marks(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= 2500.0).collect();
    let (on, off) = (over_capacity(bench, &points, true)?, over_capacity(bench, &points, false)?);
    // The size of the mean difference: a mean of sizes would also count by how much seeds differ.
    let size = |ours: Computed| if ours.value().is_some_and(|less| less < 0.0) { ours.map(|less| -less) } else { ours };
    for name in on.names() {
        let farther = |one: &f64, other: &f64| one.abs() > other.abs();
        let used = on.over_points(|rate| on.utilisation(name, rate).minus(&off.utilisation(name, rate)), farther);
        let waiting = on.over_points(|rate| on.queue(name, rate).minus(&off.queue(name, rate)), farther);
        let lost = on.over_points(|rate| on.at(name, rate, drops).minus(&off.at(name, rate, drops)), f64::gt);
        findings.value(format!("{name}: largest difference of utilisation with and without ECN"), size(used));
        findings.value(format!("{name}: largest difference of the mean queue over its limit"), size(waiting));
        findings.value(format!("{name}: largest drop rate with ECN less that without"), lost);
    }
    off.report(findings, |rate| format!("without ECN, {rate} Mbit/s"));
    Ok(())
}

pub(super) fn figure_3(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points: Vec<f64> = bench.assumed_as("flows")?;
    let algorithms = algorithms(bench)?;
    let sweep = Sweep::run(bench, &points, &algorithms, |algorithm, flows| {
        dumbbell(bench, algorithm, Load { flows: flows as u32, ..Load::of_capacity(RATE) }, as_it_is)
    })?;
    let used = |name: &str, flows: f64| sweep.utilisation(name, flows);
    for flows in (1..=9).map(|power| libm::exp2(f64::from(power))) {
        let best = sweep.extreme("EXP-TCP", |name| used(name, flows), f64::gt);
        findings.value(
            format!("EXP-TCP: utilisation less the highest of the others, {flows} flows"),
            used("EXP-TCP", flows).minus(&best),
        );
        for name in ["TCP", "HSTCP"].into_iter().filter(|_| flows <= 64.0) {
            let parts = [name, "EXP-TCP"].map(|name| (name, used(name, flows)));
            findings.order(format!("utilisation, {flows} flows: {name}, EXP-TCP"), parts);
        }
    }
    findings.value("TCP: utilisation with 2 flows less that with 512", used("TCP", 2.0).minus(&used("TCP", 512.0)));
    findings.value("TCP: utilisation with 2 flows", used("TCP", 2.0));
    sweep.report(findings, |flows| format!("{flows} flows"));
    sweep.figure(findings, "Flows each way", 1.0);
    Ok(())
}

/// The capacity of Figs. 3 and 4, Mbit/s.
const RATE: f64 = 500.0;

pub(super) fn figure_4(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points: Vec<f64> = bench.assumed_as("loads")?;
    let algorithms = algorithms(bench)?;
    let sweep = Sweep::run(bench, &points, &algorithms, |algorithm, load| {
        bench.scenario("web", |document| {
            change::dumbbell(document).queue = red(bench, 1.0, true)?;
            document.arrivals.iter_mut().for_each(|arrivals| arrivals.load = Some(load));
            set_algorithm(&mut document.flow, algorithm)
        })
    })?;
    for load in (0..9).map(|doubled| f64::from(1 << doubled) * 2.0 / 1000.0) {
        let used = |name: &str| sweep.utilisation(name, load);
        findings.value(format!("EXP-TCP: utilisation, load {load}"), used("EXP-TCP"));
        findings.value(
            format!("EXP-TCP: utilisation less the highest of the others, load {load}"),
            used("EXP-TCP").minus(&sweep.extreme("EXP-TCP", used, f64::gt)),
        );
    }
    sweep.report(findings, |load| format!("load {load}"));
    sweep.figure(findings, "Web load", 1.0);
    Ok(())
}

pub(super) fn red_bytes(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let algorithms = algorithms(bench)?;
    // ns-2 converts thresholds and limit by its mean packet, 500 bytes, and scales the probability by size over mean.
    let queue =
        "red:0.5bdp,min=0.1,max=0.3,max_p=0.2,weight=0.002,gentle=yes,wait=yes,bytes=yes,ecn=yes,mark_limit=0.1";
    let sweep = Sweep::run(bench, &moderate(bench)?, &algorithms, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), |document| {
            change::dumbbell(document).queue = Written::literal(queue);
            Ok(())
        })
    })?;
    // The values of the rows of Fig. 2 that miss.
    for rate in sweep.points.iter().copied() {
        let used = |name: &str| sweep.utilisation(name, rate);
        for other in ["TCP", "HSTCP"] {
            let row = format!("STCP: utilisation less that of {other}, {rate} Mbit/s");
            findings.extra(row, "", used("STCP").minus(&used(other)));
        }
        let lost = |name: &str| sweep.at(name, rate, drops);
        let less = lost("TCP").minus(&sweep.extreme("TCP", lost, f64::lt));
        let row = format!("TCP: drop rate less the smallest of the others, {rate} Mbit/s");
        findings.extra(row, "%", less.map(|rate| rate * 100.0));
    }
    sweep.report(findings, |rate| format!("{rate} Mbit/s"));
    Ok(())
}

pub(super) fn pacing(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let [tcp, hstcp, stcp, (_, exp)] = algorithms(bench)?;
    let points = moderate(bench)?;
    let all = Sweep::run(bench, &points, &[tcp, hstcp, stcp], |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), |document| {
            document.flow.iter_mut().for_each(|flow| flow.paced = true);
            Ok(())
        })
    })?;
    all.report(findings, |rate| format!("paced, {rate} Mbit/s"));
    let unpaced = [("EXP-TCP", with(&exp, "pacing", "off")?)];
    let none = Sweep::run(bench, &points, &unpaced, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), as_it_is)
    })?;
    none.report(findings, |rate| format!("not paced, {rate} Mbit/s"));
    Ok(())
}

pub(super) fn small_window(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let exp = bench.assumed("exp-tcp")?;
    let variants = [("without", exp.clone()), ("with the variant", with(&exp, "small_window", "on")?)];
    let slow: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= 10.0).collect();
    let sweep = Sweep::run(bench, &slow, &variants, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), as_it_is)
    })?;
    sweep.report(findings, |rate| format!("{rate} Mbit/s"));
    let many: Vec<f64> = bench.assumed_as::<Vec<f64>>("flows")?.into_iter().filter(|flows| *flows >= 256.0).collect();
    let rate = bench.by_scale(RATE / 5.0, RATE);
    let sweep = Sweep::run(bench, &many, &variants, |algorithm, flows| {
        dumbbell(bench, algorithm, Load { flows: flows as u32, ..Load::of_capacity(rate) }, as_it_is)
    })?;
    sweep.report(findings, |flows| format!("{flows} flows"));
    Ok(())
}
