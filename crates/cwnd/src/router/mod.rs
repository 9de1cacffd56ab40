//! Algorithms that hear from routers: what these write on packets comes back with the acknowledgements.
//!
//! Losses are for paths with a queue that does not take part, and are answered as TCP does.

pub mod decbit;
pub mod vcp;
pub mod xcp;

use crate::signal::{Cause, Congestion, Start, View};
use crate::units::Packets;

/// A window, and what losses make of it: half, once per window of data, and one packet after a time-out (RFC 5681).
#[derive(Clone, Copy, Debug)]
struct Window {
    packets: f64,
    greatest: f64,
    /// The next new packet at the last cut.
    epoch_from: u64,
}

impl Window {
    fn new(start: &Start) -> Self {
        let greatest = start.max_window.0.max(1.0).min(GREATEST_WINDOW);
        let mut window = Self { packets: 1.0, greatest, epoch_from: 0 };
        window.set(start.window.0);
        window
    }

    /// Within its bounds; an undefined window becomes the smallest.
    fn set(&mut self, packets: f64) {
        self.packets = packets.max(1.0).min(self.greatest);
    }

    fn get(self) -> Packets {
        Packets(self.packets)
    }

    /// Answers a loss. Marks are the routers' way of telling others.
    fn lose(&mut self, view: &View, event: &Congestion) {
        match event.cause {
            Cause::Timeout => self.set(1.0),
            Cause::Loss if event.first >= self.epoch_from || event.separate => self.set(self.packets / 2.0),
            Cause::Loss | Cause::Mark | Cause::Delay => return,
        }
        self.epoch_from = view.next;
    }
}

/// 2^40 packets: more than a bandwidth-delay product on Earth, and every whole number below it is exact.
const GREATEST_WINDOW: f64 = 1_099_511_627_776.0;
