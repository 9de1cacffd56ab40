//! Many flows on one bottleneck: Figs. 2 to 4, ECN, sensitivity to what the paper leaves open, and its future work.

use cwnd_sim::QueueLimit;

use super::{algorithms, red};
use crate::measure::{jain, mean};
use crate::paper::{Bench, Figure, Findings, Line, Ours, PaperError};
use crate::probe::{Kept, Probe};
use crate::scenario::Scenario;

/// The runs of every algorithm along a sweep.
struct Sweep {
    points: Vec<f64>,
    /// Room before the bottleneck at each point, packets.
    limits: Vec<f64>,
    /// By algorithm, then by point.
    series: Vec<(String, Vec<Vec<Kept>>)>,
}

impl Sweep {
    /// Runs what `scenario` makes of an algorithm at each of the points.
    fn run(
        bench: &Bench<'_>,
        points: &[f64],
        algorithms: &[(&str, String)],
        scenario: impl Fn(&str, f64) -> Result<Scenario, PaperError>,
    ) -> Result<Self, PaperError> {
        let pairs = algorithms.iter().flat_map(|(_, algorithm)| points.iter().map(move |point| (algorithm, *point)));
        let scenarios = pairs.map(|(algorithm, point)| scenario(algorithm, point)).collect::<Result<Vec<_>, _>>()?;
        let limits = scenarios.iter().take(points.len()).map(limit).collect();
        let mut runs = bench.run(&scenarios, Probe::SUMMARY)?.into_iter();
        let series = algorithms.iter().map(|(name, _)| (name.to_string(), runs.by_ref().take(points.len()).collect()));
        Ok(Self { points: points.to_vec(), limits, series: series.collect() })
    }

    /// What `of` draws from each run of an algorithm at a point; nothing where the sweep does not go.
    fn at(&self, name: &str, point: f64, of: impl Fn(&Kept) -> Option<f64>) -> Ours {
        let place = self.points.iter().position(|known| *known == point);
        let series = self.series.iter().find(|(known, _)| known == name);
        match (place, series) {
            (Some(place), Some((_, runs))) => Ours::over(&runs[place], of),
            _ => Ours::Runs(Vec::new()),
        }
    }

    fn utilisation(&self, name: &str, point: f64) -> Ours {
        self.at(name, point, |kept| kept.one("utilisation"))
    }

    /// The mean queue over its limit.
    fn queue(&self, name: &str, point: f64) -> Ours {
        let place = self.points.iter().position(|known| *known == point);
        let limit = place.map_or(f64::NAN, |place| self.limits[place]);
        self.at(name, point, |kept| Some(kept.all("link_queue_packets").first()? / limit))
    }

    /// Of the others than `name`, the one that `better` prefers at a point, by the mean of what `of` draws.
    fn extreme(&self, name: &str, of: impl Fn(&str) -> Ours, better: impl Fn(f64, f64) -> bool) -> Ours {
        let others = self.series.iter().map(|(other, _)| other.as_str()).filter(|other| *other != name);
        let named = others.map(of).filter(|ours| ours.value().is_some());
        named
            .reduce(|one, other| {
                let (a, b) = (one.value().unwrap_or(f64::NAN), other.value().unwrap_or(f64::NAN));
                if better(b, a) { other } else { one }
            })
            .unwrap_or(Ours::Runs(Vec::new()))
    }

    /// The smallest, or the largest, over points of what `of` says.
    fn over_points(&self, of: impl Fn(f64) -> Ours, better: impl Fn(f64, f64) -> bool) -> Ours {
        let all = self.points.iter().map(|point| of(*point)).filter(|ours| ours.value().is_some());
        all.reduce(|one, other| {
            let (a, b) = (one.value().unwrap_or(f64::NAN), other.value().unwrap_or(f64::NAN));
            if better(b, a) { other } else { one }
        })
        .unwrap_or(Ours::Runs(Vec::new()))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|(name, _)| name.as_str())
    }

    fn figure(&self, findings: &mut Findings, x: &'static str, unit: f64) {
        let line = |of: &dyn Fn(&str, f64) -> Ours, name: &str| Line {
            name: name.to_string(),
            published: false,
            points: self.points.iter().filter_map(|point| Some((point * unit, of(name, *point).value()?))).collect(),
        };
        type Of<'a> = &'a dyn Fn(&str, f64) -> Ours;
        let (used, waiting): (Of<'_>, Of<'_>) =
            (&|name, point| self.utilisation(name, point), &|name, point| self.queue(name, point));
        for (title, y, of) in
            [("Utilisation", "Utilisation", used), ("Mean queue", "Mean queue over its limit", waiting)]
        {
            findings.figure(Figure {
                title,
                caption: "Means over runs.".to_string(),
                x,
                y,
                log: (true, false),
                curves: self.names().map(|name| line(of, name)).collect(),
            });
        }
    }

    /// Every point of every algorithm.
    fn report(&self, findings: &mut Findings, points: impl Fn(f64) -> String) {
        for name in self.names() {
            for point in self.points.iter().copied() {
                let row = |measure: &str| format!("{name}, {}: {measure}", points(point));
                findings.beside(row("utilisation"), "", self.utilisation(name, point));
                findings.beside(row("mean queue over its limit"), "", self.queue(name, point));
                findings.beside(row("drops"), "%", self.at(name, point, drops).map(|rate| rate * 100.0));
                findings.beside(row("marks"), "%", self.at(name, point, marked).map(|rate| rate * 100.0));
            }
        }
    }
}

