//! Processor time.

use std::ops::Sub;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// Processor time of this process, seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Usage {
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
}

impl Usage {
    /// The time used so far; zero where the system does not report it.
    pub(crate) fn so_far() -> Self {
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
        getrusage(UsageWho::RUSAGE_SELF).map_or_else(
            |_| Self::default(),
            |usage| Self { user_s: seconds(usage.user_time()), system_s: seconds(usage.system_time()) },
        )
    }

    pub(crate) fn total_s(&self) -> f64 {
        self.user_s + self.system_s
    }

    /// In percent of one processor over `elapsed`: total, user, system.
    pub(crate) fn percent(&self, elapsed: Duration) -> [f64; 3] {
        let share = 100.0 / elapsed.as_secs_f64().max(1e-9);
        [self.total_s() * share, self.user_s * share, self.system_s * share]
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self { user_s: self.user_s - earlier.user_s, system_s: self.system_s - earlier.system_s }
    }
}
