//! The most likely causes of a deviation.

use crate::check::Check;

/// The causes for a check, the likeliest first.
pub(crate) fn of(check: &Check) -> Vec<&'static str> {
    let row = CAUSES.iter().find(|(id, ..)| *id == check.id);
    row.map_or_else(Vec::new, |(_, first, second)| vec![*first, *second])
}

/// The causes of each check but those of BBR, whose notes name the condition that is not met.
#[rustfmt::skip]
const CAUSES: &[(&str, &str, &str)] = &[
    ("5681-initial", "the initial window is larger than ten packets", "the handshake counts as slow start"),
    ("5681-slow-start", "the window grows by more than a packet for each one acknowledged", "slow start ends, or is paced, before the first loss"),
    ("5681-slow-start-wire", "slow start counts a packet twice, as sent and as acknowledged", "a limit other than the window holds the sender"),
    ("5681-avoidance", "the increment is not 1/cwnd per packet acknowledged", "slow start goes on above the threshold"),
    ("5681-halve", "the factor is not a half", "the event is ignored, or answered twice"),
    ("5681-small-window", "the cut is bounded by the initial window", "a small window counts as one that needs no cut"),
    ("5681-flight-size", "the threshold is taken from cwnd, not from FlightSize", "the window grew while it was not used"),
    ("5681-timeout-window", "a timeout is answered as a loss", "the loss window is the initial window"),
    ("5681-timeout-threshold", "the threshold is not set at a timeout", "each expiry for the same packet halves it again"),
    ("5681-slow-start-after-timeout", "the threshold is lost at the timeout", "congestion avoidance does not begin at the threshold"),
    ("5681-rate-after-timeout", "retransmissions count twice, as found lost and as acknowledged", "slow start adds two packets for each one"),
    ("5681-loss-after-timeout", "losses are ignored until slow start has ended", "the end of recovery is not set anew at the timeout, so that new packets belong to it"),
    ("5681-threshold-floor", "no max(…, 2) in equation 4", "the floor is applied to the window alone"),
    ("5681-duplicates", "fewer than three duplicate acknowledgements count as a loss", "reordering is measured in time, with a margin that is too small"),
    ("5681-fast-retransmit", "more than three duplicate acknowledgements are waited for", "losses are found by a timer alone"),
    ("5681-restart", "the window is kept over a pause", "the idle time is counted from the wrong event"),
    ("5681-restart-threshold", "the restart lowers the threshold to the restart window", "the restart resets the threshold as a new connection"),
    ("5681-restart-window", "the restart window is the initial window, not min(IW, cwnd)", "the pause resets the connection's state"),
    ("5681-restart-late", "the idle time is compared with a constant, not with the timeout", "an empty flight counts as an idle one"),
    ("6298-backoff", "the timer is not doubled when it expires", "the doubling is bounded too early"),
    ("6298-first", "the first timer is computed from a round trip that was not measured", "the initial timeout is another constant"),
    ("6298-reset", "the doubling is not ended by a measured round trip", "a retransmission is measured as a round trip (Karn)"),
    ("6582-one-cut", "each loss of a window cuts again", "the end of recovery is not the highest packet sent"),
    ("6675-repair", "one hole is repaired per round trip", "retransmissions wait for the window"),
    ("6675-recovery-rate", "packets found lost stay counted as in flight", "a retransmission is sent for each acknowledgement"),
    ("9438-beta", "beta is not 0.7", "the event is ignored, or answered twice"),
    ("9438-beta-wire", "beta is not 0.7", "the window does not bound the sent data in recovery"),
    ("9438-beta-second", "fast convergence reduces the window, not W_max alone", "beta is not 0.7"),
    ("9438-once", "each loss of a window cuts again", "the end of recovery is not the highest packet sent"),
    ("9438-concave", "K counts from another window than the one that the cut left", "C is not 0.4"),
    ("9438-plateau", "K counts from another window than the one that the cut left", "the epoch begins late, or is not begun anew"),
    ("9438-convex", "the curve ends at W_max", "K or C is another"),
    ("9438-c", "C is not 0.4", "time is counted in another unit, or rounded"),
    ("9438-increment", "what exceeds a whole packet is dropped", "the increment is computed per acknowledgement, for however many packets"),
    ("9438-target", "the target is the curve of now, not of a round trip ahead", "the smoothed round trip is missing from t"),
    ("9438-cap", "the target has no bound of 1.5 cwnd", "the bound is applied to the increment"),
    ("9438-monotone", "a target below the window reduces it", "the curve begins anew without a cut"),
    ("9438-limited-clock", "t runs on while the application sends nothing", "the epoch is not shifted by the idle time"),
    ("9438-friendly", "alpha is not 0.53", "the estimate of Reno's window does not begin at the window that the cut left"),
    ("9438-friendly-above", "alpha stays 0.53 above the last maximum", "the estimate is compared with W_max, not with cwnd_prior"),
    ("9438-friendly-reset", "the estimate of Reno's window goes on from the last epoch", "cwnd_prior is not set at the cut"),
    ("9438-no-slower", "no Reno-friendly region", "alpha is not 0.53"),
    ("9438-convergence", "no fast convergence", "W_max is reduced by another factor than 0.85"),
    ("9438-convergence-k", "K is computed before fast convergence has changed W_max", "fast convergence changes the window too"),
    ("9438-no-convergence-above", "fast convergence at every loss", "W_max is the window after the cut"),
    ("9438-timeout-window", "a timeout is answered as a loss", "the loss window is the initial window"),
    ("9438-timeout-threshold", "the threshold is half, not seven tenths", "each expiry for the same packet reduces it again"),
    ("9438-timeout-epoch", "W_max of before the timeout is kept", "W_max is set to zero, and K computed from it"),
    ("9438-slow-start", "CUBIC's curve is followed below the threshold", "slow start ends by itself"),
    ("9438-mark", "marks are ignored", "beta for marks is another"),
    ("9438-mark-floor", "a floor above two packets", "marks are ignored below some window"),
    ("9438-loss-floor", "no max(…, 2)", "the floor is applied to the window alone"),
    ("9438-small-window", "the cut is bounded by the initial window", "a small window counts as one that needs no cut"),
    ("9438-undo", "the undo restores more than the state before the cut", "the undo adds to the window"),
    ("9438-undo-curve", "the undo restores the window, not W_max, K and the epoch", "the epoch begins anew at the undo"),
    ("9002-initial", "the initial window is another", "it is counted in datagrams of another size"),
    ("9002-in-flight", "the window does not bound the packets in flight", "the window is infinite, or not a number"),
    ("9002-paced-start", "the pacer has no gain in slow start", "the pacer's rate follows the window late"),
    ("9002-slow-start", "slow start counts acknowledgements, not what they acknowledge", "another limit than the window holds the sender"),
    ("9002-slow-start-acks", "slow start counts acknowledgements, not what they acknowledge", "growth per acknowledgement is bounded"),
    ("9002-exit-on-loss", "the threshold is not set at the cut", "the loss is ignored"),
    ("9002-exit-on-mark", "the threshold is not set at the cut", "the mark is ignored"),
    ("9002-halve", "the factor is not a half", "the event is ignored, or answered twice"),
    ("9002-recovery-once", "each loss of a window cuts again", "the begin of recovery is not compared with when a packet was sent"),
    ("9002-recovery-still", "acknowledgements in recovery count as growth", "recovery ends before the packets sent before it are acknowledged"),
    ("9002-recovery-ends", "recovery does not end", "losses after the first are ignored"),
    ("9002-recovery-last", "the comparison with the begin of recovery is off by one", "recovery ends too early"),
    ("9002-recovery-first", "the comparison with the begin of recovery is off by one", "recovery ends too late"),
    ("9002-avoidance", "the increment is not one packet per window acknowledged", "slow start goes on above the threshold"),
    ("9002-acks", "growth counts acknowledgements, not what they acknowledge", "what exceeds a whole packet is dropped"),
    ("9002-persistent", "persistent congestion is not detected", "it leaves another window than the least"),
    ("9002-persistent-resumes", "the threshold is set to the least window too", "slow start does not begin anew"),
    ("9002-tail-loss", "no probe when the last packets are lost", "the probe waits for a timer that is too long"),
    ("9002-burst", "the window is sent at once after a pause", "the pacer's bucket fills while nothing is sent"),
    ("9002-pace-limited", "no pacing for a sender whose application is slow", "the pacer's bucket is larger than the initial window"),
    ("9002-underused", "growth although the window is not filled", "the check that the flight fills the window is too lax"),
    ("9002-underused-avoidance", "congestion avoidance grows although the window is not filled", "the check of the window's use is in slow start alone"),
    ("9002-paced-is-used", "a pacer that holds the sender counts as an unused window", "the check that the flight fills the window is too strict"),
    ("9406-exit", "a rise of the round trip does not end slow start", "the threshold of the rise is too large"),
    ("9406-no-exit", "slow start ends without a rise", "the rise is compared with a sample, not with the least of a round"),
    ("9406-rise", "the rise is not found", "growth is not divided by four"),
    ("9406-small-rise", "the threshold of the rise is too small", "single samples are compared"),
    ("9406-largest-threshold", "the threshold has no upper bound of 16 ms", "the rise is not found"),
    ("9406-least-threshold", "the threshold has no lower bound of 4 ms", "single samples are compared"),
    ("9406-rounds", "conservative slow start does not last five rounds", "its end does not set the threshold"),
    ("9406-resume", "slow start does not go on after a rise that was none", "the least round trip of before is not kept"),
    ("9406-burst", "the increase per acknowledgement is not bounded by eight packets", "growth counts acknowledgements"),
    ("3168-reacts", "marks are ignored", "the echo does not reach the congestion control"),
    ("3168-reacts-wire", "marks are ignored", "the window is reduced, and does not bound the sent data"),
    ("3168-once", "each mark of a window cuts again", "a mark does not begin a recovery"),
    ("3168-mark-and-loss", "a mark and a loss have recoveries of their own", "a mark does not begin a recovery"),
    ("3168-again", "marks after the first are ignored", "the answer to a mark does not end after a round trip"),
    ("8511-no-deeper", "the factor for a mark is smaller than the one for a loss", "a mark is answered twice"),
    ("8511-reno", "the factor for a mark is another", "a mark is answered twice"),
    ("7661-not-validated", "growth although the window is not filled", "the check that the flight fills the window is too lax"),
    ("7661-after-pause", "time alone lets the window grow", "the acknowledgements at the begin of the pause count as a used window"),
    ("7661-five-minutes", "the window is kept over any pause", "the idle time is counted from the wrong event"),
    ("7661-five-minutes-threshold", "the threshold is lowered with the window", "the threshold is set from the restart window"),
    ("loss-spiral", "the window stays at its floor after heavy loss", "the timer stays doubled"),
    ("survives", "a state that losses bring about is not expected", "numbers of packets or times are subtracted below zero"),
    ("pause", "the curve's clock runs on over the pause", "the pause counts as growth"),
    ("policer", "each loss of a policer's burst cuts again", "packets that a timeout finds lost are sent at once"),
    ("reordering", "late packets count as lost at once", "each late packet is a cut of its own"),
    ("bleached", "the failure of the validation of ECN changes what a loss does", "packets stay marked as capable"),
    ("spurious", "the undo restores more than the state before the cut", "the undo adds to the window"),
    ("spurious-threshold", "the undo restores the window alone", "the threshold is saved after the cut"),
    ("lossy", "losses are ignored, or answered several times", "growth is not that of its law"),
    ("held-acks", "the sample of a round trip is the oldest packet's", "the delay of acknowledgements counts as queueing"),
    ("thin-flow", "the delay of acknowledgements counts as part of the round trip", "the least round trip expires without a new sample"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Suite, checks};

    #[test]
    fn each_check_has_its_causes() {
        let ids: Vec<&str> = checks().filter(|check| check.suite != Suite::Bbr).map(|check| check.id).collect();
        let rows: Vec<&str> = CAUSES.iter().map(|(id, ..)| *id).collect();
        let lacking: Vec<_> = ids.iter().filter(|id| !rows.contains(id)).collect();
        let idle: Vec<_> = rows.iter().filter(|id| !ids.contains(id)).collect();
        assert!(lacking.is_empty() && idle.is_empty() && rows.len() == ids.len(), "{lacking:?} {idle:?}");
    }
}
