//! The packets sent and not acknowledged, and the state of each, as far as acknowledgements and NAKs show.

use std::collections::VecDeque;
use std::ops::Range;

use cwnd::host::Ranges;
use cwnd::{Span, Time};

use super::packetizer::Cut;
use super::tag::Tag;
use crate::number::MessageNumber;
use crate::wire::Position;

/// All packets between the cumulative acknowledgement and the next new packet.
///
/// UDT acknowledges cumulatively only, but its NAKs imply more: a receiver that misses packets up to some number has the one after them,
/// and everything below that it does not miss. Packets that have arrived by this evidence are no longer in the network, although they
/// stay here until they are acknowledged.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    records: VecDeque<Record>,
    /// The number of the first record: all packets below are acknowledged.
    acked: u64,
    /// The receiver has reported all missing packets below this number.
    reported: u64,
    in_flight: u64,
    /// Lost packets, to be sent again.
    lost: Ranges,
    /// Messages that expire at some time.
    expiring: VecDeque<Expiring>,
    /// All packets below are acknowledged or given up.
    done: u64,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Its first byte, an offset in the written bytes.
    pub(super) start: u64,
    /// The instant at which it was last sent.
    pub(super) sent_at: Time,
    pub(super) tag: Tag,
    pub(super) len: u16,
    state: State,
    credit: Credit,
}

/// The evidence of a packet about the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credit {
    /// No evidence.
    Open,
    /// None: the receiver has reported it missing.
    Missed,
    /// The receiver has said that it arrived, or implied it.
    Given,
}

/// The state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the network; it was sent in its turn.
    InFlight,
    /// In the network; it was sent again.
    Resent,
    /// Withheld until the receiver reports it missing, or it is released.
    Withheld,
    /// Released, and to be sent: the receiver has not reported it missing.
    Released,
    /// In the network since it was released. Packets sent before it show the receiver a gap at its number, so a report of that gap says
    /// nothing about it.
    SentLate,
    /// Missing, and to be sent again.
    Lost,
    /// Arrived above a hole, as a report of missing packets implies.
    Arrived,
    /// Arrived above a hole, as the receiver has said.
    Named,
    /// Its message was given up.
    GivenUp,
}

#[derive(Clone, Copy, Debug)]
struct Expiring {
    number: MessageNumber,
    first: u64,
    end: u64,
    expires: Time,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acked {
    /// The instant at which the last of its packets was sent.
    pub(super) sent_at: Time,
    /// The number of them that the receiver had named before.
    pub(super) named: u64,
    /// The bytes of those that prove that the receiver receives.
    pub(super) credit: u64,
}

/// The parameters for reading a report of missing packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Packets sent less than this ago are not meant: the report is older than their retransmission.
    pub(super) age: Span,
    /// The number of packets that it may still ask about.
    pub(super) budget: u64,
    /// Only below this number do its implied arrivals count as proof: the receiver should report the packet of this number.
    pub(super) credible: u64,
}

/// The meaning of a report for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It was sent, and no report has named it before.
    FirstTime,
    /// It is lost.
    Lost,
}

/// The effect of a report of missing packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// The first packet found lost by it.
    pub(super) first: Option<u64>,
    /// Packets found lost by it.
    pub(super) lost: u64,
    /// One of the packets belongs to a message that was given up: the receiver does not know that yet.
    pub(super) given_up: Option<u64>,
    /// The instant at which the packet after a withheld one was sent, if that is missing. This is no loss.
    pub(super) withheld: Option<Time>,
    /// The bytes of packets below it that prove that the receiver receives.
    pub(super) credit: u64,
    /// The bytes of packets that counted as proof and are now reported missing.
    pub(super) revoked: u64,
}

/// A message given up, and the packets of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    pub(super) message: MessageNumber,
    pub(super) packets: Range<u64>,
}

impl Record {
    /// Its bytes, once, if it was never reported missing.
    fn credit(&mut self) -> u64 {
        if self.credit != Credit::Open {
            return 0;
        }
        self.credit = Credit::Given;
        u64::from(self.len)
    }
}

impl State {
    fn is_in_flight(self) -> bool {
        matches!(self, Self::InFlight | Self::Resent | Self::SentLate)
    }
}

