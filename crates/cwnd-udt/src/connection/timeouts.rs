//! Timeouts, and the round-trip time of the peer on which they depend.

use cwnd::estimate::RttEstimator;
use cwnd::{Rtt, Span};

use crate::wire::FullAck;

/// `RTT + 4 RTTVar`: the time within which an answer arrives.
pub(super) fn answer_time(rtt: &RttEstimator) -> Span {
    rtt.get().map_or(DEFAULT_RTT * 3, |Rtt { smoothed, variation, .. }| smoothed + variation * 4)
}

/// The time after which a lack of progress has the oldest and the newest packet sent again, for the `n`-th time in a row.
pub(super) fn probe_interval(rtt: &RttEstimator, n: u32) -> Span {
    let smoothed = rtt.get().map_or(DEFAULT_RTT, |rtt| rtt.smoothed);
    // Within this time a receiver has asked a second time for missing packets, and that has been acknowledged on its clock.
    (smoothed * 2 + answer_time(rtt) + SYN * 2) * (1 << n.min(MAX_BACKOFF))
}

/// libudt's EXP interval for the `n`-th expiration in a row, but long enough for a probe to be answered.
pub(super) fn exp_interval(rtt: &RttEstimator, n: u64) -> Span {
    (answer_time(rtt) * n + SYN).max(MIN_EXP * n).max(probe_interval(rtt, 1))
}

/// The round-trip time a peer reports; none if it has measured none and reports the default of libudt.
pub(super) fn reported_rtt(full: &FullAck) -> Option<Span> {
    let unmeasured = (full.rtt_us, full.rtt_var_us) == UNMEASURED || full.rtt_us == 0;
    (!unmeasured).then(|| Span::from_micros(u64::from(full.rtt_us)))
}

/// UDT's clock: acknowledgements of data that arrives are this far apart.
pub(super) const SYN: Span = Span::from_millis(10);
/// The values that libudt and this crate report before the first sample, in microseconds: RTT and RTTVar.
pub(super) const UNMEASURED: (u32, u32) = (100_000, 50_000);
/// libudt's assumption before the first sample; its variation is half of it.
pub(super) const DEFAULT_RTT: Span = Span::from_millis(100);
/// A longer sample is a clock that went ahead or a report that lies; believed, it would put off every timer.
pub(super) const MAX_RTT: Span = Span::from_secs(10);
/// libudt: the EXP interval is at least this.
const MIN_EXP: Span = Span::from_millis(300);
/// Attempts without progress become up to 64 times as rare.
const MAX_BACKOFF: u32 = 6;
