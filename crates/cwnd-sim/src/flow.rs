//! A flow: its two endpoints and its access line.

use cwnd::registry::Transport;
use cwnd::{Algorithm, Bytes, Packets, Resume, Span, Start, Time};
use cwnd_stack::StackSpec;

use crate::access::{AccessLine, InTransit, NonDataBodies};
use crate::endpoint::{Receiver, Sender};
use crate::era::{Era, MarkedAtOne};
use crate::net::packet::AckEcho;
use crate::net::packet::{Ack, Body, Data, Ecn, Packet};
use crate::net::route::{FlowRoutes, Routes};
use crate::net::setup::Class;
use crate::protocol::{ReceiverProtocol, SenderConfig};
use crate::random::Stream;
use crate::recent::Recent;
use crate::setup::{FlowSetup, Setup, Variation};
use crate::tcp::recovery::Sack;
use crate::traffic::CbrSetup;
use crate::traffic::source::Backlog;
use crate::wakes::{End, Wakes};
use crate::{agent, cbr, datagram, routed, stack, tcp, udt};

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) access: AccessLine,
    /// Places of its routes.
    pub(crate) forward: u32,
    pub(crate) reverse: u32,
    pub(crate) packet: Bytes,
    pub(crate) ack: Bytes,
    /// Its packets are ECN-capable, and how their marks come back.
    pub(crate) ecn: Option<AckEcho>,
    pub(crate) class: Class,
    /// Its sender handles answers [ahead of their time](crate::world), but those that may end a group's flow.
    pub(crate) ahead: bool,
    /// Pending events of its timers; those at other times are out of date.
    pub(crate) armed: Armed,
    /// Different data packets that arrived, arrivals with a mark, and arrivals of no use: repeated, or not kept; less the copies that
    /// links made, modulo 2^64.
    pub(crate) delivered: u64,
    pub(crate) marked: u64,
    pub(crate) duplicates: u64,
    /// Data packets that queues refused or links lost.
    pub(crate) dropped: u64,
    /// Control packets in flight: those of its receiver, and the answers of its sender.
    pub(crate) answers: u32,
    /// Where it has an end.
    pub(crate) finite: Option<Box<Finite>>,
    /// Where its hosts do not wake at once.
    pub(crate) wakes: Option<Box<Wakes>>,
}

/// The end of a finite flow.
#[derive(Debug)]
pub(crate) struct Finite {
    /// Packets in all.
    pub(crate) size: u64,
    pub(crate) start: Time,
    /// Time from the start to the arrival of the last packet, and to its acknowledgement; [`Span::MAX`] until then.
    arrived: Span,
    acknowledged: Span,
    /// Its group, which is notified of both.
    pub(crate) member: Option<Member>,
}

/// A flow's place in a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) group: u32,
    /// Meaningful where the group reads pages.
    pub(crate) session: u32,
    /// It started after the warm-up.
    pub(crate) measured: bool,
}

/// The common state of flows from one setup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowPath {
    pub(crate) routes: FlowRoutes,
    variation: Variation,
    /// Departures are late by less than this.
    jitter: Span,
}

/// The state of one flow among those from one setup.
pub(crate) struct FlowParameters {
    pub(crate) start: Time,
    pub(crate) backlog: Backlog,
    pub(crate) finite: Option<Box<Finite>>,
    /// Where in the spread of round-trip times it lies, `[0, 1)`.
    pub(crate) spread: f64,
    /// Its access lines are longer than those of the setup by this.
    pub(crate) longer: Span,
    /// For its algorithm.
    pub(crate) seed: u64,
    /// For its departures.
    pub(crate) jitter: Stream,
}

/// When each event of its sender's timers is pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    /// Its event may be earlier, and moves on when it comes up.
    pub(crate) release: Time,
    pub(crate) deadline: Time,
}

