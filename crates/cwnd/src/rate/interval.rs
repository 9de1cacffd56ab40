//! Control intervals.

use crate::units::{Span, Time};

/// Time cut into control intervals, each judged by the feedback it saw (daimd section II): the rate grows at the end of an
/// interval with positive and without negative feedback.
///
/// The first signal starts the first interval. Intervals without a signal, because a wake-up was late or none was
/// requested, saw no feedback and have no effect: catching up takes one division however many they are.
#[derive(Clone, Debug)]
pub struct Intervals {
    span: Span,
    end: Option<Time>,
    positive: bool,
    negative: bool,
}

impl Intervals {
    /// Intervals of `span` each; at least a microsecond.
    #[must_use]
    pub fn new(span: Span) -> Self {
        Self { span: span.max(SHORTEST), end: None, positive: false, negative: false }
    }

    /// The length of the intervals after the current one; at least a microsecond.
    pub fn set_span(&mut self, span: Span) {
        self.span = span.max(SHORTEST);
    }

    /// Lets time pass. Whether an interval with positive and without negative feedback has ended: the rate grows once.
    pub fn pass(&mut self, now: Time) -> bool {
        let Some(end) = self.end else {
            self.end = Some(now + self.span);
            return false;
        };
        if now < end {
            return false;
        }
        let grows = self.positive && !self.negative;
        self.positive = false;
        self.negative = false;
        let missed = now.since(end).as_nanos() / self.span.as_nanos();
        self.end = Some(end + self.span * (missed + 1));
        grows
    }

    /// Data was acknowledged in this interval.
    pub fn positive(&mut self) {
        self.positive = true;
    }

    /// Congestion was seen in this interval. Whether it is the first time.
    pub fn negative(&mut self) -> bool {
        !core::mem::replace(&mut self.negative, true)
    }

    /// When the rate will grow, as things stand: the only wake-up that is needed.
    #[must_use]
    pub fn wake(&self) -> Option<Time> {
        self.end.filter(|_| self.positive && !self.negative)
    }
}

/// Only a host that reports a round trip of zero would cause shorter intervals.
const SHORTEST: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_interval_grows_by_positive_feedback_alone() {
        let mut intervals = Intervals::new(Span::from_millis(10));
        assert!(!intervals.pass(at(5)));
        intervals.positive();
        assert_eq!(intervals.wake(), Some(at(15)));
        assert!(!intervals.pass(at(14)));
        assert!(intervals.pass(at(15)));
        assert_eq!(intervals.wake(), None, "no feedback yet in the second");
        assert!(!intervals.pass(at(25)), "no feedback");

        intervals.positive();
        assert!(intervals.negative());
        assert!(!intervals.negative(), "the second in this interval");
        assert!(!intervals.pass(at(35)), "mixed");
        assert!(intervals.negative(), "the first in the next");
    }

    #[test]
    fn missed_intervals_keep_the_grid_and_grow_nothing() {
        let mut intervals = Intervals::new(Span::from_millis(10));
        intervals.pass(at(0));
        intervals.positive();
        assert!(intervals.pass(at(47)), "the first interval had feedback");
        intervals.positive();
        assert_eq!(intervals.wake(), Some(at(50)));
        intervals.set_span(Span::from_millis(20));
        assert!(intervals.pass(at(50)));
        intervals.positive();
        assert_eq!(intervals.wake(), Some(at(70)));
    }
}
