//! Random numbers from named streams.
//!
//! Every component draws from a stream of its own, derived from the run's seed and the component's name: adding a link changes
//! no other component's draws, and two algorithms on the same scenario meet the same draws.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component called `name`.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, offset by the seed; the generator's own seeding (SplitMix64) spreads the bits.
        let hash = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Uniform over the integers in `[0, bound)`, to within `bound / 2^64`; 0 for a bound of 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with probability `threshold / 2^64`.
    #[inline]
    pub(crate) fn chance(&mut self, threshold: u64) -> bool {
        self.0.next_u64() < threshold
    }

    /// A seed for something that draws on its own.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The threshold of [`Stream::chance`] for probability `p`; the certain event falls short by 2^-64.
pub(crate) fn threshold(p: f64) -> u64 {
    (p * 2.0_f64.powi(64)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_by_seed() {
        let first = |seed, name| Stream::new(seed, name).seed();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn draws_are_uniform() {
        let mut stream = Stream::new(7, "uniform");
        let n = 100_000;
        let mean = (0..n).map(|_| stream.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let hits = (0..n).filter(|_| stream.chance(threshold(0.01))).count();
        assert!((900..1100).contains(&hits), "{hits}");
        assert!((0..n).all(|_| stream.below(3) < 3));
        assert_eq!(stream.below(0), 0);
    }
}
