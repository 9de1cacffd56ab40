//! The earliest of many components of one kind: a tournament of their times.

use cwnd::Time;

/// The next time of every component of one kind, by its index, and the earliest of all.
///
/// A complete tree of matches between four: a component's place in a match of the lowest round holds its time, those of the other rounds hold
/// the winners of the round below. Where one component's time changes, only the matches on its way to the final are played again. Nothing
/// moves, and nothing is looked for. With four in a match there are half as many rounds as with two, and the comparisons of a match do
/// not wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The final is match 0; the winners of the matches `4 n + 1` to `4 n + 4` meet in match `n`.
    matches: Vec<Match>,
    /// The first match of the lowest round.
    lowest: usize,
    first: (Time, u32),
}

/// Four that play against each other, by index from the left: of equal times the one of the lowest index is the earliest.
#[derive(Clone, Copy, Debug)]
struct Match {
    at: [Time; 4],
    who: [u32; 4],
}

impl Tournament {
    /// The earliest time, and whose it is: of equal ones the lowest index. [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, u32) {
        self.first
    }

    /// The time of component `index`.
    #[inline]
    pub(crate) fn time(&self, index: u32) -> Time {
        let (number, place) = (self.lowest + index as usize / 4, index as usize % 4);
        self.matches.get(number).map_or(Time::MAX, |places| places.at[place])
    }

    /// Gives component `index` the time `at`, [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, at: Time) {
        let (mut number, mut place) = (self.lowest + index as usize / 4, index as usize % 4);
        let mut winner = (at, index);
        if number >= self.matches.len() {
            if at < Time::MAX {
                self.grow(index, at);
            }
            return;
        }
        loop {
            let now = &mut self.matches[number];
            (now.at[place], now.who[place]) = winner;
            winner = now.winner();
            if number == 0 {
                self.first = winner;
                return;
            }
            (number, place) = ((number - 1) / 4, (number - 1) % 4);
        }
    }

    #[cold]
    fn grow(&mut self, index: u32, at: Time) {
        let places = self.matches.split_off(self.lowest);
        *self = Self::of(index as usize + 1);
        let known = places.iter().flat_map(|places| places.at.into_iter().zip(places.who));
        for (at, index) in known.filter(|(at, _)| *at < Time::MAX) {
            self.set(index, at);
        }
        self.set(index, at);
    }

    /// For that many components at least.
    fn of(components: usize) -> Self {
        let (mut lowest, mut round) = (0, 1);
        while 4 * round < components {
            lowest += round;
            round *= 4;
        }
        let nobody = Match { at: [Time::MAX; 4], who: [0; 4] };
        Self { matches: vec![nobody; lowest + round], lowest, first: (Time::MAX, 0) }
    }
}

impl Match {
    #[inline(always)]
    fn winner(&self) -> (Time, u32) {
        let [a, b, c, d] = self.at;
        let left = if b < a { (b, 1) } else { (a, 0) };
        let right = if d < c { (d, 3) } else { (c, 2) };
        let (at, place) = if right.0 < left.0 { right } else { left };
        (at, self.who[place])
    }
}

impl Default for Tournament {
    fn default() -> Self {
        Self::of(1)
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
