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
    #[expect(clippy::disallowed_methods, reason = "a relay delays datagrams of sockets in real time")]
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn now(self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time of day, since 1970.
    #[expect(clippy::disallowed_methods, reason = "the kernel stamps datagrams with the time of day")]
    pub(crate) fn time_of_day() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// The age of a kernel timestamp.
    pub(crate) fn age(timestamp: Duration) -> Span {
        let age = Self::time_of_day().checked_sub(timestamp).filter(|age| *age < MAX_AGE).unwrap_or_default();
        Span::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(0))
    }
}

/// Longer than a datagram waits to be read; an older timestamp means that the time of day was set.
const MAX_AGE: Duration = Duration::from_secs(1);
