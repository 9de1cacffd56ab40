//! The programs and addresses that all scenarios use.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::interop::Error;
use crate::interop::programs::{Demo, Programs, Running};
use tempfile::TempDir;

/// The programs, and a directory for what they leave behind.
pub(crate) struct Bench {
    programs: Programs,
    scratch: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { programs: Programs::build(&Programs::directory())?, scratch: tempfile::tempdir()? })
    }

    /// Starts a partner, and waits until it can be reached.
    pub(crate) fn start(&self, side: Side, arguments: &str) -> Result<Running, Error> {
        let arguments = arguments.split_whitespace();
        match side {
            Side::Ours => Running::start(&own()?, std::iter::once("partner").chain(arguments)),
            Side::Theirs => Running::start(&self.programs.partner(), arguments),
        }
    }

    /// The command `udt`, built into the directory of this program.
    pub(crate) fn udt(&self) -> PathBuf {
        own().unwrap_or_default().with_file_name("udt")
    }

    /// Starts a demo of libudt.
    pub(crate) fn demo(&self, demo: Demo, arguments: &str) -> Result<Running, Error> {
        Running::launch(&self.programs.demo(demo), arguments.split_whitespace())
    }

    /// A path for a file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

/// Whose sockets a partner uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// This project's.
    Ours,
    /// libudt's.
    Theirs,
}

/// This program, which is this side's partner too.
fn own() -> Result<PathBuf, Error> {
    Ok(std::env::current_exe()?)
}

/// Repeats `attempt` for a second: for servers that do not print when they are ready.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..20 {
        if let Ok(found) = attempt() {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    attempt()
}

/// The result of `work`, and its duration in seconds.
#[expect(clippy::disallowed_methods, reason = "people want to know where the time of a test run goes")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
