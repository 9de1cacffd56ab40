//! A window that does not overflow what lies below the protocol.

use cwnd::Time;
use cwnd::estimate::RttEstimator;

use super::SYN;
use super::patience::DEFAULT_RTT;

/// How many packets a sender may have on their way to a receiver that is not always there to take them in.
///
/// What is under way is on the path or waits in the backlog of the receiving host. The path holds what arrives within the least
/// round-trip time. A sender that may send a multiple of that and the backlog besides is never held back, not even while it
/// doubles its rate each round trip, and cannot overrun the backlog by more than the multiple.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// The bound.
    pub(super) packets: u64,
    backlog: u64,
    /// The path's share, and the interval over which it is measured next: its beginning and the packets before.
    path: u64,
    since: Option<(Time, u64)>,
}

impl Allowance {
    /// For a host that holds `backlog` packets.
    pub(super) fn new(backlog: u32) -> Self {
        let backlog = u64::from(backlog);
        Self { packets: backlog, backlog, path: 0, since: None }
    }

    /// Packets `..next` have arrived.
    pub(super) fn advance(&mut self, now: Time, next: u64, rtt: &RttEstimator) {
        let Some((since, first)) = self.since else {
            self.since = Some((now, next));
            return;
        };
        let round = rtt.get().map_or(DEFAULT_RTT, |rtt| rtt.min);
        let elapsed = now.since(since);
        if elapsed < round.max(SYN) {
            return;
        }
        let arrived = (next - first) as f64 * (round.as_secs_f64() / elapsed.as_secs_f64());
        // A pause of the sender says nothing of the path.
        self.path = ((GROWTH * arrived) as u64).max(self.path - self.path / 8);
        self.packets = self.backlog + self.path;
        self.since = Some((now, next));
    }
}

/// A slow start sends twice as much in a round trip as arrived in the one before, and reports are up to a round trip old.
const GROWTH: f64 = 4.0;

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_path_counts_four_times() {
        let mut rtt = RttEstimator::new();
        rtt.on_sample(Span::from_millis(50), Span::ZERO);
        let mut allowance = Allowance::new(100);
        allowance.advance(at(0), 0, &rtt);
        allowance.advance(at(40), 1_000, &rtt);
        assert_eq!(allowance.packets, 100, "less than a round trip");
        // 3,000 packets in 60 ms are 2,500 in 50 ms.
        allowance.advance(at(60), 3_000, &rtt);
        assert_eq!(allowance.packets, 10_100);
        allowance.advance(at(160), 3_000, &rtt);
        assert_eq!(allowance.packets, 8_850, "a pause takes an eighth");
    }

    #[test]
    fn a_path_without_length_adds_little() {
        let mut rtt = RttEstimator::new();
        rtt.on_sample(Span::from_micros(50), Span::ZERO);
        let mut allowance = Allowance::new(1_000);
        allowance.advance(at(0), 0, &rtt);
        // 1.4 million packets in a second: 70 in 50 us.
        allowance.advance(at(10), 14_000, &rtt);
        assert_eq!(allowance.packets, 1_280);
    }
}
