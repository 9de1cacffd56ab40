//! Why a plot cannot be made.

use thiserror::Error;

/// Why a plot cannot be made. Messages begin with the argument that is not accepted.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PlotError {
    /// The traces have no such column.
    #[error("column: no `{name}` in the traces, which have {known}")]
    Column {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// Nothing is left to draw.
    #[error("column: `{0}` has no numbers after the warm-up")]
    Empty(String),
    /// The run has no such flow.
    #[error("flows: no `{name}`, expected some of {known}")]
    Flow {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// Averages cannot be taken over such intervals.
    #[error("interval: expected {finest} to {duration} seconds, got {given}")]
    Interval {
        /// The time between samples, seconds.
        finest: f64,
        /// The length of the run, seconds.
        duration: f64,
        /// The requested interval, seconds.
        given: f64,
    },
    /// The bottleneck is a link of pure delay.
    #[error("the bottleneck has no rate")]
    NoRate,
    /// A phase plane needs two flows.
    #[error("flows: a phase plane has two of them, and the run has one")]
    OneFlow,
    /// The column holds words.
    #[error("column: `{0}` is text")]
    Text(String),
}
