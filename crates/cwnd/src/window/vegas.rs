//! Vegas: a few packets in the queue, by what the window delivers less than it would without one.
//!
//! Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE Journal on Selected Areas in
//! Communications 13(8), 1995, sections III.B (congestion avoidance) and III.C (slow start).

use super::{Window, WindowRule};
use crate::entry::{Entry, Family, Refusal, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, View};
use crate::units::Span;

/// The rule: a packet more per round trip with fewer than `alpha` packets in the queue, one less with more than `beta`.
#[derive(Clone, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    decrease: f64,
    /// Packets in the queue by the last estimate.
    queued: f64,
    /// The round trip is one in which slow start grows.
    doubling: bool,
}

/// `(Expected - Actual) BaseRTT`, with Expected = w/BaseRTT and Actual = w/RTT: the packets of a window `w` that wait in queues.
#[must_use]
pub(super) fn queued(w: f64, view: &View) -> f64 {
    let Some(rtt) = view.rtt.filter(|rtt| rtt.smoothed > Span::ZERO) else { return 0.0 };
    (w * (1.0 - rtt.min.as_secs_f64() / rtt.smoothed.as_secs_f64())).max(0.0)
}

impl WindowRule for Vegas {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        self.doubling = view.round.is_multiple_of(2);
    }

    fn ramp(&self, _w: f64) -> Option<f64> {
        // Every other round trip the window stays the same, so that what it delivers can be measured.
        Some(if self.doubling { 1.0 } else { 0.0 })
    }

    fn fills(&self, w: f64, view: &View) -> bool {
        queued(w, view) > self.gamma
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        self.queued = queued(w, view);
        if self.queued < self.alpha {
            1.0 / w
        } else if self.queued > self.beta && w > LEAST_WINDOW {
            -1.0 / w
        } else {
            0.0
        }
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", self.queued);
    }
}

/// Registered as `vegas`.
pub const VEGAS: Entry<Window<Vegas>> = Entry {
    name: "vegas",
    title: "Vegas: one to three packets in the queue, by the delay",
    family: Family::Named,
    transport: Transport::Acked,
    source: "Brakmo and Peterson, IEEE JSAC 13(8), 1995, sections III.B and III.C; alpha, beta and gamma of ns-2",
    deviations: &[
        "Actual is the window over the smoothed round-trip time, compared at every acknowledgement; the paper times one packet per round trip.",
        "Losses are found as everywhere, not by the paper's finer timers, and the window is then cut by b.",
    ],
    parameters: &[
        Parameter::number("alpha", 1.0, "grow with fewer packets in the queue")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
        Parameter::number("beta", 3.0, "shrink with more packets in the queue")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
        Parameter::number("gamma", 1.0, "slow start ends with more packets in the queue")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
        Parameter::number("b", 0.5, "fraction of the window removed on loss").above(0.0).below(1.0),
    ],
    build: |values, start| {
        let [alpha, beta, gamma, decrease] = ["alpha", "beta", "gamma", "b"].map(|name| values.number(name));
        if alpha > beta {
            return Err(Refusal::new("beta", "at least alpha"));
        }
        Ok(Window::new(Vegas { alpha, beta, gamma, decrease, queued: 0.0, doubling: true }, start))
    },
    receiver: None,
};

/// Packets: with one, nothing would be in flight behind a lost packet to show it.
const LEAST_WINDOW: f64 = 2.0;
