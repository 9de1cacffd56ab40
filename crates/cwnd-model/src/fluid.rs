//! DAIMD's fluid model (daimd section II, eqs. 3-6, and section VI).
//!
//! Rates are packets per control interval, times control intervals, the increase packets per interval gained in an interval.

use cwnd::rate::udt::{SYN, increase};
use cwnd::units::{BitRate, Bytes};

use crate::udt::DECREASE;

/// DAIMD with any increase.
#[derive(Clone, Copy, Debug)]
pub struct Fluid<F> {
    /// alpha(x): not increasing, above 0.
    pub increase: F,
    /// The fraction removed.
    pub b: f64,
}

/// A path for [`Fluid::over_path`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayedPath {
    /// Packets per interval.
    pub capacity: f64,
    /// Round trip, whole control intervals.
    pub delay: usize,
    /// With the window of eq. 21, and this share of the old one in it; without if none.
    pub lambda: Option<f64>,
}

/// What came of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// Share of the sent data that the capacity did not carry.
    pub loss: f64,
    /// Share of the capacity that was carried.
    pub utilisation: f64,
}

/// UDT as a fluid: the increase of eq. 8 on a known capacity, b = 1/9, the control interval a SYN.
#[must_use]
pub fn udt(capacity: BitRate, packet: Bytes) -> Fluid<impl Fn(f64) -> f64> {
    let rate = packet.bits() / SYN.as_secs_f64();
    Fluid { increase: move |x| increase(BitRate(capacity.0 - x * rate), packet).0, b: DECREASE }
}

impl<F: Fn(f64) -> f64> Fluid<F> {
    /// dx/dt = alpha (1 - x p) - b p x^2 (eq. 4), at loss probability `p`.
    #[must_use]
    pub(crate) fn slope(&self, x: f64, p: f64) -> f64 {
        (self.increase)(x) * (1.0 - x * p) - self.b * p * x * x
    }

    /// Where U'(x) = p, 0 < p: the rate at rest; where alpha jumps across it, the rate of the jump.
    #[must_use]
    pub fn equilibrium(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0 / p);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if self.slope(middle, p) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Eq. 4 integrated from rate `x` over `intervals` control intervals in `steps` equal steps (midpoint rule).
    #[must_use]
    pub fn integrate(&self, x: f64, p: f64, intervals: f64, steps: u32) -> f64 {
        let h = intervals / f64::from(steps.max(1));
        (0..steps.max(1)).fold(x, |x, _| {
            let middle = x + 0.5 * h * self.slope(x, p);
            libm::fmax(0.0, x + h * self.slope(middle, p))
        })
    }

    /// The rule over a path without a queue, interval by interval from rate `x`: what exceeds the capacity is lost, and the
    /// sender is notified of it a round trip later. With eq. 21 it sends at most the window per round trip.
    #[must_use]
    pub fn over_path(&self, x: f64, path: DelayedPath, intervals: usize) -> Carried {
        let delay = path.delay.max(1);
        let trip = delay as f64;
        let mut sent = vec![x; delay];
        let (mut rate, mut window) = (x, x * trip);
        let (mut offered, mut carried) = (0.0, 0.0);
        for t in 0..intervals {
            let offered_earlier = sent[t % delay];
            let arrived = libm::fmin(offered_earlier, path.capacity);
            if offered_earlier > path.capacity {
                rate -= self.b * rate;
            } else {
                rate += (self.increase)(rate);
            }
            let mut now = rate;
            if let Some(lambda) = path.lambda {
                window = lambda * window + (1.0 - lambda) * arrived * (1.0 + trip);
                now = libm::fmin(rate, window / trip);
            }
            sent[t % delay] = now;
            offered += now;
            carried += libm::fmin(now, path.capacity);
        }
        Carried { loss: 1.0 - carried / offered, utilisation: carried / (path.capacity * intervals as f64) }
    }
}

const BISECTIONS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udt;

    fn constant() -> Fluid<impl Fn(f64) -> f64> {
        Fluid { increase: |_| 1.0, b: 1.0 / 9.0 }
    }

    fn gigabit() -> Fluid<impl Fn(f64) -> f64> {
        super::udt(BitRate(1e9), Bytes(1500))
    }

    #[test]
    fn a_constant_increase_rests_at_the_root() {
        for p in [1e-5, 1e-4, 1e-3] {
            let expected = udt::equilibrium_rate(1.0, p);
            assert!((constant().equilibrium(p) / expected - 1.0).abs() < 1e-9);
            assert!((constant().integrate(10.0, p, 20_000.0, 20_000) / expected - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn equation_8_rests_at_the_edge_of_a_stage() {
        for (p, mbit) in [(1e-5, 900.0), (1e-6, 990.0)] {
            let found = gigabit().equilibrium(p) * 1.2;
            assert!((found / mbit - 1.0).abs() < 0.01, "{p}: {found}");
            let reached = gigabit().integrate(1.0, p, 40_000.0, 400_000) * 1.2;
            assert!((reached / mbit - 1.0).abs() < 0.01, "{p}: {reached}");
        }
    }

    #[test]
    fn the_window_saves_losses_at_long_round_trips() {
        // 1 Gbit/s in packets per SYN, a round trip of a second.
        let path = DelayedPath { capacity: 833.0, delay: 100, lambda: None };
        let without = constant().over_path(400.0, path, 100_000);
        let with = constant().over_path(400.0, DelayedPath { lambda: Some(0.875), ..path }, 100_000);
        assert!(with.loss < 0.9 * without.loss, "{with:?} {without:?}");
        assert!(with.loss > 0.0);
    }
}
