//! Response functions: the window of a flow that loses one packet in every 1/p (deterministic, or periodic, loss).
//!
//! Time is counted in round trips and a window of w packets is acknowledged in one of them, so a rule of `g(w)` per acknowledged
//! packet is `dw/dt = w g(w)` (Bansal and Balakrishnan 2001; Floyd, Handley and Padhye 2000). An epoch runs from the window after
//! a loss to the window at the next; it must carry 1/p packets, which fixes both. No timeouts, no largest window, no floor.

use core::cell::RefCell;

use cwnd::quantity;
use cwnd::registry::{Parameter, Spec};
use cwnd::units::Bytes;

use crate::roots::solve;
use crate::{highspeed, udt};

/// What one loss in every 1/p packets makes of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The window at each loss, packets.
    pub peak: f64,
    /// Packets sent per round trip, the mean over an epoch.
    pub mean: f64,
    /// Round trips between two losses.
    pub rounds: f64,
}

/// A rule whose response is known in closed form. Fractions are those removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `w += a / w^k` per round trip, `w -= b w^l + c w` on loss: AIMD (k = 0, l = 1), AIAD (k = 0, l = 0), MIMD and Scalable TCP
    /// (k = -1, l = 1), the binomial controls.
    Power {
        /// Exponent of the increase.
        k: f64,
        /// Increase.
        a: f64,
        /// Exponent of the decrease.
        l: f64,
        /// Decrease.
        b: f64,
        /// Further fraction removed.
        c: f64,
    },
    /// SIMD (simd eqs. 3 and 5).
    Simd {
        /// Fraction removed.
        b: f64,
        /// Eq. 5 instead of 3.
        periodic: bool,
    },
    /// EXP-TCP.
    Exp {
        /// Growth per round trip far above the window after a loss.
        gamma: f64,
        /// Fraction removed.
        b: f64,
    },
    /// HighSpeed TCP.
    HighSpeed(cwnd::window::highspeed::HighSpeedOptions),
    /// CUBIC (RFC 9438 section 5.1); its growth is by the clock.
    Cubic {
        /// Packets per second cubed.
        c: f64,
        /// Fraction removed.
        b: f64,
    },
    /// UDT's stage model on rate control alone (daimd eqs. 10-14), the rate clipped to the stable stage.
    Udt {
        /// bit/s.
        capacity: f64,
    },
}

/// What a response depends on besides the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathParameters {
    /// Round trip, seconds. It matters to what grows by the clock.
    pub rtt: f64,
    /// Packet on the wire.
    pub packet: Bytes,
}

impl Law {
    /// The law of a registered algorithm with its parameters; none where no closed form is known, or a parameter that it needs is
    /// not given.
    #[must_use]
    pub fn of(spec: &Spec) -> Option<Self> {
        Self::asking(spec, &|_| ())
    }

    /// The parameters of a registered algorithm that were given and that its closed form does not depend on, each with its text. All of
    /// them where there is no closed form.
    #[must_use]
    pub fn unread(spec: &Spec) -> Vec<(&'static Parameter, String)> {
        let asked = RefCell::new(Vec::new());
        let _ = Self::asking(spec, &|name| asked.borrow_mut().push(name.to_string()));
        let asked = asked.into_inner();
        let given = spec.parameters().filter(|(parameter, text)| *text != parameter.default_text());
        given.filter(|(parameter, _)| !asked.iter().any(|name| name == parameter.name)).collect()
    }