impl FlowPath {
    /// The path over `routes` of packets of `packet` bytes.
    pub(crate) fn new(setup: &Setup, all: &Routes, routes: FlowRoutes, packet: Bytes) -> Self {
        let slowest = all.links(routes.forward).filter_map(|link| setup.links[link as usize].rate).min();
        let transmission = slowest.map_or(0.0, |rate| packet.bits() / rate as f64);
        let jitter = Span::from_secs_f64(setup.variation.jitter * transmission);
        Self { routes, variation: setup.variation, jitter }
    }

    /// By how much a round-trip time of `base_rtt` is scaled, minus 1.
    fn spread(&self, draw: f64) -> f64 {
        self.variation.rtt * (2.0 * draw - 1.0)
    }

    /// Round-trip time without queueing or transmission, as drawn.
    pub(crate) fn base_rtt(&self, draw: f64) -> Span {
        self.routes.base_rtt.mul_f64(1.0 + self.spread(draw))
    }
}

impl Finite {
    /// A flow of `size` packets that starts at `start`.
    pub(crate) fn new(size: u64, start: Time, member: Option<Member>) -> Self {
        Self { size, start, arrived: Span::MAX, acknowledged: Span::MAX, member }
    }

    /// Whether the sender may know that all has arrived once it has handled this answer.
    #[inline]
    pub(crate) fn may_end_with(&self, answer: &Body) -> bool {
        !matches!(answer, Body::Ack(ack) if ack.cumulative < self.size)
    }

    /// Whether the packet of this number is the last one. Out of the way of flows without an end.
    #[cold]
    #[inline(never)]
    pub(crate) fn ends_with(&self, number: u64) -> bool {
        number + 1 >= self.size
    }

    /// Time from the start to the arrival of the last packet.
    pub(crate) fn arrived(&self) -> Option<Span> {
        Some(self.arrived).filter(|arrived| *arrived < Span::MAX)
    }

    /// Time from the start to the acknowledgement of all packets.
    pub(crate) fn acknowledged(&self) -> Option<Span> {
        Some(self.acknowledged).filter(|acknowledged| *acknowledged < Span::MAX)
    }

    /// The last packet has arrived; how long after the start.
    pub(crate) fn arrive(&mut self, now: Time) -> Span {
        self.arrived = now.since(self.start);
        self.arrived
    }

    /// All has been acknowledged; how long after the start, and whether that is news.
    pub(crate) fn acknowledge(&mut self, now: Time) -> (Span, bool) {
        let news = self.acknowledged().is_none();
        if news {
            self.acknowledged = now.since(self.start);
        }
        (now.since(self.start), news)
    }
}

/// How the algorithm of a flow starts, which draws from `seed`.
pub(crate) fn start_of(setup: &FlowSetup, seed: u64) -> Start {
    let era = &setup.era;
    let truncate = era.policy.truncate || setup.host.whole;
    let slow_start = setup.slow_start.unwrap_or(era.policy.slow_start);
    let rate_limited = setup.rate_limited.unwrap_or(era.policy.rate_limited);
    // With echoes per packet no timer paces a window of one packet, which would wait for delayed acknowledgements instead.
    let least = if setup.ecn.is_some_and(AckEcho::tells_each_mark) { 2 } else { 1 };
    let mark_floor = era.policy.mark_floor.max(least);
    let resume =
        setup.resume.map(|saved| Resume::new(Packets(saved.window as f64 / f64::from(setup.packet.0)), saved.rtt));
    let mut policy = era.policy;
    (policy.slow_start, policy.rate_limited) = (slow_start, rate_limited);
    (policy.truncate, policy.mark_floor) = (truncate, mark_floor);
    let sized = Start::default().with_packet(setup.packet, setup.payload).with_seed(seed).with_policy(policy);
    let mut start = sized.with_window(Packets(era.initial_window));
    start.resume = resume;
    start
}

