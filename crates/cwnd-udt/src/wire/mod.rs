//! Packets as they are on the wire, and as values.
//!
//! A datagram is a header of four 32-bit words and a body. A value of these types has been checked: numbers have their bits, lists
//! are complete, ranges run forwards. What a connection does with it is another matter and is decided where the state is.

mod ack;
mod data;
mod handshake;
mod loss;
mod message;
mod report;
mod words;

pub use ack::{FullAck, Rates};
pub use data::{DataHeader, Position};
pub use handshake::{Handshake, Request};
pub use loss::{LossList, LossRange, Losses, NamedRanges};
pub use message::{DropRequest, Message};
pub use report::{Missing, Report, Reported};
pub use words::{HEADER, Malformed};

use self::words::{seq, word, words};
use crate::number::{AckNumber, Seq, SocketId};

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A packet of data and its payload, of at least one byte.
    Data(DataHeader, &'a [u8]),
    /// Everything else.
    Control {
        /// The destination id; none for a packet to a listener or to the first handshake of a rendezvous.
        to: Option<SocketId>,
        /// Microseconds since the sender's socket was opened; libudt always sends 0.
        timestamp_us: u32,
        /// Its type and body.
        control: Control<'a>,
    },
}

/// The type and body of a control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control<'a> {
    /// Type 0: connection set-up.
    Handshake(Handshake),
    /// Type 1: the sender is alive.
    KeepAlive,
    /// Type 2 with a body of one word: everything before has arrived. No answer is expected.
    LightAck(Seq),
    /// Type 2: everything before has arrived, and what the receiver measured. Answered by an ACK2.
    Ack(FullAck),
    /// Type 3: these packets are missing.
    Nak(LossList<'a>),
    /// Type 4: the delay grows. libudt reacts to it and never sends it.
    Warning,
    /// Type 5: the peer has closed the connection.
    Shutdown,
    /// Type 6: a full acknowledgement was received.
    Ack2(AckNumber),
    /// Type 7: a message has expired.
    DropRequest(DropRequest),
    /// Type 8: the peer's application failed to use what it received; with an error code of libudt.
    PeerError(u32),
    /// Type 0x7fff with a subtype of ours: the sender reads [`Report`]s.
    AskReports,
    /// Type 0x7fff with another subtype: arrivals above a missing packet.
    Report(Reported<'a>),
    /// Type 0x7fff: for the congestion control of the far end.
    User {
        /// The reserved half word of the header.
        subtype: u16,
        /// The second word of the header.
        info: u32,
        /// The rest of the packet.
        body: &'a [u8],
    },
    /// A type this version of the protocol does not have.
    Unknown(u16),
}

impl<'a> Packet<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// The first rule that the datagram breaks: it is shorter than a header, its body does not fit its type, or a number is out of range.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, body)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(Malformed::Short(datagram.len()));
        };
        let [first, info, timestamp_us, to] = words(header);
        if first & CONTROL == 0 {
            return DataHeader::parse([first, info, timestamp_us, to], body).map(|header| Self::Data(header, body));
        }
        let to = match to {
            0 => None,
            id => Some(SocketId::new(id).ok_or(Malformed::Number("destination"))?),
        };
        let kind = (first >> 16) as u16 & KIND;
        Ok(Self::Control { to, timestamp_us, control: Control::parse(kind, first as u16, info, body)? })
    }

    /// Appends the datagram to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Data(header, payload) => {
                out.extend(header.encode());
                out.extend_from_slice(payload);
            }
            Self::Control { to, timestamp_us, control } => control.encode(*to, *timestamp_us, out),
        }
    }
}

impl<'a> Control<'a> {
    fn parse(kind: u16, subtype: u16, info: u32, body: &'a [u8]) -> Result<Self, Malformed> {
        Ok(match kind {
            HANDSHAKE => Self::Handshake(Handshake::parse(body)?),
            KEEP_ALIVE => Self::KeepAlive,
            ACK if body.len() == 4 => Self::LightAck(seq(word(body, 0), "acknowledged packet")?),
            ACK => Self::Ack(FullAck::parse(info, body)?),
            NAK => Self::Nak(LossList::parse(body).ok_or(Malformed::LossList)?),
            WARNING => Self::Warning,
            SHUTDOWN => Self::Shutdown,
            ACK2 => Self::Ack2(AckNumber::new(info).ok_or(Malformed::Number("confirmed acknowledgement"))?),
            DROP_REQUEST => Self::DropRequest(DropRequest::parse(info, body)?),
            PEER_ERROR => Self::PeerError(info),
            USER if subtype == report::ASK => Self::AskReports,
            USER if subtype == report::REPORT => Self::Report(Reported::parse(info, body)?),
            USER => Self::User { subtype, info, body },
            other => Self::Unknown(other),
        })
    }

    /// Appends the packet to connection `to`, stamped with `timestamp_us`, to `out`.
    pub fn encode(&self, to: Option<SocketId>, timestamp_us: u32, out: &mut Vec<u8>) {
        let (kind, subtype, info) = match self {
            Self::Handshake(_) => (HANDSHAKE, 0, 0),
            Self::KeepAlive => (KEEP_ALIVE, 0, 0),
            Self::LightAck(_) => (ACK, 0, 0),
            Self::Ack(ack) => (ACK, 0, ack.number.get()),
            Self::Nak(_) => (NAK, 0, 0),
            Self::Warning => (WARNING, 0, 0),
            Self::Shutdown => (SHUTDOWN, 0, 0),
            Self::Ack2(number) => (ACK2, 0, number.get()),
            Self::DropRequest(request) => (DROP_REQUEST, 0, request.message.get()),
            Self::PeerError(code) => (PEER_ERROR, 0, *code),
            Self::AskReports => (USER, report::ASK, 0),
            Self::Report(report) => (USER, report::REPORT, report.next.get()),
            Self::User { subtype, info, .. } => (USER, *subtype, *info),
            Self::Unknown(kind) => (*kind & KIND, 0, 0),
        };
        let first = CONTROL | u32::from(kind) << 16 | u32::from(subtype);
        for word in [first, info, timestamp_us, to.map_or(0, SocketId::get)] {
            out.extend(word.to_be_bytes());
        }
        match self {
            Self::Handshake(handshake) => out.extend(handshake.encode()),
            Self::LightAck(next) => out.extend(next.get().to_be_bytes()),
            Self::Ack(ack) => ack.encode(out),
            Self::Nak(losses) => losses.encode(out),
            Self::Report(report) => report.encode(out),
            Self::DropRequest(request) => request.encode(out),
            Self::User { body, .. } => out.extend_from_slice(body),
            // libudt sends a word of zero where a body has no content.
            _ => out.extend([0; 4]),
        }
    }
}

/// Marks a control packet in the first word of a header.
const CONTROL: u32 = 1 << 31;
/// The bits of a control packet's type.
const KIND: u16 = 0x7fff;

// The types of control packets.
const HANDSHAKE: u16 = 0;
const KEEP_ALIVE: u16 = 1;
const ACK: u16 = 2;
const NAK: u16 = 3;
const WARNING: u16 = 4;
const SHUTDOWN: u16 = 5;
const ACK2: u16 = 6;
const DROP_REQUEST: u16 = 7;
const PEER_ERROR: u16 = 8;
const USER: u16 = 0x7fff;

#[cfg(test)]
mod tests;
