//! The simulated network and its event loop.

use cwnd::registry::Transport;
use cwnd::window::Policy;
use cwnd::{Packets, Span, Start, Time};
use cwnd_trace::Trace;

use crate::digest::Digest;
use crate::endpoint::{Receiver, Sender, SenderConfig};
use crate::events::{Component, EventSet};
use crate::flow::{AccessLine, Armed, Flow};
use crate::net::link::{Link, Verdict};
use crate::net::packet::{Body, Ecn, Packet};
use crate::net::route::{FlowRoutes, Routes, Step};
use crate::random::Stream;
use crate::recorder::Recorder;
use crate::setup::{AckEcho, FlowSetup, Setup, SetupError};
use crate::{reported, tcp};

/// Everything that exists in a run.
pub(crate) struct World {
    now: Time,
    events: EventSet,
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    routes: Routes,
    digest: Digest,
    handled: u64,
}

impl World {
    /// Builds the network of a setup, with the draws of its seed.
    pub(crate) fn new(setup: &Setup) -> Result<Self, SetupError> {
        let measure_from = Time::ZERO + setup.warmup;
        let mut world = Self {
            now: Time::ZERO,
            events: EventSet::default(),
            links: setup.links.iter().map(|link| Link::new(link, setup.seed, measure_from)).collect(),
            flows: Vec::with_capacity(setup.flows.len()),
            routes: Routes::default(),
            digest: Digest::new(),
            handled: 0,
        };
        for (index, flow) in (0_u32..).zip(&setup.flows) {
            world.add_flow(setup, index, flow)?;
        }
        Ok(world)
    }

    /// Runs to the end of the setup.
    pub(crate) fn run(mut self, setup: &Setup, progress: &mut dyn FnMut(u64) -> bool) -> Result<Trace, SetupError> {
        let end = Time::ZERO + setup.duration;
        let mut recorder = Recorder::new(setup, &self);
        self.events.push(recorder.next(), Component::Sample);
        let mut until_progress = EVENTS_PER_PROGRESS;
        while let Some((at, component)) = self.events.first() {
            if at > end {
                break;
            }
            self.now = at;
            self.handled += 1;
            until_progress -= 1;
            if until_progress == 0 {
                until_progress = EVENTS_PER_PROGRESS;
                if !progress(at.as_nanos()) {
                    return Err(SetupError::Interrupted);
                }
            }
            match component {
                Component::Link(index) => self.leave_link(index),
                Component::Access(index) => self.leave_access(index),
                Component::Release(index) => self.release(index),
                Component::Deadline(index) => self.deadline(index),
                Component::Receiver(index) => self.receiver_timer(index),
                Component::Start(index) => {
                    self.events.pop();
                    self.pump(index);
                }
                Component::Sample => {
                    recorder.sample(&mut self, at);
                    match recorder.next() {
                        Time::MAX => self.events.pop(),
                        next => self.events.postpone_first(next, Component::Sample),
                    }
                }
            }
        }
        self.audit();
        let handled = self.handled;
        let digest = self.final_digest();
        Ok(recorder.finish(&mut self.links, digest, handled))
    }

