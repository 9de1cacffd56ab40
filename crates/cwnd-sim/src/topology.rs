//! The two topologies congestion control is studied on.
//!
//! In both, half of a flow's round-trip propagation delay lies on the shared links and half on its own access line, so that a
//! seed can spread the round-trip times of flows.

use cwnd::registry::Transport;
use cwnd::{Bytes, Span, Spec, Time};

use crate::era::Era;
use crate::net::setup::{Class, HostPair, LinkSetup, Loss, NodeId, QueueLimit};
use crate::setup::{FlowSetup, Sampling, Setup, Variation};
use crate::tcp::{LinuxHost, Reassembly};
use crate::traffic::Source;

/// One bottleneck: senders on the left, receivers on the right, acknowledgements back over a link of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// Of the bottleneck, bit/s.
    pub rate: u64,
    /// Round-trip propagation delay.
    pub rtt: Span,
    /// In front of the bottleneck.
    pub queue: QueueLimit,
    /// On the bottleneck.
    pub loss: Loss,
    /// Of the link back, bit/s.
    pub reverse_rate: u64,
    /// In front of the link back.
    pub reverse_queue: QueueLimit,
}

/// A chain of equal bottlenecks.
///
/// ```
/// use cwnd::Span;
/// use cwnd_sim::{ParkingLot, QueueLimit};
///
/// let lot = ParkingLot { hops: 3, rate: 50_000_000, rtt: Span::from_millis(30), queue: QueueLimit::Packets(100) };
/// assert_eq!(lot.nodes(), ["r0", "r1", "r2", "r3"]);
/// assert_eq!(lot.links().len(), 6, "forward and back");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParkingLot {
    /// Bottlenecks in the chain; at least 1.
    pub hops: u32,
    /// Of each bottleneck, bit/s.
    pub rate: u64,
    /// Round-trip propagation delay over the whole chain.
    pub rtt: Span,
    /// In front of each bottleneck, in each direction.
    pub queue: QueueLimit,
}

impl Dumbbell {
    /// The node all senders of forward flows share.
    pub const LEFT: NodeId = NodeId(0);
    /// The node all receivers of forward flows share.
    pub const RIGHT: NodeId = NodeId(1);

    /// A bottleneck of `rate` with the queue `queue`, the same in both directions.
    #[must_use]
    pub fn new(rate: u64, rtt: Span, queue: QueueLimit) -> Self {
        Self { rate, rtt, queue, loss: Loss::None, reverse_rate: rate, reverse_queue: queue }
    }

    /// Names of the nodes.
    #[must_use]
    pub fn nodes(&self) -> Vec<String> {
        vec!["left".to_string(), "right".to_string()]
    }

    /// The bottleneck, then the link back.
    #[must_use]
    pub fn links(&self) -> Vec<LinkSetup> {
        let link =
            |name: &str, ends, rate, queue| LinkSetup::new(name.to_string(), ends, Some(rate), self.rtt / 4, queue);
        let bottleneck = link("bottleneck", (Self::LEFT, Self::RIGHT), self.rate, self.queue);
        let reverse = link("reverse", (Self::RIGHT, Self::LEFT), self.reverse_rate, self.reverse_queue);
        vec![LinkSetup { loss: self.loss, ..bottleneck }, reverse]
    }

    /// A forward bulk flow with the behaviour of `era`, 1500 bytes a packet and 40 an acknowledgement.
    #[must_use]
    pub fn flow(&self, name: String, algorithm: Spec, era: Era) -> FlowSetup {
        FlowSetup::bulk(name, algorithm, era, (Self::LEFT, Self::RIGHT), self.rtt - self.rtt / 4 * 2)
    }

    /// A run of `algorithms`, one flow each, for `duration`.
    #[must_use]
    pub fn setup(&self, algorithms: &[Spec], era: Era, duration: Span, warmup: Span, seed: u64) -> Setup {
        let flows = algorithms.iter().zip(1..).map(|(spec, n)| self.flow(format!("{n}"), spec.clone(), era));
        Setup {
            nodes: self.nodes(),
            links: self.links(),
            flows: flows.collect(),
            cbr: Vec::new(),
            flow_arrivals: Vec::new(),
            taps: Vec::new(),
            packet_log: None,
            duration,
            warmup,
            seed,
            variation: Variation::default(),
            sampling: None,
        }
    }
}

impl ParkingLot {
    /// Names of the nodes, one more than hops.
    #[must_use]
    pub fn nodes(&self) -> Vec<String> {
        (0..=self.hops).map(|n| format!("r{n}")).collect()
    }

    /// The links of the chain, forward and back in turn.
    #[must_use]
    pub fn links(&self) -> Vec<LinkSetup> {
        let delay = self.rtt / (4 * u64::from(self.hops.max(1)));
        let link = |from: u32, to: u32| {
            let ends = (NodeId(from), NodeId(to));
            LinkSetup::new(format!("r{from}-r{to}"), ends, Some(self.rate), delay, self.queue)
        };
        (0..self.hops).flat_map(|n| [link(n, n + 1), link(n + 1, n)]).collect()
    }
}

impl FlowSetup {
    /// A bulk flow that starts at once and never stops, with an access line of its own.
    #[must_use]
    pub fn bulk(name: String, algorithm: Spec, era: Era, (from, to): (NodeId, NodeId), access_rtt: Span) -> Self {
        let transport = algorithm.entry().transport;
        Self {
            name,
            algorithm,
            from,
            to,
            via: None,
            via_back: None,
            start: Time::ZERO,
            source: Source::Bulk,
            stop: None,
            pauses: Vec::new(),
            access_rtt,
            packet: Bytes(1500),
            payload: Bytes(1460),
            ack: Bytes(40),
            max_window: None,
            paced: false,
            host: LinuxHost::default(),
            slow_start: None,
            rate_limited: None,
            resume: None,
            ecn: None,
            delayed_ack: era.delayed_ack.filter(|_| transport == Transport::Acked),
            ack_aggregation: None,
            wake: None,
            timer: None,
            recovery: era.scheme_over(transport),
            reassembly: Reassembly::default(),
            class: Class::default(),
            hosts: HostPair::default(),
            handshake: 0,
            era,
        }
    }
}

impl Default for Variation {
    /// Starts over one round trip, round-trip times within 5 %, jitter below one packet.
    fn default() -> Self {
        Self { start: None, rtt: 0.05, jitter: 0.9 }
    }
}

impl Default for Sampling {
    /// Every 10 ms, internals too.
    fn default() -> Self {
        Self { interval: Span::from_millis(10), internals: true }
    }
}
