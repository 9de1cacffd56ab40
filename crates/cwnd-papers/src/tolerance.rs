//! Which values count as reproduced, written down before the runs.

use std::fmt;

use serde::Deserialize;

use super::computed::{Computed, Interval};
use super::verdict::Verdict;

/// Which computed values match.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Tolerance {
    /// Within this of the published number, in its unit.
    Absolute(f64),
    /// Within this part of the published number.
    Relative(f64),
    /// Between the published number divided by this and multiplied by it; above 1.
    RatioWithin(f64),
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// Between these, ends included.
    Between([f64; 2]),
    /// More than this.
    Above(f64),
    /// Less than this.
    Below(f64),
    /// The values with these names ascend strictly in this order.
    Ordering(Vec<String>),
}

impl Tolerance {
    /// Whether it needs a published number to be anything.
    pub(super) fn needs_published(&self) -> bool {
        matches!(self, Self::Absolute(_) | Self::Relative(_) | Self::RatioWithin(_))
    }

    /// The fault of the tolerance, if any.
    pub(super) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Absolute(by) | Self::Relative(by) if *by < 0.0 => Some("a tolerance is at least 0"),
            Self::RatioWithin(by) if *by <= 1.0 => Some("a ratio is above 1"),
            Self::Between([low, high]) if low > high => Some("the first of the two is the smaller"),
            Self::Ordering(names) if names.len() < 2 => Some("an ordering has two names at least"),
            _ => None,
        }
    }

    /// Judges a computed value.
    ///
    /// The whole 95 % interval must lie inside for a match and outside for a miss. An interval across an edge decides nothing,
    /// which is always so where it is wider than the tolerance and the two overlap.
    pub(super) fn judge(&self, published: Option<f64>, ours: &Computed) -> Verdict {
        if let Self::Ordering(names) = self {
            return order(names, ours);
        }
        ours.interval().map_or(Verdict::Undecided, |interval| self.accepted(published).judge(interval))
    }

    /// Judges a value by its interval. Not for an order.
    pub(super) fn judge_interval(&self, published: Option<f64>, interval: Interval) -> Verdict {
        self.accepted(published).judge(interval)
    }

    fn accepted(&self, published: Option<f64>) -> Accepted {
        match self {
            Self::AtLeast(low) => Accepted { low: *low, ..Accepted::ALL },
            Self::AtMost(high) => Accepted { high: *high, ..Accepted::ALL },
            Self::Above(low) => Accepted { low: *low, open: true, ..Accepted::ALL },
            Self::Below(high) => Accepted { high: *high, open: true, ..Accepted::ALL },
            Self::Between([low, high]) => Accepted { low: *low, high: *high, open: false },
            Self::Absolute(by) => Accepted::around(published, |value| (value - by, value + by)),
            Self::Relative(by) => {
                Accepted::around(published, |value| (value - by * value.abs(), value + by * value.abs()))
            }
            Self::RatioWithin(by) => Accepted::around(published, |value| (value / by, value * by)),
            Self::Ordering(_) => Accepted::ALL,
        }
    }
}

/// The values that match.
#[derive(Clone, Copy)]
struct Accepted {
    low: f64,
    high: f64,
    /// The ends do not belong to it.
    open: bool,
}

impl Accepted {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, open: false };

    fn around(published: Option<f64>, ends: impl Fn(f64) -> (f64, f64)) -> Self {
        // Published rows were checked to have the number where their tolerance needs it; no value lies around NaN.
        let (one, other) = ends(published.unwrap_or(f64::NAN));
        Self { low: one.min(other), high: one.max(other), open: false }
    }

    fn holds(self, value: f64) -> bool {
        if self.open { self.low < value && value < self.high } else { self.low <= value && value <= self.high }
    }

    fn judge(self, Interval { value, low, high }: Interval) -> Verdict {
        match (self.holds(low), self.holds(high), self.holds(value)) {
            (true, true, true) => Verdict::Match,
            // The interval lies wholly outside.
            (false, false, false) if high < self.low || low > self.high || low == high => Verdict::Miss,
            (false, false, false) if self.open && (high <= self.low || low >= self.high) => Verdict::Miss,
            _ => Verdict::Undecided,
        }
    }
}

/// Every neighbour must be larger than the one before: runs with the same seed are compared with each other, since they share what
/// the seed draws.
fn order(names: &[String], ours: &Computed) -> Verdict {
    let named = |name: &String| ours.parts().iter().find(|(part, _)| part == name).map(|(_, value)| value);
    let steps = names.windows(2).map(|pair| match (named(&pair[0]), named(&pair[1])) {
        (Some(one), Some(next)) => Tolerance::Above(0.0).judge(None, &next.minus(one)),
        _ => Verdict::Undecided,
    });
    let steps: Vec<Verdict> = steps.collect();
    let any = |wanted| steps.contains(&wanted);
    match (any(Verdict::Miss), any(Verdict::Undecided)) {
        (true, _) => Verdict::Miss,
        (false, true) => Verdict::Undecided,
        (false, false) => Verdict::Match,
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(by) => write!(out, "± {}", Plain(*by)),
            Self::Relative(by) => write!(out, "± {} %", Plain((by * 1e12).round() / 1e10)),
            Self::RatioWithin(by) => write!(out, "factor {by}"),
            Self::AtLeast(low) => write!(out, "≥ {}", Plain(*low)),
            Self::AtMost(high) => write!(out, "≤ {}", Plain(*high)),
            Self::Between([low, high]) => write!(out, "{low} to {high}"),
            Self::Above(low) => write!(out, "> {low}"),
            Self::Below(high) => write!(out, "< {high}"),
            Self::Ordering(names) => write!(out, "{}", names.join(" < ")),
        }
    }
}

