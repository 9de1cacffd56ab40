//! The delay of a queue as the LEDBAT family measures it: the newest delays over the least one of the last minutes.

use crate::signal::View;
use crate::units::{Span, Time};

/// The base delay, the least of the last minutes, each with a minimum of its own, and the current delay, the least of the last samples (RFC 6817
/// section 2.4.2: `update_base_delay`, `update_current_delay`). The minutes forget a base delay that the path no longer has.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// BASE_HISTORY: a minimum per minute, the newest at `minute`; [`Span::MAX`] before there is one.
    base: [Span; MOST_MINUTES],
    minutes: usize,
    minute: usize,
    /// When the minute under way began.
    since: Time,
    /// CURRENT_FILTER: the last samples, the newest right before `next`.
    current: [Span; MOST_SAMPLES],
    samples: usize,
    next: usize,
}

impl Delays {
    /// Remembers `minutes` minima and `samples` samples: at least 1, at most [`MOST_MINUTES`] and [`MOST_SAMPLES`].
    pub(super) fn new(minutes: usize, samples: usize) -> Self {
        Self {
            base: [Span::MAX; MOST_MINUTES],
            minutes: minutes.clamp(1, MOST_MINUTES),
            minute: 0,
            since: Time::ZERO,
            current: [Span::MAX; MOST_SAMPLES],
            samples: samples.clamp(1, MOST_SAMPLES),
            next: 0,
        }
    }

    /// Takes in the newest sample of the round-trip time, if there is one.
    pub(super) fn observe(&mut self, view: &View) {
        let Some(rtt) = view.rtt else { return };
        if view.now.since(self.since) >= MINUTE {
            self.since = view.now;
            self.minute = (self.minute + 1) % self.minutes;
            self.base[self.minute] = rtt.latest;
        }
        self.base[self.minute] = self.base[self.minute].min(rtt.latest);
        self.current[self.next] = rtt.latest;
        self.next = (self.next + 1) % self.samples;
    }

    /// The base delay; none before the first sample.
    pub(super) fn base(&self) -> Option<Span> {
        self.base.iter().min().copied().filter(|base| *base != Span::MAX)
    }

    /// The queueing delay in seconds; 0 before the first sample.
    pub(super) fn queueing(&self) -> f64 {
        let current = self.current.iter().min().copied();
        current.zip(self.base()).map_or(0.0, |(current, base)| (current - base).as_secs_f64())
    }
}

/// The most minutes that are remembered.
pub(super) const MOST_MINUTES: usize = 20;
/// The most samples that the current delay is the least of.
pub(super) const MOST_SAMPLES: usize = 16;
/// RFC 6817 section 2.4.2: `update_base_delay` begins a new minimum once per minute.
const MINUTE: Span = Span::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::view;
    use crate::signal::Rtt;

    fn observe(delays: &mut Delays, second: u64, millis: u64) {
        let latest = Span::from_millis(millis);
        let rtt = Rtt::fixed(latest);
        delays.observe(&View { rtt: Some(rtt), ..view(1000 * second) });
    }

    #[test]
    fn the_base_is_the_least_of_the_minutes_and_an_old_one_is_forgotten() {
        let mut delays = Delays::new(3, 1);
        assert_eq!((delays.base(), delays.queueing()), (None, 0.0));
        observe(&mut delays, 1, 50);
        let bases = [61, 121, 181].map(|second| {
            observe(&mut delays, second, 80 + second / 60);
            delays.base().map(Span::as_secs_f64)
        });
        // Three minima: the one of 50 ms is gone once the fourth minute begins.
        assert_eq!(bases, [Some(0.05), Some(0.05), Some(0.081)]);
        assert!((delays.queueing() - 0.002).abs() < 1e-12);
    }

    #[test]
    fn the_current_delay_is_the_least_of_the_last_samples() {
        let mut delays = Delays::new(10, 3);
        let queueing = [50, 90, 70, 80, 95, 90].map(|millis| {
            observe(&mut delays, 1, millis);
            (1e3 * delays.queueing() + 0.5) as u64
        });
        assert_eq!(queueing, [0, 0, 0, 20, 20, 30]);
    }
}
