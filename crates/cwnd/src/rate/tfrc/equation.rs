//! The throughput equation of TCP (RFC 5348 section 3.1).

use crate::units::{Rate, Span};

/// The rate of a TCP with a loss event rate of `p`, above 0 and at most 1, and a round trip of `rtt`: Padhye et al., SIGCOMM 1998, with
/// an acknowledgement per packet (b = 1) and a retransmission timeout of four round trips.
#[must_use]
pub fn equation(p: f64, rtt: Span) -> Rate {
    let r = rtt.as_secs_f64();
    let recovery = 4.0 * r * (3.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
    Rate(1.0 / (r * libm::sqrt(2.0 * p / 3.0) + recovery))
}

/// The loss event rate at which the equation yields `rate`; at least 1e-8 and at most 1.
#[must_use]
pub(super) fn inverse(rate: Rate, rtt: Span) -> f64 {
    let (mut low, mut high) = (LEAST_LOSS, 1.0_f64);
    // Each step halves the ratio's logarithm: 46 of them leave less than the precision of a double.
    for _ in 0..60 {
        let middle = libm::sqrt(low * high);
        if equation(middle, rtt).0 > rate.0 { low = middle } else { high = middle }
    }
    high
}

/// A loss in 10^8 packets: at a round trip of 100 ms 1.5 Gbit/s of packets of 1500 bytes, and nothing to seed a history with beyond.
const LEAST_LOSS: f64 = 1e-8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // Packets per round trip at R = 0.1 s and t_RTO = 0.4 s, as equation 8 of the SIMD paper gives them for TCP.
        for (p, window) in [(0.001, 38.3844), (0.005, 16.5741), (0.01, 11.2332), (0.05, 3.6859)] {
            let found = equation(p, Span::from_millis(100)).0 / 10.0;
            assert!((found - window).abs() < 1e-4, "p = {p}: {found}");
        }
    }

    #[test]
    fn the_inverse_finds_the_loss_again() {
        for p in [1e-6, 1e-3, 0.02, 0.3, 1.0] {
            let found = inverse(equation(p, Span::from_millis(80)), Span::from_millis(80));
            assert!((found / p - 1.0).abs() < 1e-9, "{p}: {found}");
        }
        assert_eq!(inverse(Rate(0.0), Span::from_millis(80)), 1.0);
    }
}
