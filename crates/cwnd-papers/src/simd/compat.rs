//! n SIMD and n TCP flows at one bottleneck: Table 2, Figs. 6 to 8.

use cwnd_sim::{AckEcho, Discipline, QueueLimit};

use crate::change;
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::{mean, sample_deviation};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{self, QueueSize, Scenario, Written};

/// Rates of the bottleneck, Mbit/s.
const RATES: [u32; 2] = [15, 60];

/// The queue in front of the bottleneck.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    Marking,
    Dropping,
    DropTail,
}

impl Queue {
    /// The queue of Table 2 before a link of `rate` Mbit/s.
    fn written(self, bench: &Bench<'_>, rate: u32) -> Result<Written<scenario::Queue>> {
        let product = f64::from(rate) * 1e6 * bench.assumed_as::<f64>("bdp-rtt")? / PACKET_BITS;
        let packets = |products: f64| QueueSize::Packets((products * product).round() as u32);
        let early = |mark| -> Result<scenario::Queue> {
            let discipline = Discipline::Red(change::early_detection(bench, [0.15, 0.5], mark)?);
            Ok(scenario::Queue { limit: packets(2.5), discipline })
        };
        let queue = match self {
            Self::DropTail => scenario::Queue { limit: packets(1.5), discipline: Discipline::DropTail },
            Self::Marking => early(true)?,
            Self::Dropping => early(false)?,
        };
        Ok(queue.into())
    }
}

/// The packets of Table 2.
const PACKET_BITS: f64 = 8000.0;

/// The scenario with `n` flows of each class.
fn scenario(bench: &Bench<'_>, queue: Queue, (rate, n): (u32, u32), window: Option<f64>) -> Result<Scenario> {
    bench.scenario("compat", |document| {
        let bottleneck = change::dumbbell(document);
        (bottleneck.rate, bottleneck.queue) = (format!("{rate}mbit").parse()?, queue.written(bench, rate)?);
        document.flow[..2].iter_mut().for_each(|flow| flow.count = n);
        for flow in &mut document.flow {
            flow.ecn = (queue == Queue::Marking).then(|| AckEcho::Latch.into()).or(flow.ecn.take());
            flow.max_window = window.or(flow.max_window);
        }
        Ok(())
    })
}

/// The runs of one number of flows at one rate.
struct Point {
    rate: u32,
    n: u32,
    runs: Vec<Reduction>,
}

impl Point {
    /// All rates and numbers of flows, with the assumed window.
    fn all(bench: &Bench<'_>, queue: Queue) -> Result<Vec<Self>> {
        let unlimited = bench.assumed("window")? == "unlimited";
        let window = if unlimited { None } else { Some(bench.assumed_as("window")?) };
        Self::of(bench, queue, &bench.assumed_as::<Vec<u32>>("flows")?, window)
    }

    /// Both rates and these numbers of flows.
    fn of(bench: &Bench<'_>, queue: Queue, flows: &[u32], window: Option<f64>) -> Result<Vec<Self>> {
        let pairs: Vec<(u32, u32)> = RATES.into_iter().flat_map(|rate| flows.iter().map(move |n| (rate, *n))).collect();
        let scenarios = pairs.iter().map(|pair| scenario(bench, queue, *pair, window));
        let runs = bench.run_all(scenarios, Probe::SUMMARY)?;
        Ok(pairs.into_iter().zip(runs).map(|((rate, n), runs)| Self { rate, n, runs }).collect())
    }

    /// Goodputs of the SIMD flows and of the TCP flows in all runs but one, over the fair share.
    fn classes(&self, left_out: Option<usize>) -> Option<[Vec<f64>; 2]> {
        let n = self.n as usize;
        let fair = f64::from(self.rate) * 1e6 / (2.0 * f64::from(self.n));
        let mut all = [Vec::new(), Vec::new()];
        for (_, kept) in self.runs.iter().enumerate().filter(|(run, _)| Some(*run) != left_out) {
            let goodputs = kept.all("flow_goodput_bps");
            for (class, from) in all.iter_mut().zip([0, n]) {
                class.extend(goodputs.get(from..from + n)?.iter().map(|goodput| goodput / fair));
            }
        }
        Some(all)
    }

    /// Mean goodput of the SIMD flows and of the TCP flows, over the fair share.
    fn means(&self, left_out: Option<usize>) -> Option<[f64; 2]> {
        let [simd, tcp] = self.classes(left_out)?;
        Some([mean(&simd)?, mean(&tcp)?])
    }

