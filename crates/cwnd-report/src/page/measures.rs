//! The measures of a page of results, and how their numbers are written.

use cwnd_run::measure::digits::{Pair, cell, pair};
use cwnd_run::measure::{Estimate, Estimates, Measure, Reach, table};

use crate::plot::{DataSet, Frame, Group};

/// A mean as the table has it.
#[derive(Debug, PartialEq)]
pub(super) struct Cell {
    /// The sort key of the table.
    pub(super) value: f64,
    pub(super) mean: String,
    /// The spread, shown next to the value: `± half`, or `(low to high)`.
    pub(super) spread: Option<String>,
    /// How many seeds had a value, where not all had.
    pub(super) seeds: Option<usize>,
}

impl Cell {
    /// The cell of a measure over `seeds` seeds; none without a value.
    pub(super) fn of_measure(measure: &Measure, measures: &Estimates, seeds: usize) -> Option<Self> {
        Some(Self::of(measure.of(measures)?, measure.scale.factor(), seeds))
    }

    /// The cell of an estimate over `seeds` seeds, in a unit that is `scale` times as fine.
    fn of(estimate: Estimate, scale: f64, seeds: usize) -> Self {
        let Pair { mean, spread } = pair(&estimate, scale);
        Self { value: estimate.mean, mean, spread, seeds: (estimate.n < seeds).then_some(estimate.n) }
    }
}

/// The measures of a report that something has a value of.
pub(super) fn columns(frame: &Frame<'_>) -> Vec<&'static Measure> {
    let known = |measure: &&Measure| frame.shown.iter().any(|one| measure.of(one.measures).is_some());
    Reach::Report.measures().filter(known).collect()
}

/// The numbers of the table for the CSV file, in base units.
pub(super) fn data(frame: &Frame<'_>) -> DataSet {
    let groups = frame.shown.iter().zip(&frame.labels).flat_map(|(one, label)| {
        Reach::Report.measures().filter_map(move |measure| {
            let estimate = measure.of(one.measures)?;
            let half = estimate.ci95.unwrap_or(f64::NAN);
            let numbers = [estimate.mean, half, estimate.low, estimate.high, estimate.n as f64];
            Some(Group {
                texts: vec![label.clone(), measure.key.to_string()],
                numbers: numbers.map(|value| vec![value]).into(),
            })
        })
    });
    DataSet::new("results", ["algorithm", "measure", "mean", "ci95", "low", "high", "n"], groups.collect())
}

/// The measures in one line, for the head of a section.
pub(super) fn headline(measures: &Estimates) -> String {
    let shown = [&table::UTILISATION, &table::JAIN, &table::QUEUE_DELAY_P95];
    let parts = shown.into_iter().filter_map(|measure| {
        let value = cell(Some(measure.of(measures)?), measure.scale.factor());
        Some(format!("{} {value} {}", measure.title, measure.scale.unit()).trim_end().to_string())
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_tells_how_many_runs_it_is_the_mean_of() {
        let five = |mean, half| Estimate { mean, ci95: Some(half), n: 5, low: mean - half, high: mean + half };
        let cell = |scale, seeds| Cell::of(five(0.5, 0.012), scale, seeds);
        let of = |value: f64, mean: &str, spread: &str, seeds| Cell {
            value,
            mean: mean.into(),
            spread: Some(spread.into()),
            seeds,
        };
        let written = |mean: &str, spread: &str, seeds| of(0.5, mean, spread, seeds);
        assert_eq!(cell(1.0, 5), written("0.500", "± 0.012", None));
        assert_eq!(cell(1e3, 8), written("500", "± 12", Some(5)));
        assert_eq!(Cell::of(five(97_333_333.333, 2.6e-8), 1e-6, 5), of(97_333_333.333, "97.333", "± 0.000", None));
        let three = Estimate { n: 3, low: 0.49, high: 0.52, ..five(0.5, 0.012) };
        assert_eq!(Cell::of(three, 1.0, 5), written("0.500", "(0.490 to 0.520)", Some(3)));
        assert_eq!(
            Cell::of(Estimate { high: 0.51, ..five(0.5, 0.012) }, 1.0, 5),
            written("0.500", "(0.488 to 0.510)", None)
        );
    }
}
