//! Packets of data.

use crate::number::{MessageNumber, Seq, SocketId};

/// The header of a packet of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Its number; a packet sent again has the number it had.
    pub seq: Seq,
    /// Where it stands in its message. Streams fill this in and do not read it.
    pub position: Position,
    /// The message must not overtake others.
    pub in_order: bool,
    /// The message it belongs to.
    pub message: MessageNumber,
    /// When it left: microseconds since the sender's socket was opened, modulo 2^32. Receivers have no use for it.
    pub timestamp_us: u32,
    /// The connection it is for.
    pub to: SocketId,
}

/// Where a packet stands in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Neither first nor last.
    Middle,
    /// The last of several.
    Last,
    /// The first of several.
    First,
    /// The only one.
    Only,
}
