//! The newest N gaps between packets.

use crate::units::Span;

/// A ring of the newest `N` gaps, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Intervals<const N: usize> {
    ring: [u64; N],
    /// How many there have been.
    count: u64,
}

impl<const N: usize> Intervals<N> {
    pub(super) const fn new() -> Self {
        Self { ring: [0; N], count: 0 }
    }

    pub(super) fn add(&mut self, gap: Span) {
        self.ring[(self.count % N as u64) as usize] = gap.as_nanos();
        self.count += 1;
    }

    /// The newest gap was another one.
    pub(super) fn replace(&mut self, gap: Span) {
        if let Some(newest) = self.count.checked_sub(1) {
            self.ring[(newest % N as u64) as usize] = gap.as_nanos();
        }
    }

    /// Those there are, in no order.
    pub(super) fn held(&self) -> &[u64] {
        &self.ring[..self.count.min(N as u64) as usize]
    }

    /// The upper median: of 16 the ninth smallest. None without gaps.
    pub(super) fn median(&self) -> Option<u64> {
        let mut sorted = self.ring;
        let sorted = &mut sorted[..self.held().len()];
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }

    /// Count and sum of the gaps above `middle / range` and below `middle * range`.
    pub(super) fn near(&self, middle: u64, range: u64) -> (u64, u128) {
        let (middle, range) = (u128::from(middle), u128::from(range));
        let near = |gap: &u128| gap * range > middle && *gap < middle * range;
        self.held().iter().map(|gap| u128::from(*gap)).filter(near).fold((0, 0), |(n, sum), gap| (n + 1, sum + gap))
    }
}
