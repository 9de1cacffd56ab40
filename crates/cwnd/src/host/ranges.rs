//! Sets of packet numbers that arrive mostly in order, as ranges.

use alloc::vec::Vec;
use core::ops;

/// A set of packet numbers. Ranges are kept apart and in order, so changes near either end are cheap whatever lies between.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// One slice instead of a ring, because nearly every query reads several neighbours.
    places: Vec<Range>,
    /// Places before this one are free.
    start: usize,
}

/// The numbers `first..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a range has two ends")]
pub struct Range {
    /// The first of them.
    pub first: u64,
    /// The one after the last.
    pub end: u64,
}

impl Range {
    /// Whether the range contains `number`.
    #[inline]
    #[must_use]
    pub fn contains(self, number: u64) -> bool {
        self.first <= number && number < self.end
    }
}

impl Ranges {
    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The range that contains `number`. The last one is tried first, because new packets arrive there.
    #[inline]
    #[must_use]
    pub fn covering(&self, number: u64) -> Option<Range> {
        let last = *self.places.last()?;
        if number >= last.first {
            return (number < last.end).then_some(last);
        }
        self.search(number)
    }

    fn search(&self, number: u64) -> Option<Range> {
        let at = self.ending_after(number);
        self.all().get(at).copied().filter(|range| range.first <= number)
    }

    /// Adds `first..end` and calls `added` with each part that was missing.
    pub fn insert(&mut self, first: u64, end: u64, mut added: impl FnMut(u64, u64)) {
        if first >= end {
            return;
        }
        // The common cases follow, extend or repeat the last range.
        match self.places.last_mut() {
            Some(last) if first < last.first => {}
            Some(last) if first <= last.end => {
                if end > last.end {
                    added(last.end, end);
                    last.end = end;
                }
                return;
            }
            _ => {
                added(first, end);
                self.places.push(Range { first, end });
                return;
            }
        }
        // All ranges that touch `first..end` become one.
        let from = self.ending_after(first.saturating_sub(1));
        if let Some(range) = self.all().get(from)
            && range.first <= first
            && end <= range.end
        {
            return;
        }
        let mut merged = Range { first, end };
        let mut missing_from = first;
        let mut to = from;
        while let Some(range) = self.all().get(to)
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
            self.open(from, merged);
        } else {
            let at = self.start + from;
            self.places[at] = merged;
            self.close(from + 1..to);
        }
    }

    /// Removes all numbers below `number`.
    pub fn remove_below(&mut self, number: u64) {
        let gone = self.all().iter().take_while(|range| range.end <= number).count();
        self.close(0..gone);
        if let Some(front) = self.places.get_mut(self.start) {
            front.first = front.first.max(number);
        }
    }

    /// Removes the smallest number and returns it.
    pub fn pop_first(&mut self) -> Option<u64> {
        let number = self.front()?.first;
        self.remove_below(number + 1);
        Some(number)
    }

    /// Frees unused memory.
    pub fn shrink(&mut self) {
        self.places.drain(..self.start);
        self.start = 0;
        self.places.shrink_to_fit();
    }

    /// The smallest number from `number` on that is not in the set.
    #[must_use]
    pub fn gap_from(&self, number: u64) -> u64 {
        self.covering(number).map_or(number, |range| range.end)
    }

    /// The count of numbers in `first..end` that are in the set. It takes a step per range between the two.
    #[must_use]
    pub fn count_in(&self, first: u64, end: u64) -> u64 {
        let above = &self.all()[self.ending_after(first)..];
        let inside = above.iter().take_while(|range| range.first < end);
        inside.map(|range| range.end.min(end) - range.first.max(first)).sum()
    }

    /// Calls `each` with each part of `first..end` that is not in the set, in order.
    pub fn gaps_in(&self, first: u64, end: u64, mut each: impl FnMut(u64, u64)) {
        let mut from = first;
        for range in self.all()[self.ending_after(first)..].iter().take_while(|range| range.first < end) {
            if from < range.first {
                each(from, range.first);
            }
            from = range.end;
        }
        if from < end {
            each(from, end);
        }
    }

    /// The `n`-th largest number, counting from 1; none if there are fewer.
    #[must_use]
    pub fn nth_largest(&self, n: u64) -> Option<u64> {
        let mut left = n;
        for range in self.all().iter().rev() {
            let count = range.end - range.first;
            if count >= left {
                return Some(range.end - left);
            }
            left -= count;
        }
        None
    }

    /// The first range.
    #[must_use]
    pub fn front(&self) -> Option<Range> {
        self.all().first().copied()
    }

    #[inline]
    fn all(&self) -> &[Range] {
        &self.places[self.start..]
    }

    /// The index of the first range that ends after `number`. Most queries concern the front, where holes are filled, or the last few
    /// ranges, which acknowledgements repeat; only the others need a binary search.
    fn ending_after(&self, number: u64) -> usize {
        let all = self.all();
        if all.first().is_none_or(|front| front.end > number) {
            return 0;
        }
        match all.iter().rev().take(REPEATED + 1).position(|range| range.end <= number) {
            Some(above) => all.len() - above,
            None => all.partition_point(|range| range.end <= number),
        }
    }

    /// Inserts a range at index `at`. The shorter side moves.
    fn open(&mut self, at: usize, range: Range) {
        let place = self.start + at;
        if self.start > 0 && at < self.places.len() - place {
            self.places.copy_within(self.start..place, self.start - 1);
            self.start -= 1;
            self.places[place - 1] = range;
        } else {
            self.places.insert(place, range);
        }
    }

    /// Removes the ranges at the indices `gone`. The shorter side moves.
    fn close(&mut self, gone: ops::Range<usize>) {
        if gone.is_empty() {
            return;
        }
        let (from, to) = (self.start + gone.start, self.start + gone.end);
        if gone.start < self.places.len() - to {
            self.places.copy_within(self.start..from, self.start + gone.len());
            self.start += gone.len();
        } else {
            self.places.drain(from..to);
        }
        // Free places in front equal the number of ranges, so the amortised cost is one move per range.
        if 2 * self.start > self.places.len() {
            self.places.drain(..self.start);
            self.start = 0;
        }
    }
}

