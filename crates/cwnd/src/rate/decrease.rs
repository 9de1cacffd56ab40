//! Which negative feedback cuts the rate.

use super::random::SplitMix;

/// Which negative feedback cuts the rate. An epoch starts with a cut and ends with the loss of a packet
/// sent after that cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decrease {
    /// All of it.
    PerNak,
    /// The first of each control interval: section II of daimd assumes that there is at most one.
    PerInterval,
    /// The first of each epoch.
    PerEpoch,
    /// The first of each epoch, then every n-th of the next four, n drawn with each first from 1 to the running mean of NAKs per
    /// epoch (libudt 4.11).
    Udt4,
}

/// What one negative feedback comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No cut.
    Pass,
    /// A cut, the first of its epoch.
    First,
    /// A further cut.
    Further,
}

/// Applies a [`Decrease`].
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    rule: Decrease,
    /// The next new packet at the last cut.
    epoch_from: Option<u64>,
    /// Running mean of NAKs per epoch, rounded up at each step as libudt does.
    mean: f64,
    /// NAKs of this epoch that counted.
    naks: u64,
    /// Every `stride`-th of them cuts.
    stride: u64,
    /// NAKs of this epoch, whether they counted or not.
    seen: u64,
    random: SplitMix,
}

impl Cuts {
    pub(super) fn new(rule: Decrease, seed: u64) -> Self {
        Self { rule, epoch_from: None, mean: 0.0, naks: 0, stride: 1, seen: 0, random: SplitMix::new(seed) }
    }

    /// Judges congestion that first hit packet `first` while `next` was the next new packet; `first_of_interval` is what
    /// [`Intervals::negative`](super::Intervals::negative) returned.
    pub(super) fn judge(&mut self, first: u64, next: u64, first_of_interval: bool) -> Verdict {
        let new_epoch = self.epoch_from.is_none_or(|from| first >= from);
        let further = match self.rule {
            Decrease::PerNak => true,
            Decrease::PerInterval if !first_of_interval => return Verdict::Pass,
            Decrease::PerInterval => true,
            Decrease::PerEpoch => false,
            Decrease::Udt4 if new_epoch => {
                self.draw();
                true
            }
            Decrease::Udt4 => self.turn(),
        };
        if !new_epoch && !further {
            return Verdict::Pass;
        }
        self.epoch_from = Some(next);
        if new_epoch { Verdict::First } else { Verdict::Further }
    }

    /// The draw at the start of an epoch.
    fn draw(&mut self) {
        let mean = libm::ceil(0.875 * self.mean + 0.125 * self.naks as f64);
        let share = self.random.unit();
        self.mean = mean;
        self.stride = libm::ceil(share * self.mean).max(1.0) as u64;
        self.naks = 1;
        self.seen = 1;
    }

    /// Whether a further NAK of the epoch cuts.
    fn turn(&mut self) -> bool {
        let counts = self.seen < UDT4_NAKS;
        self.seen = self.seen.saturating_add(1);
        if counts {
            self.naks += 1;
        }
        counts && self.naks.is_multiple_of(self.stride)
    }
}

/// libudt looks at this many NAKs of an epoch, so that the rate keeps at least (8/9)^5 = 0.55 of its value.
const UDT4_NAKS: u64 = 5;

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Judges `naks` on packets 10, 11, … of one window, sent before the cut on the first of them.
    fn burst(cuts: &mut Cuts, from: u64, naks: u64) -> Vec<Verdict> {
        (0..naks).map(|n| cuts.judge(from + n, from + 100, n == 0)).collect()
    }

    #[test]
    fn what_one_burst_costs() {
        use Verdict::{First, Further, Pass};
        let judged = |rule| burst(&mut Cuts::new(rule, 1), 10, 4);
        assert_eq!(judged(Decrease::PerNak), [First, Further, Further, Further]);
        assert_eq!(judged(Decrease::PerInterval), [First, Pass, Pass, Pass]);
        assert_eq!(judged(Decrease::PerEpoch), [First, Pass, Pass, Pass]);
        // The mean is 0 before any epoch, so the first stride is max(1, 0).
        assert_eq!(judged(Decrease::Udt4), [First, Further, Further, Further]);
    }

    #[test]
    fn an_epoch_ends_with_the_loss_of_a_packet_sent_after_the_cut() {
        let mut cuts = Cuts::new(Decrease::PerEpoch, 1);
        assert_eq!(cuts.judge(10, 20, true), Verdict::First);
        assert_eq!(cuts.judge(19, 30, true), Verdict::Pass);
        assert_eq!(cuts.judge(20, 40, true), Verdict::First);
    }

    #[test]
    fn libudt_cuts_at_most_five_times_in_an_epoch() {
        let mut cuts = Cuts::new(Decrease::Udt4, 1);
        let judged = burst(&mut cuts, 10, 50);
        assert_eq!(judged.iter().filter(|verdict| **verdict != Verdict::Pass).count(), 5);
        // 5 NAKs counted: ceil(0.875 * 0 + 0.125 * 5) = 1, and the stride can only be 1 again.
        burst(&mut cuts, 1000, 1);
        assert_eq!((cuts.mean, cuts.stride), (1.0, 1));
    }
}
