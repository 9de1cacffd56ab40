//! The use of a bandwidth that other traffic leaves: the scores of the `aiad` evaluation.

use cwnd_trace::{CbrTrace, FlowTrace, LinkTrace, Trace};

use super::{Probe, Reduction};
use crate::measure::{Curve, Window, goodput_fraction, queue_delay_mean, relative_range};
use crate::scenario::Scenario;

/// The four scores (`goodput`, `loss`, `fairness`, `delay`), the rate available to the test flows (`available_bps`), and
/// the goodput of each (`flow_goodput_bps`).
pub const SCORES: Probe = Probe {
    name: "available scores",
    of: |scenario, trace| {
        let window = Window::measured(trace);
        let Some(link) = bottleneck(scenario, trace) else { return Reduction::default() };
        let Some(available) = available(trace, link, window) else { return Reduction::default() };
        let mut kept = scores(trace, link, available);
        kept.keep_one("available_bps", Some(available));
        kept
    },
};

/// The rates of the cross traffic (`cross_bps`), and from when on each holds (`from_s`), to the sampling of the trace.
pub const DRAWN: Probe = Probe {
    name: "drawn rates",
    of: |_, trace| {
        let mut kept = Reduction::default();
        let Some(cross) = trace.cbr.first() else { return kept };
        let mut changes: Vec<(f64, f64)> = Vec::new();
        for (at, rate) in trace.at.iter().zip(&cross.rate) {
            if changes.last().is_none_or(|(_, last)| last != rate) {
                changes.push((*at as f64 / 1e9, *rate));
            }
        }
        let (from, rates): (Vec<f64>, Vec<f64>) = changes.into_iter().unzip();
        kept.keep("from_s", from);
        kept.keep("cross_bps", rates);
        kept
    },
};

/// The windows of the first flow at the end of each repetition of 5 s less a second, from the warm-up on (`high_end_packets`); the
/// window at the lowest increase and the lowest cut seen in congestion avoidance, over all flows (`lowest_increment_packets`,
/// `lowest_decrement_packets`).
pub const WINDOWS: Probe = Probe { name: "windows over periods of 5 s", of: windows };

/// Seconds from the first change of the bottleneck's rate to the end of the first second in which nine tenths of the new rate
/// were used (`time_to_90_s`).
pub const RISE: Probe = Probe { name: "time to 90 % after 50 s", of: rise };

/// The scores in the measured time, where `available` bit/s were there on average: goodput as a share of that, loss in percent of
/// the sent packets, fairness as (max - min)/mean, the mean queueing delay at the link in milliseconds.
#[must_use]
pub fn scores(trace: &Trace, link: &LinkTrace, available: f64) -> Reduction {
    let window = Window::measured(trace);
    let tested: Vec<FlowTrace> =
        trace.flows.iter().filter(|flow| !flow.name.starts_with(PLACE_HOLDER)).cloned().collect();
    let rise = |flow: &FlowTrace, of: fn(&FlowTrace) -> &[u64]| Curve::new(&trace.at, of(flow)).rise(window);
    let total = |of: fn(&FlowTrace) -> &[u64]| tested.iter().map(|flow| rise(flow, of)).sum::<f64>();
    let (sent, dropped) = (total(|flow| &flow.sent), total(|flow| &flow.dropped));
    let goodputs: Vec<f64> = tested
        .iter()
        .map(|flow| rise(flow, |flow| &flow.delivered) * f64::from(flow.payload) * 8.0 / window.seconds())
        .collect();
    let mut kept = Reduction::default();
    kept.keep_one("loss", (sent > 0.0).then(|| dropped / sent * 100.0));
    kept.keep_one("fairness", relative_range(&goodputs));
    kept.keep_one("delay", queue_delay_mean(link).map(|delay| delay * 1e3));
    kept.keep("flow_goodput_bps", goodputs);
    let tests = Trace { flows: tested, ..Trace { at: trace.at.clone(), ..Trace::default() } };
    kept.keep_one("goodput", goodput_fraction(&tests, window, available));
    kept
}

fn bottleneck<'a>(scenario: &Scenario, trace: &'a Trace) -> Option<&'a LinkTrace> {
    trace.links.iter().find(|link| link.name == "bottleneck").or_else(|| trace.links.get(scenario.bottleneck()))
}

