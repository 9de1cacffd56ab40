//! Whether a run was measured in a stationary window: one that holds several cycles of every flow, and whose halves agree.
//!
//! A mean over a window in which Reno only grows is a number of that window, not of Reno on that path. Nothing is called the best of
//! such numbers ([`Compared::best`](crate::compare::Compared::best)).
//!
//! A cycle is a congestion event: losses, marks or timeouts of one round trip count once (RFC 5348 section 5.2). Some algorithms probe
//! without a loss, and others come to rest. A flow with fewer events than turns therefore counts its turns: its window falls by a packet
//! from a peak and rises by a packet again; of a sender that sets a rate it is the rate, by 5 %. BBR lowers its rate by more than that in
//! every cycle of its probing, Reno and CUBIC never lower their windows without an event. A flow is at rest, with no cycle to wait for,
//! when its window stays within two packets over 20 round trips, in which Reno would grow by 20 packets, and falls as much as it rises:
//! SIMD grows by less than that for minutes.

use cwnd::Span;
use cwnd_run::measure::{Window, goodput, jain, mean};
use cwnd_run::run::Runs;
use cwnd_sim::QueueLimit;
use cwnd_trace::{FlowTrace, LinkTrace, Trace};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the window in which an algorithm was measured is stationary, judged from its runs.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct Stationarity {
    /// At least five cycles of every flow lie in the window, and its halves agree. Only then may a value be called the best.
    pub stationary: bool,
    /// The least number of cycles of a flow in the window of a run; null for flows at rest.
    pub cycles: Option<u64>,
    /// The counted events: `congestion events`, or `turns of the window` or `turns of the rate` where these were more.
    pub counted: &'static str,
    /// Why the window is too short; null where it is not.
    pub reason: Option<String>,
    /// A duration that should be enough, seconds; null where it is enough, and where nothing is known.
    pub try_duration_s: Option<f64>,
}

/// The cycles of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cycles {
    Counted(u64, Kind),
    AtRest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Events,
    WindowTurns,
    RateTurns,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Events => "congestion events",
            Self::WindowTurns => "turns of the window",
            Self::RateTurns => "turns of the rate",
        }
    }

    fn counted(self, count: u64) -> String {
        let plural = if count == 1 { "" } else { "s" };
        match self {
            Self::Events => format!("{count} congestion event{plural}"),
            Self::WindowTurns => format!("{count} turn{plural} of the window"),
            Self::RateTurns => format!("{count} turn{plural} of the rate"),
        }
    }
}

impl Stationarity {
    /// The judgement from the runs of one algorithm.
    #[must_use]
    pub fn of(runs: &Runs) -> Self {
        let bottleneck = runs.scenario.bottleneck();
        let name = runs.scenario.document().flow.first().map_or("", |group| group.algorithm.text());
        let recorded =
            !runs.traces.is_empty() && runs.traces.iter().all(|trace| measured(trace).len() > FEWEST_SAMPLES);
        if !recorded {
            let reason = format!("the state of {name} was recorded too seldom in the window");
            return Self { counted: Kind::Events.name(), reason: Some(reason), ..Self::default() };
        }
        let flows = || runs.traces.iter().flat_map(|trace| trace.flows.iter().map(move |flow| (trace, flow)));
        let least = flows().map(|(trace, flow)| cycles(trace, flow)).min().unwrap_or(Cycles::AtRest);
        let (count, kind) = match least {
            Cycles::Counted(count, kind) => (Some(count), kind),
            Cycles::AtRest => (None, Kind::Events),
        };
        let known = Self { cycles: count, counted: kind.name(), ..Self::default() };
        let first = &runs.traces[0];
        let length = (first.end - first.warmup) as f64 / 1e9;
        if let Some(count) = count.filter(|count| *count < CYCLES) {
            let any = flows().any(|(trace, flow)| events(trace, flow) > 0);
            let reno_like = || mean(&runs.traces.iter().filter_map(|trace| reno_like(runs, trace)).collect::<Vec<_>>());
            let seconds = match count {
                // One more than needed: those seen may have been the short ones.
                1.. => Some(first.warmup as f64 / 1e9 + length * (CYCLES + 1) as f64 / count as f64),
                0 => reno_like(),
            };
            let hopeless = if seconds.is_none() { ", and its windows do not grow towards one" } else { "" };
            let reason = match count {
                0 if any => format!("no congestion event of a flow of {name} in the window{hopeless}"),
                0 => format!("no congestion event of {name} in the window{hopeless}"),
                _ => format!("{} of a flow of {name} in the window, {CYCLES} are needed", kind.counted(count)),
            };
            return Self { reason: Some(reason), try_duration_s: seconds.map(rounded_up), ..known };
        }
        if let Some(changes) = changes(runs) {
            return Self { reason: Some(changes), ..known };
        }
        if let Some(differs) = disagreement(&runs.traces, bottleneck) {
            let reason = format!("the halves of the window of {name} differ: {differs}");
            let seconds = rounded_up(first.end as f64 / 1e9 + length);
            return Self { reason: Some(reason), try_duration_s: Some(seconds), ..known };
        }
        Self { stationary: true, ..known }
    }
}