impl Flow {
    /// A flow under congestion control.
    pub(crate) fn controlled(setup: &FlowSetup, path: &FlowPath, parameters: FlowParameters) -> Self {
        let era = Era { min_rto: setup.host.min_rto.unwrap_or(setup.era.min_rto), ..setup.era };
        let algorithm_start = start_of(setup, parameters.seed);
        let config = |backlog| SenderConfig {
            algorithm: setup.algorithm.start(&algorithm_start),
            era,
            marked_at_one: if setup.ecn == Some(AckEcho::Latch) { era.marked_at_one } else { MarkedAtOne::None },
            recovery: setup.recovery,
            backlog,
            max_window: setup.max_window.unwrap_or(f64::INFINITY),
            packet: setup.packet,
            payload: setup.payload,
            paced: setup.paced,
            tick: setup.timer,
            echo: setup.ecn,
            host: setup.host,
        };
        let options = tcp::ReceiverOptions {
            reassembly: setup.reassembly,
            delay: setup.delayed_ack,
            quick: era.quick_acks,
            echo: setup.ecn.unwrap_or(AckEcho::Latch),
            payload: setup.payload,
            gro: setup.host.gro,
            autotune: setup.host.autotune.map(|buffer| tcp::largest_window(buffer, setup.payload)),
        };
        let (sender, receiver) = match setup.algorithm.entry().transport {
            Transport::Acked => (
                Sender::tcp(config(parameters.backlog), parameters.start),
                Receiver::tcp(options, setup.ack_aggregation),
            ),
            Transport::Reported => {
                if let Algorithm::UdtAgent(rule) = setup.algorithm.start(&algorithm_start) {
                    let (sender, receiver) = agent::ends(setup, *rule, parameters.backlog, parameters.start);
                    (Sender::Agent(Box::new(sender)), Receiver::Agent(Box::new(receiver)))
                } else {
                    let (sender, receiver) = udt::ends(setup, &algorithm_start, parameters.backlog, parameters.start);
                    (Sender::Udt(Box::new(sender)), Receiver::Udt(Box::new(receiver)))
                }
            }
            Transport::Routed => {
                let sender = tcp::Sender::new(config(parameters.backlog), Sack::new(&era), parameters.start);
                let receiver = routed::Receiver::new(options);
                (Sender::Routed(Box::new(routed::Sender::new(sender))), Receiver::Routed(Box::new(receiver)))
            }
            Transport::Datagram => {
                let side = setup.algorithm.receiver(&algorithm_start).expect("a registry test asks for this half");
                let sender = datagram::Sender::new(config(parameters.backlog), parameters.start);
                let receiver = datagram::Receiver::new(side, setup.packet);
                (Sender::Datagram(Box::new(sender)), Receiver::Datagram(Box::new(receiver)))
            }
            Transport::Stack => {
                let stack = StackSpec::of(&setup.algorithm).expect("the setup was checked");
                let host = stack::Host::new(setup, stack, parameters.seed, parameters.backlog, parameters.start);
                (Sender::Stack(Box::new(host)), Receiver::Stack(stack::Receiver))
            }
        };
        let base_rtt = path.routes.base_rtt + parameters.longer;
        let access_rtt = setup.access_rtt + parameters.longer;
        let delay = access_rtt.as_secs_f64() + path.spread(parameters.spread) * base_rtt.as_secs_f64();
        Self {
            ack: setup.ack,
            ecn: setup.ecn,
            class: setup.class,
            finite: parameters.finite,
            wakes: Wakes::of(setup, parameters.seed),
            ..Self::new(
                (sender, receiver),
                path,
                setup.packet,
                AccessLine::new(Span::from_secs_f64(delay), path.jitter, parameters.jitter),
            )
        }
    }

    /// A flow without congestion control.
    pub(crate) fn uncontrolled(setup: &CbrSetup, path: &FlowPath, backlog: Backlog, jitter: Stream) -> Self {
        let sender = Sender::Cbr(Box::new(cbr::Sender::new(backlog)));
        let access = AccessLine::new(setup.access_delay, path.jitter, jitter);
        Self {
            class: setup.class,
            ..Self::new((sender, Receiver::Cbr(cbr::Receiver(Recent::default()))), path, setup.packet, access)
        }
    }

