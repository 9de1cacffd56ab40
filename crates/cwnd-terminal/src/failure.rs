//! Failures of a command, with their exit codes.

use serde::Serialize;
use thiserror::Error;

use crate::output;
use crate::signals::{self, Deaf, Signal};

/// Why a command failed, in one sentence.
#[derive(Debug, Error)]
pub enum Failure {
    /// The input is wrong; nothing was written.
    #[error("{0}")]
    Input(String),
    /// Ctrl-C.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Ctrl-C after a part of the work was done and stored.
    #[error("{0}")]
    Stopped(String),
    /// The input is right, but the work failed.
    #[error("{0}")]
    Run(String),
    /// Standard output cannot be written.
    #[error("{0}")]
    Output(String),
    /// A command failed with an exit code of its own.
    #[error("{1}")]
    Transfer(Kind, String),
}

/// The kinds of failure that scripts can distinguish. The exit codes, the help of the commands that use the network, and docs/files.md
/// follow from this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Some files have not been transferred, or a failure that has no code of its own.
    Failed,
    /// An argument, a variable of the environment or a file that an option names is wrong.
    Usage,
    /// A side has not proven that it has the code or the key.
    Unproven,
    /// The other side or the meeting place refuses, or is full.
    Refused,
    /// Another receiver has this transfer.
    Busy,
    /// The peer does not answer or come, or the connection was lost permanently.
    NoAnswer,
    /// A file or directory cannot be read or written.
    File,
    /// SIGHUP.
    HungUp,
    /// SIGINT.
    Interrupted,
    /// The reader of standard output has closed it.
    Closed,
    /// SIGTERM.
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
            Self::NoAnswer => (6, "no_answer", "nobody answers or connects, or the connection was lost permanently"),
            Self::File => (7, "file", "a file or directory here cannot be read or written, or the disk is full"),
            // What a shell reports for a program that the signal ended.
            Self::HungUp => (Signal::HangUp.exit_code(), "interrupted", "interrupted by SIGHUP"),
            Self::Interrupted => {
                (Signal::Interrupt.exit_code(), "interrupted", "interrupted by SIGINT, as Ctrl-C sends it")
            }
            Self::Closed => (128 + SIGPIPE, "closed", "the reader of standard output has closed it"),
            Self::Terminated => (Signal::Terminate.exit_code(), "interrupted", "interrupted by SIGTERM"),
        }
    }

    /// The kind of the signal that has arrived.
    fn of_signal() -> Self {
        match signals::arrived() {
            Some(Signal::HangUp) => Self::HungUp,
            Some(Signal::Terminate) => Self::Terminated,
            _ => Self::Interrupted,
        }
    }
}

/// The number of the signal that ends a program whose reader is gone.
const SIGPIPE: u8 = 13;

/// The last line of `--json` of a command that uses the network and failed.
#[derive(Serialize)]
struct LastLine<'a> {
    event: &'static str,
    kind: &'static str,
    exit: u8,
    error: &'a str,
}

/// The last line of `--json` for a failure of this kind.
#[must_use]
pub fn last_line(kind: Kind, error: &str) -> String {
    let (exit, kind, _) = kind.row();
    // A report may follow in further lines, which are for people.
    let error = error.lines().next().unwrap_or_default();
    serde_json::to_string(&LastLine { event: "error", kind, exit, error }).unwrap_or_default() + "\n"
}

/// The help of a command that uses the network: `text`, followed by the exit codes.
#[must_use]
pub fn with_exit_codes(text: &str) -> String {
    let rows = Kind::ALL.map(Kind::row).map(|(exit, kind, meaning)| format!("  {exit:>3}  {kind:<11}  {meaning}\n"));
    let codes = rows.concat();
    format!(
        "{text}\n\nExit codes, and `kind` in the last line of --json:\n    0               done, or a server that a signal has ended\n{codes}"
    )
}

impl Failure {
    /// The failure of output lines for programs that can no longer be written.
    #[must_use]
    pub fn closed() -> Self {
        match output::failure() {
            Some(why) => Self::Transfer(Kind::File, format!("cannot write to standard output: {why}")),
            None => Self::Transfer(Kind::Closed, Kind::Closed.row().2.to_owned()),
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Run(_) | Self::Output(_) => Kind::Failed,
            Self::Input(_) => Kind::Usage,
            Self::Interrupted | Self::Stopped(_) => Kind::of_signal(),
            Self::Transfer(kind, _) => *kind,
        }
    }

    /// Its exit code.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.kind().row().0
    }
}

impl From<Deaf> for Failure {
    fn from(error: Deaf) -> Self {
        Self::Run(error.to_string())
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
