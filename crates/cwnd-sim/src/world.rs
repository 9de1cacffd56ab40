//! The simulated network and its event loop.

mod ahead;
mod audit;
mod flow_arrivals;
mod handshakes;
pub(crate) mod holders;
#[cfg(test)]
mod memory;
mod stacks;
mod wakes;

use std::collections::BTreeMap;
use std::sync::Arc;

use cwnd::{Span, Time};
use cwnd_udt::Message;

use crate::access::{InTransit, NonDataBodies};
use crate::digest::Digest;
use crate::endpoint::{Receiver, Sender};
use crate::error::{SetupError, SetupPart};
use crate::events::{Component, EventSet, Next};
use crate::flow::{Finite, Flow, FlowParameters, FlowPath};
use crate::flow_arrivals::{FlowArrivals, Request};
use crate::handshake::Handshake;
use crate::net::channel::Channel;
use crate::net::link::{Link, Verdict};
use crate::net::packet::{AckEcho, Body, Data, Ecn, Packet};
use crate::net::route::{FlowRoutes, Routes, Step};
use crate::net::setup::{Class, HalfDuplex, HostPair};
use crate::protocol::{Received, ReceiverProtocol, SenderProtocol, Timers};
use crate::random::Stream;
use crate::ring::Budget;
use crate::setup::{FlowSetup, Setup};
use crate::traffic::source::Backlog;
use crate::traffic::{CbrSetup, Source};
use crate::wakes::End;

/// Takes samples of a run.
pub(crate) trait Sampler {
    /// The instant of the next sample; [`Time::MAX`] after the last one.
    fn next(&self) -> Time;

    /// Takes a sample of `world`.
    fn sample(&mut self, world: &mut World, now: Time);
}

/// Everything that exists in a run.
pub(crate) struct World {
    /// The instant of the present action, which may be [`ahead`] of the present event.
    now: Time,
    events: EventSet,
    pub(crate) links: Vec<Link>,
    /// All flows: first those that are recorded one by one, then those without congestion control, then those of groups of arrivals. The
    /// last come and go, and their places are reused.
    pub(crate) flows: Vec<Flow>,
    pub(crate) flow_arrivals: Vec<FlowArrivals>,
    /// Round-trip times without queueing or transmission of the flows that are recorded one by one, as drawn.
    pub(crate) base_rtts: Vec<Span>,
    /// The start of each flow under congestion control, as drawn.
    pub(crate) starts: Vec<Time>,
    departures: InTransit,
    other_bodies: NonDataBodies,
    /// Handshakes of flows, by place, under way or complete.
    handshakes: BTreeMap<u32, Handshake>,
    /// Free places in `flows`: their flows have ended.
    free: Vec<u32>,
    /// Places in `flows` of whole stacks.
    stacks: Vec<u32>,
    /// A buffer; empty between events.
    requests: Vec<Request>,
    measure_from: Time,
    /// Only samples read the state between events.
    unobserved: bool,
    /// The instant before which actions ahead of their time must end.
    horizon: Time,
    /// The link that data packets may pass ahead of their time, if there is one.
    ahead: Option<u32>,
    pub(crate) routes: Routes,
    digest: Digest,
    handled: u64,
    sampled: u64,
    budget: Arc<Budget>,
}

