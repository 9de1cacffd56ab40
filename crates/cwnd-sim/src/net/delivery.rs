//! A line that transmits at recorded instants only.

use std::sync::Arc;

use cwnd::{Bytes, Time};
use thiserror::Error;

/// A packet-delivery trace of Mahimahi (Netravali et al., USENIX ATC 2015): instants in milliseconds at each of which a link can
/// transmit 1504 bytes, repeated without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Milliseconds; ascending, the last one is the period.
    instants: Vec<u64>,
}

/// A text is no delivery trace.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeliveryTraceError {
    /// It never delivers.
    #[error("a delivery trace has at least one line, and its last instant is above 0")]
    Empty,
    /// A line is no instant.
    #[error("line {line}: expected a whole number of milliseconds up to {MAX_INSTANT}, not `{text}`")]
    NotAnInstant {
        /// From 1.
        line: usize,
        /// Its text.
        text: String,
    },
    /// An instant lies before that of the line before.
    #[error("line {line}: {instant} ms lies before the {before} ms of the line before")]
    NotAscending {
        /// From 1.
        line: usize,
        /// Milliseconds.
        instant: u64,
        /// Milliseconds.
        before: u64,
    },
}

/// The used part of a delivery trace.
#[derive(Clone, Debug)]
pub(crate) struct Deliveries {
    pub(crate) trace: Arc<DeliveryTrace>,
    /// Begin of the repetition, milliseconds.
    begin: u64,
    /// The present opportunity.
    index: usize,
    /// Bytes it can still carry.
    left: u32,
}

impl DeliveryTrace {
    /// Reads a text with an instant on each line.
    ///
    /// # Errors
    /// A line is no whole number or lies before the one above, or there is no instant above 0.
    pub fn parse(text: &str) -> Result<Self, DeliveryTraceError> {
        let mut instants: Vec<u64> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let instant = text.trim().parse().ok().filter(|instant| *instant <= MAX_INSTANT);
            let not_an_instant = || DeliveryTraceError::NotAnInstant { line, text: text.chars().take(40).collect() };
            let instant = instant.ok_or_else(not_an_instant)?;
            match instants.last() {
                Some(before) if *before > instant => {
                    return Err(DeliveryTraceError::NotAscending { line, instant, before: *before });
                }
                _ => instants.push(instant),
            }
        }
        if instants.last().is_none_or(|period| *period == 0) {
            Err(DeliveryTraceError::Empty)
        } else {
            Ok(Self { instants })
        }
    }

    /// The mean rate, bit/s.
    #[must_use]
    pub fn mean_rate(&self) -> u64 {
        let bits = self.instants.len() as u64 * u64::from(OPPORTUNITY.0) * 8;
        (bits * 1000).div_ceil(self.period())
    }

    /// Bytes that could have been carried until `now`.
    pub(crate) fn capacity(&self, now: Time) -> u64 {
        let millis = now.as_nanos() / MILLISECOND;
        let (whole, rest) = (millis / self.period(), millis % self.period());
        // The instants of 0 of the repetition that begins now have come too, and before it all those of the ones before.
        let begun = self.instants.partition_point(|instant| *instant <= rest) as u64;
        (whole * self.instants.len() as u64 + begun) * u64::from(OPPORTUNITY.0)
    }

    fn period(&self) -> u64 {
        self.instants.last().copied().unwrap_or(1)
    }
}

impl Deliveries {
    pub(crate) fn new(trace: Arc<DeliveryTrace>) -> Self {
        Self { trace, begin: 0, index: 0, left: OPPORTUNITY.0 }
    }

    /// Transmits a packet that is there at `from` (nanoseconds), behind those before it; when its last byte leaves. An opportunity at
    /// `from` itself is used, and what a packet leaves of one only by packets that are there by then, as in Mahimahi's `LinkQueue`,
    /// where a packet misses the opportunities of the millisecond of its arrival.
    pub(crate) fn carry(&mut self, from: u64, size: Bytes) -> u64 {
        if self.at() < from {
            self.seek(from);
        }
        let mut left = size.0;
        loop {
            let part = left.min(self.left);
            (left, self.left) = (left - part, self.left - part);
            if left == 0 {
                return self.at();
            }
            self.advance();
        }
    }

    /// The instant of the present opportunity, nanoseconds; the end of time once that is reached.
    fn at(&self) -> u64 {
        (self.begin + self.trace.instants[self.index]).saturating_mul(MILLISECOND)
    }

    fn advance(&mut self) {
        self.index += 1;
        if self.index == self.trace.instants.len() {
            (self.begin, self.index) = (self.begin + self.trace.period(), 0);
        }
        self.left = OPPORTUNITY.0;
    }

