//! The round-trip time.

use crate::signal::Rtt;
use crate::units::Span;

/// Smooths round-trip samples by RFC 6298 section 2 (gains 1/8 and 1/4) and keeps the smallest.
///
/// ```
/// use cwnd::Span;
/// use cwnd::estimate::RttEstimator;
///
/// let mut estimator = RttEstimator::new();
/// estimator.on_sample(Span::from_millis(80), Span::ZERO);
/// estimator.on_sample(Span::from_millis(160), Span::ZERO);
/// let rtt = estimator.get().expect("two samples");
/// assert_eq!((rtt.min, rtt.smoothed), (Span::from_millis(80), Span::from_millis(90)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RttEstimator {
    rtt: Option<Rtt>,
}

impl RttEstimator {
    /// Without samples.
    #[must_use]
    pub const fn new() -> Self {
        Self { rtt: None }
    }

    /// A round-trip time that never varies, as models have it.
    #[must_use]
    pub const fn fixed(rtt: Span) -> Self {
        Self { rtt: Some(Rtt::fixed(rtt)) }
    }

    /// A sample; `ack_delay` is how much of it the receiver reports as its own delay of the acknowledgement. It is passed on,
    /// not subtracted.
    #[inline(always)]
    pub fn on_sample(&mut self, sample: Span, ack_delay: Span) {
        let weighed = |old: Span, new: Span, shares: u64| (old * (shares - 1) + new) / shares;
        let Some(rtt) = &mut self.rtt else {
            self.rtt = Some(Rtt { latest: sample, smoothed: sample, variation: sample / 2, min: sample, ack_delay });
            return;
        };
        // The deviation is from the mean before the sample (RFC 6298, 2.3).
        rtt.variation = weighed(rtt.variation, rtt.smoothed.abs_diff(sample), 4);
        rtt.smoothed = weighed(rtt.smoothed, sample, 8);
        rtt.min = rtt.min.min(sample);
        (rtt.latest, rtt.ack_delay) = (sample, ack_delay);
    }

    /// The estimates; none before the first sample.
    #[must_use]
    pub const fn get(&self) -> Option<Rtt> {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gains_of_rfc_6298() {
        let mut estimator = RttEstimator::new();
        assert_eq!(estimator.get(), None);
        estimator.on_sample(Span::from_millis(80), Span::ZERO);
        estimator.on_sample(Span::from_millis(160), Span::from_millis(1));
        // 7/8 * 80 + 1/8 * 160 = 90; 3/4 * 40 + 1/4 * |80 - 160| = 50.
        let rtt = estimator.get().expect("two samples");
        assert_eq!(rtt.smoothed, Span::from_millis(90));
        assert_eq!(rtt.variation, Span::from_millis(50));
        assert_eq!(rtt.min, Span::from_millis(80));
        assert_eq!(rtt.latest, Span::from_millis(160));
        assert_eq!(rtt.ack_delay, Span::from_millis(1));
    }
}
