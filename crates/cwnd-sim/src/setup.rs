//! The setup of a run, as plain data.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Deref;

use cwnd::registry::Transport;
use cwnd::window::{RateLimited, SlowStart};
use cwnd::{Bytes, Span, Spec, Time};
use cwnd_stack::StackSpec;

use crate::era::Era;
use crate::error::{SetupError, SetupPart, in_range, require};
use crate::net::packet::AckEcho;
use crate::net::route::{FlowRoutes, Routes};
use crate::net::setup::{Class, HalfDuplex, HostPair, LinkId, LinkSetup, NodeId, Tap};
use crate::tcp::recovery::RecoveryScheme;
use crate::tcp::{LinuxHost, Reassembly, largest_window};
use crate::traffic::{CbrSetup, Interarrival, Pages, Pause, Sizes, Source};

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
    /// Groups of finite flows that come and go.
    pub flow_arrivals: Vec<FlowArrivalsSetup>,
    /// Links where each packet is recorded, and some are lost on purpose.
    pub taps: Vec<Tap>,
    /// The simulated time.
    pub duration: Span,
    /// When measuring starts; below `duration`.
    pub warmup: Span,
    /// Equal seeds are equal runs.
    pub seed: u64,
    /// The draws of the seed.
    pub variation: Variation,
    /// The maximum number of packets of each flow to log at its sender; none for no log. It does not change the run.
    pub packet_log: Option<usize>,
    /// The samples over time; none for only the start, the end of the warm-up and the end.
    pub sampling: Option<Sampling>,
}

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
    /// The links its data crosses, in order; none for the route of least delay.
    pub via: Option<Vec<LinkId>>,
    /// The links its acknowledgements cross, in order; none for the route of least delay.
    pub via_back: Option<Vec<LinkId>>,
    /// When it starts, before what the seed adds.
    pub start: Time,
    /// The data that its application supplies.
    pub source: Source,
    /// When its application stops supplying new data; none for never.
    pub stop: Option<Time>,
    /// The periods before that in which it supplies no data, in order.
    pub pauses: Vec<Pause>,
    /// Round-trip propagation delay of its own, on top of the links: its access links.
    pub access_rtt: Span,
    /// A data packet on the wire.
    pub packet: Bytes,
    /// Application data of a packet, in bytes.
    pub payload: Bytes,
    /// An acknowledgement on the wire.
    pub ack: Bytes,
    /// The receiver's window, packets; none for no bound.
    pub max_window: Option<f64>,
    /// Spread a window algorithm's packets over the round trip even where the algorithm does not request it.
    pub paced: bool,
    /// Behaviours of its hosts that are those of Linux.
    pub host: LinuxHost,
    /// The kind of slow start; none for that of the era.
    pub slow_start: Option<SlowStart>,
    /// The growth of an unused window; none for that of the era.
    pub rate_limited: Option<RateLimited>,
    /// The capacity that an earlier connection measured, for a window algorithm to jump to half of it (RFC 9959); none for a start without.
    pub resume: Option<SavedPath>,
    /// Whether packets are ECN-capable, and how the receiver echoes marks.
    pub ecn: Option<AckEcho>,
    /// Acknowledge every second packet or after this time, but the first ones at once, as many as the era has; none: every packet at
    /// once.
    pub delayed_ack: Option<Span>,
    /// Acknowledgements are aggregated: the first that is due waits for this time, and all that become due meanwhile leave
    /// together with it, as behind a radio or cable link. None: no aggregation.
    pub ack_aggregation: Option<Span>,
    /// The host of either end wakes for arrivals only this often, and handles together all packets that have arrived since; a whole stack
    /// then answers them at once. At most 100 ms; none: each packet wakes its host. The seed draws the phase of each host.
    pub wake: Option<Span>,
    /// The clock of either host ticks this often, and its timers expire at ticks: those of retransmission, delayed acknowledgement,
    /// pacing and the application. At most 1 s; none: timers are exact. The timer of a handshake always is.
    pub timer: Option<Span>,
    /// The detection and repair of losses.
    pub recovery: RecoveryScheme,
    /// Treatment of a packet that arrives before an earlier one.
    pub reassembly: Reassembly,
    /// The class of its packets in both directions; only RIO queues look at it.
    pub class: Class,
    /// The hosts of its sender and its receiver; only CAKE looks at them.
    pub hosts: HostPair,
    /// Round trips of small packets before the first data, 0 to 2, of senders like those of TCP; others have none. One is that of TCP or
    /// QUIC, two are those of TCP with TLS 1.3. A packet without an answer leaves again after 1 s, and then after twice as long (RFC 6298
    /// section 2). Each is a sample of the round-trip time, so that the first timeout of data is not the initial one.
    pub handshake: u32,
    /// The behaviour of sender and receiver.
    pub era: Era,
}

