//! The transmitter of a link.

use std::sync::Arc;

use cwnd::{Bytes, Time};

use super::bucket::Bucket;
use super::delivery::Deliveries;
use super::setup::{Impairments, LinkSetup};
use super::steps::{Schedule, Steps};

/// When the line is next free, exactly: whole nanoseconds and a remainder in units of 1/rate nanoseconds.
///
/// Where the rate changes during a transmission, the bits that are left go on at the new rate; at rate 0 they wait. The changes
/// are known beforehand, so that the end of a transmission is known when it begins.
#[derive(Debug)]
pub(crate) struct Line {
    rate: u64,
    free: u64,
    /// 0 if `free` is `change` or later.
    remainder: u64,
    /// From here on `rate` no longer holds; the end of time for a constant rate.
    change: u64,
    /// Transmission time at `rate` of the last size seen, whole and remainder: most packets of a link have one size.
    cached: (Bytes, u64, u64),
    varying: Option<Box<Varying>>,
}

/// The variation of the rate of a line.
#[derive(Debug)]
pub(crate) enum Varying {
    Steps(Steps<u64>),
    /// A packet waits for tokens, and is transmitted at the line's rate then.
    Shaper(Bucket),
    Deliveries(Deliveries),
}

/// The capacity of a link over time: that of its line, or less if a policer in front of it passes less. Saved tokens of a policer are
/// left out.
#[derive(Debug)]
pub(crate) struct Capacity {
    /// Of the line or of the policer, whichever is slower, bit/s.
    rate: u64,
    varying: Option<Varying>,
    /// `u64::MAX` without one.
    policer: u64,
    /// For a policer that changes.
    policers: Option<Steps<u64>>,
    line: u64,
}

impl Line {
    /// An idle line of `rate` bit/s, unless something varies.
    pub(crate) fn new(rate: u64, varying: Option<Varying>) -> Self {
        let change = if varying.is_some() { 0 } else { u64::MAX };
        Self { rate, free: 0, remainder: 0, change, cached: NOTHING, varying: varying.map(Box::new) }
    }

    /// When a packet offered at `now` would begin transmission.
    #[inline]
    pub(crate) fn next_start(&self, now: Time) -> Time {
        self.free_at().max(now)
    }

    /// The line is free only once the remainder has passed too.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        Time::from_nanos(self.free + u64::from(self.remainder > 0))
    }

    /// Sends a packet of `size` that came at `now`, as soon as the line is free; when the last bit has left.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, size: Bytes) -> Time {
        if self.free < now.as_nanos() {
            self.free = now.as_nanos();
            self.remainder = 0;
        }
        self.follow(size)
    }

    /// Sends a packet of `size` right behind the one before; when the last bit has left.
    #[inline(always)]
    pub(crate) fn follow(&mut self, size: Bytes) -> Time {
        if self.cached.0 != size {
            self.divide(size);
        }
        let (mut free, mut remainder) = (self.free.saturating_add(self.cached.1), self.remainder + self.cached.2);
        if remainder >= self.rate {
            remainder -= self.rate;
            free += 1;
        }
        if free >= self.change {
            return self.follow_varying(size);
        }
        (self.free, self.remainder) = (free, remainder);
        self.free_at()
    }

    /// Works out how long a packet of `size` takes.
    #[cold]
    #[inline(never)]
    fn divide(&mut self, size: Bytes) {
        // During an outage the result is of no use: the rate changes before the end.
        let (bits, rate) = (bit_nanos(size), u128::from(self.rate.max(1)));
        self.cached = (size, (bits / rate) as u64, (bits % rate) as u64);
    }

    /// [`follow`](Self::follow) for a line that varies.
    #[cold]
    fn follow_varying(&mut self, size: Bytes) -> Time {
        match self.varying.as_deref_mut() {
            None => self.free_at(),
            Some(Varying::Steps(_)) => self.follow_over_changes(size),
            Some(Varying::Shaper(bucket)) => {
                let at = bucket.reserve(self.free + u64::from(self.remainder > 0), size);
                if at > self.free + u64::from(self.remainder > 0) {
                    (self.free, self.remainder) = (at, 0);
                }
                let end = u128::from(self.remainder) + bit_nanos(size);
                self.free = self.free.saturating_add((end / u128::from(self.rate)) as u64);
                self.remainder = (end % u128::from(self.rate)) as u64;
                self.free_at()
            }
            Some(Varying::Deliveries(deliveries)) => {
                self.free = deliveries.carry(self.free, size);
                self.free_at()
            }
        }
    }

    /// [`follow`](Self::follow) where the rate changes before the last bit has left.
    fn follow_over_changes(&mut self, size: Bytes) -> Time {
        let Some(Varying::Steps(steps)) = self.varying.as_deref() else { return self.free_at() };
        let mut left = bit_nanos(size);
        if let Some((period, carried)) = steps.cycle() {
            // All but the last of the whole periods this takes.
            let periods = left.saturating_sub(1) / carried;
            left -= periods * carried;
            let skipped = u64::try_from(periods).unwrap_or(u64::MAX).saturating_mul(period);
            (self.free, self.change) = (self.free.saturating_add(skipped), self.change.saturating_add(skipped));
        }
        loop {
            if self.free == u64::MAX {
                self.remainder = 0;
                return Time::MAX;
            }
            if self.free >= self.change {
                (self.rate, self.change) = steps.at(self.free);
                self.cached = NOTHING;
            }
            let rate = u128::from(self.rate);
            let fits = rate * u128::from(self.change - self.free) - u128::from(self.remainder);
            if left <= fits {
                let end = u128::from(self.remainder) + left;
                self.free += (end / rate) as u64;
                self.remainder = (end % rate) as u64;
                return self.free_at();
            }
            left -= fits;
            (self.free, self.remainder) = (self.change, 0);
        }
    }
}

