//! A computed value.

use cwnd_run::measure::{Domain, Estimate, mean};
use cwnd_run::probe::Reduction;

/// A value that a runner computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Computed {
    /// From a formula or a single deterministic run: it has no interval.
    Exact(f64),
    /// One value per independent run; the value is their mean, the interval Student's.
    Runs(Vec<f64>),
    /// One value per independent run; the value is their median, the interval that of order statistics.
    Median(Vec<f64>),
    /// Several values that belong together, by name: those of an ordering.
    Ordered(Vec<(String, Computed)>),
}

/// A value with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The value.
    pub(crate) value: f64,
    /// The lower end of its interval, the value itself where it is exact.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

impl Computed {
    /// No value.
    pub(crate) const NONE: Self = Self::Runs(Vec::new());

    /// The mean over runs of what each kept under `name`; runs that could not answer are left out.
    pub(crate) fn mean(runs: &[Reduction], name: &str) -> Self {
        Self::over(runs, |kept| kept.one(name))
    }

    /// The mean over runs of what `of` takes from each; runs that cannot answer are left out.
    pub(crate) fn over(runs: &[Reduction], of: impl Fn(&Reduction) -> Option<f64>) -> Self {
        Self::Runs(runs.iter().filter_map(of).collect())
    }

    /// The value of an estimate over `runs` runs together, such as a ratio of means, with the interval of its jackknife (Miller 1974):
    /// `estimate` is asked for all of them, and for all but each one. Its pseudo-values count as one value per run.
    pub(crate) fn jackknife(runs: usize, estimate: impl Fn(Option<usize>) -> Option<f64>) -> Self {
        let n = runs as f64;
        let pseudo = |all| (0..runs).map(|left_out| Some(n * all - (n - 1.0) * estimate(Some(left_out))?)).collect();
        // Without one run there may be no estimate: then it has no interval, and a part of the runs would be another estimate.
        let values: Option<Vec<f64>> = estimate(None).and_then(pseudo);
        Self::Runs(values.unwrap_or_default())
    }

    /// The values, one per run.
    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Self::Exact(value) => core::slice::from_ref(value),
            Self::Runs(values) | Self::Median(values) => values,
            Self::Ordered(_) => &[],
        }
    }

    /// Each value through `of`, as when a unit is changed.
    pub(crate) fn map(&self, of: impl Fn(f64) -> f64 + Copy) -> Self {
        let all = |values: &[f64]| values.iter().copied().map(of).collect();
        match self {
            Self::Exact(value) => Self::Exact(of(*value)),
            Self::Runs(values) => Self::Runs(all(values)),
            Self::Median(values) => Self::Median(all(values)),
            Self::Ordered(parts) => {
                Self::Ordered(parts.iter().map(|(name, value)| (name.clone(), value.map(of))).collect())
            }
        }
    }

    /// This less another: run by run where both have the same number of runs, in the order of their seeds.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.paired(other, |one, other| one - other)
    }

    /// This divided by another, as [`minus`](Self::minus).
    pub(crate) fn per(&self, other: &Self) -> Self {
        self.paired(other, |one, other| one / other)
    }

    /// The value and its interval; none where there is no run, a single one, or an ordering.
    pub(crate) fn interval(&self) -> Option<Interval> {
        match self {
            Self::Exact(value) => Some(Interval { value: *value, low: *value, high: *value }),
            Self::Runs(values) => {
                let estimate = Estimate::over(values, Domain::ANY)?;
                estimate.ci95?;
                let (low, high) = estimate.interval();
                Some(Interval { value: estimate.mean, low, high })
            }
            Self::Median(values) => median(values),
            Self::Ordered(_) => None,
        }
    }

    /// The value alone, also of a single run.
    pub(crate) fn value(&self) -> Option<f64> {
        match self {
            Self::Exact(value) => Some(*value),
            Self::Runs(values) => mean(values),
            Self::Median(values) => middle(values),
            Self::Ordered(_) => None,
        }
    }

    /// The values of an ordering.
    pub(crate) fn parts(&self) -> &[(String, Self)] {
        match self {
            Self::Ordered(parts) => parts,
            _ => &[],
        }
    }

    fn paired(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Self::Exact(one), Self::Exact(other)) => Self::Exact(of(*one, *other)),
            (Self::Exact(one), other) => other.map(|other| of(*one, other)),
            (one, Self::Exact(other)) => one.map(|one| of(one, *other)),
            // Unequal numbers of runs cannot be paired.
            (one, other) if one.values().len() != other.values().len() => Self::NONE,
            (one, other) => {
                let paired = one.values().iter().zip(other.values()).map(|(one, other)| of(*one, *other)).collect();
                if matches!(one, Self::Median(_)) { Self::Median(paired) } else { Self::Runs(paired) }
            }
        }
    }
}

