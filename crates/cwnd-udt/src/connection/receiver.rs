//! The receiving half: arrivals, missing packets, and the reports to the sender.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use cwnd::estimate::RttEstimator;
use cwnd::{Arrival, Span, Spec, Start, Time};

use super::ack_history::AckHistory;
use super::arrivals::Arrivals;
use super::buffer::Buffer;
use super::gaps::Gaps;
use super::measure::{Measure, is_second_of_pair, receiver_side};
use super::receive_window::{MIN_WINDOW, ReceiveWindow};
use super::tag::Tag;
use super::timeouts::{DEFAULT_RTT, MAX_RTT, SYN, UNMEASURED, answer_time};
use super::tolerance::Tolerance;
use super::transmit::{Arrived, Slot};
use crate::handshake::Agreed;
use crate::number::{AckNumber, MessageNumber, Seq};
use crate::settings::Settings;
use crate::wire::{DataHeader, DropRequest, FullAck, LossRange, Losses, Message, Missing, Report};

/// The receiving half of a connection.
#[derive(Debug)]
pub(super) struct Receiver {
    isn: Seq,
    algorithm: Spec,
    start: Box<Start>,
    payload: u32,
    pub(super) buffer: Buffer,
    gaps: Gaps,
    tolerance: Tolerance,
    measure: Measure,
    history: AckHistory,
    /// The clock of acknowledgements; it runs while data arrives.
    clock: Time,
    /// Data has arrived since the clock last ticked.
    data_since_tick: bool,
    /// The next tick sends an acknowledgement even without news: the sender seems to have missed one.
    ack_due: bool,
    /// The numbers below which the last full acknowledgement, and any acknowledgement, acknowledged all packets.
    acked: u64,
    acked_lightly: u64,
    /// The instant of the last full acknowledgement.
    acked_at: Option<Time>,
    /// The end of the window granted by the last acknowledgement, and by any: a packet from there on is refused.
    granted: u64,
    limit: u64,
    window: Option<ReceiveWindow>,
    /// Packets since the last full acknowledgement; they make a light one due.
    since_full: u32,
    light: bool,
    /// The number of packets between light acknowledgements.
    ack_every: u32,
    arrivals: Arrivals,
    /// The instant at which the last full acknowledgement is repeated without an ACK2, and the number of repetitions.
    repeat_at: Time,
    repeats: u32,
    /// Gaps to be reported at once.
    naks: VecDeque<Range<u64>>,
    /// Last packets of drop requests that may belong to the next message, and the instant of the request.
    doubted_ends: BTreeMap<u64, (MessageNumber, Time)>,
    pub(super) counts: Counts,
}

/// Counters of the receiving half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) received: u64,
    pub(super) bytes_received: u64,
    pub(super) duplicates: u64,
    /// Packets beyond the granted window.
    pub(super) no_room: u64,
    /// Packets whose number or length is impossible.
    pub(super) refused: u64,
    /// Numbers found missing.
    pub(super) missing: u64,
    /// Numbers the sender gave up.
    pub(super) given_up: u64,
}

impl Receiver {
    /// A receiver without data.
    pub(super) fn new(settings: &Settings, agreed: &Agreed, start: &Start) -> Self {
        let window = settings.backlog.map(ReceiveWindow::new);
        let receiver = Self {
            isn: agreed.isn_theirs,
            algorithm: settings.algorithm.clone(),
            payload: agreed.payload,
            start: Box::new(*start),
            buffer: Buffer::new(agreed.mode, settings.receive_buffer),
            gaps: Gaps::default(),
            tolerance: Tolerance::default(),
            measure: Measure::new(),
            history: AckHistory::new(),
            clock: Time::MAX,
            data_since_tick: false,
            ack_due: false,
            acked: 0,
            acked_lightly: 0,
            acked_at: None,
            granted: 0,
            limit: 0,
            window,
            since_full: 0,
            light: false,
            ack_every: settings.ack_every,
            arrivals: Arrivals::default(),
            repeat_at: Time::MAX,
            repeats: 0,
            naks: VecDeque::new(),
            doubted_ends: BTreeMap::new(),
            counts: Counts::default(),
        };
        // The handshake names the whole buffer, but a sender that starts slowly has an acknowledgement before it comes that far.
        let granted = receiver.window_end();
        Self { granted, limit: granted, ..receiver }
    }