/// The capacity of a path, as an earlier connection measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPath {
    /// The window, bytes on the wire.
    pub window: u64,
    /// The least round-trip time.
    pub rtt: Span,
}

/// Finite flows that arrive at random. The trace has their sums, not each flow.
#[derive(Clone, Debug)]
pub struct FlowArrivalsSetup {
    /// The template of its flows. The first may arrive at its `start` and none after its `stop`; its source is
    /// [`Source::Bulk`] without pauses, because sizes are drawn.
    pub flow: FlowSetup,
    /// The mean time between arrivals of flows, or of sessions where there are `pages`.
    pub gap: Interarrival,
    /// The size of each flow, in packets.
    pub sizes: Sizes,
    /// Arrivals are sessions of web users; none: each arrival is a flow.
    pub pages: Option<Pages>,
    /// The access lines of each flow are longer by a uniform draw from zero to this, both ways together.
    pub rtt_spread: Span,
    /// The maximum number of flows at once, each until its last packet is acknowledged. Further arrivals are
    /// refused and counted: a group that requests more than the network carries would grow without end.
    pub limit: NonZeroU32,
}

/// Variations of real networks that a simulator must draw: without them, flows synchronise at a drop-tail queue.
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

/// The samples over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Time between samples; above zero.
    pub interval: Span,
    /// Record the internals of algorithms too.
    pub internals: bool,
}

/// A setup whose fields and routes were checked, so that none of its runs has to check them again.
#[derive(Clone, Debug)]
pub struct CheckedSetup(Setup);

/// A setup that cannot be run, and why.
#[derive(Debug)]
pub struct RefusedSetup {
    /// The setup, as it was given.
    pub setup: Box<Setup>,
    /// The first thing wrong with it.
    pub error: SetupError,
}

impl CheckedSetup {
    /// This setup with another seed and another length of the packet log; every value of these is accepted.
    ///
    /// ```
    /// use cwnd::{Span, Spec};
    /// use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, run_checked};
    ///
    /// let reno = [Spec::parse("reno").expect("registered")];
    /// let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    /// let lossy = Dumbbell { loss: Loss::Bernoulli(0.01), ..path };
    /// let setup = lossy.setup(&reno, Era::MODERN, Span::from_secs(2), Span::ZERO, 1).checked().expect("in range");
    /// let digests = [1, 2].map(|seed| run_checked(&setup.with_seed(seed, None), &mut |_now| true).expect("it runs").digest);
    /// assert_ne!(digests[0], digests[1]);
    /// ```
    #[must_use]
    pub fn with_seed(&self, seed: u64, packet_log: Option<usize>) -> Self {
        Self(Setup { seed, packet_log, ..self.0.clone() })
    }

    /// The setup, which may be changed then.
    #[must_use]
    pub fn into_setup(self) -> Setup {
        self.0
    }
}

impl Deref for CheckedSetup {
    type Target = Setup;

    fn deref(&self) -> &Setup {
        &self.0
    }
}

impl Setup {
    /// Checks every field and every route, once for all runs.
    ///
    /// # Errors
    /// A field is out of range, a flow's nodes are not connected, or its access delay is too short: the first of these.
    pub fn checked(self) -> Result<CheckedSetup, RefusedSetup> {
        match self.check() {
            Ok(()) => Ok(CheckedSetup(self)),
            Err(error) => Err(RefusedSetup { setup: Box::new(self), error }),
        }
    }

