//! The facts every sender owns, whatever its protocol: counters, round-trip time, rounds, what holds it back.

use cwnd::estimate::RttEstimator;
use cwnd::{Bytes, Limit, Pacing, Packets, Probe, Span, Time, View};

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) timeouts: u64,
}

/// What a sender knows apart from which packets are where.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) counts: Counts,
    pub(crate) limits: Limits,
    pub(crate) rtt: RttEstimator,
    pub(crate) max_window: f64,
    round: u64,
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    packet: Bytes,
    payload: Bytes,
}

/// Spaces departures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// The next packet may leave from here on.
    release: Time,
    /// Only this held the last packet asked for.
    holds: bool,
    /// Every window is spread over the round trip, also where the algorithm does not ask for it.
    paced: bool,
}

impl Facts {
    /// A sender that has sent nothing.
    pub(crate) fn new(now: Time, max_window: f64, packet: Bytes, payload: Bytes) -> Self {
        Self {
            counts: Counts::default(),
            limits: Limits::new(now),
            rtt: RttEstimator::new(),
            max_window,
            round: 0,
            round_end: 0,
            packet,
            payload,
        }
    }

    /// All packets below `acked` have arrived; the next new one is `next`.
    #[inline]
    pub(crate) fn advance_round(&mut self, acked: u64, next: u64) {
        if acked > self.round_end {
            self.round += 1;
            self.round_end = next;
        }
    }

    /// What an algorithm is shown.
    #[inline]
    pub(crate) fn view(&self, now: Time, next: u64, in_flight: u64, in_recovery: bool) -> View {
        View {
            now,
            next,
            in_flight,
            in_recovery,
            delivered: self.counts.delivered,
            lost: self.counts.lost,
            rtt: self.rtt.get(),
            round: self.round,
            limit: self.limits.current(),
            peer_window: Packets(self.max_window),
            packet: self.packet,
            payload: self.payload,
        }
    }
}

impl Pacer {
    /// A pacer that lets the first packet go.
    pub(crate) fn new(now: Time, paced: bool) -> Self {
        Self { release: now, holds: false, paced }
    }

    /// Whether departures are spaced under `pacing`.
    #[inline]
    pub(crate) fn spaces(&self, pacing: Pacing) -> bool {
        self.paced || !matches!(pacing, Pacing::Off)
    }

    /// The time between two packets under `window` and `pacing`, while departures are spaced.
    pub(crate) fn spacing(&self, rtt: &RttEstimator, window: Packets, pacing: Pacing) -> Option<Span> {
        let gain = match pacing {
            Pacing::At(rate) => return Some(rate.interval()),
            Pacing::Spread { gain } => gain,
            Pacing::Off if self.paced => 1.0,
            Pacing::Off => return None,
        };
        rtt.get().map(|rtt| rtt.smoothed.mul_f64(1.0 / (gain * window.0)))
    }

    /// Whether a packet would have to wait.
    #[inline]
    pub(crate) fn waits(&self, now: Time) -> bool {
        now < self.release
    }

    /// Whether the next packet has to wait; under `pacing` that counts as `limits` says.
    #[inline]
    pub(crate) fn holds(&mut self, now: Time, pacing: Pacing, limits: &mut Limits) -> bool {
        self.holds = self.waits(now);
        if self.holds {
            // Spreading a window over a round trip is not a limit of its own.
            let limit = if matches!(pacing, Pacing::At(_)) { Limit::Rate } else { Limit::Window };
            limits.set(now, limit);
        }
        self.holds
    }

    /// Something else decided over the packet last asked for.
    pub(crate) fn pass(&mut self) {
        self.holds = false;
    }

    /// When it will let go of a packet it holds; [`Time::MAX`] if it holds none.
    pub(crate) fn next(&self) -> Time {
        if self.holds { self.release } else { Time::MAX }
    }

    /// A packet left; whether it is the second of a probe pair. `number` is none for a retransmission.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, spacing: Option<Span>, probe: Probe, number: Option<u64>) -> bool {
        let place = match (probe, number) {
            (Probe::PairEvery(n), Some(number)) => Some(number % u64::from(n.max(2))),
            _ => None,
        };
        if let Some(spacing) = spacing {
            // The first of a pair lets its successor follow at once; the successor pays for both.
            let turns = match place {
                Some(0) => 0,
                Some(1) => 2,
                _ => 1,
            };
            self.release = self.release.max(now) + spacing * turns;
        }
        place == Some(1)
    }
}

/// The current limit, and the time spent under the two that are not congestion control's doing. A UDT connection counts all four;
/// of a million flows each counter takes 8 MB.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    current: Limit,
    since: Time,
    source: Span,
    peer: Span,
}

impl Limits {
    /// No time spent yet.
    pub(crate) fn new(now: Time) -> Self {
        Self { current: Limit::Window, since: now, source: Span::ZERO, peer: Span::ZERO }
    }

    /// What last held the sender.
    pub(crate) fn current(&self) -> Limit {
        self.current
    }

    /// `limit` holds the sender from now on.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.change(now, limit);
        }
    }

    #[cold]
    fn change(&mut self, now: Time, limit: Limit) {
        (self.source, self.peer) = self.spent(now);
        self.current = limit;
        self.since = now;
    }

    /// Time spent so far for want of data, and of room at the receiver.
    pub(crate) fn spent(&self, now: Time) -> (Span, Span) {
        let held = now.since(self.since);
        match self.current {
            Limit::Source => (self.source + held, self.peer),
            Limit::Peer => (self.source, self.peer + held),
            Limit::Window | Limit::Rate => (self.source, self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_under_the_limit_that_held() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut limits = Limits::new(at(0));
        limits.set(at(10), Limit::Source);
        limits.set(at(15), Limit::Source);
        limits.set(at(30), Limit::Peer);
        limits.set(at(35), Limit::Rate);
        assert_eq!(limits.spent(at(100)), (Span::from_millis(20), Span::from_millis(5)));
        limits.set(at(100), Limit::Peer);
        assert_eq!(limits.spent(at(101)), (Span::from_millis(20), Span::from_millis(6)));
    }
}