    fn new((sender, receiver): (Sender, Receiver), path: &FlowPath, packet: Bytes, access: AccessLine) -> Self {
        Self {
            sender,
            receiver,
            access,
            forward: path.routes.forward,
            reverse: path.routes.reverse,
            packet,
            ack: Bytes(0),
            ecn: None,
            class: Class::Out,
            ahead: false,
            armed: Armed::NONE,
            delivered: 0,
            marked: 0,
            duplicates: 0,
            dropped: 0,
            answers: 0,
            finite: None,
            wakes: None,
        }
    }

    /// When a timer of `end` for `due` expires, by the clock of its host.
    #[inline(always)]
    pub(crate) fn expiry(&self, due: Time, end: End) -> Time {
        self.wakes.as_ref().map_or(due, |wakes| wakes.expiry(due, end))
    }

    /// Whether its sender may handle this answer ahead of its time. The end of a group's flow makes room for another one, and has to
    /// come when it does.
    #[inline(always)]
    pub(crate) fn may_go_ahead(&self, answer: &Body) -> bool {
        self.ahead && self.finite.as_ref().is_none_or(|finite| finite.member.is_none() || !finite.may_end_with(answer))
    }

    /// Data packets that have left the sender and not yet come to an end.
    pub(crate) fn in_network(&self) -> u64 {
        if let Sender::Stack(host) = &self.sender {
            let [sent, _] = host.live();
            return sent;
        }
        let ended = self.delivered.wrapping_add(self.duplicates).wrapping_add(self.dropped);
        self.sender.state().counts().sent.wrapping_sub(ended)
    }

    /// Takes the packet that leaves the access line next; this is flow `index`.
    #[inline(always)]
    pub(crate) fn leave_access(
        &mut self,
        index: u32,
        departures: &mut InTransit,
        other_bodies: &mut NonDataBodies,
    ) -> Option<Packet> {
        let data = self.access.front();
        self.access.remove_front(departures);
        let (size, ecn, body) = match data {
            Some(data) => return Some(self.data_packet(index, data)),
            None => match other_bodies.take(index)? {
                body @ Body::Headed(data, _) => (self.packet, Ecn::of_data(self.ecn, &data), body),
                body @ Body::Datagram(datagram) => (Bytes(datagram.bytes), datagram.ecn(), body),
                body => (self.size_beside_data(&body), Ecn::NotCapable, body),
            },
        };
        Some(Packet { due: Time::ZERO, flow: index, hop: self.forward, size, ecn, class: self.class, body })
    }

    /// The size of a control packet of either end, bytes.
    pub(crate) fn size_beside_data(&self, body: &Body) -> Bytes {
        match &self.receiver {
            Receiver::Agent(receiver) => receiver.size(body).unwrap_or(self.ack),
            _ => self.ack,
        }
    }

    /// The packet with `data` as it leaves the access line; this is flow `index`.
    #[inline(always)]
    pub(crate) fn data_packet(&self, index: u32, data: Data) -> Packet {
        let ecn = Ecn::of_data(self.ecn, &data);
        let (size, class, body) = (self.packet, self.class, Body::Data(data));
        Packet { due: Time::ZERO, flow: index, hop: self.forward, size, ecn, class, body }
    }

    /// The packet with `ack` as it leaves the receiver; this is flow `index`.
    #[cold]
    pub(crate) fn acknowledgement(&self, index: u32, ack: Ack) -> Packet {
        let (ecn, class, body) = (Ecn::NotCapable, self.class, Body::Ack(ack));
        Packet { due: Time::ZERO, flow: index, hop: self.reverse, size: self.ack, ecn, class, body }
    }

    /// Whether nothing of it is left anywhere: neither packets on their way nor a receiver about to send some.
    pub(crate) fn is_gone(&self) -> bool {
        self.in_network() == 0 && self.answers == 0 && self.receiver.next_timeout() == Time::MAX
    }
}

impl Armed {
    /// No event pending.
    pub(crate) const NONE: Self = Self { release: Time::MAX, deadline: Time::MAX };
}
