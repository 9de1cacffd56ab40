//! Means over independent runs, and how far they can be trusted.

mod bootstrap;
mod sequential;
mod warmup;

use core::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use schemars::JsonSchema;
use serde::Serialize;

pub use bootstrap::{Resampled, bca, quantile, ratio};
pub use sequential::Until;
pub use warmup::mser5;

/// The values that a quantity can have. The interval around a mean never leaves them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    low: f64,
    high: f64,
}

impl Domain {
    /// Every number: differences, and values of which nothing is known.
    pub const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Times, rates, counts and ratios: at least 0.
    pub const POSITIVE: Self = Self { low: 0.0, high: f64::INFINITY };
    /// Shares: 0 to 1.
    pub const SHARE: Self = Self { low: 0.0, high: 1.0 };
    /// At most 1: harm as a share, of which help is less than 0.
    pub const AT_MOST_ONE: Self = Self { low: f64::NEG_INFINITY, high: 1.0 };

    /// Jain's index of n flows: 1/n to 1.
    #[must_use]
    pub fn jain(flows: usize) -> Self {
        Self { low: 1.0 / flows.max(1) as f64, high: 1.0 }
    }

    /// (max − min) / mean of n numbers that are at least 0: 0 to n, where one has everything.
    #[must_use]
    pub fn relative_range(flows: usize) -> Self {
        Self { low: 0.0, high: flows.max(1) as f64 }
    }

    /// The least value and the largest.
    #[must_use]
    pub const fn ends(self) -> [f64; 2] {
        [self.low, self.high]
    }

    fn clip(self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }
}

/// A mean over independent seeds, and how far it can be trusted.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean, in the unit of the values.
    pub mean: f64,
    /// Half the width of the 95 % Student t interval `mean ± ci95`, whatever values are possible. None with a single run.
    pub ci95: Option<f64>,
    /// How many runs had a value.
    pub n: usize,
    /// The lower end of the shown interval: below five runs the smallest value, from five on the lower end of the 95 % interval, but no
    /// value that the quantity cannot have.
    pub low: f64,
    /// The upper end, likewise.
    pub high: f64,
}

/// The spread around a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// One run: nothing.
    None,
    /// Half the width of the 95 % interval.
    Half(f64),
    /// The ends of the range of fewer than [`ENOUGH_FOR_INTERVAL`] runs, or of an interval that a bound of the quantity cuts short.
    Ends(f64, f64),
}

impl Estimate {
    /// The estimate from one value per seed, of a quantity with this domain; none of nothing.
    ///
    /// Only values of independent runs belong here: samples within one run depend on each other.
    #[must_use]
    pub fn over(values: &[f64], domain: Domain) -> Option<Self> {
        let (mean, ci95) = (mean(values)?, t_interval(values, 0.95));
        let (low, high) = match ci95 {
            Some(half) if values.len() >= ENOUGH_FOR_INTERVAL => (domain.clip(mean - half), domain.clip(mean + half)),
            _ => values.iter().fold((mean, mean), |(low, high), value| (low.min(*value), high.max(*value))),
        };
        // A mean is among its values, but for rounding.
        Some(Self { mean, ci95, n: values.len(), low: low.min(mean), high: high.max(mean) })
    }

    /// The estimate of values that are known to a share `resolution` of themselves: the shown interval is at least as wide. The mean of a single run
    /// stays alone.
    #[must_use]
    pub fn known_to(self, resolution: f64) -> Self {
        let half = self.mean.abs() * resolution / 2.0;
        let Some(ci95) = self.ci95 else { return self };
        let (low, high) = (self.low.min(self.mean - half), self.high.max(self.mean + half));
        Self { ci95: Some(ci95.max(half)), low, high, ..self }
    }

    /// The ends of the 95 % t interval, which verdicts with rules of their own look at; both the mean itself with a single run.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        let half = self.ci95.unwrap_or(0.0);
        (self.mean - half, self.mean + half)
    }

    /// The spread around the mean.
    #[must_use]
    pub fn spread(&self) -> Spread {
        match self.ci95 {
            None => Spread::None,
            Some(half) if self.n >= ENOUGH_FOR_INTERVAL && self.interval() == (self.low, self.high) => {
                Spread::Half(half)
            }
            Some(_) => Spread::Ends(self.low, self.high),
        }
    }

    /// Whether the shown intervals of the two overlap, so that neither mean can be called the larger. Means of single runs always do:
    /// nothing tells them apart.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.ci95.is_none() || other.ci95.is_none() {
            return true;
        }
        self.low <= other.high && other.low <= self.high
    }
}

