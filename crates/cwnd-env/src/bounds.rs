//! How large environments may be.

/// Packets that a path may hold, and that a step may wait for. More would take gigabytes, and a step many seconds.
pub const MAX_PACKETS: u64 = 1 << 20;