    /// As [`of`](Self::of); `ask` hears of each parameter that it looks at.
    fn asking(spec: &Spec, ask: &dyn Fn(&str)) -> Option<Self> {
        let text = |name: &str| {
            ask(name);
            spec.parameters().find(|(parameter, _)| parameter.name == name).map(|(_, text)| text)
        };
        let number = |name: &str| text(name).and_then(|text| quantity::number(&text).ok());
        let chosen = |name: &str, word: &str| text(name).is_some_and(|text| text == word);
        let binomial = |k, l| {
            let b = number("b")?;
            let a = number("a").unwrap_or_else(|| cwnd::window::binomial::friendly_increase(b));
            Some(Self::Power { k, a, l, b, c: 0.0 })
        };
        match spec.entry().name {
            "reno" => Some(Self::Power { k: 0.0, a: 1.0, l: 1.0, b: 0.5, c: 0.0 }),
            "aimd" => {
                let b = number("b")?;
                let a = number("a").unwrap_or_else(|| cwnd::window::aimd::friendly_increase(b));
                Some(Self::Power { k: 0.0, a, l: 1.0, b, c: 0.0 })
            }
            "aiad" => Some(Self::Power { k: 0.0, a: number("a")?, l: 0.0, b: number("d")?, c: number("c")? }),
            "mimd" => Some(Self::Power { k: -1.0, a: number("a")?, l: 1.0, b: number("b")?, c: 0.0 }),
            "scalable" if number("low_window")? == 0.0 => {
                Some(Self::Power { k: -1.0, a: number("a")?, l: 1.0, b: number("b")?, c: 0.0 })
            }
            "binomial" => binomial(number("k")?, number("l")?),
            "iiad" => binomial(1.0, 0.0),
            "sqrt" => binomial(0.5, 0.5),
            "simd" => Some(Self::Simd { b: number("beta")?, periodic: chosen("loss", "periodic") }),
            "exp-tcp" if chosen("small_window", "off") => {
                Some(Self::Exp { gamma: number("gamma")?, b: number("beta")? })
            }
            "cubic" if chosen("reno_friendly", "on") => Some(Self::Cubic { c: number("c")?, b: number("beta")? }),
            "highspeed" => {
                let rfc = highspeed::rfc();
                let ns2 = highspeed::ns2(number("low_window")?);
                Some(Self::HighSpeed(cwnd::window::highspeed::HighSpeedOptions {
                    low_p: if chosen("low_p", "rfc") { rfc.low_p } else { ns2.low_p },
                    high_window: number("high_window")?,
                    high_p: number("high_p")?,
                    high_decrease: number("high_decrease")?,
                    ..ns2
                }))
            }
            "udt" => number("capacity").map(|capacity| Self::Udt { capacity }),
            _ => None,
        }
    }

    /// The response at loss probability `p`, 0 < p <= 1; none where an epoch cannot carry 1/p packets at any window.
    #[must_use]
    pub fn response(&self, p: f64, path: PathParameters) -> Option<Response> {
        match *self {
            Self::Power { k, a, l, b, c } => {
                let least = |w: f64| w - b * libm::pow(w, l) - c * w;
                let packets = |w: f64| (antiderivative(w, k + 1.0) - antiderivative(least(w), k + 1.0)) / a;
                // Where k + l = -1 the packets of an epoch do not depend on the window: no loss rate has one.
                let peak =
                    (k + libm::fmax(l, 0.0) > -1.0 || c > 0.0).then(|| solve(floor(b, l, c), 1.0 / p, packets))??;
                let rounds = (antiderivative(peak, k) - antiderivative(least(peak), k)) / a;
                Some(Response { peak, mean: 1.0 / (p * rounds), rounds })
            }
            Self::Simd { b, periodic } => {
                let alpha = |w| {
                    cwnd::window::simd::friendly_alpha(b, w) * if periodic { core::f64::consts::SQRT_2 } else { 1.0 }
                };
                let rounds = |w: f64| 2.0 * libm::sqrt(b * w) / alpha(w);
                let share = 1.0 - 2.0 * b / 3.0;
                let peak = solve(0.0, 1.0 / p, |w| share * w * rounds(w))?;
                Some(Response { peak, mean: share * peak, rounds: rounds(peak) })
            }
            Self::Exp { gamma, b } => {
                let start = |w: f64| ((1.0 - b) * w, libm::sqrt((1.0 - b) * w));
                let rounds = |w: f64| libm::log(1.0 + b * w / start(w).1) / gamma;
                let packets = |w: f64| (start(w).0 - start(w).1) * rounds(w) + b * w / gamma;
                let peak = solve(1.0, 1.0 / p, packets)?;
                Some(Response { peak, mean: 1.0 / (p * rounds(peak)), rounds: rounds(peak) })
            }
            Self::HighSpeed(ends) => {
                // The RFC's response function is that of AIMD(a(w), b(w)) with both constant over an epoch.
                let mean = highspeed::window(ends, p);
                let decrease = highspeed::row(ends, mean).decrease;
                Some(Response { peak: mean / (1.0 - decrease / 2.0), mean, rounds: 1.0 / (p * mean) })
            }
            Self::Cubic { c, b } => {
                let by_the_clock = libm::sqrt(libm::sqrt(c * (4.0 - b) / (4.0 * b))) * libm::pow(path.rtt / p, 0.75);
                let as_reno = libm::sqrt(1.5 / p);
                let mean = libm::fmax(by_the_clock, as_reno);
                // The cubic curve's mean lies b/4 below its plateau, AIMD's b/2 below its peak.
                let below = if by_the_clock > as_reno { b / 4.0 } else { b / 2.0 };
                Some(Response { peak: mean / (1.0 - below), mean, rounds: 1.0 / (p * mean) })
            }
            Self::Udt { capacity } => {
                let stable = udt::equilibrium(capacity, p, path.packet);
                let mean = stable.clipped / path.packet.bits() * path.rtt;
                // A rate, not a sawtooth in round trips: the model has no peak of its own.
                Some(Response { peak: mean, mean, rounds: 1.0 / (p * mean) })
            }
        }
    }
}

