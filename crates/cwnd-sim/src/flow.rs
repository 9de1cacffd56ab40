//! A flow: its two endpoints and its access line.

use std::collections::VecDeque;

use cwnd::{Bytes, Span, Time};

use crate::endpoint::{Receiver, Sender};
use crate::net::packet::Packet;
use crate::random::Stream;

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) access: AccessLine,
    /// Places of its routes.
    pub(crate) forward: u32,
    pub(crate) reverse: u32,
    /// Round-trip time without queueing or transmission, as drawn.
    pub(crate) base_rtt: Span,
    pub(crate) packet: Bytes,
    pub(crate) ack: Bytes,
    pub(crate) ecn: bool,
    /// Pending events of its timers; those at other times are out of date.
    pub(crate) armed: Armed,
    /// Different data packets that arrived, arrivals with a mark, and arrivals of no use: repeated, or not kept.
    pub(crate) delivered: u64,
    pub(crate) marked: u64,
    pub(crate) duplicates: u64,
    /// Data packets that queues refused or links lost.
    pub(crate) dropped: u64,
}

/// When each timer's event is pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    pub(crate) release: Time,
    pub(crate) receiver: Time,
    pub(crate) deadline: Time,
}

/// A flow's own part of the path, without a queue: the delay of its access links, both ways in one, and what a host takes to
/// send a packet.
#[derive(Debug)]
pub(crate) struct AccessLine {
    delay: Span,
    /// Below this, drawn per packet, nanoseconds.
    jitter: u64,
    stream: Stream,
    last: Time,
    pub(crate) in_transit: VecDeque<(Time, Packet)>,
}

impl AccessLine {
    /// An empty line.
    pub(crate) fn new(delay: Span, jitter: Span, stream: Stream) -> Self {
        Self { delay, jitter: jitter.as_nanos(), stream, last: Time::ZERO, in_transit: VecDeque::new() }
    }

    /// Puts a packet on the line; packets stay in order. Tells when it leaves if the line had been empty.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, packet: Packet) -> Option<Time> {
        let jitter = Span::from_nanos(self.stream.below(self.jitter));
        let at = (now + self.delay + jitter).max(self.last);
        self.last = at;
        let first = self.in_transit.is_empty();
        self.in_transit.push_back((at, packet));
        first.then_some(at)
    }

    /// Takes the packet that leaves now, and tells when the next one does.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.in_transit.pop_front()?;
        Some((packet, self.in_transit.front().map(|(at, _)| *at)))
    }
}

impl Armed {
    /// No event pending.
    pub(crate) const NONE: Self = Self { release: Time::MAX, receiver: Time::MAX, deadline: Time::MAX };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_flows_fit_in_a_gigabyte() {
        assert!(size_of::<Flow>() <= 1024, "{} bytes", size_of::<Flow>());
    }
}
