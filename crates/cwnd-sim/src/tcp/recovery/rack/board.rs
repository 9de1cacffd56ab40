//! The sender's record of each outstanding packet (RFC 8985 section 5.2), and the count of each kind.

use std::collections::{BTreeSet, VecDeque};

use cwnd::Time;
use cwnd::host::Ranges;

use crate::net::packet::Ack;

/// An outstanding packet: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// When it left last (`Segment.xmit_ts`).
    pub(super) sent_at: Time,
    /// The number of its retransmissions (`Segment.retransmitted`).
    pub(super) resends: u32,
    /// It was found lost, and has not been sent again since (`Segment.lost`).
    pub(super) lost: bool,
    /// It has arrived, above a missing one (`Segment.sacked`).
    pub(super) arrived: bool,
}

/// The packets between the cumulative acknowledgement and the next new packet. Those that have not arrived are lost and wait, or are in
/// flight, for the first time (`fresh`) or again (`resent`).
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    acked: u64,
    next: u64,
    records: VecDeque<Record>,
    sacked: Ranges,
    /// The number of packets in `sacked` (`RACK.segs_sacked`).
    arrived: u64,
    lost: BTreeSet<u64>,
    fresh: u64,
    resent: u64,
    /// All below have arrived, were found lost or were sent again.
    fresh_from: u64,
    /// All below left before the newest packet that is known to have arrived, for the first time at least.
    overtaken: u64,
    /// Packets that were sent again, in the order of their departure and of their numbers. Some are out of date: they arrived, or left once more.
    departures: VecDeque<(Time, u64)>,
}

