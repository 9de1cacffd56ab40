//! The outcome of one run, here or elsewhere.

use cwnd_run::measure::{Domain, Estimate, Summary};
use serde::{Deserialize, Serialize};

use crate::case::Measure;

/// The numbers of one run, between the end of the warm-up and the end. Keys and units are those of `cwnd run --json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) goodput_bps: f64,
    pub(crate) flow_goodput_bps: Vec<f64>,
    pub(crate) utilisation: f64,
    pub(crate) loss_rate: f64,
    pub(crate) queue_delay_mean_s: f64,
    /// How long the run took.
    #[serde(default)]
    pub(crate) wall_s: f64,
}

impl Outcome {
    /// The numbers of a run here; a measure that the run cannot answer is not a number.
    pub(crate) fn of(seed: u64, summary: &Summary) -> Self {
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Self {
            seed,
            goodput_bps: or_nan(summary.goodput_bps),
            flow_goodput_bps: summary.flow_goodput_bps.iter().copied().map(or_nan).collect(),
            utilisation: or_nan(summary.utilisation),
            loss_rate: or_nan(summary.loss_rate),
            queue_delay_mean_s: or_nan(summary.queue_delay_mean_s),
            wall_s: 0.0,
        }
    }

    fn value(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Utilisation => self.utilisation,
            Measure::LossRate => self.loss_rate,
            Measure::Goodput => self.goodput_bps / 1e6,
            Measure::QueueDelay => self.queue_delay_mean_s * 1e3,
        }
    }
}

/// A measure over the runs of all seeds; none without runs.
pub(crate) fn estimate(outcomes: &[Outcome], measure: Measure) -> Option<Estimate> {
    Estimate::over(&outcomes.iter().map(|outcome| outcome.value(measure)).collect::<Vec<_>>(), Domain::POSITIVE)
}