/// How a link changes in the measured window: once, or too seldom for the halves to show the effect. None where no link changes.
fn changes(runs: &Runs) -> Option<String> {
    let (first, setup) = (runs.traces.first()?, runs.scenario.setup(runs.scenario.document().first_seed));
    let inside = |at: Span| (first.warmup..first.end).contains(&at.as_nanos());
    let of = |instants: Vec<Span>, repeat: Option<Span>, link: &str| match repeat {
        None => instants
            .into_iter()
            .find(|at| inside(*at))
            .map(|at| format!("the link `{link}` changes once, at {at}, in the window")),
        Some(repeat) => {
            let times = (first.end - first.warmup) / repeat.as_nanos().max(1);
            (times < CYCLES).then(|| {
                format!("the changes of the link `{link}` repeat {times} times in the window, {CYCLES} are needed")
            })
        }
    };
    setup.links.iter().find_map(|link| {
        let rates = link.rate_steps.steps.iter().map(|(at, _)| *at).collect();
        let delays = link.delay_steps.steps.iter().map(|(at, _)| *at).collect();
        let changed = |steps: &Vec<Span>| !steps.is_empty();
        Some(rates)
            .filter(changed)
            .and_then(|steps| of(steps, link.rate_steps.repeat, &link.name))
            .or_else(|| Some(delays).filter(changed).and_then(|steps| of(steps, link.delay_steps.repeat, &link.name)))
    })
}

/// The samples in the measured window.
fn measured(trace: &Trace) -> std::ops::Range<usize> {
    let from = trace.at.partition_point(|at| *at < trace.warmup);
    from..trace.at.partition_point(|at| *at <= trace.end)
}

fn cycles(trace: &Trace, flow: &FlowTrace) -> Cycles {
    let samples = measured(trace);
    let events = events(trace, flow);
    let windows: Vec<f64> = samples.clone().map(|at| flow.window[at]).collect();
    let packets = 1e-9 * flow.base_rtt as f64;
    let rates: Vec<f64> = samples.clone().map(|at| flow.pacing_rate[at] * packets).collect();
    let gains: Vec<f64> = samples.map(|at| flow.pacing_rate[at] * flow.srtt[at] / flow.window[at]).collect();
    // A paced window has a rate of the window over the round-trip time, times a gain: it is the window that controls.
    let sets_rate =
        rates.iter().all(|rate| rate.is_finite()) && !gains.iter().all(|gain| within(*gain, gains[0], 0.05));
    let (control, kind) = if sets_rate { (rates, Kind::RateTurns) } else { (windows, Kind::WindowTurns) };
    if !control.iter().all(|value| value.is_finite()) {
        return Cycles::Counted(events, Kind::Events);
    }
    let hysteresis = |peak: f64| if sets_rate { RATE_TURN * peak } else { 1.0 };
    let turns = turns(&control, hysteresis);
    if events == 0 {
        let (low, high) =
            control.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        let rounds = (trace.end - trace.warmup) as f64 / (flow.base_rtt.max(1) as f64);
        let moved = |sign: f64| control.windows(2).map(|pair| (sign * (pair[1] - pair[0])).max(0.0)).sum::<f64>();
        let swings = high - low <= REST_PACKETS.max(REST_SHARE * high) && moved(-1.0) >= moved(1.0) / 2.0;
        let second = &control[control.len() / 2..];
        let stands = second.iter().all(|value| value.to_bits() == second[0].to_bits()) && rounds >= 2.0 * REST_ROUNDS;
        if rounds >= REST_ROUNDS && (swings || stands) {
            return Cycles::AtRest;
        }
    }
    if turns > events { Cycles::Counted(turns, kind) } else { Cycles::Counted(events, Kind::Events) }
}

