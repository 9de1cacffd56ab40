//! Errors of running papers.

use cwnd::quantity::QuantityError;
use cwnd::registry::SpecError;
use thiserror::Error;

use cwnd_run::cells::StoreError;
use cwnd_run::execute::RunError;
use cwnd_run::scenario::ScenarioError;
use cwnd_run::stacks::AlgorithmError;

/// Papers cannot be run.
#[derive(Debug, Error)]
pub enum PaperError {
    /// A flow of a scenario names an unknown algorithm, or parameters that its algorithm does not have.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// An assumption cannot be read as what a runner needs.
    #[error("--set {key}={value}: {reason}")]
    Assumption {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
        /// The fault.
        reason: String,
    },
    /// Published data have not the type that a runner reads.
    #[error("{place}: `{name}` of its data: {reason}")]
    Data {
        /// Paper and result.
        place: String,
        /// The name of the data.
        name: String,
        /// The fault.
        reason: String,
    },
    /// A runner asks for a scenario, an assumption or data that its paper does not have.
    #[error("{place}: there is no {what} `{name}`")]
    Missing {
        /// Paper and result.
        place: String,
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// An assumption, or a value computed from assumptions, is no quantity that a scenario accepts.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// The simulator refuses a setup or panics, or the work was interrupted.
    #[error(transparent)]
    Run(RunError),
    /// A scenario or `published.toml` is wrong.
    #[error("{0}")]
    Scenario(Box<ScenarioError>),
    /// An assumption is no algorithm, or has parameters that it does not take.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A cell cannot be stored.
    #[error("{0}; `--no-store` runs without")]
    Store(StoreError),
    /// No paper, result or assumption has this name.
    #[error("{}", cwnd_run::scenario::unknown(what, name, known))]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A runner gave a value for a row that is not listed, or twice.
    #[error("{place}: its runner has a value for `{row}`, which published.toml does not list once")]
    Unlisted {
        /// Paper and result.
        place: String,
        /// The row.
        row: String,
    },
}

/// The result of runners and their helpers.
pub(crate) type Result<T = (), E = PaperError> = std::result::Result<T, E>;

impl From<RunError> for PaperError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => Self::Store(error),
            error => Self::Run(error),
        }
    }
}

impl From<ScenarioError> for PaperError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}