/// Room before the bottleneck, the first link.
fn limit(scenario: &Scenario) -> f64 {
    match scenario.setup(1).links.first().map(|link| link.queue) {
        Some(QueueLimit::Packets(packets)) => f64::from(packets),
        _ => f64::INFINITY,
    }
}

fn drops(kept: &Kept) -> Option<f64> {
    kept.all("link_loss_rate").first().copied()
}

fn marked(kept: &Kept) -> Option<f64> {
    kept.all("link_mark_rate").first().copied()
}

fn larger(one: f64, other: f64) -> bool {
    one > other
}

fn smaller(one: f64, other: f64) -> bool {
    one < other
}

/// What varies on the dumbbell besides the algorithm.
#[derive(Clone, Copy)]
struct Load {
    /// Mbit/s.
    rate: f64,
    /// Each way.
    flows: u32,
    marks: bool,
}

impl Load {
    /// The capacity sweep has 16 flows each way.
    fn of_capacity(rate: f64) -> Self {
        Self { rate, flows: 16, marks: true }
    }
}

/// The dumbbell with `algorithm` in both directions.
fn dumbbell(bench: &Bench<'_>, algorithm: &str, load: Load, changes: &[String]) -> Result<Scenario, PaperError> {
    let Load { rate, flows, marks } = load;
    let own = [
        format!("dumbbell.rate={}bit", rate * 1e6),
        format!("dumbbell.queue={}", red(bench, 1.0, marks)?),
        format!("flow.0.algorithm={algorithm}"),
        format!("flow.1.algorithm={algorithm}"),
        format!("flow.0.count={flows}"),
        format!("flow.1.count={flows}"),
    ];
    bench.scenario("dumbbell", &[&own, changes].concat())
}

fn capacities(bench: &Bench<'_>) -> Result<Vec<f64>, PaperError> {
    bench.assumed_as("capacities")
}

fn over_capacity(bench: &Bench<'_>, points: &[f64], marks: bool) -> Result<Sweep, PaperError> {
    let algorithms = algorithms(bench)?;
    Sweep::run(bench, points, &algorithms, |algorithm, rate| {
        dumbbell(bench, algorithm, Load { marks, ..Load::of_capacity(rate) }, &[])
    })
}

/// The capacities that rows are listed for, Mbit/s.
const CAPACITIES: [f64; 8] = [2.5, 10.0, 40.0, 160.0, 640.0, 2500.0, 5000.0, 10_000.0];

pub(super) fn figure_2(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
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
            let least = sweep.extreme("TCP", |name| used(name, rate), smaller);
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
            lost("TCP").minus(&sweep.extreme("TCP", lost, smaller)),
        );
        if rate >= 5000.0 {
            let count = |kept: &Kept| kept.all("link_dropped_packets").first().copied();
            findings.value(format!("TCP: drops in the last 100 s, {rate} Mbit/s"), sweep.at("TCP", rate, count));
        }
    }
    findings.value(
        "STCP: utilisation at 640 Mbit/s less that at 10000 Mbit/s",
        used("STCP", 640.0).minus(&used("STCP", 10_000.0)),
    );
    for name in sweep.names() {
        let longest = sweep.over_points(|rate| sweep.queue(name, rate), larger);
        findings.value(format!("{name}: largest mean queue over its limit"), longest);
    }
    sweep.report(&mut findings, |rate| format!("{rate} Mbit/s"));
    sweep.figure(&mut findings, "Capacity, bit/s", 1e6);
    Ok(findings)
}

