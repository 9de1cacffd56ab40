//! Packets that are forwarded ahead of their time.
//!
//! The instant at which a packet leaves a first-in-first-out link is known when it enters. If no other event can touch the next component
//! before that instant, the packet skips the event: the next component handles it at once, with the clock set forward. Every component
//! sees the same events at the same instants and in the same order as without this shortcut.
//!
//! It applies to two kinds of packets:
//!
//! - **An acknowledgement on the last link to its sender.** Before it arrives, only two things touch that sender: earlier acknowledgements,
//!   which use the same link, and its own timers, which are handled first. New packets of the sender leave its access line later still.
//! - **What senders send, on the only link to all receivers**, if these answer over a link that carries nothing else. Before it arrives,
//!   receivers are touched by earlier packets, which use the same link, and by their own clocks, which are handled first. The order of
//!   packets on both links, and in the digest of arrivals, does not change.
//!
//! A sample reads all state, so a packet that arrives after the next sample waits in the ring of its link until the sample is taken. If
//! a caller reads the state between events, no packet runs ahead.

use cwnd::Time;

use super::{Sampler, World};
use crate::access::{AccessLine, InTransit};
use crate::endpoint::{Receiver, Sender};
use crate::flow::Flow;
use crate::net::link::Verdict;
use crate::net::packet::{Ack, Body, Data, Packet};
use crate::net::route::Step;
use crate::protocol::{SenderProtocol, Timers};
use crate::tcp;
use crate::tcp::Released;
use crate::tcp::recovery::{Rack, Recovery};

/// The place of a data packet that continues.
enum Place<'a> {
    /// At the front of its access line; the link behind that leads to all receivers.
    Access(u32),
    /// At its receiver.
    Receiver(&'a Data),
}

impl World {
    /// Whether the sender of a new flow may handle answers ahead of time.
    ///
    /// False if its packets would compete with other events of the same instant.
    pub(super) fn may_be_ahead(&self, flow: &Flow) -> bool {
        !matches!(flow.receiver, Receiver::Stack(_))
            && flow.wakes.is_none()
            && flow.access.takes_time()
            && self.only_link(flow.reverse).is_some()
    }

    /// The link that leads to all receivers, if data may pass it ahead of time.
    pub(super) fn only_way_there(&self) -> Option<u32> {
        let first = self.flows.first()?;
        let there = self.only_link(first.forward)?;
        let mut ways_back = self.flows.iter().map(|flow| flow.reverse).filter(|reverse| *reverse != first.forward);
        let back = ways_back.next().map(|reverse| (reverse, self.only_link(reverse)));
        let one_way_back = back.is_none_or(|(route, link)| {
            link.is_some_and(|link| link != there) && ways_back.all(|reverse| reverse == route)
        });
        // Traffic without congestion control fills any memory, and what waits for the next sample is in memory.
        let plain = !self.flows.iter().any(|flow| matches!(flow.receiver, Receiver::Cbr(_)));
        let may = |receiver: &Receiver| match receiver {
            Receiver::Tcp(receiver) => plain || receiver.answers_at_once(),
            Receiver::Cbr(_) => true,
            Receiver::Stack(_) => false,
            _ => plain,
        };
        let awake = |flow: &Flow| flow.wakes.is_none() && may(&flow.receiver);
        let alike = self.flows.iter().all(|flow| flow.forward == first.forward && awake(flow));
        (one_way_back && alike && self.handshakes.is_empty() && self.flow_arrivals.is_empty()).then_some(there)
    }

    /// The only link of a route, if the instants at which packets leave it are known in advance.
    fn only_link(&self, route: u32) -> Option<u32> {
        let mut links = self.routes.links(route);
        let link = links.next().filter(|link| self.links[*link as usize].is_foreseeable());
        link.filter(|_| links.next().is_none())
    }

    /// [`forward_to`](Self::forward_to) for the link that leads to all receivers.
    #[inline(always)]
    pub(super) fn forward_to_fast(&mut self, link: u32, packet: &mut Packet) {
        packet.hop += 1;
        match self.links[link as usize].pass(self.now, self.horizon, packet) {
            Ok(at) => self.arrive_in_turn(at, packet),
            Err(verdict) => self.handle_verdict(link, verdict),
        }
    }

    /// A packet arrives at its receiver at `at`, once the clocks of all receivers that are due before have been handled.
    #[inline(always)]
    fn arrive_in_turn(&mut self, at: Time, packet: &mut Packet) {
        if self.events.first_receiver().0 < at {
            self.pass_receivers(at);
        }
        self.now = at;
        self.handled += 1;
        if let Body::Data(data) = packet.body {
            self.arrive_at_receiver(packet, &data);
        } else {
            self.arrive_with_message(packet);
        }
    }

