//! Ten flows over round trips of 10 us to 1 s: Tables 4 and 5, and what the window of eq. 21 is for.

use cwnd::units::{Packets, Rate, Span};

use super::rest::alone;
use super::{profiles, udt};
use crate::change::{set_algorithm, span};
use crate::{Bench, Computed, Curve, Figure, Findings, Result, Scale};
use cwnd_run::measure::{jain, spearman};
use cwnd_run::probe::stages::STAGES;
use cwnd_run::probe::udt::WINDOW_BOUND;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Document, Written};

/// Round trips with their names.
const ROUND_TRIPS: [(&str, Span); 6] = [
    ("10 us", Span::from_micros(10)),
    ("100 us", Span::from_micros(100)),
    ("1 ms", Span::from_millis(1)),
    ("10 ms", Span::from_millis(10)),
    ("100 ms", Span::from_millis(100)),
    ("1 s", Span::from_secs(1)),
];

/// The runs at some round trips.
fn runs(
    bench: &Bench<'_>,
    algorithm: &str,
    round_trips: &[(&str, Span)],
    (probe, change): (Probe, fn(&mut Document)),
) -> Result<Vec<Vec<Reduction>>> {
    let scenario = |(_, rtt): &(&str, Span)| {
        bench.scenario("delay", |document| {
            set_algorithm(&mut document.flow, algorithm)?;
            document.link[0].delay = span(Span::from_nanos(rtt.as_nanos() / 2))?;
            if bench.scale() == Scale::Quick && *rtt >= Span::from_secs(1) {
                document.duration = span(QUICK_AT_A_SECOND)?;
            }
            change(document);
            Ok(())
        })
    };
    bench.run_all(round_trips.iter().map(scenario), probe)
}

/// 20 round trips of a second are hardly more than the start.
const QUICK_AT_A_SECOND: Span = Span::from_secs(60);

fn efficiency(kept: &Reduction) -> Option<f64> {
    let rates = kept.all("stage_1_throughput_bps");
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() * 1e-6)
}

fn fairness(kept: &Reduction) -> Option<f64> {
    jain(kept.all("stage_1_throughput_bps"))
}

fn stability(kept: &Reduction) -> Option<f64> {
    kept.one("stage_1_si")
}

type Index = fn(&Reduction) -> Option<f64>;

/// The three indices over the round trip; `prefix` stands before the ids of the printed ones.
fn figure(bench: &Bench<'_>, findings: &mut Findings, prefix: &str, curves: &[(&str, &[Vec<Reduction>])]) {
    let table = if prefix.is_empty() { "table-5" } else { "table-4" };
    for (title, y, index, of) in [
        ("Aggregate throughput", "Mbit/s", "EI", efficiency as Index),
        ("Fairness", "Jain index", "FI", fairness),
        ("Stability", "SI", "SI", stability),
    ] {
        let line = |(name, runs): &(&str, &[Vec<Reduction>])| {
            let points = ROUND_TRIPS.iter().zip(*runs);
            let value = |runs: &[Reduction]| Computed::over(runs, of).value();
            Curve::new(*name, points.filter_map(|((_, rtt), runs)| Some((rtt.as_secs_f64(), value(runs)?))))
        };
        let printed = ROUND_TRIPS.iter().filter_map(|(name, rtt)| {
            let id = format!("{prefix}{index}, {name}");
            let value = bench.printed(table, &id).or_else(|| bench.printed("table-4-si", &id))?;
            Some((rtt.as_secs_f64(), value))
        });
        findings.figure(Figure {
            title,
            caption: "Ten flows over 1 Gbit/s with a queue of 2000 packets; means over runs. Diamonds: printed."
                .to_string(),
            x: "Round trip, s",
            y,
            log: (true, false),
            curves: curves.iter().map(line).chain([Curve::printed("printed", printed)]).collect(),
        });
    }
}

pub(super) fn table_4(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut curves = Vec::new();
    for &profile in profiles(bench) {
        let runs = runs(bench, &udt(bench, profile)?, &ROUND_TRIPS, (STAGES, |_| ()))?;
        for ((name, _), runs) in ROUND_TRIPS.iter().zip(&runs) {
            findings.value(format!("{profile}: EI, {name}"), Computed::over(runs, efficiency));
            findings.value(format!("{profile}: FI, {name}"), Computed::over(runs, fairness));
        }
        for (names, pair) in ROUND_TRIPS.windows(2).zip(runs.windows(2)) {
            let rise = Computed::over(&pair[1], efficiency).minus(&Computed::over(&pair[0], efficiency));
            findings.value(format!("{profile}: EI at {} less that at {}", names[1].0, names[0].0), rise);
        }
        let correlations = (0..runs[0].len()).filter_map(|seed| {
            let indices: Option<Vec<f64>> = runs.iter().map(|runs| stability(&runs[seed])).collect();
            spearman(&ROUND_TRIPS.map(|(_, rtt)| rtt.as_secs_f64()), &indices?)
        });
        findings
            .value(format!("{profile}: rank correlation of SI and round trip"), Computed::Runs(correlations.collect()));
        findings.value(format!("{profile}: EI at 1 s"), Computed::over(&runs[5], efficiency));
        curves.push((profile, runs));
    }
    let curves: Vec<(&str, &[Vec<Reduction>])> = curves.iter().map(|(name, runs)| (*name, &runs[..])).collect();
    figure(bench, findings, "paper: ", &curves);
    Ok(())
}