pub(super) fn marks(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let points: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= 2500.0).collect();
    let (on, off) = (over_capacity(bench, &points, true)?, over_capacity(bench, &points, false)?);
    let size = |ours: Ours| ours.map(f64::abs);
    for name in on.names() {
        let farther = |one: f64, other: f64| one.abs() > other.abs();
        let used = on.over_points(|rate| on.utilisation(name, rate).minus(&off.utilisation(name, rate)), farther);
        let waiting = on.over_points(|rate| on.queue(name, rate).minus(&off.queue(name, rate)), farther);
        let lost = on.over_points(|rate| on.at(name, rate, drops).minus(&off.at(name, rate, drops)), larger);
        findings.value(format!("{name}: largest difference of utilisation with and without ECN"), size(used));
        findings.value(format!("{name}: largest difference of the mean queue over its limit"), size(waiting));
        findings.value(format!("{name}: largest drop rate with ECN less that without"), lost);
    }
    off.report(&mut findings, |rate| format!("without ECN, {rate} Mbit/s"));
    Ok(findings)
}

pub(super) fn figure_3(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let points: Vec<f64> = bench.assumed_as("flows")?;
    let algorithms = algorithms(bench)?;
    let sweep = Sweep::run(bench, &points, &algorithms, |algorithm, flows| {
        dumbbell(bench, algorithm, Load { flows: flows as u32, ..Load::of_capacity(RATE) }, &[])
    })?;
    let used = |name: &str, flows: f64| sweep.utilisation(name, flows);
    for flows in (1..=9).map(|power| libm::exp2(f64::from(power))) {
        let best = sweep.extreme("EXP-TCP", |name| used(name, flows), larger);
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
    sweep.report(&mut findings, |flows| format!("{flows} flows"));
    sweep.figure(&mut findings, "Flows each way", 1.0);
    Ok(findings)
}

/// The capacity of Figs. 3 and 4, Mbit/s.
const RATE: f64 = 500.0;

pub(super) fn figure_4(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let points: Vec<f64> = bench.assumed_as("loads")?;
    let algorithms = algorithms(bench)?;
    let sweep = Sweep::run(bench, &points, &algorithms, |algorithm, load| {
        bench.scenario(
            "web",
            &[
                format!("dumbbell.queue={}", red(bench, 1.0, true)?),
                format!("flow.0.algorithm={algorithm}"),
                format!("flow.1.algorithm={algorithm}"),
                format!("arrivals.0.load={load}"),
                format!("arrivals.1.load={load}"),
            ],
        )
    })?;
    for load in (0..9).map(|doubled| f64::from(1 << doubled) * 2.0 / 1000.0) {
        let used = |name: &str| sweep.utilisation(name, load);
        findings.value(format!("EXP-TCP: utilisation, load {load}"), used("EXP-TCP"));
        findings.value(
            format!("EXP-TCP: utilisation less the highest of the others, load {load}"),
            used("EXP-TCP").minus(&sweep.extreme("EXP-TCP", used, larger)),
        );
    }
    sweep.report(&mut findings, |load| format!("load {load}"));
    sweep.figure(&mut findings, "Web load", 1.0);
    Ok(findings)
}

/// Capacities for what varies besides: up to where a run takes seconds.
fn moderate(bench: &Bench<'_>) -> Result<Vec<f64>, PaperError> {
    let highest = bench.by_scale(40.0, 640.0);
    Ok(capacities(bench)?.into_iter().filter(|rate| *rate <= highest).collect())
}

pub(super) fn red_bytes(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let algorithms = algorithms(bench)?;
    // ns-2 converts thresholds and limit by its mean packet, 500 bytes, and scales the probability by size over mean.
    let queue =
        "red:0.5bdp,min=0.1,max=0.3,max_p=0.2,weight=0.002,gentle=yes,wait=yes,bytes=yes,ecn=yes,mark_limit=0.1";
    let changes = [format!("dumbbell.queue={queue}")];
    let sweep = Sweep::run(bench, &moderate(bench)?, &algorithms, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), &changes)
    })?;
    sweep.report(&mut findings, |rate| format!("{rate} Mbit/s"));
    Ok(findings)
}

pub(super) fn pacing(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let [tcp, hstcp, stcp, (_, exp)] = algorithms(bench)?;
    let points = moderate(bench)?;
    let paced = ["flow.0.paced=true".to_string(), "flow.1.paced=true".to_string()];
    let all = Sweep::run(bench, &points, &[tcp, hstcp, stcp], |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), &paced)
    })?;
    all.report(&mut findings, |rate| format!("paced, {rate} Mbit/s"));
    let unpaced = [("EXP-TCP", exp.replace("pacing=on", "pacing=off"))];
    let none = Sweep::run(bench, &points, &unpaced, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), &[])
    })?;
    none.report(&mut findings, |rate| format!("not paced, {rate} Mbit/s"));
    Ok(findings)
}

