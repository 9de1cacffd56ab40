//! Spaces departures, and makes up for packets that a late host did not send in time.
//!
//! A process that shares a processor sometimes runs some milliseconds late. If the time were lost, the flow would be slower than its
//! algorithm asked. An algorithm that measures the delivery rate would attribute the lower rate to the path and then ask for less. If all
//! overdue packets left at once, a short queue would overflow. Overdue packets therefore leave at twice the pace, in bursts of a small
//! part of the round trip.

use cwnd::{Probe, Span, Time};

use crate::number::Seq;

/// Decides when the next packet may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// The instant at which the next packet is due.
    due: Time,
    /// The instant at which it is due at twice the pace.
    hurried: Time,
    /// The lead over that instant with which it may be sent; at most the time of `most` packets.
    burst: Span,
    most: u64,
    ahead: Span,
    /// The longest delay of the host that is made up for.
    owed: Span,
    catch_up: bool,
    /// The first packet of a probe pair was just sent; its successor must follow at once.
    pair: bool,
}

impl Pacer {
    /// A pacer that sends the first packet at once. Bursts last at most `burst`, and have an eighth of the `room` packets of the
    /// receiver. With `catch_up` it makes up for delays of the host.
    pub(super) fn new(now: Time, burst: Span, catch_up: bool, room: u64) -> Self {
        Self {
            due: now,
            hurried: now,
            burst,
            most: room / BURST_SHARE,
            ahead: burst,
            owed: burst,
            catch_up,
            pair: false,
        }
    }

    /// Sets the minimum round trip.
    pub(super) fn set_min_rtt(&mut self, min_rtt: Span) {
        if self.catch_up {
            self.owed = (min_rtt / OWED_SHARE).clamp(LEAST_OWED, MOST_OWED).max(self.burst);
        }
    }

    /// The instant from which the next packet may be sent.
    pub(super) fn release(&self) -> Time {
        before(self.due.max(self.hurried), self.ahead)
    }

    /// Whether the second packet of a pair must follow, before everything else.
    pub(super) const fn in_pair(&self) -> bool {
        self.pair
    }

    /// Records that another limit than time keeps the next packet from being sent, so that the host is not late with it.
    pub(super) fn rest(&mut self, now: Time) {
        self.due = self.due.max(before(now, self.ahead));
    }

    /// Drops a pair whose second packet cannot follow: the first is an ordinary one.
    pub(super) fn break_pair(&mut self, spacing: Option<Span>) {
        if std::mem::take(&mut self.pair) {
            self.due += spacing.unwrap_or_default();
        }
    }

    /// Records that a packet is sent, and returns whether it is the second of a pair. `seq` is none for a retransmission.
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
            let most = spacing * self.most;
            self.ahead = self.burst.min(most);
            // After a stop nothing is in flight, and the overdue packets would overflow a short queue.
            let owed = if self.due < before(now, MOST_OWED) { self.burst } else { self.owed };
            self.due = self.due.max(before(now, owed.min(most))) + spacing * turns;
            let at_once = (owed / AT_ONCE_SHARE).max(self.burst).min(most);
            self.hurried = self.hurried.max(before(now, at_once)) + spacing * turns / 2;
        }
        second
    }
}

/// The instant `span` before `time`.
fn before(time: Time, span: Span) -> Time {
    Time::from_nanos(time.as_nanos().saturating_sub(span.as_nanos()))
}

