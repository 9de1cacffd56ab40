//! How many packets a flow has.

use crate::error::{SetupError, SetupPart, require};
use crate::random::Stream;

/// The distribution of the sizes of flows, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes {
    /// All the same; at least 1.
    Constant(u64),
    /// Pareto's: the share of flows larger than x is (scale / x)^shape, the scale being mean (shape - 1) / shape. Sizes are
    /// rounded up to whole packets, which adds about half a packet to the mean. With a shape of 2 or less the variance is
    /// infinite: means over a run come near `mean` only slowly.
    Pareto {
        /// Of the unrounded sizes; above 0.
        mean: f64,
        /// Above 1.
        shape: f64,
    },
}

impl Sizes {
    pub(crate) fn check(self, part: &SetupPart) -> Result<(), SetupError> {
        match self {
            Self::Constant(packets) => require(packets > 0, part, "a flow has at least 1 packet"),
            Self::Pareto { mean, shape } => {
                require(mean > 0.0 && mean.is_finite(), part, "the mean size must be above 0")?;
                require(shape > 1.0 && shape.is_finite(), part, "the shape of the sizes must be above 1: no mean else")
            }
        }
    }

    /// The mean before rounding, packets.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::Constant(packets) => packets as f64,
            Self::Pareto { mean, .. } => mean,
        }
    }

    /// Draws one.
    pub(crate) fn draw(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Constant(packets) => packets,
            Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                libm::ceil(scale * libm::pow(stream.unit_above_zero(), -1.0 / shape)) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the paper on EXP-TCP: scale 7.778 packets.
    const WEB: Sizes = Sizes::Pareto { mean: 30.0, shape: 1.35 };

    fn draws(n: usize) -> Vec<u64> {
        let mut stream = Stream::new(5, "sizes");
        let mut drawn: Vec<u64> = (0..n).map(|_| WEB.draw(&mut stream)).collect();
        drawn.sort_unstable();
        drawn
    }

    #[test]
    fn shares_of_larger_flows_are_paretos() {
        let drawn = draws(200_000);
        assert_eq!(drawn[0], 8, "the scale, rounded up");
        for (size, exact) in [(13, 0.4998), (43, 0.0994), (236, 0.009_982)] {
            let share = drawn.iter().filter(|drawn| **drawn > size).count() as f64 / 200_000.0;
            let error = (exact * (1.0 - exact) / 200_000.0_f64).sqrt();
            assert!((share - exact).abs() < 4.0 * error, "{size}: {share}, not {exact}");
        }
    }

    #[test]
    fn the_mean_below_a_bound_is_the_closed_form() {
        // The mean itself has no error bar (infinite variance); that of min(X, m) does:
        // scale shape / (shape - 1) - scale^shape m^(1 - shape) / (shape - 1), and half a packet for rounding up.
        let (scale, bound) = (7.0_f64 + 7.0 / 9.0, 1000.0_f64);
        let exact = 30.0 - scale.powf(1.35) * bound.powf(-0.35) / 0.35 + 0.5;
        let drawn = draws(200_000);
        let ours = drawn.iter().map(|size| (*size as f64).min(bound)).sum::<f64>() / 200_000.0;
        assert!((ours / exact - 1.0).abs() < 0.02, "{ours}, not {exact}");
    }
}
