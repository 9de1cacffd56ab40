//! Reports of packets that have arrived above a gap, and their timing, for a sender that has asked for them.
//!
//! A report is about consecutive packets and names up to three gaps among them ([`Report`](crate::wire::Report)). Three kinds are due:
//! of new packets, after as many of them as an acknowledgement; of packets that have filled gaps, with new ones or once three gaps lie
//! between; and, on the clock of acknowledgements, of the oldest gaps, which shows the sender the packets that were lost twice.

use std::collections::VecDeque;
use std::ops::Range;

use super::gaps::Gaps;
use crate::wire::Missing;

/// The reports that are due.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// The sender reads them.
    wanted: bool,
    /// One of what is new is due.
    new: bool,
    /// Where the last two of them ended.
    ends: [u64; 2],
    /// From the first to the last of some packets that have filled gaps. The last of these ranges may grow.
    filled: VecDeque<Range<u64>>,
    /// How many of these ranges are due.
    filled_due: usize,
    /// One of the oldest gaps is due.
    oldest: bool,
}

impl Arrivals {
    /// The sender reads reports.
    pub(super) fn ask(&mut self) {
        self.wanted = true;
    }

    /// As many packets have arrived as make an acknowledgement due, or its clock has ticked; there are gaps.
    pub(super) fn set_due(&mut self, ticked: bool) {
        if self.wanted {
            self.new = true;
            self.filled_due = self.filled.len();
            self.oldest |= ticked;
        }
    }

    /// Whether a report is due.
    pub(super) fn is_due(&self) -> bool {
        self.new || self.oldest || self.filled_due > 0
    }

    /// Packet `number`, which was missing, has arrived and left `gaps`.
    pub(super) fn on_filled(&mut self, number: u64, gaps: &Gaps) {
        if !self.wanted {
            return;
        }
        let may_grow = self.filled.len() > self.filled_due;
        if let Some(last) = self.filled.back_mut().filter(|_| may_grow) {
            let grown = last.start.min(number)..last.end.max(number + 1);
            if gaps.within(grown.clone()).count() <= Missing::CAPACITY {
                *last = grown;
                return;
            }
            self.filled_due += 1;
        }
        // Packets that do not fit are reported with the oldest gaps, or acknowledged.
        if self.filled.len() < MAX_FILLED {
            self.filled.push_back(number..number + 1);
        }
    }

    /// The packets of the next report, of those from `next`, the first that is missing, up to `seen`.
    pub(super) fn poll(&mut self, next: u64, seen: u64, gaps: &Gaps) -> Option<Range<u64>> {
        if gaps.first().is_none() {
            // Acknowledgements say it all.
            (self.new, self.oldest, self.filled_due) = (false, false, 0);
            self.filled.clear();
            return None;
        }
        if std::mem::take(&mut self.new) {
            // Everything twice, if there is room, so that it does not matter if a report is lost.
            let [before, last] = self.ends.map(|end| end.max(next));
            let twice = Some(bounded(before..seen, gaps)).filter(|report| report.end > last);
            let report = twice.unwrap_or_else(|| bounded(last..seen, gaps));
            self.ends = [last, report.end];
            self.new = report.end < seen;
            if report.end > last {
                return Some(report);
            }
        }
        while self.filled_due > 0
            && let Some(filled) = self.filled.pop_front()
        {
            self.filled_due -= 1;
            if filled.end > next {
                return Some(bounded(filled.start.max(next)..filled.end, gaps));
            }
        }
        std::mem::take(&mut self.oldest).then(|| bounded(next..seen, gaps))
    }
}

/// As much of `range`, from its start on, as has no more gaps than a report can name.
fn bounded(range: Range<u64>, gaps: &Gaps) -> Range<u64> {
    let first_too_many = gaps.within(range.clone()).nth(Missing::CAPACITY);
    range.start..first_too_many.map_or(range.end, |gap| gap.start)
}

/// Ranges of filled gaps that may wait.
const MAX_FILLED: usize = 64;

#[cfg(test)]
mod tests {
    use cwnd::{Span, Time};

    use super::*;

    /// Every packet up to `seen` has arrived but for these.
    fn missing(numbers: &[u64]) -> Gaps {
        let mut gaps = Gaps::default();
        for number in numbers {
            gaps.open(Time::ZERO, *number..number + 1, Span::from_millis(10));
        }
        gaps
    }

    fn wanted() -> Arrivals {
        let mut arrivals = Arrivals::default();
        arrivals.ask();
        arrivals
    }

    /// The starts and ends of all that is due.
    fn all(arrivals: &mut Arrivals, next: u64, seen: u64, gaps: &Gaps) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| arrivals.poll(next, seen, gaps)).map(|report| (report.start, report.end)).collect()
    }

    #[test]
    fn what_is_new_is_said_twice() {
        let gaps = missing(&[3, 10]);
        let mut arrivals = wanted();
        arrivals.set_due(false);
        assert!(arrivals.is_due());
        assert_eq!(all(&mut arrivals, 3, 20, &gaps), [(3, 20)]);
        assert!(!arrivals.is_due());
        arrivals.set_due(false);
        assert_eq!(all(&mut arrivals, 3, 28, &gaps), [(3, 28)]);
        arrivals.set_due(false);
        assert_eq!(all(&mut arrivals, 3, 36, &gaps), [(20, 36)]);
    }

    #[test]
    fn more_gaps_than_fit_take_more_reports() {
        let gaps = missing(&[1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
        let mut arrivals = wanted();
        arrivals.set_due(false);
        assert_eq!(all(&mut arrivals, 1, 21, &gaps), [(1, 7), (7, 13), (13, 19), (19, 21)]);
    }

    #[test]
    fn filled_gaps_are_told_together() {
        let mut gaps = missing(&[1, 3, 5, 7, 9, 11, 13]);
        let mut arrivals = wanted();
        arrivals.ends = [15, 15];
        for number in [3, 7, 13] {
            gaps.fill(number);
            arrivals.on_filled(number, &gaps);
        }
        // Between 3 and 13 there are three gaps left: 5, 9, 11.
        assert!(!arrivals.is_due());
        arrivals.set_due(false);
        assert_eq!(all(&mut arrivals, 1, 15, &gaps), [(3, 14)]);
    }

    #[test]
    fn the_clock_repeats_the_oldest_gaps() {
        let gaps = missing(&[1, 3, 5, 7, 9, 11]);
        let mut arrivals = wanted();
        arrivals.ends = [12, 12];
        arrivals.set_due(true);
        assert_eq!(all(&mut arrivals, 1, 12, &gaps), [(1, 7)]);
    }

    #[test]
    fn nothing_is_due_that_nobody_reads_or_without_a_gap() {
        let mut arrivals = Arrivals::default();
        arrivals.set_due(true);
        assert!(!arrivals.is_due());
        let mut arrivals = wanted();
        arrivals.set_due(true);
        assert_eq!(arrivals.poll(12, 12, &missing(&[])), None);
        assert!(!arrivals.is_due());
    }
}
