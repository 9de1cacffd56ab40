//! More seeds until an interval is narrow enough.

use std::fmt;
use std::str::FromStr;

use cwnd::quantity::QuantityError;

use super::Estimate;

/// When there are enough seeds: half the width of the 95 % interval is below a share of the mean.
///
/// Stopping at the first interval that is narrow enough prefers samples whose deviation came out small by chance: the true coverage
/// is some percent below 95 %, most so for few seeds. Starting with at least ten seeds and adding several at a time keeps that small
/// (Law & Kelton, *Simulation Modeling and Analysis*, section 9.4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    share: f64,
}

impl Until {
    /// Whether the estimate is good enough. One of a single run never is.
    #[must_use]
    pub fn met(self, estimate: &Estimate) -> bool {
        estimate.ci95.is_some_and(|half| half <= self.share * estimate.mean.abs())
    }

    /// How many seeds to add to `seeds`: half as many, at least one.
    #[must_use]
    pub(crate) fn more(seeds: u32) -> u32 {
        (seeds / 2).max(1)
    }
}

impl FromStr for Until {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let percent = || text.trim().strip_prefix("ci")?.trim_start().strip_prefix('<')?.trim().strip_suffix('%');
        let read = percent().and_then(|number| number.trim().parse::<f64>().ok());
        let share = read.map(|percent| percent / 100.0).filter(|share| *share > 0.0 && share.is_finite());
        share.map(|share| Self { share }).ok_or_else(|| refused(text))
    }
}

fn refused(text: &str) -> QuantityError {
    QuantityError::new(text, "how narrow the 95 % interval is to be, such as `ci<2%`")
}

impl fmt::Display for Until {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ci<{}%", self.share * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_narrow_enough_or_not() {
        let until: Until = "ci<2%".parse().expect("a rule");
        let estimate = |mean, ci95| Estimate { mean, ci95, n: 5, low: mean, high: mean };
        assert!(until.met(&estimate(100.0, Some(2.0))) && until.met(&estimate(-100.0, Some(1.9))));
        assert!(!until.met(&estimate(100.0, Some(2.1))) && !until.met(&estimate(100.0, None)));
        assert_eq!("ci < 0.5 %".parse::<Until>().map(|until| until.to_string()), Ok("ci<0.5%".to_string()));
        for wrong in ["2%", "ci<2", "ci<0%", "ci<-1%", "ci>2%", "ci<x%"] {
            assert_eq!(wrong.parse::<Until>(), Err(refused(wrong)));
        }
        assert_eq!([1, 2, 5, 10].map(Until::more), [1, 1, 2, 5]);
    }
}
