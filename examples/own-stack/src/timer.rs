//! The retransmission timer (RFC 6298).

use cwnd::{Span, Time};

/// Estimates the round-trip time, and decides when sent packets count as lost.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    /// Smoothed round-trip time and its variation, seconds.
    estimate: Option<(f64, f64)>,
    backoff: u32,
    deadline: Option<Time>,
}

impl Timer {
    /// A round-trip time of a datagram that was sent once (section 2, and Karn's rule of section 3).
    pub(crate) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_secs_f64();
        self.estimate = Some(match self.estimate {
            None => (rtt, rtt / 2.0),
            Some((smoothed, variation)) => {
                (0.875 * smoothed + 0.125 * rtt, 0.75 * variation + 0.25 * (smoothed - rtt).abs())
            }
        });
        self.backoff = 0;
    }

    pub(crate) fn rtt(&self) -> Option<Span> {
        self.estimate.map(|(smoothed, _)| Span::from_secs_f64(smoothed))
    }

    /// The timeout: at least a second (section 2.4), doubled with each expiry (section 5.5), at most a minute.
    pub(crate) fn interval(&self) -> Span {
        let timeout = self.estimate.map_or(1.0, |(smoothed, variation)| (smoothed + 4.0 * variation).max(1.0));
        Span::from_secs_f64((timeout * f64::from(1 << self.backoff.min(6))).min(60.0))
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    pub(crate) fn has_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// Something was sent (section 5.1).
    pub(crate) fn start(&mut self, now: Time) {
        self.deadline.get_or_insert(now + self.interval());
    }

    /// Something was acknowledged (sections 5.2 and 5.3).
    pub(crate) fn restart(&mut self, now: Time, is_anything_in_flight: bool) {
        self.deadline = is_anything_in_flight.then(|| now + self.interval());
    }

    /// It has expired (sections 5.5 and 5.6).
    pub(crate) fn back_off(&mut self, now: Time) {
        self.backoff += 1;
        self.deadline = Some(now + self.interval());
    }
}
