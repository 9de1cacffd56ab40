//! Packets of data.

use super::words::{HEADER, Malformed};
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
    /// When it was sent: microseconds since the sender's socket was opened, modulo 2^32. Receivers have no use for it.
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

impl DataHeader {
    pub(super) fn parse([seq, message, timestamp_us, to]: [u32; 4], body: &[u8]) -> Result<Self, Malformed> {
        if body.is_empty() {
            return Err(Malformed::Empty);
        }
        Ok(Self {
            seq: super::words::seq(seq, "packet's number")?,
            position: match message >> 30 {
                0b00 => Position::Middle,
                0b01 => Position::Last,
                0b10 => Position::First,
                _ => Position::Only,
            },
            in_order: message & IN_ORDER != 0,
            message: MessageNumber::new(message & (IN_ORDER - 1)).ok_or(Malformed::Number("message's number"))?,
            timestamp_us,
            to: SocketId::new(to).ok_or(Malformed::Number("destination"))?,
        })
    }

    /// The header as it stands before the payload.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER] {
        let position = match self.position {
            Position::Middle => 0b00,
            Position::Last => 0b01,
            Position::First => 0b10,
            Position::Only => 0b11,
        };
        let order = if self.in_order { IN_ORDER } else { 0 };
        let message = position << 30 | order | self.message.get();
        let words = [self.seq.get(), message, self.timestamp_us, self.to.get()];
        std::array::from_fn(|at| words[at / 4].to_be_bytes()[at % 4])
    }
}

/// The bit of the second word above the number of the message.
const IN_ORDER: u32 = 1 << 29;
