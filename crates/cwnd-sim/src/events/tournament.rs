//! The earliest of many components of one kind: a tournament of their times.

use std::hint::select_unpredictable;

use cwnd::Time;

/// The next time of every component of one kind, by its index, and the earliest of all.
///
/// A complete binary tree: a component's leaf holds its time, every other node the earlier one of its two children. Where one
/// component's time changes, only the matches on its way to the root are played again. Nothing moves, and nothing is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    first: Contender,
    /// The two children of each node but the leaves, node 1 being the root: those of node `n` are `2 n` and `2 n + 1`.
    matches: Vec<[Contender; 2]>,
}

/// Ordered by time, then by the index of the component.
#[derive(Clone, Copy, Debug)]
struct Contender {
    at: Time,
    index: u64,
}

impl Tournament {
    /// The earliest time, and whose it is: of equal ones the lowest index. [`Time::MAX`] if nobody has one.
    #[inline]
    pub(crate) fn first(&self) -> (Time, u32) {
        (self.first.at, self.first.index as u32)
    }

    /// Gives component `index` the time `at`, [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, at: Time) {
        let leaves = self.matches.len();
        if index as usize >= leaves {
            return self.grow(index, at);
        }
        let mut node = leaves + index as usize;
        let mut winner = Contender { at, index: u64::from(index) };
        while node > 1 {
            let side = node % 2;
            node /= 2;
            let contenders = &mut self.matches[node];
            contenders[side] = winner;
            let other = contenders[1 - side];
            winner = winner.or_earlier(other);
        }
        self.first = winner;
    }

    #[cold]
    fn grow(&mut self, index: u32, at: Time) {
        let leaves = self.matches.split_off(self.matches.len() / 2);
        *self = Self::of((index as usize + 1).next_power_of_two());
        for (index, leaf) in (0..).zip(leaves.as_flattened()) {
            self.set(index, leaf.at);
        }
        self.set(index, at);
    }

    fn of(leaves: usize) -> Self {
        let nobody = Contender { at: Time::MAX, index: 0 };
        Self { first: nobody, matches: vec![[nobody; 2]; leaves] }
    }
}

impl Contender {
    /// Who wins is as good as random: a guess by the processor would often be wrong, so it is not to guess.
    #[inline]
    fn or_earlier(self, other: Self) -> Self {
        let key = |contender: Self| u128::from(contender.at.as_nanos()) << 64 | u128::from(contender.index);
        let earlier = key(other) < key(self);
        Self {
            at: select_unpredictable(earlier, other.at, self.at),
            index: select_unpredictable(earlier, other.index, self.index),
        }
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
