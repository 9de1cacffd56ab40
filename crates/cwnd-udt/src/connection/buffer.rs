//! Arrived and unread data: packets of a stream, or messages.

use std::collections::VecDeque;
use std::ops::Range;

use super::tag::Tag;
use crate::number::MessageNumber;
use crate::settings::Mode;

/// The packets from the first unread one on. The buffer knows their kinds and lengths; the bytes are the host's.
#[derive(Debug)]
pub(super) struct Buffer {
    mode: Mode,
    /// Packets that fit.
    capacity: u64,
    /// The number of the first slot: all below have been read or given up.
    base: u64,
    /// All below have arrived or been given up.
    next: u64,
    slots: VecDeque<Held>,
    /// The cost of the packets in `slots`, bytes.
    cost: u64,
    /// Complete messages, in the order in which they are read.
    ready: VecDeque<Range<u64>>,
    /// The message that begins here and reaches to `next` is not complete.
    partial: Option<u64>,
    /// Messages thrown away because they are larger than the buffer.
    pub(super) oversized: u64,
}

/// A packet, or the place for one.
#[derive(Clone, Copy, Debug)]
struct Held {
    tag: Tag,
    len: u16,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Missing,
    Held,
    /// Part of a complete message.
    Ready,
    /// Read, given up, or of a message that will never be complete.
    Void,
}

impl Buffer {
    /// An empty buffer.
    pub(super) const fn new(mode: Mode, capacity: u32) -> Self {
        Self {
            mode,
            capacity: capacity as u64,
            base: 0,
            next: 0,
            slots: VecDeque::new(),
            cost: 0,
            ready: VecDeque::new(),
            partial: None,
            oversized: 0,
        }
    }

