//! The message fields of a packet, in one word.

use crate::number::MessageNumber;
use crate::wire::Position;

/// Position, order and message number, packed as in the second word of a packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u32);

impl Tag {
    /// The tag of a packet that has not arrived.
    pub(super) const NONE: Self = Self(0);

    /// The tag of a packet at `position` of `message`.
    pub(super) const fn new(position: Position, in_order: bool, message: MessageNumber) -> Self {
        let place = match position {
            Position::Middle => 0,
            Position::Last => LAST,
            Position::First => FIRST,
            Position::Only => FIRST | LAST,
        };
        let order = if in_order { ORDERED } else { 0 };
        Self(place | order | message.get())
    }

    /// Whether a message begins with the packet.
    pub(super) const fn begins(self) -> bool {
        self.0 & FIRST != 0
    }

    /// Whether a message ends with the packet.
    pub(super) const fn ends(self) -> bool {
        self.0 & LAST != 0
    }

    /// Where the packet stands in its message.
    pub(super) const fn position(self) -> Position {
        match (self.begins(), self.ends()) {
            (true, true) => Position::Only,
            (true, false) => Position::First,
            (false, true) => Position::Last,
            (false, false) => Position::Middle,
        }
    }

    /// Whether the message must not overtake others.
    pub(super) const fn in_order(self) -> bool {
        self.0 & ORDERED != 0
    }

    /// The number of the message.
    pub(super) const fn message(self) -> MessageNumber {
        match MessageNumber::new(self.0 & !(FIRST | LAST | ORDERED)) {
            Some(number) => number,
            None => MessageNumber::FIRST,
        }
    }
}

const FIRST: u32 = 1 << 31;
const LAST: u32 = 1 << 30;
const ORDERED: u32 = 1 << 29;
