//! What held a sender back, and for how long.

use cwnd::{Limit, Span, Time};

/// The current limit, and the time spent under the two that are not congestion control's doing.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    current: Limit,
    since: Time,
    source: Span,
    peer: Span,
}

impl Limits {
    /// No time spent yet.
    pub(crate) fn new(now: Time) -> Self {
        Self { current: Limit::Window, since: now, source: Span::ZERO, peer: Span::ZERO }
    }

    /// What last held the sender.
    pub(crate) fn current(&self) -> Limit {
        self.current
    }

    /// `limit` holds the sender from now on.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            (self.source, self.peer) = self.spent(now);
            self.current = limit;
            self.since = now;
        }
    }

    /// Time spent so far for want of data, and of room at the receiver.
    pub(crate) fn spent(&self, now: Time) -> (Span, Span) {
        let held = now.since(self.since);
        match self.current {
            Limit::Source => (self.source + held, self.peer),
            Limit::Peer => (self.source, self.peer + held),
            Limit::Window | Limit::Rate => (self.source, self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_under_the_limit_that_held() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut limits = Limits::new(at(0));
        limits.set(at(10), Limit::Source);
        limits.set(at(15), Limit::Source);
        limits.set(at(30), Limit::Peer);
        limits.set(at(35), Limit::Rate);
        assert_eq!(limits.spent(at(100)), (Span::from_millis(20), Span::from_millis(5)));
        limits.set(at(100), Limit::Peer);
        assert_eq!(limits.spent(at(101)), (Span::from_millis(20), Span::from_millis(6)));
    }
}
