//! Vegas: a few packets in the queue, by what the window delivers less than it would without one.
//!
//! Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE Journal on Selected Areas in
//! Communications 13(8), 1995, sections III.B (congestion avoidance) and III.C (slow start).

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, View};
use crate::units::Span;

/// The rule: a packet more per round trip with fewer than `alpha` packets in the queue, one less with more than `beta`. The queue is
/// that of the last round trip, by the least of its samples.
#[derive(Clone, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    decrease: f64,
    round: Round,
    /// Packets in the queue by the last estimate.
    queued: f64,
}

/// The samples of a round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Its number.
    number: u64,
    samples: u32,
    /// The least of its samples so far.
    least: Span,
    /// The least sample of the round trip before; zero where there were too few.
    before: Span,
    /// It begins with this acknowledgement.
    begins: bool,
    /// The change of the window during it, packets.
    change: i8,
    /// Slow start ended for the queue, which the window is still to be reduced by.
    overshot: bool,
}

impl Round {
    const FIRST: Self =
        Self { number: 0, samples: 0, least: Span::MAX, before: Span::ZERO, begins: false, change: 0, overshot: false };

    fn observe(&mut self, view: &View) {
        self.begins = view.round != self.number;
        if self.begins {
            let before = if self.samples >= ENOUGH_SAMPLES { self.least } else { Span::ZERO };
            *self = Self { number: view.round, before, begins: true, overshot: self.overshot, ..Self::FIRST };
        }
        if let Some(rtt) = view.rtt {
            self.least = self.least.min(rtt.latest);
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Every other round trip of slow start the window stays the same, so that what it delivers can be measured.
    fn doubles(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// `(Expected - Actual) BaseRTT` for the round trip before, with Expected = w/BaseRTT and Actual = w/RTT: the packets of a window
    /// `w` that wait in queues. None without enough samples.
    fn queued(&self, w: f64, view: &View) -> Option<f64> {
        let base = view.rtt.filter(|_| self.before > Span::ZERO)?.min;
        Some((w * (1.0 - base.as_secs_f64() / self.before.as_secs_f64())).max(0.0))
    }
}

impl WindowRule for Vegas {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        self.round.observe(view);
    }

    fn ramp(&self, _w: f64) -> Option<f64> {
        Some(if self.round.doubles() { 1.0 } else { 0.0 })
    }

    fn slow_start_done(&mut self, w: f64, view: &View) -> bool {
        let queued = self.round.queued(w, view).filter(|queued| self.round.begins && *queued > self.gamma);
        self.round.overshot = queued.is_some();
        self.queued = queued.unwrap_or(self.queued);
        self.round.overshot
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        if core::mem::take(&mut self.round.overshot) {
            return -self.queued;
        }
        if core::mem::take(&mut self.round.begins) {
            // Too few samples may all be of acknowledgements that were held back: the window grows as Reno's.
            let queued = self.round.queued(w, view);
            self.queued = queued.unwrap_or(0.0);
            self.round.change = match queued {
                Some(queued) if queued > self.beta && w > LEAST_WINDOW => -1,
                Some(queued) if queued >= self.alpha => 0,
                _ => 1,
            };
        }
        f64::from(self.round.change) / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        self.round.overshot = false;
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
    basis: Basis::Delay,
    source: "Brakmo and Peterson, IEEE JSAC 13(8), 1995, sections III.B and III.C; alpha, beta and gamma of ns-2",
    deviations: &[
        "Actual is the window over the least round-trip time of the last round trip, as in Linux and ns-3; the paper times one packet per round trip.",
        "Where slow start ends, the window becomes Actual times BaseRTT, as in Linux and ns-3; the paper keeps it.",
        "With fewer than three samples in a round trip the window grows as Reno's, as in Linux and ns-3.",
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
            return Err(InvalidParameter::new("beta", "at least alpha"));
        }
        Ok(Window::new(Vegas { alpha, beta, gamma, decrease, round: Round::FIRST, queued: 0.0 }, start))
    },
    receiver: None,
};

/// Packets: with one, nothing would be in flight behind a lost packet to show it.
const LEAST_WINDOW: f64 = 2.0;
/// Linux and ns-3 (`cntRTT <= 2`): one or two samples of a round trip may be of acknowledgements that were held back.
const ENOUGH_SAMPLES: u32 = 3;