    #[inline(never)]
    fn arrive_with_message(&mut self, packet: &mut Packet) {
        self.arrive(packet);
    }

    /// Handles the events of receivers' clocks that are due before `until`.
    #[inline(never)]
    fn pass_receivers(&mut self, until: Time) {
        loop {
            let (at, index) = self.events.first_receiver();
            if at >= until {
                return;
            }
            self.now = at;
            self.handled += 1;
            self.receiver_timer(index);
        }
    }

    /// [`arrive_in_turn`](Self::arrive_in_turn) where clocks are due before. Seldom: a clock is moved on only when it comes up.
    #[cold]
    #[inline(never)]
    fn arrive_late(&mut self, at: Time, mut packet: Packet) {
        packet.hop += 1;
        self.arrive_in_turn(at, &mut packet);
    }

    /// Fast path for a whole round trip: takes the next packet of the access line of flow `index` over `there`, the link to all
    /// receivers, and its acknowledgement back. It has the effect of [`leave_access`](Self::leave_access) and the events that follow,
    /// without a packet in memory at each step. Returns false, and changes nothing, if anything unusual would happen on the way.
    #[inline(always)]
    pub(super) fn forward_round_trip(&mut self, there: u32, index: u32) -> bool {
        self.fast_path(&Place::Access(there), index)
    }

    /// Delivers unmarked data that is already in the digest to its receiver now, and returns the acknowledgement.
    #[inline(never)]
    pub(super) fn forward_ack(&mut self, index: u32, data: &Data) -> bool {
        self.fast_path(&Place::Receiver(data), index)
    }

    #[inline(always)]
    fn fast_path(&mut self, place: &Place<'_>, index: u32) -> bool {
        let flow = &mut self.flows[index as usize];
        let (Receiver::Tcp(receiver), true) = (&mut flow.receiver, flow.ahead) else { return false };
        let data = match place {
            Place::Access(_) => flow.access.front(),
            Place::Receiver(data) => Some(**data),
        };
        let (Some(data), Step::Link(back)) = (data, self.routes.step(flow.reverse)) else { return false };
        if !receiver.is_plain(data.number) || flow.finite.as_ref().is_some_and(|finite| finite.ends_with(data.number)) {
            return false;
        }
        if let Place::Access(there) = *place {
            let link = &mut self.links[there as usize];
            let Some(left) = link.pass_to_tail(self.now, flow.packet) else { return false };
            flow.access.remove_front(&mut self.departures);
            self.events.set_access(index, flow.access.next());
            let Some(at) = link.carry(left, self.horizon, flow.packet) else {
                let packet = flow.data_packet(index, data);
                self.wait_on(there, left, packet);
                return true;
            };
            if self.events.first_receiver().0 < at {
                let packet = flow.data_packet(index, data);
                self.arrive_late(at, packet);
                return true;
            }
            self.now = at;
            self.digest.mix(at.as_nanos());
            self.digest.mix(u64::from(index) << 40 ^ data.number);
            self.handled += 1;
        }
        flow.delivered += 1;
        let Some(ack) = receiver.answer_plainly(self.now, &data) else {
            self.arm_receiver(index);
            return true;
        };

        let link = &mut self.links[back as usize];
        let Some(left) = link.pass_to_tail(self.now, flow.ack) else {
            let mut packet = flow.acknowledgement(index, ack);
            self.answer(&mut packet);
            return true;
        };
        let Some(at) = link.carry(left, self.horizon, flow.ack) else {
            flow.answers += 1;
            let packet = flow.acknowledgement(index, ack);
            self.wait_on(back, left, packet);
            return true;
        };
        let timers = flow.armed.release <= at || flow.armed.deadline < at;
        let (false, sender @ (Sender::Sack(_) | Sender::Rack(_))) = (timers, &mut flow.sender) else {
            flow.answers += 1;
            let packet = flow.acknowledgement(index, ack);
            self.arrive_ahead(at, &packet);
            return true;
        };
        self.now = at;
        self.handled += 1;
        let idle = flow.access.next() == Time::MAX;
        let lines = (&mut flow.access, &mut self.departures);
        let released = match sender {
            Sender::Sack(sender) => acknowledge(sender, at, &ack, lines),
            Sender::Rack(sender) => acknowledge_by_time(sender, at, ack, lines),
            _ => Released::Untouched,
        };
        match released {
            Released::New(timers) => {
                if idle {
                    self.events.set_access(index, flow.access.next());
                }
                self.arm_sender(index, timers);
            }
            Released::Perhaps => self.poll_sender(index),
            Released::Untouched => {
                flow.answers += 1;
                self.arrive_at_sender(index, &Body::Ack(ack));
            }
        }
        true
    }

