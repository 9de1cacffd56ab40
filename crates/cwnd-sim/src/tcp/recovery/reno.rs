//! Reno (4.3BSD, 1990; RFC 5681 section 3.2): fast recovery from one loss.

use super::AckOutcome;
use super::cumulative::{Cumulative, DuplicateRule};

/// The third duplicate cuts the window, sends the first missing packet again and inflates; any new acknowledgement deflates and
/// ends it. It keeps no memory of the window it was in: three more duplicates cut and retransmit once more, and where the inflated
/// window has let too few packets go for three, the timer has to expire.
#[derive(Debug)]
pub(crate) struct Reno;

impl DuplicateRule for Reno {
    fn on_third_duplicate(&self, sender: &mut Cumulative, outcome: &mut AckOutcome) {
        outcome.separate = !sender.repaired();
        sender.repair(outcome);
        sender.enter_fast(outcome);
    }
}
