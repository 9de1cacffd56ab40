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

/// A mean over independent seeds with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean, in the unit of what is estimated.
    pub mean: f64,
    /// Half the width of the 95 % Student t interval: the mean lies within `mean ± ci95`. None with a single run.
    pub ci95: Option<f64>,
    /// How many runs had a value.
    pub n: usize,
}

impl Estimate {
    /// The estimate from one value per seed; none of nothing.
    ///
    /// Only values of independent runs belong here: samples within one run depend on each other.
    #[must_use]
    pub fn over(values: &[f64]) -> Option<Self> {
        Some(Self { mean: mean(values)?, ci95: t_interval(values, 0.95), n: values.len() })
    }

    /// The ends of the interval; both the mean itself with a single run.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        let half = self.ci95.unwrap_or(0.0);
        (self.mean - half, self.mean + half)
    }

    /// Whether the two intervals overlap, so that neither mean can be called the larger. Means of single runs always do: they
    /// have no interval to tell them apart.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.ci95.is_none() || other.ci95.is_none() {
            return true;
        }
        let ((low, high), (other_low, other_high)) = (self.interval(), other.interval());
        low <= other_high && other_low <= high
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
    Estimate::over(&differences(a, b))
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

/// Halving π/2 this often leaves less than one unit in the last place.
const BISECTIONS: usize = 60;

#[cfg(test)]
mod tests {
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
        let estimate = Estimate::over(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five values");
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.ci95.expect("n > 1") - 1.963).abs() < 5e-4);
    }

    #[test]
    fn one_run_has_no_interval_and_none_no_estimate() {
        assert_eq!(Estimate::over(&[7.0]), Some(Estimate { mean: 7.0, ci95: None, n: 1 }));
        assert_eq!(Estimate::over(&[]), None);
        assert_eq!(sample_deviation(&[1.0]), None);
        assert_eq!(Estimate::over(&[0.1; 7]), Some(Estimate { mean: 0.1, ci95: Some(0.0), n: 7 }));
    }

    /// Student's own example (1908, from Cushny and Peebles): hours of sleep gained by ten patients under two drugs. The mean difference
    /// is 1.58, its standard deviation 1.230, so half the width is 2.262 · 1.230 / √10 = 0.880; the two intervals themselves overlap.
    #[test]
    fn the_sleep_of_ten_patients() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let difference = paired(&second.map(Some), &first.map(Some)).expect("ten pairs");
        assert!((difference.mean - 1.58).abs() < 1e-9 && (difference.ci95.expect("ten") - 0.880).abs() < 1e-3);
        let [a, b] = [first, second].map(|values| Estimate::over(&values).expect("ten"));
        assert!(a.overlaps(&b));
        assert_eq!(paired(&[Some(1.0), None], &[Some(0.0), Some(1.0)]).map(|one| (one.mean, one.n)), Some((1.0, 1)));
    }

    #[test]
    fn intervals_overlap_or_tell_apart() {
        let estimate = |mean, half| Estimate { mean, ci95: Some(half), n: 5 };
        assert!(estimate(1.0, 0.5).overlaps(&estimate(2.0, 0.5)));
        assert!(!estimate(1.0, 0.4).overlaps(&estimate(2.0, 0.5)));
        assert!(estimate(1.0, 0.1).overlaps(&Estimate { mean: 9.0, ci95: None, n: 1 }));
    }
}
