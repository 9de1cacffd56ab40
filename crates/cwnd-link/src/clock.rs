//! The only place of this crate that reads a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cwnd::{Span, Time};

/// Nanoseconds since the relay was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// Time is zero now.
    #[expect(clippy::disallowed_methods, reason = "a relay delays real datagrams by real time")]
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn now(self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// What the calendar shows, since 1970.
    #[expect(clippy::disallowed_methods, reason = "the kernel stamps datagrams by the calendar")]
    pub(crate) fn calendar() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// How long ago the kernel's calendar showed `stamp`.
    pub(crate) fn age(stamp: Duration) -> Span {
        let age = Self::calendar().checked_sub(stamp).filter(|age| *age < STALE).unwrap_or_default();
        Span::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(0))
    }
}

/// Longer than a datagram waits to be read by a program that runs at all: the calendar has been set.
const STALE: Duration = Duration::from_secs(1);
