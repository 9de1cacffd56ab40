//! Errors of the lab as exceptions of `cwnd.errors`.

use cwnd_lab::sweep::DatasetError;
use cwnd_run::cells::StoreError;
use cwnd_run::execute::RunError;
use cwnd_run::scenario::{Place, ScenarioError};
use cwnd_run::stacks::AlgorithmError;
use cwnd_sim::SetupError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use thiserror::Error;

/// Why something cannot be done.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// An algorithm cannot be read.
    #[error("{argument}: {error}")]
    Algorithm {
        /// The argument that it was given as.
        argument: String,
        /// The fault.
        error: AlgorithmError,
    },
    /// A value given to a function is not accepted.
    #[error("{0}")]
    Argument(String),
    /// A file that is named cannot be written.
    #[error("{0}")]
    File(String),
    /// A directory of results cannot be written.
    #[error(transparent)]
    Directory(DatasetError),
    /// Python raised something.
    #[error(transparent)]
    Python(#[from] PyErr),
    /// A scenario cannot be run.
    #[error("{}", scenario_text(.0))]
    Scenario(#[from] ScenarioError),
    /// The simulator refused a setup, or was stopped.
    #[error("{}", simulation_text(.0))]
    Simulation(RunError),
    /// The results of a run cannot be kept.
    #[error("{0}")]
    Store(StoreError),
    /// Something of ours is broken.
    #[error("{0}")]
    Unexpected(String),
}

impl Failure {
    /// The message of a failure that cannot be raised, with the class of another's exception and the notes of an exception.
    pub(crate) fn told(&self, py: Python<'_>) -> String {
        let Self::Python(error) = self else { return self.to_string() };
        let value = error.value(py);
        let class = error.get_type(py);
        let ours = class.module().is_ok_and(|module| module.to_string().starts_with("cwnd."));
        let name = class.name().map_or_else(|_| "an exception".to_string(), |name| name.to_string());
        let text = if ours { value.to_string() } else { format!("{name}: {value}") };
        let notes = value.getattr("__notes__").and_then(|notes| notes.extract::<Vec<String>>()).unwrap_or_default();
        let notes: String = notes.iter().map(|note| format!(" ({note})")).collect();
        text + &notes
    }

    /// The name of the exception in `cwnd.errors`.
    fn class(&self) -> &'static str {
        match self {
            Self::Algorithm { .. } => "AlgorithmError",
            Self::Argument(_) => "ArgumentError",
            Self::File(_) => "FileError",
            Self::Scenario(_) => "ScenarioError",
            Self::Directory(_) | Self::Store(_) => "StoreError",
            Self::Simulation(_) | Self::Unexpected(_) | Self::Python(_) => "SimulationError",
        }
    }
}

/// Changes are a dictionary here, and no `--set`.
fn scenario_text(error: &ScenarioError) -> String {
    match &error.place {
        Place::Override(item) => format!("`{item}`: {}", error.fault),
        _ => error.to_string(),
    }
}

/// The text of an error; the limit on the memory of runs is an argument here.
fn simulation_text(error: &RunError) -> String {
    match error {
        RunError::Setup(SetupError::Memory { .. }) => format!("{error} (`memory`)"),
        _ => error.to_string(),
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => Self::Store(error),
            error => Self::Simulation(error),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        if let Failure::Python(error) = failure {
            return error;
        }
        Python::attach(|py| {
            let class = py.import("cwnd.errors").and_then(|errors| errors.getattr(failure.class()));
            match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
                Ok(class) => Self::from_type(class, failure.to_string()),
                Err(error) => error,
            }
        })
    }
}
