//! FAST: the window goes to where a given number of its packets wait in queues.
//!
//! Jin, Wei and Low, "FAST TCP: motivation, architecture, algorithms, performance", INFOCOM 2004, window control: every other
//! round trip `w <- min{2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)}`.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;
use crate::units::Span;

/// The rule: in two round trips `w += gamma (alpha - queued)`, at most `w` itself; `w -= b w` on loss.
#[derive(Clone, Debug)]
pub struct Fast {
    alpha: f64,
    gamma: f64,
    decrease: f64,
    /// Packets in the queue by the last estimate.
    queued: f64,
}

/// The packets of a window `w` that wait in queues: `w (1 - baseRTT/RTT)`.
fn queued(w: f64, view: &View) -> f64 {
    let Some(rtt) = view.rtt.filter(|rtt| rtt.smoothed > Span::ZERO) else { return 0.0 };
    (w * (1.0 - rtt.min.as_secs_f64() / rtt.smoothed.as_secs_f64())).max(0.0)
}

impl WindowRule for Fast {
    fn slow_start_done(&mut self, w: f64, view: &View) -> bool {
        queued(w, view) >= self.alpha
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        self.queued = queued(w, view);
        // Two round trips acknowledge 2w packets.
        (self.gamma * (self.alpha - self.queued)).min(w) / (2.0 * w)
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", self.queued);
    }
}

/// Registered as `fast`.
pub const FAST: Entry<Window<Fast>> = Entry {
    name: "fast",
    title: "FAST: alpha packets in the queue, by the delay",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Delay,
    source: "Jin, Wei and Low, INFOCOM 2004, window control; the decrease: daimd",
    deviations: &[
        "The change of an update is spread over the acknowledgements of its two round trips and follows the newest estimate.",
        "The round-trip time is smoothed with 1/8; the paper's gain is 3/w, at most 1/4.",
        "Slow start ends where the equation would not raise the window any more; the paper leaves it open.",
    ],
    parameters: &[
        Parameter::number("alpha", 200.0, "packets of the flow to keep in queues")
            .unit("packets")
            .above(0.0)
            .at_most(1e9),
        Parameter::number("gamma", 0.5, "share of the way made in an update").above(0.0).at_most(1.0),
        Parameter::number("b", 0.125, "fraction of the window removed on loss").above(0.0).below(1.0),
    ],
    build: |values, start| {
        let [alpha, gamma, decrease] = ["alpha", "gamma", "b"].map(|name| values.number(name));
        Ok(Window::new(Fast { alpha, gamma, decrease, queued: 0.0 }, start))
    },
    receiver: None,
};
