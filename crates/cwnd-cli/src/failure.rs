//! How a command of the laboratory ends when it does not succeed.

use clap::{Args, Command};
use cwnd_run::execute::RunError;
use cwnd_run::files::FolderError;
use cwnd_run::scenario::ScenarioError;
use cwnd_sim::SetupError;
use cwnd_terminal::failure::Failure as Shared;
use cwnd_terminal::signals::Deaf;
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
    /// What fails alike in every program, such as standard output.
    #[error(transparent)]
    Shared(#[from] Shared),
}

impl Failure {
    /// Its exit code.
    pub(crate) fn code(self) -> u8 {
        Shared::from(self).code()
    }

    /// A fault in a scenario that was made from options, which are named after its keys.
    pub(crate) fn of_options<A: Args>(error: &ScenarioError) -> Self {
        let named = error.at_argument().and_then(|(key, reason)| {
            // Keys that scenarios name differently, or that no option sets.
            let key = if ["count", "sampling"].contains(&key) { "flows" } else { key };
            option::<A>(key).map(|option| format!("{option}: {}", in_options::<A>(&reason)))
        });
        Self::Input(named.unwrap_or_else(|| in_options::<A>(&error.fault.to_string())))
    }
}

/// A sentence in which the names of keys are those of options.
fn in_options<A: Args>(sentence: &str) -> String {
    let words = sentence.split('`').enumerate().map(|(at, word)| match option::<A>(word).filter(|_| at % 2 == 1) {
        Some(option) => option,
        None => word.to_string(),
    });
    words.collect::<Vec<_>>().join("`")
}

/// The option that is named after a key of scenarios.
pub(crate) fn option<A: Args>(key: &str) -> Option<String> {
    let option = key.replace('_', "-");
    let options = A::augment_args(Command::new("cwnd"));
    let known = options.get_arguments().any(|one| one.get_long() == Some(&option));
    known.then(|| format!("--{option}"))
}

impl From<Failure> for Shared {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(why) => Self::Input(why),
            Failure::Interrupted => Self::Interrupted,
            Failure::Stopped(why) => Self::Stopped(why),
            Failure::Run(why) => Self::Run(why),
            Failure::Shared(failure) => failure,
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<Deaf> for Failure {
    fn from(error: Deaf) -> Self {
        Self::Shared(error.into())
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
