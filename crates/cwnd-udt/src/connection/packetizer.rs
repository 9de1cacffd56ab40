//! Turns what the application has written into packets.

use std::collections::VecDeque;
use std::ops::Range;

use cwnd::{Span, Time};
use thiserror::Error;

use crate::number::MessageNumber;
use crate::settings::Mode;
use crate::wire::Position;

/// Options of a message. By default it never expires, and is delivered as soon as it is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageOptions {
    /// Time to live: the message is given up if it has not arrived by then; none for ever.
    pub ttl: Option<Span>,
    /// It must not be delivered before the messages sent ahead of it.
    pub in_order: bool,
}

/// The reason for which a message was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is being closed, or is.
    #[error("the connection is closed")]
    Closed,
    /// There is no room now; [`Event::Writable`](super::Event::Writable) follows when there is.
    #[error("the send buffer is full")]
    Full,
    /// The protocol has no empty messages.
    #[error("a message has at least one byte")]
    Empty,
    /// The connection carries a stream.
    #[error("the connection carries a stream, not messages")]
    Stream,
    /// The message is larger than the send buffer.
    #[error("the message needs {packets} packets, and the send buffer holds {room}")]
    TooLarge {
        /// Packets it would need.
        packets: u64,
        /// Packets the send buffer holds.
        room: u64,
    },
}

/// Data not yet made into packets. Only offsets are kept: the host has the bytes.
#[derive(Debug)]
pub(super) struct Packetizer {
    payload: u64,
    /// Bytes received from the application.
    written: u64,
    /// Bytes of the message that are already in packets or given up.
    cut: u64,
    /// None for a stream.
    messages: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    queue: VecDeque<Waiting>,
    /// The number of packets that `queue` will become.
    packets: u64,
    next: MessageNumber,
    /// Messages given up before anything of them was sent.
    expired: u64,
}

/// A message that was not completely sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) number: MessageNumber,
    pub(super) in_order: bool,
    /// One past its last byte.
    end: u64,
    pub(super) expires: Time,
    /// Its first packet was sent.
    started: bool,
}

/// The content of the next packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) bytes: Range<u64>,
    pub(super) message: MessageNumber,
    pub(super) position: Position,
    pub(super) in_order: bool,
    /// The instant at which it expires.
    pub(super) expires: Time,
}

impl MessageOptions {
    /// A message without a time to live, in any order.
    #[must_use]
    pub const fn new() -> Self {
        Self { ttl: None, in_order: false }
    }

    /// Given up after `span`.
    #[must_use]
    pub const fn ttl(mut self, span: Span) -> Self {
        self.ttl = Some(span);
        self
    }

    /// The message, delivered only after the messages sent ahead of it.
    #[must_use]
    pub const fn in_order(mut self) -> Self {
        self.in_order = true;
        self
    }
}

impl Packetizer {
    /// The empty state, for packets of `payload` bytes.
    pub(super) fn new(mode: Mode, payload: u32) -> Self {
        let messages = (mode == Mode::Messages).then(|| Pending {
            queue: VecDeque::new(),
            packets: 0,
            next: MessageNumber::FIRST,
            expired: 0,
        });
        Self { payload: u64::from(payload), written: 0, cut: 0, messages }
    }

    /// Accepts `bytes` more bytes of a stream.
    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Accepts a message of `bytes` bytes.
    pub(super) fn push(&mut self, bytes: u64, expires: Time, in_order: bool) -> Option<MessageNumber> {
        let pending = self.messages.as_mut()?;
        let number = pending.next;
        pending.next = number.next();
        pending.packets += bytes.div_ceil(self.payload);
        self.written += bytes;
        pending.queue.push_back(Waiting { number, in_order, end: self.written, expires, started: false });
        Some(number)
    }

    /// Bytes below this offset are in packets or given up.
    pub(super) fn cut_to(&self) -> u64 {
        self.cut
    }