    /// Checks every field and every route.
    ///
    /// ```
    /// use cwnd::{Span, Spec};
    /// use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit};
    ///
    /// let reno = [Spec::parse("reno").expect("registered")];
    /// let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    /// let lossy = Dumbbell { loss: Loss::Bernoulli(1.5), ..path };
    /// let error = lossy.setup(&reno, Era::MODERN, Span::from_secs(10), Span::ZERO, 1).check().expect_err("a share");
    /// assert!(error.to_string().contains("loss"), "{error}");
    /// ```
    ///
    /// # Errors
    /// A field is out of range, a flow's nodes are not connected, or its access delay is too short: the first of these.
    pub fn check(&self) -> Result<(), SetupError> {
        let whole = &SetupPart::Setup;
        in_range(self.duration > Span::ZERO, whole, "duration", "any time above zero")?;
        let duration = self.duration;
        in_range(self.warmup < duration, whole, "warmup", format_args!("less than the duration, {duration}"))?;
        let empty = self.flows.is_empty() && self.cbr.is_empty() && self.flow_arrivals.is_empty();
        require(!empty, &SetupPart::Field("flows"), "there must be at least one")?;
        for (field, part) in [("variation.rtt", self.variation.rtt), ("variation.jitter", self.variation.jitter)] {
            in_range((0.0..1.0).contains(&part), whole, field, "at least 0 and below 1")?;
        }
        if let Some(sampling) = self.sampling {
            require(sampling.interval > Span::ZERO, &SetupPart::Field("sampling"), "the interval must be above zero")?;
        }
        for link in &self.links {
            self.check_ends((link.from, link.to), &SetupPart::Link(link.name.clone()))?;
            link.check()?;
        }
        self.check_channels()?;
        let tapped = self.taps.iter().all(|tap| (tap.link.0 as usize) < self.links.len());
        require(tapped, &SetupPart::Field("taps"), "must be on links")?;
        self.flows.iter().try_for_each(|flow| self.check_flow(flow, &SetupPart::Flow(flow.name.clone())))?;
        for cbr in &self.cbr {
            self.check_ends((cbr.from, cbr.to), &SetupPart::Cbr(cbr.name.clone()))?;
            cbr.check()?;
        }
        self.flow_arrivals.iter().try_for_each(|group| self.check_arrivals(group))?;
        let mut routes = Routes::default();
        self.flows.iter().try_for_each(|flow| self.flow_routes(&mut routes, flow, SetupPart::Flow).map(drop))?;
        self.cbr.iter().try_for_each(|cbr| self.cbr_routes(&mut routes, cbr).map(drop))?;
        self.flow_arrivals
            .iter()
            .try_for_each(|group| self.flow_routes(&mut routes, &group.flow, SetupPart::FlowArrivals).map(drop))
    }

    /// The links of a channel agree on how they share it.
    fn check_channels(&self) -> Result<(), SetupError> {
        let mut channels = BTreeMap::new();
        for link in &self.links {
            let Some(HalfDuplex { channel, sharing }) = link.half_duplex else { continue };
            let agreed = *channels.entry(channel).or_insert(sharing) == sharing;
            in_range(agreed, &SetupPart::Link(link.name.clone()), "duplex", "that of the other links of its channel")?;
        }
        Ok(())
    }

    /// The links that each flow's data crosses, in order.
    ///
    /// # Errors
    /// A flow's nodes are not connected, or its access delay is too short.
    pub fn paths(&self) -> Result<Vec<Vec<LinkId>>, SetupError> {
        let mut routes = Routes::default();
        let path = |flow| {
            let forward = self.flow_routes(&mut routes, flow, SetupPart::Flow)?.forward;
            Ok(routes.links(forward).map(LinkId).collect())
        };
        self.flows.iter().map(path).collect()
    }

    /// The links that the data of each group crosses, in order.
    ///
    /// # Errors
    /// A group's nodes are not connected, or its access delay is too short.
    pub fn arrivals_paths(&self) -> Result<Vec<Vec<LinkId>>, SetupError> {
        let mut routes = Routes::default();
        let path = |group: &FlowArrivalsSetup| {
            let forward = self.flow_routes(&mut routes, &group.flow, SetupPart::FlowArrivals)?.forward;
            Ok(routes.links(forward).map(LinkId).collect())
        };
        self.flow_arrivals.iter().map(path).collect()
    }

