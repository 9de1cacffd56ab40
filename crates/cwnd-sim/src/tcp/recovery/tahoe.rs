//! Tahoe (4.3BSD, 1988): fast retransmit without fast recovery.

use super::AckOutcome;
use super::cumulative::{Cumulative, DuplicateRule};

/// The third duplicate starts over, as the timer does: the threshold is cut, the window is one packet, and everything from the
/// first missing packet on is sent again unless an acknowledgement passes it first.
#[derive(Debug)]
pub(crate) struct Tahoe;

impl DuplicateRule for Tahoe {
    fn on_third_duplicate(&self, sender: &mut Cumulative, outcome: &mut AckOutcome) {
        sender.repair(outcome);
        sender.step_back();
        outcome.restart = true;
    }
}
