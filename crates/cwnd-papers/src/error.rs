//! What can go wrong when papers are run.

use cwnd_sim::SetupError;
use thiserror::Error;

use cwnd_run::cells::StoreError;
use cwnd_run::scenario::ScenarioError;

/// Papers cannot be run.
#[derive(Debug, Error)]
pub enum PaperError {
    /// An assumption cannot be read as what a runner needs.
    #[error("--set {key}={value}: {reason}")]
    Assumption {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Published data have another shape than a runner expects.
    #[error("{place}: `{name}` of its data: {reason}")]
    Data {
        /// Paper and result.
        place: String,
        /// The name of the data.
        name: String,
        /// What is wrong with them.
        reason: String,
    },
    /// A runner needs what its paper's folder does not have.
    #[error("{place}: there is no {what} `{name}`")]
    Lacks {
        /// Paper and result.
        place: String,
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A scenario or `published.toml` is wrong.
    #[error("{0}")]
    Scenario(Box<ScenarioError>),
    /// The simulator refuses a setup, or the work was interrupted.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A cell cannot be stored.
    #[error("{0}; `--no-store` runs without")]
    Store(#[from] StoreError),
    /// A runner gave a value for a row that is not listed, or twice.
    #[error("{place}: its runner has a value for `{row}`, which published.toml does not list once")]
    Stray {
        /// Paper and result.
        place: String,
        /// The row.
        row: String,
    },
    /// Nothing is called so.
    #[error("{}", cwnd_run::scenario::unknown(what, name, known))]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}