    /// Goes on to the first opportunity at `from` or later, which lies after the present one.
    fn seek(&mut self, from: u64) {
        let millis = from.div_ceil(MILLISECOND);
        // One period less than have begun: the last instant of a repetition is the first of the next one.
        let begin = (millis.saturating_sub(1) / self.trace.period()) * self.trace.period();
        if begin > self.begin {
            (self.begin, self.index) = (begin, 0);
        }
        let later = &self.trace.instants[self.index..];
        self.index += later.partition_point(|instant| self.begin + *instant < millis);
        self.left = OPPORTUNITY.0;
    }
}

/// The size of an opportunity: a frame of Ethernet with the four bytes that Mahimahi's TUN devices add.
const OPPORTUNITY: Bytes = Bytes(1504);

const MILLISECOND: u64 = 1_000_000;

/// A year; sums of instants stay far within 64 bits.
const MAX_INSTANT: u64 = 31_536_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn deliveries(text: &str) -> Deliveries {
        Deliveries::new(Arc::new(DeliveryTrace::parse(text).expect("a trace")))
    }

    /// Milliseconds at which packets leave that are there at `from` ms.
    fn carried<const N: usize>(deliveries: &mut Deliveries, from: u64, sizes: [u32; N]) -> [u64; N] {
        sizes.map(|size| deliveries.carry(from * MILLISECOND, Bytes(size)) / MILLISECOND)
    }

    #[test]
    fn a_packet_leaves_at_each_opportunity() {
        let mut deliveries = deliveries("2\n2\n5\n10\n");
        assert_eq!(carried(&mut deliveries, 0, [1504; 9]), [2, 2, 5, 10, 12, 12, 15, 20, 22]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let mut deliveries = deliveries("1\n2\n3\n4\n5\n");
        assert_eq!(carried(&mut deliveries, 0, [752, 752, 1504, 2000, 1008, 1]), [1, 1, 2, 4, 4, 5]);
    }

    #[test]
    fn an_opportunity_that_nobody_used_is_gone() {
        let mut deliveries = deliveries("1\n2\n3\n4\n5\n");
        assert_eq!(carried(&mut deliveries, 0, [100]), [1]);
        assert_eq!(carried(&mut deliveries, 3, [1504, 1504]), [3, 4], "neither the rest of the first nor the second");
        assert_eq!(carried(&mut deliveries, 1234, [1504]), [1234]);
        assert_eq!(carried(&mut deliveries, 2005, [1504; 2]), [2005, 2006], "at the end of a repetition");
    }

    #[test]
    fn capacity_is_what_the_opportunities_carry() {
        let trace = DeliveryTrace::parse("0\n2\n2\n10").expect("a trace");
        let until = |nanos| trace.capacity(Time::from_nanos(nanos)) / 1504;
        assert_eq!([0, 1_999_999, 2_000_000, 9_999_999, 10_000_000, 12_000_000].map(until), [1, 1, 3, 3, 5, 7]);
        assert_eq!(trace.mean_rate(), 4 * 1504 * 8 * 100);
    }

    #[test]
    fn a_text_that_is_no_trace_is_refused_with_its_line() {
        let error = |text| DeliveryTrace::parse(text).expect_err("no trace").to_string();
        assert_eq!(error("1\n\n2"), "line 2: expected a whole number of milliseconds up to 31536000000, not ``");
        assert_eq!(error("1\n2.5"), "line 2: expected a whole number of milliseconds up to 31536000000, not `2.5`");
        assert_eq!(error("1\n7\n6"), "line 3: 6 ms lies before the 7 ms of the line before");
        assert_eq!(error(""), error("0\n0"));
        assert!(error("").starts_with("a delivery trace has at least one line"));
    }

    proptest! {
        /// The result of walking over one opportunity after the other, as Mahimahi does.
        #[test]
        fn opportunities_are_those_of_a_walk(
            gaps in proptest::collection::vec(0_u64..5, 1..20),
            last in 1_u64..5,
            packets in proptest::collection::vec((0_u64..40, 1_u32..4000), 1..60),
        ) {
            let mut at = 0;
            let mut instants: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
            instants.push(at + last);
            let period = at + last;
            let mut ours = Deliveries::new(Arc::new(DeliveryTrace { instants: instants.clone() }));
            let mut walk = (0..).flat_map(|n| instants.iter().map(move |instant| n * period + instant));
            let (mut now, mut left) = (walk.next().expect("endless"), 1504);
            let mut free = 0;
            let mut from = 0;
            for (gap, size) in packets {
                from += gap;
                let start = from.max(free);
                while now < start {
                    (now, left) = (walk.next().expect("endless"), 1504);
                }
                let mut rest = size;
                while rest > left {
                    rest -= left;
                    (now, left) = (walk.next().expect("endless"), 1504);
                }
                left -= rest;
                free = now;
                prop_assert_eq!(ours.carry(start * MILLISECOND, Bytes(size)) / MILLISECOND, now);
            }
        }
    }
}
