//! What a sender knows of its packets from selective acknowledgements (RFC 6675), without a record per packet.
//!
//! A packet is declared lost once three packets above it have arrived, so the lost ones are just those below one number,
//! [`lost_below`](Parts::lost_below), that have not arrived themselves; and since lost packets are sent again in order, those
//! sent again lie below a second number. Counting the packets between these numbers gives RFC 6675's `pipe`, and an
//! acknowledgement costs time in proportion to the newly acknowledged packets, not a scan of the window.

use cwnd::host::Ranges;

use super::{AckOutcome, DUPLICATE_THRESHOLD};
use crate::net::packet::Ack;

/// The packets between the cumulative acknowledgement and the next new packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scoreboard {
    acked: u64,
    next: u64,
    sacked: Ranges,
    parts: Parts,
}

/// The packets that have not arrived, in three parts: sent again (below `resend_from`), lost and waiting (below `lost_below`), in flight
/// for the first time (the rest). `acked <= resend_from <= lost_below <= next`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    resend_from: u64,
    lost_below: u64,
    resent: u64,
    waiting: u64,
    fresh: u64,
}

impl Parts {
    /// The packets `first..end`, of which none had arrived, have arrived.
    #[inline]
    fn remove(&mut self, first: u64, end: u64) {
        let within = |low: u64, high: u64| end.min(high).saturating_sub(first.max(low));
        self.resent -= within(0, self.resend_from);
        self.waiting -= within(self.resend_from, self.lost_below);
        self.fresh -= within(self.lost_below, u64::MAX);
    }
}

