//! How fast two flows become efficient and fair under synchronous feedback (simd sections 3 and 4, Table 1, appendix A).
//!
//! Two flows start at windows W1 <= W2 below a capacity of W packets and are notified of congestion at once when their sum is W. T1 is
//! how many round trips that takes, Delta the gap between them there, T2 how many more until the gap is below epsilon.

use cwnd::window::{aimd, binomial};

/// A rule whose convergence is known in closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// AIMD(a, b); TCP is AIMD(1, 1/2).
    Aimd {
        /// Packets per round trip.
        a: f64,
        /// Fraction removed.
        b: f64,
    },
    /// Inverse increase a/w, additive decrease b.
    Iiad {
        /// Increase per round trip times the window.
        a: f64,
        /// Packets removed.
        b: f64,
    },
    /// SIMD(b), both flows with the memory of a cut to where they start.
    Simd {
        /// Fraction removed.
        b: f64,
        /// With eq. 5 instead of 3: faster by sqrt(2).
        periodic: bool,
    },
}

/// Two flows, a capacity and a bound, packets; 0 < w1 <= w2, w1 + w2 <= capacity, epsilon > 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// W.
    pub capacity: f64,
    /// The smaller window.
    pub w1: f64,
    /// The larger window.
    pub w2: f64,
    /// Windows closer than this count as equal.
    pub epsilon: f64,
}

/// A row of Table 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// Round trips to the efficiency line.
    pub t1: f64,
    /// The gap there, packets.
    pub delta: f64,
    /// Round trips from there until the gap is below epsilon; 0 where it is from the beginning.
    pub t2: f64,
}

/// T2 summed over epochs of their exact lengths instead of the length at equal windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iterated {
    /// Epochs.
    pub epochs: u32,
    /// Round trips.
    pub t2: f64,
}

impl Scheme {
    /// TCP.
    pub const TCP: Self = Self::Aimd { a: 1.0, b: 0.5 };

    /// TCP-friendly AIMD.
    #[must_use]
    pub fn aimd(b: f64) -> Self {
        Self::Aimd { a: aimd::friendly_increase(b), b }
    }

    /// TCP-friendly IIAD.
    #[must_use]
    pub fn iiad(b: f64) -> Self {
        Self::Iiad { a: binomial::friendly_increase(b), b }
    }

    /// SIMD with eq. 3.
    #[must_use]
    pub fn simd(b: f64) -> Self {
        Self::Simd { b, periodic: false }
    }

    /// Table 1. The printed formulas are those of TCP-friendly parameters; here the increase is free.
    ///
    /// T2 of IIAD bounds the number of epochs and takes each as long as at equal windows; T2 of SIMD takes the length too.
    #[must_use]
    pub fn convergence(&self, start: Start) -> Convergence {
        let Start { capacity, w1, w2, epsilon } = start;
        let (t1, [peak1, peak2]) = self.rise(capacity, w1, w2);
        let delta = libm::fabs(peak2 - peak1);
        let t2 = if delta <= epsilon {
            0.0
        } else {
            let epochs = libm::log(epsilon / delta) / libm::log(self.contraction(capacity));
            epochs * self.epoch_at_equal_windows(capacity)
        };
        Convergence { t1, delta, t2 }
    }

    /// From `w1` and `w2` to the line where their sum is `capacity`: round trips, and the windows there, in the same order.
    #[must_use]
    pub fn rise(&self, capacity: f64, w1: f64, w2: f64) -> (f64, [f64; 2]) {
        let spare = libm::fmax(0.0, capacity - w1 - w2);
        match *self {
            Self::Aimd { a, .. } => (spare / (2.0 * a), [w1 + spare / 2.0, w2 + spare / 2.0]),
            Self::Iiad { a, .. } => {
                // w^2 grows by 2a per round trip, so the gap of the squares stays.
                let gap = (w2 * w2 - w1 * w1) / capacity;
                let rounds = (gap * gap - 2.0 * (w1 * w1 + w2 * w2) + capacity * capacity) / (8.0 * a);
                (libm::fmax(0.0, rounds), [(capacity - gap) / 2.0, (capacity + gap) / 2.0])
            }
            Self::Simd { b, periodic } => {
                // Each grows in proportion to 1/wmax, and the two cuts were to w1 and w2.
                let sum = w1 + w2;
                let rounds = 2.0 / 3.0
                    * (1.0 - 2.0 * b / 3.0)
                    * libm::sqrt(2.0 / (b * (1.0 - b)))
                    * libm::sqrt(w1 * w2 * spare / sum);
                let faster = if periodic { core::f64::consts::SQRT_2 } else { 1.0 };
                (rounds / faster, [w1 + spare * w2 / sum, w2 + spare * w1 / sum])
            }
        }
    }