fn within(value: f64, of: f64, share: f64) -> bool {
    (value - of).abs() <= share * of.abs()
}

/// Congestion events in the measured window, at most one in a round trip and a sampling interval.
fn events(trace: &Trace, flow: &FlowTrace) -> u64 {
    let seen = |at: usize| flow.lost[at] + flow.marked[at] + flow.timeouts[at];
    let mut count = 0;
    let mut last = None;
    for at in measured(trace).skip(1) {
        let (now, step) = (trace.at[at], trace.at[at] - trace.at[at - 1]);
        // Not a number before the first sample.
        let round = flow.base_rtt.max((flow.srtt[at] * 1e9) as u64);
        if seen(at) > seen(at - 1) && last.is_none_or(|last| now - last > round + step) {
            count += 1;
            last = Some(now);
        }
    }
    count
}

/// How often `values` fall by `hysteresis` of their last peak and rise by as much again.
fn turns(values: &[f64], hysteresis: impl Fn(f64) -> f64) -> u64 {
    let Some(first) = values.first() else { return 0 };
    let (mut peak, mut trough, mut falling, mut count) = (*first, *first, false, 0);
    for value in values {
        if falling {
            trough = trough.min(*value);
            if *value >= trough + hysteresis(peak) {
                (falling, peak) = (false, *value);
                count += 1;
            }
        } else {
            peak = peak.max(*value);
            if *value <= peak - hysteresis(peak) {
                (falling, trough) = (true, *value);
            }
        }
    }
    count
}

/// In what the halves of the window differ, on average over the runs; none where they agree.
fn disagreement(traces: &[Trace], bottleneck: usize) -> Option<String> {
    let halves = |of: &dyn Fn(&Trace, Window) -> Option<f64>| -> Option<[f64; 2]> {
        let half = |second: bool| {
            let of_run = |trace: &Trace| {
                let middle = trace.warmup.midpoint(trace.end);
                let (from, to) = if second { (middle, trace.end) } else { (trace.warmup, middle) };
                of(trace, Window { from, to })
            };
            mean(&traces.iter().filter_map(of_run).collect::<Vec<_>>())
        };
        Some([half(false)?, half(true)?])
    };
    let rates = |trace: &Trace, window| -> Vec<f64> {
        trace.flows.iter().filter_map(|flow| goodput(trace, flow, window)).collect()
    };
    let percent = |[first, second]: [f64; 2]| 100.0 * (second - first) / first.max(second);
    let goodput = halves(&|trace, window| Some(rates(trace, window).iter().sum()))?;
    if (goodput[1] - goodput[0]).abs() > GOODPUT_SHARE * goodput[0].max(goodput[1]) {
        return Some(format!("goodput changes by {:+.0} %", percent(goodput)));
    }
    let packet = traces.iter().flat_map(|trace| &trace.flows).map(|flow| f64::from(flow.packet)).fold(0.0, f64::max);
    if let Some(halves) =
        halves(&|trace, window| trace.links.get(bottleneck).and_then(|link| queue(trace, link, window)))
    {
        let most = halves[0].max(halves[1]);
        if (halves[1] - halves[0]).abs() > packet.max(QUEUE_SHARE * most) {
            return Some(format!("the queue changes by {:+.0} %", percent(halves)));
        }
    }
    let halves = halves(&|trace, window| jain(&rates(trace, window)))?;
    let change = halves[1] - halves[0];
    (change.abs() > JAIN).then(|| format!("Jain's index changes by {change:+.2}"))
}

/// Bytes that waited, on average over the samples.
fn queue(trace: &Trace, link: &LinkTrace, window: Window) -> Option<f64> {
    let inside = trace.at.iter().zip(&link.queue_bytes).filter(|(at, _)| (window.from..window.to).contains(at));
    mean(&inside.map(|(_, bytes)| *bytes as f64).collect::<Vec<_>>())
}