impl Outstanding {
    /// The number below which all packets are acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// The number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.acked + self.records.len() as u64
    }

    /// Packets sent and not acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// Whether everything is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Packets in the network, by the evidence so far.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether packets wait to be sent again.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The oldest packet that may be sent again.
    pub(super) fn oldest(&self) -> Option<&Record> {
        self.records.get(usize::try_from(self.done - self.acked).ok()?)
    }

    /// Records a new packet as sent.
    pub(super) fn send(&mut self, now: Time, cut: &Cut) {
        self.add(now, cut, State::InFlight);
        self.in_flight += 1;
    }

    /// Gives a new packet its number without sending it.
    pub(super) fn withhold(&mut self, now: Time, cut: &Cut) {
        self.add(now, cut, State::Withheld);
    }

    fn add(&mut self, now: Time, cut: &Cut, state: State) {
        let number = self.next();
        if cut.expires < Time::MAX {
            match self.expiring.back_mut().filter(|last| last.number == cut.message && last.end == number) {
                Some(last) => last.end += 1,
                None => {
                    let Cut { message, expires, .. } = *cut;
                    self.expiring.push_back(Expiring { number: message, first: number, end: number + 1, expires });
                }
            }
        }
        self.records.push_back(Record {
            start: cut.bytes.start,
            sent_at: now,
            tag: Tag::new(cut.position, cut.in_order, cut.message),
            // Payloads are below 2^16 bytes.
            len: (cut.bytes.end - cut.bytes.start) as u16,
            state,
            credit: Credit::Open,
        });
    }

    /// Handles the arrival of packets `..upto`.
    pub(super) fn acknowledge(&mut self, upto: u64) -> Option<Acked> {
        let count = usize::try_from(upto.checked_sub(self.acked)?).ok()?;
        let sent_at = self.records.get(count.checked_sub(1)?)?.sent_at;
        let mut acked = Acked { sent_at, named: 0, credit: 0 };
        for mut record in self.records.drain(..count) {
            self.in_flight -= u64::from(record.state.is_in_flight());
            acked.named += u64::from(record.state == State::Named);
            acked.credit += record.credit();
        }
        self.acked = upto;
        self.reported = self.reported.max(upto);
        self.lost.remove_below(upto);
        while self.expiring.front().is_some_and(|front| front.end <= upto) {
            self.expiring.pop_front();
        }
        self.pass_given_up();
        Some(acked)
    }

    /// Handles a report that the receiver misses `missing` and has the packets above it. `tell` gets each packet that is found lost or
    /// that no report has named before.
    pub(super) fn miss(
        &mut self,
        now: Time,
        missing: Range<u64>,
        reading: &mut Reading,
        mut tell: impl FnMut(u64, Told),
    ) -> Missing {
        let range = missing.start.max(self.acked)..missing.end.min(self.next());
        // Everything below the first missing packet that nobody has missed before has arrived.
        let credit = self.credit(range.start.min(reading.credible));
        self.set_arrived(range.start);
        let mut found = Missing { credit, ..Missing::default() };
        for number in range.clone() {
            if reading.budget == 0 {
                break;
            }
            reading.budget -= 1;
            let record = &mut self.records[(number - self.acked) as usize];
            if record.credit != Credit::Missed && record.state != State::Withheld {
                tell(number, Told::FirstTime);
            }
            if record.credit == Credit::Given {
                found.revoked += u64::from(record.len);
            }
            record.credit = Credit::Missed;
            match record.state {
                State::GivenUp => found.given_up = Some(number),
                State::Withheld | State::Released => {
                    record.state = State::Lost;
                    self.lost.insert(number, number + 1, |_, _| {});
                    found.withheld = Some(record.sent_at);
                    reading.credible = u64::MAX;
                }
                // A further report is one of a loss.
                State::SentLate => record.state = State::InFlight,
                State::InFlight | State::Resent if now.since(record.sent_at) < reading.age => {}
                State::InFlight | State::Resent | State::Arrived => {
                    self.in_flight -= u64::from(record.state.is_in_flight());
                    record.state = State::Lost;
                    self.lost.insert(number, number + 1, |_, _| {});
                    tell(number, Told::Lost);
                    found.first = found.first.or(Some(number));
                    found.lost += 1;
                }
                State::Lost | State::Named => {}
            }
        }
        self.reported = self.reported.max(range.end);
        found
    }

    /// The bytes by which a report proves that the receiver has packets `..upto`.
    fn credit(&mut self, upto: u64) -> u64 {
        (self.reported..upto).map(|number| self.records[(number - self.acked) as usize].credit()).sum()
    }

    /// Marks packets `..upto` as arrived unless they are known to be missing, as if the receiver had reported the next one missing.
    pub(super) fn set_arrived(&mut self, upto: u64) {
        for number in self.reported..upto {
            let record = &mut self.records[(number - self.acked) as usize];
            if record.state.is_in_flight() {
                record.state = State::Arrived;
                self.in_flight -= 1;
            }
        }
        self.reported = self.reported.max(upto);
    }

    /// Handles the receiver's statement that it has packet `number`. Returns the instant at which the packet was sent, and the bytes that
    /// count as proof; none if the receiver has said so before or misses it.
    pub(super) fn name(&mut self, number: u64) -> Option<(Time, u64)> {
        let record = self.record_mut(number)?;
        let in_flight = record.state.is_in_flight();
        if !in_flight && record.state != State::Arrived {
            return None;
        }
        record.state = State::Named;
        let named = (record.sent_at, record.credit());
        self.in_flight -= u64::from(in_flight);
        Some(named)
    }

    /// The packet after the last of `from..end` that was sent by `then`, and the instant of that; none if none was.
    pub(super) fn sent_by(&self, from: u64, end: u64, then: Time) -> Option<(u64, Time)> {
        let numbers = (from.max(self.acked)..end.min(self.next()))
            .take_while(|number| self.records[(number - self.acked) as usize].sent_at <= then);
        numbers.last().map(|number| (number + 1, self.records[(number - self.acked) as usize].sent_at))
    }

    /// Marks packet `number` lost without a report of the receiver, and returns whether it was not lost before. A packet that seemed to
    /// have arrived may be missing too, since the NAK that reported it may be lost.
    pub(super) fn mark_lost(&mut self, number: u64) -> bool {
        let unnamed = |record: &&mut Record| !matches!(record.state, State::Lost | State::Named | State::GivenUp);
        let Some(record) = self.record_mut(number).filter(unnamed) else { return false };
        let before = std::mem::replace(&mut record.state, State::Lost);
        self.in_flight -= u64::from(before.is_in_flight());
        self.lost.insert(number, number + 1, |_, _| {});
        !matches!(before, State::Withheld | State::Released)
    }

    /// Permits packet `number`, which is withheld, to be sent without a report.
    pub(super) fn release(&mut self, number: u64) {
        if let Some(record) = self.record_mut(number).filter(|record| record.state == State::Withheld) {
            record.state = State::Released;
            self.lost.insert(number, number + 1, |_, _| {});
        }
    }

    /// Whether packet `number` is in flight and was last sent before `then`.
    pub(super) fn left_before(&self, number: u64, then: Time) -> bool {
        let record = number.checked_sub(self.acked).and_then(|index| self.records.get(usize::try_from(index).ok()?));
        record.is_some_and(|record| record.state.is_in_flight() && record.sent_at < then)
    }

    /// Whether packet `number` was sent again, last before `then`, and is in flight.
    pub(super) fn resent_before(&self, number: u64, then: Time) -> bool {
        let record = number.checked_sub(self.acked).and_then(|index| self.records.get(usize::try_from(index).ok()?));
        record.is_some_and(|record| record.state == State::Resent && record.sent_at < then)
    }

    /// Retransmits the first lost packet, or sends a released one. Returns its number and its record.
    pub(super) fn resend(&mut self, now: Time) -> Option<(u64, Record)> {
        let number = self.lost.pop_first()?;
        let record = self.record_mut(number)?;
        record.state = if record.state == State::Released { State::SentLate } else { State::Resent };
        record.sent_at = now;
        let record = *record;
        self.in_flight += 1;
        Some((number, record))
    }

    /// Gives up the message of the first lost packet if it has expired.
    pub(super) fn expire(&mut self, now: Time) -> Option<GivenUp> {
        let number = self.lost.front()?.first;
        let expiring = self.expiring_with(number).filter(|expiring| expiring.expires <= now)?;
        self.give_up(expiring.first..expiring.end);
        Some(GivenUp { message: expiring.number, packets: expiring.first..expiring.end })
    }

    /// Gives up a message that was partly sent. The `lacks` packets that are never sent get their numbers all the same, because libudt's
    /// receiver joins the received part to the next message unless numbers between them are missing.
    pub(super) fn abandon(&mut self, now: Time, message: MessageNumber, lacks: u64, cut_to: u64) -> GivenUp {
        let next = self.next();
        // The sent part of the message may have been acknowledged and removed.
        let first = match self.expiring.back_mut().filter(|last| last.number == message && last.end == next) {
            Some(expiring) => {
                expiring.end += lacks;
                expiring.first
            }
            None => {
                self.expiring.push_back(Expiring { number: message, first: next, end: next + lacks, expires: now });
                next
            }
        };
        let tag = Tag::new(Position::Middle, false, message);
        let never = Record { start: cut_to, sent_at: now, tag, len: 0, state: State::GivenUp, credit: Credit::Missed };
        self.records.extend((0..lacks).map(|_| never));
        self.give_up(first..next);
        GivenUp { message, packets: first..next + lacks }
    }

    /// The message that was given up and has packet `number`.
    pub(super) fn given_up(&self, number: u64) -> Option<GivenUp> {
        let expiring = self.expiring_with(number)?;
        Some(GivenUp { message: expiring.number, packets: expiring.first..expiring.end })
    }

    /// The message given up that keeps packet `number` from being acknowledged.
    pub(super) fn waits_for_drop(&self, number: u64) -> Option<GivenUp> {
        let record = self.records.get(usize::try_from(number.checked_sub(self.acked)?).ok()?)?;
        if record.state == State::GivenUp { self.given_up(number) } else { None }
    }

    /// The capacity for records.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.records.shrink_to_fit();
        self.lost.shrink();
        self.expiring.shrink_to_fit();
    }

    fn give_up(&mut self, packets: Range<u64>) {
        let mut lost = Ranges::default();
        for number in packets.clone() {
            let Some(record) = self.record_mut(number) else { continue };
            let in_flight = std::mem::replace(&mut record.state, State::GivenUp).is_in_flight();
            self.in_flight -= u64::from(in_flight);
        }
        while let Some(number) = self.lost.pop_first() {
            if !packets.contains(&number) {
                lost.insert(number, number + 1, |_, _| {});
            }
        }
        self.lost = lost;
        self.pass_given_up();
    }

    fn pass_given_up(&mut self) {
        self.done = self.done.max(self.acked);
        while self.oldest().is_some_and(|record| record.state == State::GivenUp) {
            self.done += 1;
        }
    }

    fn expiring_with(&self, number: u64) -> Option<Expiring> {
        let at = self.expiring.partition_point(|expiring| expiring.end <= number);
        self.expiring.get(at).copied().filter(|expiring| expiring.first <= number)
    }

    fn record_mut(&mut self, number: u64) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(number.checked_sub(self.acked)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn sent(count: u64) -> Outstanding {
        let mut outstanding = Outstanding::default();
        for number in 0..count {
            outstanding.send(at(number), &cut(number, Time::MAX));
        }
        outstanding
    }

    fn cut(number: u64, expires: Time) -> Cut {
        let bytes = number * 100..number * 100 + 100;
        Cut { bytes, message: MessageNumber::FIRST, position: Position::Only, in_order: true, expires }
    }

    fn reading(millis: u64, budget: u64) -> Reading {
        Reading { age: Span::from_millis(millis), budget, credible: u64::MAX }
    }

    fn miss(outstanding: &mut Outstanding, missing: Range<u64>) -> Missing {
        outstanding.miss(at(100), missing, &mut reading(20, 1000), |_, _| {})
    }

    #[test]
    fn a_record_is_small() {
        assert!(size_of::<Record>() <= 24, "{} bytes", size_of::<Record>());
    }

    #[test]
    fn records_of_a_whole_window_cost_48_bytes_each_at_most() {
        let outstanding = sent(25_600);
        assert!(outstanding.capacity() * size_of::<Record>() <= 25_600 * 48, "{} records", outstanding.capacity());
    }

    #[test]
    fn what_arrived_above_a_hole_is_not_in_the_network() {
        let mut outstanding = sent(10);
        let found = miss(&mut outstanding, 2..4);
        assert_eq!((found.first, found.lost), (Some(2), 2));
        // 0 and 1 have arrived; 2 and 3 are lost; 4 to 9 may be on their way.
        assert_eq!(outstanding.in_flight(), 6);
        assert_eq!(miss(&mut outstanding, 2..4).lost, 0, "they wait already");
        assert_eq!(
            miss(&mut outstanding, 7..8),
            Missing { first: Some(7), lost: 1, credit: 300, ..Missing::default() }
        );
        assert_eq!(outstanding.in_flight(), 2);

        assert_eq!(outstanding.resend(at(100)).map(|(number, _)| number), Some(2));
        assert_eq!(outstanding.in_flight(), 3);
        assert_eq!(miss(&mut outstanding, 2..4).lost, 0, "sent again just now");
        assert_eq!(outstanding.acknowledge(7).map(|acked| acked.sent_at), Some(at(6)));
        assert_eq!((outstanding.in_flight(), outstanding.len()), (2, 3));
        assert_eq!(outstanding.resend(at(110)).map(|(number, _)| number), Some(7), "3 has arrived");
        assert_eq!(outstanding.acknowledge(10).map(|acked| acked.sent_at), Some(at(9)));
        assert_eq!((outstanding.in_flight(), outstanding.next()), (0, 10));
    }

    #[test]
    fn the_report_of_a_packet_that_was_released_finds_no_loss() {
        let mut outstanding = sent(2);
        outstanding.withhold(at(2), &cut(2, Time::MAX));
        outstanding.send(at(3), &cut(3, Time::MAX));
        outstanding.release(2);
        assert!(outstanding.has_lost() && outstanding.in_flight() == 3);
        assert_eq!(outstanding.resend(at(40)).map(|(number, _)| number), Some(2));
        assert_eq!(miss(&mut outstanding, 2..3), Missing { credit: 200, ..Missing::default() });
        // 0 and 1 have arrived.
        assert_eq!(outstanding.in_flight(), 2);
        assert_eq!(miss(&mut outstanding, 2..3), Missing { first: Some(2), lost: 1, ..Missing::default() });
        assert_eq!(outstanding.in_flight(), 1);
        assert_eq!(outstanding.resend(at(120)).map(|(number, _)| number), Some(2));
        outstanding.acknowledge(4);
        assert_eq!((outstanding.in_flight(), outstanding.has_lost()), (0, false));
    }

    #[test]
    fn an_acknowledgement_of_nothing_new_does_nothing() {
        let mut outstanding = sent(3);
        assert_eq!(outstanding.acknowledge(0), None);
        assert_eq!(outstanding.acknowledge(4), None);
        assert_eq!(outstanding.len(), 3);
    }

    #[test]
    fn reports_cost_no_more_than_their_budget() {
        let mut outstanding = sent(100);
        let mut reading = reading(0, 10);
        let mut lost = Vec::new();
        let mut tell = |number, told| {
            if told == Told::Lost {
                lost.push(number);
            }
        };
        assert_eq!(outstanding.miss(at(200), 0..100, &mut reading, &mut tell).lost, 10);
        assert_eq!(outstanding.miss(at(200), 0..100, &mut reading, &mut tell).lost, 0);
        assert_eq!(lost, (0..10).collect::<Vec<u64>>());
    }

    #[test]
    fn a_message_is_given_up_with_all_its_packets() {
        let mut outstanding = Outstanding::default();
        for number in 0..3 {
            outstanding.send(at(0), &cut(number, at(50)));
        }
        miss(&mut outstanding, 1..2);
        assert_eq!(outstanding.expire(at(49)), None);
        let given_up = GivenUp { message: MessageNumber::FIRST, packets: 0..3 };
        assert_eq!(outstanding.expire(at(50)), Some(given_up.clone()));
        assert!(!outstanding.has_lost() && outstanding.in_flight() == 0);
        assert_eq!(miss(&mut outstanding, 1..2).given_up, Some(1));
        assert_eq!(outstanding.given_up(1), Some(given_up));
        assert_eq!(outstanding.acknowledge(3).map(|acked| acked.sent_at), Some(at(0)));
        assert_eq!(outstanding.given_up(3), None);
    }

    #[test]
    fn the_rest_of_an_abandoned_message_has_numbers() {
        let mut outstanding = Outstanding::default();
        outstanding.send(at(0), &cut(0, Time::MAX));
        let message = MessageNumber::FIRST.next();
        outstanding.send(at(0), &Cut { message, ..cut(1, at(50)) });
        let given_up = outstanding.abandon(at(50), message, 2, 400);
        assert_eq!(given_up, GivenUp { message, packets: 1..4 });
        assert_eq!((outstanding.next(), outstanding.in_flight()), (4, 1));
    }
}
