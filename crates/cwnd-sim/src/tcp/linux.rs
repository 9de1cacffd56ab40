//! Behaviours of Linux hosts at both ends of a flow, and the sizes that follow from them.

use cwnd::{Bytes, Span};

/// Behaviours of Linux hosts at both ends of a flow, beyond its [`Era`](crate::Era); for TCP alone. None by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinuxHost {
    /// Segmentation offload: packets leave in bursts of what the sender's rate carries in a millisecond, at least two packets and at most 64
    /// KiB.
    pub tso: bool,
    /// The sender is paced as in front of a fair queue: twice its window per round trip in slow start, 1.2 times its window later, unless
    /// its algorithm paces by itself.
    pub fq: bool,
    /// Receive offload: packets that arrive within this time of the first are taken as one segment, up to 64 KiB, which one acknowledgement
    /// answers.
    pub gro: Option<Span>,
    /// The size of the receive buffer, bytes. The receiver's window starts at 64 KiB and grows with arrivals up to half of the buffer.
    pub autotune: Option<Bytes>,
    /// Cuts leave whole packets, as in a kernel that counts windows in them.
    pub whole: bool,
    /// The smallest retransmission timeout instead of the era's; Linux has 200 ms (`TCP_RTO_MIN`).
    pub min_rto: Option<Span>,
}

/// The number of packets of `payload` in the largest segment: 64 KiB, at least one packet.
pub(crate) fn packets_in_segment(payload: Bytes) -> u64 {
    u64::from(LARGEST_SEGMENT / payload.0.max(1)).max(1)
}

/// The first window of a receiver that sizes it, in packets that carry `payload`: 64 KiB, half of `tcp_rmem`'s default.
pub(crate) fn initial_window(payload: Bytes) -> u64 {
    u64::from(FIRST_WINDOW / payload.0.max(1)).max(1)
}

/// The largest window that a receive buffer of `buffer` bytes allows, in packets that carry `payload`: half of it, since the bookkeeping
/// of each packet takes room too (`tcp_adv_win_scale` 1).
pub(crate) fn largest_window(buffer: Bytes, payload: Bytes) -> u64 {
    u64::from(buffer.0 / 2 / payload.0.max(1))
}

/// The largest value of IP's length field.
const LARGEST_SEGMENT: u32 = 64 << 10;
/// Half of 131072, the default of `tcp_rmem`.
const FIRST_WINDOW: u32 = 64 << 10;
