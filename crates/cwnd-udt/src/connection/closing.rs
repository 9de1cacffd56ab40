//! How a connection ends.

use cwnd::{Span, Time};

use super::transmit::Reason;

/// Where a connection is between its establishment and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// In use.
    Open,
    /// The peer says it is gone; it is believed at this instant.
    Suspected { at: Time, lingering: Option<Time> },
    /// Finished by the application: what it wrote is still being delivered, until then at most.
    Lingering { until: Time },
    /// The peer is told that this end is gone, `left` times more, next at this instant.
    Leaving { left: u8, at: Time, reason: Reason },
    /// Over; the reason until it is told.
    Over(Option<Reason>),
}

impl Closing {
    /// Whether the application may still write.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::Suspected { lingering: None, .. })
    }

    /// Whether the protocol still runs.
    pub(super) fn listens(&self) -> bool {
        matches!(self, Self::Open | Self::Suspected { .. } | Self::Lingering { .. })
    }

    /// Whether the application has finished, and delivery goes on.
    pub(super) fn is_lingering(&self) -> bool {
        matches!(self, Self::Lingering { .. } | Self::Suspected { lingering: Some(_), .. })
    }

    /// Whether nothing happens any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over(_))
    }

    /// The peer says that it is gone: believed at `at`, unless it gives a sign of life before.
    pub(super) fn suspect(&mut self, at: Time) {
        match *self {
            Self::Open => *self = Self::Suspected { at, lingering: None },
            Self::Lingering { until } => *self = Self::Suspected { at, lingering: Some(until) },
            Self::Suspected { .. } | Self::Leaving { .. } | Self::Over(_) => {}
        }
    }

    /// The peer is there: whoever said that it is gone, it was not the peer.
    pub(super) fn deny(&mut self) {
        if let Self::Suspected { lingering, .. } = *self {
            *self = lingering.map_or(Self::Open, |until| Self::Lingering { until });
        }
    }

    /// The application has finished.
    pub(super) fn linger(&mut self, until: Time) {
        match self {
            Self::Open => *self = Self::Lingering { until },
            Self::Suspected { lingering, .. } => *lingering = lingering.or(Some(until)),
            Self::Lingering { .. } | Self::Leaving { .. } | Self::Over(_) => {}
        }
    }

    /// This end is gone; the peer is told, from now on.
    pub(super) fn leave(&mut self, now: Time, reason: Reason) {
        if self.listens() {
            *self = Self::Leaving { left: SHUTDOWNS, at: now, reason };
        }
    }

    /// The connection is over, and the peer is not told.
    pub(super) fn end(&mut self, reason: Reason) {
        if self.listens() {
            *self = Self::Over(Some(reason));
        }
    }

    /// Time has passed. `complete` says that everything sent has arrived, both ways, as far as is known.
    pub(super) fn on_timeout(&mut self, now: Time, complete: bool) {
        match *self {
            Self::Suspected { at, .. } if at <= now => {
                self.end(if complete { Reason::PeerFinished } else { Reason::PeerAborted });
            }
            Self::Lingering { until } if until <= now => self.leave(now, Reason::Lingered),
            _ => {}
        }
    }

    /// Whether the peer is to be told now; a round trip of `pause` lies between two times, since none of them is confirmed.
    pub(super) fn poll(&mut self, now: Time, pause: Span) -> bool {
        let Self::Leaving { left, at, reason } = self else { return false };
        if now < *at {
            return false;
        }
        *left -= 1;
        *at = now + pause.min(LONGEST_PAUSE);
        if *left == 0 {
            *self = Self::Over(Some(*reason));
        }
        true
    }

    /// When time alone changes something.
    pub(super) fn next_timeout(&self) -> Time {
        match *self {
            Self::Suspected { at, .. } | Self::Leaving { at, .. } => at,
            Self::Lingering { until } => until,
            Self::Open | Self::Over(_) => Time::MAX,
        }
    }

    /// Why it is over, once.
    pub(super) fn take_reason(&mut self) -> Option<Reason> {
        if let Self::Over(reason) = self { reason.take() } else { None }
    }
}

/// A shutdown is never confirmed. libudt sends one; a peer that misses it waits for its own patience to end.
const SHUTDOWNS: u8 = 3;
/// Between two shutdowns, however long the path.
const LONGEST_PAUSE: Span = Span::from_millis(250);
