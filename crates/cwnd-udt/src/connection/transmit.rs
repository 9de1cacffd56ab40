//! Inputs and outputs of a connection.

use std::ops::Range;

use cwnd::Time;

use crate::wire::{DataHeader, Handshake, Message};

/// When and how a datagram arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// When it was read.
    pub now: Time,
    /// The kernel coalesced it with others, so that the instant is not its own: it is not used for packet pairs.
    pub coalesced: bool,
}

/// A packet to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// A packet of data.
    Data(DataPacket),
    /// A step of a handshake: from an [`Endpoint`](crate::Endpoint) only, since a [`Connection`](super::Connection) begins after it.
    Handshake(Handshake),
    /// Any other control packet of an established connection.
    Message(Message),
}

/// A packet of data to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPacket {
    /// Its header.
    pub header: DataHeader,
    /// Its unwrapped number, from 0.
    pub number: u64,
    /// Its payload: offsets in what the application wrote.
    pub bytes: Range<u64>,
    /// It was sent before.
    pub retransmission: bool,
    /// It is the second of a probe pair: it must be sent right behind its predecessor, and neither of the two in one buffer with
    /// other packets. The first of a pair is a new packet whose number on the wire is a multiple of 16.
    pub pair: bool,
}

/// The place of a received packet: its unwrapped number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

/// An event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is more to read.
    Readable,
    /// There is room again after a write was refused.
    Writable,
    /// The peer's application failed to use what it got, with an error code of libudt.
    PeerError(u32),
    /// The connection is closed. Arrived data can still be read.
    Closed(Reason),
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This end aborted it.
    Aborted,
    /// The peer acknowledged a packet that had not been sent.
    FalseAck,
    /// This end finished it, and everything it wrote has arrived.
    Finished,
    /// This end finished it, and not everything it wrote was acknowledged within the time to linger.
    Lingered,
    /// The peer finished it. Everything it acknowledged has arrived there, and everything it sent is here.
    PeerFinished,
    /// The peer aborted it: data of one direction or the other is lost.
    PeerAborted,
    /// Nothing was received from the peer for [`idle_timeout`](crate::Settings::idle_timeout).
    Timeout,
}
