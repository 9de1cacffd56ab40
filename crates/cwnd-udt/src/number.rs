//! The numbers that packets carry. They wrap; inside the protocol core packets have unwrapped numbers, which start at 0.

use core::fmt;
use core::num::NonZero;
use core::ops::Add;

/// The number of a packet on the wire: 31 bits, and after the highest comes 0.
///
/// Two numbers can be compared only if they are less than 2^30 apart, which holds for all packets of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seq(u32);

/// The number of a full acknowledgement, confirmed by an ACK2: 31 bits, starts at 1, and after the highest comes 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AckNumber(u32);

/// The number of a message: 29 bits, from 1 to 2^29 - 2 and then 1 again.
///
/// libudt never uses the two other values, 0 and 2^29 - 1; both can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageNumber(u32);

/// The id of a connection at one of its ends, which the packets of the other end carry: 1 to 2^31 - 1. The listener has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(NonZero<u32>);

impl Seq {
    /// The highest number.
    pub const MAX: Self = Self(MASK_31);

    /// A number from the wire; none if it has more than 31 bits.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        if value <= MASK_31 { Some(Self(value)) } else { None }
    }

    /// The number on the wire, below 2^31.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self((self.0 + 1) & MASK_31)
    }

    /// How far `to` lies ahead of this number, negative if it lies behind: -2^30 ..= 2^30 - 1.
    #[must_use]
    pub const fn offset(self, to: Self) -> i32 {
        // One bit to the left, the 31-bit difference wraps as an i32 does.
        (to.0.wrapping_sub(self.0) << 1) as i32 >> 1
    }

    /// The unwrapped number in a direction that starts at `isn`, nearest to the unwrapped number `near`; none before the start.
    #[must_use]
    pub fn number(self, isn: Self, near: u64) -> Option<u64> {
        near.checked_add_signed(i64::from((isn + near).offset(self)))
    }
}

/// The number `count` packets later; packet `count` of a direction that starts here.
impl Add<u64> for Seq {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the sum is taken modulo 2^31")]
    fn add(self, count: u64) -> Self {
        Self(self.0.wrapping_add(count as u32) & MASK_31)
    }
}

impl AckNumber {
    /// The first a receiver uses.
    pub const FIRST: Self = Self(1);

    /// A number from the wire; none if it has more than 31 bits.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        if value <= MASK_31 { Some(Self(value)) } else { None }
    }

    /// The number on the wire, below 2^31.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self((self.0 + 1) & MASK_31)
    }
}

impl MessageNumber {
    /// The first a sender uses.
    pub const FIRST: Self = Self(1);

    /// A number from the wire; none if it has more than 29 bits.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        if value <= MASK_29 { Some(Self(value)) } else { None }
    }

    /// The number on the wire, below 2^29.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        if self.0 >= MASK_29 - 1 { Self::FIRST } else { Self(self.0 + 1) }
    }
}

impl SocketId {
    /// An id from the wire; none if it is 0 or has more than 31 bits.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        match NonZero::new(value) {
            Some(id) if value <= MASK_31 => Some(Self(id)),
            _ => None,
        }
    }

    /// The number on the wire: 1 to 2^31 - 1.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for SocketId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

const MASK_31: u32 = 0x7fff_ffff;
const MASK_29: u32 = 0x1fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    fn seq(value: u32) -> Seq {
        Seq::new(value).unwrap()
    }

    #[test]
    fn sequence_numbers_wrap_at_31_bits() {
        assert_eq!(Seq::MAX.next(), seq(0));
        assert_eq!(seq(0x7fff_fff0) + 0x20, seq(0x10));
        assert_eq!(seq(5) + (1 << 31), seq(5));
        assert_eq!(Seq::new(1 << 31), None);
    }

    #[test]
    fn offsets_take_the_short_way_round() {
        assert_eq!(seq(10).offset(seq(14)), 4);
        assert_eq!(seq(14).offset(seq(10)), -4);
        assert_eq!(seq(0x7fff_ffff).offset(seq(0)), 1);
        assert_eq!(seq(1).offset(seq(0x7fff_fffe)), -3);
        assert_eq!(seq(0).offset(seq((1 << 30) - 1)), (1 << 30) - 1);
        assert_eq!(seq(0).offset(seq(1 << 30)), -(1 << 30));
    }

    #[test]
    fn unwrapped_numbers_outlive_the_wrap() {
        let isn = seq(0x7fff_fff0);
        assert_eq!(seq(0x7fff_fff0).number(isn, 0), Some(0));
        assert_eq!(seq(0x7fff_ffef).number(isn, 0), None);
        assert_eq!(seq(0).number(isn, 12), Some(16));
        let far = 5 * (1 << 31) + 7;
        assert_eq!((isn + far).number(isn, far - 1000), Some(far));
        assert_eq!((isn + far).number(isn, far + 1000), Some(far));
    }

    #[test]
    fn the_other_numbers_wrap_as_libudt_does() {
        assert_eq!(AckNumber::new(0x7fff_ffff).map(AckNumber::next), AckNumber::new(0));
        assert_eq!(MessageNumber::new(0x1fff_fffe).map(MessageNumber::next), Some(MessageNumber::FIRST));
        assert_eq!(MessageNumber::new(1 << 29), None);
        assert_eq!(SocketId::new(0), None);
        assert_eq!(SocketId::new(1 << 31), None);
        assert_eq!(SocketId::new(0x7fff_ffff).map(SocketId::get), Some(0x7fff_ffff));
    }
}
