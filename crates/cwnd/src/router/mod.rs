//! Algorithms with feedback from routers: what these write on packets comes back with the acknowledgements.
//!
//! Losses occur where a queue on the path does not take part, and are handled as in TCP.

pub mod decbit;
pub mod vcp;
pub mod xcp;

use crate::rate::{GREATEST_WINDOW, bounded_window};
use crate::signal::{Cause, Congestion, Start, View};
use crate::units::Packets;

/// A window, and what losses make of it: half, once per window of data, and one packet after a timeout (RFC 5681).
#[derive(Clone, Copy, Debug)]
struct Window {
    packets: f64,
    greatest: f64,
    /// The next new packet at the last cut.
    epoch_from: u64,
    /// No growth of unused rates or windows, as the era has it.
    validate: bool,
}

impl Window {
    fn new(start: &Start) -> Self {
        let greatest = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        Self {
            packets: bounded_window(start.window.0, greatest).0,
            greatest,
            epoch_from: 0,
            validate: start.policy.holds_rates(),
        }
    }

    fn set(&mut self, packets: f64) {
        self.packets = bounded_window(packets, self.greatest).0;
    }

    /// Adds `packets`; not if there are more of them and nothing may grow on what `view` reports.
    fn change(&mut self, packets: f64, view: &View) {
        if packets < 0.0 || !(self.validate && view.is_underused()) {
            self.set(self.packets + packets);
        }
    }

    fn get(self) -> Packets {
        Packets(self.packets)
    }

    /// Cuts the window for a loss, a mark or a timeout: a queue that marks does not write the header, and RFC 3168 section 5 requires
    /// the answer to a mark to be that to a loss.
    fn on_loss(&mut self, view: &View, event: &Congestion) {
        match event.cause {
            Cause::Timeout => self.set(1.0),
            Cause::Loss | Cause::Mark if event.first >= self.epoch_from || event.separate => {
                self.set(self.packets / 2.0);
            }
            Cause::Loss | Cause::Mark | Cause::Delay => return,
        }
        self.epoch_from = view.next;
    }
}