    /// All packets below have arrived or been given up.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// One past the largest number known of.
    pub(super) fn seen(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// All packets below have been read or given up.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Packets that fit.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// One past the last number granted to the sender.
    pub(super) fn grant(&self) -> u64 {
        self.base + self.capacity
    }

    /// One past the last number accepted: receivers never grant less than two packets, so that two more than fit may arrive.
    pub(super) fn end(&self) -> u64 {
        self.grant() + super::receive_window::MIN_WINDOW
    }

    /// Whether it is a stream.
    pub(super) fn is_stream(&self) -> bool {
        self.mode == Mode::Stream
    }

    /// Whether packet `number` is neither here nor done with.
    pub(super) fn lacks(&self, number: u64) -> bool {
        number >= self.seen() || self.slot(number).is_some_and(|held| held.state == State::Missing)
    }

    /// The message to which packet `number` belongs, and whether it is its first packet.
    pub(super) fn message_at(&self, number: u64) -> Option<(MessageNumber, bool)> {
        let held = self.slot(number).filter(|held| matches!(held.state, State::Held | State::Ready))?;
        Some((held.tag.message(), held.tag.begins()))
    }

    /// The cost of the packets from the first slot on, bytes.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// Makes room up to `end`, which is at most [`Self::end`].
    pub(super) fn extend(&mut self, end: u64) {
        let missing = Held { tag: Tag::NONE, len: 0, state: State::Missing };
        for _ in self.seen()..end {
            self.slots.push_back(missing);
        }
    }

    /// Stores packet `number`, which is missing and for which there is room.
    pub(super) fn insert(&mut self, number: u64, tag: Tag, len: u16) {
        if let Some(slot) = self.slot_mut(number) {
            *slot = Held { tag, len, state: State::Held };
            self.cost += cost(len);
        }
    }

    /// Packet `number`, which is missing, will never arrive.
    pub(super) fn give_up(&mut self, number: u64) {
        self.set(number, State::Void);
    }

    /// The rest of the message of packet `number` will never arrive.
    pub(super) fn void(&mut self, number: u64) {
        if self.slot(number).is_some_and(|held| held.state == State::Held) {
            self.set(number, State::Void);
        }
    }

    /// Nothing below `next` is missing any more. Whether there is more to read.
    pub(super) fn advance(&mut self, next: u64) -> bool {
        let from = std::mem::replace(&mut self.next, next);
        if self.is_stream() {
            return next > from;
        }
        let ready = self.ready.len();
        for number in from..next {
            self.assemble(number);
        }
        if let Some(first) = self.partial.filter(|first| *first == self.base && next - first >= self.capacity) {
            self.oversized += 1;
            self.void_all(first..next);
            self.partial = None;
        }
        self.free();
        self.ready.len() > ready
    }

    /// Whether packet `number`, above a hole and in the midst of `run` without one, completes a message that may overtake others.
    pub(super) fn overtake(&mut self, number: u64, run: Range<u64>) -> bool {
        let Some(Held { tag, .. }) = self.slot(number).copied() else { return false };
        // `advance` handles packets that continue the others without a hole.
        if self.is_stream() || tag.in_order() || number <= self.next {
            return false;
        }
        let of_message = |held: &&Held| held.state == State::Held && held.tag.message() == tag.message();
        let mut first = number;
        while !self.slot(first).is_some_and(|held| held.tag.begins()) {
            let Some(before) = first.checked_sub(1).filter(|before| *before >= run.start) else { return false };
            if self.slot(before).filter(of_message).is_none_or(|held| held.tag.ends()) {
                return false;
            }
            first = before;
        }
        let mut last = number;
        while !self.slot(last).is_some_and(|held| held.tag.ends()) {
            last += 1;
            let inside = last < run.end && self.slot(last).filter(of_message).is_some_and(|held| !held.tag.begins());
            if !inside {
                return false;
            }
        }
        self.finish(first..last + 1);
        true
    }

    /// The data that may be read next: all of a stream, otherwise one message.
    pub(super) fn readable(&self) -> Range<u64> {
        match self.mode {
            Mode::Stream => self.base..self.next,
            Mode::Messages => self.ready.front().cloned().unwrap_or(0..0),
        }
    }

    /// The length of packet `number`, which is readable.
    pub(super) fn len_of(&self, number: u64) -> u32 {
        self.slot(number).map_or(0, |held| u32::from(held.len))
    }

    /// Forgets the first `packets` readable packets of a stream, or the readable message.
    pub(super) fn consume(&mut self, packets: u64) {
        match self.mode {
            Mode::Stream => {
                let count = packets.min(self.next - self.base);
                for held in (0..count).map_while(|_| self.slots.pop_front()) {
                    self.cost -= cost(held.len);
                }
                self.base += count;
            }
            Mode::Messages => {
                if let Some(message) = self.ready.pop_front() {
                    self.void_all(message);
                    self.free();
                }
            }
        }
    }

    /// Slots there is memory for.
    #[cfg(test)]
    pub(super) fn slots_capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Frees memory that is not used.
    pub(super) fn shrink(&mut self) {
        self.slots.shrink_to_fit();
        self.ready.shrink_to_fit();
    }

    /// Looks at packet `number`, below which nothing is missing.
    fn assemble(&mut self, number: u64) {
        let Some(Held { tag, state, .. }) = self.slot(number).copied() else { return };
        let belongs = state == State::Held
            && !tag.begins()
            && self
                .partial
                .and_then(|first| self.message_at(first))
                .is_some_and(|(message, _)| message == tag.message());
        if !belongs {
            if let Some(first) = self.partial.take() {
                self.void_all(first..number);
            }
            if state == State::Held && !tag.begins() {
                self.set(number, State::Void);
                return;
            }
            self.partial = (state == State::Held).then_some(number);
        }
        if let Some(first) = self.partial.filter(|_| tag.ends()) {
            self.partial = None;
            self.finish(first..number + 1);
        }
    }

    fn finish(&mut self, message: Range<u64>) {
        for number in message.clone() {
            self.set(number, State::Ready);
        }
        self.ready.push_back(message);
    }

    fn void_all(&mut self, numbers: Range<u64>) {
        for number in numbers {
            self.set(number, State::Void);
        }
    }

    /// Frees the slots at the front that are no longer needed.
    fn free(&mut self) {
        while self.base < self.next
            && let Some(held) = self.slots.front().filter(|held| held.state == State::Void)
        {
            self.cost -= cost(held.len);
            self.slots.pop_front();
            self.base += 1;
        }
    }

    fn set(&mut self, number: u64, state: State) {
        if let Some(slot) = self.slot_mut(number) {
            slot.state = state;
        }
    }

    fn slot(&self, number: u64) -> Option<&Held> {
        self.slots.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    fn slot_mut(&mut self, number: u64) -> Option<&mut Held> {
        self.slots.get_mut(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }
}

/// The cost of a packet with `len` bytes of payload; nothing if it was given up.
pub(super) fn cost(len: u16) -> u64 {
    if len == 0 { 0 } else { u64::from(len) + PACKET }
}

/// Bytes that a packet costs besides its payload: its slot, a gap before it, and its place in a map and on the heap of the host.
const PACKET: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Position::{self, First, Last, Middle, Only};

    fn tag(position: Position, message: u32, in_order: bool) -> Tag {
        Tag::new(position, in_order, MessageNumber::new(message).expect("29 bits"))
    }

    /// Stores packets that arrive in order.
    fn fill(buffer: &mut Buffer, packets: &[(Position, u32)]) {
        for (position, message) in packets {
            let number = buffer.next();
            buffer.extend(number + 1);
            buffer.insert(number, tag(*position, *message, true), 100);
            buffer.advance(number + 1);
        }
    }

    #[test]
    fn what_is_held_has_a_cost() {
        let mut buffer = Buffer::new(Mode::Messages, 32);
        fill(&mut buffer, &[(Only, 1), (First, 2), (Only, 3)]);
        assert_eq!(buffer.cost(), 3 * 228);
        buffer.consume(1);
        assert_eq!(buffer.cost(), 228, "what will never be complete goes with what is before it");
        buffer.extend(5);
        buffer.give_up(3);
        buffer.insert(4, tag(Only, 4, false), 100);
        buffer.advance(5);
        buffer.consume(1);
        buffer.consume(1);
        assert_eq!((buffer.base(), buffer.cost()), (5, 0));
    }

    #[test]
    fn a_slot_is_small() {
        assert!(size_of::<Held>() <= 8);
    }

    #[test]
    fn places_cost_little_and_end_with_what_was_granted() {
        let mut buffer = Buffer::new(Mode::Stream, 25_600);
        assert_eq!(buffer.end(), 25_602);
        // Packets that arrive one after the other, and none of which can be read, make the memory grow step by step.
        for number in 1..buffer.end() {
            buffer.extend(number + 1);
        }
        assert!(buffer.slots_capacity() * size_of::<Held>() <= 25_602 * 16, "{} places", buffer.slots_capacity());
    }

    #[test]
    fn messages_are_read_whole() {
        let mut buffer = Buffer::new(Mode::Messages, 32);
        fill(&mut buffer, &[(First, 1), (Middle, 1)]);
        assert!(buffer.readable().is_empty());
        fill(&mut buffer, &[(Last, 1), (Only, 2)]);
        assert_eq!(buffer.readable(), 0..3);
        buffer.consume(1);
        assert_eq!(buffer.readable(), 3..4);
        buffer.consume(1);
        assert_eq!((buffer.readable(), buffer.grant()), (0..0, 36));
    }

    #[test]
    fn parts_of_messages_are_never_joined() {
        let mut buffer = Buffer::new(Mode::Messages, 32);
        // The end of 1 and the beginning of 3 never arrive.
        fill(&mut buffer, &[(First, 1), (Middle, 1), (Only, 2), (Last, 3), (First, 4), (Last, 5), (Only, 6)]);
        assert_eq!(buffer.readable(), 2..3);
        buffer.consume(1);
        assert_eq!(buffer.readable(), 6..7);
        buffer.consume(1);
        assert_eq!(buffer.grant(), 39);
    }

    #[test]
    fn a_message_that_may_overtakes_a_hole() {
        let mut buffer = Buffer::new(Mode::Messages, 32);
        buffer.extend(5);
        buffer.insert(1, tag(First, 2, false), 100);
        buffer.insert(3, tag(Last, 2, false), 100);
        buffer.insert(4, tag(Only, 3, true), 100);
        assert!(!buffer.overtake(3, 3..5));
        buffer.insert(2, tag(Middle, 2, false), 100);
        assert!(!buffer.overtake(4, 1..5), "3 must stay behind 1");
        assert!(buffer.overtake(2, 1..5));
        assert_eq!(buffer.readable(), 1..4);
        buffer.consume(1);
        assert_eq!(buffer.readable(), 0..0);
        buffer.insert(0, tag(Only, 1, true), 100);
        assert!(buffer.advance(5));
        assert_eq!(buffer.readable(), 0..1);
        buffer.consume(1);
        assert_eq!(buffer.readable(), 4..5);
    }

    #[test]
    fn a_message_beyond_the_buffer_is_thrown_away() {
        let mut buffer = Buffer::new(Mode::Messages, 4);
        fill(&mut buffer, &[(First, 1), (Middle, 1), (Middle, 1), (Middle, 1), (Middle, 1), (Last, 1), (Only, 2)]);
        assert_eq!((buffer.oversized, buffer.readable()), (1, 6..7));
        buffer.consume(1);
        assert_eq!(buffer.grant(), 11);
    }

    #[test]
    fn a_stream_is_read_in_order() {
        let mut buffer = Buffer::new(Mode::Stream, 32);
        fill(&mut buffer, &[(Only, 1), (Only, 2), (Only, 3)]);
        assert_eq!(buffer.readable(), 0..3);
        buffer.consume(2);
        assert_eq!((buffer.readable(), buffer.len_of(2)), (2..3, 100));
        buffer.consume(9);
        assert_eq!((buffer.readable(), buffer.grant()), (3..3, 35));
    }
}
