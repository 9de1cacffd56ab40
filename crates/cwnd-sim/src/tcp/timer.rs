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
    /// The estimate by its own samples, once they are others than the algorithm's.
    own: Option<Box<Own>>,
    /// Doublings since the last sample.
    backoff: u32,
    /// It expired, and nothing has been acknowledged since.
    expired: bool,
    /// It does not expire before; [`Time::MAX`] while it stands still.
    deadline: Time,
    /// It was started then, and expires a timeout later; [`Time::MAX`] where that is known to be at `deadline`.
    started: Time,
}

/// An estimate by samples of the timer.
#[derive(Clone, Debug)]
struct Own {
    /// Samples are in whole ticks; zero for none.
    tick: Span,
    rtt: RttEstimator,
}

impl RetransmissionTimer {
    /// The timer of an era, without a sample.
    pub(crate) fn new(era: &Era) -> Self {
        let tick = era.granularity;
        let own = (tick > Span::ZERO).then(|| Box::new(Own { tick, rtt: RttEstimator::new() }));
        Self {
            min: era.min_rto.min(MAX_TIMEOUT),
            initial: era.initial_rto,
            own,
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

    /// Starts it, or starts it anew. As in all that follows, a timer without samples of its own goes by what the algorithm knows of
    /// the round-trip time, `exact`.
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

    /// Takes in the round-trip time of the oldest packet newly acknowledged (RFC 7323 section 4.3), and forgets all doublings (Karn). The
    /// algorithm's sample, `newest`, is that of the newest packet, which no delay of the acknowledgement prolongs; `exact` is without it.
    #[inline(always)]
    pub(crate) fn sample(&mut self, oldest: Span, newest: Span, exact: &RttEstimator) {
        self.backoff = 0;
        if self.own.is_some() || oldest != newest {
            self.sample_own(oldest, exact);
        }
    }

    /// A sample that the algorithm does not have, or an earlier one was of that kind.
    #[inline(never)]
    fn sample_own(&mut self, oldest: Span, exact: &RttEstimator) {
        let Own { tick, rtt } =
            self.own.get_or_insert_with(|| Box::new(Own { tick: Span::ZERO, rtt: *exact })).as_mut();
        let ticks = |tick: Span| tick * ((oldest + tick / 2).as_nanos() / tick.as_nanos()).max(1);
        rtt.on_sample(if *tick > Span::ZERO { ticks(*tick) } else { oldest }, Span::ZERO);
    }

    /// The round-trip time by RFC 6298, without ticks: what a sender of TCP knows as SRTT.
    #[inline]
    pub(crate) fn rtt<'a>(&'a self, exact: &'a RttEstimator) -> &'a RttEstimator {
        self.own.as_deref().filter(|own| own.tick == Span::ZERO).map_or(exact, |own| &own.rtt)
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

    /// Restarts the timer with a timeout doubled `doublings` times.
    pub(crate) fn start_doubled(&mut self, now: Time, doublings: u32, exact: &RttEstimator) {
        self.backoff = doublings.min(MAX_DOUBLINGS);
        self.started = now;
        self.settle(exact);
    }

    /// The timeout now, with what expiries have doubled of it.
    #[inline]
    pub(crate) fn timeout(&self, exact: &RttEstimator) -> Span {
        let (tick, known) = self.own.as_deref().map_or((Span::ZERO, exact), |own| (own.tick, &own.rtt));
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
            self.sample_held(millis, millis);
        }

        fn sample_held(&mut self, oldest: u64, newest: u64) {
            let [oldest, newest] = [oldest, newest].map(Span::from_millis);
            self.0.sample(oldest, newest, &self.1);
            self.1.on_sample(newest, Span::ZERO);
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

    /// An acknowledgement held back for the second of two packets prolongs what the timer waits for, and no round trip of the algorithm.
    #[test]
    fn the_timer_waits_for_the_oldest_packet() {
        let mut clock = Clock::of(&Era { min_rto: Span::ZERO, ..Era::MODERN });
        clock.sample(100);
        clock.sample_held(180, 100);
        // As after samples of 100 and 180.
        assert_eq!(clock.timeout(), Span::from_millis(340));
        let [timer, algorithm] = [clock.0.rtt(&clock.1), &clock.1].map(|rtt| rtt.get().expect("sampled"));
        assert_eq!((timer.smoothed, algorithm.smoothed), (Span::from_millis(110), Span::from_millis(100)));
        assert_eq!(algorithm.latest, Span::from_millis(100));
        clock.sample(110);
        // smoothed 110, variation 3/4 * 57.5
        assert_eq!(clock.timeout(), Span::from_micros(282_500));
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
