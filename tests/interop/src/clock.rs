//! The only place of this crate that reads a clock.

use std::time::Instant;

/// Now.
#[expect(clippy::disallowed_methods, reason = "real programs are waited for in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
