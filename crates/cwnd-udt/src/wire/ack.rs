//! Acknowledgements.

use crate::number::{AckNumber, Seq};

/// A full acknowledgement. Times and counts have 31 bits; larger ones are sent as the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullAck {
    /// Its own number, which the ACK2 repeats.
    pub number: AckNumber,
    /// Every packet before this one has arrived; this one has not.
    pub next: Seq,
    /// The receiver's round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Its variation, in microseconds.
    pub rtt_var_us: u32,
    /// Packets the receiver has room for. libudt never says less than 2.
    pub window: u32,
    /// Sent at most every 10 ms.
    pub rates: Option<Rates>,
}

/// What the receiver measured, in packets per second; 0 where it does not know. At most 31 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// How fast packets arrive.
    pub arrival: u32,
    /// What the path could carry, by packet pairs.
    pub capacity: u32,
}
