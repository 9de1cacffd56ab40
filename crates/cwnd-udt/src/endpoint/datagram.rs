//! Datagrams that an endpoint sends.

use std::net::SocketAddr;

use super::table::Handle;
use crate::connection::Transmit;
use crate::number::SocketId;
use crate::wire::Control;

/// A datagram to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The address of the peer.
    pub to: SocketAddr,
    /// The peer's id of the connection; none for a packet to its listener.
    pub id: Option<SocketId>,
    /// The connection it belongs to; none for a listener's answers.
    pub handle: Option<Handle>,
    /// Its content.
    pub transmit: Transmit,
}

impl Datagram {
    /// Appends the datagram to `out`. Of a packet of data that is the header; the host appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        // Like libudt's, control packets carry no timestamp.
        match &self.transmit {
            Transmit::Data(packet) => out.extend(packet.header.encode()),
            Transmit::Handshake(handshake) => Control::Handshake(*handshake).encode(self.id, 0, out),
            Transmit::Message(message) => message.control().encode(self.id, 0, out),
        }
    }

    /// Whether it may be the first packet of a probe pair, whose second must be sent right behind it.
    pub(super) fn opens_pair(&self) -> bool {
        let Transmit::Data(packet) = &self.transmit else { return false };
        !packet.retransmission && packet.header.seq.get().is_multiple_of(PAIR_EVERY)
    }
}

/// Receivers, libudt's among them, take such numbers for the first of a pair.
const PAIR_EVERY: u32 = 16;
