//! What the sending history says against the capacity that packet pairs show (daimd section VII, footnote 5).

use cwnd::{Packets, Rate, Span, Time};

/// The rate at which packets got through without a loss, over a while: a capacity below it is refuted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LosslessRate {
    /// The while began then, with so many packets acknowledged.
    from: Option<(Time, u64)>,
    rate: Option<Rate>,
}

impl LosslessRate {
    /// `capacity`, or what has been proven to be possible if that is more.
    pub(super) fn refute(&self, capacity: Rate) -> Rate {
        self.rate.map_or(capacity, |rate| Rate(capacity.0.max(rate.0)))
    }

    /// Something was lost: what is acknowledged next proves nothing yet.
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
        if elapsed >= PROOF {
            self.rate = Some(Packets((upto - first) as f64) / elapsed);
            self.from = Some((now, upto));
        }
    }
}

/// Ten acknowledgements of libudt: the jitter of their clock stays below a tenth.
const PROOF: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn only_time_without_a_loss_proves_a_rate() {
        let mut proven = LosslessRate::default();
        proven.advance(at(0), 0);
        proven.advance(at(50), 500);
        assert_eq!(proven.refute(Rate(10.0)), Rate(10.0), "too short");
        proven.advance(at(100), 1000);
        assert_eq!(proven.refute(Rate(10.0)), Rate(10_000.0));
        assert_eq!(proven.refute(Rate(20_000.0)), Rate(20_000.0));
        proven.interrupt();
        proven.advance(at(150), 9000);
        proven.advance(at(250), 9500);
        assert_eq!(proven.refute(Rate(10.0)), Rate(5000.0), "what a closed hole acknowledges at once does not count");
    }
}
