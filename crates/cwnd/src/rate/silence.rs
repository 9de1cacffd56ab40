//! What a sender makes of reports that do not come.

use super::bounded;
use crate::signal::View;
use crate::units::{Packets, Rate, Span, Time};

/// Halves a rate whenever nothing is heard for so long: for algorithms whose sources say nothing of silence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    due: Option<Time>,
    /// How long a silence may be, at least.
    least: Span,
}

impl Silence {
    pub(super) const fn new(least: Span) -> Self {
        Self { due: None, least }
    }

    /// A report came: the next is due within four round trips, or the time of two packets.
    pub(super) fn heard(&mut self, view: &View, rate: Rate) {
        self.due = Some(view.now + self.span(view, rate));
    }

    /// When the rate is next to be halved.
    pub(super) fn wake(self) -> Option<Time> {
        self.due
    }

    /// The rate after the silence until now: half, for each time that has passed.
    pub(super) fn pass(&mut self, view: &View, mut rate: Rate) -> Rate {
        while let Some(due) = self.due.filter(|due| *due <= view.now) {
            rate = bounded((rate.0 / 2.0).max(LEAST));
            self.due = Some(due + self.span(view, rate));
        }
        rate
    }

    fn span(self, view: &View, rate: Rate) -> Span {
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
    fn the_rate_is_halved_for_each_silence() {
        let mut silence = Silence::new(Span::from_millis(50));
        assert_eq!(silence.pass(&view(1000), Rate(80.0)), Rate(80.0), "nothing was heard yet");
        silence.heard(&view(1000), Rate(80.0));
        assert_eq!(silence.wake(), Some(at(1400)));
        assert_eq!(silence.pass(&view(1399), Rate(80.0)), Rate(80.0));
        // 1400 and 1800 ms have passed.
        assert_eq!(silence.pass(&view(1900), Rate(80.0)), Rate(20.0));
        assert_eq!(silence.wake(), Some(at(2200)));
    }
}
