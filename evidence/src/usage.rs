//! The processor time that programs take.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

/// Processor time of `who` so far, seconds: of this process, of this thread, or of the children that have ended. Not a number where the
/// system does not report it.
pub(crate) fn processor_seconds(who: UsageWho) -> f64 {
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    getrusage(who).map_or(f64::NAN, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}