impl World {
    /// Builds the network of a setup, with the draws of its seed.
    pub(crate) fn new(setup: &Setup) -> Result<Self, SetupError> {
        let measure_from = Time::ZERO + setup.warmup;
        let budget = Arc::new(Budget::new(MEMORY));
        let mut world = Self {
            now: Time::ZERO,
            events: EventSet::default(),
            links: setup.links.iter().map(|link| Link::new(link, setup.seed, measure_from, &budget)).collect(),
            flows: Vec::with_capacity(setup.flows.len() + setup.cbr.len()),
            flow_arrivals: Vec::with_capacity(setup.flow_arrivals.len()),
            base_rtts: Vec::with_capacity(setup.flows.len()),
            starts: Vec::with_capacity(setup.flows.len()),
            departures: InTransit::new(&budget),
            other_bodies: NonDataBodies::default(),
            handshakes: BTreeMap::new(),
            free: Vec::new(),
            stacks: Vec::new(),
            requests: Vec::new(),
            measure_from,
            unobserved: false,
            horizon: Time::ZERO,
            ahead: None,
            routes: Routes::default(),
            digest: Digest::new(),
            handled: 0,
            sampled: 0,
            budget,
        };
        let mut channels = BTreeMap::new();
        for (link, setup) in world.links.iter_mut().zip(&setup.links) {
            if let Some(HalfDuplex { channel, sharing }) = setup.half_duplex {
                link.share(channels.entry(channel).or_insert_with(|| Channel::new(sharing)));
            }
        }
        for tap in &setup.taps {
            let index = tap.link.0 as usize;
            world.links[index].tap(tap, setup.seed, &setup.links[index]);
        }
        for (index, flow) in (0_u32..).zip(&setup.flows) {
            world.add_flow(setup, index, flow)?;
        }
        for cbr in &setup.cbr {
            world.add_cbr(setup, cbr)?;
        }
        for (index, group) in setup.flow_arrivals.iter().enumerate() {
            let routes = setup.flow_routes(&mut world.routes, &group.flow, SetupPart::FlowArrivals)?;
            let path = FlowPath::new(setup, &world.routes, routes, group.flow.packet);
            world.flow_arrivals.push(FlowArrivals::new(setup, index, path));
            world.arm_arrivals(index as u32);
        }
        world.ahead = world.only_way_there();
        Ok(world)
    }

    /// Handles all events up to `until`, while `should_continue` returns true; it is called before each event with the instant of the
    /// event. Returns whether `until` was reached.
    #[inline(never)]
    pub(crate) fn simulate(
        &mut self,
        until: Time,
        sampler: &mut impl Sampler,
        should_continue: &mut dyn FnMut(&Self, Time) -> bool,
    ) -> bool {
        // Nothing ever happens at the end of time.
        let until = until.min(Time::from_nanos(u64::MAX - 1));
        loop {
            let (at, next) = self.events.first();
            if at > until {
                // A run that has to end does so where packets are missing.
                if !self.budget.is_passed() {
                    self.now = until;
                }
                return true;
            }
            if !should_continue(self, at) {
                return false;
            }
            self.now = at;
            self.handled += 1;
            match next {
                Next::Link(index) => self.leave_link(index),
                Next::Access(index) => self.leave_access(index),
                Next::Timer(component) => self.timer(component, sampler),
            }
        }
    }

