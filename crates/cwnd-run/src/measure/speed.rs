//! How fast a flow takes capacity that became free, and gives up capacity that is gone.
//!
//! simd (section 1) takes both words from Floyd, Handley, Padhye and Widmer (2000), who count round trips of congestion until the
//! rate is halved; here they are read off a trace, from an instant at which the path changed.

use cwnd_trace::{FlowTrace, Trace};

use super::curve::first_window;
use super::curve::{Curve, Window};
use super::life::stages;

/// Base round trips of the flow from `at` until it gets at least twice what it got in the `span` before; none if that does not
/// happen, or if it got nothing then.
///
/// Counted is what arrives in windows of length `span` that slide from sample to sample, up to the end of the first that has twice
/// as much. None if the flow pauses, stops or is complete before. A span of one round trip resolves best; none where the trace is sampled more coarsely than `span`.
#[must_use]
pub fn aggressiveness(trace: &Trace, flow: &FlowTrace, at: u64, span: u64) -> Option<f64> {
    rounds_until(trace, flow, (at, span), |now, before| now >= 2.0 * before)
}

/// The responsiveness: as [`aggressiveness`], until the flow gets at most half of its rate.
#[must_use]
pub fn responsiveness(trace: &Trace, flow: &FlowTrace, at: u64, span: u64) -> Option<f64> {
    rounds_until(trace, flow, (at, span), |now, before| now <= 0.5 * before)
}

fn rounds_until(
    trace: &Trace,
    flow: &FlowTrace,
    (at, span): (u64, u64),
    there: impl Fn(f64, f64) -> bool,
) -> Option<f64> {
    let delivered = Curve::new(&trace.at, &flow.delivered);
    let earlier = Window { from: at.checked_sub(span)?, to: at };
    let before = delivered.rise(earlier);
    if before <= 0.0 || flow.base_rtt == 0 {
        return None;
    }
    let stage = stages(trace, flow, Window { from: at, to: trace.end }).next().filter(|stage| stage.from == at)?;
    let end = first_window(&trace.at, stage, span, |window| there(delivered.rise(window), before))?;
    Some((end - at) as f64 / flow.base_rtt as f64)
}

#[cfg(test)]
mod tests {
    use cwnd::Spec;
    use cwnd::units::{Packets, Span};
    use cwnd_model::rounds::{Clock, FlowSetup, Setup, run};

    use super::*;

    const RTT: u64 = 100_000_000;

    /// A flow that delivers these numbers of packets in its round trips.
    fn trace(per_round: &[u64]) -> Trace {
        let delivered = std::iter::once(0).chain(per_round.iter().scan(0, |sum, packets| {
            *sum += packets;
            Some(*sum)
        }));
        let flow = FlowTrace { base_rtt: RTT, delivered: delivered.collect(), ..FlowTrace::default() };
        let at = (0..=per_round.len() as u64).map(|round| round * RTT).collect();
        Trace { end: per_round.len() as u64 * RTT, at, flows: vec![flow], ..Trace::default() }
    }

    #[test]
    fn round_trips_until_twice_or_half() {
        let trace = trace(&[40, 50, 60, 79, 80, 100, 40, 50, 41, 40, 9]);
        let flow = &trace.flows[0];
        // 40 before; the fifth round trip, four after the change, is the first with 80.
        assert_eq!(aggressiveness(&trace, flow, RTT, RTT), Some(4.0));
        // 100 before, 40 at once after it.
        assert_eq!(responsiveness(&trace, flow, 6 * RTT, RTT), Some(1.0));
        // Over two round trips: 180 before, 90 in the two after it, which have not passed earlier.
        assert_eq!(responsiveness(&trace, flow, 6 * RTT, 2 * RTT), Some(2.0));
        assert_eq!(aggressiveness(&trace, flow, 6 * RTT, RTT), None, "it never had 200");
        assert_eq!(aggressiveness(&trace, flow, 0, RTT), None, "there is no time before");
        assert_eq!(responsiveness(&trace, flow, RTT, RTT / 2), None, "sampled too coarsely");
        assert_eq!(responsiveness(&trace, &FlowTrace { base_rtt: RTT, ..FlowTrace::default() }, RTT, RTT), None);
    }

    #[test]
    fn reno_doubles_in_a_round_trip_per_packet_and_halves_in_two() {
        let reno = Spec::parse("reno").expect("registered");
        let flow = FlowSetup { algorithm: reno, window: Packets(20.0), rtt: None };
        let rtt = Span::from_nanos(RTT);
        let path = Setup { flows: vec![flow], rtt, clock: Clock::Rounds, ..Setup::default() };
        let free = run(&Setup { capacity: Packets(1e6), rounds: 200.0, ..path.clone() }).trace;
        // From the tenth round trip on, with 29 packets in the one before: 58 are in the 39th, thirty after it to its end.
        let rounds = aggressiveness(&free, &free.flows[0], 10 * RTT, RTT).expect("nothing holds it");
        assert!((29.0..=31.0).contains(&rounds), "{rounds}");
        let gone = run(&Setup { capacity: Packets(100.0), later: vec![Packets(1.0)], rounds: 200.0, ..path });
        let congested = (gone.events[0].at * RTT as f64) as u64;
        let rounds = responsiveness(&gone.trace, &gone.trace.flows[0], congested, RTT).expect("it was cut");
        // The round trip after the cut carries half of the peak, which is a little more than half of what the one before it did.
        assert!((1.9..=2.1).contains(&rounds), "{rounds}");
    }
}