    /// The links that the data of each of `flows` crosses, and those that its acknowledgements cross, in order.
    ///
    /// # Errors
    /// The nodes of a flow are not connected, or its access delay is too short.
    pub fn ways<'a>(
        &self,
        flows: impl IntoIterator<Item = &'a FlowSetup>,
    ) -> Result<Vec<[Vec<LinkId>; 2]>, SetupError> {
        let mut routes = Routes::default();
        let ways = |flow: &FlowSetup| {
            let FlowRoutes { forward, reverse, .. } = self.flow_routes(&mut routes, flow, SetupPart::Flow)?;
            Ok([forward, reverse].map(|way| routes.links(way).map(LinkId).collect()))
        };
        flows.into_iter().map(ways).collect()
    }

    /// The links that each flow without congestion control crosses, in order.
    ///
    /// # Errors
    /// The nodes of a flow are not connected.
    pub fn cbr_paths(&self) -> Result<Vec<Vec<LinkId>>, SetupError> {
        let mut routes = Routes::default();
        let path = |cbr| {
            let forward = self.cbr_routes(&mut routes, cbr)?.forward;
            Ok(routes.links(forward).map(LinkId).collect())
        };
        self.cbr.iter().map(path).collect()
    }

    /// Checks a flow that errors call `part`.
    fn check_flow(&self, flow: &FlowSetup, part: &SetupPart) -> Result<(), SetupError> {
        self.check_ends((flow.from, flow.to), part)?;
        require(flow.packet.0 > 0 && flow.ack.0 > 0, part, "packets must have at least one byte")?;
        let most = flow.packet;
        in_range(flow.payload <= most, part, "payload", format_args!("at most a packet, {} bytes", most.0))?;
        in_range(flow.max_window.is_none_or(|window| window >= 1.0), part, "max_window", "at least 1 packet")?;
        let shakes = flow.handshake <= MAX_ROUND_TRIPS;
        in_range(shakes, part, "handshake", format_args!("0 to {MAX_ROUND_TRIPS} round trips"))?;
        check_host(flow, part)?;
        flow.source.check(part, flow.start, flow.stop, &flow.pauses, flow.packet)?;
        if flow.algorithm.entry().transport == Transport::Stack {
            let stack = StackSpec::of(&flow.algorithm);
            let fits = stack.is_some_and(|stack| flow.packet.0 > stack.headers().0);
            require(fits, part, "its stack must be one of `cwnd_stack`, and a packet longer than its headers")?;
        }
        let entry = flow.algorithm.entry();
        let endless = entry.transport != Transport::Datagram || !matches!(flow.source, Source::Packets(_));
        let name = entry.name;
        let once = "which sends nothing twice, so that a transfer may never be complete";
        in_range(endless, part, "size", format_args!("none for `{name}`, {once}"))?;
        let plain = entry.transport != Transport::Routed;
        let carried = "whose acknowledgements carry what routers wrote";
        let selective = plain || flow.recovery == RecoveryScheme::Sack;
        in_range(selective, part, "recovery", format_args!("`sack` for `{name}`, {carried}"))?;
        let single = plain || flow.ack_aggregation.is_none();
        in_range(single, part, "ack_aggregation", format_args!("none for `{name}`, {carried}"))?;
        let answered = flow.ecn.is_none() || entry.answers_marks();
        in_range(answered, part, "ecn", format_args!("none for `{name}`, whose sender does not answer marks"))?;
        require(flow.delayed_ack != Some(Span::ZERO), part, "the delay of acknowledgements must be above zero")?;
        require(
            flow.ack_aggregation != Some(Span::ZERO),
            part,
            "the aggregation of acknowledgements must be above zero",
        )?;
        for (field, interval, most) in [("wake", flow.wake, MAX_WAKE), ("timer", flow.timer, MAX_TICK)] {
            let fits = interval.is_none_or(|interval| interval > Span::ZERO && interval <= most);
            in_range(fits, part, field, format_args!("above 0s and at most {most}"))?;
        }
        Ok(())
    }

    fn check_arrivals(&self, group: &FlowArrivalsSetup) -> Result<(), SetupError> {
        let part = SetupPart::FlowArrivals(group.flow.name.clone());
        self.check_flow(&group.flow, &part)?;
        let plain = group.flow.source == Source::Bulk && group.flow.pauses.is_empty();
        require(plain, &part, "its flows have neither a source nor pauses of their own")?;
        let repeats = group.flow.algorithm.entry().transport != Transport::Datagram;
        in_range(repeats, &part, "algorithm", "one that retransmits lost packets: its flows have an end")?;
        let whole = group.flow.algorithm.entry().transport == Transport::Stack;
        require(!whole, &part, "whole stacks are flows, but not flows that come and go")?;
        group.gap.check(&part)?;
        group.sizes.check(&part)?;
        group.pages.map_or(Ok(()), |pages| pages.check(&part))
    }

    fn check_ends(&self, (from, to): (NodeId, NodeId), part: &SetupPart) -> Result<(), SetupError> {
        let has = |node: NodeId| (node.0 as usize) < self.nodes.len();
        require(has(from) && has(to), part, "its ends must be nodes")
    }

    /// The routes there and back of a flow; errors are about the `part` of its name.
    pub(crate) fn flow_routes(
        &self,
        routes: &mut Routes,
        flow: &FlowSetup,
        part: fn(String) -> SetupPart,
    ) -> Result<FlowRoutes, SetupError> {
        let mut way = |via: Option<&[LinkId]>, from, to| {
            match via {
            None => self.route(routes, (part, &flow.name), from, to),
            Some(via) => routes.along(&self.links, via, (from, to)).ok_or_else(|| {
                let reason = "each link of its route must begin where the one before ends, from its sender to its receiver or back";
                SetupError::Field { part: part(flow.name.clone()), reason: reason.to_string() }
            }),
        }
        };
        let forward = way(flow.via.as_deref(), flow.from, flow.to)?;
        let reverse = way(flow.via_back.as_deref(), flow.to, flow.from)?;
        let delays = routes.links(forward).chain(routes.links(reverse)).map(|link| self.links[link as usize].delay);
        let base_rtt = delays.fold(flow.access_rtt, |sum, delay| sum + delay);
        if flow.access_rtt < base_rtt.mul_f64(self.variation.rtt) {
            let (access, variation) = (flow.access_rtt, self.variation.rtt);
            return Err(SetupError::Access { part: part(flow.name.clone()), access, base_rtt, variation });
        }
        Ok(FlowRoutes { forward, reverse, base_rtt })
    }

    /// The route of a flow without a receiver that answers.
    pub(crate) fn cbr_routes(&self, routes: &mut Routes, cbr: &CbrSetup) -> Result<FlowRoutes, SetupError> {
        let forward = self.route(routes, (SetupPart::Cbr, &cbr.name), cbr.from, cbr.to)?;
        Ok(FlowRoutes { forward, reverse: forward, base_rtt: Span::ZERO })
    }

    fn route(
        &self,
        routes: &mut Routes,
        (part, name): (fn(String) -> SetupPart, &str),
        from: NodeId,
        to: NodeId,
    ) -> Result<u32, SetupError> {
        let node = |node: NodeId| self.nodes[node.0 as usize].clone();
        routes.find(&self.links, from, to).ok_or_else(|| SetupError::Unreachable {
            part: part(name.to_string()),
            from: node(from),
            to: node(to),
        })
    }
}

