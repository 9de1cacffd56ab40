//! The rate at which packets reach a receiver: UDT's AS.

use super::gaps::Intervals;
use crate::units::{Packets, Rate, Span, Time};

/// The arrival rate by a median filter over 16 gaps: gaps far from the median are pauses or bursts of the sender and do not
/// count; the rest is averaged if more than half of the gaps is left.
#[derive(Clone, Debug)]
pub struct ArrivalRate {
    gaps: Intervals<16>,
    range: u64,
    least: Span,
    newest: Option<Newest>,
    /// Packets that made gaps.
    packets: u64,
}

/// The newest gap, and the arrivals since.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// Its end and its length.
    at: Time,
    span: Span,
    /// Packets that share it; none where a gap is yet to begin.
    packets: u64,
    /// The newest packet, and how many there are since the gap: too soon after it to make another.
    last: Time,
    since: u64,
}

impl ArrivalRate {
    /// Intervals above half and below twice the median count (the author's ns-2 agent of 2006).
    #[must_use]
    pub const fn ns2() -> Self {
        Self::new(2, Span::ZERO)
    }

    /// Intervals above an eighth and below eight times the median count (libudt 4.11). Where packets come faster than 16 in a SYN, several
    /// share a gap.
    ///
    /// In libudt each gap is one packet's. Whatever holds packets back for a moment and lets them go together (a radio, a network
    /// card, a host without a free processor) then sets all 16 gaps at once, to those of the bunch: a rate many times the path's.
    #[must_use]
    pub const fn udt4() -> Self {
        Self::new(8, LEAST)
    }

    const fn new(range: u64, least: Span) -> Self {
        Self { gaps: Intervals::new(), range, least, newest: None, packets: 0 }
    }

    /// A packet arrived. Those that arrive at one instant, because a host reads them together, share the gap before them.
    pub fn on_packet(&mut self, at: Time) {
        let begin = Newest { at, span: Span::ZERO, packets: 0, last: at, since: 0 };
        let Some(newest) = self.newest else {
            self.newest = Some(begin);
            return;
        };
        if at == newest.at && newest.packets > 0 {
            let packets = newest.packets + 1;
            self.gaps.replace(newest.span / packets);
            self.newest = Some(Newest { packets, ..newest });
        } else if newest.since > 0 && at.since(newest.last) >= self.least * self.range {
            // The sender paused behind a few packets, which make a gap of their own.
            self.close(newest, newest.last, newest.since);
            self.newest = Some(begin);
        } else if at > newest.at && at.since(newest.at) >= self.least {
            self.close(newest, at, newest.since + 1);
        } else if at > newest.at {
            self.newest = Some(Newest { last: at, since: newest.since + 1, ..newest });
        }
    }

    fn close(&mut self, newest: Newest, at: Time, packets: u64) {
        let span = at.since(newest.at);
        self.gaps.add(span / packets);
        self.packets = self.packets.saturating_add(packets);
        self.newest = Some(Newest { at, span, packets, last: at, since: 0 });
    }

    /// The rate; none before 16 packets have made gaps, and where the gaps scatter too much.
    ///
    /// Both sources fill the gaps not yet seen with a second and report from the start; libudt's sender takes that for a rate of a
    /// few packets per second.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        let median = self.gaps.median().filter(|_| self.packets >= ENOUGH)?;
        let (count, sum) = self.gaps.near(median, self.range);
        let half = self.gaps.held().len() as u64 / 2;
        (count > half).then(|| Packets(count as f64) / Span::from_nanos(sum.min(u128::from(u64::MAX)) as u64))
    }
}

/// The packets libudt remembers.
const ENOUGH: u64 = 16;
/// Sixteen of them are the interval of libudt's reports.
const LEAST: Span = Span::from_micros(625);

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
        for filter in [ArrivalRate::ns2, ArrivalRate::udt4] {
            assert_eq!(rate_of(filter(), &[1000; 15]), None);
            assert_eq!(rate_of(filter(), &[1000; 16]), Some(Rate(1000.0)));
            let mut renewed = std::vec![7000; 10];
            renewed.extend([1000; 16]);
            assert_eq!(rate_of(filter(), &renewed), Some(Rate(1000.0)), "only the newest 16 count");
        }
    }

    #[test]
    fn gaps_far_from_the_median_do_not_count() {
        // The median is 2 ms. Exactly half and exactly twice of it are out by ns2's rule, in by udt4's.
        let gaps = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 4, 1, 4].map(|gap| 1000 * gap);
        assert_eq!(rate_of(ArrivalRate::ns2(), &gaps), Some(Rate(500.0)));
        // 12 * 2 + 10 = 34 ms for 16 gaps.
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Packets(16.0) / Span::from_millis(34)));
        // A pause of ten round trips is out by both.
        let mut paused = [1000; 16];
        paused[3] = 1_000_000;
        assert_eq!(rate_of(ArrivalRate::udt4(), &paused), Some(Rate(1000.0)));
    }

    #[test]
    fn half_of_the_gaps_is_not_enough() {
        // Sorted: 8 of 1 ms, 8 of 10 ms: the ninth smallest is 10, and 8 gaps are near it.
        let mut gaps = [1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10].map(|gap| 1000 * gap);
        assert_eq!(rate_of(ArrivalRate::ns2(), &gaps), None);
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), None);
        gaps[0] = 10_000;
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Rate(100.0)));
    }

    #[test]
    fn packets_read_together_share_the_gap_before_them() {
        // 16 batches of 10, a millisecond apart, are 10 000 packets per second.
        let gaps: Vec<u64> = (0..160).map(|n| if n % 10 == 0 { 1000 } else { 0 }).collect();
        assert_eq!(rate_of(ArrivalRate::udt4(), &gaps), Some(Rate(10_000.0)));
    }

    #[test]
    fn a_bunch_is_no_rate_of_the_path() {
        // 10,000 packets per second; for 3 ms none comes through, then those of that time at once, 5 us apart.
        let mut gaps = std::vec![100; 400];
        gaps.extend([3000].into_iter().chain([5; 29]));
        let near =
            |filter, gaps: &[u64], rate: f64| (rate_of(filter, gaps).expect("a rate").0 / rate - 1.0).abs() < 0.05;
        assert!(near(ArrivalRate::ns2(), &gaps, 200_000.0), "each gap is a packet's");
        assert!(near(ArrivalRate::udt4(), &gaps, 10_000.0));
        // The same all the time: 30 packets in 3.145 ms.
        assert!(near(ArrivalRate::udt4(), &gaps[400..].repeat(20), 9539.0));
    }

    #[test]
    fn a_burst_shows_the_rate_of_the_path_and_a_pause_does_not() {
        // 30 packets 12 us apart, in the early round trips of a slow start.
        let gaps: Vec<u64> = (0..90).map(|n| if n % 30 == 0 { 100_000 } else { 12 }).collect();
        let found = rate_of(ArrivalRate::udt4(), &gaps[1..]).expect("a rate").0;
        assert!((found * 12e-6 - 1.0).abs() < 0.01, "{found}");
    }

    #[test]
    fn packets_that_arrive_at_once_have_no_rate() {
        assert_eq!(rate_of(ArrivalRate::udt4(), &[0; 16]), None);
    }
}
