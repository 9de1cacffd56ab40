//! Every measure of a page of results, with its meaning, and how its numbers are written.

use cwnd_run::measure::digits::{Pair, cell, pair};
use cwnd_run::measure::{Estimate, Estimates};

use crate::plot::{DataSet, Frame, Group};

/// A column of the table of results.
pub(super) struct Column {
    pub(super) title: &'static str,
    /// Empty for shares and indices.
    pub(super) unit: &'static str,
    /// The key in JSON and CSV.
    pub(super) key: &'static str,
    /// Shown units in one base unit.
    scale: f64,
    of: fn(&Estimates) -> Option<Estimate>,
    pub(super) meaning: &'static str,
}

/// A mean as the table has it.
#[derive(Debug, PartialEq)]
pub(super) struct Cell {
    /// What the table is sorted by.
    pub(super) value: f64,
    pub(super) mean: String,
    /// What is shown beside it: `± half`, or `(low to high)`.
    pub(super) spread: Option<String>,
    /// How many seeds had a value, where not all had.
    pub(super) seeds: Option<usize>,
}

impl Column {
    /// The cell of these measures over so many seeds.
    pub(super) fn cell(&self, measures: &Estimates, seeds: usize) -> Option<Cell> {
        (self.of)(measures).map(|estimate| Cell::of(estimate, self.scale, seeds))
    }
}

impl Cell {
    /// The cell of an estimate over so many seeds, in a unit that is `scale` times as fine.
    pub(super) fn of(estimate: Estimate, scale: f64, seeds: usize) -> Self {
        let Pair { mean, beside: spread } = pair(&estimate, scale);
        Self { value: estimate.mean, mean, spread, seeds: (estimate.n < seeds).then_some(estimate.n) }
    }
}

/// Only the columns in which something has a value.
pub(super) fn columns(frame: &Frame<'_>) -> Vec<&'static Column> {
    let known = |column: &&Column| frame.shown.iter().any(|one| (column.of)(one.measures).is_some());
    COLUMNS.iter().filter(known).collect()
}

/// The same numbers for the CSV file, in base units.
pub(super) fn data(frame: &Frame<'_>) -> DataSet {
    let groups = frame.shown.iter().zip(&frame.labels).flat_map(|(one, label)| {
        COLUMNS.iter().filter_map(move |column| {
            let estimate = (column.of)(one.measures)?;
            let half = estimate.ci95.unwrap_or(f64::NAN);
            let numbers = [estimate.mean, half, estimate.low, estimate.high, estimate.n as f64];
            Some(Group {
                texts: vec![label.clone(), column.key.to_string()],
                numbers: numbers.map(|value| vec![value]).into(),
            })
        })
    });
    DataSet::new("results", ["algorithm", "measure", "mean", "ci95", "low", "high", "n"], groups.collect())
}

/// The measures in one line, for the head of a section.
pub(super) fn headline(measures: &Estimates) -> String {
    let shown = [
        ("utilisation", measures.utilisation, 100.0, " %"),
        ("Jain", measures.jain, 1.0, ""),
        ("p95 queueing delay", measures.queue_delay_p95_s, 1e3, " ms"),
    ];
    let parts = shown.into_iter().filter_map(|(name, estimate, scale, unit)| {
        estimate.map(|estimate| format!("{name} {}{unit}", cell(Some(estimate), scale)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

const COLUMNS: &[Column] = &[
    Column {
        title: "Utilisation",
        unit: "%",
        key: "utilisation",
        scale: 1e2,
        of: |estimates| estimates.utilisation,
        meaning: "Bits carried by the bottleneck as a share of what it could carry: its rate, or that of a shaper or a policer where it is less.",
    },
    Column {
        title: "Goodput",
        unit: "Mbit/s",
        key: "goodput_bps",
        scale: 1e-6,
        of: |estimates| estimates.goodput_bps,
        meaning: "Payload of all flows together that arrived for the first time, per second in which at least one of them was there.",
    },
    Column {
        title: "Jain’s index",
        unit: "",
        key: "jain",
        scale: 1.0,
        of: |estimates| estimates.jain,
        meaning: "(Σx)²/(nΣx²) of the goodputs of the flows that were there, each over its life: 1 is equal, 1/n is one flow having all.",
    },
    Column {
        title: "Range",
        unit: "",
        key: "goodput_range",
        scale: 1.0,
        of: |estimates| estimates.goodput_range,
        meaning: "Largest less smallest goodput of a flow, divided by the mean.",
    },
    Column {
        title: "Queueing delay",
        unit: "mean, ms",
        key: "queue_delay_mean_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_mean_s,
        meaning: "How long packets waited at the bottleneck before their transmission began.",
    },
    Column {
        title: "Queueing delay",
        unit: "p95, ms",
        key: "queue_delay_p95_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_p95_s,
        meaning: "Its 95th percentile.",
    },
    Column {
        title: "Queueing delay",
        unit: "p99, ms",
        key: "queue_delay_p99_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_p99_s,
        meaning: "Its 99th percentile.",
    },
    Column {
        title: "Loss",
        unit: "%",
        key: "loss_rate",
        scale: 1e2,
        of: |estimates| estimates.loss_rate,
        meaning: "Packets dropped by the queue or lost at random, of those offered to the bottleneck.",
    },
    Column {
        title: "Marks",
        unit: "%",
        key: "mark_rate",
        scale: 1e2,
        of: |estimates| estimates.mark_rate,
        meaning: "Packets marked, of those offered to the bottleneck.",
    },
    Column {
        title: "Retransmitted",
        unit: "%",
        key: "retransmission_ratio",
        scale: 1e2,
        of: |estimates| estimates.retransmission_ratio,
        meaning: "Retransmissions of all data packets sent.",
    },
    Column {
        title: "Efficiency index",
        unit: "Mbit/s",
        key: "efficiency_index_bps",
        scale: 1e-6,
        of: |estimates| estimates.efficiency_index_bps,
        meaning: "EI: sum of the flows’ mean goodputs over whole intervals of 1 s.",
    },
    Column {
        title: "Stability index",
        unit: "",
        key: "stability_index",
        scale: 1.0,
        of: |estimates| estimates.stability_index,
        meaning: "SI: deviation of a flow’s goodput over intervals of 1 s divided by its mean, averaged over flows; 0 is steady.",
    },
    Column {
        title: "Smoothness",
        unit: "",
        key: "smoothness",
        scale: 1.0,
        of: |estimates| estimates.smoothness,
        meaning: "The same over intervals of 200 ms.",
    },
    Column {
        title: "Time to 90 %",
        unit: "s",
        key: "time_to_90_utilisation_s",
        scale: 1.0,
        of: |estimates| estimates.time_to_90_utilisation_s,
        meaning: "From the first start until the bottleneck was used to 90 % for 200 ms.",
    },
    Column {
        title: "Convergence",
        unit: "s",
        key: "convergence_time_s",
        scale: 1.0,
        of: |estimates| estimates.convergence_time_s,
        meaning: "From the last start until that flow had its fair share to within 10 % for 1 s.",
    },
];

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