/// Bursts take only a part of the receiver's buffer, since the network may compress them further.
const BURST_SHARE: u64 = 8;
/// Half a minimum round trip is made up for: longer delays are rare, and the window bounds the packets in flight.
const OWED_SHARE: u64 = 2;
/// The part of the overdue packets that leaves at once, as a time: bursts carry the packets of twice this, an eighth of the least round
/// trip. A queue of a quarter of the bandwidth-delay product has room for that besides its standing queue.
const AT_ONCE_SHARE: u64 = 8;
/// Over short paths the delays of the host are longer than the round trip, and their queues hold milliseconds too.
const LEAST_OWED: Span = Span::from_millis(5);
/// After a longer delay the process was stopped rather than late, and nothing is made up for.
const MOST_OWED: Span = Span::from_millis(100);

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
        let mut pacer = Pacer::new(at(0), Span::ZERO, false, ROOM);
        assert!(!send(&mut pacer, at(0), 15));
        assert_eq!(pacer.release(), at(2));
        assert!(!send(&mut pacer, at(2), 16));
        assert!(pacer.in_pair() && pacer.release() == at(2));
        assert!(send(&mut pacer, at(2), 17));
        assert_eq!((pacer.in_pair(), pacer.release()), (false, at(6)));
    }

    #[test]
    fn a_broken_pair_costs_one_turn() {
        let mut pacer = Pacer::new(at(0), Span::ZERO, false, ROOM);
        assert!(!send(&mut pacer, at(0), 16));
        pacer.break_pair(SPACING);
        assert_eq!((pacer.in_pair(), pacer.release()), (false, at(2)));
    }

    #[test]
    fn a_late_host_makes_up_no_more_than_a_burst() {
        let mut pacer = Pacer::new(at(0), Span::from_millis(4), false, ROOM);
        let departures = |pacer: &mut Pacer, now| {
            std::iter::from_fn(|| (pacer.release() <= now).then(|| send(pacer, now, 1))).count()
        };
        // Due at 0, 2 and 4 ms.
        assert_eq!(departures(&mut pacer, at(0)), 3);
        // Those due at 6 ms up to 24 ms, but for the ones due before 16 ms.
        assert_eq!(departures(&mut pacer, at(20)), 5);
        // An eighth of 8 packets is one: that due at 18 ms for the delay, that due now, that due at 22 ms.
        let mut small = Pacer::new(at(0), Span::from_millis(4), false, 8);
        assert!(!send(&mut small, at(0), 1));
        assert_eq!(departures(&mut small, at(20)), 3);
        let mut strict = Pacer::new(at(0), Span::ZERO, false, ROOM);
        assert_eq!(departures(&mut strict, at(20)), 1);
    }

    #[test]
    fn what_is_owed_leaves_at_twice_the_pace() {
        let spacing = Span::from_micros(100);
        let mut pacer = Pacer::new(at(0), Span::from_millis(1), true, ROOM);
        pacer.set_min_rtt(Span::from_millis(64));
        let mut departures = |from: u64, to: u64| {
            (from..to)
                .map(|micros| Time::ZERO + Span::from_micros(micros))
                .filter(|now| {
                    let goes = pacer.release() <= *now;
                    if goes {
                        pacer.sent(*now, Some(spacing), Probe::None, Seq::new(1));
                    }
                    goes
                })
                .count()
        };
        let steady = departures(0, 10_000);
        assert!((109..=111).contains(&steady), "a millisecond ahead: {steady}");
        // Ten milliseconds late: the burst, then one each 50 us, until the schedule is reached.
        let burst = departures(20_000, 20_100);
        assert!((60..=101).contains(&burst), "{burst}");
        let behind = departures(20_100, 30_000);
        assert_eq!(steady + burst + behind, 310, "nothing is lost");
    }

    #[test]
    fn nothing_is_owed_after_a_stop() {
        let mut pacer = Pacer::new(at(0), Span::from_millis(4), true, ROOM);
        pacer.set_min_rtt(Span::from_millis(100));
        assert!(!send(&mut pacer, at(0), 1));
        let goes = (0..100).filter(|_| pacer.release() <= at(500) && !send(&mut pacer, at(500), 1)).count();
        assert_eq!(goes, 5, "what is due from 496 to 504 ms");
    }

    #[test]
    fn nothing_is_owed_for_time_without_anything_to_send() {
        let mut pacer = Pacer::new(at(0), Span::from_millis(4), true, ROOM);
        pacer.set_min_rtt(Span::from_millis(100));
        assert!(!send(&mut pacer, at(0), 1));
        pacer.rest(at(30));
        let goes = (0..20).filter(|_| pacer.release() <= at(30) && !send(&mut pacer, at(30), 1)).count();
        assert_eq!(goes, 5, "what is due from 26 to 34 ms");
    }
}
