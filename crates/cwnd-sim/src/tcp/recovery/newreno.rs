//! NewReno (RFC 6582): fast recovery from all losses of a window, one per round trip.

use super::News;
use super::cumulative::{Cumulative, DuplicateRule};

/// As Reno, but fast recovery lasts until everything outstanding at its start has arrived. A new acknowledgement before that, a
/// partial one, tells of the next loss.
#[derive(Debug)]
pub(crate) struct NewReno;

impl DuplicateRule for NewReno {
    /// Section 3.2, step 2: once per window.
    fn on_third_duplicate(&self, sender: &mut Cumulative, news: &mut News) {
        if sender.recovered() {
            sender.mend(news);
            sender.enter_fast(news);
        }
    }

    /// Section 3.2, step 3: the next hole is mended at once, and the window deflates by what was acknowledged, all but a packet.
    fn on_progress(&self, sender: &mut Cumulative, passed: u64, news: &mut News) {
        if !sender.repaired() {
            sender.mend(news);
            news.rearm = sender.deflate(passed);
        }
    }

    fn is_done(&self, sender: &Cumulative) -> bool {
        sender.repaired()
    }
}
