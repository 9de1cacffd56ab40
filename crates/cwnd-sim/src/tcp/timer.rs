//! The retransmission timer of RFC 6298, with the ticks of older stacks.

use cwnd::Span;
use cwnd::estimate::RttEstimator;

use crate::era::Era;

/// The retransmission time-out.
#[derive(Clone, Debug)]
pub(crate) struct RetransmissionTimer {
    granularity: Span,
    min: Span,
    initial: Span,
    /// What samples in whole ticks say, where the timer has ticks.
    coarse: Option<Box<RttEstimator>>,
    /// Doublings since the last sample.
    backoff: u32,
}

impl RetransmissionTimer {
    /// The timer of an era, without a sample.
    pub(crate) fn new(era: &Era) -> Self {
        let coarse = (era.granularity > Span::ZERO).then(Box::default);
        Self { granularity: era.granularity, min: era.min_rto, initial: era.initial_rto, coarse, backoff: 0 }
    }

    /// Takes in a round-trip sample, and forgets all doublings (Karn).
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        if let Some(coarse) = &mut self.coarse {
            let ticks = (rtt + self.granularity / 2).as_nanos() / self.granularity.as_nanos();
            coarse.on_sample(self.granularity * ticks.max(1), Span::ZERO);
        }
    }

    /// The timer expired: the next time-out is twice as long.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_DOUBLINGS);
    }

    /// The time-out now. A timer without ticks goes by what the sender knows of the round-trip time, `exact`.
    #[inline]
    pub(crate) fn timeout(&self, exact: &RttEstimator) -> Span {
        let base = match self.coarse.as_deref().unwrap_or(exact).get() {
            None => self.initial,
            Some(rtt) => rtt.smoothed + (rtt.variation * 4).max(self.granularity),
        };
        (base.max(self.min) * (1 << self.backoff)).min(MAX_TIMEOUT)
    }
}

/// ns-2 and RFC 6298: 64 times the time-out at most.
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
        clock.0.back_off();
        assert_eq!(clock.timeout(), Span::from_millis(680));
        clock.sample(110);
        assert!(clock.timeout() < Span::from_millis(340));
    }

    #[test]
    fn doublings_and_floors_have_bounds() {
        let mut clock = Clock::of(&Era::MODERN);
        clock.sample(10);
        assert_eq!(clock.timeout(), Span::from_secs(1));
        (0..20).for_each(|_| clock.0.back_off());
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
