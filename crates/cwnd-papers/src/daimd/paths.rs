//! Several bottlenecks, several round trips, and TCP: Tables 2 and 3, Figs. 10 and 14.

use cwnd::{Span, quantity};

use super::{profiles, udt};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, OverTime, Result, Scale};
use cwnd_run::measure::{jain, spearman};
use cwnd_run::probe::Reduction;
use cwnd_run::probe::stages::STAGES;
use cwnd_run::scenario::Scenario;

/// Throughput of flow `at`, Mbit/s.
fn rate(kept: &Reduction, at: usize) -> Option<f64> {
    kept.all("stage_1_throughput_bps").get(at).map(|rate| rate * 1e-6)
}

/// Throughput of all flows, Mbit/s; none if their number differs.
fn rates<const N: usize>(kept: &Reduction) -> Option<[f64; N]> {
    let rates: [f64; N] = kept.all("stage_1_throughput_bps").try_into().ok()?;
    Some(rates.map(|rate| rate * 1e-6))
}

pub(super) fn table_2(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let algorithm = udt(bench, profile)?;
        let limited = |y: f64| {
            bench.scenario("tree", |document| {
                document.link[2].rate = Some(format!("{y}mbit").parse()?);
                set_algorithm(&mut document.flow, &algorithm)
            })
        };
        for (y, runs) in LIMITS.into_iter().zip(bench.run_all(LIMITS.map(limited), STAGES)?) {
            let (ab, ac) = (Computed::over(&runs, |kept| rate(kept, 0)), Computed::over(&runs, |kept| rate(kept, 1)));
            let fair = y.min(100.0);
            findings.value(format!("{profile}: AC over min(y, 100), y = {y}"), ac.map(|ac| ac / fair));
            if y >= 100.0 {
                let ratio = |kept: &Reduction| rates::<2>(kept).map(|[ab, ac]| ab.max(ac) / ab.min(ac));
                findings.value(format!("{profile}: larger over smaller, y = {y}"), Computed::over(&runs, ratio));
            }
            findings.value(format!("{profile}: AB, y = {y}"), ab);
            findings.value(format!("{profile}: AC, y = {y}"), ac);
        }
    }
    Ok(())
}

/// y, Mbit/s.
const LIMITS: [f64; 12] = [0.1, 1.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0];

pub(super) fn figure_10(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let measured = udt(bench, profile)?;
        let runs = five(bench, &measured)?;
        for (at, name) in ROUND_TRIPS.into_iter().enumerate() {
            findings.value(format!("{profile}: {name}"), Computed::over(&runs, |kept| rate(kept, at)));
        }
        let over = |of: fn([f64; 5]) -> Option<f64>| Computed::over(&runs, |kept| of(rates(kept)?));
        findings.value(
            format!("{profile}: 10 us less the largest of the middle three"),
            over(|[first, a, b, c, _]| Some(first - a.max(b).max(c))),
        );
        findings.value(
            format!("{profile}: smallest of the middle three less 100 ms"),
            over(|[_, a, b, c, last]| Some(a.min(b).min(c) - last)),
        );
        findings.value(
            format!("{profile}: middle three, largest over smallest"),
            over(|[_, a, b, c, _]| Some(a.max(b).max(c) / a.min(b).min(c))),
        );
        findings.value(format!("{profile}: aggregate"), over(|rates| Some(rates.iter().sum())));
        findings.value(format!("{profile}: Jain index"), over(|rates| jain(&rates)));
        findings.value(
            format!("{profile}: rank correlation of round trip and throughput"),
            over(|rates| spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &rates)),
        );
        findings.value(format!("{profile}: SI"), Computed::mean(&runs, "stage_1_si"));
        let known = five(bench, &format!("{measured},capacity=100mbit"))?;
        for (at, name) in ROUND_TRIPS.into_iter().enumerate() {
            let known = Computed::over(&known, |kept| rate(kept, at));
            findings.extra(format!("{profile}, capacity known: {name}"), "Mbit/s", known);
        }
        draw_five(bench, (profile, &measured), findings)?;
    }
    Ok(())
}

/// The five flows over time, with the printed mean rates at the end.
fn draw_five(bench: &Bench<'_>, (profile, algorithm): (&str, &str), findings: &mut Findings) -> Result {
    let Some(run) = OverTime::of(bench, &five_flows(bench, algorithm)?)? else { return Ok(()) };
    let mut curves = run.curves(ROUND_TRIPS.len(), |flow| ROUND_TRIPS[flow - 1].to_string());
    for name in ROUND_TRIPS {
        let printed = bench.printed("fig-10", &format!("paper: {name}"));
        curves.push(Curve::printed(name, printed.map(|rate| (run.length(), rate))));
    }
    findings.figure(Figure {
        title: "Five round trips over time",
        caption: format!("Means over seconds of the first run, profile {profile}. Diamonds: the printed mean rates."),
        x: "Time, s",
        y: "Throughput, Mbit/s",
        log: (false, false),
        curves,
    });
    Ok(())
}

const ROUND_TRIPS: [&str; 5] = ["10 us", "100 us", "1 ms", "10 ms", "100 ms"];

fn five(bench: &Bench<'_>, algorithm: &str) -> Result<Vec<Reduction>> {
    bench.run(five_flows(bench, algorithm)?, STAGES)
}

fn five_flows(bench: &Bench<'_>, algorithm: &str) -> Result<Scenario> {
    bench.scenario("round-trips", |document| set_algorithm(&mut document.flow, algorithm))
}

