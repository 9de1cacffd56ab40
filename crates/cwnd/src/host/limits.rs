//! The limits of a sender, and the time spent under each.

use crate::signal::Limit;
use crate::units::{Span, Time};

/// The current limit, and the time spent under each. A simulation has one value per flow, so it is small: the start of the current limit
/// is folded into its sum.
#[derive(Clone, Debug)]
pub struct Limits {
    current: Limit,
    /// Time spent under each limit, in nanoseconds. For the current limit, the instant at which it began is subtracted, modulo 2^64.
    nanos: [u64; 4],
}

/// Time a sender spent under each of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a time for each `Limit`")]
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
    /// The state of a new sender: its application has sent no data.
    #[must_use]
    pub fn new(now: Time) -> Self {
        let mut limits = Self { current: Limit::Source, nanos: [0; 4] };
        limits.begin(now, Limit::Source);
        limits
    }

    /// The current limit.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Limit {
        self.current
    }

    /// Changes the current limit to `limit` now.
    #[inline]
    pub fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.change(now, limit);
        }
    }

    #[cold]
    fn change(&mut self, now: Time, limit: Limit) {
        self.nanos = self.elapsed(now);
        self.begin(now, limit);
    }

    fn begin(&mut self, now: Time, limit: Limit) {
        self.current = limit;
        let nanos = &mut self.nanos[limit as usize];
        *nanos = nanos.wrapping_sub(now.as_nanos());
    }

    /// Time spent under each limit until now; zero before the sender exists.
    #[must_use]
    pub fn spent(&self, now: Time) -> Spent {
        let elapsed = self.elapsed(now);
        // Below zero before the instant at which the first limit began to hold.
        let under = |limit: Limit| Span::from_nanos(elapsed[limit as usize].cast_signed().max(0).cast_unsigned());
        Spent {
            window: under(Limit::Window),
            rate: under(Limit::Rate),
            source: under(Limit::Source),
            peer: under(Limit::Peer),
        }
    }

    /// Nanoseconds under each limit until `now`.
    fn elapsed(&self, now: Time) -> [u64; 4] {
        let mut elapsed = self.nanos;
        let held = &mut elapsed[self.current as usize];
        *held = held.wrapping_add(now.as_nanos());
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_under_the_limit_that_held() {
        let at = |millis: u64| Time::ZERO + Span::from_millis(7 + millis);
        let mut limits = Limits::new(at(0));
        assert_eq!(limits.spent(Time::ZERO), Spent::default(), "before its start");
        limits.set(at(10), Limit::Rate);
        limits.set(at(15), Limit::Rate);
        limits.set(at(30), Limit::Peer);
        let spent = limits.spent(at(35));
        assert_eq!((spent.source, spent.rate), (Span::from_millis(10), Span::from_millis(20)));
        assert_eq!((spent.peer, spent.window), (Span::from_millis(5), Span::ZERO));
        limits.set(at(40), Limit::Window);
        limits.set(at(41), Limit::Source);
        let spent = limits.spent(at(43));
        assert_eq!((spent.source, spent.window), (Span::from_millis(12), Span::from_millis(1)));
        assert_eq!((spent.peer, limits.current()), (Span::from_millis(10), Limit::Source));
    }
}