    /// Handles a packet of data. Returns the place of its payload, if it is new, and whether there is more to read.
    pub(super) fn on_data(
        &mut self,
        arrived: Arrived,
        header: &DataHeader,
        len: u32,
        rtt: &RttEstimator,
    ) -> (Option<Slot>, bool) {
        let Arrived { now, coalesced } = arrived;
        let number = header.seq.number(self.isn, self.buffer.next());
        let Some(number) = number.filter(|_| (1..=self.payload).contains(&len)) else {
            self.counts.refused += 1;
            return (None, false);
        };
        let beyond = number >= self.limit.min(self.buffer.end());
        if beyond || !self.buffer.lacks(number) {
            // The sender missed an acknowledgement, either of arrived packets or of the available room.
            *if beyond { &mut self.counts.no_room } else { &mut self.counts.duplicates } += 1;
            self.ack_due = true;
            self.run_clock(now);
            return (None, false);
        }
        let seen = self.buffer.seen();
        if number > seen {
            self.counts.missing += number - seen;
            match self.tolerance.wait() {
                Span::ZERO => {
                    self.gaps.open(now, seen..number, answer_time(rtt) + SYN);
                    self.queue_nak(seen..number);
                }
                wait => self.gaps.open_unreported(now, seen..number, wait),
            }
        } else if number < seen {
            if let Some(seen) = self.gaps.fill(number) {
                self.tolerance.on_filled(now, seen, rtt);
            }
            self.arrivals.on_filled(number, &self.gaps);
        }
        self.buffer.extend(number + 1);
        let tag = Tag::new(header.position, header.in_order, header.message);
        // The payload of a packet is below 2^16 bytes.
        self.buffer.insert(number, tag, len as u16);
        self.counts.received += 1;
        self.counts.bytes_received += u64::from(len);
        let mut arrival = Arrival::new(now, number, self.start.packet);
        arrival.rtt = rtt.get().map(|rtt| rtt.smoothed);
        arrival.pair = is_second_of_pair(header.seq.get()) && !coalesced;
        arrival.retransmission = number < seen;
        self.measure.on_packet(&arrival, || receiver_side(&self.algorithm, &self.start));
        // Only its last packet, or one that was missing, can complete a message above a gap.
        let overtakes = (tag.ends() || number < seen) && {
            let (before, after) = self.gaps.run_around(number);
            self.buffer.overtake(number, before.unwrap_or(0)..after.unwrap_or(self.buffer.seen()))
        };
        let advances = self.advance();

        self.data_since_tick = true;
        if self.window.is_some_and(|window| self.window_end() >= self.granted + (window.packets / 4).max(1)) {
            // The window moves with the arrivals, and the sender should not be limited by its former position.
            self.ack_due = true;
            self.clock = now;
        }
        self.since_full += 1;
        let due = self.since_full.is_multiple_of(self.ack_every);
        self.light |= due;
        if due && self.has_gaps() {
            self.arrivals.set_due(false);
        }
        self.run_clock(now);
        if len < self.payload {
            // A short packet ends a flight. Small messages in quick succession are acknowledged together.
            let earliest = self.acked_at.map_or(now, |at| at + SHORT_PAUSE);
            self.clock = self.clock.min(earliest.max(now));
        }
        (Some(Slot(number)), overtakes | advances)
    }

    /// Records that the sender reads reports of arrivals above a gap.
    pub(super) fn ask_reports(&mut self) {
        self.arrivals.ask();
    }

    /// Handles an ACK2: the sender has received acknowledgement `number`.
    pub(super) fn on_ack2(&mut self, now: Time, number: AckNumber, rtt: &mut RttEstimator) {
        let Some((sample, newest)) = self.history.confirm(now, number) else { return };
        if sample > Span::ZERO {
            rtt.on_sample(sample.min(MAX_RTT), Span::ZERO);
        }
        if newest {
            self.repeat_at = Time::MAX;
            self.repeats = 0;
        }
    }

