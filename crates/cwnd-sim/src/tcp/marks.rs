//! The two kinds of counters of marks that acknowledgements carry.

use super::accecn::{AceDecoder, MarkCounter};
use super::totals::{TotalDecoder, Totals};
use crate::net::packet::{Ack, AckEcho};

/// The receiver's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    /// Of AccECN.
    Ace(MarkCounter),
    /// Of QUIC.
    Totals(Totals),
}

impl Counter {
    /// That of `echo`, if it has one.
    pub(super) fn of(echo: AckEcho) -> Option<Self> {
        match echo {
            AckEcho::Latch | AckEcho::PerPacket | AckEcho::Scalable => None,
            AckEcho::AccEcn | AckEcho::AccEcnScalable => Some(Self::Ace(MarkCounter::default())),
            AckEcho::Counts | AckEcho::CountsScalable => Some(Self::Totals(Totals::default())),
        }
    }

    /// A packet arrives, with a mark or without.
    pub(super) fn count(&mut self, marked: bool) {
        match self {
            Self::Ace(counter) => counter.count(marked),
            Self::Totals(totals) => totals.count(marked),
        }
    }

    /// A packet arrives that has lost the ECT it left with.
    pub(super) fn fall_short(&mut self) {
        if let Self::Totals(totals) = self {
            totals.fall_short();
        }
    }

    /// Writes the counter into an acknowledgement.
    pub(super) fn write(self, ack: &mut Ack) {
        match self {
            Self::Ace(counter) => ack.set_ace(counter.ace()),
            Self::Totals(totals) => totals.write(ack),
        }
    }
}

/// What a sender makes of the counter.
#[derive(Clone, Debug)]
pub(super) enum MarkDecoder {
    /// Of AccECN.
    Ace(AceDecoder),
    /// Of QUIC.
    Totals(TotalDecoder),
}

impl MarkDecoder {
    /// That of `echo`, if it has a counter.
    pub(super) fn of(echo: AckEcho) -> Option<Self> {
        Counter::of(echo).map(|counter| match counter {
            Counter::Ace(_) => Self::Ace(AceDecoder::default()),
            Counter::Totals(_) => Self::Totals(TotalDecoder::default()),
        })
    }

    /// The marked packets since the last acknowledgement, for one that acknowledges `newly` packets.
    pub(super) fn on_ack(&mut self, ack: &Ack, newly: u64) -> u64 {
        match self {
            Self::Ace(decoder) => decoder.on_ack(ack, newly),
            Self::Totals(decoder) => decoder.on_ack(ack),
        }
    }

    /// The number of `newly` acknowledged packets that were marked, for the algorithm.
    pub(super) fn tell(&mut self, newly: u64) -> u64 {
        match self {
            Self::Ace(decoder) => decoder.tell(newly),
            Self::Totals(decoder) => decoder.tell(newly),
        }
    }

    /// Whether the counts have shown that the path does not carry ECT.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Totals(decoder) if decoder.has_failed())
    }
}
