//! Whether a retransmission timeout was spurious: F-RTO with selective acknowledgements (RFC 5682 section 3.1).
//!
//! As in Linux, an original that arrives before the acknowledgement of a retransmission decides too. One that arrives with newer
//! data proves more: not all of the window was lost.

/// The knowledge about the newest timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Frto {
    /// There is no timeout, or its cause is known.
    #[default]
    Off,
    /// Step 2: the first packet was sent again and its acknowledgement is awaited; those below `until` were sent before the timeout.
    Repairing { until: u64 },
    /// Step 3: up to two new packets leave instead of lost ones, and the next acknowledgement decides.
    Probing { until: u64 },
}

/// What an acknowledgement says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    /// The first packet that arrived and was sent only once.
    pub(super) original: Option<u64>,
    /// All packets below have arrived.
    pub(super) acked: u64,
    pub(super) advanced: bool,
    /// A packet above a missing one has.
    pub(super) selective: bool,
    /// The next new packet.
    pub(super) next: u64,
}

impl Frto {
    /// The timer expired while the next new packet was `next`.
    pub(super) fn begin(next: u64) -> Self {
        Self::Repairing { until: next }
    }

    /// New packets leave before those taken for lost.
    #[inline]
    pub(super) fn is_probing(self) -> bool {
        matches!(self, Self::Probing { .. })
    }

    /// Handles an acknowledgement; whether the timeout is known to have been spurious.
    pub(super) fn on_ack(&mut self, evidence: &Evidence) -> bool {
        let (Self::Repairing { until } | Self::Probing { until }) = *self else { return false };
        if evidence.original.is_some_and(|number| number < until) {
            // Step 3b: data sent before the timeout, and not retransmitted, has arrived after all.
            *self = Self::Off;
            return true;
        }
        *self = match *self {
            // Step 2a: all that was sent before has arrived, which proves nothing.
            _ if evidence.acked >= until => Self::Off,
            Self::Repairing { until } if evidence.advanced => Self::Probing { until },
            // Step 3a: newer data has arrived, and none of before.
            Self::Probing { .. } if evidence.selective && evidence.next > until => Self::Off,
            state => state,
        };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten packets sent before the timeout; `acked` below, a packet above if `selective`, and `original` arrived for the first time.
    fn ack(frto: &mut Frto, acked: u64, original: Option<u64>, selective: bool, next: u64) -> bool {
        frto.on_ack(&Evidence { original, acked, advanced: acked > 0, selective, next })
    }

    #[test]
    fn an_original_after_the_timeout_shows_that_it_was_in_vain() {
        let mut frto = Frto::begin(10);
        assert!(!ack(&mut frto, 1, None, false, 10));
        assert!(frto.is_probing());
        assert!(ack(&mut frto, 2, Some(1), false, 12));
        assert_eq!(frto, Frto::Off);
    }

    #[test]
    fn what_was_sent_since_shows_that_it_was_not() {
        let mut frto = Frto::begin(10);
        ack(&mut frto, 1, None, false, 10);
        assert!(!ack(&mut frto, 0, Some(10), true, 12));
        assert_eq!(frto, Frto::Off);
        let mut all = Frto::begin(10);
        assert!(!ack(&mut all, 10, None, false, 10));
        assert_eq!(all, Frto::Off, "everything has arrived: which copies is not known");
    }
}
