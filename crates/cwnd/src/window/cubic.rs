//! CUBIC: a cubic function of the time since the last congestion, centred on the window at which it hit.
//!
//! RFC 9438; section numbers are its own.

use super::abe::{ECN_BETA, ecn_beta};
use super::{Window, WindowRule, aimd};
use crate::bounded::Bounded;
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;
use crate::units::{Span, Time};

/// The rule: `w` follows `W_cubic(t) = C (t - K)^3 + W_max`, but is never below what Reno would have.
#[derive(Clone, Debug)]
pub struct Cubic {
    /// C, packets per second cubed.
    c: f64,
    /// 1 - beta_cubic.
    decrease: f64,
    fast_convergence: bool,
    reno_friendly: RenoFriendly,
    w_max: f64,
    /// K, seconds: how long the curve takes from the start of the epoch to `w_max`.
    k: f64,
    /// W_est, the window of a Reno flow with the same decrease.
    w_est: f64,
    /// cwnd_prior, the window at which the last congestion hit.
    prior: f64,
    /// The age of the epoch, without times in which the window was not used.
    elapsed: Span,
    /// The last acknowledgement of the epoch; [`Time::MAX`] before the first.
    last: Time,
}

/// What keeps a window from being smaller than Reno's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenoFriendly {
    /// Nothing.
    Off,
    /// RFC 8312, section 4.2: W_est grows by the same increase throughout.
    Rfc8312,
    /// RFC 9438, section 4.3: W_est grows as Reno from the last maximum on.
    Rfc9438,
}

impl Cubic {
    /// CUBIC with the constant `c`, in packets per second cubed, that removes the fraction `decrease` on congestion. Sections 4.7
    /// (`fast_convergence`) and 4.3 (`reno_friendly`) can be left out.
    #[must_use]
    pub fn new(c: f64, decrease: f64, fast_convergence: bool, reno_friendly: RenoFriendly) -> Self {
        Self {
            c,
            decrease,
            fast_convergence,
            reno_friendly,
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            prior: 0.0,
            elapsed: Span::ZERO,
            last: Time::MAX,
        }
    }

    /// Section 4.2, figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        self.c * from_k * from_k * from_k + self.w_max
    }

    /// Section 4.3: the increase with which AIMD gets Reno's throughput, and Reno's own from the last maximum on.
    fn alpha(&self) -> f64 {
        let friendly = self.w_est < self.prior || self.reno_friendly == RenoFriendly::Rfc8312;
        if friendly { aimd::friendly_increase(self.decrease) } else { 1.0 }
    }
}

impl WindowRule for Cubic {
    fn grow(&mut self, w: f64, view: &View) -> f64 {
        self.grow_by(w, 1.0, view)
    }

    fn grow_by(&mut self, w: f64, acked: f64, view: &View) -> f64 {
        let (rtt, longest) =
            view.rtt.map_or((Span::ZERO, Span::ZERO), |rtt| (rtt.smoothed, rtt.smoothed.max(rtt.latest)));
        // Section 5.8: the time in which the sender had no use for the window does not count. A window in use is acknowledged
        // at least once per round trip.
        self.elapsed = self.elapsed + view.now.since(self.last).min(longest);
        self.last = view.now;
        let t = self.elapsed.as_secs_f64();

        self.w_est += acked * self.alpha() / w;
        if self.reno_friendly != RenoFriendly::Off && self.w_cubic(t) < self.w_est {
            // Section 4.3, the Reno-friendly region.
            return (self.w_est - w).at_least(0.0);
        }
        // Sections 4.2, 4.4 and 4.5.
        let target = self.w_cubic(t + rtt.as_secs_f64()).at_least(w).at_most(1.5 * w);
        acked * (target - w) / w
    }

    /// The curve a round trip ahead, at most half of `flight` above it (section 4.2); in the Reno-friendly region what W_est grows by in a
    /// round trip. W_est itself is of the window, not of the packets in flight, and would be no limit.
    fn growth_of(&self, flight: f64, view: &View) -> f64 {
        let t = self.elapsed.as_secs_f64();
        if self.reno_friendly != RenoFriendly::Off && self.w_cubic(t) < self.w_est {
            return self.alpha();
        }
        let rtt = view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed);
        (self.w_cubic(t + rtt.as_secs_f64()) - flight).clamp(0.0, 0.5 * flight)
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, _view: &View) {
        (self.w_max, self.prior) = match before {
            // Section 4.7, fast convergence: a maximum below the last one means that other flows compete.
            Some(before) if self.fast_convergence && before < self.w_max => {
                (before * (1.0 - self.decrease / 2.0), before)
            }
            Some(before) => (before, before),
            // Sections 4.8 and 4.10: no earlier maximum is known, the curve starts in its middle.
            None => (after, after),
        };
        self.k = libm::cbrt((self.w_max - after).max(0.0) / self.c);
        self.w_est = after;
        self.elapsed = Span::ZERO;
        self.last = Time::MAX;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", self.w_max);
        visit("k", self.k);
        visit("w_est", self.w_est);
    }
}

/// Registered as `cubic`.
pub const CUBIC: Entry<Window<Cubic>> = Entry {
    name: "cubic",
    title: "CUBIC: a cubic function of the time since the last congestion",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "RFC 9438 section 4",
    deviations: &[
        "A cut is taken from the window, not from the packets in flight (section 4.6 allows it where an unused window does not grow).",
        "In the Reno-friendly region the window is raised to W_est, never lowered to it.",
        "With `ecn_beta` the Reno-friendly increase is still the one of `beta`.",
        "HyStart++ is for the host to ask for; by default slow start is the standard one (section 4.10 recommends HyStart++).",
    ],
    parameters: &[
        Parameter::number("c", 0.4, "C: how fast the window leaves the plateau")
            .unit("packets/s^3")
            .at_least(1e-6)
            .at_most(1e6),
        Parameter::number("beta", 0.3, "fraction of the window removed on congestion (1 - beta_cubic)")
            .above(0.0)
            .below(1.0),
        Parameter::choice("fast_convergence", &["on", "off"], "aim lower when the window at congestion falls"),
        Parameter::choice(
            "reno_friendly",
            &["on", "rfc8312", "off"],
            "never below the window Reno would have; rfc8312: without its greater increase above the last maximum",
        ),
        ECN_BETA,
    ],
    build: |values, start| {
        let on = |name| values.choice(name) == "on";
        let (c, decrease) = (values.number("c"), values.number("beta"));
        let reno_friendly = match values.choice("reno_friendly") {
            "off" => RenoFriendly::Off,
            "rfc8312" => RenoFriendly::Rfc8312,
            _ => RenoFriendly::Rfc9438,
        };
        let rule = Cubic::new(c, decrease, on("fast_convergence"), reno_friendly);
        Ok(Window::new(rule, start).with_ecn_beta(ecn_beta(values, 1.0 - decrease)?))
    },
    receiver: None,
};
