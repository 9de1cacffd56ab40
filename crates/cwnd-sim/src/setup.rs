//! What a run is made of, as plain data.

use cwnd::registry::Transport;
use cwnd::window::SlowStart;
use cwnd::{Bytes, Span, Spec, Time};
use thiserror::Error;

use crate::era::Era;
use crate::net::route::Routes;
use crate::net::setup::{Class, LinkSetup, Tap};
use crate::tcp::recovery::RecoveryScheme;
use crate::traffic::{CbrSetup, CrowdSetup, Pause, Source};

/// Everything a run needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Names of the nodes; a [`NodeId`] indexes them.
    pub nodes: Vec<String>,
    /// The links, each in one direction.
    pub links: Vec<LinkSetup>,
    /// The flows under study, recorded one by one.
    pub flows: Vec<FlowSetup>,
    /// Flows without congestion control.
    pub cbr: Vec<CbrSetup>,
    /// Crowds of finite flows that come and go.
    pub crowds: Vec<CrowdSetup>,
    /// Links where each packet is recorded, and some are lost on purpose.
    pub taps: Vec<Tap>,
    /// How long to simulate.
    pub duration: Span,
    /// When measuring starts; below `duration`.
    pub warmup: Span,
    /// Equal seeds are equal runs.
    pub seed: u64,
    /// What the seed draws.
    pub variation: Variation,
    /// Log the packets of every flow at its sender, at most so many of each. Changes nothing else about a run.
    pub packet_log: Option<usize>,
    /// What is recorded over time; without it only the start, the end of the warm-up and the end are.
    pub sampling: Option<Sampling>,
}

/// Indexes [`Setup::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Indexes [`Setup::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// A flow under congestion control.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Its name in traces.
    pub name: String,
    /// Its algorithm.
    pub algorithm: Spec,
    /// Where its sender is.
    pub from: NodeId,
    /// Where its receiver is.
    pub to: NodeId,
    /// When it starts, before what the seed adds.
    pub start: Time,
    /// What its application hands over.
    pub source: Source,
    /// When its application stops handing over new data; none for never.
    pub stop: Option<Time>,
    /// When it hands nothing over before that, in order.
    pub pauses: Vec<Pause>,
    /// Round-trip propagation delay of its own, on top of the links: its access links.
    pub access_rtt: Span,
    /// A data packet on the wire.
    pub packet: Bytes,
    /// What a data packet carries for the application.
    pub payload: Bytes,
    /// An acknowledgement on the wire.
    pub ack: Bytes,
    /// The receiver's window, packets; none for no bound.
    pub max_window: Option<f64>,
    /// Spread a window algorithm's packets over the round trip even where the algorithm does not ask for it.
    pub paced: bool,
    /// How slow start grows; none for the era's way.
    pub slow_start: Option<SlowStart>,
    /// Packets are ECN-capable, and how their marks come back.
    pub ecn: Option<AckEcho>,
    /// Acknowledge every second packet or after this time; none: every packet at once.
    pub delayed_ack: Option<Span>,
    /// Acknowledgements wait for one another: the first that is due waits for this time, and all that become due meanwhile leave
    /// together with it, as behind a radio or cable link. None: none waits.
    pub ack_aggregation: Option<Span>,
    /// How losses are found and mended.
    pub recovery: RecoveryScheme,
    /// What the receiver does with a packet that arrives before another one.
    pub reassembly: Reassembly,
    /// The class of its packets in both directions; only RIO queues look at it.
    pub class: Class,
    /// The habits of sender and receiver.
    pub era: Era,
}

/// How a receiver echoes congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckEcho {
    /// Every acknowledgement carries the echo until the sender confirms its reaction (RFC 3168 section 6.1.3).
    Latch,
    /// An acknowledgement carries the echo if its packet was marked.
    PerPacket,
}

/// What a receiver does with a packet that arrives before another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reassembly {
    /// It keeps the packet and tells the sender so, with selective acknowledgements for those who read them (RFC 2018).
    #[default]
    Selective,
    /// It keeps nothing out of order and sends no acknowledgement for it: everything from the first loss on must come again.
    GoBackN,
}

impl Reassembly {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Selective, Self::GoBackN];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Selective => "sack",
            Self::GoBackN => "go-back-n",
        }
    }

    /// The kind called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What real networks vary and a simulator must draw: without it, flows fall into step at a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// Each start is delayed by a uniform draw from zero to this much; none: to one base round-trip time of the flow.
    pub start: Option<Span>,
    /// Each base round-trip time is scaled by a uniform draw from 1 - this to 1 + this; below 1.
    pub rtt: f64,
    /// Each data packet is delayed on leaving by a uniform draw from zero to this fraction of its transmission time on the
    /// slowest link of its route; below 1.
    pub jitter: f64,
}

/// What is recorded over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Time between samples; above zero.
    pub interval: Span,
    /// Record the internals of algorithms too.
    pub internals: bool,
}

