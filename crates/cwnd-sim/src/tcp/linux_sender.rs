//! Departures as those of Linux: packets that leave together as one large segment (TSO), and pacing as in front of its fair queue (fq).

use std::collections::VecDeque;

use cwnd::{Bytes, Pacing, Packets, Span, Time};

use super::linux::{LinuxHost, packets_in_segment};

/// Behaviours of Linux senders.
#[derive(Clone, Debug)]
pub(super) struct LinuxSender {
    /// The most packets that leave as one segment; 1 without segmentation offload.
    most: u64,
    /// Windows of algorithms without pacing of their own are spread too.
    paced: bool,
    /// Segments under way: the number after their last packet, and when they left.
    departed: VecDeque<(u64, Time)>,
    /// The spin bit of the newest acknowledgement.
    spin: bool,
}

impl LinuxSender {
    /// The sender of `host`, whose packets carry `payload`; none if nothing of it is the sender's.
    pub(super) fn of(host: &LinuxHost, payload: Bytes) -> Option<Box<Self>> {
        let most = if host.tso { packets_in_segment(payload) } else { 1 };
        let any = host.tso || host.fq || host.autotune.is_some();
        any.then(|| Box::new(Self { most, paced: host.fq, departed: VecDeque::new(), spin: false }))
    }

    /// The bit of the newest acknowledgement that packets echo.
    pub(super) fn spin(&self) -> bool {
        self.spin
    }

    /// An acknowledgement has brought this spin bit.
    pub(super) fn set_spin(&mut self, spin: bool) {
        self.spin = spin;
    }

    /// Windows of algorithms without pacing of their own are spread too.
    pub(super) fn is_paced(&self) -> bool {
        self.paced
    }

    /// How many packets make a segment at a packet per `spacing`; `quantum` is the burst that the algorithm asks for, in packets.
    pub(super) fn size(&self, spacing: Option<Span>, quantum: Option<u64>) -> u64 {
        let in_time = |spacing: Span| (SEGMENT_TIME.as_nanos() / spacing.as_nanos().max(1)).max(LEAST);
        quantum.or_else(|| spacing.map(in_time)).unwrap_or(u64::MAX).clamp(1, self.most)
    }

    /// Whether a segment that is not whole may wait for more room: one left within the last millisecond, and the oldest under way left
    /// half a round trip ago, so that its acknowledgement is about to come. All below `acked` have arrived.
    pub(super) fn may_wait(&mut self, now: Time, acked: u64, rtt: Option<Span>) -> bool {
        while self.departed.front().is_some_and(|(next, _)| *next <= acked) {
            self.departed.pop_front();
        }
        let ages = [self.departed.back(), self.departed.front()].map(|segment| segment.map(|(_, at)| now.since(*at)));
        let ([Some(newest), Some(oldest)], Some(rtt)) = (ages, rtt) else { return false };
        newest <= SEGMENT_TIME && oldest >= rtt / 2
    }

    /// A packet has left; the next new one is `next`.
    pub(super) fn sent(&mut self, now: Time, next: u64) {
        match self.departed.back_mut() {
            Some((end, at)) if *at == now => *end = next,
            _ => self.departed.push_back((next, now)),
        }
    }
}

/// The pacing of Linux for an algorithm that does not pace: twice the window per round trip below half the slow-start threshold, 1.2
/// times the window from there on (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
pub(super) fn pacing(window: Packets, threshold: Option<Packets>) -> Pacing {
    let starts = threshold.is_some_and(|threshold| window.0 < threshold.0 / 2.0);
    Pacing::Spread { gain: if starts { 2.0 } else { 1.2 } }
}

/// The longest time that a segment takes at the rate of the sender.
const SEGMENT_TIME: Span = Span::from_millis(1);
/// The least that a segment holds (`tcp_min_tso_segs`).
const LEAST: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_a_millisecond_and_has_two_packets_to_64_kib() {
        let sender =
            LinuxSender::of(&LinuxHost { tso: true, ..LinuxHost::default() }, Bytes(1448)).expect("it segments");
        let at_mbit = |rate: u64| sender.size(Some(Span::from_nanos(12_000_000 / rate)), None);
        assert_eq!([1, 50, 200, 600].map(at_mbit), [2, 4, 16, 45]);
        assert_eq!(sender.size(None, None), 45, "before the first round trip");
        assert_eq!((sender.size(None, Some(7)), sender.size(None, Some(0))), (7, 1), "what the algorithm asks for");
        let alone = LinuxSender::of(&LinuxHost { fq: true, ..LinuxHost::default() }, Bytes(1448)).expect("it paces");
        assert_eq!(alone.size(Some(Span::from_micros(1)), None), 1);
        assert!(LinuxSender::of(&LinuxHost::default(), Bytes(1448)).is_none());
    }

    #[test]
    fn a_segment_waits_only_where_an_acknowledgement_is_about_to_come() {
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let rtt = Some(Span::from_millis(20));
        let mut sender =
            LinuxSender::of(&LinuxHost { tso: true, ..LinuxHost::default() }, Bytes(1448)).expect("it segments");
        assert!(!sender.may_wait(at(0), 0, rtt), "nothing is under way");
        for (micros, next) in [(0, 1), (0, 4), (15_000, 8)] {
            sender.sent(at(micros), next);
        }
        assert!(sender.may_wait(at(15_500), 0, rtt));
        assert!(!sender.may_wait(at(15_500), 0, None), "there is no sample");
        assert!(!sender.may_wait(at(16_500), 3, rtt), "the last one left more than a millisecond ago");
        assert!(!sender.may_wait(at(15_500), 4, rtt), "the oldest one has just left");
    }

    #[test]
    fn slow_start_is_paced_twice_as_fast_as_the_window() {
        let gain = |window, threshold: Option<f64>| pacing(Packets(window), threshold.map(Packets));
        assert_eq!(gain(10.0, Some(f64::INFINITY)), Pacing::Spread { gain: 2.0 });
        assert_eq!(gain(19.0, Some(40.0)), Pacing::Spread { gain: 2.0 });
        assert_eq!(gain(20.0, Some(40.0)), Pacing::Spread { gain: 1.2 });
        assert_eq!(gain(10.0, None), Pacing::Spread { gain: 1.2 });
    }
}