    /// Bytes received from the application so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.cut == self.written
    }

    /// The number of packets that the queue will become.
    pub(super) fn packets(&self) -> u64 {
        self.messages.as_ref().map_or((self.written - self.cut).div_ceil(self.payload), |pending| pending.packets)
    }

    /// Messages given up before anything of them was sent.
    pub(super) fn expired(&self) -> u64 {
        self.messages.as_ref().map_or(0, |pending| pending.expired)
    }

    /// When the next message that waits expires.
    pub(super) fn expires(&self) -> Time {
        self.messages.as_ref().and_then(|pending| pending.queue.front()).map_or(Time::MAX, |front| front.expires)
    }

    /// Gives up messages that have expired. One that was partly sent is returned, with the number of packets not sent.
    pub(super) fn expire(&mut self, now: Time) -> Option<(Waiting, u64)> {
        let pending = self.messages.as_mut()?;
        while let Some(front) = pending.queue.front().copied().filter(|front| front.expires <= now) {
            let packets = (front.end - self.cut).div_ceil(self.payload);
            pending.queue.pop_front();
            pending.packets -= packets;
            self.cut = front.end;
            if front.started {
                return Some((front, packets));
            }
            pending.expired += 1;
        }
        None
    }

    /// Makes packet `number` of the direction, of as many bytes as fit.
    pub(super) fn cut(&mut self, number: u64) -> Option<Cut> {
        let left = self.written - self.cut;
        if left == 0 {
            return None;
        }
        let Some(pending) = &mut self.messages else {
            let bytes = self.take(left.min(self.payload));
            // Nobody reads these fields of a stream. Numbered by packet they need no state.
            let message = MessageNumber::new((number % STREAM_MESSAGES) as u32 + 1).unwrap_or(MessageNumber::FIRST);
            return Some(Cut { bytes, message, position: Position::Only, in_order: true, expires: Time::MAX });
        };
        let front = pending.queue.front_mut()?;
        let left = front.end - self.cut;
        let first = !std::mem::replace(&mut front.started, true);
        let Waiting { number: message, in_order, expires, .. } = *front;
        let last = left <= self.payload;
        if last {
            pending.queue.pop_front();
        }
        pending.packets -= 1;
        let position = match (first, last) {
            (true, true) => Position::Only,
            (true, false) => Position::First,
            (false, true) => Position::Last,
            (false, false) => Position::Middle,
        };
        Some(Cut { bytes: self.take(left.min(self.payload)), message, position, in_order, expires })
    }

    fn take(&mut self, bytes: u64) -> Range<u64> {
        let start = self.cut;
        self.cut += bytes;
        start..self.cut
    }
}

/// Message numbers a stream uses in turn: all that libudt uses.
const STREAM_MESSAGES: u64 = 0x1fff_fffe;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn consecutive_writes_fill_packets() {
        let mut packetizer = Packetizer::new(Mode::Stream, 100);
        packetizer.write(30);
        packetizer.write(90);
        assert_eq!(packetizer.packets(), 2);
        assert_eq!(packetizer.cut(0).map(|cut| cut.bytes), Some(0..100));
        assert_eq!(packetizer.cut(1).map(|cut| cut.bytes), Some(100..120));
        assert_eq!(packetizer.cut(2), None);
    }

    #[test]
    fn messages_keep_their_bounds() {
        let mut packetizer = Packetizer::new(Mode::Messages, 100);
        packetizer.push(250, Time::MAX, true);
        packetizer.push(100, Time::MAX, false);
        let cuts: Vec<_> = std::iter::from_fn(|| packetizer.cut(0)).collect();
        let summary: Vec<_> = cuts.iter().map(|cut| (cut.bytes.clone(), cut.position, cut.message.get())).collect();
        assert_eq!(
            summary,
            [
                (0..100, Position::First, 1),
                (100..200, Position::Middle, 1),
                (200..250, Position::Last, 1),
                (250..350, Position::Only, 2),
            ]
        );
        assert!(cuts[0].in_order && !cuts[3].in_order);
    }

    #[test]
    fn messages_expire_unsent_or_half_sent() {
        let mut packetizer = Packetizer::new(Mode::Messages, 100);
        packetizer.push(250, at(10), true);
        packetizer.push(50, at(5), true);
        packetizer.push(50, Time::MAX, true);
        assert!(packetizer.expire(at(9)).is_none());
        packetizer.cut(0).expect("the first packet of the first message");
        let (waiting, lacks) = packetizer.expire(at(10)).expect("half sent");
        assert_eq!((waiting.number.get(), lacks), (1, 2));
        assert!(packetizer.expire(at(10)).is_none(), "no drop request for the second");
        assert_eq!(packetizer.expired(), 1);
        assert_eq!((packetizer.packets(), packetizer.cut_to()), (1, 300));
        assert_eq!(packetizer.cut(3).map(|cut| (cut.bytes, cut.message.get())), Some((300..350, 3)));
    }
}
