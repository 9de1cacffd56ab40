//! HyStart++: slow start ends where the round-trip time rises, before the queue overflows.
//!
//! RFC 9406 section 4.2. A round in whose first eight samples the least round-trip time lies above that of the round before by an
//! eighth begins Conservative Slow Start: a quarter of the growth for five rounds, in which the rise must last. If it does not,
//! it was jitter, and slow start goes on.

use crate::signal::View;
use crate::units::Span;

/// The state of a first slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// The round under way by the host's count.
    round: u64,
    /// currentRoundMinRTT and lastRoundMinRTT; [`Span::MAX`] while there is none.
    current: Span,
    last: Span,
    /// rttSampleCount.
    samples: u32,
    /// Conservative Slow Start.
    css: Option<Css>,
}

#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Rounds that have begun since, the partial first one among them.
    rounds: u32,
}

impl HyStart {
    /// L, the packets that an acknowledgement counts for at most where departures are not paced (section 4.3).
    pub(super) const MOST_PER_ACK: u32 = 8;

    /// What the growth of slow start is divided by.
    pub(super) fn divisor(&self) -> f64 {
        if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Takes in the newest round-trip time; whether slow start ends now.
    pub(super) fn on_ack(&mut self, view: &View) -> bool {
        let Some(rtt) = view.rtt else { return false };
        if view.round != self.round {
            (self.round, self.samples) = (view.round, 0);
            (self.last, self.current) = (self.current, Span::MAX);
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds > CSS_ROUNDS {
                    return true;
                }
            }
        }
        self.current = self.current.min(rtt.latest);
        self.samples += 1;
        if self.samples >= N_RTT_SAMPLE {
            self.judge();
        }
        false
    }

    /// Enough of the round has been seen.
    fn judge(&mut self) {
        match self.css {
            Some(css) if self.current < css.baseline => {
                self.css = None;
            }
            None if self.last != Span::MAX => {
                let threshold = (self.last / MIN_RTT_DIVISOR).max(MIN_RTT_THRESH).min(MAX_RTT_THRESH);
                if self.current >= self.last + threshold {
                    self.css = Some(Css { baseline: self.current, rounds: 1 });
                }
            }
            _ => {}
        }
    }
}

impl Default for HyStart {
    fn default() -> Self {
        Self { round: 0, current: Span::MAX, last: Span::MAX, samples: 0, css: None }
    }
}

/// Section 4.3, all of them: what the RFC recommends.
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Ack, Limit, Rtt, Start};
    use crate::units::{Bytes, Packets, Time};
    use crate::window::{Policy, SlowStart};
    use crate::{Algorithm, CongestionControl, Spec};

    /// A flow whose acknowledgements have the round-trip times a test dictates.
    struct HyStartHarness {
        algorithm: Algorithm,
        round: u64,
    }

    impl HyStartHarness {
        fn new(name: &str) -> Self {
            let policy = Policy { slow_start: SlowStart::HyStart, ..Policy::MODERN };
            let start = Start { window: Packets(10.0), policy, ..Start::default() };
            Self { algorithm: Spec::parse(name).expect("registered").start(&start), round: 0 }
        }

        fn ack(&mut self, millis: u64, newly: u32) {
            let rtt = Span::from_millis(millis);
            let view = View {
                now: Time::ZERO,
                next: 1_000_000,
                in_flight: 0,
                in_recovery: false,
                delivered: 0,
                lost: 0,
                rtt: Some(Rtt::fixed(rtt)),
                timeout: None,
                round: self.round,
                limit: Limit::Window,
                peer_window: Packets(f64::INFINITY),
                packet: Bytes(1500),
                payload: Bytes(1460),
            };
            let ack = Ack::new(newly, Time::ZERO);
            self.algorithm.on_ack(&view, &ack);
        }

        /// The window after a round of eight acknowledgements of a packet each.
        fn round(&mut self, millis: u64) -> f64 {
            self.round += 1;
            (0..8).for_each(|_| self.ack(millis, 1));
            self.algorithm.control().window.0
        }

        fn threshold(&self) -> f64 {
            let mut found = 0.0;
            self.algorithm.inspect(&mut |name, value| found = if name == "ssthresh" { value } else { found });
            found
        }
    }

    #[test]
    fn a_rise_by_an_eighth_makes_it_careful_and_five_rounds_end_slow_start() {
        let mut flow = HyStartHarness::new("reno");
        // 89 is below 80 + 10, 99 below 89 + 11.125, but 112 not below 99 + 12.375.
        assert_eq!([80, 89, 99, 112].map(|millis| flow.round(millis)), [18.0, 26.0, 34.0, 42.0]);
        // The rest of that round and four whole ones, at a quarter.
        assert_eq!([112; 4].map(|millis| flow.round(millis)), [44.0, 46.0, 48.0, 50.0]);
        assert_eq!(flow.threshold(), f64::INFINITY);
        flow.round(112);
        assert_eq!(flow.threshold(), 50.25);
    }

    #[test]
    fn slow_start_goes_on_where_the_rise_does_not_last() {
        let mut flow = HyStartHarness::new("reno");
        assert_eq!([80, 95, 95, 94].map(|millis| flow.round(millis)), [18.0, 26.0, 28.0, 30.0]);
        assert_eq!([94, 94, 94].map(|millis| flow.round(millis)), [38.0, 46.0, 54.0]);
        assert_eq!(flow.threshold(), f64::INFINITY);
    }

    /// 4 ms at least, 16 ms at most.
    #[test]
    fn the_rise_is_bounded_on_short_and_long_paths() {
        for (before, not_enough, enough) in [(8, 11, 12), (400, 415, 416)] {
            let grown = |millis| {
                let mut flow = HyStartHarness::new("reno");
                [before, millis, millis].map(|millis| flow.round(millis))[2] - 26.0
            };
            assert_eq!((grown(not_enough), grown(enough)), (8.0, 2.0));
        }
    }

    #[test]
    fn seven_samples_are_not_enough_and_an_acknowledgement_counts_for_eight_packets() {
        let mut flow = HyStartHarness::new("reno");
        flow.round(80);
        flow.round = 2;
        (0..7).for_each(|_| flow.ack(200, 1));
        flow.round = 3;
        flow.ack(200, 30);
        assert_eq!(flow.algorithm.control().window.0, 18.0 + 7.0 + 8.0);
    }

    #[test]
    fn an_algorithm_with_a_slow_start_of_its_own_is_careful_too() {
        let mut flow = HyStartHarness::new("exp-tcp");
        assert_eq!([80, 95, 95].map(|millis| flow.round(millis)), [18.0, 26.0, 28.0]);
    }
}
