//! The body of a handshake.

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
    /// Packets the sender of this is ready to take in.
    pub window: u32,
    /// What it asks or answers.
    pub request: Request,
    /// Its sender's name for the connection.
    pub id: Option<SocketId>,
    /// Given out by a listener, and brought back by the client.
    pub cookie: u32,
    /// The other side's address as the sender sees it, byte for byte as on the wire, where libudt reverses every word on some
    /// machines. Nothing may depend on it.
    pub address: [u8; 16],
}

/// What a handshake asks or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// 0: the first word in a rendezvous.
    Rendezvous,
    /// 1: a client asks, or a listener hands out a cookie.
    Regular,
    /// -1: a client with its cookie, a server that agrees, or the second word in a rendezvous.
    Response,
    /// -2: the last word in a rendezvous.
    Agreement,
    /// 1002: no.
    Rejected,
    /// Unknown.
    Other(i32),
}
