//! The capacity of a path by packet pairs (daimd section VII).

use super::gaps::Intervals;
use crate::units::{Packets, Rate, Span};

/// Pairs the author's ns-2 agent of 2006 remembers.
pub const NS2_PAIRS: usize = 16;
/// Pairs libudt 4.11 remembers.
pub const UDT4_PAIRS: usize = 64;

/// The capacity by a median filter over the newest `N` gaps between the packets of a pair, as they arrive.
#[derive(Clone, Debug)]
pub struct PacketPairs<const N: usize> {
    gaps: Intervals<N>,
    averaged: bool,
}

impl PacketPairs<NS2_PAIRS> {
    /// The median gap is the transmission time (the author's ns-2 agent of 2006).
    #[must_use]
    pub const fn ns2() -> Self {
        Self { gaps: Intervals::new(), averaged: false }
    }
}

impl PacketPairs<UDT4_PAIRS> {
    /// The mean of the median and of all gaps above an eighth and below eight times of it is the transmission time (libudt 4.11).
    #[must_use]
    pub const fn udt4() -> Self {
        Self { gaps: Intervals::new(), averaged: true }
    }
}

impl<const N: usize> PacketPairs<N> {
    /// A pair arrived with this much time between its packets.
    pub fn on_pair(&mut self, gap: Span) {
        self.gaps.add(gap);
    }

    /// The capacity, as estimated from the pairs so far, from the first on or, where they are averaged, from the fourth on; none where
    /// they arrive at once.
    ///
    /// Both sources fill the gaps not yet seen with a constant instead, so that their first values mean nothing.
    #[must_use]
    pub fn capacity(&self) -> Option<Rate> {
        let enough = !self.averaged || self.gaps.held().len() >= ENOUGH;
        let median = self.gaps.median().filter(|median| enough && *median > 0)?;
        let (count, sum) = if self.averaged { self.gaps.near(median, UDT4_RANGE) } else { (0, 0) };
        let gap = (u128::from(median) + sum) / u128::from(count + 1);
        Some(Packets(1.0) / Span::from_nanos(gap.min(u128::from(u64::MAX)) as u64))
    }
}

const UDT4_RANGE: u64 = 8;
/// Pairs that make an average: of four, two may have been torn apart or pressed together.
const ENOUGH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_sixteen_outlives_seven_wrong_pairs() {
        let mut pairs = PacketPairs::ns2();
        assert_eq!(pairs.capacity(), None);
        for gap in [12, 12, 12, 12, 12, 12, 12, 12, 12, 1, 1, 1, 500, 500, 500, 500] {
            pairs.on_pair(Span::from_micros(gap));
        }
        // 1500 bytes in 12 us are 1 Gbit/s.
        assert_eq!(pairs.capacity(), Some(Packets(1.0) / Span::from_micros(12)));
    }

    #[test]
    fn udt4_averages_around_the_median() {
        let mut pairs = PacketPairs::udt4();
        for gap in [10, 10, 10] {
            pairs.on_pair(Span::from_micros(gap));
            assert_eq!(pairs.capacity(), None, "too few to average");
        }
        for gap in [20, 30, 1000, 1] {
            pairs.on_pair(Span::from_micros(gap));
        }
        // Sorted 1 10 10 10 20 30 1000: median 10; within (1.25, 80): 10 10 10 20 30; (10 + 80) / 6 = 15.
        assert_eq!(pairs.capacity(), Some(Packets(1.0) / Span::from_micros(15)));
    }

    #[test]
    fn pairs_that_arrive_at_once_are_no_capacity() {
        let mut pairs = PacketPairs::ns2();
        pairs.on_pair(Span::ZERO);
        assert_eq!(pairs.capacity(), None);
    }
}
