//! BIC: after a loss the window searches by bisection for the one at which it happened, and then beyond.
//!
//! Xu, Harfoush and Rhee, "Binary increase congestion control (BIC) for fast long-distance networks", INFOCOM 2004:
//! additive increase, binary search, slow start beyond the maximum, fast convergence, and the pseudo-code that joins them.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: a step per round trip, half the way to `w_max` and within `s_min` and `s_max`; `w -= b w` on congestion.
#[derive(Clone, Debug)]
pub struct Bic {
    s_max: f64,
    s_min: f64,
    decrease: f64,
    /// Reno below.
    low_window: f64,
    fast_convergence: bool,
    /// The window at which congestion is expected; packets.
    w_max: f64,
    /// What this round trip adds, and the window at which it ends.
    step: f64,
    end: f64,
    /// The last step beyond `w_max`, 0 below.
    probe: f64,
}

impl Bic {
    /// The packets to add in the round trip that begins at window `w`.
    fn next_step(&mut self, w: f64) -> f64 {
        if w < self.w_max {
            self.probe = 0.0;
            return ((self.w_max - w) / 2.0).max(self.s_min).min(self.s_max);
        }
        self.probe = (2.0 * self.probe).max(1.0).min(self.s_max);
        self.probe
    }
}

impl WindowRule for Bic {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        if w < self.low_window {
            return 1.0 / w;
        }
        if w >= self.end {
            self.step = self.next_step(w);
            self.end = w + self.step;
        }
        self.step / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        if w < self.low_window { w / 2.0 } else { w - self.decrease * w }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, _view: &View) {
        self.w_max = match before {
            // A maximum below the last one means that other flows compete: aim at the middle of the cut.
            Some(before) if self.fast_convergence && before < self.w_max => (1.0 - self.decrease / 2.0) * before,
            Some(before) => before,
            // No maximum is known: all growth is probing.
            None => after,
        };
        (self.end, self.probe) = (0.0, 0.0);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", self.w_max);
        visit("step", self.step);
    }
}

/// Registered as `bic`.
pub const BIC: Entry<Window<Bic>> = Entry {
    name: "bic",
    title: "BIC: binary search for the window at which congestion hit",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Xu, Harfoush and Rhee, INFOCOM 2004",
    deviations: &[
        "A step is fixed at the start of its round trip, as in the paper's text; its pseudo-code takes a new one with every acknowledgement.",
        "Near the maximum the steps do not fall below s_min, as the text says and the pseudo-code leaves out.",
        "Where slow start ended without a loss there is no maximum: probing begins there, not additive increase towards a default.",
    ],
    parameters: &[
        Parameter::number("s_max", 32.0, "largest increase per round trip").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("s_min", 0.01, "smallest increase per round trip").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("b", 0.125, "fraction of the window removed on congestion").above(0.0).below(1.0),
        Parameter::number("low_window", 14.0, "Reno below this window").unit("packets").at_least(0.0).at_most(1e6),
        Parameter::choice("fast_convergence", &["on", "off"], "aim lower when the window at congestion falls"),
    ],
    build: |values, start| {
        let [s_max, s_min] = ["s_max", "s_min"].map(|name| values.number(name));
        if s_min > s_max {
            return Err(InvalidParameter::new("s_min", "at most s_max"));
        }
        let rule = Bic {
            s_max,
            s_min,
            decrease: values.number("b"),
            low_window: values.number("low_window"),
            fast_convergence: values.choice("fast_convergence") == "on",
            w_max: 0.0,
            step: 0.0,
            end: 0.0,
            probe: 0.0,
        };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};
