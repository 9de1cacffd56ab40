//! SIMD(b): square-increase, multiplicative-decrease, with memory of the last two windows at congestion.
//!
//! Jin, Guo, Matta and Bestavros, BU-CS-2001-006; equation numbers are theirs. Between two congestion events the window rises
//! with the square of time, `w(t) = w0 + alpha^2 t^2 / 4` with `t` in round trips, the faster the smaller it was: of two flows
//! the smaller gains more.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += alpha sqrt(w - w0) / w` per acknowledged packet, `w -= b w` on congestion.
#[derive(Clone, Debug)]
pub struct Simd {
    decrease: f64,
    periodic: bool,
    /// The window right after the last decrease.
    w0: f64,
    /// Friendly to TCP for the window at which the last congestion hit.
    alpha: f64,
}

/// The increase that gets TCP's throughput under random loss, for congestion at window `wmax` (eq. 3).
#[must_use]
pub fn friendly_alpha(b: f64, wmax: f64) -> f64 {
    3.0 * libm::sqrt(b) / ((1.0 - 2.0 * b / 3.0) * libm::sqrt(2.0 * wmax))
}

impl Simd {
    /// SIMD that removes the fraction `b` on congestion, 0 < b < 1; friendly under random loss, or under `periodic` loss.
    #[must_use]
    pub fn new(b: f64, periodic: bool) -> Self {
        Self { decrease: b, periodic, w0: 0.0, alpha: 0.0 }
    }
}

impl WindowRule for Simd {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        if w <= self.w0 {
            // The rule stands still at w = w0, so appendix B takes the first step of an epoch from w(t) at one round trip.
            self.alpha * self.alpha / (4.0 * self.w0)
        } else {
            // Eq. 9.
            self.alpha * libm::sqrt(w - self.w0) / w
        }
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, _view: &View) {
        // Footnote 2: after a slow start without loss the window at congestion is the one this window would be cut from.
        let wmax = before.unwrap_or(after / (1.0 - self.decrease));
        // Eq. 5: under periodic loss the friendly value is larger by sqrt(2), for the increase loses its random tail.
        let loss = if self.periodic { core::f64::consts::SQRT_2 } else { 1.0 };
        self.alpha = loss * friendly_alpha(self.decrease, wmax);
        self.w0 = after;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w0", self.w0);
        visit("alpha", self.alpha);
    }
}

/// Registered as `simd`.
pub const SIMD: Entry<Window<Simd>> = Entry {
    name: "simd",
    title: "square increase, multiplicative decrease, with history",
    family: Family::Core,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Jin, Guo, Matta and Bestavros, BU-CS-2001-006, eqs. 3, 5 and 9",
    deviations: &[
        "The paper leaves open when an epoch starts: here with the first acknowledgement after recovery.",
        "Congestion marks count as losses.",
    ],
    parameters: &[
        Parameter::number("beta", 1.0 / 16.0, "fraction of the window removed on congestion").above(0.0).below(1.0),
        Parameter::choice(
            "loss",
            &["random", "periodic"],
            "the loss under which the increase is TCP-friendly: eq. 3 or 5",
        ),
    ],
    build: |values, start| {
        Ok(Window::new(Simd::new(values.number("beta"), values.choice("loss") == "periodic"), start))
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friendly_increases() {
        for (b, wmax, alpha) in [
            (1.0 / 16.0, 10.0, 0.174_997),
            (1.0 / 16.0, 20.0, 0.123_741),
            (1.0 / 16.0, 100.0, 0.055_339),
            (1.0 / 16.0, 500.0, 0.024_748),
            (1.0 / 8.0, 100.0, 0.081_818),
            (1.0 / 2.0, 100.0, 0.225_000),
        ] {
            assert!((friendly_alpha(b, wmax) - alpha).abs() < 1e-6, "b = {b}, wmax = {wmax}");
        }
    }
}
