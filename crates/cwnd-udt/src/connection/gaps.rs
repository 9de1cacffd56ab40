//! The missing packets of a receiver, and when it last reported them.

use std::collections::VecDeque;
use std::ops::Range;

use cwnd::{Span, Time};

/// Missing packets as ranges, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    gaps: VecDeque<Gap>,
    /// Some gap may be due to be reported from here on.
    due: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    end: u64,
    seen: Seen,
}

/// When a gap was seen and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) opened_at: Time,
    /// When it was last reported, or is to be reported first, and how many times it has been.
    pub(super) reported_at: Time,
    pub(super) reports: u64,
}

impl Gap {
    fn due(&self, interval: Span) -> Time {
        self.seen.reported_at + interval * self.seen.reports
    }
}

impl Gaps {
    /// The smallest missing number.
    pub(super) fn first(&self) -> Option<u64> {
        self.gaps.front().map(|gap| gap.first)
    }

    /// Packets `missing`, above all others, are missing, and reported now.
    pub(super) fn open(&mut self, now: Time, missing: Range<u64>, interval: Span) {
        self.add(missing, Seen { opened_at: now, reported_at: now, reports: 1 }, interval);
    }

    /// Opens a gap of the packets `missing`, whose first report waits for `wait`.
    pub(super) fn open_unreported(&mut self, now: Time, missing: Range<u64>, wait: Span) {
        self.add(missing, Seen { opened_at: now, reported_at: now + wait, reports: 0 }, wait);
    }

    fn add(&mut self, missing: Range<u64>, seen: Seen, interval: Span) {
        if !missing.is_empty() {
            let gap = Gap { first: missing.start, end: missing.end, seen };
            self.gaps.push_back(gap);
            self.due = Some(self.due.map_or(gap.due(interval), |due| due.min(gap.due(interval))));
        }
    }

    /// Packet `number` is no longer missing: when its gap was seen and reported, if it was missing.
    pub(super) fn fill(&mut self, number: u64) -> Option<Seen> {
        let at = self.gaps.partition_point(|gap| gap.end <= number);
        let gap = self.gaps.get_mut(at).filter(|gap| gap.first <= number)?;
        let seen = gap.seen;
        match (gap.first == number, gap.end == number + 1) {
            (true, true) => {
                self.gaps.remove(at);
            }
            (true, false) => gap.first += 1,
            (false, true) => gap.end -= 1,
            (false, false) => {
                let rest = Gap { first: number + 1, ..*gap };
                gap.end = number;
                self.gaps.insert(at + 1, rest);
            }
        }
        if self.gaps.is_empty() {
            self.due = None;
        }
        Some(seen)
    }

    /// The missing packets among `numbers`, as ranges in order.
    pub(super) fn within(&self, numbers: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let at = self.gaps.partition_point(|gap| gap.end <= numbers.start);
        let gaps = self.gaps.range(at..).take_while(move |gap| gap.first < numbers.end);
        gaps.map(move |gap| gap.first.max(numbers.start)..gap.end.min(numbers.end))
    }

    /// The numbers around `number` between which nothing is missing: the end of the gap before it and the start of the one after.
    pub(super) fn run_around(&self, number: u64) -> (Option<u64>, Option<u64>) {
        let at = self.gaps.partition_point(|gap| gap.end <= number);
        let before = at.checked_sub(1).and_then(|at| self.gaps.get(at)).map(|gap| gap.end);
        (before, self.gaps.get(at).map(|gap| gap.first))
    }

    /// When something may have to be reported again.
    pub(super) fn due(&self) -> Time {
        self.due.unwrap_or(Time::MAX)
    }

    /// Shows `report` the gaps that are due, until it refuses: `interval` after their first report, twice that after the second, and so on.
    /// Where a queue delays retransmissions by more than `interval`, reports at a fixed interval would fill it with duplicates.
    pub(super) fn repeat(&mut self, now: Time, interval: Span, mut report: impl FnMut(Range<u64>) -> bool) {
        let mut due = Time::MAX;
        let mut room = true;
        for gap in &mut self.gaps {
            if gap.due(interval) <= now && room {
                room = report(gap.first..gap.end);
                if room {
                    gap.seen.reported_at = now;
                    gap.seen.reports = (gap.seen.reports + 1).min(MAX_REPORTS);
                }
            }
            let soonest = if gap.seen.reports == 0 { now } else { now + MIN_INTERVAL };
            due = due.min(gap.due(interval).max(soonest));
        }
        self.due = (due < Time::MAX).then_some(due);
    }

    /// Frees memory that is not used.
    pub(super) fn shrink(&mut self) {
        self.gaps.shrink_to_fit();
    }
}

/// The time between reports of a gap grows up to this many intervals.
const MAX_REPORTS: u64 = 64;
/// Gaps are looked through at most this often.
const MIN_INTERVAL: Span = Span::from_millis(5);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn reported(gaps: &mut Gaps, now: Time, room: usize) -> Vec<Range<u64>> {
        let mut reported = Vec::new();
        gaps.repeat(now, Span::from_millis(20), |gap| {
            let fits = reported.len() < room;
            reported.extend(fits.then_some(gap));
            fits
        });
        reported
    }

    #[test]
    fn gaps_are_named_again() {
        let mut gaps = Gaps::default();
        gaps.open(at(0), 3..5, Span::from_millis(20));
        gaps.open(at(10), 8..9, Span::from_millis(20));
        assert_eq!(gaps.due(), at(20));
        let times: Vec<_> = (1..250).filter(|ms| reported(&mut gaps, at(*ms), 9).contains(&(3..5))).collect();
        assert_eq!(times, [20, 60, 120, 200]);
        gaps.fill(3);
        gaps.fill(4);
        gaps.fill(8);
        assert_eq!((gaps.due(), gaps.first()), (Time::MAX, None));
    }

    #[test]
    fn gaps_that_do_not_fit_keep_their_turn() {
        let mut gaps = Gaps::default();
        gaps.open(at(0), 3..5, Span::from_millis(20));
        gaps.open(at(0), 8..9, Span::from_millis(20));
        assert_eq!(reported(&mut gaps, at(20), 1).pop(), Some(3..5));
        assert_eq!(gaps.due(), at(25));
        assert_eq!(reported(&mut gaps, at(25), 1).pop(), Some(8..9));
    }

    proptest! {
        #[test]
        fn fills_leave_what_is_missing(filled in proptest::collection::vec(0_u64..40, 0..80)) {
            let mut gaps = Gaps::default();
            gaps.open(at(0), 2..17, Span::from_millis(20));
            gaps.open(at(1), 20..31, Span::from_millis(20));
            let mut missing: Vec<u64> = (2..17).chain(20..31).collect();
            for number in filled {
                gaps.fill(number);
                missing.retain(|n| *n != number);
                let all: Vec<u64> = gaps.gaps.iter().flat_map(|gap| gap.first..gap.end).collect();
                prop_assert_eq!(&all, &missing);
                prop_assert_eq!(gaps.first(), missing.first().copied());
                let (before, after) = gaps.run_around(18);
                prop_assert_eq!(before, missing.iter().rev().find(|n| **n < 18).map(|n| n + 1));
                prop_assert_eq!(after, missing.iter().find(|n| **n > 18).copied());
            }
        }
    }
}
