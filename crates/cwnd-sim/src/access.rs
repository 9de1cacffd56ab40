//! The access lines of flows, and the packets on them.
//!
//! On a fast long path half of all packets are here. Their places lie in one pool for all flows, in blocks: memory follows the packets in flight, not the
//! largest number that each flow ever had there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cwnd::{Span, Time};

use crate::net::packet::{Body, Data};
use crate::random::Stream;
use crate::ring::Budget;

/// A flow's own part of the path, without a queue: the delay of its access links, both ways in one, and what a host takes to
/// send a packet.
#[derive(Debug)]
pub(crate) struct AccessLine {
    delay: Span,
    /// Below this, drawn per packet, nanoseconds.
    jitter: u64,
    stream: Stream,
    /// When the packet at the front leaves; [`Time::MAX`] if there is none.
    next: Time,
    /// When that one leaves, or the last one left.
    last: Time,
    /// Vacant if there is none.
    front: Departure,
    /// The place of the packet behind the front, and the one behind the last packet: equal if there is none.
    second: u32,
    end: u32,
}

/// The packets on all access lines of a run, but the one at the front of each.
///
/// A block is [`BLOCK`] places, of which the last one says where the line goes on. A line without such packets has no block.
#[derive(Debug)]
pub(crate) struct InTransit {
    places: Vec<Departure>,
    /// The first block that no line has; each says in its first place which is the next. [`NONE`] at the end.
    free: u32,
    /// Bytes that a sender notes about a packet, the most of all senders.
    note: u64,
    /// Bytes charged for notes.
    notes: u64,
    budget: Arc<Budget>,
}

/// A packet on an access line, less what all of them have in common.
#[derive(Clone, Copy, Debug)]
struct Departure {
    /// The number of the packet, below its [`MARKS`].
    label: u64,
    sent_at: Time,
}

/// The contents of packets on access lines that are not plain data, by flow, in order. Few flows have any.
#[derive(Debug, Default)]
pub(crate) struct NonDataBodies(BTreeMap<u32, VecDeque<Body>>);

impl AccessLine {
    /// An empty line.
    pub(crate) fn new(delay: Span, jitter: Span, stream: Stream) -> Self {
        let (next, last) = (Time::MAX, Time::ZERO);
        Self { delay, jitter: jitter.as_nanos(), stream, next, last, front: Departure::VACANT, second: 0, end: 0 }
    }

    /// Puts a packet on the line that is sent now; without data its content is among the [`NonDataBodies`]. Whether there was memory for it.
    #[inline(always)]
    pub(crate) fn offer(&mut self, departures: &mut InTransit, now: Time, data: Option<Data>) -> bool {
        let packet = Departure::new(now, data);
        if self.front.is_vacant() {
            self.bring_to_front(packet);
            return true;
        }
        let alone = self.second == self.end;
        if alone || self.end % BLOCK == BLOCK - 1 {
            let Some(block) = departures.take_block() else { return false };
            if alone {
                self.second = block;
            } else {
                departures.places[self.end as usize].label = block.into();
            }
            self.end = block;
        }
        departures.places[self.end as usize] = packet;
        self.end += 1;
        true
    }

    /// The packet that leaves next, if it is plain data.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<Data> {
        self.front.data()
    }

    /// Takes that packet off the line.
    #[inline(always)]
    pub(crate) fn remove_front(&mut self, departures: &mut InTransit) {
        if self.second == self.end {
            (self.next, self.front) = (Time::MAX, Departure::VACANT);
            return;
        }
        if self.second % BLOCK == BLOCK - 1 {
            let block = self.second - (BLOCK - 1);
            self.second = departures.places[self.second as usize].label as u32;
            departures.give_back(block);
        }
        let packet = departures.places[self.second as usize];
        self.second += 1;
        if self.second == self.end {
            departures.give_back((self.end - 1) / BLOCK * BLOCK);
        }
        self.bring_to_front(packet);
    }

    /// When the next packet leaves; [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Whether packets take any time on the line.
    pub(crate) fn takes_time(&self) -> bool {
        self.delay > Span::ZERO
    }

    /// The number of packets on the line.
    pub(crate) fn in_transit(&self, departures: &InTransit) -> usize {
        let (mut place, mut packets) = (self.second, usize::from(!self.front.is_vacant()));
        while place != self.end {
            if place % BLOCK == BLOCK - 1 {
                place = departures.places[place as usize].label as u32;
            }
            (place, packets) = (place + 1, packets + 1);
        }
        packets
    }

    /// This one leaves next. When is drawn only now: until then nobody asks.
    #[inline(always)]
    fn bring_to_front(&mut self, packet: Departure) {
        let mut leaves = packet.sent_at + self.delay;
        if self.jitter > 0 {
            leaves += Span::from_nanos(self.stream.below(self.jitter));
        }
        self.last = leaves.max(self.last);
        (self.next, self.front) = (self.last, packet);
    }
}

