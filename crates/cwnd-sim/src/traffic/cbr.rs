//! Traffic that no congestion control governs: packets at a scheduled rate, whatever becomes of them.

use cwnd::{Bytes, Span, Time};

use super::rate::RateSchedule;
use super::source::{Pause, Source};
use crate::error::{SetupError, SetupPart, require};
use crate::net::setup::{Class, HostPair, NodeId};

/// A flow without congestion control. Its packets are never acknowledged nor sent again.
#[derive(Clone, Debug, PartialEq)]
pub struct CbrSetup {
    /// Its name in traces.
    pub name: String,
    /// Where its sender is.
    pub from: NodeId,
    /// Where its receiver is.
    pub to: NodeId,
    /// When it starts. The seed delays its first packet by up to a packet's time, that of a video by up to a frame's, unless it varies no starts at all.
    pub start: Time,
    /// When it stops; none for never.
    pub stop: Option<Time>,
    /// When it pauses; it goes on with a packet at once.
    pub pauses: Vec<Pause>,
    /// Delay of its access links, one way.
    pub access_delay: Span,
    /// A packet on the wire.
    pub packet: Bytes,
    /// How fast it sends.
    pub rate: RateSchedule,
    /// The class of its packets; only RIO queues look at it.
    pub class: Class,
    /// The hosts of its sender and its receiver; only CAKE looks at them.
    pub hosts: HostPair,
}

impl CbrSetup {
    /// Checks every field but the ends.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        let part = SetupPart::Cbr(self.name.clone());
        require(self.from != self.to, &part, "its ends must be different nodes")?;
        require(self.packet.0 > 0, &part, "packets must have at least one byte")?;
        Source::Rate(self.rate).check(&part, self.start, self.stop, &self.pauses, self.packet)
    }
}
