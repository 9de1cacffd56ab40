//! Failures of the commands of the laboratory.

use clap::{Args, Command};
use cwnd_run::execute::RunError;
use cwnd_run::files::DirectoryError;
use cwnd_run::scenario::ScenarioError;
use cwnd_sim::SetupError;
use cwnd_terminal::failure::Failure as Shared;
use cwnd_terminal::signals::Deaf;

/// Why a command failed: the type of all programs, made from the errors of the laboratory.
#[derive(Debug)]
pub(crate) struct Failure(Shared);

impl Failure {
    /// The input is wrong; nothing was written.
    pub(crate) fn input(why: String) -> Self {
        Self(Shared::Input(why))
    }

    /// The input is right, but the work failed.
    pub(crate) fn run(why: String) -> Self {
        Self(Shared::Run(why))
    }

    /// Ctrl-C after a part of the work was done and stored.
    pub(crate) fn stopped(why: String) -> Self {
        Self(Shared::Stopped(why))
    }

    /// A fault in a scenario that was made from options, which are named after its keys.
    pub(crate) fn of_options<A: Args>(error: &ScenarioError) -> Self {
        let named = error.at_argument().and_then(|(key, reason)| {
            // Keys that scenarios name differently, or that no option sets.
            let key = if ["count", "sampling"].contains(&key) { "flows" } else { key };
            option::<A>(key).map(|option| format!("{option}: {}", in_options::<A>(&reason)))
        });
        Self::input(named.unwrap_or_else(|| in_options::<A>(&error.fault.to_string())))
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
        failure.0
    }
}

impl From<Shared> for Failure {
    fn from(failure: Shared) -> Self {
        Self(failure)
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<Deaf> for Failure {
    fn from(error: Deaf) -> Self {
        Self(error.into())
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        Self::input(format!("--out: {error}"))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted(_) => Self(Shared::Interrupted),
            error @ RunError::Setup(SetupError::Memory { .. }) => Self::run(format!("{error} (--memory)")),
            other => Self::run(other.to_string()),
        }
    }
}
