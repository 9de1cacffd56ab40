//! Random delay of single packets.

use cwnd::Span;

use crate::error::{SetupError, SetupPart, require};

/// Random delay that a link adds to each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// The distribution of the draws.
    pub noise: Noise,
    /// The share of the previous packet's delay in that of the next, 0..1: delay = correlation × previous + (1 − correlation) × draw.
    /// The mean stays; the variance shrinks by (1 − correlation) / (1 + correlation).
    pub correlation: f64,
    /// Packets with a smaller delay overtake those before them. Otherwise a delayed packet holds up all packets behind it.
    pub overtaking: bool,
}

/// A distribution of delays, at most [`MOST`](Self::MOST).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Uniform between zero and a maximum.
    Uniform(Span),
    /// Normal; negative draws count as zero.
    Normal {
        /// Mean before negative draws are cut off.
        mean: Span,
        /// Standard deviation before that.
        deviation: Span,
    },
    /// Pareto distribution of the second kind (Lomax), which begins at zero.
    Pareto {
        /// Mean.
        mean: Span,
        /// Shape, above 1. The variance is infinite up to 2.
        shape: f64,
    },
    /// Wi-Fi with contention: mostly below 3 ms, with spikes of 50 to 200 ms.
    ///
    /// The mixture that the tests of C4 use (picoquic's `sim_link.c`). With N₁ Poisson of mean 1, N₂ Poisson of mean 12 and U uniform in
    /// [0, 1), a delay in milliseconds is N₁ − U if N₁ ≥ 1. With probability (mean − 1 ms) / 84 ms it is larger by 7.5 (N₂ − U), where U is 0
    /// for N₂ ≤ 1.
    Wifi {
        /// Mean of the distribution, approximately; at least 1 ms, at most 85 ms.
        mean: Span,
    },
}

impl Noise {
    /// The largest delay. Larger draws are cut off here.
    pub const MOST: Span = Span::from_secs(10);
}

impl From<Noise> for Jitter {
    /// Independent draws that keep the order of packets.
    fn from(noise: Noise) -> Self {
        Self { noise, correlation: 0.0, overtaking: false }
    }
}

impl Jitter {
    /// Whether every draw is zero: the largest is the resolution of time or less.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let zero = |span: Span| span <= Span::from_nanos(1);
        match self.noise {
            Noise::Uniform(most) => zero(most),
            Noise::Normal { mean, deviation } => zero(mean) && zero(deviation),
            Noise::Pareto { mean, .. } => zero(mean),
            Noise::Wifi { .. } => false,
        }
    }

    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        require((0.0..1.0).contains(&self.correlation), part, "the correlation of jitter is at least 0 and below 1")?;
        let short = |span: Span| require(span <= Noise::MOST, part, "jitter is at most 10 s");
        match self.noise {
            Noise::Uniform(most) => short(most),
            Noise::Normal { mean, deviation } => short(mean).and_then(|()| short(deviation)),
            Noise::Pareto { mean, shape } => {
                require(shape > 1.0 && shape.is_finite(), part, "the shape of Pareto jitter is above 1")?;
                short(mean)
            }
            Noise::Wifi { mean } => {
                let range = Span::from_millis(1)..=Span::from_millis(85);
                require(range.contains(&mean), part, "the mean of Wi-Fi jitter is at least 1 ms and at most 85 ms")
            }
        }
    }
}
