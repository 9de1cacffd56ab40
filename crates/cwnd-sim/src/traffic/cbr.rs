//! Traffic that no congestion control governs: packets at a scheduled rate, whatever becomes of them.

use cwnd::host::Counts;
use cwnd::{Bytes, Packets, Rtt, Span, Time};

use super::rate::RateSchedule;
use super::source::{Backlog, Pause, Source};
use crate::net::packet::Data;
use crate::net::setup::Class;
use crate::setup::{NodeId, Setup, SetupError, require};

/// A flow without congestion control. Its packets are never acknowledged nor sent again.
#[derive(Clone, Debug, PartialEq)]
pub struct CbrSetup {
    /// Its name in traces.
    pub name: String,
    /// Where its sender is.
    pub from: NodeId,
    /// Where its receiver is.
    pub to: NodeId,
    /// When it starts. The seed delays its first packet by up to a packet's time, unless it varies no starts at all.
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
}

/// Sends what its schedule says.
#[derive(Debug)]
pub(crate) struct Sender {
    backlog: Backlog,
    next: u64,
}

impl CbrSetup {
    pub(crate) fn check(&self, setup: &Setup) -> Result<(), SetupError> {
        let place = format!("cbr `{}`", self.name);
        require(setup.has(self.from) && setup.has(self.to), &place, "its ends must be nodes")?;
        require(self.from != self.to, &place, "its ends must be different nodes")?;
        require(self.packet.0 > 0, &place, "packets must have at least one byte")?;
        Source::Rate(self.rate).check(&place, self.start, self.stop, &self.pauses)
    }
}

impl Sender {
    /// A sender of what `backlog` hands over.
    pub(crate) fn new(backlog: Backlog) -> Self {
        Self { backlog, next: 0 }
    }

    /// The next packet to leave now, if one is due.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Data> {
        let number = self.next;
        if !self.backlog.has(now, number) {
            return None;
        }
        self.next += 1;
        Some(Data { number, sent_at: now, retransmission: false, reacted: false, pair: false })
    }

    /// When the next packet may be due.
    pub(crate) fn next_release(&self) -> Time {
        self.backlog.due()
    }

    /// Its rate now, bit/s.
    pub(crate) fn rate(&self) -> u64 {
        self.backlog.rate().unwrap_or(0)
    }

    /// What it has sent; it hears of nothing else.
    pub(crate) fn counts(&self) -> Counts {
        Counts { sent: self.next, ..Counts::default() }
    }

    /// No time: nothing but its schedule holds it.
    pub(crate) fn limited(&self, _now: Time) -> (Span, Span) {
        (Span::ZERO, Span::ZERO)
    }

    /// None: nobody answers.
    pub(crate) fn rtt(&self) -> Option<Rtt> {
        None
    }

    /// Everything at once.
    pub(crate) fn window(&self) -> Packets {
        Packets(f64::INFINITY)
    }
}
