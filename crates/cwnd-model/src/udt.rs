//! UDT's stages on rate control alone (daimd section III): no window, no packets, a known capacity.
//!
//! A capacity of L bit/s with `10^(e-1) < L <= 10^e` has stages k = 0, 1, …: the spare capacity lies in `(10^(e-k-1), 10^(e-k)]`
//! and the increase per SYN is constant, a tenth of that of the stage before. Rates are in bit/s unless noted.

use cwnd::rate::udt::{SYN, increase};
use cwnd::units::{BitRate, Bytes};

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// k.
    pub index: i32,
    /// alpha_k: packets per SYN, added once per SYN.
    pub increase: f64,
    /// Where the stage begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// Where loss at a constant probability holds a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// The stable stage: the smallest k with `L - X_k >= 10^(e-k-1)` (eqs. 13 and 14).
    pub stage: Stage,
    /// x_k*, packets per SYN: the exact root of `alpha (1 - x p) = b p x^2` (eq. 4 at rest).
    pub packets_per_syn: f64,
    /// The approximation of eq. 10 for alpha far below 1/p: `3 sqrt(alpha/p)`.
    pub approximation: f64,
    /// X_k, the rate this is (eq. 12).
    pub rate: f64,
    /// X_k can lie below the stage it was computed for: then the rate sits on the stage's lower edge.
    pub clipped: f64,
}

/// The fate of a flow with capacity L2 next to one with L1 > L2, where no loss but their sharing limits them (section IV.A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The second is in stage 2 or above: it has more than 90 % of L2.
    AlmostAll,
    /// The first stays below L1 - L2: the second has all of L2.
    All,
    /// Both have the same increase: they share equally.
    Equal,
    /// The second has the larger increase: it has at least half of L2.
    AtLeastHalf,
}

/// Stage `index` >= 0 of capacity `capacity`.
#[must_use]
pub fn stage(capacity: f64, index: i32, packet: Bytes) -> Stage {
    let e = exponent(capacity);
    let (widest, narrowest) = (power(e - index), power(e - index - 1));
    let from = if index == 0 { 0.0 } else { capacity - widest };
    // Stage 0 contains all of a spare capacity that is at most the capacity itself.
    let inside = libm::fmin(widest, capacity);
    Stage { index, increase: increase(BitRate(inside), packet).0, from, to: capacity - narrowest }
}

/// The stage of a flow at `rate`, below `capacity`.
#[must_use]
pub fn stage_at(capacity: f64, rate: f64, packet: Bytes) -> Stage {
    stage(capacity, (exponent(capacity) - exponent(capacity - rate)).max(0), packet)
}

/// The root of `alpha (1 - x p) = b p x^2`, packets per SYN, with UDT's b = 1/9 (daimd eq. 4 at rest).
#[must_use]
pub fn equilibrium_rate(alpha: f64, p: f64) -> f64 {
    let linear = alpha * p;
    (-linear + libm::sqrt(linear * linear + 4.0 * alpha * DECREASE * p)) / (2.0 * DECREASE * p)
}

/// The equilibrium at loss probability `p`, 0 < p <= 1.
#[must_use]
pub fn equilibrium(capacity: f64, p: f64, packet: Bytes) -> Equilibrium {
    let at = |index| {
        let stage = stage(capacity, index, packet);
        let packets_per_syn = equilibrium_rate(stage.increase, p);
        let rate = bits_per_second(packets_per_syn, packet);
        let approximation = libm::sqrt(stage.increase / (DECREASE * p));
        Equilibrium { stage, packets_per_syn, approximation, rate, clipped: libm::fmax(rate, stage.from) }
    };
    // The last stage's increase is next to nothing, so its equilibrium lies below every capacity.
    (0..LAST_STAGE).map(at).find(|found| found.rate <= found.stage.to).unwrap_or_else(|| at(LAST_STAGE))
}

/// SYNs without loss from rest to `share` of the capacity, when eq. 15 is iterated with the increase of eq. 8. 742 to 750 for 0.9
/// of any capacity, 750 where it is a power of ten. `share` is at least 0 and below 1; none where 10^6 SYNs are not enough.
#[must_use]
pub fn intervals_to(capacity: f64, share: f64, packet: Bytes) -> Option<u32> {
    let mut rate = 0.0;
    // The goal is met up to what adding hundreds of steps rounds away.
    let enough = share * capacity * (1.0 - ROUNDING);
    (0..MAX_INTERVALS).find(|_| {
        let there = bits_per_second(rate, packet) >= enough;
        rate += increase(BitRate(capacity - bits_per_second(rate, packet)), packet).0;
        there
    })
}