impl Varying {
    /// Limits of the line of a link with this setup, besides its rate.
    pub(crate) fn of(link: &LinkSetup, rate: u64) -> Option<Self> {
        let shaper = || link.impairments.shaper.map(|bucket| Self::Shaper(Bucket::new(bucket)));
        let deliveries = || link.deliveries.as_ref().map(|trace| Self::Deliveries(Deliveries::new(Arc::clone(trace))));
        Steps::new(rate, &link.rate_steps).map(Self::Steps).or_else(shaper).or_else(deliveries)
    }
}

impl Capacity {
    /// That of a link as set up; none of a link of pure delay.
    pub(crate) fn of(link: &LinkSetup) -> Option<Self> {
        let line = link.rate?;
        let rate = |phase: &Impairments| phase.policer.map_or(u64::MAX, |bucket| bucket.rate);
        let policer = rate(&link.impairments);
        let later = link.phases.steps.iter().map(|(at, phase)| (*at, rate(&phase.impairments)));
        let phases = Schedule { steps: later.collect(), repeat: link.phases.repeat };
        let policers = Steps::new(policer, &phases).filter(|_| phases.steps.iter().any(|(_, rate)| *rate != policer));
        let varying = match (Varying::of(link, line), &policers) {
            (None, Some(policers)) => Some(Varying::Steps(policers.clone().limited(line))),
            (Some(Varying::Steps(steps)), Some(policers)) => Some(Varying::Steps(steps.least(policers))),
            (Some(Varying::Steps(steps)), None) => Some(Varying::Steps(steps.limited(policer))),
            (other, _) => other,
        };
        Some(Self { rate: line.min(policer), varying, policer, policers, line })
    }

    /// Bytes until `now`; none where it is the rate of the line all the time.
    pub(crate) fn bytes(&self, now: Time) -> Option<u64> {
        let constant = self.varying.is_none() && self.rate == self.line;
        (!constant).then(|| (self.integral(now) / bit_nanos(Bytes(1))) as u64)
    }

    /// Bits per second times nanoseconds until `now`.
    fn integral(&self, now: Time) -> u128 {
        let at = |rate: u64| u128::from(rate) * u128::from(now.as_nanos());
        match &self.varying {
            None => at(self.rate),
            Some(Varying::Steps(steps)) => steps.integral(now.as_nanos()),
            Some(Varying::Shaper(bucket)) => {
                let line = bucket.integral(now).min(at(self.rate));
                self.policers.as_ref().map_or(line, |policers| line.min(policers.integral(now.as_nanos())))
            }
            Some(Varying::Deliveries(deliveries)) => {
                let policers = self.policers.as_ref().map_or(at(self.policer), |steps| steps.integral(now.as_nanos()));
                (u128::from(deliveries.trace.capacity(now)) * bit_nanos(Bytes(1))).min(policers)
            }
        }
    }
}

impl LinkSetup {
    /// The mean capacity of the link over a span of time, bit/s: the rate of its line, its shaper or its policer, whichever is lowest.
    /// None for a link of pure delay.
    #[must_use]
    pub fn mean_rate(&self, from: Time, to: Time) -> Option<f64> {
        let capacity = Capacity::of(self)?;
        let (begin, end) = (from.as_nanos(), to.as_nanos());
        Some(match &capacity.varying {
            Some(_) if end > begin => {
                capacity.integral(to).saturating_sub(capacity.integral(from)) as f64 / (end - begin) as f64
            }
            Some(Varying::Steps(steps)) => steps.at(begin).0 as f64,
            _ => capacity.rate as f64,
        })
    }
}