impl InTransit {
    /// Of no packets.
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { places: Vec::new(), free: NONE, note: 0, notes: 0, budget: Arc::clone(budget) }
    }

    /// Bytes charged to the budget.
    pub(crate) fn charged(&self) -> u64 {
        Self::room(self.places.capacity()) + self.notes
    }

    /// From now on each place is charged with what a sender notes about its packet.
    pub(crate) fn charge_notes(&mut self) {
        self.note = NOTE;
    }

    /// Bytes of this number of places.
    const fn room(places: usize) -> u64 {
        (places as u64).saturating_mul(size_of::<Departure>() as u64)
    }

    #[inline(always)]
    fn take_block(&mut self) -> Option<u32> {
        let block = self.free;
        if block == NONE {
            return self.add_block();
        }
        self.free = self.places[block as usize].label as u32;
        Some(block)
    }

    #[inline(always)]
    fn give_back(&mut self, block: u32) {
        self.places[block as usize].label = self.free.into();
        self.free = block;
    }

    #[cold]
    #[inline(never)]
    fn add_block(&mut self) -> Option<u32> {
        let len = self.places.len();
        let Some(block) = u32::try_from(len).ok().filter(|block| *block < NONE - BLOCK) else {
            self.budget.pass();
            return None;
        };
        if len == self.places.capacity() {
            let before = self.places.capacity();
            let places = (2 * before).max(4 * BLOCK as usize);
            // Both exist while packets are moved.
            if !self.budget.take(Self::room(places)) {
                return None;
            }
            self.places.reserve_exact(places - len);
            self.budget.release(Self::room(before));
        }
        let notes = u64::from(BLOCK) * self.note;
        if !self.budget.take(notes) {
            return None;
        }
        self.notes += notes;
        self.places.resize(len + BLOCK as usize, Departure::VACANT);
        Some(block)
    }
}

impl Departure {
    /// No packet.
    const VACANT: Self = Self { label: NOTHING << MARKS, sent_at: Time::ZERO };

    #[inline(always)]
    fn is_vacant(self) -> bool {
        self.label == Self::VACANT.label
    }

    /// A packet sent at `now`.
    #[inline(always)]
    fn new(now: Time, data: Option<Data>) -> Self {
        let label = match data {
            None => ELSEWHERE << MARKS,
            Some(Data {
                number, retransmission: false, reacted: false, pair: false, spin: false, bare: false, ..
            }) => number,
            Some(data) => Self::marked(&data),
        };
        Self { label, sent_at: now }
    }

    /// The label of a packet with flags. Few have any.
    #[cold]
    fn marked(data: &Data) -> u64 {
        let flags = [data.bare, data.retransmission, data.reacted, data.pair, data.spin];
        data.number | flags.into_iter().fold(0, |flags, flag| flags << 1 | u64::from(flag)) << MARKS
    }

    /// Its content, if it is plain data.
    #[inline(always)]
    fn data(self) -> Option<Data> {
        if self.label >> MARKS == 0 { Some(self.unmarked()) } else { self.marked_data() }
    }

    #[cold]
    fn marked_data(self) -> Option<Data> {
        let marks = self.label >> MARKS;
        let flag = |at: u32| marks >> at & 1 == 1;
        let (bare, retransmission, reacted, pair, spin) = (flag(4), flag(3), flag(2), flag(1), flag(0));
        let is_data = marks & (ELSEWHERE | NOTHING) == 0;
        is_data.then(|| Data { retransmission, reacted, pair, spin, bare, ..self.unmarked() })
    }

    #[inline(always)]
    fn unmarked(self) -> Data {
        Data::new(self.label & ((1 << MARKS) - 1), self.sent_at)
    }
}

impl NonDataBodies {
    /// Adds the content of the next packet of `flow`, which is no plain data.
    #[cold]
    pub(crate) fn put(&mut self, flow: u32, body: Body) {
        self.0.entry(flow).or_default().push_back(body);
    }

    /// The number of packets of `flow` that are not data.
    pub(crate) fn answers(&self, flow: u32) -> u32 {
        let bodies = self.0.get(&flow).into_iter().flatten();
        bodies.filter(|body| !body.is_data()).count() as u32
    }

    /// Takes the content of the packet of `flow` that leaves now.
    #[cold]
    pub(crate) fn take(&mut self, flow: u32) -> Option<Body> {
        self.0.get_mut(&flow)?.pop_front()
    }
}

