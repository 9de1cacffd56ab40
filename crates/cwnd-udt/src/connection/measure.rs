//! Measurements of the receiver for the sender: by the receiving half of its algorithm, or UDT's own.

use cwnd::rate::udt;
use cwnd::{Arrival, ReceiverSide, Remote, Spec, Start, Time};

use super::timeouts::SYN;
use crate::wire::Rates;

/// The estimators of a receiving half. They take memory only once there is data.
#[derive(Debug)]
pub(super) struct Measure {
    side: Option<Box<dyn ReceiverSide>>,
    /// Rates were last reported then.
    reported_at: Option<Time>,
    /// The window last computed, packets.
    window: Option<u64>,
}

/// The measurements in a full acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) rates: Option<Rates>,
    /// The window computed at the receiver, packets, where the algorithm's half there computes one.
    pub(super) window: Option<u64>,
}

impl Measure {
    /// Nothing measured yet.
    pub(super) const fn new() -> Self {
        Self { side: None, reported_at: None, window: None }
    }

    /// A new packet of data arrived.
    pub(super) fn on_packet(&mut self, arrival: &Arrival, make: impl FnOnce() -> Box<dyn ReceiverSide>) {
        self.side.get_or_insert_with(make).on_packet(arrival);
    }

    /// When the algorithm's half wants a report at the latest.
    pub(super) fn due(&self) -> Time {
        self.side.as_ref().and_then(|side| side.due()).unwrap_or(Time::MAX)
    }

    /// The measurements for the next full acknowledgement.
    pub(super) fn report(&mut self, now: Time) -> Report {
        let due = self.reported_at.is_none_or(|at| now.since(at) >= SYN);
        let Some(side) = self.side.as_mut().filter(|_| due) else {
            return Report { rates: None, window: self.window };
        };
        self.reported_at = Some(now);
        let Remote { arrival_rate, capacity, window, .. } = side.report(now);
        // 0 means "not known"; more than 31 bits do not fit.
        let whole = |rate: Option<cwnd::Rate>| rate.map_or(0, |rate| (rate.0 as u32).min(MASK));
        self.window = window.map(cwnd::Packets::whole);
        let rates = Rates { arrival: whole(arrival_rate), capacity: whole(capacity) };
        Report { rates: Some(rates), window: self.window }
    }

    /// Frees memory: after a pause the old values mean little.
    pub(super) fn forget(&mut self) {
        *self = Self::new();
    }
}

/// The half of `algorithm` at the receiver; UDT's where it has none, since the peer's algorithm may want it.
pub(super) fn receiver_side(algorithm: &Spec, start: &Start) -> Box<dyn ReceiverSide> {
    algorithm.receiver(start).unwrap_or_else(|| Box::new(udt::Receiver::udt4()))
}

/// Whether `seq` on the wire is the second packet of a pair, if its sender probes at all: every sender does as libudt does.
pub(super) const fn is_second_of_pair(seq: u32) -> bool {
    seq % PAIR_EVERY == 1
}

/// libudt's pairs begin with the multiples of this.
const PAIR_EVERY: u32 = 16;
/// The greatest rate on the wire.
const MASK: u32 = 0x7fff_ffff;