    /// The mean of SIMD over that of TCP.
    fn ratio(&self, left_out: Option<usize>) -> Option<f64> {
        let [simd, tcp] = self.means(left_out)?;
        Some(simd / tcp)
    }

    /// The share of packets lost or marked at the bottleneck, the first link of a dumbbell.
    fn rate_of_losses(&self) -> f64 {
        let first = |kept: &Reduction, name| kept.all(name).first().copied().unwrap_or(f64::NAN);
        let rates = self.runs.iter().map(|kept| first(kept, "link_loss_rate") + first(kept, "link_mark_rate"));
        mean(&rates.collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    }

    /// Standard deviation over mean of the goodputs of all flows of both classes in all runs.
    fn variation(&self, left_out: Option<usize>) -> Option<f64> {
        let all = self.classes(left_out)?.concat();
        Some(sample_deviation(&all)? / mean(&all)?)
    }

    /// The variance of goodputs over the fair share within a class and over runs, mean of both classes.
    fn variance(&self, left_out: Option<usize>) -> Option<f64> {
        let [simd, tcp] = self.classes(left_out)?;
        let [simd, tcp] = [sample_deviation(&simd)?, sample_deviation(&tcp)?];
        Some((simd * simd + tcp * tcp) / 2.0)
    }
}

fn runs(points: &[Point]) -> usize {
    points.iter().map(|point| point.runs.len()).min().unwrap_or(0)
}

/// The mean over points of what `of` says of each, all runs but one.
fn over<'a>(
    points: impl IntoIterator<Item = &'a Point>,
    of: fn(&Point, Option<usize>) -> Option<f64>,
    left_out: Option<usize>,
) -> Option<f64> {
    mean(&points.into_iter().map(|point| of(point, left_out)).collect::<Option<Vec<f64>>>()?)
}

/// The common part of Figs. 6 to 8: the ratios of class means where losses are not heavy, every point, and the figure.
fn shares(findings: &mut Findings, points: &[Point], losses: &'static str) {
    for rate in RATES {
        let light = || points.iter().filter(|point| point.rate == rate && point.rate_of_losses() < HEAVY);
        let by_ratio = |one: &&Point, other: &&Point| {
            let ratio = |point: &Point| point.ratio(None).unwrap_or(f64::NAN);
            ratio(one).total_cmp(&ratio(other))
        };
        for (which, point) in [("smallest", light().min_by(by_ratio)), ("largest", light().max_by(by_ratio))] {
            let ours = point.map_or(Computed::NONE, |point| {
                Computed::jackknife(point.runs.len(), |left_out| point.ratio(left_out))
            });
            findings
                .value(format!("{rate} Mbit/s: {which} ratio of class means SIMD/TCP, n with a rate below 10 %"), ours);
        }
    }
    for point in points {
        let Point { rate, n, .. } = point;
        let jackknife = |of: &dyn Fn(Option<usize>) -> Option<f64>| Computed::jackknife(point.runs.len(), of);
        let row = |what: &str| format!("{rate} Mbit/s, n = {n}: {what}");
        findings.extra(row("SIMD/TCP"), "", jackknife(&|left_out| point.ratio(left_out)));
        findings.extra(row("variation of throughput"), "", jackknife(&|left_out| point.variation(left_out)));
        findings.extra(row(losses), "%", point.rate_of_losses() * 100.0);
    }
    let mut curves = Vec::new();
    for rate in RATES {
        for (class, name) in ["SIMD", "TCP"].into_iter().enumerate() {
            let at = |point: &Point| Some((2.0 * f64::from(point.n), point.means(None)?[class]));
            let points = points.iter().filter(|point| point.rate == rate).filter_map(at);
            curves.push(Curve::new(format!("{name}, {rate} Mbit/s"), points));
        }
    }
    findings.figure(Figure {
        title: "Mean throughput of each class",
        caption: "Over the fair share of all flows; means over flows and runs.".to_string(),
        x: "Flows of both classes",
        y: "Throughput over the fair share",
        log: (true, false),
        curves,
    });
}

/// The row of Figs. 6 and 7 that asks whether SIMD falls behind where losses are frequent.
fn behind(findings: &mut Findings, points: &[Point]) {
    let with = |accepted: fn(f64) -> bool| points.iter().filter(move |point| accepted(point.rate_of_losses()));
    let difference = |left_out| {
        Some(
            over(with(|rate| rate > 0.05), Point::ratio, left_out)?
                - over(with(|rate| rate < 0.01), Point::ratio, left_out)?,
        )
    };
    findings.value(
        "mean ratio where the rate is above 5 % less that where it is below 1 %",
        Computed::jackknife(runs(points), difference),
    );
}

