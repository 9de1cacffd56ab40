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
        // Saturates after 584 years.
        Time::from_nanos(u64::try_from(instant().duration_since(self.0).as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn timestamps(&self) -> Timestamps {
        Timestamps { now: self.now(), day: time_of_day() }
    }
}

/// Converts the kernel's timestamps, which are times of day, into times of a port. To be used at once: the time of day may be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamps {
    now: Time,
    day: Duration,
}

impl Timestamps {
    /// When a datagram with this timestamp arrived; now if it has none.
    pub(crate) fn time(&self, timestamp: Option<Duration>) -> Time {
        let age = timestamp.and_then(|timestamp| self.day.checked_sub(timestamp)).unwrap_or_default();
        let age = Span::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
        // Rather than a longer wait, the time of day was set meanwhile.
        if age > MAX_AGE { self.now } else { Time::from_nanos(self.now.as_nanos().saturating_sub(age.as_nanos())) }
    }
}

/// A time until which an application waits; none to wait without limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// `timeout` from now. One that the clock cannot represent is no limit.
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self(timeout.and_then(|timeout| instant().checked_add(timeout)))
    }

    /// The time left: none without a limit, zero once it has passed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.0.map(|until| until.saturating_duration_since(instant()))
    }
}

/// A span as a duration of the standard library.
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

/// How long a datagram may have waited in the kernel, while the thread of the port was busy or had no processor.
const MAX_AGE: Span = Span::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_become_times() {
        let timestamps = Timestamps { now: Time::from_nanos(5_000_000_000), day: Duration::from_secs(1_000) };
        assert_eq!(timestamps.time(Some(Duration::from_millis(999_900))), Time::from_nanos(4_900_000_000));
        assert_eq!(timestamps.time(None), timestamps.now);
        assert_eq!(timestamps.time(Some(Duration::from_secs(990))), timestamps.now, "the time of day was set");
        assert_eq!(timestamps.time(Some(Duration::from_secs(1_001))), timestamps.now, "and back");
    }
}
