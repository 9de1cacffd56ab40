//! H-TCP: the increase grows with the time since the last congestion, the decrease follows the queue.
//!
//! Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004; draft-leith-tcp-htcp.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Rtt, View};
use crate::units::{Span, Time};

/// The rule: `w += alpha(t)/w` per acknowledged packet, `t` after the last congestion; `w = beta w` on congestion.
#[derive(Clone, Debug)]
pub struct Htcp {
    adaptive: bool,
    /// The fraction kept at the last cut.
    beta: f64,
    epoch: Time,
    /// The largest round-trip time of the epoch.
    rtt_max: Span,
    /// Packets per second at the last cut; 0 before the first.
    rate: f64,
}

/// Packets per round trip, `since` the last congestion: Reno for a second, then a parabola; scaled by `2 (1 - beta)` so that every
/// `beta` is as friendly as one half.
#[must_use]
pub fn increase(since: Span, beta: f64) -> f64 {
    let late = (since.as_secs_f64() - DELTA_L).max(0.0);
    2.0 * (1.0 - beta) * (1.0 + 10.0 * late + late * late / 4.0)
}

impl Htcp {
    /// The fraction to keep: the share of the round-trip time that is not queueing, so that the queue just drains; one half where
    /// the rate has changed so much that the queue is no measure.
    fn backoff(&mut self, w: f64, view: &View) -> f64 {
        let known = |rtt: &Rtt| self.adaptive && rtt.smoothed > Span::ZERO && rtt.latest > Span::ZERO;
        let Some(rtt) = view.rtt.filter(known) else { return LEAST_BETA };
        let before = self.rate;
        self.rate = w / rtt.smoothed.as_secs_f64();
        if (self.rate - before).abs() > CHANGED * before {
            return LEAST_BETA;
        }
        let rtt_max = self.rtt_max.max(rtt.latest).as_secs_f64();
        (rtt.min.as_secs_f64() / rtt_max).clamp(LEAST_BETA, LARGEST_BETA)
    }
}

impl WindowRule for Htcp {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        self.rtt_max = self.rtt_max.max(view.rtt.map_or(Span::ZERO, |rtt| rtt.latest));
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        increase(view.now.since(self.epoch), self.beta) / w
    }

    fn cut(&mut self, w: f64, view: &View) -> f64 {
        self.beta = self.backoff(w, view);
        self.beta * w
    }

    fn epoch(&mut self, _before: Option<f64>, _after: f64, view: &View) {
        self.epoch = view.now;
        self.rtt_max = Span::ZERO;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("beta", self.beta);
    }
}

/// Registered as `htcp`.
pub const HTCP: Entry<Window<Htcp>> = Entry {
    name: "htcp",
    title: "H-TCP: faster the longer the last congestion is past",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp",
    deviations: &[
        "The largest round-trip time is that of the epoch; the draft keeps it for the flow, Linux lets it fade.",
        "The rate at congestion is the window over the smoothed round-trip time.",
        "The optional scaling of the increase by the round-trip time is left out.",
    ],
    parameters: &[Parameter::choice(
        "backoff",
        &["adaptive", "half"],
        "fraction kept on congestion: by the round-trip times, 0.5 to 0.8, or one half",
    )],
    build: |values, start| {
        let adaptive = values.choice("backoff") == "adaptive";
        let rule = Htcp { adaptive, beta: LEAST_BETA, epoch: Time::ZERO, rtt_max: Span::ZERO, rate: 0.0 };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

/// Seconds for which a flow is Reno: Delta_L.
const DELTA_L: f64 = 1.0;
/// The ends of the fraction kept.
const LEAST_BETA: f64 = 0.5;
const LARGEST_BETA: f64 = 0.8;
/// Delta_B: the relative change of the rate from which the queue is not believed.
const CHANGED: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_by_hand() {
        for (millis, packets) in
            [(0, 1.0), (1000, 1.0), (1500, 6.0625), (2000, 11.25), (5000, 45.0), (10_000, 111.25), (20_000, 281.25)]
        {
            assert_eq!(increase(Span::from_millis(millis), 0.5), packets, "after {millis} ms");
        }
        assert!((increase(Span::from_secs(2), 0.8) - 4.5).abs() < 1e-12);
    }
}
