//! Two congestion controls of one's own, and their tests, one for each clause: `cargo test`.
//!
//! [`Gentle`] is a rule that grows and cuts a window; slow start, timeouts and the rest are the library's. [`Whole`] brings all of that
//! itself, as the controller of a QUIC stack does.

use std::sync::Arc;

use cwnd::window::{Window, WindowRule};
use cwnd::{CongestionControl, Maker, Spec, Start, View};

mod whole;

pub use whole::{Whole, whole};

/// Additive increase by a packet per round trip, as Reno; but a cut removes only a quarter of the window.
#[derive(Clone, Debug)]
pub struct Gentle;

impl WindowRule for Gentle {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        0.75 * w
    }
}

impl Maker for Gentle {
    /// With slow start, timeouts and the rest of what windows have in common.
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Window::new(self.clone(), start))
    }
}

/// What runs, is compared and is judged.
#[must_use]
pub fn gentle() -> Spec {
    Spec::outside("gentle", Arc::new(Gentle))
}

// A quarter instead of half is meant, so that the baseline lists the clauses from which this deviates.
#[cfg(test)]
mod tests {
    cwnd_conform::conform!(
        cwnd_conform::Subject::new("gentle", cwnd_conform::Law::Reno, crate::gentle()),
        suites = ["rfc5681", "rfc3168", "rfc7661"],
        baseline = "conform.txt"
    );
}
