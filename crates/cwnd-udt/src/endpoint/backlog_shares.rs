//! How the connections of a port share what their host holds while it is busy.

use cwnd::{Span, Time};

/// What has come in lately, in all.
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

/// What has come in lately for one connection: in the epoch of its last packet, and in the one before.
#[derive(Debug, Default)]
pub(super) struct Share {
    epoch: u64,
    now: u64,
    before: u64,
}

impl BacklogShares {
    /// Counts a packet for the connection with `share`. With the first of an epoch comes its share anew, as a fraction: half of the
    /// whole goes by what each brought in the epoch before, half is the same for all.
    pub(super) fn count(&mut self, now: Time, share: &mut Share) -> Option<(u64, u64)> {
        let epoch = now.as_nanos() / EPOCH.as_nanos();
        if epoch != self.epoch {
            self.before = if epoch == self.epoch + 1 { self.now } else { Tally::default() };
            (self.epoch, self.now) = (epoch, Tally::default());
        }
        self.now.packets += 1;
        if epoch == share.epoch {
            share.now += 1;
            return None;
        }
        share.before = if epoch == share.epoch + 1 { share.now } else { 0 };
        (share.epoch, share.now) = (epoch, 1);
        self.now.connections += 1;
        let connections = self.now.connections.max(self.before.connections);
        let packets = self.before.packets.max(1);
        Some((share.before * connections + packets, 2 * packets * connections))
    }
}

/// Twice the clock of acknowledgements: every connection that receives is heard in it, and a crowd is noticed while it still doubles
/// its windows.
const EPOCH: Span = Span::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn whoever_is_alone_has_all() {
        let (mut shares, mut share) = (BacklogShares::default(), Share::default());
        assert_eq!(shares.count(at(20), &mut share), Some((1, 2)), "nobody knows yet who else comes");
        assert_eq!(shares.count(at(21), &mut share), None);
        assert_eq!(shares.count(at(40), &mut share), Some((4, 4)));
    }

    #[test]
    fn shares_go_by_what_came_and_half_is_the_same_for_all() {
        let mut shares = BacklogShares::default();
        let mut shares_of: [Share; 4] = std::array::from_fn(|_| Share::default());
        for (share, packets) in shares_of.iter_mut().zip([97, 1, 1, 1]) {
            for _ in 0..packets {
                shares.count(at(25), share);
            }
        }
        let next: Vec<_> = shares_of.iter_mut().map(|share| shares.count(at(45), share)).collect();
        assert_eq!(next, [Some((488, 800)), Some((104, 800)), Some((104, 800)), Some((104, 800))]);
    }
}
