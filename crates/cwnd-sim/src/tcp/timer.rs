//! The retransmission timer of RFC 6298, with the ticks of older stacks.

use cwnd::estimate::RttEstimator;
use cwnd::{Span, Time};

use crate::era::Era;

/// The retransmission timer, and the timeout it is started with.
///
/// It starts anew with nearly every acknowledgement and hardly ever expires. So it is only known not to expire before some time, and
/// when it really does is worked out once that time has come.
#[derive(Clone, Debug)]
pub(crate) struct RetransmissionTimer {
    min: Span,
    initial: Span,
    /// Where the timer has ticks: one of them, and the estimate from samples in whole ticks.
    coarse: Option<Box<(Span, RttEstimator)>>,
    /// Doublings since the last sample.
    backoff: u32,
    /// It expired, and nothing has been acknowledged since.
    expired: bool,
    /// It does not expire before; [`Time::MAX`] while it stands still.
    deadline: Time,
    /// It was started then, and expires a timeout later; [`Time::MAX`] where that is known to be at `deadline`.
    started: Time,
}

impl RetransmissionTimer {
    /// The timer of an era, without a sample.
    pub(crate) fn new(era: &Era) -> Self {
        let coarse = (era.granularity > Span::ZERO).then(|| Box::new((era.granularity, RttEstimator::new())));
        Self {
            min: era.min_rto.min(MAX_TIMEOUT),
            initial: era.initial_rto,
            coarse,
            backoff: 0,
            expired: false,
            deadline: Time::MAX,
            started: Time::MAX,
        }
    }

    /// It does not expire before; [`Time::MAX`] while it stands still.
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Starts it, or starts it anew. As in all that follows, a timer without ticks goes by what the sender knows of the round-trip
    /// time, `exact`.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, exact: &RttEstimator) {
        self.started = now;
        // No timeout is shorter than `min`.
        if self.deadline > now + self.min {
            self.settle(exact);
        }
    }

    /// Stops it.
    pub(crate) fn stop(&mut self) {
        (self.deadline, self.started) = (Time::MAX, Time::MAX);
    }

    /// Whether it has expired.
    pub(crate) fn has_expired(&mut self, now: Time, exact: &RttEstimator) -> bool {
        if now >= self.deadline {
            self.settle(exact);
        }
        now >= self.deadline
    }

    /// Works out when it expires, before a sample that must not change that.
    #[inline(never)]
    pub(crate) fn settle(&mut self, exact: &RttEstimator) {
        if self.started != Time::MAX {
            self.deadline = self.started + self.timeout(exact);
            self.started = Time::MAX;
        }
    }

    /// Takes in a round-trip sample, and forgets all doublings (Karn).
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        if let Some((tick, coarse)) = self.coarse.as_deref_mut() {
            let ticks = (rtt + *tick / 2).as_nanos() / tick.as_nanos();
            coarse.on_sample(*tick * ticks.max(1), Span::ZERO);
        }
    }

    /// Something has been acknowledged.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.expired = false;
    }

    /// Whether it expired, and nothing has been acknowledged since.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.expired
    }

    /// It expired, and starts anew with a timeout twice as long.
    pub(crate) fn back_off(&mut self, now: Time, exact: &RttEstimator) {
        self.expired = true;
        self.start_doubled(now, self.backoff + 1, exact);
    }

    /// Starts it anew with a timeout that is doubled so many times.
    pub(crate) fn start_doubled(&mut self, now: Time, doublings: u32, exact: &RttEstimator) {
        self.backoff = doublings.min(MAX_DOUBLINGS);
        self.started = now;
        self.settle(exact);
    }

    /// The timeout now.
    fn timeout(&self, exact: &RttEstimator) -> Span {
        let (tick, known) = self.coarse.as_deref().map_or((Span::ZERO, exact), |(tick, coarse)| (*tick, coarse));
        let base = match known.get() {
            None => self.initial,
            Some(rtt) => rtt.smoothed + (rtt.variation * 4).max(tick),
        };
        (base.max(self.min) * (1 << self.backoff)).min(MAX_TIMEOUT)
    }
}

/// ns-2 and RFC 6298: 64 times the timeout at most.
const MAX_DOUBLINGS: u32 = 6;
/// RFC 6298 (2.5): a bound of at least 60 s is allowed.
const MAX_TIMEOUT: Span = Span::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer and what its sender knows.
    struct Clock(RetransmissionTimer, RttEstimator);

    impl Clock {
        fn of(era: &Era) -> Self {
            Self(RetransmissionTimer::new(era), RttEstimator::new())
        }

        fn sample(&mut self, millis: u64) {
            self.0.sample(Span::from_millis(millis));
            self.1.on_sample(Span::from_millis(millis), Span::ZERO);
        }

        fn timeout(&self) -> Span {
            self.0.timeout(&self.1)
        }

        fn back_off(&mut self) {
            self.0.back_off(Time::ZERO, &self.1);
        }

        fn has_expired(&mut self, millis: u64) -> bool {
            self.0.has_expired(Time::ZERO + Span::from_millis(millis), &self.1)
        }
    }

    #[test]
    fn it_expires_a_time_out_after_the_last_start() {
        let mut clock = Clock::of(&Era::MODERN);
        assert!(!clock.has_expired(100_000), "it stands still");
        for millis in [0, 400, 800] {
            clock.sample(millis);
            clock.0.start(Time::ZERO + Span::from_millis(millis), &clock.1);
            assert!(clock.0.deadline() <= Time::ZERO + Span::from_millis(1000));
        }
        // Samples of 0, 400 and 800 ms: smoothed 143.75, variation 262.5; 143.75 + 4 * 262.5 ms after 800.
        assert!(!clock.has_expired(1993));
        // A sample after the start is for the next timeout.
        clock.0.settle(&clock.1);
        (0..50).for_each(|_| clock.sample(1));
        assert!(!clock.has_expired(1993));
        assert!(clock.has_expired(1994));
    }

    #[test]
    fn rfc_6298_by_hand() {
        let mut clock = Clock::of(&Era { min_rto: Span::ZERO, ..Era::MODERN });
        assert_eq!(clock.timeout(), Span::from_secs(1));
        clock.sample(100);
        assert_eq!(clock.timeout(), Span::from_millis(300));
        clock.sample(180);
        // smoothed 110, variation (3 * 50 + 80) / 4 = 57.5
        assert_eq!(clock.timeout(), Span::from_millis(340));
        clock.back_off();
        assert_eq!(clock.timeout(), Span::from_millis(680));
        clock.sample(110);
        assert!(clock.timeout() < Span::from_millis(340));
    }

    #[test]
    fn doublings_and_floors_have_bounds() {
        let mut clock = Clock::of(&Era::MODERN);
        clock.sample(10);
        assert_eq!(clock.timeout(), Span::from_secs(1));
        (0..20).for_each(|_| clock.back_off());
        assert_eq!(clock.timeout(), Span::from_secs(60));
    }

    #[test]
    fn ticks_of_2001() {
        let mut clock = Clock::of(&Era::NS2_2001);
        (0..50).for_each(|_| clock.sample(62));
        // One tick of round trip, no variation left but a tick of granularity.
        assert_eq!(clock.timeout(), Span::from_millis(200));
    }
}
