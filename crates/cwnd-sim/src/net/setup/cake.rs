//! Queues of flows under COBALT.

use cwnd::{Bytes, Span};

use crate::error::{SetupError, SetupPart, require};

/// CAKE (Linux `net/sched/sch_cake.c`, as with `besteffort flows`): 1024 queues of flows in sets of eight, by a hash that the seed
/// perturbs, which take turns by bytes, sparse ones first, each under the control of COBALT, that is CoDel with BLUE. When the limit, which
/// all share, is exceeded, the longest queue in bytes loses packets from its head, one at a time.
///
/// As in `cake_set_rate`, the first rate of the link raises a `target` of less than one and a half transmissions of the largest packet, and
/// the `interval` with it, and sets the quantum: the bytes of 1/4096 s, at least 300 and at most 1514. As in `cobalt_vars_init`, a queue
/// that has never been above the target waits for no interval: it drops or marks the second packet that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeSetup {
    /// The acceptable queueing delay, and the time between two changes of BLUE's probability; above zero, below `interval`.
    pub target: Span,
    /// The time above `target` until the first drop, and the scale of the times between the next ones: about the longest round-trip time of
    /// the flows.
    pub interval: Span,
    /// The line's largest packet; at least 1 byte.
    pub mtu: Bytes,
    /// Packets that can carry a mark are marked where CoDel would drop them. BLUE drops them all the same.
    pub mark: bool,
    /// An acknowledgement of a TCP-like flow that arrives drives out the oldest of those that it makes redundant, if there are two at least
    /// (`ack-filter` of tc-cake(8)).
    pub ack_filter: bool,
}

impl CakeSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let ordered = self.target > Span::ZERO && self.target < self.interval;
        require(ordered, part, "CAKE's target is above zero and below its interval")?;
        require(self.mtu.0 > 0, part, "CAKE's largest packet has at least one byte")
    }
}

impl Default for CakeSetup {
    /// `cake_init`: 5 ms in 100 ms, with marks, without the filter. Packets of at most 1500 bytes.
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes(1500),
            mark: true,
            ack_filter: false,
        }
    }
}