    /// Handles a drop request. Returns whether there is more to read.
    ///
    /// Only packets of the message and missing ones are given up. The last one is doubtful, since libudt names the first packet of the
    /// next message. It is given up if the next packet begins the next message, if it is the only one, or if the sender repeats the
    /// request although that packet was reported missing.
    pub(super) fn on_drop(&mut self, now: Time, request: &DropRequest, rtt: &RttEstimator) -> bool {
        let near = self.buffer.next();
        let ends = request.first.number(self.isn, near).zip(request.last.number(self.isn, near));
        let plausible = |(first, last): &(u64, u64)| first <= last && *last < self.buffer.end();
        let Some((first, last)) = ends.filter(plausible).filter(|_| !self.buffer.is_stream()) else {
            self.counts.refused += 1;
            return false;
        };
        if last < near {
            return false;
        }
        let seen = self.buffer.seen();
        if last >= seen {
            self.gaps.open(now, seen..last + 1, answer_time(rtt) + SYN);
            self.buffer.extend(last + 1);
        }
        let next_begins = self.buffer.message_at(last + 1) == Some((request.message.next(), true));
        let round_trip = rtt.get().map_or(DEFAULT_RTT, |rtt| rtt.smoothed);
        let doubted = self.doubted_ends.get(&last).filter(|(message, _)| *message == request.message);
        let repeated = doubted.is_some_and(|(_, at)| now.since(*at) >= round_trip);
        let sure = first == last || next_begins || repeated;
        for number in first.max(near)..=last {
            if self.buffer.lacks(number) {
                if number < last || sure {
                    self.counts.given_up += 1;
                    self.gaps.fill(number);
                    self.buffer.give_up(number);
                }
            } else if self.buffer.message_at(number).is_some_and(|(message, _)| message == request.message) {
                self.buffer.void(number);
            }
        }
        if !sure && doubted.is_none() && self.buffer.lacks(last) {
            self.doubted_ends.insert(last, (request.message, now));
        }
        self.doubted_ends = self.doubted_ends.split_off(&near);
        if self.doubted_ends.len() > MAX_DOUBTED {
            // Everything waits for the first one.
            self.doubted_ends.pop_last();
        }
        self.data_since_tick = true;
        self.run_clock(now);
        self.advance()
    }

    /// The application has read `packets` packets, or a message.
    pub(super) fn consume(&mut self, now: Time, packets: u64) {
        self.buffer.consume(packets);
        let quarter = self.room() / 4;
        // A sender that was granted little room gets an acknowledgement at once when there is much more.
        if self.granted <= self.buffer.next() + quarter && self.window_end() >= self.granted + quarter {
            self.ack_due = true;
            self.clock = now;
        }
    }

    /// Packets that may be under way or unread: as many as fit, or of a stream what the path and the application need.
    pub(super) fn room(&self) -> u64 {
        let capacity = self.buffer.capacity();
        let needed = self.window.filter(|_| self.buffer.is_stream()).map(|window| window.room);
        needed.map_or(capacity, |needed| needed.min(capacity))
    }

    /// Assigns `part` in `whole` of the packets that the host holds while it is busy to this connection.
    pub(super) fn share_backlog(&mut self, (part, whole): (u64, u64)) {
        if let Some(window) = &mut self.window {
            window.share((part, whole));
        }
    }

    /// Returns the next control packet to send now.
    pub(super) fn poll(&mut self, now: Time, rtt: &RttEstimator) -> Option<Message> {
        if self.gaps.due() <= now {
            let naks = &mut self.naks;
            self.gaps.repeat(now, answer_time(rtt) + SYN, |gap| {
                let room = naks.len() < MAX_NAKS;
                naks.extend(room.then_some(gap));
                room
            });
        }
        if let Some(losses) = self.losses() {
            return Some(Message::Nak(losses));
        }
        let asked = self.measure.due() <= now;
        if self.clock <= now || asked {
            let ticked = std::mem::replace(&mut self.clock, Time::MAX);
            if self.has_gaps() {
                self.arrivals.set_due(true);
            }
            if std::mem::take(&mut self.data_since_tick) {
                // The grid of the clock is kept unless the host has missed a tick.
                self.clock = (ticked.min(now) + SYN).max(now);
            }
            if self.buffer.next() > self.acked {
                self.repeats = 0;
                self.ack_due = true;
            }
            if std::mem::take(&mut self.ack_due) || asked {
                return Some(Message::Ack(self.acknowledge(now, rtt)));
            }
        }
        if self.repeat_at <= now {
            self.repeats += 1;
            return Some(Message::Ack(self.acknowledge(now, rtt)));
        }
        if std::mem::take(&mut self.light) && self.buffer.next() > self.acked_lightly {
            self.acked_lightly = self.buffer.next();
            return Some(Message::LightAck(self.isn + self.acked_lightly));
        }
        self.report()
    }

    /// Returns an acknowledgement of the packets that are not fully acknowledged yet. It precedes the shutdown, after which the peer
    /// would count the rest as lost.
    pub(super) fn final_ack(&mut self, now: Time, rtt: &RttEstimator) -> Option<Message> {
        (self.buffer.next() > self.acked).then(|| Message::Ack(self.acknowledge(now, rtt)))
    }

