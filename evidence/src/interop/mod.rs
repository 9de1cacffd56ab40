//! Scenarios between this project's UDT and libudt on real sockets: the programs, links and faults between the two ends, hand-made
//! packets, captures.
//!
//! `interop/partner.cpp` and `ours` take the same steps and report the same
//! numbers, so that each scenario can be played by either on both ends.

mod bench;
mod capture;
mod clock;
pub(crate) mod ours;
pub(crate) mod programs;
mod proxy;
mod raw;
pub(crate) mod runner;
mod scenarios;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error as ThisError;

/// Why a scenario could not be played to its end.
#[derive(Debug, ThisError)]
pub(crate) enum Error {
    /// A program ended with a failure.
    #[error("`{program}` ended with {status}")]
    Ended {
        /// Which.
        program: String,
        /// How.
        status: ExitStatus,
    },
    /// A partner could not carry out a step.
    #[error("{what} (code {code})")]
    Failed {
        /// Which, or what it found.
        what: String,
        /// libudt's number.
        code: i32,
    },
    /// A file or a program.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A program is still running when it should have ended.
    #[error("`{program}` is still running after {timeout:?}")]
    Timeout {
        /// Which.
        program: String,
        /// How long it was waited for.
        timeout: Duration,
    },
    /// The user may not capture packets: the scenario is skipped.
    #[error("`{program}` ended with {status}: this user may not capture")]
    NotCaptured {
        /// Which.
        program: String,
        /// How.
        status: ExitStatus,
    },
    /// A relay.
    #[error(transparent)]
    Relay(#[from] cwnd_link::RelayError),
    /// The output of a program is not the report of a partner.
    #[error("the output of `{program}` is no report: {text}")]
    Output {
        /// Which.
        program: String,
        /// The output.
        text: String,
    },
    /// A socket.
    #[error(transparent)]
    Socket(#[from] io::Error),
    /// An expectation that does not hold.
    #[error("{0}")]
    Expectation(String),
}

impl Error {
    /// An error at a path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::File { path, source }
    }
}

/// Checks an expectation.
///
/// # Errors
/// [`Error::Expectation`] with the text of `otherwise` if `holds` is false.
pub(crate) fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::Expectation(otherwise())) }
}
