//! The only place of this crate that reads a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

    pub(crate) fn stamps(&self) -> Stamps {
        Stamps { now: self.now(), day: time_of_day() }
    }
}

/// Turns the kernel's stamps, which are times of day, into times of a port. Good for a moment only: the time of day may be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    now: Time,
    day: Duration,
}

impl Stamps {
    /// When something arrived that was stamped so, or not at all.
    pub(crate) fn time(&self, stamp: Option<Duration>) -> Time {
        let age = stamp.and_then(|stamp| self.day.checked_sub(stamp)).unwrap_or_default();
        let age = Span::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
        // What waited for longer than that waited for the time of day to be set.
        if age > LONGEST_WAIT { self.now } else { Time::from_nanos(self.now.as_nanos().saturating_sub(age.as_nanos())) }
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

#[expect(clippy::disallowed_methods, reason = "the kernel stamps datagrams with the time of day")]
fn time_of_day() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Datagrams wait in the kernel while the thread of the port is busy or has no processor.
const LONGEST_WAIT: Span = Span::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_become_times() {
        let stamps = Stamps { now: Time::from_nanos(5_000_000_000), day: Duration::from_secs(1_000) };
        assert_eq!(stamps.time(Some(Duration::from_millis(999_900))), Time::from_nanos(4_900_000_000));
        assert_eq!(stamps.time(None), stamps.now);
        assert_eq!(stamps.time(Some(Duration::from_secs(990))), stamps.now, "the time of day was set");
        assert_eq!(stamps.time(Some(Duration::from_secs(1_001))), stamps.now, "and back");
    }
}
