//! A token bucket.

use cwnd::{Bytes, Time};

use super::setup::TokenBucket;

/// A bucket that fills at a rate and is emptied by packets. It begins full.
///
/// Tokens are bits times the nanoseconds of a second, so that those of a nanosecond are a whole number.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: u64,
    capacity: i128,
    tokens: i128,
    /// When the tokens were counted, nanoseconds.
    at: u64,
}

impl Bucket {
    pub(crate) fn new(bucket: TokenBucket) -> Self {
        let capacity = tokens(bucket.burst);
        Self { rate: bucket.rate, capacity, tokens: capacity, at: 0 }
    }

    /// Takes the tokens of a packet at `now`; whether there were enough. If there are not, none is taken.
    pub(crate) fn admit(&mut self, now: Time, size: Bytes) -> bool {
        self.fill(now.as_nanos());
        let enough = self.tokens >= tokens(size);
        if enough {
            self.tokens -= tokens(size);
        }
        enough
    }

    /// Takes the tokens of a packet as soon from `from` (nanoseconds) on as there are enough, and says when that is. A packet larger than
    /// the bucket goes when this is full, and leaves it in debt.
    pub(crate) fn reserve(&mut self, from: u64, size: Bytes) -> u64 {
        self.fill(from);
        let missing = tokens(size).min(self.capacity) - self.tokens;
        // A wait beyond the end of time is as long as one to it.
        let wait = u64::try_from(missing.max(0).cast_unsigned().div_ceil(u128::from(self.rate))).unwrap_or(u64::MAX);
        let at = self.at.saturating_add(wait);
        self.fill(at);
        self.tokens -= tokens(size);
        at
    }

    /// What may have passed until `now`, in bits per second times nanoseconds.
    pub(crate) fn integral(&self, now: Time) -> u128 {
        self.capacity.cast_unsigned() + u128::from(self.rate) * u128::from(now.as_nanos())
    }

    /// Time never goes back.
    fn fill(&mut self, now: u64) {
        if let Some(passed) = now.checked_sub(self.at) {
            self.tokens = self.capacity.min(self.tokens + i128::from(self.rate) * i128::from(passed));
            self.at = now;
        }
    }
}

fn tokens(size: Bytes) -> i128 {
    i128::from(size.0) * 8 * 1_000_000_000
}

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;

    /// 1000 bytes a millisecond, and 3000 at once.
    const BUCKET: TokenBucket = TokenBucket { rate: 8_000_000, burst: Bytes(3000) };

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut bucket = Bucket::new(BUCKET);
        let passed = |bucket: &mut Bucket, at| (0..9).filter(|_| bucket.admit(at, Bytes(1000))).count();
        assert_eq!([0, 1, 3, 100].map(|at| passed(&mut bucket, ms(at))), [3, 1, 2, 3]);
        assert!(!bucket.admit(ms(1000), Bytes(3001)), "larger than the bucket");
    }

    #[test]
    fn what_waits_goes_when_there_are_tokens() {
        let mut bucket = Bucket::new(BUCKET);
        let at = [1000, 2000, 1000, 500, 6000, 1].map(|size| bucket.reserve(0, Bytes(size)));
        // The packet of 6000 bytes waits for a full bucket, 3 ms, and the next one for the debt of another 3 ms.
        assert_eq!(at, [0, 0, 1_000_000, 1_500_000, 4_500_000, 7_501_000]);
        assert_eq!(bucket.reserve(20_000_000, Bytes(3000)), 20_000_000);
    }
}
