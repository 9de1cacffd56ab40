//! The future work of its authors: round-trip times, several bottlenecks, friendliness, and other algorithms.

use super::sweep::{Load, Sweep, as_it_is, capacities, dumbbell, limit, moderate};
use super::{algorithms, growth, red, with};
use crate::change::{self, bit_rate, set_algorithm};
use crate::{Bench, Computed, Figure, Findings, Result};
use cwnd_run::measure::{jain, mean};
use cwnd_run::probe::Reduction;
use cwnd_run::scenario::{Direction, Written};

/// The capacity of what the paper leaves to the future, Mbit/s: windows of hundreds of packets at a moderate cost.
fn future_rate(bench: &Bench<'_>) -> f64 {
    bench.by_scale(40.0, 160.0)
}

pub(super) fn round_trips(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let algorithms = algorithms(bench)?;
    // Each flow's own half of 80 ms is all there is to draw from: 8 to 152 ms need a shorter shared part.
    let rate = future_rate(bench);
    let sweep = Sweep::run(bench, &[rate], &algorithms, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), |document| {
            document.variation.rtt = 0.9;
            document.flow.iter_mut().for_each(|flow| flow.extra_rtt = Some(Written::literal("72ms")));
            let bottleneck = change::dumbbell(document);
            (bottleneck.rtt, bottleneck.queue) = (Written::literal("8ms"), red(bench, 10.0, true)?);
            Ok(())
        })
    })?;
    for name in sweep.names() {
        findings.extra(format!("{name}: utilisation"), "", sweep.utilisation(name, rate));
        let forward = |kept: &Reduction| jain(kept.all("flow_goodput_bps").get(..16)?);
        findings.extra(format!("{name}: Jain index of 16 flows"), "", sweep.at(name, rate, forward));
    }
    Ok(())
}

pub(super) fn several(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let algorithms = algorithms(bench)?;
    let rate = future_rate(bench);
    let sweep = Sweep::run(bench, &[rate], &algorithms, |algorithm, rate| {
        bench.scenario("parking-lot", |document| {
            let links = document.parking_lot.get_or_insert_default();
            (links.rate, links.queue) = (bit_rate(rate * 1e6)?, red(bench, 1.0, true)?);
            set_algorithm(&mut document.flow, algorithm)
        })
    })?;
    for name in sweep.names() {
        let share = |kept: &Reduction| {
            let (long, short) = kept.all("flow_goodput_bps").split_first()?;
            Some(long / mean(short)?)
        };
        findings.extra(
            format!("{name}: goodput of the long flow over the mean of the short ones"),
            "",
            sweep.at(name, rate, share),
        );
        findings.extra(format!("{name}: utilisation of the first bottleneck"), "", sweep.utilisation(name, rate));
    }
    Ok(())
}

pub(super) fn friendliness(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let [(_, tcp), (_, hstcp), (_, stcp), (_, exp)] = algorithms(bench)?;
    let against = [
        ("HSTCP", hstcp),
        ("STCP", stcp),
        ("EXP-TCP", exp.clone()),
        ("EXP-TCP with the variant", with(&exp, "small_window", "on")?),
    ];
    let points: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= future_rate(bench)).collect();
    let sweep = beside(bench, &points, &against, &tcp)?;
    for name in sweep.names() {
        for rate in &points {
            let row = format!("{name}, {rate} Mbit/s: mean goodput over that of as many TCP flows");
            findings.extra(row, "", over_tcp(&sweep, name, *rate));
        }
    }
    Ok(())
}

/// Algorithms against as many flows of TCP. Flows of the reverse direction share the bottleneck with those forward.
fn beside(bench: &Bench<'_>, points: &[f64], against: &[(&str, String)], tcp: &str) -> Result<Sweep> {
    Sweep::run(bench, points, against, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), |document| {
            document.flow[1].direction = Direction::Forward;
            set_algorithm(&mut document.flow[1..], tcp)
        })
    })
}

/// The mean goodput of an algorithm over that of TCP.
fn over_tcp(sweep: &Sweep, name: &str, rate: f64) -> Computed {
    sweep.at(name, rate, |kept| {
        let all = kept.all("flow_goodput_bps");
        Some(mean(all.get(..16)?)? / mean(all.get(16..)?)?)
    })
}

