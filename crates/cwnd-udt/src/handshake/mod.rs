//! How two ends become a connection.

use cwnd::Time;

use crate::number::{Seq, SocketId};
use crate::settings::Mode;

/// What two ends have settled: all that a connection needs to know of its handshake. Every value is within its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The number of the first packet sent.
    pub isn_ours: Seq,
    /// The number of the first packet to be received; between client and server it is the same as ours.
    pub isn_theirs: Seq,
    /// What a full packet carries, in bytes: at least 32.
    pub payload: u32,
    /// The peer's name for the connection, which packets to it carry.
    pub peer_id: SocketId,
    /// Packets the peer is ready to take in: within [`BUFFER`](crate::settings::BUFFER) or smaller, at least 2.
    pub peer_window: u32,
    /// What the connection carries.
    pub mode: Mode,
    /// The instant from which the timestamps of packets count.
    pub opened: Time,
    /// For the algorithm's own random numbers.
    pub seed: u64,
}
