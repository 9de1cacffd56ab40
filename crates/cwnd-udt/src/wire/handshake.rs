//! The body of a handshake.

use super::words::{Malformed, seq, words};
use crate::number::{Seq, SocketId};

/// A handshake as it is on the wire. Its fields have the right bits, and nothing else about them has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// The version of the protocol: 4.
    pub version: u32,
    /// 1 for a stream, 2 for messages.
    pub socket_type: u32,
    /// The number of the first packet of data.
    pub isn: Seq,
    /// The largest packet with IPv4, UDP and UDT headers, in bytes.
    pub mss: u32,
    /// The receive window of its sender in packets.
    pub window: u32,
    /// Its request or answer.
    pub request: Request,
    /// Its sender's id of the connection.
    pub id: Option<SocketId>,
    /// Sent by a listener, and repeated by the client.
    pub cookie: u32,
    /// The other side's address as the sender sees it, byte for byte as on the wire, where libudt reverses every word on some
    /// machines. Nothing may depend on it.
    pub address: [u8; 16],
}

/// The request or answer of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// 0: the first handshake of a rendezvous.
    Rendezvous,
    /// 1: a client asks, or a listener sends a cookie.
    Regular,
    /// -1: a client with its cookie, a server that accepts, or the second handshake of a rendezvous.
    Response,
    /// -2: the last handshake of a rendezvous.
    Agreement,
    /// 1002: refused.
    Rejected,
    /// Unknown.
    Other(i32),
}

impl Handshake {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let whole: &[u8; BODY] = body.try_into().map_err(|_| Malformed::Length("handshake", body.len()))?;
        let [version, socket_type, isn, mss, window, request, id, cookie, ..]: [u32; BODY / 4] = words(whole);
        let mut address = [0; 16];
        address.copy_from_slice(&whole[BODY - 16..]);
        Ok(Self {
            version,
            socket_type,
            isn: seq(isn, "initial number")?,
            mss,
            window,
            request: Request::from_wire(request.cast_signed()),
            id: match id {
                0 => None,
                id => Some(SocketId::new(id).ok_or(Malformed::Number("socket id"))?),
            },
            cookie,
            address,
        })
    }

    pub(super) fn encode(&self) -> [u8; BODY] {
        let words = [
            self.version,
            self.socket_type,
            self.isn.get(),
            self.mss,
            self.window,
            self.request.to_wire().cast_unsigned(),
            self.id.map_or(0, SocketId::get),
            self.cookie,
        ];
        let mut body = [0; BODY];
        for (bytes, word) in body.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        body[BODY - 16..].copy_from_slice(&self.address);
        body
    }
}

impl Request {
    fn from_wire(word: i32) -> Self {
        match word {
            0 => Self::Rendezvous,
            1 => Self::Regular,
            -1 => Self::Response,
            -2 => Self::Agreement,
            1002 => Self::Rejected,
            other => Self::Other(other),
        }
    }

    fn to_wire(self) -> i32 {
        match self {
            Self::Rendezvous => 0,
            Self::Regular => 1,
            Self::Response => -1,
            Self::Agreement => -2,
            Self::Rejected => 1002,
            Self::Other(other) => other,
        }
    }
}

/// Bytes of the body: eight words and an address.
const BODY: usize = 48;