    /// A packet that leaves the line of a link at `left` waits in its ring for the next sample.
    #[cold]
    fn wait_on(&mut self, link: u32, left: Time, mut packet: Packet) {
        packet.hop += 1;
        let verdict = self.links[link as usize].enter(left, &packet);
        self.handle_verdict(link, verdict);
    }

    /// [`forward_to`](Self::forward_to) for an answer to a sender that may be ahead, and the last link to it.
    #[inline(always)]
    pub(super) fn answer_ahead(&mut self, link: u32, packet: &mut Packet) {
        packet.hop += 1;
        match self.links[link as usize].pass(self.now, self.horizon, packet) {
            Ok(at) => self.arrive_ahead(at, packet),
            Err(verdict) => self.handle_verdict(link, verdict),
        }
    }

    /// Allows packets to run ahead: from now on only `sampler` reads the state between events.
    pub(crate) fn allow_ahead(&mut self, sampler: &impl Sampler) {
        self.unobserved = true;
        if sampler.next() < Time::MAX {
            self.go_ahead(sampler.next());
        }
    }

    /// Sets the instant before which nothing reads the state. Packets in rings that leave earlier continue at once.
    #[cold]
    pub(super) fn go_ahead(&mut self, horizon: Time) {
        self.horizon = horizon;
        for index in 0..self.links.len() as u32 {
            if self.links[index as usize].is_foreseeable() {
                self.answers_go_on(index);
            }
        }
        // After the answers to earlier arrivals.
        let Some(index) = self.ahead else { return };
        while let Some(mut packet) = self.links[index as usize].take_before(horizon) {
            self.arrive_in_turn(packet.due, &mut packet);
        }
        self.events.set_link(index, self.links[index as usize].next());
    }

    fn answers_go_on(&mut self, index: u32) {
        let mut others = Vec::new();
        while let Some(packet) = self.links[index as usize].take_before(self.horizon) {
            let flow = &self.flows[packet.flow as usize];
            // It is on the first link of the reverse path, which has no other.
            let data = !matches!(packet.body, Body::Handshake(_));
            if data && flow.may_go_ahead(&packet.body) && packet.hop == flow.reverse + 1 {
                self.arrive_ahead(packet.due, &packet);
            } else {
                others.push(packet);
            }
        }
        self.links[index as usize].put_back(others);
        self.events.set_link(index, self.links[index as usize].next());
    }

    /// An answer arrives at its sender.
    #[inline(always)]
    fn arrive_ahead(&mut self, at: Time, packet: &Packet) {
        let armed = &self.flows[packet.flow as usize].armed;
        if armed.release <= at || armed.deadline < at {
            self.pass_timers(at, packet.flow);
        }
        self.now = at;
        self.handled += 1;
        self.arrive_at_sender(packet.flow, &packet.body);
    }

    /// Handles the timers of a sender that are due before an answer that arrives at `until`, in the order of
    /// [`Component`](crate::events::Component). The events of these deadlines stay in the queue and are ignored later.
    #[inline(never)]
    fn pass_timers(&mut self, until: Time, index: u32) {
        loop {
            let flow = &mut self.flows[index as usize];
            let (release, deadline) = (flow.armed.release, flow.armed.deadline);
            if release <= deadline && release <= until {
                self.now = release;
                self.handled += 1;
                self.wake(index);
            } else if deadline < until {
                self.now = deadline;
                flow.armed.deadline = Time::MAX;
                flow.sender.on_deadline(self.now);
                self.poll_sender(index);
            } else {
                return;
            }
        }
    }

    fn handle_verdict(&mut self, link: u32, verdict: Verdict) {
        match verdict {
            Verdict::First(at) => self.events.set_link(link, at),
            Verdict::Behind => {}
            Verdict::Dropped => self.drop_at(link),
        }
    }
}

/// Passes a plain acknowledgement to its sender, and puts what that releases on its access line.
#[inline(always)]
fn acknowledge<R: Recovery>(
    sender: &mut tcp::Sender<R>,
    at: Time,
    ack: &Ack,
    (access, departures): (&mut AccessLine, &mut InTransit),
) -> Released<Timers> {
    match sender.on_ack_in_order(at, ack) {
        Released::New(numbers) => {
            for number in numbers {
                let data = Data::new(number, at);
                if !access.offer(departures, at, Some(data)) {
                    break;
                }
            }
            Released::New(sender.timers(at))
        }
        Released::Perhaps => Released::Perhaps,
        Released::Untouched => Released::Untouched,
    }
}

/// [`acknowledge`] for senders that find losses by time, out of the way of the others. It takes a copy: an acknowledgement whose address
/// is handed on is written to memory for the others too.
#[inline(never)]
fn acknowledge_by_time(
    sender: &mut tcp::Sender<Rack>,
    at: Time,
    ack: Ack,
    lines: (&mut AccessLine, &mut InTransit),
) -> Released<Timers> {
    acknowledge(sender, at, &ack, lines)
}
