//! The state of a sender without its record of packets: counters, round trips and limits.
//!
//! Every host (the simulator's senders, a UDT connection, the models) keeps one [`Facts`] per sender, and makes from it the [`View`] that
//! the algorithm gets. A host updates the counters before it calls the algorithm, as [`signal`](crate::signal) requires.

mod limits;
mod ranges;

pub use self::limits::{Limits, Spent};
pub use self::ranges::{Range, Ranges};

use crate::estimate::RttEstimator;
use crate::signal::View;
use crate::units::{Bytes, Packets, Time};

/// Counters of a sender, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Sent, retransmissions included.
    pub sent: u64,
    /// Retransmitted.
    pub retransmitted: u64,
    /// Known to have arrived; see [`View::delivered`].
    pub delivered: u64,
    /// Found lost; see [`View::lost`].
    pub lost: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}

/// The state of a sender without its record of packets.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The counters.
    pub counts: Counts,
    /// The limits of the sender.
    pub limits: Limits,
    /// The round-trip time.
    pub rtt: RttEstimator,
    /// The window of the receiver, in whole packets; [`u64::MAX`] if it has no bound.
    pub peer_window: u64,
    /// Round trips so far; see [`View::round`].
    pub round: u64,
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    packet: Bytes,
    payload: Bytes,
}

/// The part of a [`View`] that comes from a sender's record of its packets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Moment {
    /// See [`View::now`].
    pub now: Time,
    /// See [`View::next`].
    pub next: u64,
    /// See [`View::in_flight`].
    pub in_flight: u64,
    /// See [`View::in_recovery`].
    pub in_recovery: bool,
}

impl Moment {
    /// The instant `now`, outside recovery, with `in_flight` packets in the network and `next` the number of the next new one.
    #[inline]
    #[must_use]
    pub const fn new(now: Time, next: u64, in_flight: u64) -> Self {
        Self { now, next, in_flight, in_recovery: false }
    }

    /// With fast recovery under way or not, see [`View::in_recovery`].
    #[inline]
    #[must_use]
    pub const fn with_recovery(self, in_recovery: bool) -> Self {
        Self { in_recovery, ..self }
    }
}

impl Facts {
    /// A sender that has sent nothing. `packet` is the size of a packet on the wire, `payload` that of its application data, in bytes.
    #[must_use]
    pub fn new(now: Time, peer_window: u64, packet: Bytes, payload: Bytes) -> Self {
        Self {
            counts: Counts::default(),
            limits: Limits::new(now),
            rtt: RttEstimator::new(),
            peer_window,
            round: 0,
            round_end: 0,
            packet,
            payload,
        }
    }

    /// Records that all packets below `acked` have arrived, where `next` is the next new packet. A round trip ends when a packet is
    /// acknowledged that was sent after the previous one ended.
    #[inline]
    pub fn advance_round(&mut self, acked: u64, next: u64) {
        if acked > self.round_end {
            self.round += 1;
            self.round_end = next;
        }
    }

    /// Application data of a packet, in bytes.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        self.payload
    }

    /// The view that the algorithm gets. A host with a retransmission timer then sets [`View::timeout`].
    #[inline]
    #[must_use]
    pub fn view(&self, moment: &Moment) -> View {
        View {
            now: moment.now,
            next: moment.next,
            in_flight: moment.in_flight,
            in_recovery: moment.in_recovery,
            delivered: self.counts.delivered,
            lost: self.counts.lost,
            rtt: self.rtt.get(),
            timeout: None,
            round: self.round,
            limit: self.limits.current(),
            peer_window: Packets(if self.peer_window < u64::MAX { self.peer_window as f64 } else { f64::INFINITY }),
            packet: self.packet,
            payload: self.payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_a_packet_sent_after_the_last_one_ended() {
        let mut facts = Facts::new(Time::ZERO, u64::MAX, Bytes(1500), Bytes(1460));
        let view = |facts: &Facts| facts.view(&Moment::new(Time::ZERO, 0, 0));
        assert_eq!(view(&facts).peer_window, Packets(f64::INFINITY));
        // (acknowledged below, next new packet): four packets per round trip, acknowledged in twos.
        let rounds = [(2, 6), (4, 8), (6, 10), (8, 12), (10, 14), (12, 16), (14, 18)].map(|(acked, next)| {
            facts.advance_round(acked, next);
            facts.round
        });
        assert_eq!(rounds, [1, 1, 1, 2, 2, 2, 3]);
    }
}