/// Half the width of the Student t interval of probability `level`, 0 to 1, around the mean of one value per independent run. None below
/// two values.
#[must_use]
pub fn t_interval(values: &[f64], level: f64) -> Option<f64> {
    let n = values.len();
    sample_deviation(values).map(|deviation| student_t(n - 1, level) * deviation / libm::sqrt(n as f64))
}

/// The mean difference `a − b` over common seeds, see [`differences`].
#[must_use]
pub fn paired(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Estimate> {
    Estimate::over(&differences(a, b), Domain::ANY)
}

/// The differences `a − b` over common seeds. Runs of one seed share what the seed draws, so their difference varies less than either;
/// and the interval of its mean answers what overlapping intervals leave open. Seeds that lack either are left out.
#[must_use]
pub fn differences(a: &[Option<f64>], b: &[Option<f64>]) -> Vec<f64> {
    a.iter().zip(b).filter_map(|(a, b)| Some((*a)? - (*b)?)).collect()
}

/// The arithmetic mean; none of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    // Differences from the first value: the mean of equal values is that value, and their deviation nothing.
    let first = values.first()?;
    Some(first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample, with m − 1 in the denominator; none below two values.
#[must_use]
pub fn sample_deviation(values: &[f64]) -> Option<f64> {
    let (values, unit) = in_unit(values);
    let mean = mean(&values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some(libm::sqrt(squares / (values.len() - 1) as f64) / unit)
}

/// The values multiplied by a power of two, and that power: sums of them do not overflow and squares of them do not vanish. As long as
/// neither would happen without it, a result divided by the power is the same to the last bit.
pub(super) fn in_unit(values: &[f64]) -> (Vec<f64>, f64) {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let (_, exponent) = libm::frexp(largest);
    let unit = libm::ldexp(1.0, (-exponent).clamp(-1000, 1000));
    (values.iter().map(|value| value * unit).collect(), unit)
}

/// The two-sided quantile of Student's t with `freedom` degrees of freedom, at least 1: P(|T| ≤ t) = `level`, 0 to 1.
///
/// With θ = atan(t / √ν), P(|T| ≤ t) is a finite sum for whole ν (Abramowitz & Stegun 26.7.3 and 26.7.4); θ is found by bisection.
#[must_use]
pub(crate) fn student_t(freedom: usize, level: f64) -> f64 {
    let freedom = freedom.max(1);
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if central_probability(middle, freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::sqrt(freedom as f64) * libm::tan(low)
}

fn central_probability(theta: f64, freedom: usize) -> f64 {
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let odd = freedom % 2 == 1;
    // Both sums have the terms c^k with k stepping by two up to ν − 2; each follows from the one before by c²·k/(k + 1).
    let (mut power, mut term) = if odd { (1, cos) } else { (0, 1.0) };
    let mut sum = 0.0;
    while power + 2 <= freedom {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    if odd { FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

/// Runs from which on a 95 % t interval is shown. With two it is 12.7 standard errors to each side, with four 3.2, and a mean of shares
/// reaches beyond what a share can be; five leave 2.8.
pub const ENOUGH_FOR_INTERVAL: usize = 5;

/// Halving π/2 this often leaves less than one unit in the last place.
const BISECTIONS: usize = 60;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn t_quantiles_are_those_of_the_printed_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (60, 2.000),
            (120, 1.980),
            (100_000, 1.960),
        ];
        for (freedom, expected) in table {
            let t = student_t(freedom, 0.95);
            assert!((t - expected).abs() < 5e-4, "{freedom}: {t}");
        }
        for (freedom, level, expected) in [(4, 0.9, 2.132), (9, 0.99, 3.250), (1, 0.5, 1.0)] {
            let t = student_t(freedom, level);
            assert!((t - expected).abs() < 5e-4, "{freedom}, {level}: {t}");
        }
    }

    #[test]
    fn an_estimate_of_five_runs() {
        // Mean 3, deviation √2.5, half width 2.776·√(2.5/5) = 1.963.
        let estimate = Estimate::over(&[1.0, 2.0, 3.0, 4.0, 5.0], Domain::ANY).expect("five values");
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.ci95.expect("n > 1") - 1.963).abs() < 5e-4);
    }

    #[test]
    fn one_run_has_no_interval_and_none_no_estimate() {
        let over = |values: &[f64]| Estimate::over(values, Domain::ANY);
        assert_eq!(over(&[7.0]), Some(Estimate { mean: 7.0, ci95: None, n: 1, low: 7.0, high: 7.0 }));
        assert_eq!(over(&[]), None);
        assert_eq!(sample_deviation(&[1.0]), None);
        assert_eq!(over(&[0.1; 7]), Some(Estimate { mean: 0.1, ci95: Some(0.0), n: 7, low: 0.1, high: 0.1 }));
    }

    /// Student's own example (1908, from Cushny and Peebles): hours of sleep gained by ten patients under two drugs. The mean difference
    /// is 1.58, its standard deviation 1.230, so half the width is 2.262 · 1.230 / √10 = 0.880; the two intervals themselves overlap.
    #[test]
    fn the_sleep_of_ten_patients() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let difference = paired(&second.map(Some), &first.map(Some)).expect("ten pairs");
        assert!((difference.mean - 1.58).abs() < 1e-9 && (difference.ci95.expect("ten") - 0.880).abs() < 1e-3);
        let [a, b] = [first, second].map(|values| Estimate::over(&values, Domain::ANY).expect("ten"));
        assert!(a.overlaps(&b));
        assert_eq!(paired(&[Some(1.0), None], &[Some(0.0), Some(1.0)]).map(|one| (one.mean, one.n)), Some((1.0, 1)));
    }

    #[test]
    fn intervals_overlap_or_tell_apart() {
        let estimate = |mean, half| Estimate { mean, ci95: Some(half), n: 5, low: mean - half, high: mean + half };
        assert!(estimate(1.0, 0.5).overlaps(&estimate(2.0, 0.5)));
        assert!(!estimate(1.0, 0.4).overlaps(&estimate(2.0, 0.5)));
        assert!(estimate(1.0, 0.1).overlaps(&Estimate { mean: 9.0, ci95: None, n: 1, low: 9.0, high: 9.0 }));
    }

    /// Two runs of Jain's index of two flows, 0.756 and 0.904: the t interval would be 0.83 ± 0.94.
    #[test]
    fn below_five_runs_the_range_is_shown() {
        let jain = Estimate::over(&[0.756, 0.904], Domain::jain(2)).expect("two values");
        assert_eq!(jain.spread(), Spread::Ends(0.756, 0.904));
        assert!((jain.ci95.expect("two runs") - 0.940).abs() < 1e-3);
        let four = Estimate::over(&[1.0, 2.0, 3.0, 9.0], Domain::POSITIVE).expect("four values");
        assert_eq!((four.mean, four.spread()), (3.75, Spread::Ends(1.0, 9.0)));
        assert_eq!(Estimate::over(&[1.0], Domain::SHARE).expect("one value").spread(), Spread::None);
    }

    /// Mean 0.9, deviation √(0.05/4) = 0.1118, half width 2.776 · 0.1118 / √5 = 0.1388: cut at 1.
    #[test]
    fn from_five_on_the_interval_is_cut_at_a_bound() {
        let values = [1.0, 1.0, 0.9, 0.75, 0.85];
        let share = Estimate::over(&values, Domain::SHARE).expect("five values");
        let Spread::Ends(low, high) = share.spread() else { panic!("{share:?}") };
        assert!((low - (0.9 - share.ci95.expect("five"))).abs() < 1e-12 && high == 1.0);
        let any = Estimate::over(&values, Domain::ANY).expect("five values");
        assert_eq!(any.spread(), Spread::Half(any.ci95.expect("five")));
    }

    proptest! {
        #[test]
        fn what_is_shown_stays_in_the_domain_and_holds_the_mean(
            values in proptest::collection::vec(0.0..=1.0_f64, 1..12), flows in 1_usize..20, times in 1e-9..1e9_f64,
        ) {
            let jain: Vec<f64> = values.iter().map(|value| (1.0 + value * (flows - 1) as f64) / flows as f64).collect();
            let scaled: Vec<f64> = values.iter().map(|value| value * times).collect();
            let harm: Vec<f64> = values.iter().map(|value| 1.0 - value * times).collect();
            let cases = [
                (values, Domain::SHARE), (jain, Domain::jain(flows)), (scaled, Domain::POSITIVE), (harm, Domain::AT_MOST_ONE),
            ];
            for (values, domain) in cases {
                let shown = Estimate::over(&values, domain).expect("values");
                prop_assert!(shown.low <= shown.mean && shown.mean <= shown.high);
                // The mean of values at a bound may round past it.
                let slack = 1e-12 * (1.0 + shown.mean.abs());
                prop_assert!(domain.low - slack <= shown.low && shown.high <= domain.high + slack, "{shown:?} {domain:?}");
            }
        }
    }
}