impl From<f64> for Computed {
    fn from(value: f64) -> Self {
        Self::Exact(value)
    }
}

/// The median between the order statistics that enclose it with a probability of at least 95 %. Below six runs not even the
/// smallest and the largest do, and there is none.
fn median(values: &[f64]) -> Option<Interval> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // P(fewer than k of n below the median) with a fair coin; both tails together may have 5 %.
    let (mut tail, mut term) = (0.0, libm::exp2(-(n as f64)));
    let mut below = 0;
    while tail + term <= TAIL && below < n / 2 {
        tail += term;
        term *= (n - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let low = *sorted.get(below.checked_sub(1)?)?;
    Some(Interval { value: middle(values)?, low, high: sorted[n - below] })
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0) }
}

/// Half of what a 95 % interval leaves outside.
const TAIL: f64 = 0.025;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_have_the_intervals_of_printed_tables() {
        // Order statistics that enclose a median with at least 95 %: n = 6: 1 and 6, n = 10: 2 and 9, n = 20: 6 and 15.
        for (n, low, high) in [(6, 1.0, 6.0), (10, 2.0, 9.0), (20, 6.0, 15.0), (30, 10.0, 21.0)] {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let interval = Computed::Median(values).interval().expect("enough runs");
            assert_eq!((interval.low, interval.high), (low, high), "{n}");
            assert_eq!(interval.value, f64::from(n + 1) / 2.0);
        }
        assert_eq!(Computed::Median(vec![1.0; 5]).interval(), None);
        assert_eq!(Computed::Median(vec![3.0, 1.0, 2.0]).value(), Some(2.0));
        assert_eq!(Computed::Median(Vec::new()).value(), None);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_the_mean_and_of_a_ratio_has_an_interval() {
        let (one, other) = ([2.0, 4.0, 9.0], [1.0, 2.0, 3.0]);
        let mean = |values: [f64; 3], left_out: Option<usize>| {
            let rest: Vec<f64> = (0..3).filter(|run| Some(*run) != left_out).map(|run| values[run]).collect();
            rest.iter().sum::<f64>() / rest.len() as f64
        };
        let Computed::Runs(pseudo) = Computed::jackknife(3, |left_out| Some(mean(one, left_out))) else {
            panic!("runs")
        };
        assert!(pseudo.iter().zip(one).all(|(pseudo, value)| (pseudo - value).abs() < 1e-12));
        // 15/6 of all, 13/5, 11/4 and 6/3 without one each: pseudo-values 2.3, 2 and 3.5.
        let ratio = Computed::jackknife(3, |left_out| Some(mean(one, left_out) / mean(other, left_out)));
        let expected = [2.3, 2.0, 3.5];
        assert!(ratio.values().iter().zip(expected).all(|(pseudo, value)| (pseudo - value).abs() < 1e-12));
        assert_eq!(Computed::jackknife(3, |left_out| left_out.is_none().then_some(1.0)).interval(), None);
    }

    #[test]
    fn differences_are_taken_run_by_run() {
        let (one, other) = (Computed::Runs(vec![3.0, 5.0]), Computed::Runs(vec![1.0, 4.0]));
        assert_eq!(one.minus(&other), Computed::Runs(vec![2.0, 1.0]));
        assert_eq!(one.per(&Computed::Exact(2.0)), Computed::Runs(vec![1.5, 2.5]));
        assert_eq!(Computed::Exact(6.0).per(&one), Computed::Runs(vec![2.0, 1.2]));
        assert_eq!(one.minus(&Computed::Runs(vec![1.0])).interval(), None);
    }
}
