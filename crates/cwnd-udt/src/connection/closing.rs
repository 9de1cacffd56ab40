//! How a connection ends.

use cwnd::{Span, Time};

use super::transmit::Reason;

/// Where a connection is between its establishment and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// In use.
    Open,
    /// The peer says it is gone; it is believed at this instant.
    ShutdownReceived { at: Time, lingering: Option<Time> },
    /// Finished by the application: what it wrote is still being delivered, until then at most.
    Lingering { until: Time },
    /// The peer is told that this end is gone, `left` times more, next at this instant.
    ShuttingDown { left: u8, at: Time, reason: Reason },
    /// Closed; the reason until it is told.
    Closed(Option<Reason>),
}

impl Closing {
    /// Whether the application may still write.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::ShutdownReceived { lingering: None, .. })
    }

    /// Whether the protocol still runs.
    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Open | Self::ShutdownReceived { .. } | Self::Lingering { .. })
    }

    /// Whether the application has finished, and delivery goes on.
    pub(super) fn is_lingering(&self) -> bool {
        matches!(self, Self::Lingering { .. } | Self::ShutdownReceived { lingering: Some(_), .. })
    }

    /// Whether nothing happens any more.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The peer says that it is gone: believed at `at`, unless it gives a sign of life before.
    pub(super) fn on_shutdown(&mut self, at: Time) {
        match *self {
            Self::Open => *self = Self::ShutdownReceived { at, lingering: None },
            Self::Lingering { until } => *self = Self::ShutdownReceived { at, lingering: Some(until) },
            Self::ShutdownReceived { .. } | Self::ShuttingDown { .. } | Self::Closed(_) => {}
        }
    }

    /// The peer is there: whoever said that it is gone, it was not the peer.
    pub(super) fn on_alive(&mut self) {
        if let Self::ShutdownReceived { lingering, .. } = *self {
            *self = lingering.map_or(Self::Open, |until| Self::Lingering { until });
        }
    }

    /// The application has finished.
    pub(super) fn linger(&mut self, until: Time) {
        match self {
            Self::Open => *self = Self::Lingering { until },
            Self::ShutdownReceived { lingering, .. } => *lingering = lingering.or(Some(until)),
            Self::Lingering { .. } | Self::ShuttingDown { .. } | Self::Closed(_) => {}
        }
    }

    /// This end is gone; the peer is told, from now on.
    pub(super) fn shut_down(&mut self, now: Time, reason: Reason) {
        if self.is_running() {
            *self = Self::ShuttingDown { left: SHUTDOWNS, at: now, reason };
        }
    }

    /// The connection is over, and the peer is not told.
    pub(super) fn end(&mut self, reason: Reason) {
        if self.is_running() {
            *self = Self::Closed(Some(reason));
        }
    }

    /// Time has passed. `complete` says that everything sent has arrived, both ways, as far as is known.
    pub(super) fn on_timeout(&mut self, now: Time, complete: bool) {
        match *self {
            Self::ShutdownReceived { at, .. } if at <= now => {
                self.end(if complete { Reason::PeerFinished } else { Reason::PeerAborted });
            }
            Self::Lingering { until } if until <= now => self.shut_down(now, Reason::Lingered),
            _ => {}
        }
    }

    /// Whether the peer is to be told now; a round trip of `pause` lies between two times, since none of them is confirmed.
    pub(super) fn poll(&mut self, now: Time, pause: Span) -> bool {
        let Self::ShuttingDown { left, at, reason } = self else { return false };
        if now < *at {
            return false;
        }
        *left -= 1;
        *at = now + pause.min(MAX_PAUSE);
        if *left == 0 {
            *self = Self::Closed(Some(*reason));
        }
        true
    }

    /// When time alone changes something.
    pub(super) fn next_timeout(&self) -> Time {
        match *self {
            Self::ShutdownReceived { at, .. } | Self::ShuttingDown { at, .. } => at,
            Self::Lingering { until } => until,
            Self::Open | Self::Closed(_) => Time::MAX,
        }
    }

    /// Why it is over, once.
    pub(super) fn take_reason(&mut self) -> Option<Reason> {
        if let Self::Closed(reason) = self { reason.take() } else { None }
    }
}

/// A shutdown is never confirmed. libudt sends one; a peer that misses it waits for its own patience to end.
const SHUTDOWNS: u8 = 3;
/// Between two shutdowns, however long the path.
const MAX_PAUSE: Span = Span::from_millis(250);