/// A number as people write it: powers of ten for the very small.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value != 0.0 && value.abs() < 1e-4 { write!(out, "{value:e}") } else { write!(out, "{value}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Computed {
        Computed::Runs(values.to_vec())
    }

    #[test]
    fn exact_values_are_inside_or_outside() {
        let judge = |tolerance: Tolerance, value| tolerance.judge(Some(100.0), &Computed::Exact(value));
        for (tolerance, inside, outside) in [
            (Tolerance::Absolute(2.0), [98.0, 102.0], [97.9, 102.1]),
            (Tolerance::Relative(0.1), [90.0, 110.0], [89.9, 110.1]),
            (Tolerance::RatioWithin(2.0), [50.0, 200.0], [49.9, 200.1]),
            (Tolerance::Between([1.0, 3.0]), [1.0, 3.0], [0.9, 3.1]),
            (Tolerance::AtLeast(5.0), [5.0, 6.0], [4.9, -1.0]),
            (Tolerance::AtMost(5.0), [5.0, -6.0], [5.1, 9.0]),
            (Tolerance::Above(5.0), [5.1, 6.0], [5.0, 4.0]),
            (Tolerance::Below(5.0), [4.9, -6.0], [5.0, 6.0]),
        ] {
            for value in inside {
                assert_eq!(judge(tolerance.clone(), value), Verdict::Match, "{tolerance} {value}");
            }
            for value in outside {
                assert_eq!(judge(tolerance.clone(), value), Verdict::Miss, "{tolerance} {value}");
            }
        }
        assert_eq!(Tolerance::Relative(0.1).judge(Some(-100.0), &Computed::Exact(-95.0)), Verdict::Match);
        assert_eq!(Tolerance::Absolute(0.0).judge(Some(0.0), &Computed::Exact(0.0)), Verdict::Match);
        assert_eq!(Tolerance::Absolute(1.0).judge(None, &Computed::Exact(0.0)), Verdict::Miss);
    }

    #[test]
    fn an_interval_across_an_edge_decides_nothing() {
        // Three runs: half width 4.303 s / sqrt(3) = 2.484 s with s = 1.
        let tolerance = Tolerance::Absolute(3.0);
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[9.0, 10.0, 11.0])), Verdict::Match);
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[11.0, 12.0, 13.0])), Verdict::Undecided);
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[13.0, 14.0, 15.0])), Verdict::Undecided);
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[15.0, 16.0, 17.0])), Verdict::Miss);
        // Wider than the tolerance on both sides.
        assert_eq!(Tolerance::Absolute(1.0).judge(Some(10.0), &runs(&[9.0, 10.0, 11.0])), Verdict::Undecided);
        // One run has no interval, no run no value.
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[10.0])), Verdict::Undecided);
        assert_eq!(tolerance.judge(Some(10.0), &runs(&[])), Verdict::Undecided);
    }

    #[test]
    fn an_ordering_compares_runs_of_one_seed() {
        let names = ["a", "b", "c"].map(String::from);
        let order = |values: [&[f64]; 3]| {
            let parts = names.iter().cloned().zip(values.map(runs)).collect();
            Tolerance::Ordering(names.to_vec()).judge(None, &Computed::Ordered(parts))
        };
        // b exceeds a by one in every run, although their spreads overlap.
        assert_eq!(order([&[1.0, 5.0, 9.0], &[2.0, 6.1, 9.9], &[20.0, 21.0, 22.0]]), Verdict::Match);
        assert_eq!(order([&[1.0, 5.0, 9.0], &[2.0, 4.0, 9.9], &[20.0, 21.0, 22.0]]), Verdict::Undecided);
        assert_eq!(order([&[2.0, 6.1, 9.9], &[1.0, 5.0, 9.0], &[20.0, 21.0, 22.0]]), Verdict::Miss);
        let exact = Computed::Ordered(vec![("b".into(), Computed::Exact(2.0)), ("a".into(), Computed::Exact(1.0))]);
        assert_eq!(Tolerance::Ordering(vec!["a".into(), "b".into()]).judge(None, &exact), Verdict::Match);
        assert_eq!(Tolerance::Ordering(vec!["b".into(), "a".into()]).judge(None, &exact), Verdict::Miss);
        assert_eq!(Tolerance::Ordering(vec!["b".into(), "x".into()]).judge(None, &exact), Verdict::Undecided);
    }

    #[test]
    fn tolerances_read_as_a_sentence_would() {
        assert_eq!(Tolerance::Relative(0.001).to_string(), "± 0.1 %");
        assert_eq!(Tolerance::Relative(0.07).to_string(), "± 7 %");
        assert_eq!(Tolerance::Ordering(vec!["TCP".into(), "SIMD".into()]).to_string(), "TCP < SIMD");
    }
}