    /// The windows after a cut.
    #[must_use]
    pub fn cut(&self, windows: [f64; 2]) -> [f64; 2] {
        windows.map(|w| match *self {
            Self::Aimd { b, .. } | Self::Simd { b, .. } => w - b * w,
            Self::Iiad { b, .. } => w - b,
        })
    }

    /// By what factor an epoch shrinks the gap of the peaks (appendix A.2): 1 - b, 1 - 2b/W, |1 - 2b|.
    #[must_use]
    pub(crate) fn contraction(&self, capacity: f64) -> f64 {
        match *self {
            Self::Aimd { b, .. } => 1.0 - b,
            Self::Iiad { b, .. } => 1.0 - 2.0 * b / capacity,
            Self::Simd { b, .. } => libm::fabs(1.0 - 2.0 * b),
        }
    }

    /// T2 from the peak `(w1, w2)` on the efficiency line, epoch by epoch, until the peaks differ by less than `epsilon`; none if
    /// that takes more than 10^6 epochs.
    #[must_use]
    pub fn iterate(&self, start: Start) -> Option<Iterated> {
        let (mut t2, mut peaks) = (0.0, [start.w1, start.w2]);
        for epochs in 0..MAX_EPOCHS {
            if libm::fabs(peaks[1] - peaks[0]) < start.epsilon {
                return Some(Iterated { epochs, t2 });
            }
            let [w1, w2] = self.cut(peaks);
            let (rounds, next) = self.rise(start.capacity, w1, w2);
            t2 += rounds;
            peaks = next;
        }
        None
    }

    /// The length Table 1 gives every epoch: W/4 for TCP, (2-b)W/6, W/3, sqrt(2) W/3.
    fn epoch_at_equal_windows(&self, capacity: f64) -> f64 {
        match *self {
            Self::Aimd { a, b } | Self::Iiad { a, b } => b * capacity / (2.0 * a),
            Self::Simd { periodic: false, .. } => core::f64::consts::SQRT_2 * capacity / 3.0,
            Self::Simd { periodic: true, .. } => capacity / 3.0,
        }
    }
}

/// max(x1/x2, x2/x1): simd's fairness, 1 for equal windows.
#[must_use]
pub fn ratio(x1: f64, x2: f64) -> f64 {
    libm::fmax(x1 / x2, x2 / x1)
}

/// How Fig. 4c of simd comes out on the integers 0 < W1 < W2 with W1 + W2 < W.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Points.
    pub points: u32,
    /// Where T1 + T2 of the first scheme is below that of the second.
    pub first_beats_second: u32,
    /// Where T1 + T2 of the third is above both.
    pub third_slowest: u32,
}

/// Fig. 4c for three schemes.
#[must_use]
pub fn regions(capacity: u32, epsilon: f64, [first, second, third]: [Scheme; 3]) -> Regions {
    let mut regions = Regions::default();
    for w1 in 1..capacity {
        for w2 in w1 + 1..capacity.saturating_sub(w1) {
            let start = Start { capacity: f64::from(capacity), w1: f64::from(w1), w2: f64::from(w2), epsilon };
            let [one, two, three] = [first, second, third].map(|scheme| {
                let Convergence { t1, t2, .. } = scheme.convergence(start);
                t1 + t2
            });
            regions.points += 1;
            regions.first_beats_second += u32::from(one < two);
            regions.third_slowest += u32::from(three > one && three > two);
        }
    }
    regions
}

