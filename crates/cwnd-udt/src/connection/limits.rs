//! What holds the sender back, and for how long it has.

use cwnd::{Limit, Span, Time};

/// The current limit, and the time spent under each.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    current: Limit,
    since: Time,
    spent: Spent,
}

/// Time a sender spent under each of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// The congestion control's window was full.
    pub window: Span,
    /// Packets left at the congestion control's rate.
    pub rate: Span,
    /// The application had nothing to send.
    pub source: Span,
    /// The peer had no room.
    pub peer: Span,
}

impl Limits {
    /// A sender without data.
    pub(super) fn new(now: Time) -> Self {
        Self { current: Limit::Source, since: now, spent: Spent::default() }
    }

    /// What last held the sender.
    pub(super) fn current(&self) -> Limit {
        self.current
    }

    /// `limit` holds the sender from now on.
    pub(super) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.spent = self.spent(now);
            self.current = limit;
            self.since = now;
        }
    }

    /// There is data again: what holds it will show.
    pub(super) fn end_source(&mut self, now: Time) {
        if self.current == Limit::Source {
            self.set(now, Limit::Window);
        }
    }

    /// Time spent so far.
    pub(super) fn spent(&self, now: Time) -> Spent {
        let mut spent = self.spent;
        let held = match self.current {
            Limit::Window => &mut spent.window,
            Limit::Rate => &mut spent.rate,
            Limit::Source => &mut spent.source,
            Limit::Peer => &mut spent.peer,
        };
        *held = *held + now.since(self.since);
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_under_the_limit_that_held() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut limits = Limits::new(at(0));
        limits.set(at(10), Limit::Rate);
        limits.set(at(15), Limit::Rate);
        limits.set(at(30), Limit::Peer);
        let spent = limits.spent(at(35));
        assert_eq!((spent.source, spent.rate), (Span::from_millis(10), Span::from_millis(20)));
        assert_eq!((spent.peer, spent.window), (Span::from_millis(5), Span::ZERO));
        limits.end_source(at(35));
        assert_eq!(limits.current(), Limit::Peer);
        limits.set(at(40), Limit::Source);
        limits.end_source(at(41));
        assert_eq!((limits.current(), limits.spent(at(42)).source), (Limit::Window, Span::from_millis(11)));
    }
}
