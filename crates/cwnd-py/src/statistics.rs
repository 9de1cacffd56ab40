//! Intervals over independent runs.

use std::cell::RefCell;

use cwnd_run::measure;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Value, lower and upper end, and how many runs.
type Interval = (f64, f64, f64, usize);

/// The mean with its Student t interval.
#[pyfunction]
pub(crate) fn t_interval(samples: Vec<f64>, level: f64) -> Option<Interval> {
    let (mean, half) = (measure::mean(&samples)?, measure::t_interval(&samples, level)?);
    Some((mean, mean - half, mean + half, samples.len()))
}

/// The mean of `a - b` with its Student t interval.
#[pyfunction]
pub(crate) fn paired(a: Vec<f64>, b: Vec<f64>, level: f64) -> Option<Interval> {
    let known = |side: Vec<f64>| side.into_iter().map(Some).collect::<Vec<_>>();
    t_interval(measure::differences(&known(a), &known(b)), level)
}

/// A mean, or a quantile, with its BCa bootstrap interval.
#[pyfunction]
pub(crate) fn bca(samples: Vec<f64>, quantile: Option<f64>, level: f64) -> Option<Interval> {
    ends(measure::bca(&samples, level, |values| match quantile {
        Some(q) => measure::quantile(values, q),
        None => measure::mean(values).unwrap_or(f64::NAN),
    }))
}

/// A ratio of sums with its BCa bootstrap interval.
#[pyfunction]
pub(crate) fn bca_ratio(samples: Vec<(f64, f64)>, level: f64) -> Option<Interval> {
    ends(measure::bca(&samples, level, measure::ratio))
}

/// Any statistic: a function of the numbers of the runs that were drawn, from 0.
#[pyfunction]
pub(crate) fn bca_by(count: usize, statistic: Bound<'_, PyAny>, level: f64) -> Result<Option<Interval>, Failure> {
    let raised = RefCell::new(None);
    let runs: Vec<usize> = (0..count).collect();
    let found = measure::bca(&runs, level, |drawn| {
        if raised.borrow().is_some() {
            return f64::NAN;
        }
        // Thousands of calls: long enough for Ctrl-C to be asked for.
        let value = statistic.py().check_signals().and_then(|()| statistic.call1((drawn.to_vec(),))?.extract());
        value.unwrap_or_else(|error| {
            raised.replace(Some(error));
            f64::NAN
        })
    });
    raised.into_inner().map_or(Ok(ends(found)), |error| Err(error.into()))
}

/// How many observations to leave out at the beginning.
#[pyfunction]
pub(crate) fn mser5(series: Vec<f64>) -> Option<usize> {
    measure::mser5(&series)
}

fn ends(found: Option<measure::Resampled>) -> Option<Interval> {
    found.map(|found| (found.value, found.low, found.high, found.n))
}
