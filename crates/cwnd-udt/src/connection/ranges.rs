//! Sets of packet numbers, as ranges.

use std::collections::VecDeque;

/// A set of packet numbers. Ranges are kept apart and in order, so that changes near either end are cheap whatever lies between.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(VecDeque<Range>);

/// The numbers `first..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    end: u64,
}

impl Ranges {
    /// The smallest number.
    pub(super) fn first(&self) -> Option<u64> {
        self.0.front().map(|range| range.first)
    }

    /// Adds one number.
    pub(super) fn insert(&mut self, number: u64) {
        let at = self.0.partition_point(|range| range.end < number);
        let Some(range) = self.0.get_mut(at).filter(|range| range.first <= number + 1) else {
            self.0.insert(at, Range { first: number, end: number + 1 });
            return;
        };
        range.first = range.first.min(number);
        range.end = range.end.max(number + 1);
        let end = range.end;
        if let Some(next) = self.0.get(at + 1).copied().filter(|next| next.first == end) {
            self.0[at].end = next.end;
            self.0.remove(at + 1);
        }
    }

    /// Takes the smallest number out.
    pub(super) fn pop_first(&mut self) -> Option<u64> {
        let number = self.first()?;
        self.remove_below(number + 1);
        Some(number)
    }

    /// Forgets all numbers below `number`.
    pub(super) fn remove_below(&mut self, number: u64) {
        while let Some(front) = self.0.front_mut()
            && front.first < number
        {
            if front.end > number {
                front.first = number;
                return;
            }
            self.0.pop_front();
        }
    }

    /// Frees memory that is not used.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_set_of_numbers(steps in proptest::collection::vec((0_u8..8, 0_u64..60), 0..120)) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for (step, number) in steps {
                match step {
                    0 => {
                        ranges.remove_below(number);
                        model.retain(|have| *have >= number);
                    }
                    1 => prop_assert_eq!(ranges.pop_first(), model.pop_first()),
                    _ => {
                        ranges.insert(number);
                        model.insert(number);
                    }
                }
                prop_assert_eq!(ranges.first(), model.first().copied());
                let all: Vec<_> = ranges.0.iter().flat_map(|range| range.first..range.end).collect();
                prop_assert_eq!(all, model.iter().copied().collect::<Vec<_>>());
                let apart = ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.end < b.first);
                prop_assert!(apart, "{:?}", ranges);
            }
        }
    }
}
