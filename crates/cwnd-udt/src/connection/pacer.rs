//! Spaces departures.

use cwnd::{Probe, Span, Time};

use crate::number::Seq;

/// Decides when the next packet may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// When the next packet is due.
    due: Time,
    /// How far ahead of that it may be sent, and how much of a delay of the host is made up for; at most the time of `most` packets.
    burst: Span,
    most: u64,
    ahead: Span,
    /// The first packet of a probe pair was just sent; its successor must follow at once.
    pair: bool,
}

impl Pacer {
    /// A pacer that lets the first packet go. Bursts last `burst` at most, and have an eighth of the `room` packets of the receiver.
    pub(super) fn new(now: Time, burst: Span, room: u64) -> Self {
        Self { due: now, burst, most: room / BURST_SHARE, ahead: burst, pair: false }
    }

    /// From when on the next packet may be sent.
    pub(super) const fn release(&self) -> Time {
        Time::from_nanos(self.due.as_nanos().saturating_sub(self.ahead.as_nanos()))
    }

    /// Whether the successor of a pair's first packet is awaited, ahead of everything else.
    pub(super) const fn in_pair(&self) -> bool {
        self.pair
    }

    /// The successor cannot follow: the first packet is an ordinary one.
    pub(super) fn break_pair(&mut self, spacing: Option<Span>) {
        if std::mem::take(&mut self.pair) {
            self.due += spacing.unwrap_or_default();
        }
    }

    /// A packet is sent; whether it is the second of a pair. `seq` is none for a retransmission.
    pub(super) fn sent(&mut self, now: Time, spacing: Option<Span>, probe: Probe, seq: Option<Seq>) -> bool {
        let second = std::mem::take(&mut self.pair) && seq.is_some();
        // Receivers, libudt's among them, know a pair by the numbers of its packets on the wire.
        self.pair = match (probe, seq) {
            (Probe::PairEvery(n), Some(seq)) => !second && spacing.is_some() && seq.get().is_multiple_of(n.max(2)),
            _ => false,
        };
        if let Some(spacing) = spacing {
            // The second packet of a pair pays for both.
            let turns = if self.pair { 0 } else { 1 + u64::from(second) };
            self.ahead = self.burst.min(spacing * self.most);
            let earliest = Time::from_nanos(now.as_nanos().saturating_sub(self.ahead.as_nanos()));
            self.due = self.due.max(earliest) + spacing * turns;
        }
        second
    }
}

/// A burst takes a part of the receiver's buffer only, since the network may compress it further.
const BURST_SHARE: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    const SPACING: Option<Span> = Some(Span::from_millis(2));
    const ROOM: u64 = 1000;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn send(pacer: &mut Pacer, now: Time, seq: u32) -> bool {
        pacer.sent(now, SPACING, Probe::PairEvery(16), Seq::new(seq))
    }

    #[test]
    fn the_second_of_a_pair_pays_for_both() {
        let mut pacer = Pacer::new(at(0), Span::ZERO, ROOM);
        assert!(!send(&mut pacer, at(0), 15));
        assert_eq!(pacer.release(), at(2));
        assert!(!send(&mut pacer, at(2), 16));
        assert!(pacer.in_pair() && pacer.release() == at(2));
        assert!(send(&mut pacer, at(2), 17));
        assert_eq!((pacer.in_pair(), pacer.release()), (false, at(6)));
    }

    #[test]
    fn a_broken_pair_costs_one_turn() {
        let mut pacer = Pacer::new(at(0), Span::ZERO, ROOM);
        assert!(!send(&mut pacer, at(0), 16));
        pacer.break_pair(SPACING);
        assert_eq!((pacer.in_pair(), pacer.release()), (false, at(2)));
    }

    #[test]
    fn a_late_host_makes_up_no_more_than_a_burst() {
        let mut pacer = Pacer::new(at(0), Span::from_millis(4), ROOM);
        let departures = |pacer: &mut Pacer, now| {
            std::iter::from_fn(|| (pacer.release() <= now).then(|| send(pacer, now, 1))).count()
        };
        // Due at 0, 2 and 4 ms.
        assert_eq!(departures(&mut pacer, at(0)), 3);
        // Those due at 6 ms up to 24 ms, but for the ones due before 16 ms.
        assert_eq!(departures(&mut pacer, at(20)), 5);
        // An eighth of 8 packets is one: that due at 18 ms for the delay, that due now, that due at 22 ms.
        let mut small = Pacer::new(at(0), Span::from_millis(4), 8);
        assert!(!send(&mut small, at(0), 1));
        assert_eq!(departures(&mut small, at(20)), 3);
        let mut strict = Pacer::new(at(0), Span::ZERO, ROOM);
        assert_eq!(departures(&mut strict, at(20)), 1);
    }
}
