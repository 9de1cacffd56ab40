//! A receive window that grows with what arrives: dynamic right-sizing (Fisk and Feng, 2001) as Linux does it.
//!
//! Once in a round trip the receiver counts the packets that arrived in order. If that is more than ever before, the window becomes twice as
//! large, and more where the sender grows, so that slow start does not run into it. The application reads at once.

use cwnd::Bytes;

use super::linux::initial_window;
use crate::net::packet::Ack;

/// The window of a receiver, in packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RightSizing {
    /// The largest window (half of `tcp_rmem`'s maximum).
    most: u64,
    /// The target of the window.
    target: u64,
    /// The granted window, which approaches the target by two packets per arrival.
    granted: u64,
    /// The most that has arrived in a round trip (`rcvq_space.space`).
    space: u64,
    /// Packets that arrived in this round trip.
    copied: u64,
    /// The spin bit of acknowledgements: data that brings it back ends a round trip.
    spin: bool,
    /// An acknowledgement with it has left.
    told: bool,
}

impl RightSizing {
    /// The window at first, at most `most`, of packets that carry `payload`.
    pub(super) fn new(payload: Bytes, most: u64) -> Self {
        let first = initial_window(payload).min(most);
        Self { most, target: first, granted: first, space: FIRST_SPACE, copied: 0, spin: true, told: false }
    }

    /// A packet with the spin bit `spin` has arrived, and `newly` packets are in order with it.
    pub(super) fn on_data(&mut self, newly: u64, spin: bool) {
        self.copied += newly;
        self.granted = (self.granted + 2 * newly).min(self.target);
        if !self.told || spin != self.spin {
            return;
        }
        (self.spin, self.told) = (!spin, false);
        let copied = std::mem::take(&mut self.copied);
        if copied > self.space {
            let steady = 2 * copied + CUSHION;
            let growing = steady.saturating_mul(2 * (copied - self.space)) / self.space;
            self.target = self.target.max(steady.saturating_add(growing).min(self.most));
            self.space = copied;
        }
    }

    /// Writes the window into an acknowledgement that leaves.
    pub(super) fn grant(&mut self, ack: &mut Ack) {
        ack.window = u16::try_from(self.granted).unwrap_or(u16::MAX);
        ack.set_spin(self.spin);
        self.told = true;
    }
}

/// `rcvq_space.space` at first: the initial window of senders (RFC 6928), packets.
const FIRST_SPACE: u64 = 10;
/// More than twice what arrives, packets.
const CUSHION: u64 = 16;

#[cfg(test)]
mod tests {
    use cwnd::Time;

    use super::*;

    const PAYLOAD: Bytes = Bytes(1448);

    /// The windows that a receiver grants after round trips with these numbers of packets, the sender's bit a round trip behind.
    fn windows<const N: usize>(most: u64, rounds: [u64; N]) -> [u16; N] {
        let mut sizing = RightSizing::new(PAYLOAD, most);
        let mut ack = Ack::of(0, Time::ZERO);
        rounds.map(|packets| {
            // The first packet of a round is the answer to the last acknowledgement of the one before.
            let spin = ack.spin();
            for _ in 0..packets {
                sizing.on_data(1, spin);
                sizing.grant(&mut ack);
            }
            ack.window
        })
    }

    #[test]
    fn it_starts_with_64_kib_and_grows_ahead_of_slow_start() {
        // A round is counted with the first packet of the next: 11, which allow no more than the 45 there are; 20, which allow 147; and 40.
        assert_eq!(windows(4000, [10, 20, 40, 40]), [45, 45, 45 + 2 * 39, 123 + 2 * 40]);
        let mut sizing = RightSizing::new(PAYLOAD, 4000);
        sizing.told = true;
        sizing.on_data(20, true);
        assert_eq!((sizing.target, sizing.space), (168, 20));
    }

    #[test]
    fn it_never_shrinks_and_has_a_bound() {
        assert_eq!(windows(100, [10, 80, 80, 80, 5, 5, 5]).last(), Some(&100));
        assert!(windows(4000, [30, 30, 5, 5, 5, 90, 1, 1]).is_sorted());
        assert_eq!(windows(20, [10]), [20], "less than 64 KiB");
    }

    #[test]
    fn a_steady_sender_has_twice_what_it_sends() {
        let mut sizing = RightSizing::new(PAYLOAD, 4000);
        sizing.space = 100;
        (sizing.told, sizing.copied) = (true, 100);
        sizing.on_data(1, true);
        assert_eq!((sizing.target, sizing.space), (2 * 101 + 16 + 2 * 218 / 100, 101));
    }
}
