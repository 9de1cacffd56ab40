//! A lower bound for the capacity that packet pairs measure, from the sending history (daimd section VII, footnote 5).

use cwnd::{Packets, Rate, Span, Time};

/// The rate at which packets were delivered without a loss over an interval: the capacity is at least this.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LosslessRate {
    /// When the interval began, and how many packets were acknowledged then.
    from: Option<(Time, u64)>,
    rate: Option<Rate>,
}

impl LosslessRate {
    /// `capacity`, or the measured rate if that is more.
    pub(super) fn raise(&self, capacity: Rate) -> Rate {
        self.rate.map_or(capacity, |rate| Rate(capacity.0.max(rate.0)))
    }

    /// A packet was lost: the interval begins anew.
    pub(super) fn interrupt(&mut self) {
        self.from = None;
    }

    /// Packets `..upto` have arrived, none of them lost since `from`.
    pub(super) fn advance(&mut self, now: Time, upto: u64) {
        let Some((since, first)) = self.from else {
            self.from = Some((now, upto));
            return;
        };
        let elapsed = now.since(since);
        if elapsed >= INTERVAL {
            self.rate = Some(Packets((upto - first) as f64) / elapsed);
            self.from = Some((now, upto));
        }
    }
}

/// Ten acknowledgements of libudt: the jitter of their clock stays below a tenth.
const INTERVAL: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn only_an_interval_without_a_loss_counts() {
        let mut proven = LosslessRate::default();
        proven.advance(at(0), 0);
        proven.advance(at(50), 500);
        assert_eq!(proven.raise(Rate(10.0)), Rate(10.0), "too short");
        proven.advance(at(100), 1000);
        assert_eq!(proven.raise(Rate(10.0)), Rate(10_000.0));
        assert_eq!(proven.raise(Rate(20_000.0)), Rate(20_000.0));
        proven.interrupt();
        proven.advance(at(150), 9000);
        proven.advance(at(250), 9500);
        assert_eq!(proven.raise(Rate(10.0)), Rate(5000.0), "what a closed hole acknowledges at once does not count");
    }
}
