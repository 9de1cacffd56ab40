//! How long a receiver waits for packets that may only be late before it reports them missing.
//!
//! libudt's receiver reports a gap when it sees one, and its sender takes each report for congestion, so that a path that reorders looks like
//! one that loses. Here the first report of a gap waits once packets have been seen to come late, as loss detection by time does
//! (RFC 8985 section 6.2 step 4): as long as the latest of them took and a quarter more, a round trip at most, until sixteen gaps in a row were losses.

use cwnd::estimate::RttEstimator;
use cwnd::{Span, Time};

use super::gaps::Seen;

/// The time that a packet may be late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tolerance {
    longest: Span,
    /// Late packets, up to [`ENOUGH`].
    late: u32,
    /// Losses that end it.
    left: u32,
}

impl Tolerance {
    /// How long a new gap waits for its first report.
    pub(super) fn wait(self) -> Span {
        if self.late < ENOUGH { Span::ZERO } else { self.longest }
    }

    /// A packet of a gap has arrived. It was late if that is sooner than a packet sent again could be here.
    pub(super) fn on_filled(&mut self, now: Time, gap: Seen, rtt: &RttEstimator) {
        let Some(rtt) = rtt.get() else { return };
        let repeated = gap.reports > 1 || (gap.reports == 1 && now.since(gap.reported_at) >= rtt.min.mul_f64(SOONEST));
        if repeated {
            self.on_lost();
        } else {
            self.on_late(now.since(gap.opened_at), rtt.smoothed);
        }
    }

    /// A packet came `late` after the first that was sent behind it, over a round trip of `rtt`.
    fn on_late(&mut self, late: Span, rtt: Span) {
        self.longest = self.longest.max(late + late / 4).min(rtt);
        self.late = (self.late + 1).min(ENOUGH);
        self.left = LOSSES;
    }

    /// A packet was sent again, and has arrived.
    fn on_lost(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            *self = Self::default();
        }
    }
}

/// Late packets that make a path one that reorders. A sender of ours lets a single packet be late now and then, to prove acknowledgements.
const ENOUGH: u32 = 3;
/// A part of the least round trip: a retransmitted packet does not arrive sooner. The estimate is smoothed, and may be a little above the
/// truth.
const SOONEST: f64 = 0.75;
/// Losses in a row after which nothing is expected to be late any more, as in RFC 8985.
const LOSSES: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_gives_the_next_ones_time_until_sixteen_are_lost() {
        let mut tolerance = Tolerance::default();
        assert_eq!(tolerance.wait(), Span::ZERO);
        let rtt = Span::from_millis(20);
        tolerance.on_late(Span::from_millis(4), rtt);
        tolerance.on_late(Span::from_millis(1), rtt);
        assert_eq!(tolerance.wait(), Span::ZERO, "two may be by chance");
        tolerance.on_late(Span::from_millis(1), rtt);
        assert_eq!(tolerance.wait(), Span::from_millis(5));
        (0..15).for_each(|_| tolerance.on_lost());
        assert_eq!(tolerance.wait(), Span::from_millis(5));
        tolerance.on_lost();
        assert_eq!(tolerance.wait(), Span::ZERO);
        (0..3).for_each(|_| tolerance.on_late(Span::from_millis(30), rtt));
        assert_eq!(tolerance.wait(), rtt, "no longer than a round trip");
    }
}
