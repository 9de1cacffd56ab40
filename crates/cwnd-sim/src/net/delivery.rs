//! A line that transmits at recorded instants only.

use std::sync::Arc;

use cwnd::{Bytes, Time};
use thiserror::Error;

use super::light::{self, LightTrace, MAX_INSTANT, MILLISECOND, Trains};

/// A packet-delivery trace of Mahimahi (Netravali et al., USENIX ATC 2015): instants in milliseconds at each of which a link can
/// transmit 1504 bytes, repeated without end. With a [light trace](Self::with_light) it is the heavy one of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Milliseconds; ascending, the last one is the period.
    instants: Vec<u64>,
    /// Bytes at each.
    opportunity: Bytes,
    light: Option<Arc<LightTrace>>,
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
    /// What comes first where a light trace belongs to it.
    trains: Option<Box<Trains>>,
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
            Ok(Self { instants, opportunity: OPPORTUNITY, light: None })
        }
    }

    /// This as the heavy trace next to a light one. A line that has been idle follows a train of the light trace; what the train does not
    /// carry follows the heavy one, until the line is idle again. An opportunity of either carries 1400 bytes.
    #[must_use]
    pub fn with_light(self, light: LightTrace) -> Self {
        Self { opportunity: light::OPPORTUNITY, light: Some(Arc::new(light)), ..self }
    }

    /// The light trace of the pair.
    #[must_use]
    pub fn light(&self) -> Option<&LightTrace> {
        self.light.as_deref()
    }

    /// The mean rate, bit/s; of a pair, that of the heavy trace.
    #[must_use]
    pub fn mean_rate(&self) -> u64 {
        let bits = self.instants.len() as u64 * u64::from(self.opportunity.0) * 8;
        (bits * 1000).div_ceil(self.period())
    }

    /// Bytes that could have been carried until `now`; of a pair, by the heavy trace.
    pub(crate) fn capacity(&self, now: Time) -> u64 {
        let millis = now.as_nanos() / MILLISECOND;
        let (whole, rest) = (millis / self.period(), millis % self.period());
        // The instants of 0 of the repetition that begins now have come too, and before it all those of the ones before.
        let begun = self.instants.partition_point(|instant| *instant <= rest) as u64;
        (whole * self.instants.len() as u64 + begun) * u64::from(self.opportunity.0)
    }

    fn period(&self) -> u64 {
        self.instants.last().copied().unwrap_or(1)
    }
}

impl Deliveries {
    pub(crate) fn new(trace: Arc<DeliveryTrace>) -> Self {
        let trains = trace.light.as_ref().map(|light| Box::new(Trains::new(Arc::clone(light))));
        Self { begin: 0, index: 0, left: trace.opportunity.0, trains, trace }
    }

    /// Transmits a packet that is there at `from` (nanoseconds), behind those before it; when its last byte leaves. An opportunity at
    /// `from` itself is used, and what a packet leaves of one only by packets that are there by then, as in Mahimahi's `LinkQueue`,
    /// where a packet misses the opportunities of the millisecond of its arrival.
    pub(crate) fn carry(&mut self, from: u64, size: Bytes) -> u64 {
        let Some(trains) = &mut self.trains else { return self.carry_heavily(from, size) };
        let carried = trains.carry(from, size);
        let left = carried.unwrap_or_else(|(from, rest)| self.carry_heavily(from, rest));
        if let Some(trains) = &mut self.trains {
            trains.end(left);
        }
        left
    }

    fn carry_heavily(&mut self, from: u64, size: Bytes) -> u64 {
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
        self.left = self.trace.opportunity.0;
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
        self.left = self.trace.opportunity.0;
    }
}

/// The size of an opportunity: a frame of Ethernet with the four bytes that Mahimahi's TUN devices add.
const OPPORTUNITY: Bytes = Bytes(1504);

#[cfg(test)]
mod tests {
    use cwnd::Span;
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

    /// Trains of 1400 bytes at once, 1400 after 4 ms and, from 100 ms on, at once alone; heavily, 1400 bytes every 10 ms.
    fn pair(idle: u64) -> Deliveries {
        let light = LightTrace::parse("0 0 0 4\n100 0 0\n200 0", Span::from_millis(idle)).expect("a light trace");
        Deliveries::new(Arc::new(DeliveryTrace::parse("10").expect("a trace").with_light(light)))
    }

    #[test]
    fn a_train_comes_first_and_the_heavy_trace_follows() {
        let mut pair = pair(5);
        // The first packet opens the train at 3 ms, the second takes its end, the others wait for the heavy trace.
        assert_eq!(carried(&mut pair, 3, [1400; 5]), [3, 7, 10, 20, 30]);
        assert_eq!(carried(&mut pair, 34, [1400]), [40], "idle for 4 ms, which is too short for another train");
        assert_eq!(carried(&mut pair, 45, [1400]), [50], "exactly as long as `idle`");
        assert_eq!(carried(&mut pair, 56, [1400; 4]), [56, 60, 60, 70], "an opportunity of each trace at 60 ms");
        assert_eq!(carried(&mut pair, 123, [1400; 2]), [123, 130], "the second train has one opportunity");
        assert_eq!(carried(&mut pair, 207, [1400; 2]), [207, 211], "the first train again");
    }

    #[test]
    fn a_train_that_is_not_used_in_time_is_gone() {
        // The second packet comes 5 ms into a train whose last opportunity was after 4 ms.
        let mut late = pair(5);
        assert_eq!((carried(&mut late, 3, [1400]), carried(&mut late, 8, [1400])), ([3], [10]));
        let mut timely = pair(5);
        assert_eq!((carried(&mut timely, 3, [1400]), carried(&mut timely, 5, [1400])), ([3], [7]));
        // Without a time, every packet that finds the line idle opens a train.
        let mut eager = pair(0);
        assert_eq!([3, 4, 5].map(|at| carried(&mut eager, at, [1400])), [[3], [4], [5]]);
    }

    #[test]
    fn a_packet_larger_than_an_opportunity_takes_several() {
        // 1500 bytes: 1400 at once and 100 after 4 ms. Of the next, 1300 there and 200 with the heavy trace; then 1200 and 300.
        assert_eq!(carried(&mut pair(5), 0, [1500; 3]), [4, 10, 20]);
    }

    #[test]
    fn the_capacity_of_a_pair_is_that_of_its_heavy_trace() {
        let trace = pair(5).trace;
        assert_eq!((trace.mean_rate(), trace.capacity(Time::from_nanos(25 * MILLISECOND))), (1_120_000, 2800));
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
            let mut ours = Deliveries::new(Arc::new(DeliveryTrace { instants: instants.clone(), opportunity: OPPORTUNITY, light: None }));
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
