//! How a command ends when it does not succeed.

use clap::{Args, Command};
use cwnd_run::execute::RunError;
use cwnd_run::files::FolderError;
use cwnd_run::scenario::ScenarioError;
use cwnd_sim::SetupError;
use nix::sys::signal::Signal;
use serde::Serialize;
use thiserror::Error;

use crate::output;
use crate::signals::{self, Deaf};

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
    /// Standard output cannot be written.
    #[error("{0}")]
    Output(String),
    /// A command that uses the network failed.
    #[error("{1}")]
    Transfer(Kind, String),
}

/// The kinds of failure that scripts can tell apart. The exit codes, the help of the commands that use the network, and docs/files.md
/// follow from this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed,
    Usage,
    Unproven,
    Refused,
    Busy,
    NoAnswer,
    File,
    HungUp,
    Interrupted,
    Closed,
    Terminated,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Failed,
        Self::Usage,
        Self::Unproven,
        Self::Refused,
        Self::Busy,
        Self::NoAnswer,
        Self::File,
        Self::HungUp,
        Self::Interrupted,
        Self::Closed,
        Self::Terminated,
    ];

    /// Its exit code, its name in JSON, and its meaning.
    const fn row(self) -> (u8, &'static str, &'static str) {
        match self {
            Self::Failed => {
                (1, "failed", "some files have not been transferred, or a failure that has no code of its own")
            }
            Self::Usage => (
                2,
                "usage",
                "an argument, a variable of the environment or a file that an option names is wrong; nothing was done",
            ),
            Self::Unproven => (3, "unproven", "a side has not proven that it has the code or the key"),
            Self::Refused => (4, "refused", "the other side or the meeting place refuses, or is full"),
            Self::Busy => (5, "busy", "another receiver has this transfer"),
            Self::NoAnswer => (6, "no_answer", "nobody answers or comes, or the connection was lost for good"),
            Self::File => (7, "file", "a file or folder here cannot be read or written, or the disk is full"),
            // What a shell reports for a program that the signal ended.
            Self::HungUp => (128 + Signal::SIGHUP as u8, "interrupted", "interrupted by SIGHUP"),
            Self::Interrupted => {
                (128 + Signal::SIGINT as u8, "interrupted", "interrupted by SIGINT, as Ctrl-C sends it")
            }
            Self::Closed => (128 + Signal::SIGPIPE as u8, "closed", "the reader of standard output has closed it"),
            Self::Terminated => (128 + Signal::SIGTERM as u8, "interrupted", "interrupted by SIGTERM"),
        }
    }

    /// That of the signal that has arrived.
    fn of_signal() -> Self {
        match signals::arrived() {
            Some(Signal::SIGHUP) => Self::HungUp,
            Some(Signal::SIGTERM) => Self::Terminated,
            _ => Self::Interrupted,
        }
    }
}

/// The last line of `--json` of a command that uses the network and failed.
#[derive(Serialize)]
struct LastLine<'a> {
    event: &'static str,
    kind: &'static str,
    exit: u8,
    error: &'a str,
}

/// The last line of `--json` for a failure of this kind.
pub(crate) fn last_line(kind: Kind, error: &str) -> String {
    let (exit, kind, _) = kind.row();
    // A report may follow in further lines, which are for people.
    let error = error.lines().next().unwrap_or_default();
    serde_json::to_string(&LastLine { event: "error", kind, exit, error }).unwrap_or_default() + "\n"
}

/// The help of a command that uses the network: `text`, and the exit codes.
pub(crate) fn with_exit_codes(text: &str) -> String {
    let rows = Kind::ALL.map(Kind::row).map(|(exit, kind, meaning)| format!("  {exit:>3}  {kind:<11}  {meaning}\n"));
    let codes = rows.concat();
    format!(
        "{text}\n\nExit codes, and `kind` in the last line of --json:\n    0               done, or a server that a signal has ended\n{codes}"
    )
}

impl Failure {
    /// The lines for programs cannot be written any more.
    pub(crate) fn closed() -> Self {
        match output::failure() {
            Some(why) => Self::Transfer(Kind::File, format!("cannot write to standard output: {why}")),
            None => Self::Transfer(Kind::Closed, Kind::Closed.row().2.to_owned()),
        }
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Run(_) | Self::Output(_) => Kind::Failed,
            Self::Input(_) => Kind::Usage,
            Self::Interrupted | Self::Stopped(_) => Kind::of_signal(),
            Self::Transfer(kind, _) => *kind,
        }
    }

    /// Its exit code.
    pub(crate) fn code(&self) -> u8 {
        self.kind().row().0
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

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<Deaf> for Failure {
    fn from(error: Deaf) -> Self {
        Self::Run(error.to_string())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn the_documentation_and_the_help_have_every_kind() {
        let documented = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/files.md")).unwrap();
        let help = with_exit_codes("");
        for (exit, kind, meaning) in Kind::ALL.map(Kind::row) {
            assert!(documented.contains(&format!("| {exit} | `{kind}` | {meaning} |\n")), "{exit}");
            assert!(help.contains(meaning), "{exit}");
        }
        let exits: BTreeSet<u8> = Kind::ALL.iter().map(|kind| kind.row().0).collect();
        assert_eq!(exits.len(), Kind::ALL.len(), "two kinds have one exit code");
    }
}
