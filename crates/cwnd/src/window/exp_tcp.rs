//! EXP-TCP(gamma, beta): an exponential increase whose start is set by fairness and whose speed by efficiency.
//!
//! Jin and Liu, "Decoupling end-to-end efficiency and fairness control in high bandwidth-delay product networks". After `i`
//! round trips without congestion the window is `cwnd0 - s + (1 + gamma)^i s`, where `s = sqrt(cwnd0)`.

use super::{Window, WindowRule};
use crate::control::Pacing;
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += gamma (1 - cwnd0/w + s/w)` per acknowledged packet, `w -= beta w` on congestion.
#[derive(Clone, Debug)]
pub struct ExpTcp {
    gamma: f64,
    decrease: f64,
    small_window: bool,
    paced: bool,
    /// The window right after the last decrease.
    cwnd0: f64,
    /// `sqrt(cwnd0)`, computed once per epoch.
    s: f64,
}

/// What the paper leaves to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExpTcpOptions {
    /// Growth per round trip far above `cwnd0`; 0 < gamma <= 1.
    pub gamma: f64,
    /// Fraction of the window removed on congestion; 0 < beta < 1.
    pub beta: f64,
    /// The paper's Appendix: `s` is 4 for `cwnd0` below 16.
    pub small_window: bool,
    /// Departures are spread over a round trip.
    pub paced: bool,
}

impl ExpTcp {
    /// EXP-TCP before its first epoch.
    #[must_use]
    pub fn new(options: ExpTcpOptions) -> Self {
        let ExpTcpOptions { gamma, beta, small_window, paced } = options;
        Self { gamma, decrease: beta, small_window, paced, cwnd0: 0.0, s: 0.0 }
    }
}

impl WindowRule for ExpTcp {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        self.gamma * (1.0 - self.cwnd0 / w + self.s / w)
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn epoch(&mut self, _before: Option<f64>, after: f64, _view: &View) {
        self.cwnd0 = after;
        self.s = if self.small_window && after < SMALL_WINDOW { SMALL_STEP } else { libm::sqrt(after) };
    }

    fn ramp(&self, w: f64) -> Option<f64> {
        let step = if w <= RAMP_WINDOW { 1.0 } else { 0.5 * RAMP_WINDOW / w };
        Some(step.max(self.gamma))
    }

    fn pacing(&self) -> Pacing {
        if self.paced { Pacing::Spread { gain: 1.0 } } else { Pacing::Off }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("cwnd0", self.cwnd0);
    }
}

/// Registered as `exp-tcp`.
pub const EXP_TCP: Entry<Window<ExpTcp>> = Entry {
    name: "exp-tcp",
    title: "exponential increase from the square root of the window after a cut",
    family: Family::Core,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Jin and Liu, Decoupling end-to-end efficiency and fairness control, sections II.B, II.C and Appendix",
    deviations: &[
        "The paper says of slow start only that gamma(cwnd) falls from 1 to gamma: here it is 1 up to 100 packets, then 50/cwnd.",
        "After a timeout cwnd0 is the window at which slow start ends; the paper does not say.",
        "Pacing spreads the window evenly over a smoothed round trip; the paper does not say how.",
    ],
    parameters: &[
        Parameter::number("gamma", 0.05, "growth per round trip far above the window after the last cut")
            .above(0.0)
            .at_most(1.0),
        Parameter::number("beta", 0.125, "fraction of the window removed on congestion").above(0.0).below(1.0),
        Parameter::choice("small_window", &["off", "on"], "the Appendix: grow from 4 instead of sqrt(cwnd0) below 16"),
        Parameter::choice("pacing", &["on", "off"], "spread departures over a round trip"),
    ],
    build: |values, start| {
        let rule = ExpTcp::new(ExpTcpOptions {
            gamma: values.number("gamma"),
            beta: values.number("beta"),
            small_window: values.choice("small_window") == "on",
            paced: values.choice("pacing") == "on",
        });
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

/// Appendix: below this `cwnd0` the square root is replaced by [`SMALL_STEP`], its value here.
const SMALL_WINDOW: f64 = 16.0;
const SMALL_STEP: f64 = 4.0;
/// Slow start doubles up to this window and adds half of it per round trip above, as RFC 3742 recommends.
const RAMP_WINDOW: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_falls_from_doubling_to_gamma() {
        let rule = ExpTcp::new(ExpTcpOptions { gamma: 0.05, beta: 0.125, small_window: false, paced: true });
        for (w, step) in [(1.0, 1.0), (100.0, 1.0), (200.0, 0.25), (500.0, 0.1), (1000.0, 0.05), (1e6, 0.05)] {
            assert_eq!(rule.ramp(w), Some(step), "at {w}");
        }
    }
}
