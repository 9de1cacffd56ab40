//! Ten flows over round trips of 10 us to 1 s: Tables 4 and 5, and what the window of eq. 21 is for.

use cwnd::units::{Packets, Rate, Span};

use super::rest::alone;
use super::{PROFILES, udt};
use crate::{Bench, Figure, Findings, Line, Ours, PaperError, Scale};
use cwnd_run::measure::{jain, spearman};
use cwnd_run::probe::stages::STAGES;
use cwnd_run::probe::udt::WINDOW_BOUND;
use cwnd_run::probe::{Kept, Probe};

/// A round trip: as it is called, seconds, and one way in nanoseconds.
const ROUND_TRIPS: [(&str, f64, u64); 6] = [
    ("10 us", 1e-5, 5_000),
    ("100 us", 1e-4, 50_000),
    ("1 ms", 1e-3, 500_000),
    ("10 ms", 1e-2, 5_000_000),
    ("100 ms", 0.1, 50_000_000),
    ("1 s", 1.0, 500_000_000),
];

/// The runs at some round trips, with further changes of the scenario.
fn runs(
    bench: &Bench<'_>,
    algorithm: &str,
    round_trips: &[(&str, f64, u64)],
    changes: &[String],
    probe: Probe,
) -> Result<Vec<Vec<Kept>>, PaperError> {
    let scenario = |(_, rtt, delay): &(&str, f64, u64)| {
        let mut own = vec![format!("flow.0.algorithm={algorithm}"), format!("link.0.delay={delay}ns")];
        if bench.scale() == Scale::Quick && *rtt >= 1.0 {
            own.push(format!("duration={QUICK_AT_A_SECOND}"));
        }
        bench.scenario("delay", &[&own, changes].concat())
    };
    bench.run(&round_trips.iter().map(scenario).collect::<Result<Vec<_>, _>>()?, probe)
}

/// 20 round trips of a second are hardly more than the start.
const QUICK_AT_A_SECOND: &str = "60s";

fn efficiency(kept: &Kept) -> Option<f64> {
    let rates = kept.all("stage_1_throughput_bps");
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() * 1e-6)
}

fn fairness(kept: &Kept) -> Option<f64> {
    jain(kept.all("stage_1_throughput_bps"))
}

fn stability(kept: &Kept) -> Option<f64> {
    kept.one("stage_1_si")
}

type Index = fn(&Kept) -> Option<f64>;

fn figure(findings: &mut Findings, curves: &[(&str, &[Vec<Kept>])]) {
    for (title, y, of) in [
        ("Aggregate throughput", "Mbit/s", efficiency as Index),
        ("Fairness", "Jain index", fairness),
        ("Stability", "SI", stability),
    ] {
        let line = |(name, runs): &(&str, &[Vec<Kept>])| Line {
            name: (*name).to_string(),
            published: false,
            points: ROUND_TRIPS
                .iter()
                .zip(*runs)
                .filter_map(|((_, rtt, _), runs)| Some((*rtt, Ours::over(runs, of).value()?)))
                .collect(),
        };
        findings.figure(Figure {
            title,
            caption: "Ten flows over 1 Gbit/s with a queue of 2000 packets; means over runs.".to_string(),
            x: "Round trip, s",
            y,
            log: (true, false),
            curves: curves.iter().map(line).collect(),
        });
    }
}

pub(super) fn table_4(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let mut curves = Vec::new();
    for profile in PROFILES {
        let runs = runs(bench, &udt(bench, profile)?, &ROUND_TRIPS, &[], STAGES)?;
        for ((name, ..), runs) in ROUND_TRIPS.iter().zip(&runs) {
            findings.value(format!("{profile}: EI, {name}"), Ours::over(runs, efficiency));
            findings.value(format!("{profile}: FI, {name}"), Ours::over(runs, fairness));
            findings.beside(format!("{profile}: SI, {name}"), "", Ours::over(runs, stability));
        }
        for (names, pair) in ROUND_TRIPS.windows(2).zip(runs.windows(2)) {
            let rise = Ours::over(&pair[1], efficiency).minus(&Ours::over(&pair[0], efficiency));
            findings.value(format!("{profile}: EI at {} less that at {}", names[1].0, names[0].0), rise);
        }
        let correlations = (0..runs[0].len()).filter_map(|seed| {
            let indices: Option<Vec<f64>> = runs.iter().map(|runs| stability(&runs[seed])).collect();
            spearman(&ROUND_TRIPS.map(|(_, rtt, _)| rtt), &indices?)
        });
        findings.value(format!("{profile}: rank correlation of SI and round trip"), Ours::Runs(correlations.collect()));
        findings.value(format!("{profile}: EI at 1 s"), Ours::over(&runs[5], efficiency));
        curves.push((profile, runs));
    }
    let curves: Vec<(&str, &[Vec<Kept>])> = curves.iter().map(|(name, runs)| (*name, &runs[..])).collect();
    figure(&mut findings, &curves);
    Ok(findings)
}

