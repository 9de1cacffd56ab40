//! Writes the trace.

use cwnd::units::Time;
use cwnd::{CongestionControl, Pacing};
use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use super::flow::SynchronousFlow;
use super::setup::Setup;

/// A trace in the making.
pub(super) struct Recorder {
    trace: Trace,
}

impl Recorder {
    pub(super) fn new(setup: &Setup) -> Self {
        let flows = setup.flows.iter().enumerate().map(|(index, flow)| FlowTrace {
            name: format!("{}", index + 1),
            algorithm: flow.algorithm.label().to_string(),
            packet: setup.packet.0,
            payload: setup.packet.0,
            base_rtt: flow.rtt.unwrap_or(setup.rtt).as_nanos(),
            ..FlowTrace::default()
        });
        let rate = (setup.capacity / setup.rtt).to_bits(setup.packet).0;
        let link = LinkTrace { name: "capacity".to_string(), rate: Some(rate as u64), ..LinkTrace::default() };
        Self { trace: Trace { flows: flows.collect(), links: vec![link], ..Trace::default() } }
    }

    /// The state at `now`, unless a later one is known.
    pub(super) fn sample(&mut self, now: Time, flows: &[SynchronousFlow]) {
        let at = now.as_nanos();
        if self.trace.at.last().is_some_and(|last| *last >= at) {
            return;
        }
        self.trace.at.push(at);
        let mut carried = 0;
        let mut dropped = 0;
        for (columns, flow) in self.trace.flows.iter_mut().zip(flows) {
            let (delivered, lost) = flow.counts();
            carried += delivered;
            dropped += lost;
            columns.sent.push(delivered + lost);
            columns.delivered.push(delivered);
            for cumulative in [&mut columns.lost, &mut columns.dropped, &mut columns.retransmitted] {
                cumulative.push(lost);
            }
            for never in
                [&mut columns.marked, &mut columns.timeouts, &mut columns.source_limited, &mut columns.peer_limited]
            {
                never.push(0);
            }
            let control = flow.algorithm().control();
            columns.window.push(control.window.0);
            columns.in_flight.push(flow.in_network() as u64);
            columns.srtt.push(flow.rtt().as_secs_f64());
            columns.pacing_rate.push(match control.pacing {
                Pacing::At(rate) => rate.0,
                _ => f64::NAN,
            });
            self.trace.digest =
                (self.trace.digest.rotate_left(23) ^ flow.in_network().to_bits()).wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        let link = &mut self.trace.links[0];
        let bytes = carried * u64::from(self.trace.flows.first().map_or(0, |flow| flow.packet));
        link.offered.push(carried + dropped);
        link.dropped.push(dropped);
        link.carried.push(carried);
        link.carried_bytes.push(bytes);
        for never in [&mut link.lost, &mut link.marked, &mut link.queue_packets, &mut link.queue_bytes] {
            never.push(0);
        }
    }

    /// The trace up to `end`.
    pub(super) fn finish(mut self, end: Time, steps: u64) -> Trace {
        self.trace.end = end.as_nanos().max(self.trace.at.last().copied().unwrap_or(0));
        self.trace.events = steps;
        self.trace
    }
}
