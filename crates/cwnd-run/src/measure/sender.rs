//! What a sender repeats and loses, and what holds it back.

use cwnd_trace::{FlowTrace, Trace};

use super::curve::{NANOS_PER_SECOND, Window};
use super::life::Life;
use super::statistics::{mean, quantile};

/// Packets the sender found lost as a share of those whose fate it learnt in the parts of `window` in which the flow is there, 0..=1: those
/// sent there, with the ones in flight where a part begins and without the ones in flight where it ends. A finite flow that has completed
/// by then is counted whole. None if it takes no part in the window, or learnt of no packet.
///
/// The sender may be wrong (reordering, spurious timeouts); [`super::link_rate`] counts actual losses.
#[must_use]
pub fn flow_loss_rate(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    let life = Life::within(trace, flow, window)?;
    let settled = life.settled();
    (settled > 0.0).then(|| life.sent(|flow| &flow.lost) / settled)
}

/// Retransmissions as a share of the data packets sent by `flows` together in the parts of `window` in which they are there, 0..=1. A finite
/// flow that has completed by then is counted whole. None if none of them takes part in the window, or they sent nothing.
#[must_use]
pub fn retransmission_ratio(trace: &Trace, flows: &[FlowTrace], window: Window) -> Option<f64> {
    let lives: Vec<Life<'_>> = flows.iter().filter_map(|flow| Life::within(trace, flow, window)).collect();
    let total = |of: fn(&FlowTrace) -> &[u64]| lives.iter().map(|life| life.sent(of)).sum::<f64>();
    let sent = total(|flow| &flow.sent);
    (sent > 0.0).then(|| total(|flow| &flow.retransmitted) / sent)
}

/// The share of the parts of `window` in which the flow is there during which its application had nothing to send, 0..=1. None if it takes
/// no part in the window.
#[must_use]
pub fn source_limited_share(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    Some(Life::within(trace, flow, window)?.source_limited())
}

/// The share of its life in the window during which the receiver's window held the sender; none if it takes no part.
#[must_use]
pub fn peer_limited_share(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    Some(Life::within(trace, flow, window)?.per_second(|flow| &flow.peer_limited) / NANOS_PER_SECOND)
}

/// The delay of a flow in the parts of `window` in which it is there, seconds: its smoothed round-trip times at the sampled instants less the
/// base one, at least 0. Queueing is a part of it, and so are pauses of the hosts and held acknowledgements. None if it takes no part, or
/// fewer than 20 of these instants have a value.
#[must_use]
pub fn flow_delay(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<FlowDelay> {
    let life = Life::within(trace, flow, window)?;
    let base = flow.base_rtt as f64 / NANOS_PER_SECOND;
    let is_there = |at: u64| life.stages.iter().any(|stage| (stage.from..=stage.to).contains(&at));
    let sampled = trace.at.iter().zip(flow.srtt.iter()).filter(|(at, srtt)| !srtt.is_nan() && is_there(**at));
    let delays: Vec<f64> = sampled.map(|(_, srtt)| (srtt - base).max(0.0)).collect();
    if delays.len() < FEWEST {
        return None;
    }
    Some(FlowDelay { mean: mean(&delays)?, p99: quantile(&delays, 0.99) })
}

/// How far the smoothed round-trip time of a flow lies above the base one, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowDelay {
    /// Its mean over the sampled instants.
    pub mean: f64,
    /// Its 99th percentile over these.
    pub p99: f64,
}

/// The fewest samples for the delay of a flow.
const FEWEST: usize = 20;

/// Whether the window or the rate of the flow rose between two samples in `window` while its source or its receiver held the sender for at
/// least half of the time between them.
#[must_use]
pub fn grew_on(trace: &Trace, flow: &FlowTrace, window: Window) -> bool {
    let inside = |at: &usize| trace.at[at - 1] >= window.from && trace.at[*at] <= window.to;
    let held = |at: usize, column: &[u64]| column[at].saturating_sub(column[at - 1]);
    (1..trace.at.len()).filter(inside).any(|at| {
        let limited = held(at, &flow.source_limited) + held(at, &flow.peer_limited);
        let rose = |column: &[f64]| column[at] > column[at - 1];
        2 * limited >= trace.at[at] - trace.at[at - 1] && (rose(&flow.window) || rose(&flow.pacing_rate))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_taken_from_samples_within_the_life_of_a_flow() {
        // 100 ms at the start, then 1, 2, … 100 ms above the base round-trip time.
        let srtt = |at: u64| 0.05 + if at == 0 { 0.1 } else { at as f64 * 1e-3 };
        let flow = FlowTrace {
            base_rtt: 50_000_000,
            srtt: (0..=100).map(srtt).collect::<Vec<_>>().into(),
            ..FlowTrace::default()
        };
        let seconds = |at: u64| at * 1_000_000_000;
        let end = seconds(100);
        let trace = Trace { at: (0..=100).map(seconds).collect::<Vec<_>>().into(), end, ..Trace::default() };
        let FlowDelay { mean, p99 } = flow_delay(&trace, &flow, Window { from: seconds(1), to: end }).expect("samples");
        assert!((mean - 0.0505).abs() < 1e-9 && (p99 - 0.09901).abs() < 1e-9, "{mean} {p99}");
        assert_eq!(flow_delay(&trace, &flow, Window { from: seconds(90), to: end }), None, "11 samples");
    }

    #[test]
    fn shares_of_packets_and_time() {
        let flow = FlowTrace {
            sent: vec![0, 100, 300].into(),
            retransmitted: vec![0, 50, 60].into(),
            lost: vec![0, 50, 58].into(),
            source_limited: vec![0, 0, 100_000_000].into(),
            peer_limited: vec![0, 900_000_000, 1_650_000_000].into(),
            ..FlowTrace::default()
        };
        let idle =
            FlowTrace { sent: vec![0, 0, 200].into(), retransmitted: vec![0, 0, 0].into(), ..FlowTrace::default() };
        let trace = Trace {
            at: vec![0, 1_000_000_000, 2_000_000_000].into(),
            warmup: 1_000_000_000,
            end: 2_000_000_000,
            flows: vec![flow, idle],
            ..Trace::default()
        };
        let window = Window::measured(&trace);
        assert_eq!(flow_loss_rate(&trace, &trace.flows[0], window), Some(0.04));
        assert_eq!(retransmission_ratio(&trace, &trace.flows, window), Some(0.025));
        assert_eq!(retransmission_ratio(&trace, &[], window), None);
        assert_eq!(source_limited_share(&trace, &trace.flows[0], window), Some(0.1));
        assert_eq!(peer_limited_share(&trace, &trace.flows[0], window), Some(0.75));
    }
}