pub(super) fn small_window(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let exp = bench.assumed("exp-tcp")?;
    let variants = [("without", exp.clone()), ("with the variant", exp.replace("small_window=off", "small_window=on"))];
    let slow: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= 10.0).collect();
    let sweep = Sweep::run(bench, &slow, &variants, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), &[])
    })?;
    sweep.report(&mut findings, |rate| format!("{rate} Mbit/s"));
    let many: Vec<f64> = bench.assumed_as::<Vec<f64>>("flows")?.into_iter().filter(|flows| *flows >= 256.0).collect();
    let rate = bench.by_scale(RATE / 5.0, RATE);
    let sweep = Sweep::run(bench, &many, &variants, |algorithm, flows| {
        dumbbell(bench, algorithm, Load { flows: flows as u32, ..Load::of_capacity(rate) }, &[])
    })?;
    sweep.report(&mut findings, |flows| format!("{flows} flows"));
    Ok(findings)
}

/// The capacity of what the paper leaves to the future, Mbit/s: windows of hundreds of packets at a moderate cost.
fn future_rate(bench: &Bench<'_>) -> f64 {
    bench.by_scale(40.0, 160.0)
}

pub(super) fn round_trips(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let algorithms = algorithms(bench)?;
    // Each flow's own half of 80 ms is all there is to draw from: 8 to 152 ms need a shorter shared part.
    let wide = ["variation.rtt=0.9".to_string(), "dumbbell.rtt=8ms".to_string()];
    let spread = ["flow.0.extra_rtt=72ms".to_string(), "flow.1.extra_rtt=72ms".to_string()];
    let changes = [wide, spread].concat();
    let rate = future_rate(bench);
    let sweep = Sweep::run(bench, &[rate], &algorithms, |algorithm, rate| {
        let queue = [format!("dumbbell.queue={}", red(bench, 10.0, true)?)];
        dumbbell(bench, algorithm, Load::of_capacity(rate), &[&changes[..], &queue].concat())
    })?;
    for name in sweep.names() {
        findings.beside(format!("{name}: utilisation"), "", sweep.utilisation(name, rate));
        let forward = |kept: &Kept| jain(kept.all("flow_goodput_bps").get(..16)?);
        findings.beside(format!("{name}: Jain index of 16 flows"), "", sweep.at(name, rate, forward));
    }
    Ok(findings)
}

pub(super) fn several(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let algorithms = algorithms(bench)?;
    let rate = future_rate(bench);
    let sweep = Sweep::run(bench, &[rate], &algorithms, |algorithm, rate| {
        let mut changes = vec![
            format!("parking_lot.rate={}bit", rate * 1e6),
            format!("parking_lot.queue={}", red(bench, 1.0, true)?),
        ];
        changes.extend((0..4).map(|flow| format!("flow.{flow}.algorithm={algorithm}")));
        bench.scenario("parking-lot", &changes)
    })?;
    for name in sweep.names() {
        let share = |kept: &Kept| {
            let (long, short) = kept.all("flow_goodput_bps").split_first()?;
            Some(long / mean(short)?)
        };
        findings.beside(
            format!("{name}: goodput of the long flow over the mean of the short ones"),
            "",
            sweep.at(name, rate, share),
        );
        findings.beside(format!("{name}: utilisation of the first bottleneck"), "", sweep.utilisation(name, rate));
    }
    Ok(findings)
}

pub(super) fn friendliness(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let [(_, tcp), (_, hstcp), (_, stcp), (_, exp)] = algorithms(bench)?;
    let against = [
        ("HSTCP", hstcp),
        ("STCP", stcp),
        ("EXP-TCP", exp.clone()),
        ("EXP-TCP with the variant", exp.replace("small_window=off", "small_window=on")),
    ];
    let points: Vec<f64> = capacities(bench)?.into_iter().filter(|rate| *rate <= future_rate(bench)).collect();
    // The flows that would go the other way share the bottleneck with those forward.
    let beside = [format!("flow.1.algorithm={tcp}"), "flow.1.direction=forward".to_string()];
    let sweep = Sweep::run(bench, &points, &against, |algorithm, rate| {
        dumbbell(bench, algorithm, Load::of_capacity(rate), &beside)
    })?;
    for name in sweep.names() {
        for rate in &points {
            let over = |kept: &Kept| {
                let all = kept.all("flow_goodput_bps");
                Some(mean(all.get(..16)?)? / mean(all.get(16..)?)?)
            };
            let row = format!("{name}, {rate} Mbit/s: mean goodput over that of as many TCP flows");
            findings.beside(row, "", sweep.at(name, *rate, over));
        }
    }
    Ok(findings)
}
