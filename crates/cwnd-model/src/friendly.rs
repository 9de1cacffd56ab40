//! TCP's throughput, and the parameters with which others get the same.

pub use cwnd::window::aimd::friendly_increase as aimd_increase;
pub use cwnd::window::binomial::friendly_increase as binomial_increase;
pub use cwnd::window::simd::friendly_alpha as simd_alpha_random;

/// `sqrt(3/2) / (R sqrt(p))` packets per second: TCP's throughput under periodic loss at probability `p`, 0 < p <= 1, with a round
/// trip of `rtt` seconds and without timeouts (Mathis, Semke, Mahdavi and Ott 1997; simd section 2).
#[must_use]
pub fn tcp_rate(p: f64, rtt: f64) -> f64 {
    libm::sqrt(1.5 / p) / rtt
}

/// Seconds until TCP has its full rate of `rate` bit/s back after one loss: half a window of round trips of `rtt` seconds, `payload`
/// bytes of the rate in each packet (daimd section I).
#[must_use]
pub fn tcp_recovery_time(rate: f64, rtt: f64, payload: f64) -> f64 {
    0.5 * rate * rtt / (8.0 * payload) * rtt
}

/// SIMD's increase under periodic loss, for congestion at window `wmax` (simd eq. 5): sqrt(2) times that under random loss (eq. 3).
#[must_use]
pub fn simd_alpha_periodic(b: f64, wmax: f64) -> f64 {
    core::f64::consts::SQRT_2 * simd_alpha_random(b, wmax)
}

/// What eq. 8 of simd needs besides the loss rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeouts {
    /// Round trip, seconds.
    pub rtt: f64,
    /// The first retransmission timeout T0, seconds. The paper does not give it.
    pub timeout: f64,
    /// Largest window, packets.
    pub max_window: f64,
}

/// Packets per second of AIMD(a, b) at loss `p`, with timeouts and a largest window (simd eq. 8, after Padhye et al. 1998).
///
/// The paper prints `p` outside both square roots; with it inside, as here, AIMD(1, 1/2) is Padhye's formula.
#[must_use]
pub fn aimd_rate_with_timeouts(a: f64, b: f64, p: f64, path: Timeouts) -> f64 {
    let additive = path.rtt * libm::sqrt(2.0 * b * p / (a * (2.0 - b)));
    let timed_out = libm::fmin(1.0, 3.0 * libm::sqrt(b * (2.0 - b) * p / (2.0 * a)));
    let backing_off = path.timeout * timed_out * p * (1.0 + 32.0 * p * p);
    libm::fmin(path.max_window / path.rtt, 1.0 / (additive + backing_off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_8_of_simd() {
        let path = Timeouts { rtt: 0.1, timeout: 0.4, max_window: 128.0 };
        let rows = [
            (0.001, 38.3844, 38.2990, 38.2848),
            (0.005, 16.5741, 16.3974, 16.3683),
            (0.01, 11.2332, 11.0054, 10.9683),
            (0.02, 7.3249, 7.0530, 7.0096),
            (0.05, 3.6859, 3.4073, 3.3649),
            (0.1, 1.7701, 1.5585, 1.5281),
            (0.15, 0.9519, 0.8103, 0.7907),
            (0.2, 0.5366, 0.4568, 0.4568),
            (0.3, 0.1960, 0.1960, 0.1960),
        ];
        for (p, tcp, eighth, sixteenth) in rows {
            for (a, b, expected) in [(1.0, 0.5, tcp), (0.2, 0.125, eighth), (3.0 / 31.0, 0.0625, sixteenth)] {
                let window = aimd_rate_with_timeouts(a, b, p, path) * path.rtt;
                assert!((window / expected - 1.0).abs() < 1e-3, "AIMD({a}, {b}) at {p}: {window} for {expected}");
            }
        }
        // Where losses are rare the largest window holds.
        assert_eq!(aimd_rate_with_timeouts(1.0, 0.5, 1e-6, path), 1280.0);
    }

    #[test]
    fn increases_under_periodic_loss() {
        for (b, wmax, alpha) in [
            (1.0 / 16.0, 10.0, 0.247_483),
            (1.0 / 16.0, 100.0, 0.078_261),
            (0.125, 100.0, 0.115_708),
            (0.5, 100.0, 0.318_198),
        ] {
            assert!((simd_alpha_periodic(b, wmax) / alpha - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn tcp_needs_hours() {
        // The paper prints 28 minutes at 1 Gbit/s and 4 h 43 min at 10 Gbit/s over 200 ms, which is for 1472 bytes a packet.
        for (rate, payload, minutes) in
            [(1e9, 1472.0, 28.3), (1e10, 1472.0, 283.1), (1e9, 1500.0, 27.8), (1e10, 1500.0, 277.8)]
        {
            let found = tcp_recovery_time(rate, 0.2, payload) / 60.0;
            assert!((found / minutes - 1.0).abs() < 1e-3, "{found} for {minutes}");
        }
        assert_eq!((tcp_recovery_time(1e10, 0.2, 1472.0) / 60.0) as u32, 4 * 60 + 43);
    }

    #[test]
    fn tcp_in_packets_per_second() {
        assert!((tcp_rate(1e-3, 1.0) - 38.73).abs() < 0.005);
        assert!((tcp_rate(1e-3, 0.1) - 387.3).abs() < 0.05);
    }
}