impl Board {
    /// All packets below have arrived.
    #[inline]
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// The number of the next new packet.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Packets taken to be in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.fresh + self.resent
    }

    /// Packets that have not arrived, lost or not.
    pub(super) fn missing(&self) -> u64 {
        self.in_flight() + self.lost.len() as u64
    }

    /// Packets that arrived above a missing one.
    #[inline]
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Whether lost packets wait to be sent again.
    #[inline]
    pub(super) fn waiting(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The first of these from `number` on.
    pub(super) fn next_waiting(&self, number: u64) -> Option<u64> {
        self.lost.range(number..).next().copied()
    }

    /// Everything outstanding is in flight for the first time, as far as is known.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.fresh == self.next - self.acked
    }

    /// Sends the next `count` new packets. The first of them.
    #[inline]
    pub(super) fn send(&mut self, now: Time, count: u64) -> u64 {
        let first = self.next;
        self.next += count;
        self.fresh += count;
        let record = Record { sent_at: now, resends: 0, lost: false, arrived: false };
        if count == 1 {
            self.records.push_back(record);
        } else {
            self.records.extend((0..count).map(|_| record));
        }
        first
    }

    /// Sends the first lost packet again.
    pub(super) fn resend(&mut self, now: Time) -> Option<u64> {
        let number = self.lost.pop_first()?;
        self.note_resend(now, number);
        Some(number)
    }

    /// Sends the last packet that has not arrived again, as a probe: it is not taken for lost. None if all have arrived.
    pub(super) fn resend_last(&mut self, now: Time) -> Option<u64> {
        let number = (self.acked..self.next).rev().find(|number| self.record(*number).is_some())?;
        if self.mark_lost(number) {
            self.lost.remove(&number);
        }
        self.note_resend(now, number);
        Some(number)
    }

    /// Notes that `number`, which is not counted as in flight, leaves again. Of one instant the lower numbers come first, as in
    /// `RACK_sent_after` (RFC 8985 section 6.2); nearly always it is the last.
    fn note_resend(&mut self, now: Time, number: u64) {
        let record = &mut self.records[(number - self.acked) as usize];
        *record = Record { sent_at: now, resends: record.resends + 1, lost: false, ..*record };
        self.resent += 1;
        let later = self.departures.iter().rev().take_while(|departure| **departure > (now, number)).count();
        self.departures.insert(self.departures.len() - later, (now, number));
    }

    /// Handles an acknowledgement that advances to `cumulative` while everything outstanding is in flight for the first time. The last
    /// packet that arrived.
    #[inline]
    pub(super) fn advance_plainly(&mut self, cumulative: u64) -> Record {
        let newly = cumulative - self.acked;
        let last = self.records[newly as usize - 1];
        if newly == 1 {
            self.records.pop_front();
        } else {
            self.records.drain(..newly as usize);
        }
        self.fresh -= newly;
        (self.acked, self.fresh_from) = (cumulative, cumulative);
        last
    }

    /// Takes in an acknowledgement, and hands to `delivered` each packet that has arrived for the first time, in order.
    pub(super) fn on_ack_with(&mut self, ack: &Ack, mut delivered: impl FnMut(u64, &Record)) {
        let cumulative = ack.cumulative.min(self.next);
        while self.acked < cumulative {
            let number = self.acked;
            if self.record(number).is_some() {
                delivered(number, &self.deliver(number));
            } else {
                self.arrived -= 1;
            }
            self.records.pop_front();
            self.acked += 1;
        }
        self.sacked.remove_below(self.acked);
        for block in ack.blocks() {
            let first = (ack.cumulative + u64::from(block.first)).max(self.acked);
            let end = (ack.cumulative + u64::from(block.end)).min(self.next);
            let mut sacked = std::mem::take(&mut self.sacked);
            sacked.insert(first, end, |first, end| {
                for number in first..end {
                    delivered(number, &self.deliver(number));
                }
                self.arrived += end - first;
            });
            self.sacked = sacked;
        }
        self.fresh_from = self.fresh_from.max(self.acked);
        if self.is_plain() {
            self.departures.clear();
        }
    }

    /// Counts `number` as no longer missing, and returns its former state.
    fn deliver(&mut self, number: u64) -> Record {
        let record = &mut self.records[(number - self.acked) as usize];
        record.arrived = true;
        let record = *record;
        if record.lost {
            self.lost.remove(&number);
        } else if record.resends > 0 {
            self.resent -= 1;
        } else {
            self.fresh -= 1;
        }
        record
    }

    /// Takes `number` for lost; whether it was not before.
    pub(super) fn mark_lost(&mut self, number: u64) -> bool {
        let record = &mut self.records[(number - self.acked) as usize];
        if std::mem::replace(&mut record.lost, true) {
            return false;
        }
        if record.resends > 0 {
            self.resent -= 1;
        } else {
            self.fresh -= 1;
        }
        self.lost.insert(number)
    }

    /// Takes back that packets are lost which were not sent again since: they are in flight for the first time.
    pub(super) fn unmark_lost(&mut self) {
        let Self { lost, records, fresh, acked, .. } = self;
        lost.retain(|number| {
            let record = &mut records[(*number - *acked) as usize];
            let first = record.resends == 0;
            if first {
                record.lost = false;
                *fresh += 1;
            }
            !first
        });
        self.fresh_from = self.acked;
    }

    /// The first packet that is in flight for the first time, and when it left.
    pub(super) fn first_fresh(&mut self) -> Option<(Time, u64)> {
        while let Some(record) = self.records.get((self.fresh_from - self.acked) as usize) {
            if !record.lost && record.resends == 0 && !record.arrived {
                return Some((record.sent_at, self.fresh_from));
            }
            self.fresh_from += 1;
        }
        None
    }

    /// When the last of the packets in flight left that others have overtaken: those before `newest`, in the order of their departure.
    /// None if there is none. `newest` never goes back.
    pub(super) fn last_overtaken(&mut self, newest: (Time, u64)) -> Option<Time> {
        let again = self.last_resent_before(newest);
        let first = self.first_fresh().filter(|packet| *packet < newest);
        let fresh = first.map(|(sent_at, number)| self.last_fresh_before(newest, number).unwrap_or(sent_at));
        again.max(fresh)
    }

    /// When the last packet left that is in flight for the first time, before `newest` and above `first`.
    fn last_fresh_before(&mut self, newest: (Time, u64), first: u64) -> Option<Time> {
        self.overtaken = self.overtaken.max(self.acked);
        while let Some(record) = self.records.get((self.overtaken - self.acked) as usize) {
            let fresh = record.resends == 0 && !record.lost;
            if fresh && (record.sent_at, self.overtaken) >= newest {
                break;
            }
            self.overtaken += 1;
        }
        let mut number = self.overtaken;
        while number > first + 1 {
            number -= 1;
            if let Some(range) = self.sacked.covering(number) {
                number = range.first;
                continue;
            }
            let record = self.records[(number - self.acked) as usize];
            if record.resends == 0 && !record.lost && (record.sent_at, number) < newest {
                return Some(record.sent_at);
            }
        }
        None
    }

    /// When the last packet left that is in flight again and was sent before `newest`.
    fn last_resent_before(&mut self, newest: (Time, u64)) -> Option<Time> {
        self.first_resent().filter(|first| *first < newest)?;
        let before = self.departures.partition_point(|departure| *departure < newest);
        let current = self.departures.range(..before).rev().find(|departure| self.is_current(**departure));
        current.map(|(sent_at, _)| *sent_at)
    }

    /// The packet in flight again that left first, and when.
    pub(super) fn first_resent(&mut self) -> Option<(Time, u64)> {
        if self.resent == 0 {
            // None of them is current, and most recoveries begin with none.
            self.departures.clear();
        }
        while let Some(departure) = self.departures.front().copied() {
            if self.is_current(departure) {
                return Some(departure);
            }
            self.departures.pop_front();
        }
        None
    }

    /// Whether `number`, which was sent again at `sent_at`, is in flight since.
    fn is_current(&self, (sent_at, number): (Time, u64)) -> bool {
        self.record(number).is_some_and(|record| !record.lost && record.sent_at == sent_at)
    }

    /// The record of `number`, if it has not arrived.
    pub(super) fn record(&self, number: u64) -> Option<&Record> {
        let index = number.checked_sub(self.acked)?;
        self.records.get(index as usize).filter(|record| !record.arrived)
    }
}
