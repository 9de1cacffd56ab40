//! The only place of this crate that reads a clock.

use std::time::{Duration, Instant};

use cwnd::{Span, Time};

/// Time since a port was opened, which is the epoch of its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(instant())
    }

    pub(crate) fn now(&self) -> Time {
        // A port that lives for the 584 years after which this saturates has other worries.
        Time::from_nanos(u64::try_from(instant().duration_since(self.0).as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A moment until which an application waits; none to wait without end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now. A length the clock cannot hold is no limit.
    pub(crate) fn after(limit: Option<Duration>) -> Self {
        Self(limit.and_then(|limit| instant().checked_add(limit)))
    }

    /// What is left: none without a limit, zero once it has passed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.0.map(|until| until.saturating_duration_since(instant()))
    }
}

/// The same length of time as the standard library says it.
pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}

#[expect(clippy::disallowed_methods, reason = "a port is where the protocol core meets real time")]
fn instant() -> Instant {
    Instant::now()
}