/// More are no convergence.
const MAX_EPOCHS: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn schemes() -> [Scheme; 4] {
        [Scheme::TCP, Scheme::aimd(1.0 / 16.0), Scheme::iiad(2.0 / 3.0), Scheme::simd(1.0 / 16.0)]
    }

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-3 * expected.abs().max(1e-9)
    }

    #[test]
    fn table_1() {
        let start = |w1, w2| Start { capacity: 100.0, w1, w2, epsilon: 1.0 };
        let rows = [
            (
                start(10.0, 40.0),
                [[25.0, 30.0, 122.67], [258.333, 30.0, 1701.78], [853.125, 15.0, 6724.89], [74.653, 0.0, 0.0]],
            ),
            (
                start(10.0, 80.0),
                [[5.0, 70.0, 153.23], [51.667, 70.0, 2125.72], [121.125, 63.0, 10_288.63], [35.192, 62.222, 1458.26]],
            ),
            (
                start(30.0, 50.0),
                [[10.0, 20.0, 108.05], [103.333, 20.0, 1498.91], [432.0, 16.0, 6885.16], [72.282, 15.0, 956.02]],
            ),
            (
                start(10.0, 90.0),
                [[0.0, 80.0, 158.05], [0.0, 80.0, 2192.53], [0.0, 80.0, 10_881.87], [0.0, 80.0, 1546.98]],
            ),
        ];
        for (start, expected) in rows {
            for (scheme, [t1, delta, t2]) in schemes().iter().zip(expected) {
                let found = scheme.convergence(start);
                assert!(
                    close(found.t1, t1) && (found.delta - delta).abs() < 1e-3 && close(found.t2, t2),
                    "{scheme:?} from {start:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn table_3_is_for_a_capacity_of_110() {
        let start = |w1, w2| Start { capacity: 110.0, w1, w2, epsilon: 10.0 };
        let first = [(6.1, 99.6, 88.7), (7.9, 99.2, 1217.2), (7.7, 99.8, 6675.6), (6.6, 96.3, 852.0)];
        for (scheme, (w1, w2, t2)) in schemes().iter().zip(first) {
            // The table starts from the windows at the first congestion, wherever their sum is.
            let epochs = libm::log(10.0 / (w2 - w1)) / libm::log(scheme.contraction(110.0));
            assert!(close(epochs * scheme.epoch_at_equal_windows(110.0), t2), "{scheme:?}");
        }
        let second = [
            (8.8, 13.8, 43.7, 5.0),
            (12.7, 31.0, 342.55, 18.3),
            (11.8, 31.2, 1241.52, 7.584),
            (10.2, 33.2, 85.1, 12.29),
        ];
        for (scheme, (w1, w2, t1, delta)) in schemes().iter().zip(second) {
            let found = scheme.convergence(start(w1, w2));
            assert!(close(found.t1, t1) && close(found.delta, delta), "{scheme:?}: {found:?}");
        }
    }

    #[test]
    fn convergence_epoch_by_epoch() {
        let start = Start { capacity: 100.0, w1: 10.0, w2: 90.0, epsilon: 1.0 };
        let expected = [(7, 175.0), (68, 2195.83), (327, 10_027.5), (33, 1421.42)];
        for (scheme, (epochs, t2)) in schemes().iter().zip(expected) {
            let found = scheme.iterate(start).expect("it converges");
            assert!(found.epochs == epochs && close(found.t2, t2), "{scheme:?}: {found:?}");
        }
    }

    #[test]
    fn epochs_contract_the_gap_of_the_peaks() {
        for b in [1.0 / 16.0, 0.125, 0.25, 0.5] {
            for scheme in [Scheme::aimd(b), Scheme::simd(b), Scheme::iiad(b)] {
                let [w1, w2] = scheme.cut([30.0, 70.0]);
                let (_, [next1, next2]) = scheme.rise(100.0, w1, w2);
                assert!(((next2 - next1) - 40.0 * scheme.contraction(100.0)).abs() < 1e-9, "{scheme:?}");
            }
        }
    }

    #[test]
    fn figure_4c() {
        let [_, aimd, iiad, simd] = schemes();
        let found = regions(100, 1.0, [simd, aimd, iiad]);
        assert_eq!(found, Regions { points: 2401, first_beats_second: 2362, third_slowest: 2376 });
    }

    #[test]
    fn simd_is_fairer_at_the_line_from_a_third_of_it_on() {
        let [_, aimd, _, simd] = schemes();
        for w1 in 1_u32..50 {
            for w2 in w1 + 1..100 - w1 {
                let start = Start { capacity: 100.0, w1: f64::from(w1), w2: f64::from(w2), epsilon: 1.0 };
                let fairer = simd.convergence(start).delta < aimd.convergence(start).delta;
                assert_eq!(fairer, f64::from(w1 + w2) > 100.0 / 3.0, "({w1}, {w2})");
            }
        }
    }

    #[test]
    fn where_the_increase_meets_the_line() {
        let meet = |scheme: Scheme| scheme.rise(1.0, 0.1, 0.4).1;
        let near = |[x, y]: [f64; 2], [u, v]: [f64; 2]| (x - u).abs() < 1e-9 && (y - v).abs() < 1e-9;
        assert!(near(meet(Scheme::simd(1.0 / 16.0)), [0.5, 0.5]));
        assert!(near(meet(Scheme::TCP), [0.35, 0.65]));
        assert_eq!((ratio(2.0, 5.0), ratio(5.0, 2.0)), (2.5, 2.5));
    }
}
