//! AIMD(a, b): additive increase, multiplicative decrease. TCP Reno is AIMD(1, 1/2).
//!
//! Chiu and Jain, Computer Networks and ISDN Systems 17 (1989); RFC 5681 for Reno; the TCP-friendly increase for a given
//! decrease from Yang and Lam, ICNP 2000 (simd section 2); RFC 8511 for `ecn_beta`.

use super::abe::{ECN_BETA, ecn_beta};
use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a/w` per acknowledged packet, `w -= b w` on congestion.
#[derive(Clone, Debug)]
pub struct Aimd {
    increase: f64,
    decrease: f64,
}

/// The increase per round trip with which AIMD(a, b) gets TCP's throughput under random loss: `3b / (2 - b)`.
#[must_use]
pub fn friendly_increase(b: f64) -> f64 {
    3.0 * b / (2.0 - b)
}

impl WindowRule for Aimd {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        self.increase / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }

    fn cuts_flight(&self) -> bool {
        true
    }
}

/// Registered as `reno`.
pub const RENO: Entry<Window<Aimd>> = Entry {
    name: "reno",
    title: "TCP Reno's congestion avoidance: AIMD(1, 1/2)",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "RFC 5681 section 3.1",
    deviations: &[
        "A window that is used is cut itself, as in Linux; the packets in flight (equation 4) are fewer by what pacing or a part of a packet holds back.",
    ],
    parameters: &[ECN_BETA],
    build: |values, start| {
        let ecn_beta = ecn_beta(values, 0.5)?;
        Ok(Window::new(Aimd { increase: 1.0, decrease: 0.5 }, start).with_ecn_beta(ecn_beta))
    },
    receiver: None,
};

/// Registered as `aimd`.
pub const AIMD: Entry<Window<Aimd>> = Entry {
    name: "aimd",
    title: "additive increase, multiplicative decrease",
    family: Family::Core,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Chiu and Jain 1989; TCP-friendly a from b: simd section 2",
    deviations: &[],
    parameters: &[
        Parameter::derived("a", "3b/(2-b), TCP-friendly", "increase per round trip")
            .unit("packets")
            .above(0.0)
            .at_most(1e6),
        Parameter::number("b", 0.5, "fraction of the window removed on congestion").above(0.0).below(1.0),
        ECN_BETA,
    ],
    build: |values, start| {
        let decrease = values.number("b");
        let increase = values.given("a").unwrap_or_else(|| friendly_increase(decrease));
        let ecn_beta = ecn_beta(values, 1.0 - decrease)?;
        Ok(Window::new(Aimd { increase, decrease }, start).with_ecn_beta(ecn_beta))
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friendly_increases_of_the_simd_paper() {
        for (b, a) in [(0.5, 1.0), (0.25, 0.428_571), (0.125, 0.2), (1.0 / 16.0, 0.096_774_2), (1.0 / 32.0, 0.047_619)]
        {
            assert!((friendly_increase(b) - a).abs() < 1e-6, "b = {b}: {}", friendly_increase(b));
        }
    }
}