/// The integral of `w^exponent` from 0, or the logarithm where that has none.
fn antiderivative(w: f64, exponent: f64) -> f64 {
    let power = exponent + 1.0;
    if libm::fabs(power) < 1e-12 { libm::log(w) } else { libm::pow(w, power) / power }
}

/// The window below which a cut leaves nothing.
fn floor(b: f64, l: f64, c: f64) -> f64 {
    if l < 1.0 { libm::pow(b / (1.0 - c), 1.0 / (1.0 - l)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathParameters = PathParameters { rtt: 0.1, packet: Bytes(1500) };

    fn mean(text: &str, p: f64) -> f64 {
        let law = Law::of(&Spec::parse(text).expect("an algorithm")).expect("a law");
        law.response(p, PATH).expect("a response").mean
    }

    #[test]
    fn means_under_periodic_loss_of_a_thousandth() {
        for (text, expected) in [
            ("reno", 38.730),
            ("aimd:b=1/16", 38.730),
            ("iiad", 38.730),
            ("sqrt", 38.223),
            ("simd", 32.60),
            ("simd:loss=periodic", 38.78),
        ] {
            let found = mean(text, 1e-3);
            assert!((found / expected - 1.0).abs() < 2e-3, "{text}: {found} for {expected}");
        }
        for (text, expected) in [("reno", 38.730), ("aimd:b=1/16", 38.730), ("iiad", 38.730), ("sqrt", 38.223)] {
            assert!((mean(text, 1e-3) / expected - 1.0).abs() < 1e-3, "{text}: {}", mean(text, 1e-3));
        }
        assert!((mean("simd:loss=periodic", 1e-3) - libm::sqrt(1500.0)).abs() < 1e-9);
    }

    #[test]
    fn scalable_tcp_has_eight_packets_per_hundred_losses_at_its_peak() {
        let law = Law::of(&Spec::parse("scalable").expect("registered")).expect("a law");
        let response = law.response(1e-4, PATH).expect("a response");
        assert!((response.peak * 1e-4 - 0.08).abs() < 1e-9);
        // 13.42 round trips where growth is compounded once per round trip, ln(8/7)/0.01 = 13.35 per packet.
        assert!((response.rounds - 13.353).abs() < 1e-3);
    }

    #[test]
    fn an_epoch_carries_one_packet_in_p() {
        for text in
            ["aimd:b=1/8", "aiad", "aiad:c=0.1", "binomial:k=2,l=0.3", "mimd", "simd", "exp-tcp", "highspeed", "cubic"]
        {
            let law = Law::of(&Spec::parse(text).expect("an algorithm")).expect("a law");
            for p in [1e-6, 1e-4, 1e-2] {
                let Response { peak, mean, rounds } = law.response(p, PATH).expect("a response");
                assert!((mean * rounds * p - 1.0).abs() < 1e-9, "{text} at {p}");
                assert!(peak >= mean, "{text} at {p}: {peak} {mean}");
            }
        }
    }

    #[test]
    fn exp_tcp_meets_its_epoch_in_the_limit_of_slow_growth() {
        // gamma per packet compounds to e^gamma per round trip; the paper's form compounds once.
        let law = Law::Exp { gamma: 1e-4, b: 0.125 };
        let response = law.response(1e-9, PATH).expect("a response");
        let printed = crate::exp_tcp::epoch(response.peak, 1e-4, 0.125);
        assert!((response.rounds / printed - 1.0).abs() < 1e-4);
    }

    #[test]
    fn rfc_9438_table_2() {
        // Average windows of CUBIC with C = 0.4 and Reno with an RTT of 0.1 s, in packets.
        for (p, cubic, reno) in [(1e-4, 187.0, 120.0), (1e-5, 1054.0, 379.0), (1e-6, 5926.0, 1200.0)] {
            assert!((mean("cubic", p) / cubic - 1.0).abs() < 5e-3, "{p}: {}", mean("cubic", p));
            assert!((mean("reno", p) / reno - 1.0).abs() < 0.03);
        }
    }

    #[test]
    fn what_has_no_response() {
        for name in ["new-aimd", "udt", "vegas", "fast"] {
            assert_eq!(Law::of(&Spec::parse(name).expect("registered")), None, "{name}");
        }
        let constant = Law::Power { k: -1.0, a: 0.1, l: 0.0, b: 3.0, c: 0.0 };
        assert_eq!(constant.response(1e-3, PATH), None);
    }
}
