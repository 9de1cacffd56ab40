//! The receiving end: reassembly, acknowledgements, the echo of congestion marks.

use cwnd::host::{Range, Ranges};
use cwnd::{Bytes, Span, Time};

use super::linux::packets_in_segment;
use super::marks::Counter;
use super::merging::Merging;
use super::right_sizing::RightSizing;
use crate::net::packet::{Ack, AckEcho, Block, Body, Data};
use crate::protocol::{Received, ReceiverProtocol};

/// Treatment of a packet that arrives before an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reassembly {
    /// It keeps the packet and reports it to the sender, with selective acknowledgements for those who read them (RFC 2018).
    #[default]
    Selective,
    /// It keeps nothing out of order and sends no acknowledgement for it: everything from the first loss on must come again.
    GoBackN,
}

impl Reassembly {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Selective, Self::GoBackN];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Selective => "sack",
            Self::GoBackN => "go-back-n",
        }
    }

    /// The kind called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The acknowledgement policy of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverOptions {
    pub(crate) reassembly: Reassembly,
    /// One acknowledgement for two packets, or after this time.
    pub(crate) delay: Option<Span>,
    /// The number of first packets that are acknowledged at once.
    pub(crate) quick: u8,
    pub(crate) echo: AckEcho,
    /// The contents of a data packet.
    pub(crate) payload: Bytes,
    /// Packets that arrive within this time are taken as one segment.
    pub(crate) gro: Option<Span>,
    /// The largest window where it grows with what arrives, packets.
    pub(crate) autotune: Option<u64>,
}

/// A receiver that acknowledges every packet, or every second one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receiver {
    cumulative: u64,
    /// Arrived above the cumulative acknowledgement.
    beyond: Ranges,
    /// A number in each of the two blocks reported before, newest first (RFC 2018 section 4 requires them to be repeated).
    reported: [u64; 2],
    reassembly: Reassembly,
    /// The longest time that an acknowledgement waits for a second packet; zero for no delay.
    delay: Span,
    rest: Option<Box<Rest>>,
    /// The number of packets that are still acknowledged at once.
    quick: u8,
    /// When the acknowledgement held back is due, [`Time::MAX`] if there is none, and the echo it will carry.
    due: Time,
    held_echo: Time,
    /// How much later the newest packet left that it covers, nanoseconds. Packets that one acknowledgement waits for leave within seconds.
    held_later: u32,
    echo: AckEcho,
    /// Acknowledgements echo a mark: DCTCP.CE of RFC 8257, or the state of RFC 3168 section 6.1.3.
    marked: bool,
}

/// Parts that few receivers have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    /// Of Linux.
    merging: Option<Merging>,
    /// Of Linux.
    sizing: Option<RightSizing>,
    /// Where acknowledgements count marks.
    marks: Option<Counter>,
    /// The second of two acknowledgements for one packet, which is due now; only with echoes per packet.
    second: Option<Ack>,
}

impl Receiver {
    /// A receiver of nothing yet.
    pub(crate) fn new(options: ReceiverOptions) -> Self {
        let rest = Rest {
            merging: options.gro.map(|within| Merging::new(within, packets_in_segment(options.payload))),
            sizing: options.autotune.map(|most| RightSizing::new(options.payload, most)),
            marks: Counter::of(options.echo),
            second: None,
        };
        let plain = rest.merging.is_none() && rest.sizing.is_none() && rest.marks.is_none();
        let may_split = options.echo.tells_each_mark() && options.delay.is_some();
        Self {
            cumulative: 0,
            beyond: Ranges::default(),
            reported: [0; 2],
            reassembly: options.reassembly,
            delay: options.delay.unwrap_or(Span::ZERO),
            rest: (!plain || may_split).then(|| Box::new(rest)),
            quick: if options.delay.is_some() { options.quick } else { 0 },
            due: Time::MAX,
            held_echo: Time::ZERO,
            held_later: 0,
            echo: options.echo,
            marked: false,
        }
    }

