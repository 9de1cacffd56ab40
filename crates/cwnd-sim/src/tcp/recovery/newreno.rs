//! NewReno (RFC 6582): fast recovery from all losses of a window, one per round trip.

use super::AckOutcome;
use super::cumulative::{Cumulative, DuplicateRule};

/// As Reno, but fast recovery lasts until everything outstanding at its start has arrived. A new acknowledgement before that, a
/// partial one, reports the next loss.
#[derive(Debug)]
pub(crate) struct NewReno;

impl DuplicateRule for NewReno {
    /// Section 3.2, step 2: once per window.
    fn on_third_duplicate(&self, sender: &mut Cumulative, outcome: &mut AckOutcome) {
        if sender.recovered() {
            sender.repair(outcome);
            sender.enter_fast(outcome);
        }
    }

    /// Section 3.2, step 3: the next hole is repaired at once, and the window deflates by the acknowledged amount less one packet.
    fn on_progress(&self, sender: &mut Cumulative, passed: u64, outcome: &mut AckOutcome) {
        if !sender.repaired() {
            sender.repair(outcome);
            outcome.rearm = sender.deflate(passed);
        }
    }

    fn is_done(&self, sender: &Cumulative) -> bool {
        sender.repaired()
    }
}
