//! Sets of packet numbers that arrive mostly in order, as ranges.

use std::collections::VecDeque;

/// A set of packet numbers. Ranges are kept apart and in order, so insertions near either end are cheap whatever lies between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    ranges: VecDeque<Range>,
}

/// The numbers `first..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Ranges {
    /// Whether nothing is in the set.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that contains `number`: with any luck the last one, where new packets arrive.
    #[inline]
    pub(crate) fn covering(&self, number: u64) -> Option<Range> {
        let last = *self.ranges.back()?;
        if number >= last.first {
            return (number < last.end).then_some(last);
        }
        self.search(number)
    }

    fn search(&self, number: u64) -> Option<Range> {
        let at = self.ending_after(number);
        self.ranges.get(at).copied().filter(|range| range.first <= number)
    }

    /// Adds `first..end` and tells `added` each part that was missing.
    pub(crate) fn insert(&mut self, first: u64, end: u64, mut added: impl FnMut(u64, u64)) {
        if first >= end {
            return;
        }
        // The common cases follow, extend or repeat the last range.
        if self.ranges.back().is_none_or(|last| first > last.end) {
            added(first, end);
            self.ranges.push_back(Range { first, end });
            return;
        }
        if let Some(last) = self.ranges.back_mut()
            && first >= last.first
            && first <= last.end
        {
            if end > last.end {
                added(last.end, end);
                last.end = end;
            }
            return;
        }
        // Every range that touches `first..end` melts into one.
        let from = self.ending_after(first.saturating_sub(1));
        let mut merged = Range { first, end };
        let mut missing_from = first;
        let mut to = from;
        while let Some(range) = self.ranges.get(to)
            && range.first <= end
        {
            if missing_from < range.first {
                added(missing_from, range.first);
            }
            missing_from = missing_from.max(range.end);
            merged = Range { first: merged.first.min(range.first), end: merged.end.max(range.end) };
            to += 1;
        }
        if missing_from < end {
            added(missing_from, end);
        }
        if from == to {
            self.ranges.insert(from, merged);
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
        }
    }

    /// Forgets all numbers below `number`.
    pub(crate) fn remove_below(&mut self, number: u64) {
        while let Some(front) = self.ranges.front_mut()
            && front.first < number
        {
            if front.end > number {
                front.first = number;
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// The smallest number from `number` on that is not in the set.
    pub(crate) fn gap_from(&self, number: u64) -> u64 {
        self.covering(number).map_or(number, |range| range.end)
    }

    /// How many of `first..end` are in the set. Costs a step per range between the two.
    pub(crate) fn count_in(&self, first: u64, end: u64) -> u64 {
        let from = self.ending_after(first);
        let inside = self.ranges.range(from..).take_while(|range| range.first < end);
        inside.map(|range| range.end.min(end) - range.first.max(first)).sum()
    }

    /// The `n`-th largest number, counting from 1; none if there are fewer.
    pub(crate) fn nth_largest(&self, n: u64) -> Option<u64> {
        let mut left = n;
        for range in self.ranges.iter().rev() {
            let count = range.end - range.first;
            if count >= left {
                return Some(range.end - left);
            }
            left -= count;
        }
        None
    }

    /// The first range.
    pub(crate) fn front(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// The place of the first range that ends after `number`. Questions are mostly about the front, where holes are filled, or about
    /// the last few ranges, which acknowledgements repeat; only for others all are searched.
    fn ending_after(&self, number: u64) -> usize {
        if self.ranges.front().is_none_or(|front| front.end > number) {
            return 0;
        }
        match self.ranges.iter().rev().take(REPEATED + 1).position(|range| range.end <= number) {
            Some(above) => self.ranges.len() - above,
            None => self.ranges.partition_point(|range| range.end <= number),
        }
    }
}

/// An acknowledgement reports three ranges (RFC 2018).
const REPEATED: usize = 3;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_set_of_numbers(steps in proptest::collection::vec((0_u8..6, 0_u64..60, 0_u64..12), 0..60)) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for (step, number, length) in steps {
                if step == 0 {
                    ranges.remove_below(number);
                    model.retain(|have| *have >= number);
                } else {
                    let mut added = Vec::new();
                    ranges.insert(number, number + length, |first, end| added.extend(first..end));
                    let missing: Vec<_> = (number..number + length).filter(|n| model.insert(*n)).collect();
                    prop_assert_eq!(added, missing);
                }
                prop_assert_eq!(ranges.is_empty(), model.is_empty());
                prop_assert_eq!(ranges.front().map(|range| range.first), model.first().copied());
                prop_assert_eq!(ranges.count_in(10, 40), model.range(10..40).count() as u64);
                for number in [0, 7, 20, 59] {
                    prop_assert_eq!(ranges.covering(number).is_some(), model.contains(&number));
                    prop_assert_eq!(ranges.gap_from(number), (number..).find(|n| !model.contains(n)).expect("finite set"));
                }
                for n in [1, 3] {
                    prop_assert_eq!(ranges.nth_largest(n), model.iter().rev().nth(n as usize - 1).copied());
                }
                let apart = ranges.ranges.iter().zip(ranges.ranges.iter().skip(1)).all(|(a, b)| a.end < b.first);
                prop_assert!(apart, "{ranges:?}");
            }
        }
    }
}
