//! UDT's increase (daimd eq. 8).

use crate::units::{BitRate, Bytes, Packets};

/// The increase per SYN at a spare capacity of L - C(x), for packets of size `packet` on the wire (daimd eq. 8 with tau = 9):
/// `10^(ceil(log10(L - C(x))) - 9) * 1500 / S` packets, nothing where no capacity is spare.
///
/// At an exact power of ten the increase is that of the stage below; rounding in `L - C(x)` does not change the stage.
#[must_use]
pub fn increase(spare: BitRate, packet: Bytes) -> Packets {
    if spare.0 > 0.0 {
        let stage = libm::ceil(libm::log10(spare.0) - ROUNDING);
        Packets(libm::pow(10.0, stage - TAU) * (STANDARD_PACKET / f64::from(packet.0.max(1))))
    } else {
        Packets(0.0)
    }
}

/// "A protocol parameter, which is 9 in the current protocol specification" (daimd section III).
const TAU: f64 = 9.0;
/// The packet size the increase is balanced for, bytes.
const STANDARD_PACKET: f64 = 1500.0;
/// In log10: a few thousand times the rounding error of a double.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected
    }

    #[test]
    fn the_stages_of_equation_8() {
        let used = [0.0, 0.5, 0.85, 0.9, 0.95, 0.99, 0.995, 0.999];
        let table = [
            (1e8, [0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 1e-4]),
            (1.01e8, [1.0, 0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001]),
            (2e8, [1.0, 0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001]),
            (1e9, [1.0, 1.0, 1.0, 0.1, 0.1, 0.01, 0.01, 0.001]),
            (1.5e9, [10.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.01, 0.01]),
            (1e10, [10.0, 10.0, 10.0, 1.0, 1.0, 0.1, 0.1, 0.01]),
        ];
        for (capacity, row) in table {
            for (share, expected) in used.into_iter().zip(row) {
                let found = increase(BitRate(capacity - share * capacity), Bytes(1500)).0;
                assert!(close(found, expected), "L = {capacity:e}, C = {share} L: {found}");
            }
        }
    }

    #[test]
    fn smaller_packets_grow_by_more_of_them() {
        assert!(close(increase(BitRate(1e9), Bytes(1000)).0, 1.5));
        assert_eq!(increase(BitRate(0.0), Bytes(1500)).0, 0.0);
        assert_eq!(increase(BitRate(-1e9), Bytes(1500)).0, 0.0);
        assert_eq!(increase(BitRate(f64::NAN), Bytes(1500)).0, 0.0);
    }
}