    fn add_flow(&mut self, setup: &Setup, index: u32, flow: &FlowSetup) -> Result<(), SetupError> {
        let FlowRoutes { forward, reverse, base_rtt } = self.routes.of_flow(setup, flow)?;

        let mut draws = Stream::new(setup.seed, &format!("flow {index}"));
        let spread = setup.variation.rtt * (2.0 * draws.unit() - 1.0);
        let delay = flow.access_rtt.as_secs_f64() + spread * base_rtt.as_secs_f64();
        let slowest = self.routes.links(forward).filter_map(|link| setup.links[link as usize].rate).min();
        let transmission = slowest.map_or(0.0, |rate| flow.packet.bits() / rate as f64);
        let jitter = Span::from_secs_f64(setup.variation.jitter * transmission);
        let start = flow.start + setup.variation.start.unwrap_or(base_rtt).mul_f64(draws.unit());

        let algorithm_start = Start {
            window: Packets(flow.era.initial_window),
            threshold: None,
            max_window: Packets(f64::INFINITY),
            packet: flow.packet,
            payload: flow.payload,
            seed: draws.seed(),
            policy: Policy { slow_start: flow.slow_start.unwrap_or(flow.era.policy.slow_start), ..flow.era.policy },
        };
        let config = SenderConfig {
            algorithm: flow.algorithm.start(&algorithm_start),
            era: flow.era,
            recovery: flow.recovery,
            stop: flow.stop.unwrap_or(Time::MAX),
            max_window: flow.max_window.unwrap_or(f64::INFINITY),
            packet: flow.packet,
            payload: flow.payload,
            paced: flow.paced,
        };
        let (sender, receiver) = match flow.algorithm.entry().transport {
            Transport::Acked => (
                Sender::tcp(config, start),
                Receiver::tcp(
                    tcp::Habits {
                        reassembly: flow.reassembly,
                        delay: flow.delayed_ack,
                        echo: flow.ecn.unwrap_or(AckEcho::Latch),
                    },
                    flow.ack_aggregation,
                ),
            ),
            Transport::Reported => (
                Sender::Reported(reported::Sender::new(config, start)),
                Receiver::Reported(Box::new(reported::Receiver::new(flow.algorithm.receiver(&algorithm_start)))),
            ),
        };
        self.flows.push(Flow {
            sender,
            receiver,
            access: AccessLine::new(
                Span::from_secs_f64(delay),
                jitter,
                Stream::new(setup.seed, &format!("flow {index}: jitter")),
            ),
            forward,
            reverse,
            base_rtt: base_rtt.mul_f64(1.0 + spread),
            packet: flow.packet,
            ack: flow.ack,
            ecn: flow.ecn.is_some(),
            armed: Armed::NONE,
            delivered: 0,
            marked: 0,
            duplicates: 0,
            dropped: 0,
        });
        self.events.push(start, Component::Start(index));
        Ok(())
    }

    #[inline]
    fn leave_link(&mut self, index: u32) {
        let Some((packet, next)) = self.links[index as usize].take() else { return };
        self.rearm_first(next, Component::Link(index));
        self.forward(packet);
    }

    #[inline]
    fn leave_access(&mut self, index: u32) {
        let Some((packet, next)) = self.flows[index as usize].access.take() else { return };
        self.rearm_first(next, Component::Access(index));
        self.forward(packet);
    }

    #[inline]
    fn rearm_first(&mut self, next: Option<Time>, component: Component) {
        match next {
            Some(at) => self.events.postpone_first(at, component),
            None => self.events.pop(),
        }
    }

    /// Moves a packet on to the next link of its route, or into the endpoint.
    #[inline]
    fn forward(&mut self, mut packet: Packet) {
        match self.routes.step(packet.hop) {
            Step::Link(link) => {
                packet.hop += 1;
                match self.links[link as usize].offer(self.now, packet) {
                    Verdict::First(at) => self.events.push(at, Component::Link(link)),
                    Verdict::Behind => {}
                    Verdict::Gone => {
                        if matches!(packet.body, Body::Data(_)) {
                            self.flows[packet.flow as usize].dropped += 1;
                        }
                    }
                }
            }
            Step::End => self.arrive(&packet),
        }
    }

    #[inline]
    fn arrive(&mut self, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        match &packet.body {
            Body::Data(data) => {
                self.digest.mix(self.now.as_nanos());
                self.digest.mix(u64::from(packet.flow) << 40 ^ data.number);
                let marked = packet.ecn == Ecn::Congestion;
                let (new, answer) = flow.receiver.on_data(self.now, data, packet.size, marked);
                flow.delivered += u64::from(new);
                flow.duplicates += u64::from(!new);
                flow.marked += u64::from(marked);
                if let Some(answer) = answer {
                    self.answer(packet.flow, answer);
                }
                self.arm_receiver(packet.flow);
            }
            answer => {
                flow.sender.on_packet(self.now, answer);
                self.pump(packet.flow);
            }
        }
    }