/// The claims of the Appendix about windows below 16 packets, which flows have at 40 Mbit/s, and of the section about large ones.
pub(super) fn appendix(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for (nth, name) in [(2, "second"), (5, "fifth")] {
        let row = format!("with the variant, from 4 packets: growth in the {name} RTT over that in the first");
        findings.value(row, growth::small_window_growth(nth) / growth::small_window_growth(1));
    }
    let [(_, tcp), _, _, (_, exp)] = algorithms(bench)?;
    let against = [("without", exp.clone()), ("with", with(&exp, "small_window", "on")?)];
    let sweep = beside(bench, &[40.0, 160.0], &against, &tcp)?;
    let over = |name: &'static str, rate| over_tcp(&sweep, name, rate);
    findings.value("without, 40 Mbit/s: mean goodput over that of TCP", over("without", 40.0));
    findings.value("with the variant, 40 Mbit/s: mean goodput over that of TCP", over("with", 40.0));
    let row = "mean goodput over that of TCP, 40 Mbit/s: without, with the variant";
    findings.order(row, ["without", "with"].map(|name| (name, over(name, 40.0))));
    findings.value("without, 160 Mbit/s: mean goodput over that of TCP", over("without", 160.0));
    findings.extra("with the variant, 160 Mbit/s: mean goodput over that of TCP", "", over("with", 160.0));
    findings.value("with the variant, 40 Mbit/s: utilisation", sweep.utilisation("with", 40.0));
    Ok(())
}

/// Fig. 2 with the algorithms that the paper names without running them, and with others that came before and after.
pub(super) fn others(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let [(_, tcp), .., (_, exp)] = algorithms(bench)?;
    let in_queue: f64 = bench.assumed_as("fast-queue")?;
    let all = [
        ("EXP-TCP", exp.as_str()),
        ("TCP", &tcp),
        ("BIC", "bic"),
        ("H-TCP", "htcp"),
        ("FAST", "fast"),
        ("CUBIC", "cubic"),
        ("Westwood+", "westwood"),
        ("TFRC", "tfrc"),
        ("XCP", "xcp"),
        ("VCP", "vcp"),
    ]
    .map(|(name, algorithm)| (name, algorithm.to_string()));
    let sweep = Sweep::run(bench, &moderate(bench)?, &all, |algorithm, rate| {
        let load = Load::of_capacity(rate);
        match algorithm {
            "fast" => {
                let product = limit(&dumbbell(bench, algorithm, load, as_it_is)?);
                let alpha = in_queue * product / f64::from(load.flows);
                dumbbell(bench, &format!("fast:alpha={alpha}"), load, as_it_is)
            }
            // Its equation counts losses, and its sender answers no marks.
            "tfrc" => dumbbell(bench, algorithm, Load { marks: false, ..load }, |document| {
                document.flow.iter_mut().for_each(|flow| flow.ecn = None);
                Ok(())
            }),
            "xcp" | "vcp" => dumbbell(bench, algorithm, load, |document| {
                change::dumbbell(document).queue = format!("{algorithm}:1bdp").parse()?;
                Ok(())
            }),
            _ => dumbbell(bench, algorithm, load, as_it_is),
        }
    })?;
    let forward = |kept: &Reduction| jain(kept.all("flow_goodput_bps").get(..16)?);
    let even = |name: &str, rate: f64| sweep.at(name, rate, forward);
    for name in sweep.names() {
        for rate in &sweep.points {
            findings.extra(format!("{name}, {rate} Mbit/s: Jain index of 16 flows"), "", even(name, *rate));
        }
    }
    sweep.report(findings, |rate| format!("{rate} Mbit/s"));
    sweep.figure(findings, "Capacity, bit/s", 1e6);
    findings.figure(Figure {
        title: "Jain index",
        caption: "Of the 16 flows forward; means over runs.".to_string(),
        x: "Capacity, bit/s",
        y: "Jain index",
        log: (true, false),
        curves: sweep.curves(1e6, even),
    });
    Ok(())
}