/// Checks what the hosts of `flow` do as those of Linux.
fn check_host(flow: &FlowSetup, part: &SetupPart) -> Result<(), SetupError> {
    let FlowSetup { host, .. } = flow;
    let entry = flow.algorithm.entry();
    let fits = *host == LinuxHost::default() || entry.transport == Transport::Acked;
    let name = entry.name;
    in_range(fits, part, "host", format_args!("`plain` for `{name}`, whose hosts are not those of TCP"))?;
    in_range(!(host.fq && flow.paced), part, "paced", "false with `fq`, which paces by itself")?;
    require(host.gro != Some(Span::ZERO), part, "the time of `gro` must be above zero")?;
    let Some(buffer) = host.autotune else { return Ok(()) };
    let most = largest_window(buffer, flow.payload);
    let accepted = "`autotune` with a buffer of which half holds 1 to 65535 packets";
    in_range((1..=u64::from(u16::MAX)).contains(&most), part, "host", accepted)?;
    in_range(flow.max_window.is_none(), part, "max_window", "none with `autotune`, which has a bound of its own")
}

/// Longer, packets that wait for a host would be memory outside of every bound.
const MAX_WAKE: Span = Span::from_millis(100);
/// A coarser clock is that of no host.
const MAX_TICK: Span = Span::from_secs(1);
/// The most round trips of a handshake: TCP and TLS 1.3.
const MAX_ROUND_TRIPS: u32 = 2;
