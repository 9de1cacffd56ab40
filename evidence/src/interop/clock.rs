//! The only place of this crate that reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Now.
#[expect(clippy::disallowed_methods, reason = "real programs are waited for in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "records of several programs are laid beside each other by the calendar")]
pub(crate) fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
