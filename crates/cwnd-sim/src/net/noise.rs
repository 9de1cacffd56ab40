//! Draws of random delays.

use cwnd::Span;

use super::setup::{Jitter, Noise};
use crate::random::{Stream, threshold};

/// The jitter of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noisy {
    jitter: Jitter,
    /// The last delay, nanoseconds; needed for correlation alone.
    last: Option<f64>,
}

impl Noisy {
    pub(crate) fn new(jitter: Jitter) -> Self {
        Self { jitter, last: None }
    }

    /// Whether the jitter reorders packets.
    pub(crate) fn overtakes(&self) -> bool {
        self.jitter.overtaking
    }

    /// The delay of the next packet.
    pub(crate) fn draw(&mut self, stream: &mut Stream) -> Span {
        let nanos = self.jitter.noise.draw(stream);
        if self.jitter.correlation == 0.0 {
            return Span::from_nanos(nanos);
        }
        let own = nanos as f64;
        let delay = self.last.map_or(own, |last| self.jitter.correlation * (last - own) + own);
        self.last = Some(delay);
        Span::from_nanos(delay as u64)
    }
}

impl Noise {
    /// Nanoseconds.
    fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            Self::Uniform(most) => stream.below(most.as_nanos()),
            Self::Normal { mean, deviation } => {
                cut(mean.as_nanos() as f64 + stream.normal() * deviation.as_nanos() as f64)
            }
            Self::Pareto { mean, shape } => {
                let scale = mean.as_nanos() as f64 * (shape - 1.0);
                cut(scale * (libm::pow(stream.unit_above_zero(), -1.0 / shape) - 1.0))
            }
            Self::Wifi { mean } => {
                let mut part = |mean: f64, from: u32| {
                    let count = stream.poisson(mean);
                    let below = stream.unit();
                    f64::from(count) - if count >= from { below } else { 0.0 }
                };
                let usual = part(1.0, 1);
                let spike = 7.5 * part(12.0, 2);
                let probability = (mean.as_nanos() as f64 / 1e6 - 1.0) / 84.0;
                cut(1e6 * (usual + if stream.chance(threshold(probability)) { spike } else { 0.0 }))
            }
        }
    }
}

fn cut(nanos: f64) -> u64 {
    nanos.clamp(0.0, Noise::MOST.as_nanos() as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200,000 delays in milliseconds, in increasing order.
    fn drawn(jitter: Jitter) -> Vec<f64> {
        let (mut noisy, mut stream) = (Noisy::new(jitter), Stream::new(1, "noise"));
        let mut delays: Vec<f64> = (0..200_000).map(|_| noisy.draw(&mut stream).as_nanos() as f64 / 1e6).collect();
        delays.sort_by(f64::total_cmp);
        delays
    }

    fn mean(delays: &[f64]) -> f64 {
        delays.iter().sum::<f64>() / delays.len() as f64
    }

    fn deviation(delays: &[f64]) -> f64 {
        let mean = mean(delays);
        (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64).sqrt()
    }

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn normal_delays_have_their_mean_and_deviation() {
        let delays = drawn(Noise::Normal { mean: ms(20), deviation: ms(4) }.into());
        assert!((mean(&delays) - 20.0).abs() < 0.05, "{}", mean(&delays));
        assert!((deviation(&delays) - 4.0).abs() < 0.05, "{}", deviation(&delays));
        // 97.7 % lie below two standard deviations.
        assert!((delays[195_450] - 28.0).abs() < 0.15, "{}", delays[195_450]);
        assert_eq!(drawn(Noise::Normal { mean: ms(0), deviation: ms(4) }.into())[99_000], 0.0, "half are cut off");
    }

    #[test]
    fn pareto_delays_have_their_quantiles() {
        let delays = drawn(Noise::Pareto { mean: ms(10), shape: 3.0 }.into());
        assert!((mean(&delays) - 10.0).abs() < 0.2, "{}", mean(&delays));
        // The quantile of 1 - u is 20 (u^(-1/3) - 1): 5.198 at one half, 72.83 at 1 %.
        assert!((delays[100_000] - 5.198).abs() < 0.1, "{}", delays[100_000]);
        assert!((delays[198_000] - 72.83).abs() < 2.5, "{}", delays[198_000]);
    }

    #[test]
    fn wifi_has_spikes() {
        let delays = drawn(Noise::Wifi { mean: ms(7) }.into());
        // The mean of the usual part is 1 - (1 - 1/e) / 2 = 0.684, that of a spike 7.5 (12 - 1/2) = 86.25, 6 times of 84.
        assert!((mean(&delays) - (0.684 + 86.25 * 6.0 / 84.0)).abs() < 0.15, "{}", mean(&delays));
        let spikes = delays.iter().filter(|delay| **delay > 20.0).count() as f64 / delays.len() as f64;
        assert!((spikes * 84.0 - 6.0).abs() < 0.2, "{spikes}");
        assert!((180.0..260.0).contains(&delays[199_999]), "{}", delays[199_999]);
        assert!(drawn(Noise::Wifi { mean: ms(1) }.into())[199_999] < 12.0, "no spike");
    }

    #[test]
    fn correlation_keeps_the_mean_and_narrows_the_rest() {
        let uniform = Noise::Uniform(ms(12));
        let plain = drawn(uniform.into());
        let correlated = drawn(Jitter { correlation: 0.6, ..uniform.into() });
        assert!((mean(&correlated) - 6.0).abs() < 0.05, "{}", mean(&correlated));
        // The variance is that of the draws times 0.4 / 1.6.
        assert!((deviation(&correlated) / deviation(&plain) - 0.5).abs() < 0.01, "{}", deviation(&correlated));
    }
}
