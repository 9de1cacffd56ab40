//! What a sender repeats and loses, and what holds it back.

use cwnd_trace::{FlowTrace, Trace};

use super::curve::{Curve, NANOS_PER_SECOND, Window};

/// Packets the sender found lost as a share of the data packets it sent in `window`; none if it sent none.
///
/// The sender may be wrong (reordering, spurious time-outs); [`super::link_rate`] counts what was really lost.
#[must_use]
pub fn flow_loss_rate(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    share_of_sent(trace, core::slice::from_ref(flow), |flow| &flow.lost, window)
}

/// Retransmissions as a share of the data packets sent by `flows` together in `window`; none if they sent none.
#[must_use]
pub fn retransmission_ratio(trace: &Trace, flows: &[FlowTrace], window: Window) -> Option<f64> {
    share_of_sent(trace, flows, |flow| &flow.retransmitted, window)
}

/// The share of `window` during which the application had nothing to send, 0..=1.
#[must_use]
pub fn source_limited_share(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    share_of_time(trace, &flow.source_limited, window)
}

/// The share of `window` during which the receiver's window held the sender, 0..=1.
#[must_use]
pub fn peer_limited_share(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    share_of_time(trace, &flow.peer_limited, window)
}

fn share_of_sent(trace: &Trace, flows: &[FlowTrace], of: fn(&FlowTrace) -> &[u64], window: Window) -> Option<f64> {
    let rise = |values: &[u64]| Curve::new(&trace.at, values).rise(window);
    let sent: f64 = flows.iter().map(|flow| rise(&flow.sent)).sum();
    (sent > 0.0).then(|| flows.iter().map(|flow| rise(of(flow))).sum::<f64>() / sent)
}

fn share_of_time(trace: &Trace, nanos: &[u64], window: Window) -> Option<f64> {
    Curve::new(&trace.at, nanos).per_second(window).map(|nanos| nanos / NANOS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

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
