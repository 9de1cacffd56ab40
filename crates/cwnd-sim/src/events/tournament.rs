//! The earliest of many components of one kind: a tournament of their times.

use cwnd::Time;

/// The next time of every component of one kind, by its index, and the earliest of all.
///
/// A complete binary tree: a component's leaf holds its time, every other node the earlier one of its two children. Where one
/// component's time changes, only the matches on its way to the root are played again. Nothing moves, and nothing is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// Node 1 is the root, those of node `n` are `2 n` and `2 n + 1`, the second half are the leaves.
    nodes: Vec<Contender>,
    first: Contender,
}

/// A component and its time. Of equal times the one of the lower index is the earlier, and that is always on the left.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// Nanoseconds.
    at: u64,
    index: u64,
}

impl Tournament {
    /// The earliest time, and whose it is: of equal ones the lowest index. [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, u32) {
        (Time::from_nanos(self.first.at), self.first.index as u32)
    }

    /// Gives component `index` the time `at`, [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, at: Time) {
        let nodes = self.nodes.as_mut_slice();
        let mut node = nodes.len() / 2 + index as usize;
        if node >= nodes.len() {
            return self.grow(index, at);
        }
        let mut winner = Contender { at: at.as_nanos(), index: u64::from(index) };
        while node > 1 {
            nodes[node] = winner;
            let other = nodes[node ^ 1];
            let on_the_right = node % 2 == 1;
            if other.at < winner.at || on_the_right && other.at == winner.at {
                winner = other;
            }
            node /= 2;
        }
        self.first = winner;
    }

    #[cold]
    fn grow(&mut self, index: u32, at: Time) {
        let leaves = self.nodes.split_off(self.nodes.len() / 2);
        *self = Self::of((index as usize + 1).next_power_of_two());
        for (index, leaf) in (0..).zip(leaves) {
            self.set(index, Time::from_nanos(leaf.at));
        }
        self.set(index, at);
    }

    fn of(leaves: usize) -> Self {
        let none = Contender { at: Time::MAX.as_nanos(), index: 0 };
        Self { nodes: vec![none; 2 * leaves], first: none }
    }
}

impl Default for Tournament {
    fn default() -> Self {
        Self::of(2)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_comes_first(steps in proptest::collection::vec((0_u32..200, 0_u64..50), 0..300)) {
            let mut ours = Tournament::default();
            let mut model = BTreeMap::new();
            for (index, at) in steps {
                // Times from 40 on stand for none.
                let at = if at < 40 { Time::from_nanos(at) } else { Time::MAX };
                ours.set(index, at);
                model.insert(index, at);
                let first = model.iter().map(|(index, at)| (*at, *index)).filter(|(at, _)| *at < Time::MAX).min();
                prop_assert_eq!(Some(ours.first()).filter(|(at, _)| *at < Time::MAX), first);
            }
        }
    }
}
