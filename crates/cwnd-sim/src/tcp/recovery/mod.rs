//! Detection and repair of losses by a sender: one scheme per file.
//!
//! A scheme keeps the state of the outstanding packets and chooses which one leaves next. How many may leave is the
//! algorithm's window; the arithmetic between the two (RFC 6675's pipe, Reno's inflation) is here and never shows in the
//! window.

mod cumulative;
mod newreno;
mod proportional;
mod rack;
mod reno;
mod sack;
mod sampled;
mod scoreboard;
mod tahoe;

pub(crate) use cumulative::Cumulative;
pub(crate) use newreno::NewReno;
pub(crate) use rack::Rack;
pub(crate) use reno::Reno;
pub(crate) use sack::Sack;
pub(crate) use sampled::Sampled;
pub(crate) use tahoe::Tahoe;

use std::fmt::Debug;
use std::ops::Range;

use cwnd::{Packets, Time};

use self::sampled::Samples;
use crate::net::packet::Ack;

/// Detection and repair of losses by a TCP sender. All but the last detect a loss by the third duplicate acknowledgement, or by three
/// packets above it that have arrived, and all of them by the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScheme {
    /// Slow start from the first missing packet on, with a window of one packet, whatever else has arrived.
    Tahoe,
    /// Fast recovery for one loss (RFC 2001): the next new acknowledgement ends it. Each further loss of the same window takes
    /// another recovery and another cut, or a timeout.
    Reno,
    /// Fast recovery until everything sent before it has arrived, one loss per round trip (RFC 6582).
    NewReno,
    /// Selective acknowledgements: all losses of a window in about one round trip (RFC 2018, RFC 6675).
    Sack,
    /// Selective acknowledgements with losses found by time, including those of retransmissions (RFC 8985). Spurious responses are undone.
    Rack,
}

impl RecoveryScheme {
    /// Every scheme, oldest first.
    pub const ALL: [Self; 5] = [Self::Tahoe, Self::Reno, Self::NewReno, Self::Sack, Self::Rack];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
            Self::Rack => "rack",
        }
    }

    /// The scheme called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

/// A loss recovery scheme, as the sender uses it.
pub(crate) trait Recovery: Debug + Send {
    /// The packets sent and not yet acknowledged cumulatively: from the first missing one to the next new one.
    fn outstanding(&self) -> Range<u64>;

    /// Packets counted as in the network.
    fn in_flight(&self) -> u64;

    /// Fast recovery is under way.
    fn in_recovery(&self) -> bool;

    /// Nothing is being repaired: what leaves are new packets, each of which takes a packet's room.
    fn is_idle(&self) -> bool;

    /// Handles an acknowledgement, if it is of the plain kind: nothing is being repaired, and it reports no more than that more has
    /// arrived in order. How many packets; none if it is for [`on_ack`](Self::on_ack).
    fn on_ack_in_order(&mut self, _now: Time, _ack: &Ack) -> Option<u64> {
        None
    }

    /// Handles an acknowledgement. A fast recovery that it starts has begun when this returns; one that it ends
    /// has not ended, unless it was spurious. Schemes with selective acknowledgements pass each part `first..end` that arrived for the first
    /// time to `arrived`: first the cumulatively acknowledged part in order, then the ranges.
    fn on_ack(&mut self, now: Time, ack: &Ack, arrived: impl FnMut(u64, u64)) -> AckOutcome;

    /// The algorithm has handled the acknowledgement: whether fast recovery ends with it.
    fn leave(&mut self, outcome: &AckOutcome) -> bool;

    /// The algorithm has answered `outcome` with `window`.
    fn on_window(&mut self, _news: &AckOutcome, _window: Packets) {}

    /// The retransmission timer expired. Returns how many packets are newly taken for lost.
    fn on_timeout(&mut self, now: Time) -> u64;

    /// The scheme that finds losses by time, whose timers its sender sets; none for the others.
    #[inline(always)]
    fn rack(&mut self) -> Option<&mut Rack> {
        None
    }

    /// A timer of [`rack`](Self::rack) has expired. `new_data`: a new packet may leave, as far as source and receiver are concerned.
    fn on_deadline(&mut self, _now: Time, _new_data: bool) -> AckOutcome {
        AckOutcome::default()
    }

    /// The next packet leaves whatever the window (RFC 6675 section 5, step 4.3).
    fn urgent(&self) -> bool;

    /// The number of packets that may leave under `window`.
    fn room(&self, window: u64) -> u64;

    /// Whether a packet is to be sent again.
    fn waiting(&self) -> bool;

    /// Sends that packet, if there is one.
    fn resend(&mut self, now: Time) -> Option<u64>;

    /// Sends the next `count` new packets. The first of them.
    fn send(&mut self, now: Time, count: u64) -> u64;

    /// The first packet from `number` on that was found lost and has not been sent again since.
    fn next_waiting(&self, number: u64) -> Option<u64>;

    /// The delivery-rate samples; none if none are taken.
    #[inline(always)]
    fn samples(&mut self) -> Option<&mut Samples> {
        None
    }
}

/// The effects of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckOutcome {
    /// Packets newly acknowledged, cumulatively or selectively, without those that were `unnamed` before.
    pub(crate) newly: u64,
    /// Packets newly taken for lost, and the first of them.
    pub(crate) lost: u64,
    /// Meaningful where `lost` is not 0.
    pub(crate) first_lost: u64,
    /// The cumulative acknowledgement advanced.
    pub(crate) advanced: bool,
    /// A packet has arrived, but the acknowledgement does not name it: it is a duplicate.
    pub(crate) unnamed: bool,
    /// Fast recovery begins.
    pub(crate) begun: bool,
    /// See [`Congestion::restart`](cwnd::Congestion::restart).
    pub(crate) restart: bool,
    /// See [`Congestion::separate`](cwnd::Congestion::separate).
    pub(crate) separate: bool,
    /// The retransmission timer starts anew.
    pub(crate) rearm: bool,
    /// The last response to congestion was spurious: the packets were late, not lost.
    pub(crate) spurious: bool,
}

/// This many duplicate acknowledgements (RFC 5681 section 3.2), or packets arrived above one (RFC 6675's DupThresh), make a loss.
const DUPLICATE_THRESHOLD: u64 = 3;