impl PartialEq for Ranges {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl Eq for Ranges {}

/// An acknowledgement reports three ranges (RFC 2018).
const REPEATED: usize = 3;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_set_of_numbers(steps in proptest::collection::vec((0_u8..8, 0_u64..60, 0_u64..12), 0..60)) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for (step, number, length) in steps {
                match step {
                    0 => {
                        ranges.remove_below(number);
                        model.retain(|have| *have >= number);
                    }
                    1 => prop_assert_eq!(ranges.pop_first(), model.pop_first()),
                    2 => ranges.shrink(),
                    _ => {
                        let mut added = Vec::new();
                        ranges.insert(number, number + length, |first, end| added.extend(first..end));
                        let missing: Vec<_> = (number..number + length).filter(|n| model.insert(*n)).collect();
                        prop_assert_eq!(added, missing);
                    }
                }
                prop_assert_eq!(ranges.is_empty(), model.is_empty());
                prop_assert_eq!(ranges.front().map(|range| range.first), model.first().copied());
                prop_assert_eq!(ranges.count_in(10, 40), model.range(10..40).count() as u64);
                let mut gaps = Vec::new();
                ranges.gaps_in(10, 40, |first, end| gaps.extend(first..end));
                prop_assert_eq!(gaps, (10..40).filter(|n| !model.contains(n)).collect::<Vec<_>>());
                for number in [0, 7, 20, 59] {
                    prop_assert_eq!(ranges.covering(number).is_some(), model.contains(&number));
                    prop_assert_eq!(ranges.gap_from(number), (number..).find(|n| !model.contains(n)).expect("finite set"));
                }
                for n in [1, 3] {
                    prop_assert_eq!(ranges.nth_largest(n), model.iter().rev().nth(n as usize - 1).copied());
                }
                let apart = ranges.all().windows(2).all(|pair| pair[0].end < pair[1].first);
                prop_assert!(apart, "{ranges:?}");
            }
        }
    }
}