    /// Whether a packet of this number that has no mark is of the plain kind: in order while nothing is missing or marked.
    #[inline(always)]
    pub(crate) fn is_plain(&self, number: u64) -> bool {
        number == self.cumulative && self.beyond.is_empty() && !self.marked && self.rest.is_none()
    }

    /// Handles such a packet as [`on_data`](Self::on_data) would. The acknowledgement to send at once, unless it is held back.
    #[inline(always)]
    pub(crate) fn answer_plainly(&mut self, now: Time, data: &Data) -> Option<Ack> {
        self.cumulative += 1;
        let at_once = self.delay == Span::ZERO;
        let (echo, later) = if at_once { (data.sent_at, 0) } else { self.hold_or_release(now, data.sent_at)? };
        let mut ack = Ack::of(self.cumulative, echo);
        ack.set_later(later);
        Some(ack)
    }

    /// The echo of the acknowledgement that leaves now, and how much later the newest packet left that it covers, nanoseconds; none if the
    /// acknowledgement of a packet that left at `sent_at` is held back.
    #[inline(never)]
    fn hold_or_release(&mut self, now: Time, sent_at: Time) -> Option<(Time, u32)> {
        if std::mem::replace(&mut self.due, Time::MAX) != Time::MAX {
            self.join(sent_at);
            Some((self.held_echo, self.held_later))
        } else if self.spend_quick() {
            self.hold(sent_at);
            self.due = now + self.delay;
            None
        } else {
            Some((sent_at, 0))
        }
    }

    /// Whether it holds no acknowledgement back.
    pub(crate) fn answers_at_once(&self) -> bool {
        self.delay == Span::ZERO && self.rest.is_none()
    }

