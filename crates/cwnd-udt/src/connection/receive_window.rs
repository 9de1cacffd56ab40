//! A receive window that does not overflow the host's backlog, and is no larger than the path and the application need.

use cwnd::Time;
use cwnd::estimate::RttEstimator;

use super::timeouts::{DEFAULT_RTT, SYN};

/// How many packets a sender may have in flight to a host that is sometimes busy, and how many may wait for an application that
/// sometimes does not read.
///
/// Packets in flight are on the path or wait in the backlog of the receiving host. The path holds the arrivals of the least round-trip
/// time. A sender that may send a multiple of that plus the backlog is never held back, not even while it doubles its rate each round trip,
/// and cannot overrun the backlog by more than the multiple.
///
/// Unread data is bounded by the amount that the application reads in some round trips, or in the longest time that it may be descheduled:
/// an application that reads gets as much as the path needs, one that does not costs little.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    /// Packets that may be under way.
    pub(super) packets: u64,
    /// Packets that may be under way or unread.
    pub(super) room: u64,
    /// The host's backlog, and this connection's share of it.
    backlog: u64,
    share: u64,
    /// The path's share, and the interval over which both are measured next: its beginning, the packets before, those read before.
    path: u64,
    since: Option<(Time, u64, u64)>,
}

impl ReceiveWindow {
    /// For a host that holds `backlog` packets, and no other connection.
    pub(super) fn new(backlog: u32) -> Self {
        let backlog = u64::from(backlog);
        Self { packets: backlog, room: MIN_ROOM, backlog, share: backlog, path: 0, since: None }
    }

    /// Assigns `part` in `whole` of the host's backlog to this connection.
    pub(super) fn share(&mut self, (part, whole): (u64, u64)) {
        self.share = (self.backlog * part / whole).max(MIN_WINDOW);
        self.packets = self.share + self.path;
    }

    /// Packets `..next` have arrived, and `..read` of them have been read.
    pub(super) fn advance(&mut self, now: Time, next: u64, read: u64, rtt: &RttEstimator) {
        let Some((since, first, first_read)) = self.since else {
            self.since = Some((now, next, read));
            return;
        };
        let round = rtt.get().map_or(DEFAULT_RTT, |rtt| rtt.min);
        let elapsed = now.since(since);
        if elapsed < round.max(SYN) {
            return;
        }
        let rounds = round.as_secs_f64() / elapsed.as_secs_f64();
        let arrived = (next - first) as f64 * rounds;
        // A pause of the sender is no measure of the path.
        self.path = ((GROWTH * arrived) as u64).max(self.path - self.path / 8);
        self.packets = self.share + self.path;
        let ahead = (GROWTH * rounds).max(PAUSE * (SYN.as_secs_f64() / elapsed.as_secs_f64()));
        self.room = ((ahead * (read - first_read) as f64) as u64).max(self.room - self.room / 8).max(MIN_ROOM);
        self.since = Some((now, next, read));
    }
}

/// A slow start sends twice as much in a round trip as arrived in the one before, reports are up to a round trip old, and while a packet
/// that was withheld is missing there are none for another one.
const GROWTH: f64 = 8.0;
/// An application on a busy host may be kept from its processor for some tens of milliseconds: eight times UDT's clock.
const PAUSE: f64 = 8.0;
/// Packets that may lie unread in any case: three quarters of a megabyte of full ones, five round trips of a slow start.
const MIN_ROOM: u64 = 512;
/// No receiver grants a smaller window, so that this one means no room.
pub(super) const MIN_WINDOW: u64 = 2;

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_path_counts_eight_times() {
        let mut rtt = RttEstimator::new();
        rtt.on_sample(Span::from_millis(50), Span::ZERO);
        let mut window = ReceiveWindow::new(100);
        window.advance(at(0), 0, 0, &rtt);
        window.advance(at(40), 1_000, 0, &rtt);
        assert_eq!(window.packets, 100, "less than a round trip");
        // 3,000 packets in 60 ms are 2,500 in 50 ms.
        window.advance(at(60), 3_000, 0, &rtt);
        assert_eq!(window.packets, 20_100);
        window.advance(at(160), 3_000, 0, &rtt);
        assert_eq!(window.packets, 17_600, "a pause takes an eighth");
        window.share((1, 10));
        assert_eq!(window.packets, 17_510, "others take of the backlog alone");
        window.share((1, 1_000));
        assert_eq!(window.packets, 17_502, "some packets are everybody's");
    }

    #[test]
    fn a_path_without_length_adds_little() {
        let mut rtt = RttEstimator::new();
        rtt.on_sample(Span::from_micros(50), Span::ZERO);
        let mut window = ReceiveWindow::new(1_000);
        window.advance(at(0), 0, 0, &rtt);
        // 1.4 million packets in a second: 70 in 50 us.
        window.advance(at(10), 14_000, 0, &rtt);
        assert_eq!(window.packets, 1_560);
    }

    #[test]
    fn room_follows_what_is_read() {
        let mut rtt = RttEstimator::new();
        rtt.on_sample(Span::from_millis(50), Span::ZERO);
        let mut window = ReceiveWindow::new(100);
        window.advance(at(0), 0, 0, &rtt);
        window.advance(at(50), 9_000, 0, &rtt);
        assert_eq!(window.room, 512, "nothing is read");
        window.advance(at(100), 18_000, 2_000, &rtt);
        assert_eq!(window.room, 16_000, "eight round trips");
        window.advance(at(150), 18_000, 2_000, &rtt);
        assert_eq!(window.room, 14_000, "a pause takes an eighth");
        // 500 packets in 10 ms, with a round trip of next to nothing: eighty milliseconds' worth.
        rtt.on_sample(Span::from_micros(50), Span::ZERO);
        let mut near = ReceiveWindow::new(100);
        near.advance(at(0), 0, 0, &rtt);
        near.advance(at(10), 500, 500, &rtt);
        assert_eq!(near.room, 4_000);
    }
}
