//! What an endpoint sends.

use std::net::SocketAddr;

use super::Handle;
use crate::connection::{OutData, Transmit};
use crate::number::SocketId;
use crate::wire::{Control, Handshake, Message};

/// A datagram that leaves now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Where it goes.
    pub to: SocketAddr,
    /// The connection it is for there; none for whoever listens.
    pub id: Option<SocketId>,
    /// The connection it comes from; none for a listener's answers.
    pub handle: Option<Handle>,
    /// What it is.
    pub what: Outgoing,
}

/// What leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A packet of data.
    Data(OutData),
    /// What an open connection says beside data.
    Message(Message),
    /// A step of a handshake.
    Handshake(Handshake),
}

impl Departure {
    /// Appends the datagram to `out`. Of a packet of data that is the header; the host appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        // Like libudt, control packets carry no time.
        match &self.what {
            Outgoing::Data(data) => out.extend(data.header.encode()),
            Outgoing::Message(message) => message.control().encode(self.id, 0, out),
            Outgoing::Handshake(handshake) => Control::Handshake(*handshake).encode(self.id, 0, out),
        }
    }

    /// It may be the first of a probe pair, whose second must follow right behind.
    pub(super) fn opens_pair(&self) -> bool {
        let Outgoing::Data(data) = &self.what else { return false };
        !data.retransmission && data.header.seq.get().is_multiple_of(PAIR_EVERY)
    }
}

impl From<Transmit> for Outgoing {
    fn from(transmit: Transmit) -> Self {
        match transmit {
            Transmit::Data(data) => Self::Data(data),
            Transmit::Message(message) => Self::Message(message),
        }
    }
}

/// Receivers, libudt's among them, take such numbers for the first of a pair.
const PAIR_EVERY: u32 = 16;