/// How long a run must be, seconds, for five cycles of the flows of one that had none: as many of Reno's sawtooth on this path, between
/// the window that fills the pipe and the buffer and half of it, with the growth per round trip that was seen, and before them the time
/// that the flows still need to get there. Growth counts as at least a quarter of Reno's packet per round trip: that of SIMD and CUBIC is
/// slow at first. None where no window grows, or nothing is ever dropped: no cycle is to come.
fn reno_like(runs: &Runs, trace: &Trace) -> Option<f64> {
    let bottleneck = runs.scenario.bottleneck();
    let setup = runs.scenario.setup(runs.scenario.document().first_seed);
    let flows = trace.flows.len().max(1) as f64;
    let packet = trace.flows.first().map_or(1500.0, |flow| f64::from(flow.packet));
    let rtt = mean(&trace.flows.iter().map(|flow| flow.base_rtt as f64 / 1e9).collect::<Vec<_>>()).unwrap_or(0.0);
    let end = trace.end as f64 / 1e9;
    let Some(rate) = trace.links.get(bottleneck).and_then(|link| link.rate) else { return Some(2.0 * end) };
    let per_second = rate as f64 / 8.0 / packet;
    let buffer = match setup.links[bottleneck].queue {
        QueueLimit::Packets(packets) => f64::from(packets),
        QueueLimit::Bytes(bytes) => bytes as f64 / packet,
        QueueLimit::Unlimited => return None,
    };
    let peak = (per_second * rtt + buffer) / flows;
    let samples = measured(trace);
    let (middle, last) = (samples.start.midpoint(samples.end), samples.end - 1);
    let elapsed = (trace.at[last] - trace.at[middle]) as f64 / 1e9;
    let grown: Vec<f64> = trace
        .flows
        .iter()
        .map(|flow| (flow.window[last] - flow.window[middle]) * flow.srtt[last] / elapsed)
        .filter(|growth| *growth > 0.0 && growth.is_finite())
        .collect();
    let growth = mean(&grown)?.max(SLOWEST_GROWTH);
    let now = mean(&trace.flows.iter().map(|flow| flow.window[last]).collect::<Vec<_>>());
    let now = now.filter(|now| now.is_finite()).unwrap_or(0.0).clamp(0.0, peak);
    // A round trip takes the time of an empty pipe, or the time that the packets in flight need at the bottleneck.
    let round = |window: f64| rtt.max(window * flows / per_second);
    let rise = |from: f64| (peak - from) / growth * (round(from) + round(peak)) / 2.0;
    Some(end + rise(now) + CYCLES as f64 * rise(peak / 2.0))
}

/// Whole seconds, up to two significant digits.
fn rounded_up(seconds: f64) -> f64 {
    let mut unit = 1.0;
    while seconds > 100.0 * unit && unit < 1e9 {
        unit *= 10.0;
    }
    (seconds.max(1.0) / unit).ceil() * unit
}

