//! How the connections of a port share the host's backlog.

use cwnd::{Span, Time};

/// The packets received lately by all connections.
#[derive(Debug, Default)]
pub(super) struct BacklogShares {
    epoch: u64,
    now: Tally,
    before: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    connections: u64,
    packets: u64,
}

/// The packets received lately by one connection: in the epoch of its last packet, and in the one before.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    epoch: u64,
    now: u64,
    before: u64,
}

impl BacklogShares {
    /// Counts a packet of the connection with `arrivals`. With the first of an epoch returns the connection's share, as a fraction: half of
    /// the backlog is shared in proportion to the packets of the epoch before, half evenly.
    pub(super) fn count(&mut self, now: Time, arrivals: &mut Arrivals) -> Option<(u64, u64)> {
        let epoch = now.as_nanos() / EPOCH.as_nanos();
        if epoch != self.epoch {
            self.before = if epoch == self.epoch + 1 { self.now } else { Tally::default() };
            (self.epoch, self.now) = (epoch, Tally::default());
        }
        self.now.packets += 1;
        if epoch == arrivals.epoch {
            arrivals.now += 1;
            return None;
        }
        arrivals.before = if epoch == arrivals.epoch + 1 { arrivals.now } else { 0 };
        (arrivals.epoch, arrivals.now) = (epoch, 1);
        self.now.connections += 1;
        let connections = self.now.connections.max(self.before.connections);
        let packets = self.before.packets.max(1);
        Some((arrivals.before * connections + packets, 2 * packets * connections))
    }
}

/// Twice the clock of acknowledgements: every connection that receives sends a packet in it, and many new connections are noticed while
/// they still double their windows.
const EPOCH: Span = Span::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_single_connection_has_the_whole_backlog() {
        let (mut shares, mut arrivals) = (BacklogShares::default(), Arrivals::default());
        assert_eq!(shares.count(at(20), &mut arrivals), Some((1, 2)), "other connections are not known yet");
        assert_eq!(shares.count(at(21), &mut arrivals), None);
        assert_eq!(shares.count(at(40), &mut arrivals), Some((4, 4)));
    }

    #[test]
    fn half_is_shared_by_arrivals_and_half_evenly() {
        let mut shares = BacklogShares::default();
        let mut connections: [Arrivals; 4] = std::array::from_fn(|_| Arrivals::default());
        for (arrivals, packets) in connections.iter_mut().zip([97, 1, 1, 1]) {
            for _ in 0..packets {
                shares.count(at(25), arrivals);
            }
        }
        let next: Vec<_> = connections.iter_mut().map(|arrivals| shares.count(at(45), arrivals)).collect();
        assert_eq!(next, [Some((488, 800)), Some((104, 800)), Some((104, 800)), Some((104, 800))]);
    }
}
