//! Queues of flows under COBALT.

use cwnd::{Bytes, Span};

use crate::error::{SetupError, SetupPart, require};

/// CAKE (Linux `net/sched/sch_cake.c`, as with `besteffort`): 1024 queues of flows in sets of eight, by a hash that the seed
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
    /// How flows of one host share.
    pub isolation: Isolation,
}

/// The parties between which CAKE shares a link (tc-cake(8)).
///
/// A flow weighs less by the number of queues of its host that take turns as bulk flows do: with eight of them, each has an eighth of a
/// quantum in a turn. As in `cake_get_flow_quantum`, shares of a quantum are rounded up or down at random, here with numbers of the queue's
/// own; unlike there, a whole quantum is never a byte short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Flows, whoever sends them.
    Flows,
    /// Sources: all flows of one share a queue.
    SrcHost,
    /// Destinations: all flows to one share a queue.
    DstHost,
    /// Pairs of hosts: all flows between two share a queue.
    Hosts,
    /// Sources, then the flows of each.
    DualSrcHost,
    /// Destinations, then the flows to each.
    DualDstHost,
    /// Sources and destinations, then flows: of the two hosts of a flow the one with more flows counts. CAKE's default.
    #[default]
    TripleIsolate,
}

/// The hosts at both ends of a flow, by any numbers: flows with equal numbers share the host. None: a host of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPair {
    /// The host that sends the data.
    pub source: Option<u32>,
    /// The host that receives it.
    pub destination: Option<u32>,
}

impl Isolation {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::TripleIsolate,
        Self::Flows,
        Self::SrcHost,
        Self::DstHost,
        Self::Hosts,
        Self::DualSrcHost,
        Self::DualDstHost,
    ];

    /// Its keyword in tc-cake(8).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::SrcHost => "srchost",
            Self::DstHost => "dsthost",
            Self::Hosts => "hosts",
            Self::DualSrcHost => "dual-srchost",
            Self::DualDstHost => "dual-dsthost",
            Self::TripleIsolate => "triple-isolate",
        }
    }

    /// Whether it looks at the source of a packet, and at its destination.
    #[must_use]
    pub const fn reads(self) -> [bool; 2] {
        match self {
            Self::Flows => [false, false],
            Self::SrcHost | Self::DualSrcHost => [true, false],
            Self::DstHost | Self::DualDstHost => [false, true],
            Self::Hosts | Self::TripleIsolate => [true, true],
        }
    }

    /// Whether flows of one host share a queue.
    pub(crate) const fn queues_hosts(self) -> bool {
        matches!(self, Self::SrcHost | Self::DstHost | Self::Hosts)
    }

    /// Whether a source and a destination have a share that their flows divide.
    pub(crate) const fn weighs_hosts(self) -> [bool; 2] {
        if self.queues_hosts() { [false, false] } else { self.reads() }
    }
}

impl HostPair {
    /// Those of packets in the other direction.
    #[must_use]
    pub const fn exchanged(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

impl CakeSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let ordered = self.target > Span::ZERO && self.target < self.interval;
        require(ordered, part, "CAKE's target is above zero and below its interval")?;
        require(self.mtu.0 > 0, part, "CAKE's largest packet has at least one byte")
    }
}

impl Default for CakeSetup {
    /// `cake_init`: 5 ms in 100 ms, with marks, without the filter, with triple isolation. Packets of at most 1500 bytes.
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes(1500),
            mark: true,
            ack_filter: false,
            isolation: Isolation::default(),
        }
    }
}
