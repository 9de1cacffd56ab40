//! Sections 5.5.2 to 5.5.9: the windowed filters of bandwidth, round-trip time and aggregation.

use super::{Bbr, Sample, has_passed};
use crate::bounded::Bounded;
use crate::units::{Span, Time};

/// `BBR.max_bw_filter`: the largest delivery rate of this and the previous cycle of bandwidth probes.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxBw {
    previous: f64,
    current: f64,
    /// `BBR.max_bw`, packets per second: changed by samples alone, so that a cycle without one forgets nothing.
    value: f64,
}

/// `BBR.min_rtt`, and the filter of half its length that schedules ProbeRTT.
#[derive(Clone, Debug, Default)]
pub(super) struct MinRtt {
    min_rtt: Option<Span>,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Span>,
    pub(super) probe_rtt_min_stamp: Time,
    pub(super) probe_rtt_expired: bool,
    /// `min_rtt` in seconds.
    secs: f64,
}

/// `BBR.extra_acked_filter`: what arrived beyond the expected, the most of each of the last rounds.
#[derive(Clone, Debug, Default)]
pub(in crate::rate) struct ExtraAcked {
    interval_start: Time,
    delivered: f64,
    rounds: [f64; EXTRA_ACKED_FILTER_LEN],
    round: u64,
    /// The largest of `rounds`.
    value: f64,
}

impl MaxBw {
    /// `BBR.max_bw`.
    pub(super) fn get(&self) -> f64 {
        self.value
    }

    /// Section 5.5.5, `UpdateMaxBw`: samples of a limited sender count if they are above the estimate.
    fn update(&mut self, rate: f64, limited: bool) {
        if rate > 0.0 && (rate >= self.value || !limited) {
            self.current = self.current.at_least(rate);
            self.value = self.current.at_least(self.previous);
        }
    }

    /// Section 5.5.6, `AdvanceMaxBwFilter`.
    pub(super) fn advance(&mut self) {
        self.previous = self.current;
        self.current = 0.0;
    }
}

impl MinRtt {
    /// Section 5.2.1: the stamps of a flow that begins at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.min_rtt_stamp = now;
        self.probe_rtt_min_stamp = now;
    }

    /// `BBR.min_rtt` in seconds; none before the first sample.
    pub(super) fn secs(&self) -> Option<f64> {
        self.min_rtt.map(|_| self.secs)
    }

    /// Section 5.3.4.3, `UpdateMinRTT`.
    pub(super) fn update(&mut self, rs: &Sample) {
        self.probe_rtt_expired = has_passed(rs.now, self.probe_rtt_min_stamp, PROBE_RTT_INTERVAL);
        let Some(rtt) = rs.rtt else { return };
        if self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|min| rtt < min) {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = rs.now;
        }
        let min_rtt_expired = has_passed(rs.now, self.min_rtt_stamp, MIN_RTT_FILTER_LEN);
        let lower = self.probe_rtt_min_delay.zip(self.min_rtt).is_none_or(|(delay, min)| delay < min);
        if lower || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
            self.secs = self.min_rtt.unwrap_or(Span::ZERO).as_secs_f64();
        }
    }
}

impl ExtraAcked {
    /// `BBR.extra_acked`, packets.
    pub(in crate::rate) fn get(&self) -> f64 {
        self.value
    }

    /// The interval begins at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        self.interval_start = now;
    }

    /// Section 5.5.9, `UpdateACKAggregation`: `acked` packets were newly acknowledged at `now`, where `bw` packets per second were expected.
    /// `round` is the present one.
    pub(in crate::rate) fn on_ack(
        &mut self,
        (now, round): (Time, u64),
        acked: f64,
        bw: f64,
        cwnd: f64,
        full_bw_reached: bool,
    ) {
        let mut expected = bw * now.since(self.interval_start).as_secs_f64();
        if self.delivered <= expected {
            self.delivered = 0.0;
            self.interval_start = now;
            expected = 0.0;
        }
        self.delivered += acked;
        self.update((self.delivered - expected).at_most(cwnd), round, full_bw_reached);
    }

    /// `round` is the present one; only it is remembered until the pipe was full.
    fn update(&mut self, extra: f64, round: u64, full_bw_reached: bool) {
        if round != self.round {
            let passed = if full_bw_reached { round - self.round } else { u64::MAX };
            for later in 1..=passed.min(EXTRA_ACKED_FILTER_LEN as u64) {
                self.rounds[place(self.round + later)] = 0.0;
            }
            self.round = round;
            self.value = self.rounds.iter().copied().fold(0.0, f64::max);
        }
        let most = &mut self.rounds[place(round)];
        if extra > *most {
            *most = extra;
            self.value = self.value.at_least(extra);
        }
    }
}

impl Bbr {
    /// Section 5.5.5, `UpdateMaxBw`.
    pub(super) fn update_max_bw(&mut self, rs: &Sample) {
        self.max_bw.update(rs.rate, rs.limited);
    }

    /// Section 5.5.9, `UpdateACKAggregation`.
    pub(super) fn update_ack_aggregation(&mut self, rs: &Sample) {
        let (at, full) = ((rs.now, self.rounds.count), self.full_pipe.reached);
        self.extra_acked.on_ack(at, rs.newly_acked, self.bw, self.window.cwnd, full);
    }
}

fn place(round: u64) -> usize {
    (round % EXTRA_ACKED_FILTER_LEN as u64) as usize
}

/// `BBR.MinRTTFilterLen`.
const MIN_RTT_FILTER_LEN: Span = Span::from_secs(10);
/// `BBR.ProbeRTTInterval`.
const PROBE_RTT_INTERVAL: Span = Span::from_secs(5);
/// `BBR.ExtraAckedFilterLen`, rounds.
const EXTRA_ACKED_FILTER_LEN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_is_the_largest_of_two_cycles() {
        let mut filter = MaxBw::default();
        filter.update(50.0, true);
        filter.update(100.0, false);
        filter.update(90.0, false);
        assert_eq!(filter.get(), 100.0);
        filter.advance();
        filter.update(60.0, false);
        assert_eq!(filter.get(), 100.0, "the previous cycle counts");
        filter.advance();
        assert_eq!(filter.get(), 100.0, "no sample yet");
        filter.update(70.0, true);
        assert_eq!(filter.get(), 100.0, "a limited sample below the estimate does not count");
        filter.update(40.0, false);
        assert_eq!(filter.get(), 60.0);
        filter.update(61.0, true);
        assert_eq!(filter.get(), 61.0, "a limited sample above it does");
    }

    #[test]
    fn aggregation_is_the_largest_excess_of_ten_rounds() {
        let mut filter = ExtraAcked::default();
        filter.update(7.0, 1, false);
        filter.update(5.0, 1, false);
        assert_eq!(filter.get(), 7.0);
        filter.update(2.0, 2, false);
        assert_eq!(filter.get(), 2.0, "before the pipe is full one round is remembered");
        filter.update(9.0, 3, true);
        filter.update(1.0, 12, true);
        assert_eq!(filter.get(), 9.0);
        filter.update(1.0, 13, true);
        assert_eq!(filter.get(), 1.0, "the ninth after it was the last");
        filter.update(3.0, 1000, true);
        assert_eq!(filter.get(), 3.0);
    }
}
