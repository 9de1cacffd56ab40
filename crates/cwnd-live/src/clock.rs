//! The only place of this crate that reads a clock: runs have a limit of wall time, and paced ones follow it.

use std::time::{Duration, Instant};

/// Measures how long it has been running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "runs have a limit of wall time, and paced ones follow it")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