/// Places of a block, with the one that says where the line goes on. Of a line in use half a block is vacant; with smaller ones the processor
/// cannot read ahead, and few flows with many packets each take longer (docs/performance.md).
const BLOCK: u32 = 32;
const NONE: u32 = u32::MAX;
/// Above the number of a packet: that there is none, that its content is elsewhere, and the flags of [`Data`].
const MARKS: u32 = 56;
const NOTHING: u64 = 1 << 6;
const ELSEWHERE: u64 = 1 << 5;
/// Bytes that RACK or a sampler of the delivery rate notes about a packet.
const NOTE: u64 = 48;

#[cfg(test)]
mod tests {
    use std::iter;

    use proptest::prelude::*;

    use super::*;

    fn data(number: u64, sent_at: Time, flags: u8) -> Data {
        let flag = |at: u8| flags >> at & 1 == 1;
        Data { number, sent_at, retransmission: flag(0), reacted: flag(1), pair: flag(2), spin: flag(3), bare: flag(4) }
    }

    #[test]
    fn a_departure_stays_small() {
        // Four of them in a cache line.
        assert!(size_of::<Departure>() <= 16, "{} bytes", size_of::<Departure>());
    }

    #[test]
    fn places_are_used_again() {
        let mut departures = InTransit::new(&Arc::new(Budget::new(u64::MAX)));
        let line = || AccessLine::new(Span::from_millis(1), Span::ZERO, Stream::new(1, "line"));
        for mut line in iter::repeat_with(line).take(10) {
            let held = (0..100).take_while(|_| line.offer(&mut departures, Time::ZERO, None)).count();
            assert_eq!((held, line.in_transit(&departures)), (100, 100));
            (0..100).for_each(|_| line.remove_front(&mut departures));
            assert_eq!((line.next(), line.in_transit(&departures)), (Time::MAX, 0));
        }
        // 99 packets behind the front need four blocks of 31.
        assert_eq!(departures.places.len(), 4 * BLOCK as usize);
    }

    #[test]
    fn a_packet_stays_on_a_line_without_end() {
        let mut departures = InTransit::new(&Arc::new(Budget::new(u64::MAX)));
        let mut line = AccessLine::new(Span::MAX, Span::ZERO, Stream::new(1, "line"));
        for packets in 1..10 {
            assert!(line.offer(&mut departures, Time::from_nanos(1), None));
            assert_eq!((line.next(), line.in_transit(&departures)), (Time::MAX, packets));
        }
    }

    #[test]
    fn packets_beyond_the_budget_are_refused() {
        let budget = Arc::new(Budget::new(InTransit::room(128 + 256) + 256 * NOTE));
        let mut departures = InTransit::new(&budget);
        departures.charge_notes();
        let mut line = AccessLine::new(Span::from_millis(1), Span::ZERO, Stream::new(1, "line"));
        let held = (0..300).take_while(|_| line.offer(&mut departures, Time::ZERO, None)).count();
        // The front, and 31 in each of the eight blocks of 256 places: there is no room for a ninth.
        assert!(held == 249 && budget.is_passed(), "{held}");
        assert_eq!(departures.charged(), InTransit::room(256) + 256 * NOTE);
    }

    proptest! {
        /// Two lines that share their places, compared with rings of packets whose departures are drawn as they are sent.
        #[test]
        fn lines_are_rings(steps in proptest::collection::vec((0_usize..2, 0_u8..3, 0_u64..50, 0_u8..40), 0..800)) {
            let mut departures = InTransit::new(&Arc::new(Budget::new(u64::MAX)));
            let names = ["one", "two"];
            let (delay, jitter) = (Span::from_nanos(10), 30);
            let mut lines = names.map(|name| AccessLine::new(delay, Span::from_nanos(jitter), Stream::new(1, name)));
            let mut models = names.map(|name| (Stream::new(1, name), Time::ZERO, VecDeque::new()));
            let mut now = Time::ZERO;
            for (number, (which, step, wait, flags)) in (0..).zip(steps) {
                now += Span::from_nanos(wait);
                let (line, (stream, last, ring)) = (&mut lines[which], &mut models[which]);
                if step == 0 {
                    line.remove_front(&mut departures);
                    ring.pop_front();
                } else {
                    let data = (flags < 32).then(|| data(number, now, flags));
                    prop_assert!(line.offer(&mut departures, now, data));
                    *last = (now + delay + Span::from_nanos(stream.below(jitter))).max(*last);
                    ring.push_back((*last, data));
                }
                let front = ring.front().copied();
                prop_assert_eq!(line.next(), front.map_or(Time::MAX, |(due, _)| due));
                prop_assert_eq!(line.front(), front.and_then(|(_, data)| data));
                prop_assert_eq!(line.in_transit(&departures), ring.len());
            }
        }
    }
}