pub(super) fn table_4_stability(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let runs = runs(bench, &udt(bench, profile)?, &ROUND_TRIPS, (STAGES, |_| ()))?;
        for ((name, _), runs) in ROUND_TRIPS.iter().zip(&runs) {
            findings.value(format!("{profile}: SI, {name}"), Computed::over(runs, stability));
        }
    }
    Ok(())
}

pub(super) fn table_5(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let tcp = runs(bench, "reno", &ROUND_TRIPS, (STAGES, |_| ()))?;
    let of = |runs: &[Reduction], index: Index| Computed::over(runs, index);
    for ((name, _), runs) in ROUND_TRIPS.iter().zip(&tcp) {
        findings.value(format!("EI, {name}"), of(runs, efficiency));
        findings.value(format!("SI, {name}"), of(runs, stability));
        findings.value(format!("FI, {name}"), of(runs, fairness));
    }
    findings.value("EI at 100 ms over that at 10 ms", of(&tcp[4], efficiency).per(&of(&tcp[3], efficiency)));
    findings.value("EI at 1 s over that at 100 ms", of(&tcp[5], efficiency).per(&of(&tcp[4], efficiency)));
    for &profile in profiles(bench) {
        let udt = runs(bench, &udt(bench, profile)?, &ROUND_TRIPS[4..], (STAGES, |_| ()))?;
        for (n, name) in ["100 ms", "1 s"].into_iter().enumerate() {
            for (what, index) in [("EI", efficiency as Index), ("FI", fairness)] {
                let above = of(&udt[n], index).minus(&of(&tcp[4 + n], index));
                findings.value(format!("{profile}: UDT's {what} less that of TCP at {name}"), above);
            }
        }
        let over = of(&udt[1], efficiency).per(&of(&tcp[5], efficiency));
        findings.value(format!("{profile}: UDT's EI over that of TCP at 1 s"), over);
    }
    figure(bench, findings, "", &[("TCP", &tcp)]);
    Ok(())
}

pub(super) fn window_bound(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let (arrivals, rtt) = (Rate(83_333.0), Span::from_millis(100));
    let lambda: f64 = bench.assumed_as("lambda")?;
    let fixed = (0..1000).fold(Packets(16.0), |w, _| cwnd::rate::udt::window(w, lambda, arrivals, rtt));
    let expected = arrivals * (cwnd::rate::udt::SYN + rtt);
    findings.value("fixed point of eq. 21 over AS (SYN + RTT), distance from 1", (fixed.0 / expected.0 - 1.0).abs());
    let fine = |document: &mut Document| document.sampling = Written::literal("10ms");
    let sampled = runs(bench, &udt(bench, "paper")?, &ROUND_TRIPS[4..5], (WINDOW_BOUND, fine))?;
    findings.value(
        "paper: largest window over the largest AS (SYN + RTT) of a second before, RTT 100 ms",
        Computed::mean(&sampled[0], "window_over_bound"),
    );
    for point @ (name, rtt) in &ROUND_TRIPS[4..] {
        // Both start with their share and know the capacity: they differ in the window.
        let window = FAIR_SHARE / 12e3 * (0.01 + rtt.as_secs_f64());
        let decrease = bench.assumed("decrease")?;
        let with = format!(
            "udt:profile=paper,decrease={decrease},start=none,lambda={lambda},capacity=1gbit,initial_rate={FAIR_SHARE}bit,\
             initial_window={window}"
        );
        let without = format!("{},decrease=per-interval,initial_rate={FAIR_SHARE}bit", alone(1e9));
        let loss = |algorithm: &str| -> Result<Computed> {
            Ok(Computed::mean(
                &runs(bench, algorithm, core::slice::from_ref(point), (STAGES, |_| ()))?[0],
                "stage_1_loss",
            ))
        };
        let (with, without) = (loss(&with)?, loss(&without)?);
        findings.value(format!("loss without eq. 21 over loss with it, RTT {name}"), without.per(&with));
        findings.extra(format!("loss with eq. 21, RTT {name}"), "%", with.map(|loss| loss * 100.0));
        findings.extra(format!("loss without eq. 21, RTT {name}"), "%", without.map(|loss| loss * 100.0));
    }
    Ok(())
}

/// A tenth of the bottleneck, bit/s.
const FAIR_SHARE: f64 = 1e8;
