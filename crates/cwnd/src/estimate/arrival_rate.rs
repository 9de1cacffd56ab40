//! The rate at which packets reach a receiver: UDT's AS.

use super::gaps::Gaps;
use crate::units::{Packets, Rate, Span, Time};

/// The arrival rate by a median filter over 16 gaps: gaps far from the median are pauses or bursts of the sender and do not
/// count; the rest is averaged if more than half of the gaps is left.
#[derive(Clone, Debug)]
pub struct ArrivalRate {
    gaps: Gaps<16>,
    range: u64,
    /// When the newest packets arrived, how many of them at that instant, and how long after the ones before.
    last: Option<(Time, u64, Option<Span>)>,
}

impl ArrivalRate {
    /// Gaps above half and below twice the median count (the author's ns-2 agent of 2006).
    #[must_use]
    pub const fn ns2() -> Self {
        Self::within(2)
    }

    /// Gaps above an eighth and below eight times the median count (libudt 4.11).
    #[must_use]
    pub const fn udt4() -> Self {
        Self::within(8)
    }

    const fn within(range: u64) -> Self {
        Self { gaps: Gaps::new(), range, last: None }
    }

    /// A packet arrived. Those that arrive at one instant, because a host reads them together, share the gap before them.
    pub fn on_packet(&mut self, at: Time) {
        self.last = Some(match self.last {
            Some((last, count, gap)) if last == at => {
                if let Some(gap) = gap {
                    self.gaps.replace(gap / (count + 1));
                }
                (at, count + 1, gap)
            }
            Some((last, ..)) => {
                let gap = at.since(last);
                self.gaps.add(gap);
                (at, 1, Some(gap))
            }
            None => (at, 1, None),
        });
    }

    /// The rate; none before 16 gaps are known, and where the gaps scatter too much to tell.
    ///
    /// Both sources fill the gaps not yet seen with a second and report from the start; libudt's sender takes that for a rate of a
    /// few packets per second.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        let median = self.gaps.median().filter(|_| self.gaps.is_full())?;
        let (count, sum) = self.gaps.near(median, self.range);
        (count > 8).then(|| Packets(count as f64) / Span::from_nanos(sum.min(u128::from(u64::MAX)) as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn rate_of(mut filter: ArrivalRate, gaps: &[u64]) -> Option<Rate> {
        let mut now = Time::ZERO;
        filter.on_packet(now);
        for gap in gaps {
            now += Span::from_micros(*gap);
            filter.on_packet(now);
        }
        filter.rate()
    }

    #[test]
    fn sixteen_gaps_make_a_rate() {
        assert_eq!(rate_of(ArrivalRate::ns2(), &[100; 15]), None);
        assert_eq!(rate_of(ArrivalRate::ns2(), &[100; 16]), Some(Rate(10_000.0)));
        assert_eq!(rate_of(ArrivalRate::udt4(), &[100; 16]), Some(Rate(10_000.0)));
        let mut renewed = std::vec![700; 10];
        renewed.extend([100; 16]);
        assert_eq!(rate_of(ArrivalRate::ns2(), &renewed), Some(Rate(10_000.0)), "only the newest 16 count");
    }

    #[test]
    fn gaps_far_from_the_median_do_not_count() {
        // The median is 100. Exactly half and exactly twice of it are out by ns2's rule, in by udt4's.
        let gaps = [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50, 200, 50, 200];
        assert_eq!(rate_of(ArrivalRate::ns2(), &gaps), Some(Rate(10_000.0)));
        // 12 * 100 + 500 = 1700 us for 16 gaps.
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Packets(16.0) / Span::from_micros(1700)));
        // A pause of ten round trips is out by both.
        let mut paused = [100; 16];
        paused[3] = 1_000_000;
        assert_eq!(rate_of(ArrivalRate::udt4(), &paused), Some(Rate(10_000.0)));
    }

    #[test]
    fn half_of_the_gaps_is_not_enough() {
        // Sorted: 8 of 10, 8 of 100: the ninth smallest is 100, and 8 gaps are near it.
        let gaps = [10, 100, 10, 100, 10, 100, 10, 100, 10, 100, 10, 100, 10, 100, 10, 100];
        assert_eq!(rate_of(ArrivalRate::ns2(), &gaps), None);
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), None);
        let mut gaps = gaps;
        gaps[0] = 100;
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Rate(10_000.0)));
    }

    #[test]
    fn packets_read_together_share_the_gap_before_them() {
        // 16 batches of 10, a millisecond apart, are 10 000 packets per second.
        let gaps: Vec<u64> = (0..160).map(|n| if n % 10 == 0 { 1000 } else { 0 }).collect();
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Rate(10_000.0)));
    }

    #[test]
    fn packets_that_arrive_at_once_have_no_rate() {
        assert_eq!(rate_of(ArrivalRate::udt4(), &[0; 16]), None);
    }
}
