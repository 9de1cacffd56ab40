//! The reward of a learner.

use crate::observation::StepReport;

/// What a learner is rewarded for in a step. The goodput `u` is the flow's share of the bottleneck's capacity; the delay `d` is its mean
/// round-trip time over the one without any queue; the loss `l` is the share of packets found lost. The capacity and the empty path are
/// the simulator's knowledge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reward {
    /// `goodput u - delay (d - 1) - loss l`, the form of Aurora's reward. Its own weights are for rates in packets per second and
    /// times in seconds, and mean something else on each path.
    Linear {
        /// Of the goodput.
        goodput: f64,
        /// Of the delay.
        delay: f64,
        /// Of the loss.
        loss: f64,
    },
    /// Kleinrock's power as Orca has it: `(u - loss x) / d`, where `x` is the lost packets' share of the capacity, and a delay up to
    /// `margin` counts as none.
    Power {
        /// Of the loss; Orca: 5.
        loss: f64,
        /// At least 1; Orca: 1.25.
        margin: f64,
    },
}

/// The capacity and delay of a flow's path in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathCapacity {
    /// Packets per second that the bottleneck can carry.
    pub(crate) capacity: f64,
    /// The round trip of a packet that meets no other, seconds.
    pub(crate) empty_rtt: f64,
}

impl Reward {
    /// Linear; a standing queue of one empty round trip costs as much as half of the link left idle.
    pub const LINEAR: Self = Self::Linear { goodput: 1.0, delay: 0.5, loss: 1.0 };
    /// Power with Orca's numbers.
    pub const POWER: Self = Self::Power { loss: 5.0, margin: 1.25 };

    /// The reward for a step.
    pub(crate) fn of(self, report: &StepReport, path: PathCapacity) -> f64 {
        let offered = path.capacity * report.duration;
        if offered <= 0.0 {
            return 0.0;
        }
        let used = report.delivered / offered;
        let delay = (report.rtt / path.empty_rtt).max(1.0);
        match self {
            Self::Linear { goodput, delay: weight, loss } => {
                goodput * used - weight * (delay - 1.0) - loss * report.loss()
            }
            Self::Power { loss, margin } => {
                (used - loss * report.lost / offered) / if delay <= margin { 1.0 } else { delay }
            }
        }
    }
}

impl Default for Reward {
    fn default() -> Self {
        Self::LINEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathCapacity = PathCapacity { capacity: 1000.0, empty_rtt: 0.1 };

    fn report() -> StepReport {
        // Half of the capacity over a tenth of a second, with one queue of a round trip and a tenth of the packets lost.
        StepReport { duration: 0.1, delivered: 45.0, lost: 5.0, rtt: 0.2, ..StepReport::default() }
    }

    #[test]
    fn linear() {
        let reward = Reward::Linear { goodput: 10.0, delay: 2.0, loss: 3.0 };
        assert!((reward.of(&report(), PATH) - (4.5 - 2.0 - 0.3)).abs() < 1e-12);
    }

    #[test]
    fn power() {
        // (0.45 - 5 * 0.05) / 2
        assert!((Reward::POWER.of(&report(), PATH) - 0.1).abs() < 1e-12);
        let short = StepReport { rtt: 0.12, ..report() };
        assert!((Reward::POWER.of(&short, PATH) - 0.2).abs() < 1e-12, "a delay within the margin is none");
    }
}