/// A setup contradicts itself.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SetupError {
    /// A field is outside its range.
    #[error("{place}: {reason}")]
    Field {
        /// Which link, flow, cbr, crowd or field.
        place: String,
        /// What is wrong, and what is accepted.
        reason: String,
    },
    /// The caller ended the run.
    #[error("interrupted")]
    Interrupted,
    /// A flow's nodes are not connected.
    #[error("{kind} `{flow}`: no route from `{from}` to `{to}`")]
    Unreachable {
        /// `flow`, `cbr` or `crowd`.
        kind: &'static str,
        /// Its name.
        flow: String,
        /// One end.
        from: String,
        /// The other end.
        to: String,
    },
}

impl Setup {
    /// Checks every field and every route.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self) -> Result<(), SetupError> {
        require(self.duration > Span::ZERO, "duration", "must be above zero")?;
        require(self.warmup < self.duration, "warmup", "must be shorter than the duration")?;
        let nobody = self.flows.is_empty() && self.cbr.is_empty() && self.crowds.is_empty();
        require(!nobody, "flows", "there must be at least one")?;
        require((0.0..1.0).contains(&self.variation.rtt), "variation.rtt", "must be at least 0 and below 1")?;
        require((0.0..1.0).contains(&self.variation.jitter), "variation.jitter", "must be at least 0 and below 1")?;
        if let Some(sampling) = self.sampling {
            require(sampling.interval > Span::ZERO, "sampling.interval", "must be above zero")?;
        }
        self.links.iter().try_for_each(|link| link.check(self))?;
        let tapped = self.taps.iter().all(|tap| (tap.link.0 as usize) < self.links.len());
        require(tapped, "taps", "must be on links")?;
        self.flows.iter().try_for_each(|flow| self.check_flow(flow, &format!("flow `{}`", flow.name)))?;
        self.cbr.iter().try_for_each(|cbr| cbr.check(self))?;
        self.crowds.iter().try_for_each(|crowd| crowd.check(self))?;
        let mut routes = Routes::default();
        self.flows.iter().try_for_each(|flow| routes.of_flow(self, flow, "flow").map(drop))?;
        self.cbr.iter().try_for_each(|cbr| routes.of_cbr(self, cbr).map(drop))?;
        self.crowds.iter().try_for_each(|crowd| routes.of_flow(self, &crowd.flow, "crowd").map(drop))
    }

    /// The links that each flow's data crosses, in order.
    ///
    /// # Errors
    /// A flow's nodes are not connected, or its access delay is too short.
    pub fn paths(&self) -> Result<Vec<Vec<LinkId>>, SetupError> {
        let mut routes = Routes::default();
        let path =
            |flow| routes.of_flow(self, flow, "flow").map(|found| routes.links(found.forward).map(LinkId).collect());
        self.flows.iter().map(path).collect()
    }

    /// Checks a flow that errors call `place`.
    pub(crate) fn check_flow(&self, flow: &FlowSetup, place: &str) -> Result<(), SetupError> {
        require(self.has(flow.from) && self.has(flow.to), place, "its ends must be nodes")?;
        require(flow.packet.0 > 0 && flow.ack.0 > 0, place, "packets must have at least one byte")?;
        require(flow.payload <= flow.packet, place, "the payload must fit into the packet")?;
        require(
            flow.max_window.is_none_or(|window| window >= 1.0),
            place,
            "the receiver's window must be at least 1 packet",
        )?;
        flow.source.check(place, flow.start, flow.stop, &flow.pauses)?;
        let repeats = flow.algorithm.entry().transport != Transport::Datagram;
        let name = flow.algorithm.entry().name;
        require(
            repeats || !matches!(flow.source, Source::Packets(_)),
            place,
            &format!("`{name}` sends nothing twice, so that a transfer may never be complete: it takes no size"),
        )?;
        let plain = flow.recovery == RecoveryScheme::Sack && flow.ack_aggregation.is_none();
        require(
            plain || flow.algorithm.entry().transport != Transport::Routed,
            place,
            &format!("`{name}` wants selective acknowledgements (recovery `sack`), none of which wait for others"),
        )?;
        require(flow.delayed_ack != Some(Span::ZERO), place, "the delay of acknowledgements must be above zero")?;
        require(
            flow.ack_aggregation != Some(Span::ZERO),
            place,
            "the aggregation of acknowledgements must be above zero",
        )
    }

    pub(crate) fn has(&self, node: NodeId) -> bool {
        (node.0 as usize) < self.nodes.len()
    }
}

/// An error at `place` unless `holds`.
pub(crate) fn require(holds: bool, place: &str, reason: &str) -> Result<(), SetupError> {
    if holds { Ok(()) } else { Err(SetupError::Field { place: place.to_string(), reason: reason.to_string() }) }
}

/// Above every line there is; with it, sums of transmission times stay far within 64 bits.
pub(crate) const MAX_RATE: u64 = 1_000_000_000_000_000;
