//! The no-feedback timer of a sender that sets a rate.

use super::bounded;
use crate::signal::View;
use crate::units::{Packets, Rate, Span, Time};

/// Halves a rate each time it expires: for algorithms whose sources do not say what to do when no report arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoFeedbackTimer {
    due: Option<Time>,
    /// The shortest timeout.
    least: Span,
}

impl NoFeedbackTimer {
    pub(super) const fn new(least: Span) -> Self {
        Self { due: None, least }
    }

    /// A report arrived: the next one is due within four round trips, or the time of two packets.
    pub(super) fn on_report(&mut self, view: &View, rate: Rate) {
        self.due = Some(view.now + self.timeout(view, rate));
    }

    /// When the rate is next to be halved.
    pub(super) fn wake(self) -> Option<Time> {
        self.due
    }

    /// The rate now: half for each expiry so far.
    pub(super) fn on_wake(&mut self, view: &View, mut rate: Rate) -> Rate {
        while let Some(due) = self.due.filter(|due| *due <= view.now) {
            rate = bounded((rate.0 / 2.0).max(LEAST));
            self.due = Some(due + self.timeout(view, rate));
        }
        rate
    }

    fn timeout(self, view: &View, rate: Rate) -> Span {
        let round_trips = view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed * 4);
        round_trips.max(Packets(2.0) / rate).max(self.least)
    }
}

/// A packet in 64 seconds, as TFRC has it (RFC 5348 section 4.3).
const LEAST: f64 = 1.0 / 64.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{at, view};

    #[test]
    fn the_rate_is_halved_at_each_expiry() {
        let mut timer = NoFeedbackTimer::new(Span::from_millis(50));
        assert_eq!(timer.on_wake(&view(1000), Rate(80.0)), Rate(80.0), "no report has arrived yet");
        timer.on_report(&view(1000), Rate(80.0));
        assert_eq!(timer.wake(), Some(at(1400)));
        assert_eq!(timer.on_wake(&view(1399), Rate(80.0)), Rate(80.0));
        // 1400 and 1800 ms have passed.
        assert_eq!(timer.on_wake(&view(1900), Rate(80.0)), Rate(20.0));
        assert_eq!(timer.wake(), Some(at(2200)));
    }
}
