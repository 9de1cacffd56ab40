//! Packets assumed to have arrived while acknowledgements wait for a packet that was withheld.
//!
//! UDT acknowledges cumulatively. When the receiver reports the withheld packet missing, that packet is sent, and until it is
//! acknowledged, a round trip later, nothing else is. The packets behind it go on arriving as before. So those that were sent before the
//! report are assumed to have arrived one round trip after they were sent, unless the receiver reports a loss. The congestion
//! control and its window then see about the acknowledgements that there would be without a withheld packet.
//!
//! A peer gains nothing by it: to report the packet it must have received what followed it, and no more is assumed than it
//! could have acknowledged.

use cwnd::{Packets, Rate, Span, Time};

use super::timeouts::SYN;

/// The assumption that packets arrive within the round trip of the one whose absence was reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumption {
    withheld: u64,
    /// When the withheld packet was due; the next one was sent then.
    due_at: Time,
    /// From then until the report.
    round: Span,
    /// Packets below this number are assumed to have arrived.
    pub(super) upto: u64,
    /// Packets from this number on were sent after the report.
    pub(super) end: u64,
    /// When more packets are assumed to have arrived.
    next_at: Time,
}

impl Assumption {
    /// The receiver reports now that `withheld` is missing, which was due at `due_at`. The next new packet is `end`.
    pub(super) fn new(now: Time, withheld: u64, due_at: Time, end: u64) -> Self {
        Self { withheld, due_at, round: now.since(due_at), upto: withheld + 1, end, next_at: now }
    }

    /// An acknowledgement of all below `upto` is one of the packet that was withheld: nothing more has to be assumed.
    pub(super) fn ends_with(&self, upto: u64) -> bool {
        self.withheld < upto
    }

    /// When more packets are assumed to have arrived; never if all have.
    pub(super) fn due(&self) -> Time {
        if self.upto < self.end { self.next_at } else { Time::MAX }
    }

    /// A step is taken now: packets sent until the returned instant have arrived.
    pub(super) fn advance(&mut self, now: Time) -> Time {
        self.next_at = now + (self.round / STEPS).clamp(MIN_STEP, SYN);
        Time::from_nanos(now.as_nanos().saturating_sub(self.round.as_nanos()))
    }

    /// Packets below `upto` are assumed to have arrived, the last of them sent at `sent_at`: the rate at which they were sent, and at which
    /// the receiver would report that they arrive. None as long as too little time has passed to tell.
    pub(super) fn set_arrived(&mut self, upto: u64, sent_at: Time) -> Option<Rate> {
        self.upto = upto;
        let elapsed = sent_at.since(self.due_at);
        (elapsed >= self.round / STEPS && elapsed > Span::ZERO)
            .then(|| Packets((upto - self.withheld) as f64) / elapsed)
    }
}

/// The packets of a round trip are assumed to have arrived in at least this number of steps.
const STEPS: u64 = 16;
/// The steps are at least so far apart.
const MIN_STEP: Span = Span::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn packets_sent_before_the_report_arrive_a_round_trip_after_they_were_sent() {
        let mut assumption = Assumption::new(at(140), 10, at(40), 20);
        assert_eq!(assumption.due(), at(140));
        assert_eq!(assumption.advance(at(150)), at(50));
        assert_eq!(assumption.due(), at(150) + Span::from_micros(6_250));
        assert_eq!(assumption.set_arrived(15, at(42)), None, "2 ms say nothing");
        assert_eq!(assumption.set_arrived(15, at(50)), Some(Rate(500.0)));
        assert!(!assumption.ends_with(10) && assumption.ends_with(11));
        assert!(assumption.set_arrived(20, at(60)).is_some());
        assert_eq!(assumption.due(), Time::MAX, "what was sent later is not assumed to have arrived");
    }
}
