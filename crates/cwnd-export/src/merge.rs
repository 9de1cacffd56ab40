//! Merges lists that are in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The items of several iterators, each of them in order of time, ordered by time and then by the index of the iterator, with that index.
pub(crate) struct Merge<I: Iterator> {
    sources: Vec<I>,
    heads: Vec<Option<I::Item>>,
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<T, I: Iterator<Item = (u64, T)>> Merge<I> {
    /// Merges `sources`.
    pub(crate) fn new(mut sources: Vec<I>) -> Self {
        let heads: Vec<_> = sources.iter_mut().map(Iterator::next).collect();
        let next = heads.iter().enumerate();
        let next = next.filter_map(|(place, head)| head.as_ref().map(|(at, _)| Reverse((*at, place)))).collect();
        Self { sources, heads, next }
    }
}

impl<T, I: Iterator<Item = (u64, T)>> Iterator for Merge<I> {
    type Item = (usize, u64, T);

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((at, place)) = self.next.pop()?;
        let (_, item) = self.heads[place].take()?;
        self.heads[place] = self.sources[place].next();
        if let Some((at, _)) = &self.heads[place] {
            self.next.push(Reverse((*at, place)));
        }
        Some((place, at, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_ordered_by_index() {
        let lists = [vec![(1, 'a'), (3, 'b')], vec![], vec![(1, 'c'), (1, 'd'), (2, 'e')]];
        let merged = Merge::new(lists.into_iter().map(Vec::into_iter).collect());
        let all: Vec<_> = merged.collect();
        assert_eq!(all, [(0, 1, 'a'), (2, 1, 'c'), (2, 1, 'd'), (2, 2, 'e'), (0, 3, 'b')]);
    }
}
