//! How a command ends when it does not succeed.

use std::process::ExitCode;

use clap::{Args, Command};
use cwnd_run::execute::RunError;
use cwnd_run::files::FolderError;
use cwnd_run::scenario::ScenarioError;
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

    /// A fault in a scenario that was made from options, which are named after its keys.
    pub(crate) fn of_options<A: Args>(error: &ScenarioError) -> Self {
        let named = error.at_argument().and_then(|(key, reason)| {
            // Keys that scenarios name differently, or that no option sets.
            let key = if ["count", "sampling"].contains(&key) { "flows" } else { key };
            option::<A>(key).map(|option| format!("{option}: {reason}"))
        });
        Self::Input(named.unwrap_or_else(|| error.fault.to_string()))
    }
}

/// The option that is named after a key of scenarios.
pub(crate) fn option<A: Args>(key: &str) -> Option<String> {
    let option = key.replace('_', "-");
    let options = A::augment_args(Command::new("cwnd"));
    let known = options.get_arguments().any(|one| one.get_long() == Some(&option));
    known.then(|| format!("--{option}"))
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