/// The sum of whole and broken stages in the fluid view: 750 SYN to 0.9 of every capacity, for the standard packet of 1500 bytes.
#[must_use]
pub fn fluid_intervals_to(capacity: f64, share: f64, packet: Bytes) -> f64 {
    let goal = share * capacity;
    let spent = |index| {
        let stage = stage(capacity, index, packet);
        let way = libm::fmin(goal, stage.to) - stage.from;
        libm::fmax(0.0, way) / bits_per_second(stage.increase, packet)
    };
    (0..LAST_STAGE).map(spent).sum()
}

/// TF (eq. 19): the rate of a flow in stage `index` over that of a TCP at the same loss, `sqrt(6 * 10^(e-k-9)) RTT/SYN` for packets
/// of 1500 bytes. `rtt` in seconds.
#[must_use]
pub fn tcp_friendliness(capacity: f64, index: i32, rtt: f64) -> f64 {
    libm::sqrt(6.0 * power(exponent(capacity) - index - 9)) * rtt / SYN.as_secs_f64()
}

/// Whether a flow takes no more than a competing TCP (eq. 20): `RTT^2 L <= SYN^2 10^8 / 6`. `rtt` in seconds.
#[must_use]
pub fn is_friendly(capacity: f64, rtt: f64) -> bool {
    let syn = SYN.as_secs_f64();
    rtt * rtt * capacity <= syn * syn * 1e8 / 6.0
}

/// The worst ratio between the shares of two flows, one of which overestimates the capacity by a factor of `1 + error` (section VII).
///
/// The printed rows lost their radicals; these are continuous at 1 and at -1/2. Below 0 they are ratios at rest: packets and cuts
/// make more of it, since a flow near what it takes for the capacity grows slowly. None outside -0.9 < error < 9.
#[must_use]
pub fn worst_ratio(error: f64) -> Option<f64> {
    let ten = libm::sqrt(10.0);
    if error >= 9.0 {
        None
    } else if error >= 1.0 {
        Some(ten)
    } else if error >= 0.0 {
        Some((11.0 + 2.0 * ten + 9.0 * error) / (11.0 + 2.0 * ten - 9.0 * error))
    } else if error > -0.5 {
        Some(1.0)
    } else if error > -0.9 {
        Some(-error / (1.0 + error))
    } else {
        None
    }
}

/// Which case of section IV.A holds for flows at `x1` and `x2` with capacities `l1 > l2`.
#[must_use]
pub fn sharing(x1: f64, l1: f64, x2: f64, l2: f64) -> Sharing {
    let packet = Bytes(1500);
    let spare = |capacity: f64, rate: f64| increase(BitRate(capacity - rate), packet);
    if stage_at(l2, x2, packet).index >= 2 {
        Sharing::AlmostAll
    } else if x1 <= l1 - l2 {
        Sharing::All
    } else if spare(l1, x1) == spare(l2, x2) {
        Sharing::Equal
    } else {
        Sharing::AtLeastHalf
    }
}

/// e of `10^(e-1) < value <= 10^e`.
fn exponent(value: f64) -> i32 {
    libm::ceil(libm::log10(value) - LOG_ROUNDING) as i32
}