/// The rate of losses and marks up to which the paper calls SIMD compatible.
const HEAVY: f64 = 0.1;

pub(super) fn figure_6(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points = Point::all(bench, Queue::Marking)?;
    shares(findings, &points, "marks and drops");
    behind(findings, &points);
    let wide = |n| points.iter().find(|point| point.rate == 60 && point.n == n);
    for n in [1, 2] {
        let times = |left_out| Some(wide(n)?.variation(left_out)? / wide(8)?.variation(left_out)?);
        findings.value(
            format!("60 Mbit/s: variation of throughput, n = {n} over n = 8"),
            Computed::jackknife(runs(&points), times),
        );
    }
    Ok(())
}

pub(super) fn figure_7(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points = Point::all(bench, Queue::Dropping)?;
    shares(findings, &points, "drops");
    behind(findings, &points);
    Ok(())
}

pub(super) fn figure_8(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let points = Point::all(bench, Queue::DropTail)?;
    let red = Point::all(bench, Queue::Dropping)?;
    shares(findings, &points, "drops");
    let count = runs(&points).min(runs(&red));
    let less = |left_out| Some(over(&points, Point::ratio, left_out)? - over(&red, Point::ratio, left_out)?);
    findings.value("mean ratio over n less that of Fig. 7", Computed::jackknife(count, less));
    let times = |left_out| Some(over(&points, Point::variance, left_out)? / over(&red, Point::variance, left_out)?);
    findings.value("mean variance of throughput over that of Fig. 7", Computed::jackknife(count, times));
    Ok(())
}

pub(super) fn window(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for (name, queue) in
        [("RED, marks", Queue::Marking), ("RED, drops", Queue::Dropping), ("DropTail", Queue::DropTail)]
    {
        for point in Point::of(bench, queue, &FEW, Some(PRINTED_WINDOW))? {
            let Point { rate, n, .. } = point;
            let ratio = Computed::jackknife(point.runs.len(), |left_out| point.ratio(left_out));
            findings.extra(format!("{name}, {rate} Mbit/s, n = {n}: SIMD/TCP"), "", ratio);
            let losses = Computed::Exact(point.rate_of_losses() * 100.0);
            findings.extra(format!("{name}, {rate} Mbit/s, n = {n}: drops and marks"), "%", losses);
        }
    }
    Ok(())
}

/// Flows of each class whose windows can pass that.
const FEW: [u32; 3] = [1, 2, 4];
/// The window of Table 2, packets.
const PRINTED_WINDOW: f64 = 128.0;

pub(super) fn table_2(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for rate in RATES {
        let limit = |queue| -> Result<(f64, Discipline)> {
            let setup = scenario(bench, queue, (rate, 1), None)?.setup(1);
            let link = &setup.links[0];
            let packets = match link.queue {
                QueueLimit::Packets(packets) => f64::from(packets),
                QueueLimit::Bytes(_) | QueueLimit::Unlimited => f64::NAN,
            };
            Ok((packets, link.discipline))
        };
        let (red, discipline) = limit(Queue::Dropping)?;
        findings.value(format!("{rate} Mbit/s: RED limit 2.5 BDP"), red);
        if let Discipline::Red(early) = discipline {
            findings.value(format!("{rate} Mbit/s: RED min_th 0.15 Q"), early.min);
            findings.value(format!("{rate} Mbit/s: RED max_th 0.5 Q"), early.max);
            if rate == RATES[0] {
                findings.value("w_q", early.weight);
                findings.value("max_p", early.max_p);
            }
        }
        findings.value(format!("{rate} Mbit/s: DropTail limit 1.5 BDP"), limit(Queue::DropTail)?.0);
    }
    let shared = scenario(bench, Queue::Dropping, (RATES[0], 1), Some(PRINTED_WINDOW))?;
    let document = shared.document();
    findings.value("packet size", f64::from(document.packet.value().0));
    findings.value("TCP timer granularity", document.era.value().granularity.as_secs_f64());
    let window = document.flow.first().and_then(|flow| flow.max_window);
    findings.value("maximum window", window.unwrap_or(f64::INFINITY));
    Ok(())
}