    /// The next instant at which time alone makes it send.
    pub(super) fn next_timeout(&self) -> Time {
        if !self.naks.is_empty() || self.light || self.arrivals.is_due() {
            return Time::ZERO;
        }
        self.clock.min(self.gaps.due()).min(self.repeat_at).min(self.measure.due())
    }

    /// Whether an arrival shows that an earlier packet is missing.
    pub(super) fn has_gaps(&self) -> bool {
        self.gaps.first().is_some()
    }

    /// Ranges of losses that wait to be reported.
    #[cfg(test)]
    pub(super) fn waiting_naks(&self) -> usize {
        self.naks.len()
    }

    /// Frees memory of an idle connection.
    pub(super) fn release_memory(&mut self) {
        self.buffer.shrink();
        self.gaps.shrink();
        self.history.shrink();
        self.naks.shrink_to_fit();
        self.measure.forget();
    }

    fn run_clock(&mut self, now: Time) {
        if self.clock == Time::MAX {
            self.clock = now + SYN;
        }
    }

    fn advance(&mut self) -> bool {
        let next = self.gaps.first().unwrap_or(self.buffer.seen());
        self.buffer.advance(next)
    }

    fn queue_nak(&mut self, missing: Range<u64>) {
        // Losses that do not fit are reported with the next repetition.
        if self.naks.len() < MAX_NAKS {
            self.naks.push_back(missing);
        }
    }

    /// The losses of the next NAK.
    fn losses(&mut self) -> Option<Losses> {
        let mut losses: Option<Losses> = None;
        while let Some(Range { start, end }) = self.naks.front().cloned() {
            let Some(range) = LossRange::new(self.isn + start, self.isn + (end - 1)) else { break };
            match &mut losses {
                None => losses = Some(Losses::new(range)),
                Some(losses) => {
                    if !losses.push(range) {
                        break;
                    }
                }
            }
            self.naks.pop_front();
        }
        losses
    }

    /// The next report of packets that have arrived above a gap, if one is due.
    fn report(&mut self) -> Option<Message> {
        let Range { start, end } = self.arrivals.poll(self.buffer.next(), self.buffer.seen(), &self.gaps)?;
        let mut missing = Missing::empty();
        for gap in self.gaps.within(start..end) {
            let range = LossRange::new(self.isn + gap.start, self.isn + (gap.end - 1))?;
            if !missing.push(range) {
                break;
            }
        }
        Some(Message::Report(Report { from: self.isn + start, next: self.isn + end, missing }))
    }

    /// One past the last number that may be granted to the sender.
    fn window_end(&self) -> u64 {
        let under_way = self.window.map_or(u64::MAX, |window| self.buffer.next() + window.packets);
        (self.buffer.base() + self.room()).min(under_way)
    }

    fn acknowledge(&mut self, now: Time, rtt: &RttEstimator) -> FullAck {
        let next = self.buffer.next();
        self.acked = next;
        self.acked_lightly = next;
        self.acked_at = Some(now);
        self.since_full = 0;
        self.light = false;
        self.repeat_at =
            if self.repeats < MAX_REPEATS { now + answer_time(rtt) * (1 << self.repeats) } else { Time::MAX };
        if let Some(window) = &mut self.window {
            window.advance(now, next, self.buffer.base(), rtt);
        }
        self.granted = self.window_end();
        self.limit = self.limit.max(self.granted).max(next + MIN_WINDOW);
        let room = self.granted.saturating_sub(next);
        let report = self.measure.report(now);
        let window = report.window.map_or(room, |window| window.min(room)).max(MIN_WINDOW);
        let micros = |span: Span| u32::try_from(span.as_nanos() / 1000).unwrap_or(u32::MAX);
        let (rtt_us, rtt_var_us) =
            rtt.get().map_or(UNMEASURED, |rtt| (micros(rtt.smoothed).max(1), micros(rtt.variation)));
        FullAck {
            number: self.history.send(now),
            next: self.isn + next,
            rtt_us,
            rtt_var_us,
            // At most 2^20 packets and two.
            window: window as u32,
            rates: report.rates,
        }
    }
}

/// Short packets are acknowledged at once, but not more often than this: a tenth of the clock.
const SHORT_PAUSE: Span = Span::from_millis(1);
/// The bound of ranges that wait to be reported: sixteen NAKs.
const MAX_NAKS: usize = 64;
/// The smallest interval between repetitions of a full acknowledgement; it doubles each time.
const MAX_REPEATS: u32 = 6;
/// The bound of doubtful last packets of drop requests.
const MAX_DOUBTED: usize = 64;