    /// Schedules the first sample of `sampler`.
    pub(crate) fn record(&mut self, sampler: &impl Sampler) {
        self.events.push(sampler.next(), Component::Sample);
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far.
    pub(crate) fn handled(&self) -> u64 {
        self.handled
    }

    /// Samples taken so far, each of a flow.
    pub(crate) fn sampled(&self) -> u64 {
        self.sampled
    }

    /// The memory of packets: its bound and its use.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The flow or link of the next event.
    pub(crate) fn next_part(&self, setup: &Setup) -> SetupPart {
        match self.events.first().1 {
            Next::Link(link) | Next::Timer(Component::Link(link)) => {
                let packet = self.links[link as usize].front();
                packet.map_or_else(
                    || SetupPart::Link(setup.links[link as usize].name.clone()),
                    |packet| self.name_of_flow(setup, packet.flow),
                )
            }
            Next::Access(flow)
            | Next::Timer(
                Component::Access(flow)
                | Component::Release(flow)
                | Component::Host(flow)
                | Component::Deadline(flow)
                | Component::Receiver(flow)
                | Component::Handshake(flow)
                | Component::Start(flow),
            ) => self.name_of_flow(setup, flow),
            Next::Timer(Component::Arrival(group)) => {
                SetupPart::FlowArrivals(setup.flow_arrivals[group as usize].flow.name.clone())
            }
            Next::Timer(Component::Sample) => SetupPart::Field("sampling"),
        }
    }

    fn name_of_flow(&self, setup: &Setup, index: u32) -> SetupPart {
        let index = index as usize;
        if let Some(flow) = setup.flows.get(index) {
            return SetupPart::Flow(flow.name.clone());
        }
        if let Some(cbr) = setup.cbr.get(index - setup.flows.len()) {
            return SetupPart::Cbr(cbr.name.clone());
        }
        let member = self.flows[index].finite.as_ref().and_then(|finite| finite.member);
        let group = member.map_or(0, |member| member.group as usize);
        setup
            .flow_arrivals
            .get(group)
            .map_or(SetupPart::Field("arrivals"), |group| SetupPart::FlowArrivals(group.flow.name.clone()))
    }

    /// Handles a timer that is due.
    fn timer(&mut self, component: Component, sampler: &mut impl Sampler) {
        match component {
            Component::Release(index) => self.release(index),
            Component::Deadline(index) => self.deadline(index),
            Component::Host(index) => {
                self.events.pop();
                self.wake_hosts(index);
            }
            Component::Receiver(index) => self.receiver_timer(index),
            Component::Start(index) => {
                self.events.pop();
                self.start(index);
            }
            Component::Handshake(index) => {
                self.events.pop();
                self.shake_hands(index);
            }
            Component::Arrival(index) => self.arrivals(index),
            Component::Sample => {
                sampler.sample(self, self.now);
                self.sampled += self.flows.len() as u64;
                match sampler.next() {
                    Time::MAX => self.events.pop(),
                    next => {
                        self.events.reschedule_first(next, component);
                        if self.unobserved {
                            self.go_ahead(next);
                        }
                    }
                }
            }
            Component::Access(_) | Component::Link(_) => {}
        }
    }

    /// The stream of random numbers for the rates of the source of a flow.
    pub(crate) fn source_draws(setup: &Setup, flow: u32) -> Stream {
        Stream::new(setup.seed, format_args!("flow {flow}: source"))
    }

    /// The stream of random numbers for a property of a flow without congestion control: `rate`, `start` or `jitter`.
    pub(crate) fn cbr_draws(setup: &Setup, index: usize, what: &str) -> Stream {
        Stream::new(setup.seed, format_args!("cbr {index}: {what}"))
    }

    fn add_flow(&mut self, setup: &Setup, index: u32, flow: &FlowSetup) -> Result<(), SetupError> {
        let routes = setup.flow_routes(&mut self.routes, flow, SetupPart::Flow)?;
        let path = FlowPath::new(setup, &self.routes, routes, flow.packet);
        let mut draws = Stream::new(setup.seed, format_args!("flow {index}"));
        let spread = draws.unit();
        let start = flow.start + setup.variation.start.unwrap_or(routes.base_rtt).mul_f64(draws.unit());
        let seed = draws.seed();
        let clock = || (0.0, Self::source_draws(setup, index));
        let parameters = FlowParameters {
            start,
            backlog: Backlog::new(&flow.source, (start, flow.stop), &flow.pauses, flow.packet, clock),
            finite: match flow.source {
                Source::Packets(size) => Some(Box::new(Finite::new(size, start, None))),
                Source::Bulk | Source::Rate(_) => None,
            },
            spread,
            longer: Span::ZERO,
            seed,
            jitter: Stream::new(setup.seed, format_args!("flow {index}: jitter")),
        };
        let mut built = Flow::controlled(flow, &path, parameters);
        if let Sender::Stack(_) = built.sender {
            self.stacks.push(index);
        } else if let Some(most) = setup.packet_log {
            built.sender = built.sender.logged(most, built.ecn);
        }
        if built.sender.notes_packets() {
            self.departures.charge_notes();
        }
        self.flows.push(built);
        self.assign(index, flow.hosts, routes);
        self.set_handshake(index, Handshake::of(flow, start, seed));
        self.base_rtts.push(path.base_rtt(spread));
        self.starts.push(start);
        self.events.push(start, Component::Start(index));
        Ok(())
    }

    /// Tells the queues on its way the hosts of a flow.
    fn assign(&mut self, index: u32, hosts: HostPair, routes: FlowRoutes) {
        for (start, hosts) in [(routes.forward, hosts), (routes.reverse, hosts.exchanged())] {
            for link in self.routes.links(start) {
                self.links[link as usize].assign(index, hosts);
            }
        }
    }

    fn add_cbr(&mut self, setup: &Setup, cbr: &CbrSetup) -> Result<(), SetupError> {
        let index = self.flows.len() as u32;
        let routes = setup.cbr_routes(&mut self.routes, cbr)?;
        let path = FlowPath::new(setup, &self.routes, routes, cbr.packet);
        let named = |what| Self::cbr_draws(setup, self.flows.len() - setup.flows.len(), what);
        let varied = setup.variation.start != Some(Span::ZERO);
        let clock = || (if varied { named("start").unit() } else { 0.0 }, named("rate"));
        let backlog = Backlog::new(&Source::Rate(cbr.rate), (cbr.start, cbr.stop), &cbr.pauses, cbr.packet, clock);
        let flow = Flow::uncontrolled(cbr, &path, backlog, named("jitter"));
        self.flows.push(flow);
        // Nothing comes back.
        for link in self.routes.links(routes.forward) {
            self.links[link as usize].assign(index, cbr.hosts);
        }
        self.events.push(cbr.start, Component::Start(index));
        Ok(())
    }

    #[inline(always)]
    fn leave_link(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        if !link.is_plain() {
            return self.leave_other_link(index);
        }
        let Some(packet) = link.front() else { return };
        let mut packet = *packet;
        link.remove_front(packet.size);
        self.events.set_link(index, link.next());
        self.forward(&mut packet);
    }

    #[inline(always)]
    fn leave_access(&mut self, index: u32) {
        if let Some(link) = self.ahead
            && self.forward_round_trip(link, index)
        {
            return;
        }
        let flow = &mut self.flows[index as usize];
        let Some(mut packet) = flow.leave_access(index, &mut self.departures, &mut self.other_bodies) else { return };
        self.events.set_access(index, flow.access.next());
        match self.ahead {
            Some(link) => self.forward_to_fast(link, &mut packet),
            None => self.forward(&mut packet),
        }
    }

    /// Moves a packet to the next link of its route, or to the endpoint.
    #[inline(always)]
    fn forward(&mut self, packet: &mut Packet) {
        match self.routes.step(packet.hop) {
            Step::Link(link) => self.forward_to(link, packet),
            Step::End => self.arrive(packet),
        }
    }

    #[inline(always)]
    fn forward_to(&mut self, link: u32, packet: &mut Packet) {
        packet.hop += 1;
        match self.links[link as usize].offer(self.now, packet) {
            Verdict::First(at) => self.events.set_link(link, at),
            Verdict::Behind => {}
            Verdict::Dropped => self.drop_at(link),
        }
    }

    /// Handles a departure of a link that is not plain, apart from plain links and compiled with the same effort.
    #[cold]
    fn leave_other_link(&mut self, index: u32) {
        self.leave_elaborate_link(index);
    }

    #[inline(never)]
    fn leave_elaborate_link(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let packet = link.take(self.now);
        self.events.set_link(index, link.next());
        if let Some(copy) = link.copy().copied() {
            self.count_copy(&copy);
        }
        if self.links[index as usize].has_dropped() {
            self.drop_at(index);
        }
        if let Some(mut packet) = packet {
            self.forward(&mut packet);
        }
    }

    /// Counts the copy of a packet that is about to arrive.
    #[cold]
    fn count_copy(&mut self, copy: &Packet) {
        let flow = &mut self.flows[copy.flow as usize];
        if let (Body::Datagram(datagram), Sender::Stack(host)) = (&copy.body, &mut flow.sender) {
            host.copy(datagram);
        }
        if copy.body.is_data() {
            flow.duplicates = flow.duplicates.wrapping_sub(1);
        } else {
            flow.answers += 1;
        }
    }

    /// Counts the packets that a link has lost or dropped.
    #[cold]
    fn drop_at(&mut self, link: u32) {
        while let Some(packet) = self.links[link as usize].dropped() {
            let flow = &mut self.flows[packet.flow as usize];
            if let (Body::Datagram(datagram), Sender::Stack(host)) = (&packet.body, &mut flow.sender) {
                host.release(datagram);
            }
            if packet.body.is_data() {
                flow.dropped += 1;
            } else {
                flow.answers -= 1;
            }
            if flow.finite.is_some() {
                self.look_for_end(packet.flow);
            }
        }
    }

    #[inline(always)]
    fn arrive(&mut self, packet: &mut Packet) {
        if self.flows[packet.flow as usize].wakes.is_some() && self.keep_for_host(packet) {
            return;
        }
        self.arrive_awake(packet);
    }

    /// A packet arrives at a host that is awake.
    #[inline(always)]
    fn arrive_awake(&mut self, packet: &mut Packet) {
        match packet.body {
            Body::Data(data) => self.arrive_at_receiver(packet, &data),
            Body::ToReceiver(message) => self.deliver_message(packet.flow, &message),
            Body::Headed(data, header) => {
                self.flows[packet.flow as usize].receiver.handle_header(&header);
                self.arrive_at_receiver(packet, &data);
            }
            Body::Ack(_) | Body::ToSender(_) | Body::Agent(_) | Body::Report(_) | Body::Reply(_) => {
                self.arrive_at_sender(packet.flow, &packet.body);
            }
            Body::Datagram(datagram) => self.arrive_at_stack(packet, &datagram),
            Body::Handshake(handshake) => self.arrive_at_handshake(packet, handshake),
        }
    }

    /// Replaces the packet by the answer of the receiver.
    #[inline(always)]
    fn arrive_at_receiver(&mut self, packet: &mut Packet, data: &Data) {
        self.digest.mix(self.now.as_nanos());
        self.digest.mix(u64::from(packet.flow) << 40 ^ data.number);
        let marked = packet.ecn == Ecn::Congestion;
        if !marked && self.forward_ack(packet.flow, data) {
            return;
        }
        let flow = &mut self.flows[packet.flow as usize];
        if !marked && flow.ecn.is_some_and(AckEcho::counts_all) && packet.ecn != Ecn::of_data(flow.ecn, data) {
            flow.receiver.handle_lost_ect();
        }
        let Received { new, answered } = flow.receiver.handle_data(self.now, data, marked, &mut packet.body);
        flow.delivered += u64::from(new);
        flow.duplicates = flow.duplicates.wrapping_add(u64::from(!new));
        flow.marked += u64::from(marked);
        if flow.finite.as_ref().is_some_and(|finite| new && flow.delivered == finite.size) {
            self.complete(packet.flow);
        }
        if answered {
            packet.size = self.flows[packet.flow as usize].ack;
            self.answer(packet);
        } else if self.flows[packet.flow as usize].receiver.may_be_due(self.now) {
            self.poll_receiver(packet.flow);
        }
        self.arm_receiver(packet.flow);
    }

    /// Handles a message of a sender at its receiver.
    fn deliver_message(&mut self, index: u32, message: &Message) {
        let flow = &mut self.flows[index as usize];
        flow.answers -= 1;
        flow.receiver.handle_message(self.now, message);
        self.poll_receiver(index);
        self.arm_receiver(index);
        if self.flows[index as usize].finite.is_some() {
            self.look_for_end(index);
        }
    }

    /// Sends everything that is due by the timers of a receiver.
    fn poll_receiver(&mut self, index: u32) {
        let now = self.now;
        while let Some(body) = self.flows[index as usize].receiver.handle_timeout(now) {
            let size = self.flows[index as usize].size_beside_data(&body);
            let (hop, ecn, class) = (0, Ecn::NotCapable, Class::Out);
            self.answer(&mut Packet { due: now, flow: index, hop, size, ecn, class, body });
            // Its answer may have gone ahead.
            self.now = now;
        }
    }

    #[inline]
    fn arrive_at_sender(&mut self, index: u32, answer: &Body) {
        let flow = &mut self.flows[index as usize];
        flow.answers -= 1;
        let ends = flow.finite.as_ref().is_some_and(|finite| finite.may_end_with(answer));
        self.serve(index, Some(answer));
        if ends {
            self.look_for_end(index);
        }
    }

    /// Sends a packet of a receiver, whose flow, size and body are given.
    #[inline(always)]
    fn answer(&mut self, packet: &mut Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.answers += 1;
        (packet.hop, packet.class) = (flow.reverse, flow.class);
        packet.ecn = Ecn::NotCapable;
        let ahead = flow.may_go_ahead(&packet.body);
        match self.routes.step(packet.hop) {
            Step::Link(link) if ahead => self.answer_ahead(link, packet),
            Step::Link(link) => self.forward_to(link, packet),
            Step::End => self.arrive_at_once(packet),
        }
    }

    /// Both ends of the flow are at one node.
    #[cold]
    fn arrive_at_once(&mut self, packet: &mut Packet) {
        self.arrive(packet);
    }

    /// Sends everything that a sender may send now, and sets its timers.
    fn poll_sender(&mut self, index: u32) {
        self.serve(index, None);
    }

    /// Passes a packet of the receiver to its sender, sends everything that the sender may send now, and sets its timers.
    #[inline(always)]
    fn serve(&mut self, index: u32, answer: Option<&Body>) {
        let now = self.now;
        let Flow { sender, access, answers, .. } = &mut self.flows[index as usize];
        let idle = access.next() == Time::MAX;
        let timers = sender.serve(now, answer, |body| {
            let data = if let Body::Data(data) = body { Some(data) } else { None };
            if data.is_none() {
                *answers += u32::from(!body.is_data());
                self.other_bodies.put(index, body);
            }
            access.offer(&mut self.departures, now, data)
        });
        if idle {
            self.events.set_access(index, access.next());
        }
        self.arm_sender(index, timers);
    }

    /// Sets the event at which a sender is to be called.
    #[inline(always)]
    fn arm_sender(&mut self, index: u32, timers: Timers) {
        let flow = &mut self.flows[index as usize];
        let timers = if flow.wakes.is_some() { Self::by_clock(flow, timers) } else { timers };
        let armed = &mut flow.armed;
        if timers.release < armed.release {
            armed.release = timers.release;
            self.events.set_release_if_earlier(index, timers.release);
        }
        if timers.deadline < armed.deadline {
            armed.deadline = timers.deadline;
            self.events.push(timers.deadline, Component::Deadline(index));
        }
    }

    /// Handles the event of a release. A release that was handled ahead of its time was counted then: its event stays in place, and moves
    /// to the next release only now.
    fn release(&mut self, index: u32) {
        if self.flows[index as usize].armed.release > self.now {
            self.handled -= 1;
        } else {
            self.wake(index);
        }
        self.events.set_release(index, self.flows[index as usize].armed.release);
    }

    /// Lets a sender send again, or passes it a requested wake-up.
    fn wake(&mut self, index: u32) {
        if self.flows[index as usize].wakes.is_some() {
            self.read_before_timers(index);
        }
        let flow = &mut self.flows[index as usize];
        flow.armed.release = Time::MAX;
        flow.sender.on_wake(self.now);
        self.poll_sender(index);
    }

    /// Handles a deadline. It moves with every acknowledgement; its event stays in place and is checked again when it is due.
    fn deadline(&mut self, index: u32) {
        self.events.pop();
        let flow = &mut self.flows[index as usize];
        if flow.armed.deadline == self.now {
            flow.armed.deadline = Time::MAX;
            flow.sender.on_deadline(self.now);
            self.poll_sender(index);
        }
    }

    fn receiver_timer(&mut self, index: u32) {
        self.events.set_receiver(index, Time::MAX);
        if let Receiver::Stack(_) = self.flows[index as usize].receiver {
            self.wake_stack(index);
        } else {
            self.poll_receiver(index);
            self.arm_receiver(index);
        }
        if self.flows[index as usize].finite.is_some() {
            self.look_for_end(index);
        }
    }

    #[inline(always)]
    fn arm_receiver(&mut self, index: u32) {
        let flow = &self.flows[index as usize];
        let due = flow.expiry(flow.receiver.next_timeout(), End::Receiver);
        if due < Time::MAX {
            self.events.set_receiver_if_earlier(index, due);
        }
    }
}

/// The default bound of the packets of a run, bytes: 4 GiB.
const MEMORY: u64 = 4 << 30;
