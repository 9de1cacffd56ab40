//! HighSpeed TCP: AIMD whose increase and decrease depend on the window, so that few losses fill a large one.
//!
//! RFC 3649 section 5. Between `low_window` and `high_window` the decrease b(w) is a line over log w, and the loss rate p(w)
//! of the response function a line over both logarithms; the increase a(w) follows from the two.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a(w)/w` per acknowledged packet, `w -= b(w) w` on congestion; Reno up to `low_window`.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    low_window: f64,
    log_low_window: f64,
    /// b(w) above `low_window` falls from 1/2 by this per unit of log w.
    decrease_slope: f64,
    log_low_p: f64,
    /// log p(w) rises by this (negative) per unit of log w.
    log_p_slope: f64,
    /// Where `increase` was computed, and its value.
    computed_at: f64,
    increase: f64,
}

/// The two ends of the response function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 3649 has these five numbers")]
pub struct HighSpeedOptions {
    /// Up to this window the flow is Reno; at least 1 packet.
    pub low_window: f64,
    /// Above `low_window`, packets.
    pub high_window: f64,
    /// The loss rate at `low_window`; below 2.
    pub low_p: f64,
    /// The loss rate at `high_window`; above 0 and below `low_p`.
    pub high_p: f64,
    /// The fraction removed at `high_window`; above 0, at most 1/2.
    pub high_decrease: f64,
}

impl HighSpeed {
    /// HighSpeed TCP between two ends.
    #[must_use]
    pub fn new(options: HighSpeedOptions) -> Self {
        let HighSpeedOptions { low_window, high_window, low_p, high_p, high_decrease } = options;
        let span = libm::log(high_window) - libm::log(low_window);
        Self {
            low_window,
            log_low_window: libm::log(low_window),
            decrease_slope: (high_decrease - 0.5) / span,
            log_low_p: libm::log(low_p),
            log_p_slope: (libm::log(high_p) - libm::log(low_p)) / span,
            computed_at: 0.0,
            increase: 0.0,
        }
    }

    /// b(w), the fraction removed.
    #[must_use]
    pub fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        (0.5 + self.decrease_slope * (libm::log(w) - self.log_low_window)).max(MIN_DECREASE)
    }

    /// a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), packets per round trip.
    #[must_use]
    pub fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let p = libm::exp(self.log_low_p + self.log_p_slope * (libm::log(w) - self.log_low_window));
        let b = self.decrease(w);
        w * w * p * 2.0 * b / (2.0 - b)
    }
}

impl WindowRule for HighSpeed {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        if w < self.computed_at || w > self.computed_at * RECOMPUTE {
            self.computed_at = w;
            self.increase = self.increase(w);
        }
        self.increase / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease(w) * w
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("a", self.increase);
    }
}

/// Registered as `highspeed`.
pub const HIGHSPEED: Entry<Window<HighSpeed>> = Entry {
    name: "highspeed",
    title: "HighSpeed TCP: AIMD with increase and decrease by the window",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "RFC 3649 section 5; the defaults of ns-2 since August 2002",
    deviations: &[
        "The formulas are used instead of the RFC's table of whole increases, beyond high_window too, with a decrease of 0.01 or more.",
        "The increase is computed anew only where the window has grown by 0.1 % (ns-2: by one packet).",
    ],
    parameters: &[
        Parameter::number("low_window", 38.0, "Reno up to this window (ns-2 before August 2002: 31)")
            .unit("packets")
            .at_least(1.0)
            .at_most(1e6),
        Parameter::number("high_window", 83_000.0, "the window at a loss rate of high_p")
            .unit("packets")
            .above(1.0)
            .at_most(1e12),
        Parameter::number("high_p", 1e-7, "the loss rate at high_window").at_least(1e-15).below(1.0),
        Parameter::number("high_decrease", 0.1, "fraction removed at high_window").at_least(0.01).at_most(0.5),
        Parameter::choice(
            "low_p",
            &["ns2", "rfc"],
            "the loss rate at low_window: 1.5/low_window^2 (ns2) or 0.001 (rfc)",
        ),
    ],
    build: |values, start| {
        let low_window = values.number("low_window");
        let low_p = if values.choice("low_p") == "rfc" { RFC_LOW_P } else { 1.5 / (low_window * low_window) };
        let options = HighSpeedOptions {
            low_window,
            high_window: values.number("high_window"),
            low_p,
            high_p: values.number("high_p"),
            high_decrease: values.number("high_decrease"),
        };
        if options.high_window <= low_window {
            return Err(InvalidParameter::new("high_window", "above low_window"));
        }
        if options.high_p >= low_p {
            return Err(InvalidParameter::new("high_p", "below the loss rate at low_window"));
        }
        Ok(Window::new(HighSpeed::new(options), start))
    },
    receiver: None,
};

/// Section 5: Low_P.
const RFC_LOW_P: f64 = 1e-3;
/// The line for b(w) reaches zero at about 600 000 packets with the default ends.
const MIN_DECREASE: f64 = 0.01;
/// A logarithm per packet would cost more than the rest of the rule. a(w) rises more slowly than w: it is off by at most as much.
const RECOMPUTE: f64 = 1.001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decrease_stays_positive_beyond_the_high_window() {
        let ends = HighSpeedOptions {
            low_window: 38.0,
            high_window: 83_000.0,
            low_p: RFC_LOW_P,
            high_p: 1e-7,
            high_decrease: 0.1,
        };
        assert_eq!(HighSpeed::new(ends).decrease(1e12), MIN_DECREASE);
    }

    #[test]
    fn ends_that_contradict_each_other_are_refused() {
        for text in ["highspeed:low_window=100,high_window=100", "highspeed:low_window=1000,high_p=1e-5"] {
            assert!(crate::Spec::parse(text).is_err(), "{text}");
        }
    }
}