/// Cycles that the window holds at least of every flow: with five, half a cycle more in one half than in the other shifts its mean little
/// enough for the tolerances below.
const CYCLES: u64 = 5;
/// A part of the last peak: BBR lowers its rate by a tenth and more below the one it probes with, and the noise of estimates is less.
const RATE_TURN: f64 = 0.05;
/// A window is at rest if it loses nothing and, for [`REST_ROUNDS`] round trips, stays within this number of packets, or within
/// [`REST_SHARE`]. Falling counts as rising does.
const REST_PACKETS: f64 = 2.0;
/// The part of the window within which a window at rest stays: rules that follow the delay keep moving by some packets.
const REST_SHARE: f64 = 0.1;
/// The round trips over which a window at rest is observed.
const REST_ROUNDS: f64 = 20.0;
/// Packets per round trip.
const SLOWEST_GROWTH: f64 = 0.25;
/// Halves hold two and a half of five cycles. The half cycle left over shifts the mean of a sawtooth from an empty to a full queue from 0.45 to
/// 0.55 of the buffer, by 18 % of the larger.
const QUEUE_SHARE: f64 = 0.2;
/// That half cycle shifts the mean of a sawtooth of the rate, from a half to the whole, from 0.725 to 0.775, by 6 % of the larger.
const GOODPUT_SHARE: f64 = 0.1;
/// Two flows with 65 and 35 % of what they share have an index of 0.92, equal ones 1.
const JAIN: f64 = 0.1;
/// Samples in a window that can show cycles.
const FEWEST_SAMPLES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_by_hand() {
        let packet = |_| 1.0;
        assert_eq!(turns(&[1.0, 2.0, 3.0, 4.0], packet), 0, "growth is no turn");
        assert_eq!(turns(&[4.0, 3.0, 2.0], packet), 0, "nor is a fall alone");
        assert_eq!(turns(&[4.0, 8.0, 4.0, 8.0, 4.0, 5.0], packet), 2);
        assert_eq!(turns(&[4.0, 4.5, 4.0, 4.5, 4.0], packet), 0);
        assert_eq!(turns(&[], packet), 0);
    }

    /// A flow of 100 packets, of 100 ms, sampled every 100 ms from 0 to 20 s, of which the second half is measured.
    fn trace(window: impl Fn(usize) -> f64, lost: impl Fn(usize) -> u64) -> Trace {
        let flow = FlowTrace {
            packet: 1500,
            base_rtt: 100_000_000,
            lost: (0..=200).map(lost).collect(),
            marked: vec![0; 201].into(),
            timeouts: vec![0; 201].into(),
            window: (0..=200).map(window).collect(),
            srtt: vec![0.1; 201].into(),
            pacing_rate: vec![f64::NAN; 201].into(),
            ..FlowTrace::default()
        };
        let at = (0..=200).map(|k| k * 100_000_000).collect();
        Trace { at, warmup: 10_000_000_000, end: 20_000_000_000, flows: vec![flow], ..Trace::default() }
    }

    #[test]
    fn losses_of_a_round_trip_are_one_event() {
        let of = |lost: fn(usize) -> u64| {
            let trace = trace(|_| 100.0, lost);
            events(&trace, &trace.flows[0])
        };
        assert_eq!(of(|_| 7), 0, "those of the warm-up do not count");
        assert_eq!(of(|k| if k < 150 { 0 } else { 9 }), 1);
        assert_eq!(of(|k| if k < 150 { 0 } else { 1 + u64::from(k > 150) + u64::from(k > 151) }), 1);
        assert_eq!(of(|k| k as u64 / 20), 5);
    }

    #[test]
    fn a_window_at_rest_has_no_cycles_to_wait_for_and_one_that_grows_has_none() {
        let of = |window: fn(usize) -> f64| {
            let trace = trace(window, |_| 0);
            cycles(&trace, &trace.flows[0])
        };
        assert_eq!(of(|k| 100.0 + (k % 2) as f64 / 2.0), Cycles::AtRest);
        assert_eq!(of(|_| 100.0), Cycles::AtRest);
        assert_eq!(of(|k| k as f64), Cycles::Counted(0, Kind::Events));
        assert_eq!(of(|k| 100.0 + k as f64 / 1000.0), Cycles::Counted(0, Kind::Events), "slow growth is no rest");
        assert_eq!(of(|k| 100.0 + (k % 20) as f64), Cycles::Counted(4, Kind::WindowTurns), "the last fall has no rise");
    }

    #[test]
    fn a_rate_is_looked_at_where_it_does_not_follow_from_the_window() {
        let mut trace = trace(|_| 200.0, |_| 0);
        trace.flows[0].pacing_rate = (0..=200).map(|k| if k % 20 < 2 { 1250.0 } else { 1000.0 }).collect();
        assert_eq!(cycles(&trace, &trace.flows[0]), Cycles::Counted(5, Kind::RateTurns));
        trace.flows[0].pacing_rate = vec![2400.0; 201].into();
        assert_eq!(cycles(&trace, &trace.flows[0]), Cycles::AtRest);
    }

    #[test]
    fn durations_are_rounded_up() {
        assert_eq!([0.3, 9.1, 99.0, 101.0, 3412.0].map(rounded_up), [1.0, 10.0, 99.0, 110.0, 3500.0]);
    }
}