pub(super) fn table_5(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let tcp = runs(bench, "reno", &ROUND_TRIPS, &[], STAGES)?;
    let of = |runs: &[Kept], index: Index| Ours::over(runs, index);
    for (n, ((name, ..), runs)) in ROUND_TRIPS.iter().zip(&tcp).enumerate() {
        findings.value(format!("EI, {name}"), of(runs, efficiency));
        findings.value(format!("SI, {name}"), of(runs, stability));
        if n < 5 {
            findings.value(format!("FI, {name}"), of(runs, fairness));
        } else {
            findings.beside(format!("FI, {name}"), "", of(runs, fairness));
        }
    }
    findings.value("EI at 100 ms over that at 10 ms", of(&tcp[4], efficiency).per(&of(&tcp[3], efficiency)));
    findings.value("EI at 1 s over that at 100 ms", of(&tcp[5], efficiency).per(&of(&tcp[4], efficiency)));
    for profile in PROFILES {
        let udt = runs(bench, &udt(bench, profile)?, &ROUND_TRIPS[4..], &[], STAGES)?;
        for (n, name) in ["100 ms", "1 s"].into_iter().enumerate() {
            for (what, index) in [("EI", efficiency as Index), ("FI", fairness)] {
                let above = of(&udt[n], index).minus(&of(&tcp[4 + n], index));
                findings.value(format!("{profile}: UDT's {what} less that of TCP at {name}"), above);
            }
        }
        let over = of(&udt[1], efficiency).per(&of(&tcp[5], efficiency));
        findings.value(format!("{profile}: UDT's EI over that of TCP at 1 s"), over);
    }
    figure(&mut findings, &[("TCP", &tcp)]);
    Ok(findings)
}

pub(super) fn window_bound(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let (arrivals, rtt) = (Rate(83_333.0), Span::from_millis(100));
    let lambda: f64 = bench.assumed_as("lambda")?;
    let resting = (0..1000).fold(Packets(16.0), |w, _| cwnd::rate::udt::window(w, lambda, arrivals, rtt));
    let expected = arrivals * (cwnd::rate::udt::SYN + rtt);
    findings.value(
        "fixed point of eq. 21 over AS (SYN + RTT), distance from 1",
        Ours::Exact((resting.0 / expected.0 - 1.0).abs()),
    );
    let fine = ["sampling=10ms".to_string()];
    let sampled = runs(bench, &udt(bench, "paper")?, &ROUND_TRIPS[4..5], &fine, WINDOW_BOUND)?;
    findings.value(
        "paper: largest window over the largest AS (SYN + RTT) of a second before, RTT 100 ms",
        Ours::mean(&sampled[0], "window_over_bound"),
    );
    for point in &ROUND_TRIPS[4..] {
        // Both start with their share and know the capacity: what differs is the window.
        let window = FAIR_SHARE / 12e3 * (0.01 + point.1);
        let decrease = bench.assumed("decrease")?;
        let with = format!(
            "udt:profile=paper,decrease={decrease},start=none,lambda={lambda},capacity=1gbit,initial_rate={FAIR_SHARE}bit,\
             initial_window={window}"
        );
        let without = format!("{},decrease={decrease},initial_rate={FAIR_SHARE}bit", alone(1e9));
        let loss = |algorithm: &str| -> Result<Ours, PaperError> {
            Ok(Ours::mean(&runs(bench, algorithm, core::slice::from_ref(point), &[], STAGES)?[0], "stage_1_loss"))
        };
        let (with, without) = (loss(&with)?, loss(&without)?);
        findings.value(format!("loss without eq. 21 over loss with it, RTT {}", point.0), without.per(&with));
        findings.beside(format!("loss with eq. 21, RTT {}", point.0), "%", with.map(|loss| loss * 100.0));
        findings.beside(format!("loss without eq. 21, RTT {}", point.0), "%", without.map(|loss| loss * 100.0));
    }
    Ok(findings)
}

/// A tenth of the bottleneck, bit/s.
const FAIR_SHARE: f64 = 1e8;
