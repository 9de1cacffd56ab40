//! Spaces departures.

use cwnd::estimate::RttEstimator;
use cwnd::host::Limits;
use cwnd::{Limit, Pacing, Packets, Probe, Span, Time};

/// Spaces departures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// The next packet may leave from here on.
    release: Time,
    /// Nothing else held the last packet back.
    holds: bool,
    /// The next packet leaves with the one before, whatever the time.
    burst: bool,
    spacing: Spacing,
    /// A packet that leaves late by no more than this, nanoseconds, does not delay the next one: the clock of its host is so coarse.
    late: u32,
}

/// How windows leave where the algorithm does not request any pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// As soon as they may.
    AtOnce,
    /// Spread over the round trip.
    Evenly,
    /// As their sender says for each packet.
    BySender,
}

impl Pacer {
    /// A pacer that lets the first packet go.
    pub(crate) fn new(now: Time, spacing: Spacing) -> Self {
        Self { release: now, holds: false, burst: false, spacing, late: 0 }
    }

    /// This pacer on a host whose clock ticks this often.
    pub(crate) fn with_ticks(self, interval: Option<Span>) -> Self {
        let late = interval.map_or(0, |interval| u32::try_from(interval.as_nanos()).unwrap_or(u32::MAX));
        Self { late, ..self }
    }

    /// Whether departures are spaced under `pacing`.
    #[inline]
    pub(crate) fn spaces(&self, pacing: Pacing) -> bool {
        self.spacing != Spacing::AtOnce || !matches!(pacing, Pacing::Off)
    }

    /// The time between two packets under `window` and `pacing`, while departures are spaced.
    pub(crate) fn spacing(&self, rtt: &RttEstimator, window: Packets, pacing: Pacing) -> Option<Span> {
        let gain = match pacing {
            Pacing::At(rate) => return Some(rate.interval()),
            Pacing::Spread { gain } => gain,
            Pacing::Off if self.spacing == Spacing::Evenly => 1.0,
            Pacing::Off => return None,
        };
        rtt.get().map(|rtt| rtt.smoothed.mul_f64(1.0 / (gain * window.0)))
    }

    /// Whether a packet would have to wait.
    #[inline]
    pub(crate) fn waits(&self, now: Time) -> bool {
        now < self.release
    }

    /// Whether the next packet has to wait; that it does is recorded in `limits`.
    #[inline]
    pub(crate) fn holds(&mut self, now: Time, pacing: Pacing, limits: &mut Limits) -> bool {
        self.holds = self.waits(now) && !self.burst;
        if self.holds {
            // Spreading a window over a round trip is not a limit of its own.
            let limit = if matches!(pacing, Pacing::At(_)) { Limit::Rate } else { Limit::Window };
            limits.set(now, limit);
        }
        self.holds
    }

    /// Whether the next packet leaves with the one before, as a part of the same segment.
    pub(crate) fn set_burst(&mut self, burst: bool) {
        self.burst = burst;
    }

    /// Something else held the last packet back, or it was sent.
    pub(crate) fn pass(&mut self) {
        self.holds = false;
    }

    /// When it will release a packet it holds; [`Time::MAX`] if it holds none.
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
            self.release =
                self.release.max(Time::from_nanos(now.as_nanos().saturating_sub(self.late.into()))) + spacing * turns;
        }
        place == Some(1)
    }
}
