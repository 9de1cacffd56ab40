//! Measures over plain numbers.

use cwnd_run::measure;
use pyo3::prelude::*;

/// Jain's index.
#[pyfunction]
pub(crate) fn jain(shares: Vec<f64>) -> Option<f64> {
    measure::jain(&shares)
}

/// (max - min) / mean.
#[pyfunction]
pub(crate) fn relative_range(shares: Vec<f64>) -> Option<f64> {
    measure::relative_range(&shares)
}

/// Deviation over mean.
#[pyfunction]
pub(crate) fn coefficient_of_variation(values: Vec<f64>) -> Option<f64> {
    measure::coefficient_of_variation(&values)
}

/// The mean of that over flows.
#[pyfunction]
pub(crate) fn stability_index(series: Vec<Vec<f64>>) -> Option<f64> {
    measure::stability_index(&series)
}

/// Max-min fair rates: capacities of links, and for each flow its links and what it asks for at most.
#[pyfunction]
pub(crate) fn max_min(capacity: Vec<f64>, flows: Vec<(Vec<usize>, Option<f64>)>) -> Vec<f64> {
    let flows: Vec<measure::RoutedFlow> =
        flows.into_iter().map(|(links, demand)| measure::RoutedFlow { links, demand }).collect();
    measure::max_min(&capacity, &flows)
}

/// Spearman's rho.
#[pyfunction]
pub(crate) fn spearman(one: Vec<f64>, other: Vec<f64>) -> Option<f64> {
    measure::spearman(&one, &other)
}

/// Kendall's tau-b.
#[pyfunction]
pub(crate) fn kendall(one: Vec<f64>, other: Vec<f64>) -> Option<f64> {
    measure::kendall(&one, &other)
}

/// A mean with its interval, as the tables of the command write it.
#[pyfunction]
pub(crate) fn written(mean: f64, ci95: Option<f64>, n: usize, low: f64, high: f64) -> String {
    measure::digits::cell(Some(measure::Estimate { mean, ci95, n, low, high }), 1.0)
}

/// Mean, half the width of its 95 % Student t interval, count, and the ends of the shown interval.
#[pyfunction]
pub(crate) fn estimate(values: Vec<f64>) -> Option<(f64, Option<f64>, usize, f64, f64)> {
    let found = measure::Estimate::over(&values, measure::Domain::ANY)?;
    let finite = found.mean.is_finite() && found.ci95.is_none_or(f64::is_finite);
    finite.then_some((found.mean, found.ci95, found.n, found.low, found.high))
}