impl Scoreboard {
    /// All packets below have arrived.
    #[inline(always)]
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }

    /// The number of the next new packet.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Packets taken to be in the network (RFC 6675's pipe).
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> u64 {
        self.parts.fresh + self.parts.resent
    }

    /// Lost packets that wait to be sent again.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> u64 {
        self.parts.waiting
    }

    /// The first of these from `number` on.
    pub(crate) fn next_waiting(&self, number: u64) -> Option<u64> {
        let first = self.sacked.gap_from(number.max(self.parts.resend_from));
        (first < self.parts.lost_below).then_some(first)
    }

    /// Packets that have not arrived, lost or not.
    pub(crate) fn missing(&self) -> u64 {
        self.parts.fresh + self.parts.waiting + self.parts.resent
    }

    /// Packets in the network as ns-2's `Sack1` counts them: a lost packet until it is acknowledged, and its retransmission besides.
    pub(crate) fn sack1_pipe(&self) -> u64 {
        self.missing() + self.parts.resent
    }

    /// Sends the next `count` new packets. The first of them.
    #[inline(always)]
    pub(crate) fn send(&mut self, count: u64) -> u64 {
        let first = self.next;
        self.next += count;
        self.parts.fresh += count;
        first
    }

    /// Sends the first lost packet that waits again.
    pub(crate) fn resend(&mut self) -> Option<u64> {
        if self.parts.waiting == 0 {
            return None;
        }
        let number = self.sacked.gap_from(self.parts.resend_from);
        self.parts.resend_from = number + 1;
        self.parts.waiting -= 1;
        self.parts.resent += 1;
        Some(number)
    }

    /// Handles an acknowledgement, if neither it nor any before it reports a hole. How many packets it newly acknowledges; none if
    /// it is for [`on_ack`](Self::on_ack).
    #[inline(always)]
    pub(crate) fn on_ack_in_order(&mut self, ack: &Ack) -> Option<u64> {
        let plain =
            ack.sack[0].end == 0 && self.is_plain() && ack.cumulative > self.acked && ack.cumulative <= self.next;
        plain.then(|| self.advance_plainly(ack.cumulative))
    }

    /// Takes in an acknowledgement, and hands to `arrived` each part `first..end` that has arrived for the first time, in order.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack, mut arrived: impl FnMut(u64, u64)) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        let cumulative = ack.cumulative.min(self.next);
        if cumulative > self.acked {
            outcome.advanced = true;
            outcome.newly = self.advance(cumulative, &mut arrived);
        }
        if ack.sack[0].end > 0 {
            self.take_blocks(ack, &mut outcome, &mut arrived);
        }
        outcome
    }

    /// The retransmission timer expired: everything that has not arrived is lost. Returns how many that adds.
    pub(crate) fn lose_all(&mut self) -> u64 {
        let added = self.parts.fresh + self.parts.resent;
        self.parts.lost_below = self.next;
        self.parts.resend_from = self.acked;
        self.parts.waiting += added;
        self.parts.fresh = 0;
        self.parts.resent = 0;
        added
    }

    /// Everything outstanding is in flight for the first time, as far as is known.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.sacked.is_empty() && self.parts.lost_below <= self.acked
    }

    #[inline(always)]
    fn advance_plainly(&mut self, cumulative: u64) -> u64 {
        let newly = cumulative - self.acked;
        self.parts.fresh -= newly;
        (self.acked, self.parts.resend_from, self.parts.lost_below) = (cumulative, cumulative, cumulative);
        newly
    }

    fn advance(&mut self, cumulative: u64, arrived: &mut impl FnMut(u64, u64)) -> u64 {
        if self.is_plain() {
            arrived(self.acked, cumulative);
            return self.advance_plainly(cumulative);
        }
        let mut newly = 0;
        self.sacked.gaps_in(self.acked, cumulative, |first, end| {
            self.parts.remove(first, end);
            newly += end - first;
            arrived(first, end);
        });
        self.sacked.remove_below(cumulative);
        self.acked = cumulative;
        self.parts.resend_from = self.parts.resend_from.max(cumulative);
        self.parts.lost_below = self.parts.lost_below.max(cumulative);
        newly
    }

    fn take_blocks(&mut self, ack: &Ack, outcome: &mut AckOutcome, arrived: &mut impl FnMut(u64, u64)) {
        for block in ack.blocks() {
            let first = (ack.cumulative + u64::from(block.first)).max(self.acked);
            let end = (ack.cumulative + u64::from(block.end)).min(self.next);
            self.sacked.insert(first, end, |first, end| {
                self.parts.remove(first, end);
                outcome.newly += end - first;
                arrived(first, end);
            });
        }
        if let Some(below) = self.sacked.nth_largest(DUPLICATE_THRESHOLD)
            && below > self.parts.lost_below
        {
            // Mostly it has all arrived: the last range has grown.
            let gap = self.sacked.gap_from(self.parts.lost_below);
            if gap < below {
                outcome.lost = below - gap - self.sacked.count_in(gap, below);
                outcome.first_lost = gap;
                self.parts.fresh -= outcome.lost;
                self.parts.waiting += outcome.lost;
            }
            self.parts.lost_below = below;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::iter;

    use cwnd::Time;
    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::Block;

    fn ack(cumulative: u64, blocks: &[(u64, u64)]) -> Ack {
        let mut sack = [Block::default(); 3];
        for (slot, (first, end)) in sack.iter_mut().zip(blocks) {
            *slot = Block { first: (first - cumulative) as u32, end: (end - cumulative) as u32 };
        }
        Ack { sack, ..Ack::of(cumulative, Time::ZERO) }
    }

    fn sent(n: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        board.send(n);
        board
    }

    fn ignore(_first: u64, _end: u64) {}

    #[test]
    fn the_third_packet_above_a_hole_makes_it_lost() {
        let mut board = sent(10);
        assert_eq!(
            board.on_ack(&ack(2, &[]), ignore),
            AckOutcome { newly: 2, advanced: true, ..AckOutcome::default() }
        );
        assert_eq!(board.on_ack(&ack(2, &[(3, 4)]), ignore).lost, 0);
        assert_eq!(board.on_ack(&ack(2, &[(3, 5)]), ignore).lost, 0);
        assert_eq!(board.in_flight(), 6);
        let outcome = board.on_ack(&ack(2, &[(3, 6)]), ignore);
        assert_eq!((outcome.newly, outcome.lost, outcome.first_lost), (1, 1, 2));
        assert_eq!((board.in_flight(), board.parts.waiting), (4, 1));
        assert_eq!(board.resend(), Some(2));
        assert_eq!(board.resend(), None);
        assert_eq!(board.in_flight(), 5);
        assert_eq!(board.on_ack(&ack(6, &[]), ignore).newly, 1);
        assert_eq!((board.acked(), board.in_flight()), (6, 4));
    }

    #[test]
    fn a_time_out_sends_again_only_what_is_missing() {
        let mut board = sent(8);
        board.on_ack(&ack(0, &[(2, 3), (5, 6)]), ignore);
        assert_eq!(board.lose_all(), 6);
        assert_eq!(board.in_flight(), 0);
        let again: Vec<_> = std::iter::from_fn(|| board.resend()).collect();
        assert_eq!(again, [0, 1, 3, 4, 6, 7]);
    }

    proptest! {
        /// The counts equal those of a scan over a record per packet.
        #[test]
        fn counting_equals_scanning(steps in proptest::collection::vec((0_u8..10, any::<u16>()), 1..200)) {
            let mut board = Scoreboard::default();
            let mut arrived = BTreeSet::new();
            let mut lost = BTreeSet::new();
            let mut resent = BTreeSet::new();
            let mut in_network: Vec<u64> = Vec::new();
            for (step, pick) in steps {
                match step {
                    0..4 => in_network.push(board.send(1)),
                    4 => {
                        let expected = lost.difference(&resent).find(|n| !arrived.contains(*n)).copied();
                        let number = board.resend();
                        prop_assert_eq!(number, expected);
                        if let Some(number) = number {
                            resent.insert(number);
                            in_network.push(number);
                        }
                    }
                    5 if pick % 16 == 0 => {
                        board.lose_all();
                        resent.clear();
                        lost = (board.acked()..board.next()).filter(|n| !arrived.contains(n)).collect();
                    }
                    6 if !in_network.is_empty() => {
                        in_network.remove(usize::from(pick) % in_network.len());
                    }
                    _ if !in_network.is_empty() => {
                        let number = in_network.remove(usize::from(pick) % in_network.len().min(4));
                        let new = arrived.insert(number);
                        let cumulative = (0..).find(|n| !arrived.contains(n)).expect("finite");
                        let blocks: Vec<_> = if number > cumulative {
                            let first = (0..=number).rev().take_while(|n| arrived.contains(n)).last().expect("itself");
                            let end = (number..).find(|n| !arrived.contains(n)).expect("finite");
                            vec![(first, end)]
                        } else {
                            vec![]
                        };
                        let ack = ack(cumulative, &blocks);
                        let mut plain = board.clone();
                        let passed = plain.on_ack_in_order(&ack);
                        let mut reported = Vec::new();
                        let outcome = board.on_ack(&ack, |first, end| reported.extend(first..end));
                        prop_assert_eq!(reported, if new { vec![number] } else { vec![] });
                        prop_assert_eq!(outcome.newly, u64::from(new));
                        if let Some(newly) = passed {
                            prop_assert_eq!(outcome, AckOutcome { newly, advanced: true, ..AckOutcome::default() });
                            prop_assert_eq!(&plain, &board);
                        }
                        if let Some(third) = arrived.range(cumulative..).rev().nth(2) {
                            lost.extend((cumulative..*third).filter(|n| !arrived.contains(n)));
                        }
                    }
                    _ => {}
                }
                let missing: Vec<_> = (board.acked()..board.next()).filter(|n| !arrived.contains(n)).collect();
                let waiting: Vec<_> = missing.iter().copied().filter(|n| lost.contains(n) && !resent.contains(n)).collect();
                let found = iter::successors(board.next_waiting(0), |number| board.next_waiting(number + 1));
                prop_assert_eq!(found.collect::<Vec<_>>(), &waiting[..]);
                let waiting = waiting.len() as u64;
                prop_assert_eq!(board.parts.waiting, waiting);
                prop_assert_eq!(board.in_flight(), missing.len() as u64 - waiting);
            }
        }
    }
}