    /// Handles a data packet: whether it is new and kept, and the acknowledgement to send at once. On the path of every packet:
    /// as a call it would copy the acknowledgement twice.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, now: Time, data: &Data, marked: bool) -> (bool, Option<Ack>) {
        let before = self.cumulative;
        let (new, mut ack) = self.accept(now, data, marked);
        let newly = self.cumulative - before;
        if let Some(sizing) = self.sizing() {
            sizing.on_data(newly, data.spin);
            ack.iter_mut().for_each(|ack| sizing.grant(ack));
        }
        (new, ack)
    }

    fn merging(&mut self) -> Option<&mut Merging> {
        self.rest.as_deref_mut()?.merging.as_mut()
    }

    fn sizing(&mut self) -> Option<&mut RightSizing> {
        self.rest.as_deref_mut()?.sizing.as_mut()
    }

    /// The second of two acknowledgements for one packet, if it has not left yet.
    #[inline]
    fn take_second(&mut self) -> Option<Ack> {
        self.rest.as_deref_mut()?.second.take()
    }

    /// Accepts a packet; the acknowledgement has no window yet.
    #[inline(always)]
    fn accept(&mut self, now: Time, data: &Data, marked: bool) -> (bool, Option<Ack>) {
        let in_order = data.number == self.cumulative && self.beyond.is_empty();
        if self.reassembly == Reassembly::GoBackN && data.number > self.cumulative {
            return (false, None);
        }
        let changes = self.marks_change(marked);
        if changes && self.due != Time::MAX {
            return self.accept_behind(now, data, marked);
        }
        let new = if in_order {
            self.cumulative += 1;
            true
        } else {
            self.reassemble(data.number)
        };
        let follows_unmarked = marked && !self.marked;
        self.record_mark(data, marked);
        if self.rest.is_some() && self.merge(now, data, in_order && !marked, changes) {
            return (new, None);
        }
        // RFC 8257 wants a change acknowledged at once. A classic mark may have left a window of one packet, which must not wait.
        // RFC 9768 section 3.2.2.5.1 wants the first mark acknowledged at once, and every second one; RFC 9000 section 13.2.1 wants each.
        let urgent = match self.echo {
            AckEcho::Latch => marked,
            AckEcho::PerPacket | AckEcho::Scalable => changes,
            AckEcho::AccEcn | AckEcho::AccEcnScalable => follows_unmarked,
            AckEcho::Counts | AckEcho::CountsScalable => marked,
        };
        if self.delay > Span::ZERO
            && !self.merges()
            && in_order
            && self.due == Time::MAX
            && !urgent
            && self.spend_quick()
        {
            self.hold(data.sent_at);
            self.due = now + self.delay;
            return (new, None);
        }
        // This one covers the second of a packet before.
        self.take_second();
        let held = std::mem::replace(&mut self.due, Time::MAX) != Time::MAX;
        let mut ack = if held {
            if new {
                self.join(data.sent_at);
            }
            self.acknowledge_held(data.number)
        } else {
            self.acknowledge(data.number, data.sent_at)
        };
        if !new {
            let offset = data.number.cast_signed() - self.cumulative.cast_signed();
            ack.duplicate = i32::try_from(offset).unwrap_or(0);
        }
        (new, Some(ack))
    }

    /// Accepts a packet with a mark while packets without one are held back, or the other way round: they are acknowledged first.
    #[cold]
    fn accept_behind(&mut self, now: Time, data: &Data, marked: bool) -> (bool, Option<Ack>) {
        let second = self.take_second();
        let earlier = second.unwrap_or_else(|| self.acknowledge_held(self.cumulative));
        self.merging().into_iter().for_each(Merging::acknowledge);
        self.due = Time::MAX;
        let (new, ack) = self.accept(now, data, marked);
        if let (Some(ack), Some(rest)) = (ack, self.rest.as_deref_mut()) {
            rest.second = Some(ack);
            self.hold(data.sent_at);
            self.due = now;
        }
        (new, Some(earlier))
    }

    /// Releases a held acknowledgement that is due.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Ack> {
        if self.due > now {
            return None;
        }
        if let Some(mut ack) = self.take_second() {
            self.due = Time::MAX;
            self.sizing().into_iter().for_each(|sizing| sizing.grant(&mut ack));
            return Some(ack);
        }
        let alone = self.merging().is_some_and(|merging| merging.may_be_delayed());
        if alone && self.delay > Span::ZERO && self.spend_quick() {
            self.merging().into_iter().for_each(Merging::delay);
            self.due = now + self.delay;
            return None;
        }
        self.merging().into_iter().for_each(Merging::acknowledge);
        self.due = Time::MAX;
        let mut ack = self.acknowledge_held(self.cumulative);
        self.sizing().into_iter().for_each(|sizing| sizing.grant(&mut ack));
        Some(ack)
    }

    /// Whether packets that arrive together are taken as one.
    #[inline]
    fn merges(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.merging.is_some())
    }

    /// Adds a packet to the segment that is being merged, if it `fits`; whether the segment waits for more. Where the mark `changes`, its
    /// acknowledgement is not delayed.
    #[inline(never)]
    fn merge(&mut self, now: Time, data: &Data, fits: bool, changes: bool) -> bool {
        let due = self.due;
        let split = self.rest.as_ref().is_some_and(|rest| rest.second.is_some());
        let Some(merging) = self.merging() else { return false };
        if !fits || split {
            merging.acknowledge();
            return false;
        }
        merging.add();
        if changes {
            merging.hasten();
        }
        let begins = merging.begins().then_some(now + merging.within);
        let waits = !merging.is_full();
        if !waits {
            merging.acknowledge();
        }
        if due == Time::MAX {
            self.hold(data.sent_at);
        }
        self.join(data.sent_at);
        self.due = begins.map_or(due, |end| due.min(end));
        waits
    }

    /// The acknowledgement of a packet that left at `sent_at` is held back.
    fn hold(&mut self, sent_at: Time) {
        (self.held_echo, self.held_later) = (sent_at, 0);
    }

    /// The acknowledgement that is held back covers a packet that left at `sent_at` too.
    #[inline]
    fn join(&mut self, sent_at: Time) {
        self.held_later = u32::try_from(sent_at.since(self.held_echo).as_nanos()).unwrap_or(u32::MAX);
    }

    /// Whether no packet is acknowledged at once any more; one less is from now on.
    fn spend_quick(&mut self) -> bool {
        let spent = self.quick == 0;
        self.quick = self.quick.saturating_sub(1);
        spent
    }

    /// Whether a packet has a mark and the one before has none, or the other way round, where that matters.
    fn marks_change(&self, marked: bool) -> bool {
        self.echo.tells_each_mark() && !self.echo.counts() && marked != self.marked
    }

    fn record_mark(&mut self, data: &Data, marked: bool) {
        self.marked = match self.echo {
            AckEcho::Latch => marked || self.marked && !data.reacted,
            AckEcho::PerPacket
            | AckEcho::Scalable
            | AckEcho::AccEcn
            | AckEcho::AccEcnScalable
            | AckEcho::Counts
            | AckEcho::CountsScalable => marked,
        };
        if let Some(counter) = self.rest.as_deref_mut().and_then(|rest| rest.marks.as_mut()) {
            counter.count(marked);
        }
    }

    fn reassemble(&mut self, number: u64) -> bool {
        let mut new = false;
        if number >= self.cumulative {
            self.beyond.insert(number, number + 1, |_, _| new = true);
        }
        if let Some(front) = self.beyond.front()
            && front.first == self.cumulative
        {
            self.cumulative = front.end;
            self.beyond.remove_below(front.end);
        }
        new
    }

    /// The acknowledgement that was held back. It echoes the oldest packet that it waited for (RFC 7323 section 4.3).
    #[inline]
    fn acknowledge_held(&mut self, number: u64) -> Ack {
        let mut ack = self.acknowledge(number, self.held_echo);
        ack.set_later(self.held_later);
        ack
    }

    #[inline]
    fn acknowledge(&mut self, number: u64, echo: Time) -> Ack {
        let sack = if self.beyond.is_empty() { [Block::default(); 3] } else { self.report(number) };
        let mut ack = Ack { sack, marked: self.marked, ..Ack::of(self.cumulative, echo) };
        if let Some(counter) = self.rest.as_deref().and_then(|rest| rest.marks) {
            counter.write(&mut ack);
        }
        ack
    }

    #[inline(never)]
    fn report(&mut self, newest: u64) -> [Block; 3] {
        let mut ranges = [Range::default(); 3];
        let mut used = 0;
        for number in [newest, self.reported[0], self.reported[1]] {
            if !ranges[..used].iter().any(|range| range.contains(number))
                && let Some(range) = self.beyond.covering(number)
            {
                ranges[used] = range;
                used += 1;
            }
        }
        // A range that grows stays the newest one. A packet that is in none, since it filled the first hole, counts as one of its own.
        let again = if ranges[0].contains(newest) {
            ranges[0].contains(self.reported[0])
        } else {
            self.beyond.covering(self.reported[0]).is_none()
        };
        if !again {
            self.reported = [newest, self.reported[0]];
        }
        // The window of a connection stays far below 2^32 packets.
        let offset = |number: u64| u32::try_from(number.saturating_sub(self.cumulative)).unwrap_or(u32::MAX);
        ranges.map(|range| Block { first: offset(range.first), end: offset(range.end) })
    }
}