fn power(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

fn bits_per_second(packets_per_syn: f64, packet: Bytes) -> f64 {
    packets_per_syn * packet.bits() / SYN.as_secs_f64()
}

/// UDT lengthens its sending period by 1/8.
pub(crate) const DECREASE: f64 = 1.0 / 9.0;
/// No capacity below 10^13 bit/s has an increase worth counting beyond.
const LAST_STAGE: i32 = 13;
const MAX_INTERVALS: u32 = 1_000_000;
/// Relative: a sum of hundreds of equal steps is this exact.
const ROUNDING: f64 = 1e-9;
/// In log10, as in the increase itself.
const LOG_ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    const S: Bytes = Bytes(1500);

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-3
    }

    #[test]
    fn seven_hundred_and_fifty_intervals() {
        for capacity in [1e6, 1e7, 1e8, 6.22e8, 1e9, 1e10] {
            assert_eq!(intervals_to(capacity, 0.9, S), Some(750), "{capacity:e}");
        }
        for capacity in [2e6, 5e7, 2e8, 2e9] {
            assert_eq!(intervals_to(capacity, 0.9, S), Some(744), "{capacity:e}");
        }
        assert_eq!(intervals_to(1.001e6, 0.9, S), Some(742));
        for capacity in [1e6, 2e6, 1.5e7, 6.22e8, 1e9, 9.9e9] {
            assert!((fluid_intervals_to(capacity, 0.9, S) - 750.0).abs() < 1e-6, "{capacity:e}");
        }
    }

    #[test]
    fn equilibria() {
        for (capacity, p, k, x, approximation, mbit, clipped) in [
            (1e9, 1e-3, 0, 90.475, 94.868, 108.57, 108.57),
            (1e9, 1e-4, 0, 295.53, 300.0, 354.64, 354.64),
            (1e9, 1e-5, 1, 299.55, 300.0, 359.46, 900.0),
            (1e9, 1e-6, 2, 299.96, 300.0, 359.95, 990.0),
            (1e8, 1e-3, 0, 29.553, 30.0, 35.464, 35.464),
        ] {
            let found = equilibrium(capacity, p, S);
            assert_eq!(found.stage.index, k);
            assert!(close(found.packets_per_syn, x) && close(found.approximation, approximation), "{found:?}");
            assert!(close(found.rate, mbit * 1e6) && close(found.clipped, clipped * 1e6), "{found:?}");
        }
    }

    #[test]
    fn stages_meet() {
        for capacity in [1e8, 6.22e8, 1e9] {
            for k in 0..5 {
                let (one, next) = (stage(capacity, k, S), stage(capacity, k + 1, S));
                assert_eq!(one.to, next.from);
                assert!(close(one.increase, 10.0 * next.increase), "{one:?} {next:?}");
                assert_eq!(stage_at(capacity, 0.5 * (one.from + one.to), S).index, k);
            }
        }
    }

    #[test]
    fn friendliness() {
        for (capacity, k, rtt, tf) in
            [(1e9, 0, 0.1, 24.495), (1e9, 1, 0.1, 7.746), (1e8, 0, 0.1, 7.746), (1e8, 0, 0.01, 0.7746)]
        {
            assert!(close(tcp_friendliness(capacity, k, rtt), tf));
        }
        for e in 5..11 {
            for rtt in [1e-4, 1e-3, 4e-3, 1e-2, 0.1, 1.0] {
                for capacity in [power(e), power(e - 1) * (1.0 + 1e-6)] {
                    // Eq. 20 puts the worst L of a decade for the power of ten in eq. 19, so it is sufficient.
                    let tf = tcp_friendliness(capacity, 0, rtt);
                    assert!(!is_friendly(capacity, rtt) || tf <= 1.0 + 1e-6, "{capacity:e} {rtt}: {tf}");
                }
            }
        }
        // Just above a power of ten it is also necessary.
        assert!(is_friendly(1.000_001e5, 0.1) && !is_friendly(1.000_001e6, 0.1));
        assert!(tcp_friendliness(1.000_001e6, 0, 0.1) > 1.0);
    }

    #[test]
    fn errors_of_the_capacity() {
        let at = |error| worst_ratio(error).expect("in range");
        assert!((at(1.0 - 1e-12) - at(1.0)).abs() < 1e-9 && (at(-0.5) - 1.0).abs() < 1e-9);
        assert!((at(0.01) - 1.010_446).abs() < 1e-5, "{}", at(0.01));
        assert_eq!((at(-0.3), at(0.0)), (1.0, 1.0));
        assert!((at(-0.75) - 3.0).abs() < 1e-12);
        assert_eq!((worst_ratio(9.0), worst_ratio(-0.9)), (None, None));
    }

    #[test]
    fn flows_with_different_capacities() {
        assert_eq!(sharing(8e8, 1e9, 1.95e8, 2e8), Sharing::AlmostAll);
        assert_eq!(sharing(7e8, 1e9, 1.5e8, 2e8), Sharing::All);
        assert_eq!(sharing(9.5e8, 1e9, 1.5e8, 2e8), Sharing::Equal);
        assert_eq!(sharing(8.5e8, 1e9, 1.5e8, 2e8), Sharing::AtLeastHalf);
    }
}