pub(super) fn table_3(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for &profile in profiles(bench) {
        let algorithm = udt(bench, profile)?;
        let chain = bench.scenario("chain", |document| set_algorithm(&mut document.flow, &algorithm))?;
        let runs = bench.run(chain, STAGES)?;
        for at in 0..6 {
            findings.value(format!("{profile}: flow {}", at + 1), Computed::over(&runs, |kept| rate(kept, at)));
        }
        let both = Computed::over(&runs, |kept| Some(rate(kept, 3)? + rate(kept, 4)?));
        findings.value(format!("{profile}: flows 4 and 5 together"), both);
    }
    Ok(())
}

pub(super) fn figure_14(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let capacities: Vec<String> = bench.assumed_as("grid-capacities")?;
    let round_trips: Vec<String> = bench.assumed_as("grid-round-trips")?;
    let least_queue: u64 = bench.assumed_as("grid-queue")?;
    for &profile in profiles(bench) {
        let algorithm = udt(bench, profile)?;
        let mut curves = Vec::new();
        let mut lowest = Vec::new();
        for capacity in &capacities {
            let scenarios = round_trips.iter().map(|rtt| {
                let queue = least_queue.max(libm::round(product(capacity, rtt)?) as u64);
                beside_tcp(bench, &algorithm, (capacity, rtt), queue)
            });
            let runs = bench.run_all(scenarios, STAGES)?;
            let ratios: Vec<Computed> = runs.iter().map(|runs| ratio(runs)).collect();
            for (names, pair) in round_trips.windows(2).zip(ratios.windows(2)) {
                let rise = pair[1].minus(&pair[0]);
                findings.value(format!("{profile}: ratio at {} less that at {}, {capacity}", names[1], names[0]), rise);
            }
            for (rtt, ratio) in round_trips.iter().zip(&ratios) {
                if (&**rtt, &**capacity) == ("100ms", "1gbit") {
                    findings.value(format!("{profile}: ratio at {rtt}, {capacity}"), ratio.clone());
                } else {
                    findings.extra(format!("{profile}: ratio at {rtt}, {capacity}"), "", ratio.clone());
                }
            }
            lowest.push(ratios[0].clone());
            let points = round_trips.iter().zip(&ratios);
            let points =
                points.filter_map(|(rtt, ratio)| Some((quantity::span(rtt).ok()?.as_secs_f64(), ratio.value()?)));
            curves.push(Curve::new(capacity.clone(), points));
        }
        if let [least, .., most] = &lowest[..] {
            let (rtt, low, high) = (&round_trips[0], &capacities[0], &capacities[capacities.len() - 1]);
            findings.value(format!("{profile}: ratio at {rtt}, {low} over that at {rtt}, {high}"), least.per(most));
        }
        findings.figure(Figure {
            title: "UDT over TCP",
            caption: format!("Throughput of one flow over that of the other, profile {profile}; means over runs."),
            x: "Round trip, s",
            y: "Ratio",
            log: (true, true),
            curves,
        });
        // Of release 2.2 at full length only, since it takes long.
        if bench.variant().is_none() && (profile == "paper" || bench.scale() == Scale::Full) {
            over_queues(bench, profile, &round_trips, findings)?;
        }
    }
    Ok(())
}

/// UDT's throughput over TCP's.
fn ratio(runs: &[Reduction]) -> Computed {
    Computed::over(runs, |kept| rates::<2>(kept).map(|[udt, tcp]| udt / tcp))
}

/// The ratio at 100 Mbit/s over the size of the queue, a curve for each round trip.
fn over_queues(bench: &Bench<'_>, profile: &str, round_trips: &[String], findings: &mut Findings) -> Result {
    let algorithm = udt(bench, profile)?;
    let queues: Vec<u64> = bench.assumed_as("grid-queues")?;
    let mut curves = Vec::new();
    for rtt in round_trips {
        let scenarios = queues.iter().map(|queue| beside_tcp(bench, &algorithm, ("100mbit", rtt), *queue));
        let runs = bench.run_all(scenarios, STAGES)?;
        let mut points = Vec::new();
        for (queue, runs) in queues.iter().zip(&runs) {
            let ratio = ratio(runs);
            points.extend(ratio.value().map(|ratio| (*queue as f64, ratio)));
            findings.value(format!("{profile}: ratio at {rtt}, 100mbit, queue of {queue} packets"), ratio);
        }
        curves.push(Curve::new(rtt.clone(), points));
    }
    findings.figure(Figure {
        title: "UDT over TCP by the queue",
        caption: format!(
            "Throughput of one flow over that of the other on 100 Mbit/s, by round trip, profile {profile}; means over runs."
        ),
        x: "Queue, packets",
        y: "Ratio",
        log: (true, true),
        curves,
    });
    Ok(())
}

/// Packets that fill a path.
fn product(capacity: &str, rtt: &str) -> Result<f64> {
    Ok(quantity::bit_rate(capacity)?.0 * quantity::span(rtt)?.as_secs_f64() / super::PACKET.bits())
}

fn beside_tcp(bench: &Bench<'_>, algorithm: &str, (capacity, rtt): (&str, &str), queue: u64) -> Result<Scenario> {
    let span = quantity::span(rtt)?;
    bench.scenario("beside-tcp", |document| {
        let link = &mut document.link[0];
        link.rate = Some(capacity.parse()?);
        link.delay = change::span(Span::from_nanos(span.as_nanos() / 2))?;
        link.queue = Some(format!("droptail:{queue}p").parse()?);
        set_algorithm(&mut document.flow[..1], algorithm)
    })
}
