//! HighSpeed TCP's tables (RFC 3649).

use cwnd::window::highspeed::{HighSpeed, HighSpeedOptions};

/// A row of the table: what HighSpeed TCP does at a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponsePoint {
    /// Packets.
    pub window: f64,
    /// a(w), packets per round trip.
    pub increase: f64,
    /// b(w), the fraction removed.
    pub decrease: f64,
    /// The loss probability at which the response function has this window.
    pub loss: f64,
}

/// The response function's two ends with `low_window` and the loss rate of ns-2 there, 1.5/low_window². 38 is the default since
/// August 2002, 31 was it before.
#[must_use]
pub fn ns2(low_window: f64) -> HighSpeedOptions {
    HighSpeedOptions { low_window, low_p: 1.5 / (low_window * low_window), ..rfc() }
}

/// The RFC's ends: 38 packets at 10⁻³, 83 000 packets at 10⁻⁷ with a decrease of 0.1 (section 5).
#[must_use]
pub(crate) fn rfc() -> HighSpeedOptions {
    HighSpeedOptions { low_window: 38.0, high_window: 83_000.0, low_p: 1e-3, high_p: 1e-7, high_decrease: 0.1 }
}

/// The row at `window`, at least one packet.
#[must_use]
pub fn row(ends: HighSpeedOptions, window: f64) -> ResponsePoint {
    let rule = HighSpeed::new(ends);
    let (increase, decrease) = (rule.increase(window), rule.decrease(window));
    let loss = increase * (2.0 - decrease) / (2.0 * decrease * window * window);
    ResponsePoint { window, increase, decrease, loss }
}

/// The window at loss probability `p`, 0 < p <= 1: a line over both logarithms through the two ends, and TCP's `sqrt(1.5/p)` at
/// more loss than at the lower end (RFC 3649 section 5).
#[must_use]
pub fn window(ends: HighSpeedOptions, p: f64) -> f64 {
    if p >= ends.low_p {
        return libm::sqrt(1.5 / p);
    }
    let exponent = libm::log(ends.high_window / ends.low_window) / libm::log(ends.high_p / ends.low_p);
    ends.low_window * libm::pow(p / ends.low_p, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, within: f64) -> bool {
        (found - expected).abs() <= within
    }

    #[test]
    fn increase_and_decrease_by_the_window() {
        // w; a and b with ns-2's loss at 38; a with the RFC's; a and b with a lower end of 31.
        let rows = [
            (38.0, 1.000, 0.5000, 1.000, 1.139, 0.4897),
            (118.0, 2.094, 0.4411, 2.028, 2.336, 0.4323),
            (221.0, 3.133, 0.4084, 3.042, 3.453, 0.4005),
            (495.0, 5.209, 0.3665, 5.079, 5.655, 0.3596),
            (1058.0, 8.314, 0.3269, 8.136, 8.900, 0.3211),
            (5036.0, 20.676, 0.2458, 20.391, 21.521, 0.2420),
            (21_013.0, 43.217, 0.1715, 42.924, 43.933, 0.1696),
            (83_000.0, 72.516, 0.1000, 72.516, 72.516, 0.1000),
            (84_035.0, 72.739, 0.0994, 72.743, 72.733, 0.0994),
        ];
        for (w, a38, b38, a_rfc, a31, b31) in rows {
            let (low38, low_rfc, low31) = (row(ns2(38.0), w), row(rfc(), w), row(ns2(31.0), w));
            assert!(close(low38.increase, a38, 6e-4) && close(low38.decrease, b38, 6e-5), "{low38:?}");
            assert!(close(low_rfc.increase, a_rfc, 6e-4), "{low_rfc:?}");
            assert!(close(low31.increase, a31, 6e-4) && close(low31.decrease, b31, 6e-5), "{low31:?}");
        }
    }

    #[test]
    fn window_and_loss_are_inverse() {
        for w in [50.0, 1000.0, 83_000.0] {
            assert!(close(window(ns2(38.0), row(ns2(38.0), w).loss) / w, 1.0, 1e-9));
        }
        let slope =
            |low, from: f64, to: f64| libm::log(window(ns2(low), to) / window(ns2(low), from)) / libm::log(to / from);
        assert!(close(slope(38.0, 1e-4, 1e-7), -0.831, 6e-4));
        assert!(close(slope(31.0, 1e-4, 1e-7), -0.817, 6e-4));
    }

    #[test]
    fn the_printed_response() {
        for (p, w) in [(1e-4, 262.5), (1e-5, 1795.5), (1e-6, 12_279.5), (1e-7, 83_981.0), (1e-8, 574_356.0)] {
            // The rounding of both constants is worth up to two per cent.
            assert!(close(window(rfc(), p) / w, 1.0, 0.02));
        }
        assert!(close(window(rfc(), 1e-2), 12.25, 0.01));
    }

    #[test]
    fn the_increase_grows_as_the_papers_say_only_without_its_decrease() {
        let slope = |of: fn(ResponsePoint) -> f64, from, to| {
            libm::log(of(row(ns2(31.0), to)) / of(row(ns2(31.0), from))) / libm::log(to / from)
        };
        assert!(close(slope(|row| row.window * row.window * row.loss, 1e3, 8.3e4), 0.777, 1e-3));
        assert!(close(slope(|row| row.increase, 1e3, 1e4), 0.553, 5e-3));
        assert!(close(slope(|row| row.increase, 1e4, 8.3e4), 0.405, 5e-3));
    }
}
