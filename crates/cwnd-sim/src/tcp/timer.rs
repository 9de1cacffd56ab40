//! The retransmission timer of RFC 6298, with the ticks of older stacks.

use cwnd::Span;

use crate::era::Era;

/// The retransmission time-out.
#[derive(Clone, Debug)]
pub(crate) struct RetransmissionTimer {
    granularity: Span,
    min: Span,
    initial: Span,
    smoothed: Option<(Span, Span)>,
    /// Doublings since the last sample.
    backoff: u32,
}

impl RetransmissionTimer {
    /// The timer of an era, without a sample.
    pub(crate) fn new(era: &Era) -> Self {
        Self { granularity: era.granularity, min: era.min_rto, initial: era.initial_rto, smoothed: None, backoff: 0 }
    }

    /// Takes in a round-trip sample, in whole ticks where the timer has ticks, and forgets all doublings (Karn).
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        let rtt = self.in_ticks(rtt);
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((smoothed, variation)) => ((smoothed * 7 + rtt) / 8, (variation * 3 + smoothed.abs_diff(rtt)) / 4),
        });
    }

    /// The timer expired: the next time-out is twice as long.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_DOUBLINGS);
    }

    /// The time-out now.
    pub(crate) fn timeout(&self) -> Span {
        let base = match self.smoothed {
            None => self.initial,
            Some((smoothed, variation)) => smoothed + (variation * 4).max(self.granularity),
        };
        (base.max(self.min) * (1 << self.backoff)).min(MAX_TIMEOUT)
    }

    fn in_ticks(&self, rtt: Span) -> Span {
        if self.granularity == Span::ZERO {
            return rtt;
        }
        let ticks = (rtt + self.granularity / 2).as_nanos() / self.granularity.as_nanos();
        self.granularity * ticks.max(1)
    }
}

/// ns-2 and RFC 6298: 64 times the time-out at most.
const MAX_DOUBLINGS: u32 = 6;
/// RFC 6298 (2.5): a bound of at least 60 s is allowed.
const MAX_TIMEOUT: Span = Span::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_6298_by_hand() {
        let mut timer = RetransmissionTimer::new(&Era { min_rto: Span::ZERO, ..Era::MODERN });
        assert_eq!(timer.timeout(), Span::from_secs(1));
        timer.sample(Span::from_millis(100));
        assert_eq!(timer.timeout(), Span::from_millis(300));
        timer.sample(Span::from_millis(180));
        // smoothed 110, variation (3 * 50 + 80) / 4 = 57.5
        assert_eq!(timer.timeout(), Span::from_millis(340));
        timer.back_off();
        assert_eq!(timer.timeout(), Span::from_millis(680));
        timer.sample(Span::from_millis(110));
        assert!(timer.timeout() < Span::from_millis(340));
    }

    #[test]
    fn doublings_and_floors_have_bounds() {
        let mut timer = RetransmissionTimer::new(&Era::MODERN);
        timer.sample(Span::from_millis(10));
        assert_eq!(timer.timeout(), Span::from_secs(1));
        (0..20).for_each(|_| timer.back_off());
        assert_eq!(timer.timeout(), Span::from_secs(60));
    }

    #[test]
    fn ticks_of_2001() {
        let mut timer = RetransmissionTimer::new(&Era::NS2_2001);
        for _ in 0..50 {
            timer.sample(Span::from_millis(62));
        }
        // One tick of round trip, no variation left but a tick of granularity.
        assert_eq!(timer.timeout(), Span::from_millis(200));
    }
}