    #[inline]
    fn answer(&mut self, index: u32, body: Body) {
        let flow = &self.flows[index as usize];
        self.forward(Packet { flow: index, hop: flow.reverse, size: flow.ack, ecn: Ecn::NotCapable, body });
    }

    /// Sends all that a sender may send now, and sets its timers.
    #[inline]
    fn pump(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        while let Some(data) = flow.sender.poll(self.now) {
            let capable = flow.ecn && !data.retransmission;
            let packet = Packet {
                flow: index,
                hop: flow.forward,
                size: flow.packet,
                ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
                body: Body::Data(data),
            };
            if let Some(at) = flow.access.offer(self.now, packet) {
                self.events.push(at, Component::Access(index));
            }
        }
        let release = flow.sender.next_release();
        if release < flow.armed.release {
            flow.armed.release = release;
            self.events.push(release, Component::Release(index));
        }
        let deadline = flow.sender.next_deadline();
        if deadline < flow.armed.deadline {
            flow.armed.deadline = deadline;
            self.events.push(deadline, Component::Deadline(index));
        }
    }

    fn release(&mut self, index: u32) {
        self.events.pop();
        let flow = &mut self.flows[index as usize];
        if flow.armed.release == self.now {
            flow.armed.release = Time::MAX;
            flow.sender.on_wake(self.now);
            self.pump(index);
        }
    }

    /// A deadline moves on with every acknowledgement; its event stays where it was and looks again when it comes up.
    fn deadline(&mut self, index: u32) {
        self.events.pop();
        let flow = &mut self.flows[index as usize];
        if flow.armed.deadline == self.now {
            flow.armed.deadline = Time::MAX;
            flow.sender.on_deadline(self.now);
            self.pump(index);
        }
    }

    fn receiver_timer(&mut self, index: u32) {
        self.events.pop();
        let flow = &mut self.flows[index as usize];
        if flow.armed.receiver == self.now {
            flow.armed.receiver = Time::MAX;
            while let Some(answer) = self.flows[index as usize].receiver.on_timer(self.now) {
                self.answer(index, answer);
            }
            self.arm_receiver(index);
        }
    }

    #[inline]
    fn arm_receiver(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let due = flow.receiver.next_timer();
        if due < flow.armed.receiver {
            flow.armed.receiver = due;
            self.events.push(due, Component::Receiver(index));
        }
    }

    /// Conservation: what was sent has been delivered, dropped or is on its way, for every flow and every link.
    ///
    /// # Panics
    /// If a packet appeared or vanished: an error in this crate that no setup can cause.
    fn audit(&self) {
        let mut in_network = vec![0_u64; self.flows.len()];
        let data = |packet: &&Packet| matches!(packet.body, Body::Data(_));
        for link in &self.links {
            link.in_transit().filter(data).for_each(|packet| in_network[packet.flow as usize] += 1);
            let counts = link.counts;
            let inside = link.in_transit().count() as u64;
            assert_eq!(
                counts.offered,
                counts.dropped + counts.lost + counts.carried + inside,
                "a link conserves packets"
            );
        }
        for (flow, in_network) in self.flows.iter().zip(in_network) {
            let sent = flow.sender.facts().counts.sent;
            let inside = in_network + flow.access.in_transit.len() as u64;
            assert_eq!(sent, flow.delivered + flow.duplicates + flow.dropped + inside, "a flow conserves packets");
        }
    }

    fn final_digest(&self) -> u64 {
        let mut digest = self.digest;
        for flow in &self.flows {
            let counts = flow.sender.facts().counts;
            for value in [counts.sent, counts.retransmitted, counts.lost, counts.timeouts, flow.delivered, flow.marked]
            {
                digest.mix(value);
            }
        }
        for link in &self.links {
            for value in [link.counts.offered, link.counts.dropped, link.counts.lost, link.counts.marked] {
                digest.mix(value);
            }
        }
        digest.value()
    }
}

/// Often enough for a smooth progress bar, seldom enough to cost nothing.
const EVENTS_PER_PROGRESS: u32 = 1 << 16;