impl ReceiverProtocol for Receiver {
    #[inline(always)]
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, answer: &mut Body) -> Received {
        let (new, ack) = if self.is_plain(data.number) && !marked {
            (true, self.answer_plainly(now, data))
        } else {
            self.on_data(now, data, marked)
        };
        let answered = ack.is_some();
        if let Some(ack) = ack {
            *answer = Body::Ack(ack);
        }
        Received { new, answered }
    }

    fn handle_lost_ect(&mut self) {
        let counter = self.rest.as_deref_mut().and_then(|rest| rest.marks.as_mut());
        counter.into_iter().for_each(Counter::fall_short);
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        self.on_timer(now).map(Body::Ack)
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: ReceiverOptions = ReceiverOptions {
        reassembly: Reassembly::Selective,
        delay: None,
        quick: 0,
        echo: AckEcho::Latch,
        payload: Bytes(1448),
        gro: None,
        autotune: None,
    };

    fn data(number: u64) -> Data {
        Data::new(number, Time::from_nanos(number))
    }

    fn receive(receiver: &mut Receiver, number: u64) -> Ack {
        receiver.on_data(Time::ZERO, &data(number), false).1.expect("not delayed")
    }

    fn blocks(ack: &Ack) -> Vec<(u64, u64)> {
        let used = ack.blocks();
        used.map(|block| (ack.cumulative + u64::from(block.first), ack.cumulative + u64::from(block.end))).collect()
    }

    #[test]
    fn the_newest_block_comes_first_and_older_ones_are_repeated() {
        let mut receiver = Receiver::new(PLAIN);
        assert_eq!(receive(&mut receiver, 0).cumulative, 1);
        assert_eq!(blocks(&receive(&mut receiver, 2)), [(2, 3)]);
        assert_eq!(blocks(&receive(&mut receiver, 4)), [(4, 5), (2, 3)]);
        assert_eq!(blocks(&receive(&mut receiver, 6)), [(6, 7), (4, 5), (2, 3)]);
        assert_eq!(blocks(&receive(&mut receiver, 8)), [(8, 9), (6, 7), (4, 5)]);
        assert_eq!(blocks(&receive(&mut receiver, 9)), [(8, 10), (6, 7)]);
        let ack = receive(&mut receiver, 1);
        assert_eq!((ack.cumulative, blocks(&ack)), (3, vec![(8, 10), (6, 7)]));
        assert!(!receiver.on_data(Time::ZERO, &data(2), false).0, "it had arrived");
    }

    #[test]
    fn every_second_packet_or_the_timer() {
        let delay = Span::from_millis(40);
        let mut receiver = Receiver::new(ReceiverOptions { delay: Some(delay), ..PLAIN });
        assert_eq!(receiver.on_data(Time::ZERO, &data(0), false), (true, None));
        let (_, ack) = receiver.on_data(Time::ZERO, &data(1), false);
        assert_eq!(ack.map(|ack| (ack.cumulative, ack.echo)), Some((2, Time::ZERO)));
        assert_eq!(receiver.next_timeout(), Time::MAX);
        receiver.on_data(Time::ZERO, &data(2), false);
        let due = receiver.next_timeout();
        assert_eq!(due, Time::ZERO + delay);
        assert_eq!(receiver.on_timer(Time::ZERO), None);
        assert_eq!(receiver.on_timer(due).map(|ack| ack.cumulative), Some(3));
        let (_, ack) = receiver.on_data(due, &data(5), false);
        assert!(ack.is_some(), "a gap is acknowledged at once");
    }

    #[test]
    fn a_packet_that_arrives_twice_is_acknowledged_at_once() {
        let mut receiver = Receiver::new(ReceiverOptions { delay: Some(Span::from_millis(40)), ..PLAIN });
        assert_eq!(receiver.on_data(Time::ZERO, &data(0), false), (true, None));
        let (new, ack) = receiver.on_data(Time::ZERO, &data(0), false);
        assert_eq!((new, ack.map(|ack| (ack.cumulative, ack.duplicate()))), (false, Some((1, Some(0)))));
        assert_eq!(receiver.next_timeout(), Time::MAX, "nothing is held back");
    }

    #[test]
    fn the_first_packets_are_acknowledged_at_once() {
        let delay = Some(Span::from_millis(40));
        let mut receiver = Receiver::new(ReceiverOptions { delay, quick: 3, ..PLAIN });
        let acked = (0..8).map(|number| receiver.on_data(Time::ZERO, &data(number), false).1.is_some());
        assert_eq!(acked.collect::<Vec<_>>(), [true, true, true, false, true, false, true, false]);
    }

    /// At which of these times, in microseconds, the receiver acknowledges how much, its timer included.
    fn acknowledged(options: ReceiverOptions, arrivals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let mut receiver = Receiver::new(options);
        let mut acks = Vec::new();
        let mut arrivals = arrivals.iter().peekable();
        loop {
            let next = arrivals.peek().map_or(Time::MAX, |(micros, _)| at(*micros));
            let due = receiver.next_timeout();
            if due == Time::MAX && next == Time::MAX {
                return acks;
            }
            let (now, ack) = if due < next {
                (due, receiver.on_timer(due))
            } else {
                let (_, number) = arrivals.next().expect("it was seen");
                (next, receiver.on_data(next, &data(*number), false).1)
            };
            acks.extend(ack.map(|ack| (now.as_nanos() / 1000, ack.cumulative)));
        }
    }

    #[test]
    fn packets_that_arrive_together_are_acknowledged_as_one() {
        let gro = ReceiverOptions { gro: Some(Span::from_micros(50)), ..PLAIN };
        // A burst of four, a packet alone, and 50 packets at once, of which 45 are 64 KiB.
        let burst = [(0, 0), (12, 1), (24, 2), (36, 3), (200, 4)];
        assert_eq!(acknowledged(gro, &burst), [(50, 4), (250, 5)]);
        let many: Vec<_> = (0..50).map(|number| (number / 2, number)).collect();
        assert_eq!(acknowledged(gro, &many), [(22, 45), (72, 50)]);
        // A packet out of order ends the segment.
        assert_eq!(acknowledged(gro, &[(0, 0), (12, 1), (24, 3)]), [(24, 2)]);
    }

    #[test]
    fn a_segment_of_one_packet_waits_for_a_second_one() {
        let delay = Some(Span::from_millis(40));
        let gro = ReceiverOptions { gro: Some(Span::from_micros(50)), delay, ..PLAIN };
        assert_eq!(acknowledged(gro, &[(0, 0)]), [(40_050, 1)]);
        assert_eq!(acknowledged(gro, &[(0, 0), (1000, 1)]), [(1050, 2)]);
        assert_eq!(acknowledged(gro, &[(0, 0), (20, 1), (1000, 2), (1200, 3)]), [(50, 2), (1250, 4)]);
        let quick = ReceiverOptions { quick: 1, ..gro };
        assert_eq!(acknowledged(quick, &[(0, 0), (100, 1), (200, 2)]), [(50, 1), (250, 3)]);
    }

    /// The acknowledgements of packets 0 to n, of which these are marked, that a receiver with `options` sends as each arrives: the index
    /// of the packet, the cumulative acknowledgement, the packet whose departure is echoed, and the mark.
    fn per_packet(options: ReceiverOptions, marks: &[bool]) -> (Receiver, Vec<(usize, u64, u64, bool)>) {
        let mut receiver = Receiver::new(ReceiverOptions { echo: AckEcho::PerPacket, ..options });
        let mut sent = Vec::new();
        for (number, marked) in marks.iter().enumerate() {
            let (new, ack) = receiver.on_data(Time::ZERO, &data(number as u64), *marked);
            assert!(new);
            let second = receiver.on_timer(Time::ZERO);
            let both = ack.into_iter().chain(second);
            sent.extend(both.map(|ack| (number, ack.cumulative, ack.echo.as_nanos(), ack.marked)));
        }
        (receiver, sent)
    }

    /// RFC 8257 section 3.2 holds for merged packets too: the first without a mark waits for others, but for no timer.
    #[test]
    fn marked_packets_are_not_merged_with_others() {
        let (gro, delay) = (Some(Span::from_micros(50)), Some(Span::from_millis(40)));
        for delay in [None, delay] {
            let options = ReceiverOptions { gro, delay, ..PLAIN };
            let (mut receiver, sent) = per_packet(options, &[false, false, true, true, false]);
            assert_eq!(sent, [(2, 2, 0, false), (2, 3, 2, true), (3, 4, 3, true)]);
            let due = receiver.next_timeout();
            assert_eq!(due, Time::ZERO + Span::from_micros(50));
            let last = receiver.on_timer(due).map(|ack| (ack.cumulative, ack.marked));
            assert_eq!(last, Some((5, false)));
        }
    }

    #[test]
    fn a_receiver_that_sizes_its_window_says_so_in_each_acknowledgement() {
        let mut receiver = Receiver::new(ReceiverOptions { autotune: Some(4000), ..PLAIN });
        let first = receive(&mut receiver, 0);
        assert_eq!((first.window, first.spin()), (45, true));
        assert_eq!(receive(&mut Receiver::new(PLAIN), 0).window, 0);
    }

    /// RFC 8257 section 3.2 and figure 1, with acknowledgements for two packets: where the mark changes, held packets and the packet
    /// itself are acknowledged at once; the others as without marks.
    #[test]
    fn delayed_acknowledgements_tell_marked_packets_from_others() {
        let options = ReceiverOptions { delay: Some(Span::from_millis(40)), ..PLAIN };
        let (receiver, sent) =
            per_packet(options, &[false, false, false, true, true, true, true, false, false, false, true]);
        let acks = [
            (1, 2, 0, false),
            (3, 3, 2, false),
            (3, 4, 3, true),
            (5, 6, 4, true),
            (7, 7, 6, true),
            (7, 8, 7, false),
            (9, 10, 8, false),
            (10, 11, 10, true),
        ];
        assert_eq!(sent, acks);
        assert_eq!(receiver.next_timeout(), Time::MAX);
    }

    /// A packet out of order is one more acknowledgement of its own, also where the mark changes with it.
    #[test]
    fn a_mark_beyond_a_gap_is_not_that_of_the_packet_held_back() {
        let options = ReceiverOptions { delay: Some(Span::from_millis(40)), echo: AckEcho::PerPacket, ..PLAIN };
        let mut receiver = Receiver::new(options);
        assert_eq!(receiver.on_data(Time::ZERO, &data(0), false), (true, None));
        let (_, first) = receiver.on_data(Time::ZERO, &data(2), true);
        assert_eq!(first, Some(Ack::of(1, Time::ZERO)));
        let second = receiver.on_timer(Time::ZERO).expect("it is due");
        assert_eq!((second.cumulative, blocks(&second), second.marked), (1, vec![(2, 3)], true));
        // What arrives before the second has left is acknowledged with it, if it has the same mark.
        let mut receiver = Receiver::new(options);
        receiver.on_data(Time::ZERO, &data(0), false);
        receiver.on_data(Time::ZERO, &data(1), true);
        let (_, both) = receiver.on_data(Time::ZERO, &data(2), true);
        let both = both.expect("the second of two");
        assert_eq!((both.cumulative, both.marked, both.echo), (3, true, Time::from_nanos(1)));
        assert_eq!(both.newest(), Time::from_nanos(2));
        assert_eq!(receiver.next_timeout(), Time::MAX);
    }

    #[test]
    fn marks_are_echoed_until_confirmed_or_once() {
        let reacted = |number| Data { reacted: true, ..data(number) };
        let mut latch = Receiver::new(PLAIN);
        let mut each = Receiver::new(ReceiverOptions { echo: AckEcho::PerPacket, ..PLAIN });
        let mut echoes = |data: Data, marked: bool| {
            [&mut latch, &mut each]
                .map(|receiver| receiver.on_data(Time::ZERO, &data, marked).1.expect("not delayed").marked)
        };
        assert_eq!(echoes(data(0), false), [false, false]);
        assert_eq!(echoes(data(1), true), [true, true]);
        assert_eq!(echoes(data(2), false), [true, false]);
        assert_eq!(echoes(reacted(3), false), [false, false]);
        assert_eq!(echoes(reacted(4), true), [true, true]);
    }

    /// RFC 9768 section 3.2.2.5.1: the first mark is acknowledged at once, together with a packet held back; of more marks every second. The
    /// counter begins at 5 and wraps after 7.
    #[test]
    fn an_acknowledgement_counts_marks() {
        let options = ReceiverOptions { delay: Some(Span::from_millis(40)), echo: AckEcho::AccEcn, ..PLAIN };
        let mut receiver = Receiver::new(options);
        let marks = [false, true, true, true, true, true, false, false, true, false, false];
        let sent: Vec<_> = (0..)
            .zip(marks)
            .filter_map(|(number, marked)| {
                let (new, ack) = receiver.on_data(Time::ZERO, &data(number), marked);
                assert!(new);
                ack.map(|ack| (number, ack.cumulative, ack.ace()))
            })
            .collect();
        assert_eq!(sent, [(1, 2, 6), (3, 4, 0), (5, 6, 2), (7, 8, 2), (8, 9, 3), (10, 11, 3)]);
        // A packet that had arrived counts too.
        let (new, ack) = receiver.on_data(Time::ZERO, &data(3), true);
        assert_eq!((new, ack.map(|ack| ack.ace())), (false, Some(4)));
    }

    /// RFC 9000 section 13.2.1: each mark is acknowledged at once. The total is behind two ranges, and leaves room for the later departure.
    #[test]
    fn an_acknowledgement_has_the_total_of_marks() {
        let options = ReceiverOptions { delay: Some(Span::from_millis(40)), echo: AckEcho::Counts, ..PLAIN };
        let mut receiver = Receiver::new(options);
        let mut on = |number, marked| {
            let ack = receiver.on_data(Time::ZERO, &data(number), marked).1?;
            assert!(ack.has_totals() && !ack.falls_short() && ack.ace() == 0);
            Some((ack.cumulative, blocks(&ack), ack.marks(), ack.echo.as_nanos(), ack.newest().as_nanos()))
        };
        assert_eq!(on(0, false), None);
        assert_eq!(on(1, true), Some((2, vec![], 1, 0, 1)));
        assert_eq!(on(2, true), Some((3, vec![], 2, 2, 2)));
        assert_eq!(on(3, false), None);
        assert_eq!(on(4, false), Some((5, vec![], 2, 3, 4)));
        for number in 5..300 {
            on(number, true);
        }
        assert_eq!(on(301, true), Some((300, vec![(301, 302)], 298, 301, 301)));
        assert_eq!(on(303, false), Some((300, vec![(303, 304), (301, 302)], 298, 303, 303)));
        assert_eq!(on(305, false), Some((300, vec![(305, 306), (303, 304)], 298, 305, 305)));
        // A packet that had arrived counts too.
        assert_eq!(on(7, true).map(|ack| ack.2), Some(299));
        receiver.handle_lost_ect();
        assert!(receiver.on_data(Time::ZERO, &data(300), false).1.expect("behind a gap").falls_short());
    }

    proptest! {
        /// The path of plain packets is no other protocol.
        #[test]
        fn plain_packets_are_answered_like_all_others(
            packets in proptest::collection::vec((0_u64..4, any::<bool>(), any::<bool>()), 1..60),
            delayed in any::<bool>(),
            quick in 0_u8..3,
            latch in any::<bool>(),
        ) {
            let echo = if latch { AckEcho::Latch } else { AckEcho::PerPacket };
            let delay = delayed.then_some(Span::from_millis(40));
            let mut general = Receiver::new(ReceiverOptions { delay, quick, echo, ..PLAIN });
            for (ahead, marked, reacted) in packets {
                let data = Data { reacted, ..data(general.cumulative + ahead.saturating_sub(2)) };
                let mut receiver = general.clone();
                let plain = receiver.is_plain(data.number) && !marked;
                let answer = general.on_data(Time::ZERO, &data, marked);
                if plain {
                    prop_assert_eq!((true, receiver.answer_plainly(Time::ZERO, &data)), answer);
                    prop_assert_eq!(&receiver, &general);
                }
            }
        }
    }
}