/// The bits of a packet times the nanoseconds of a second: divided by a rate, nanoseconds.
#[inline]
fn bit_nanos(size: Bytes) -> u128 {
    u128::from(size.0) * 8 * 1_000_000_000
}

const NOTHING: (Bytes, u64, u64) = (Bytes(0), 0, 0);

#[cfg(test)]
mod tests {
    use cwnd::Span;
    use proptest::prelude::*;

    use super::*;
    use crate::net::delivery::DeliveryTrace;
    use crate::net::setup::{NodeId, QueueLimit, TokenBucket};
    use crate::net::steps::Schedule;

    fn line(rate: u64, steps: &[(u64, u64)], repeat: Option<u64>) -> Line {
        let steps = steps.iter().map(|(at, rate)| (Span::from_nanos(*at), *rate)).collect();
        let schedule = Schedule { steps, repeat: repeat.map(Span::from_nanos) };
        Line::new(rate, Steps::new(rate, &schedule).map(Varying::Steps))
    }

    #[test]
    fn seven_gigabit_is_seven_gigabit() {
        // 1500 bytes take 1714.28… ns: rounding each one would be off by 0.02 %.
        let mut line = line(7_000_000_000, &[], None);
        let last = (0..7_000_000).map(|_| line.follow(Bytes(1500))).last();
        assert_eq!(last, Some(Time::from_nanos(12_000_000_000)));
    }

    #[test]
    fn bits_that_are_left_go_on_at_the_new_rate() {
        // 1000 bytes at 8 Mbit/s take 1 ms. After 0.25 ms the rate is a quarter: 0.75 ms of work take 3 ms.
        let mut slower = line(8_000_000, &[(250_000, 2_000_000)], None);
        assert_eq!(slower.send(Time::ZERO, Bytes(1000)), Time::from_nanos(3_250_000));
        assert_eq!(
            slower.follow(Bytes(1000)),
            Time::from_nanos(7_250_000),
            "the next one is at the new rate altogether"
        );
        // Twice the rate for the second half, and back: 0.5 ms, 0.2 ms at double, 0.1 ms.
        let mut twice = line(8_000_000, &[(500_000, 16_000_000), (700_000, 8_000_000)], None);
        assert_eq!(twice.send(Time::ZERO, Bytes(1000)), Time::from_nanos(800_000));
        // 8 bits at 3 Gbit/s take 2 2/3 ns. The next 4 bits take until the change at 4 ns, the last 4 at 2 Gbit/s 2 ns.
        let mut thirds = line(3_000_000_000, &[(4, 2_000_000_000)], None);
        assert_eq!(thirds.send(Time::ZERO, Bytes(1)), Time::from_nanos(3));
        assert_eq!(thirds.follow(Bytes(1)), Time::from_nanos(6));
    }

    #[test]
    fn an_outage_holds_the_packet_it_meets() {
        // 0.4 ms of work done, 5 ms of outage, 0.6 ms left.
        let mut line = line(8_000_000, &[(400_000, 0), (5_400_000, 8_000_000)], None);
        assert_eq!(line.send(Time::ZERO, Bytes(1000)), Time::from_nanos(6_000_000));
        assert_eq!(line.send(Time::from_nanos(9_000_000), Bytes(1000)), Time::from_nanos(10_000_000));
        let mut dead = self::line(8_000_000, &[(0, 0), (3_000_000, 8_000_000)], None);
        assert_eq!(
            dead.send(Time::from_nanos(1), Bytes(1000)),
            Time::from_nanos(4_000_000),
            "offered while it is down"
        );
    }

    #[test]
    fn a_packet_may_take_many_periods() {
        // On for 1 µs in 10 µs at 8 Mbit/s: a byte in each period, the last one at the end of the on-time.
        let mut line = line(8_000_000, &[(1_000, 0)], Some(10_000));
        assert_eq!(line.send(Time::ZERO, Bytes(1000)), Time::from_nanos(999 * 10_000 + 1_000));
        assert_eq!(line.follow(Bytes(1)), Time::from_nanos(1000 * 10_000 + 1_000));
    }

    #[test]
    fn a_packet_that_never_ends_leaves_at_the_end_of_time() {
        // A bit in 10^9 s.
        let mut line = line(1, &[(1, 0)], Some(1_000_000_000));
        assert_eq!(line.send(Time::ZERO, Bytes(1500)), Time::MAX);
        assert_eq!(line.follow(Bytes(1500)), Time::MAX);
    }