/// The capacity of the link without the share of other traffic, bit/s.
fn available(trace: &Trace, link: &LinkTrace, window: Window) -> Option<f64> {
    let seconds = Some(window.seconds()).filter(|seconds| *seconds > 0.0)?;
    let capacity = match link.capacity_bytes.as_slice() {
        [] => link.rate? as f64,
        bytes => Curve::new(&trace.at, bytes).rise(window) * 8.0 / seconds,
    };
    let cbr: f64 = trace.cbr.iter().map(|cross| mean_rate(trace, cross, window)).sum();
    let flow_arrivals = trace.flow_arrivals.iter().map(|group| {
        let rise = |values: &[u64]| Curve::new(&trace.at, values).rise(window);
        (rise(&group.sent) - rise(&group.dropped)) * f64::from(group.packet) * 8.0 / seconds
    });
    Some(capacity - cbr - flow_arrivals.sum::<f64>())
}

/// The mean of a scheduled rate, each sample holding until the next.
fn mean_rate(trace: &Trace, cross: &CbrTrace, window: Window) -> f64 {
    let pieces = trace.at.windows(2).zip(&cross.rate).map(|(pair, rate)| {
        let (from, to) = (pair[0].max(window.from), pair[1].min(window.to));
        rate * to.saturating_sub(from) as f64 / 1e9
    });
    pieces.sum::<f64>() / window.seconds()
}

fn windows(_: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let measured = |at: u64| at >= trace.warmup;
    if let Some(flow) = trace.flows.first() {
        let ends = (0..trace.end / STEP).map(|k| k * STEP + STEP - SECOND).filter(|at| measured(*at));
        let at = |at: u64| flow.window.get(trace.at.partition_point(|sampled| *sampled <= at).saturating_sub(1));
        kept.keep("high_end_packets", ends.filter_map(|end| at(end).copied()));
    }
    let (mut increment, mut decrement) = (f64::INFINITY, f64::INFINITY);
    for flow in &trace.flows {
        let threshold = flow.internals.iter().find(|(name, _)| *name == "ssthresh").map(|(_, values)| values);
        // Slow start is not the increment that the paper means.
        let avoiding = |sample: usize| {
            let threshold = threshold.and_then(|values| values.get(sample)).copied();
            threshold.is_some_and(|threshold| flow.window[sample] >= threshold)
        };
        for (sample, (pair, at)) in flow.window.windows(2).zip(&trace.at).enumerate() {
            // A cut removes more than growth adds within a sample.
            match (measured(*at) && avoiding(sample), pair[1] - pair[0]) {
                (true, change) if change < -0.5 => decrement = decrement.min(pair[0]),
                (true, change) if change > 0.0 => increment = increment.min(pair[0]),
                _ => {}
            }
        }
    }
    for (name, lowest) in [("lowest_increment_packets", increment), ("lowest_decrement_packets", decrement)] {
        kept.keep_one(name, Some(lowest).filter(|lowest| lowest.is_finite()));
    }
    kept
}

fn rise(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let Some(link) = bottleneck(scenario, trace) else { return kept };
    let carried = Curve::new(&trace.at, &link.carried_bytes);
    let possible = Curve::new(&trace.at, &link.capacity_bytes);
    let whole = |from: u64| Window { from, to: from + SECOND };
    // Every tenth of a second, as the trace is sampled.
    let mut starts = (RISE_AT..trace.end.saturating_sub(SECOND)).step_by((SECOND / 10) as usize).map(whole);
    let reached = starts.find(|window| carried.rise(*window) >= 0.9 * possible.rise(*window));
    kept.keep_one("time_to_90_s", reached.map(|window| (window.to - RISE_AT) as f64 / 1e9));
    kept
}

const SECOND: u64 = 1_000_000_000;
/// How often the patterns repeat whose windows are looked at.
const STEP: u64 = 5 * SECOND;
/// When the rate rises in the scenario that [`RISE`] looks at.
const RISE_AT: u64 = 50 * SECOND;
/// The name of flows that are not under test.
const PLACE_HOLDER: &str = "place-holder";
