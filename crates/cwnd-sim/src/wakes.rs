//! When the two hosts of a flow wake: arrivals that wait for one another, and timers of a coarse clock.

use std::mem;

use cwnd::{Span, Time};

use crate::net::packet::{Body, Packet};
use crate::random::Stream;
use crate::setup::FlowSetup;

/// The wake-ups of both hosts of a flow, and the packets that wait for them.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// Those of the sender's host and of the receiver's.
    ends: [Wake; 2],
    /// Between two wake-ups for arrivals; none: each packet wakes its host.
    arrivals: Option<Span>,
    /// Between two ticks of the clock for timers; none: timers are exact.
    timers: Option<Span>,
}

/// The state of one host.
#[derive(Debug)]
struct Wake {
    /// Its position within both intervals, `[0, 1)`.
    phase: f64,
    /// In the order of arrival.
    waiting: Vec<Packet>,
}

/// One of the two hosts of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

impl Wakes {
    /// The wake-ups that a flow has, if its hosts do not wake at once; `seed` draws their phases.
    pub(crate) fn of(setup: &FlowSetup, seed: u64) -> Option<Box<Self>> {
        if setup.wake.is_none() && setup.timer.is_none() {
            return None;
        }
        let mut draws = Stream::new(seed, "wake-ups");
        let ends = [(); 2].map(|()| Wake { phase: draws.unit(), waiting: Vec::new() });
        Some(Box::new(Self { ends, arrivals: setup.wake, timers: setup.timer }))
    }

    /// Keeps a packet that arrives now until its host wakes: when that is, if nothing else waits for it; [`Time::MAX`] if something
    /// does. None if packets do not wait.
    pub(crate) fn keep(&mut self, now: Time, packet: &Packet) -> Option<Time> {
        let interval = self.arrivals?;
        let Wake { phase, waiting } = &mut self.ends[End::of(&packet.body) as usize];
        waiting.push(Packet { due: tick(now, interval, *phase), ..*packet });
        Some(if let [first] = waiting.as_slice() { first.due } else { Time::MAX })
    }

    /// The packets that a host which wakes now finds, in the order of arrival.
    pub(crate) fn take(&mut self, now: Time, end: End) -> Vec<Packet> {
        let waiting = &mut self.ends[end as usize].waiting;
        if waiting.first().is_some_and(|first| first.due <= now) { mem::take(waiting) } else { Vec::new() }
    }

    /// When a timer of `end` for `due` expires.
    pub(crate) fn expiry(&self, due: Time, end: End) -> Time {
        self.timers.map_or(due, |interval| tick(due, interval, self.ends[end as usize].phase))
    }

    /// The packets that have arrived and that no host has seen.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.ends.iter().flat_map(|end| &end.waiting)
    }
}

impl End {
    pub(crate) const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// The end that a packet goes to.
    fn of(body: &Body) -> Self {
        let to_receiver = match body {
            Body::Data(_) | Body::ToReceiver(_) | Body::Headed(..) => true,
            Body::Ack(_) | Body::ToSender(_) | Body::Agent(_) | Body::Report(_) | Body::Reply(_) => false,
            Body::Datagram(datagram) => datagram.to_receiver,
            Body::Handshake(handshake) => handshake.to_receiver,
        };
        if to_receiver { Self::Receiver } else { Self::Sender }
    }
}

/// The first tick at `at` or later of a clock that ticks every `interval`, beginning at `phase` of one.
fn tick(at: Time, interval: Span, phase: f64) -> Time {
    if at == Time::MAX {
        return at;
    }
    let (step, first) = (interval.as_nanos(), interval.mul_f64(phase).as_nanos());
    let after = at.as_nanos().saturating_sub(first);
    Time::from_nanos(after.div_ceil(step).saturating_mul(step).saturating_add(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_never_early_and_less_than_an_interval_late() {
        for (at, phase, expected) in
            [(0, 0.0, 0), (1, 0.0, 10), (10, 0.0, 10), (11, 0.0, 20), (0, 0.3, 3), (3, 0.3, 3), (4, 0.3, 13)]
        {
            let at = Time::from_nanos(at);
            assert_eq!(tick(at, Span::from_nanos(10), phase), Time::from_nanos(expected), "{at:?} and {phase}");
        }
        assert_eq!(tick(Time::MAX, Span::from_nanos(10), 0.3), Time::MAX);
    }
}
