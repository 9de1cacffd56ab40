//! LEDBAT: a given delay of the queue and no more, by less than others, for transfers in the background.
//!
//! Shalunov, Hazel, Iyengar and Kuehlewind, "Low Extra Delay Background Transport (LEDBAT)", RFC 6817, 2012; section numbers are its own.

use alloc::boxed::Box;

use super::delays::{Delays, MOST_MINUTES, MOST_SAMPLES};
use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::{Measure, Parameter};
use crate::signal::{Ack, View};

/// The rule: `w += GAIN off_target` per round trip, with `off_target` the part of TARGET that the queueing delay leaves, negative above it.
#[derive(Clone, Debug)]
pub struct Ledbat {
    /// TARGET, seconds.
    target: f64,
    /// GAIN.
    gain: f64,
    delays: Box<Delays>,
}

impl WindowRule for Ledbat {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        self.delays.observe(view);
    }

    /// Section 2.4.2: the window changes by the delay from the first acknowledgement on.
    fn slow_start_done(&mut self, _w: f64, _view: &View) -> bool {
        true
    }

    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        let off_target = (self.target - self.delays.queueing()) / self.target;
        self.gain * off_target / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w / 2.0
    }

    fn floor(&self) -> Option<f64> {
        Some(LEAST)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queueing", self.delays.queueing());
    }
}

/// Registered as `ledbat`.
pub const LEDBAT: Entry<Window<Ledbat>> = Entry {
    name: "ledbat",
    title: "LEDBAT: 100 ms in the queue, and it yields to what causes more",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Delay,
    source: "RFC 6817 section 2.4",
    deviations: &[
        "ALLOWED_INCREASE is the host's rule for windows that are not used (`rate_limited`), which by default lets none grow.",
        "The delay is the round-trip time, as no host reports one-way delays: a queue on the reverse path counts as well.",
        "A timeout leaves one packet and a threshold of half the window, as everywhere; slow start is not used to reach it, as the RFC has none.",
    ],
    parameters: &[
        Parameter::quantity(
            "target",
            Measure::Span,
            Some(MOST_TARGET),
            "",
            "queueing delay to settle at (TARGET; the RFC allows no more)",
        )
        .above(0.0)
        .at_most(MOST_TARGET),
        Parameter::number("gain", 1.0, "packets per round trip added to an empty queue (GAIN)").above(0.0).at_most(1.0),
        Parameter::number("history", 10.0, "minutes over which the smallest delay is the base delay (BASE_HISTORY)")
            .at_least(1.0)
            .at_most(MOST_MINUTES as f64)
            .whole(),
        Parameter::number("filter", 4.0, "samples of which the smallest is the current delay (CURRENT_FILTER)")
            .at_least(1.0)
            .at_most(MOST_SAMPLES as f64)
            .whole(),
    ],
    build: |values, start| {
        let [target, gain] = ["target", "gain"].map(|name| values.number(name));
        let [history, filter] = ["history", "filter"].map(|name| values.number(name) as usize);
        let delays = Box::new(Delays::new(history, filter));
        Ok(Window::new(Ledbat { target, gain, delays }, start))
    },
    receiver: None,
};

/// Seconds: TARGET must be 100 ms or less (section 2.5).
const MOST_TARGET: f64 = 0.1;
/// MIN_CWND, packets.
const LEAST: f64 = 2.0;
