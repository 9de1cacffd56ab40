//! EXP-TCP's epochs (Jin and Liu, sections II.B and II.C).

/// The window `rounds` round trips after a cut to `cwnd0`: `cwnd0 - s + (1 + gamma)^i s` with `s = sqrt(cwnd0)`.
#[must_use]
pub fn window(cwnd0: f64, gamma: f64, rounds: f64) -> f64 {
    let s = libm::sqrt(cwnd0);
    cwnd0 - s + libm::pow(1.0 + gamma, rounds) * s
}

/// Round trips from a cut at `wmax` until the window is back there, exactly: `log(1 + b W / sqrt((1-b) W))` to base `1 + gamma`.
#[must_use]
pub fn epoch(wmax: f64, gamma: f64, b: f64) -> f64 {
    libm::log(1.0 + b * wmax / libm::sqrt((1.0 - b) * wmax)) / libm::log(1.0 + gamma)
}

/// The form that the paper prints for b = 1/8: `log(sqrt(W) / 8)` to base `1 + gamma`. It is right in the limit of large windows
/// only: at 100 packets it gives 4.6 instead of 17.4.
#[must_use]
pub fn epoch_as_printed(wmax: f64, gamma: f64) -> f64 {
    libm::log(libm::sqrt(wmax) / 8.0) / libm::log(1.0 + gamma)
}

/// Packets per round trip by which the window grows when it is back at `wmax`: `gamma (b W + sqrt((1-b) W))`. The paper prints the
/// first term alone.
#[must_use]
pub fn growth_at(wmax: f64, gamma: f64, b: f64) -> f64 {
    gamma * (b * wmax + libm::sqrt((1.0 - b) * wmax))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-3
    }

    #[test]
    fn windows_of_the_closed_form() {
        for (cwnd0, expected) in [
            (16.0, [16.200, 17.105, 18.516, 22.613, 40.160]),
            (100.0, [100.500, 102.763, 106.289, 116.533, 160.400]),
            (1000.0, [1001.581, 1008.737, 1019.887, 1052.282, 1191.001]),
            (10_000.0, [10_005.000, 10_027.628, 10_062.889, 10_165.330, 10_603.999]),
        ] {
            for (rounds, expected) in [1.0, 5.0, 10.0, 20.0, 40.0].into_iter().zip(expected) {
                assert!((window(cwnd0, 0.05, rounds) - expected).abs() < 1e-3);
            }
        }
        assert!((window(4.0, 0.05, 5.0) - 4.0 - 0.5525).abs() < 1e-3);
    }

    #[test]
    fn epochs_and_growth() {
        for (w, exact, printed, growth) in [
            (1e2, 17.39, 4.57, 1.093),
            (1e3, 33.89, 28.17, 7.729),
            (1e4, 54.61, 51.77, 67.18),
            (1e5, 77.21, 75.36, 639.8),
        ] {
            assert!(close(epoch(w, 0.05, 0.125), exact));
            assert!(close(epoch_as_printed(w, 0.05), printed));
            assert!(close(growth_at(w, 0.05, 0.125), growth));
        }
    }
}
