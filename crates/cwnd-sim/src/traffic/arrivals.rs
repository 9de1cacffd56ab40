//! Poisson arrivals.

use cwnd::{Bytes, Span, Time};

use super::size::Sizes;
use crate::error::{SetupError, SetupPart, in_range};
use crate::random::Stream;

/// The mean time between arrivals; the times themselves are exponential and independent (a Poisson process).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interarrival {
    /// Always the same; above zero.
    Constant(Span),
    /// A square wave.
    Square {
        /// The two means in turn; above zero.
        means: [Span; 2],
        /// How long each holds; above zero.
        step: Span,
    },
}

/// Arrivals being drawn.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    gap: Interarrival,
    stream: Stream,
    start: Time,
    due: Time,
}

impl Interarrival {
    /// So often that flows of `sizes`, `packet` bytes each packet, fill `load` of a line of `rate` bit/s on average:
    /// mean size / (load rate).
    #[must_use]
    pub fn of_load(load: f64, rate: u64, sizes: Sizes, packet: Bytes) -> Self {
        Self::Constant(Span::from_secs_f64(sizes.mean() * packet.bits() / (load * rate as f64)))
    }

    pub(crate) fn check(self, part: &SetupPart) -> Result<(), SetupError> {
        match self {
            Self::Constant(mean) => in_range(mean >= LEAST, part, "gap", "at least 1us"),
            Self::Square { means, step } => {
                in_range(means.iter().all(|mean| *mean >= LEAST), part, "gap", "at least 1us")?;
                in_range(step >= LEAST, part, "gap", "one with steps of at least 1us")
            }
        }
    }

    /// The mean at `elapsed` after the first arrival was possible, and until when it holds.
    fn at(self, elapsed: Span) -> (Span, Span) {
        match self {
            Self::Constant(mean) => (mean, Span::MAX),
            Self::Square { means, step } => {
                let steps = elapsed.as_nanos() / step.as_nanos();
                (means[(steps % 2) as usize], step * (steps + 1))
            }
        }
    }
}

impl Poisson {
    /// Arrivals from `start` on.
    pub(crate) fn new(gap: Interarrival, start: Time, stream: Stream) -> Self {
        let mut arrivals = Self { gap, stream, start, due: start };
        arrivals.pass();
        arrivals
    }

    /// The next arrival.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Advances to the next arrival. An exponential time has no memory: the rest of it is scaled when the mean changes, and the process
    /// stays Poisson.
    pub(crate) fn pass(&mut self) {
        let mut left = self.stream.exponential();
        loop {
            let elapsed = self.due.since(self.start);
            let (mean, until) = self.gap.at(elapsed);
            let wait = mean.mul_f64(left);
            if wait <= until - elapsed {
                self.due += wait;
                return;
            }
            left -= (until - elapsed).as_secs_f64() / mean.as_secs_f64();
            self.due = self.start + until;
        }
    }
}

/// A million a second take some seconds for each of theirs; with less a run seems never to end.
const LEAST: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_millis(1);

    fn until(arrivals: &mut Poisson, end: Span) -> u64 {
        std::iter::repeat_with(|| {
            arrivals.pass();
            arrivals.due()
        })
        .take_while(|due| *due < Time::ZERO + end)
        .count() as u64
    }

    #[test]
    fn the_rate_is_that_of_the_load() {
        // 10 % of 100 Mbit/s by flows of 30 packets of 1000 bytes: 41.67 a second.
        let sizes = Sizes::Pareto { mean: 30.0, shape: 1.35 };
        let gap = Interarrival::of_load(0.1, 100_000_000, sizes, Bytes(1000));
        assert_eq!(gap, Interarrival::Constant(MS * 24));
        let mut arrivals = Poisson::new(gap, Time::ZERO, Stream::new(1, "arrivals"));
        // 1000 s: 41667 with a standard deviation of 204.
        let count = until(&mut arrivals, Span::from_secs(1000));
        assert!((41_000..42_300).contains(&count), "{count}");
    }

    #[test]
    fn counts_scatter_as_poisson_does() {
        // Variance equals mean: seconds with 20 arrivals each on average.
        let mut arrivals = Poisson::new(Interarrival::Constant(MS * 50), Time::ZERO, Stream::new(2, "arrivals"));
        let counts: Vec<f64> = (1..=2000)
            .map(|second| {
                let mut count = 0.0;
                while arrivals.due() < Time::ZERO + Span::from_secs(second) {
                    count += 1.0;
                    arrivals.pass();
                }
                count
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / 2000.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 1999.0;
        assert!((mean - 20.0).abs() < 0.4, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.13, "{variance}");
    }

    #[test]
    fn a_square_wave_has_each_mean_in_its_half() {
        let gap = Interarrival::Square { means: [MS * 30, MS * 10], step: Span::from_secs(5) };
        let mut arrivals = Poisson::new(gap, Time::ZERO, Stream::new(3, "arrivals"));
        let mut counts = [0_u32; 2];
        while arrivals.due() < Time::ZERO + Span::from_secs(2000) {
            counts[(arrivals.due().as_nanos() / 5_000_000_000 % 2) as usize] += 1;
            arrivals.pass();
        }
        // 1000 s of each: 33333 +- 183 and 100000 +- 316.
        assert!((32_600..34_100).contains(&counts[0]), "{counts:?}");
        assert!((98_800..101_200).contains(&counts[1]), "{counts:?}");
    }
}
