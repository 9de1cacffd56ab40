//! Random numbers from named streams.
//!
//! Every component draws from a stream of its own, derived from the run's seed and the component's name: adding a link changes
//! no other component's draws, and two algorithms on the same scenario meet the same draws.

use std::fmt::{self, Display, Write};

use cwnd::random::uniform;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component called `name`.
    pub(crate) fn new(seed: u64, name: impl Display) -> Self {
        let mut hash = Fnv(seed ^ 0xcbf2_9ce4_8422_2325);
        write!(hash, "{name}").expect("a hash takes any text");
        Self(Xoshiro256PlusPlus::seed_from_u64(hash.0))
    }

    /// A stream of something that came into being during the run; `seed` was drawn from a named stream.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        uniform(self.0.next_u64())
    }

    /// Uniform in `(0, 1]`.
    pub(crate) fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.unit_above_zero())
    }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller): two draws each.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Poisson with this mean, which is small: as many draws as it counts, and one.
    pub(crate) fn poisson(&mut self, mean: f64) -> u32 {
        let (least, mut product, mut count) = (libm::exp(-mean), self.unit_above_zero(), 0);
        while product > least {
            product *= self.unit_above_zero();
            count += 1;
        }
        count
    }

    /// Geometric: 1, 2, 3, … with this mean, at least 1.
    pub(crate) fn geometric(&mut self, mean: f64) -> u64 {
        // P(N > n) = (1 - 1 / mean)^n; a mean of 1 makes the logarithm infinite and N always 1.
        libm::ceil(libm::log(self.unit_above_zero()) / libm::log1p(-1.0 / mean)).max(1.0) as u64
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

/// FNV-1a over a text as it is formatted, without a copy of it. The generator's own seeding (SplitMix64) spreads the bits.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(())
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
        assert_eq!(
            Stream::new(1, format_args!("flow {}: jitter", 7)).seed(),
            first(1, "flow 7: jitter"),
            "in pieces or whole"
        );
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

    #[test]
    fn waiting_times_have_their_mean_and_quantiles() {
        let mut stream = Stream::new(7, "waiting");
        let n = 100_000;
        let mut drawn: Vec<f64> = (0..n).map(|_| stream.exponential()).collect();
        drawn.sort_by(f64::total_cmp);
        // Mean 1 with standard error 0.003; median ln 2, 99th percentile ln 100.
        assert!((drawn.iter().sum::<f64>() / f64::from(n) - 1.0).abs() < 0.012);
        assert!((drawn[50_000] - 0.693).abs() < 0.02, "{}", drawn[50_000]);
        assert!((drawn[99_000] - 4.605).abs() < 0.15, "{}", drawn[99_000]);

        let counts: Vec<u64> = (0..n).map(|_| stream.geometric(4.0)).collect();
        assert!((counts.iter().sum::<u64>() as f64 / f64::from(n) - 4.0).abs() < 0.05);
        let ones = counts.iter().filter(|count| **count == 1).count();
        assert!((24_000..26_000).contains(&ones), "a quarter are 1, not {ones}");
        assert!((0..1000).all(|_| stream.geometric(1.0) == 1));
    }
}
