//! How a connection ends.

use cwnd::{Span, Time};

use super::transmit::Reason;

/// Where a connection is between its establishment and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// In use.
    Open,
    /// A shutdown packet was received. It takes effect at this instant, since its sender is not authenticated.
    ShutdownReceived { at: Time, lingering: Option<Time> },
    /// Finished by the application: what it wrote is still being delivered, until then at most.
    Lingering { until: Time },
    /// Shutdown packets are sent, `left` more, the next at this instant.
    ShuttingDown { left: u8, at: Time, reason: Reason },
    /// Nothing happens any more; holds the reason until it is reported.
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

    /// A shutdown packet was received: it takes effect at `at`, unless a packet of the peer arrives before.
    pub(super) fn on_shutdown(&mut self, at: Time) {
        match *self {
            Self::Open => *self = Self::ShutdownReceived { at, lingering: None },
            Self::Lingering { until } => *self = Self::ShutdownReceived { at, lingering: Some(until) },
            Self::ShutdownReceived { .. } | Self::ShuttingDown { .. } | Self::Closed(_) => {}
        }
    }

    /// A packet of the peer arrived after it, so that the shutdown packet was forged.
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

    /// Sends shutdown packets from now on.
    pub(super) fn shut_down(&mut self, now: Time, reason: Reason) {
        if self.is_running() {
            *self = Self::ShuttingDown { left: SHUTDOWNS, at: now, reason };
        }
    }

    /// Closes without a shutdown packet.
    pub(super) fn end(&mut self, reason: Reason) {
        if self.is_running() {
            *self = Self::Closed(Some(reason));
        }
    }

    /// Handles timeouts that are due. `complete`: everything sent has arrived, in both directions, as far as is known.
    pub(super) fn on_timeout(&mut self, now: Time, complete: bool) {
        match *self {
            Self::ShutdownReceived { at, .. } if at <= now => {
                self.end(if complete { Reason::PeerFinished } else { Reason::PeerAborted });
            }
            Self::Lingering { until } if until <= now => self.shut_down(now, Reason::Lingered),
            _ => {}
        }
    }

    /// Whether to send a shutdown packet now. None is acknowledged, so that several are sent, a round trip of `pause` apart.
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

    /// The reason, once.
    pub(super) fn take_reason(&mut self) -> Option<Reason> {
        if let Self::Closed(reason) = self { reason.take() } else { None }
    }
}

/// A shutdown packet is never acknowledged. libudt sends one; a peer that misses it waits until it times out.
const SHUTDOWNS: u8 = 3;
/// Between two shutdowns, however long the path.
const MAX_PAUSE: Span = Span::from_millis(250);