    #[test]
    fn a_shaper_lets_a_burst_pass_at_the_rate_of_the_line() {
        // 1000 bytes take 1 ms on the line; two of them are in the bucket, which takes 4 ms for each further one.
        let bucket = TokenBucket { rate: 2_000_000, burst: Bytes(2000) };
        let shaper = || Some(Varying::Shaper(Bucket::new(bucket)));
        let mut line = Line::new(8_000_000, shaper());
        let left: Vec<_> = (0..5).map(|_| line.send(Time::ZERO, Bytes(1000)).as_nanos() / 1_000_000).collect();
        // At 2 ms half a packet has come into the bucket: the third goes at 4 ms.
        assert_eq!(left, [1, 2, 5, 9, 13]);
        let capacity =
            Capacity { rate: 8_000_000, varying: shaper(), policer: u64::MAX, policers: None, line: 8_000_000 };
        assert_eq!(capacity.bytes(Time::from_nanos(8_000_000)), Some(4000), "2000 and 8 ms of 2 Mbit/s");
        assert_eq!(capacity.bytes(Time::from_nanos(1_000_000)), Some(1000), "not more than the line carries");
    }

    #[test]
    fn what_a_policer_lets_pass_is_the_capacity() {
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        let policed = |steps: &[(u64, u64)]| {
            let mut link = LinkSetup::new(
                String::new(),
                (NodeId(0), NodeId(1)),
                Some(8_000_000),
                Span::ZERO,
                QueueLimit::Unlimited,
            );
            link.rate_steps.steps = steps.iter().map(|(millis, rate)| (Span::from_millis(*millis), *rate)).collect();
            link.impairments.policer = Some(TokenBucket { rate: 4_000_000, burst: Bytes(9000) });
            link
        };
        let capacity = |link: &LinkSetup, millis| Capacity::of(link).and_then(|capacity| capacity.bytes(at(millis)));
        assert_eq!(capacity(&policed(&[]), 10), Some(5000));
        assert_eq!(policed(&[]).mean_rate(at(0), at(10)), Some(4e6));
        // 4 Mbit/s, and from 10 ms on 2 Mbit/s, which the line does not carry faster for what the policer kept back before.
        let slower = policed(&[(10, 2_000_000)]);
        assert_eq!(capacity(&slower, 20), Some(7500));
        assert_eq!(slower.mean_rate(at(10), at(20)), Some(2e6));
        let mut loose = policed(&[]);
        loose.impairments.policer = Some(TokenBucket { rate: 9_000_000, burst: Bytes(9000) });
        assert_eq!((capacity(&loose, 10), loose.mean_rate(at(0), at(10))), (None, Some(8e6)));
    }

    #[test]
    fn a_line_follows_a_delivery_trace() {
        let trace = DeliveryTrace::parse("3\n3\n10").expect("a trace");
        let mut line = Line::new(trace.mean_rate(), Some(Varying::Deliveries(Deliveries::new(Arc::new(trace)))));
        let mut send =
            |millis: u64| line.send(Time::from_nanos(millis * 1_000_000), Bytes(1500)).as_nanos() / 1_000_000;
        // The third of the second packet's bytes that the first opportunity has no room for goes with the second one.
        assert_eq!([0, 0, 1, 8, 25].map(&mut send), [3, 3, 10, 13, 30]);
    }

    proptest! {
        #[test]
        fn a_busy_line_carries_the_integral_of_its_rate(
            rate in 1_000_000_u64..50_000_000,
            gaps in proptest::collection::vec((1_u64..3_000_000, prop_oneof![Just(0), 1_000_000_u64..50_000_000]), 0..6),
            tail in proptest::option::of(1_u64..3_000_000),
            sizes in proptest::collection::vec(1_u32..9000, 1..50),
        ) {
            let mut at = 0;
            let mut steps: Vec<_> = gaps.into_iter().map(|(gap, rate)| { at += gap; (at, rate) }).collect();
            if let (None, Some(last)) = (tail, steps.last_mut()) {
                last.1 = last.1.max(1);
            }
            let mut line = line(rate, &steps, tail.map(|tail| at + tail));
            let Line { varying, .. } = self::line(rate, &steps, tail.map(|tail| at + tail));
            let mut bits = 0;
            for size in sizes {
                let end = line.follow(Bytes(size)).as_nanos();
                bits += bit_nanos(Bytes(size));
                let integral = |at| match varying.as_deref() {
                    Some(Varying::Steps(steps)) => steps.integral(at),
                    _ => u128::from(rate) * u128::from(at),
                };
                // The last bit has left by the nanosecond named, and had not one nanosecond earlier.
                prop_assert!(integral(end) >= bits);
                prop_assert!(integral(end - 1) < bits);
            }
        }
    }
}
