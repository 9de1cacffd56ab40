//! How a command ends when it does not succeed.

use std::process::ExitCode;

use cwnd_run::execute::RunError;
use cwnd_run::files::FolderError;
use cwnd_run::scenario::{Place, ScenarioError};
use cwnd_sim::SetupError;
use thiserror::Error;

/// Why a command failed, in one sentence.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The input is wrong; nothing was written.
    #[error("{0}")]
    Input(String),
    /// Ctrl-C.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Ctrl-C after a part of the work was done and kept.
    #[error("{0}")]
    Stopped(String),
    /// The input is right, but the work failed.
    #[error("{0}")]
    Run(String),
}

impl Failure {
    /// The exit code that says so.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Run(_) => 1,
            Self::Input(_) => 2,
            // What a shell reports for a program that SIGINT ended.
            Self::Interrupted | Self::Stopped(_) => 130,
        })
    }

    /// A fault in a scenario that was made from flags, which are named after its keys.
    pub(crate) fn of_flags(error: &ScenarioError) -> Self {
        match &error.place {
            Place::Key(key) if !key.is_empty() => {
                let flag = match key.rsplit('.').next().unwrap_or_default() {
                    // What a scenario calls otherwise, or has beside what the flags set.
                    "count" | "sampling" => "flows".to_string(),
                    key => key.replace('_', "-"),
                };
                Self::Input(format!("--{flag}: {}", error.fault))
            }
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Self::Input(format!("--out: {error}"))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted(_) => Self::Interrupted,
            error @ RunError::Setup(SetupError::Memory { .. }) => Self::Run(format!("{error} (--memory)")),
            other => Self::Run(other.to_string()),
        }
    }
}
