//! Flow queueing: queues of flows that take turns by bytes.
//!
//! A flow goes to the queue that its hash names. Queues take turns, as in deficit round robin, and those that were empty a moment ago
//! come first: a flow that sends less than its share hardly waits. A rule of its own decides on the packets of each queue
//! ([`QueueControl`]): CoDel in [`fq_codel`](super::fq_codel), COBALT in [`cake`](super::cake).

use std::collections::BTreeMap;
use std::fmt::Debug;

use cwnd::Time;

use super::ack_filter;
use super::host_shares::{Ends, HostShares, OWN};
use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::{Body, Packet};
use crate::net::setup::{HostPair, Isolation, QueueLimit};
use crate::random::Stream;

/// What decides on the packets of each queue, and what disciplines do differently about queues.
pub(crate) trait QueueControl: Debug + Send {
    /// What it knows of one queue.
    type State: Debug + Default + Send;

    /// Queues that a hash may choose from: the flows that come to one set of queues are spread over them in turn.
    const WAYS: u32;
    /// A queue that is found empty leaves the round, and is looked for only while packets wait in others. Without this a new queue that is
    /// found empty goes behind the old ones first.
    const EMPTY_LEAVES: bool;

    /// The packet of `held` to be sent at `now` is the oldest once those to be dropped are gone: whether it gets a mark. None only if
    /// nothing is held.
    fn choose(
        &mut self,
        state: &mut Self::State,
        held: &mut Held,
        now: Time,
        dropped: &mut Vec<Packet>,
    ) -> Option<bool>;

    /// The longest queue is about to lose packets because there are too many.
    fn overflow(&mut self, state: &mut Self::State, now: Time);

    /// How many packets a queue of `packets` loses then.
    fn batch(packets: u64) -> u64;
}

/// The sizes of the queues and of the memory that they share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) limit: QueueLimit,
    /// A second limit, bytes.
    pub(crate) memory: u64,
    /// The number of queues; a multiple of the control's ways.
    pub(crate) queues: u32,
    /// What a queue may send in a turn, bytes; at least 1.
    pub(crate) quantum: u32,
    /// An acknowledgement may drive out older ones.
    pub(crate) ack_filter: bool,
    /// How hosts count.
    pub(crate) isolation: Isolation,
}

/// Packets that wait, queue by queue.
#[derive(Debug)]
pub(crate) struct FlowQueues<C: QueueControl> {
    control: C,
    shape: Shape,
    /// Perturbs the hash.
    perturbation: u64,
    hosts: HostShares,
    /// The queues of the flows up to the last one seen.
    places: Vec<u32>,
    /// The queues of hosts, where flows share them.
    places_of_hosts: BTreeMap<u64, u32>,
    /// How many of these flows or hosts have come to each set of queues.
    known: Vec<u32>,
    pub(super) queues: Vec<Queue<C::State>>,
    /// The queues whose first turn is to come, and those that have had one.
    pub(super) new: Turns,
    pub(super) old: Turns,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// When the last packet arrived, and the queue that it went to if the filter is to look at it.
    arrived: Time,
    unfiltered: Option<u32>,
}

/// One of the queues.
#[derive(Debug)]
pub(super) struct Queue<S> {
    pub(super) held: Held,
    pub(super) state: S,
    /// What it may still send in this turn, bytes.
    credits: i64,
    pub(super) turn: Turn,
    /// The hosts of the flow whose packet came last.
    ends: Ends,
    /// The one behind it in its list.
    next: Option<u32>,
}

/// How a queue takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is in no list.
    None,
    /// It has not used up its first turn.
    Sparse,
    /// It was empty when it had used it up.
    Idle,
    /// It has had a turn and sends more: it counts for its hosts.
    Bulk,
}

/// A list of queues, whose links are in these.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) first: Option<u32>,
    last: u32,
}

impl<C: QueueControl> FlowQueues<C> {
    /// Empty queues, for flows by a hash with this `perturbation`.
    pub(super) fn of(control: C, shape: Shape, perturbation: u64) -> Self {
        let mut queues = Vec::new();
        queues.resize_with(shape.queues as usize, Queue::default);
        Self {
            control,
            shape,
            perturbation,
            // Its numbers are used for no flow's hash.
            hosts: HostShares::new(shape.isolation, Stream::seeded(!perturbation)),
            places: Vec::new(),
            places_of_hosts: BTreeMap::new(),
            known: vec![0; (shape.queues / C::WAYS) as usize],
            queues,
            new: Turns::default(),
            old: Turns::default(),
            packets: 0,
            bytes: 0,
            arrived: Time::ZERO,
            unfiltered: None,
        }
    }

    /// The queue of a flow.
    pub(super) fn place(&mut self, flow: u32) -> u32 {
        if let Some(place) = self.places.get(flow as usize) {
            return *place;
        }
        for flow in self.places.len() as u32..=flow {
            let place = self.look_up(flow);
            self.places.push(place);
        }
        self.places[flow as usize]
    }

    /// The queue of a flow by its hash, or by that of its hosts.
    fn look_up(&mut self, flow: u32) -> u32 {
        let key = self.hosts.key(flow);
        if let Some(place) = self.places_of_hosts.get(&key) {
            return *place;
        }
        let set = Stream::seeded(self.perturbation ^ key).below(self.known.len() as u64);
        let known = &mut self.known[set as usize];
        let place = set as u32 * C::WAYS + *known % C::WAYS;
        *known = known.wrapping_add(1);
        if self.shape.isolation.queues_hosts() {
            self.places_of_hosts.insert(key, place);
        }
        place
    }

    fn has_too_much(&self) -> bool {
        self.shape.limit.is_exceeded(self.packets, self.bytes) || self.bytes > self.shape.memory
    }

    /// Drops from the head of the longest queue in bytes; of equal queues from the one with the lowest place.
    fn evict(&mut self, dropped: &mut Vec<Packet>) {
        let Some(longest) = self.queues.iter_mut().rev().max_by_key(|queue| queue.held.bytes()) else { return };
        self.control.overflow(&mut longest.state, self.arrived);
        for _ in 0..C::batch(longest.held.packets()) {
            if let Some((_, packet)) = longest.held.pop() {
                self.packets -= 1;
                self.bytes -= u64::from(packet.size.0);
                dropped.push(packet);
            }
        }
    }
}

impl<C: QueueControl> Scheduler for FlowQueues<C> {
    fn push(&mut self, now: Time, packet: &Packet) -> bool {
        let place = self.place(packet.flow);
        let ends = self.hosts.of(packet.flow);
        let queue = &mut self.queues[place as usize];
        queue.held.push(now, packet);
        if queue.ends != ends {
            let past = std::mem::replace(&mut queue.ends, ends);
            if queue.turn == Turn::Bulk {
                self.hosts.leave(past);
                self.hosts.join(ends);
            }
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size.0);
        match queue.turn {
            Turn::None => {
                (queue.turn, queue.credits) = (Turn::Sparse, self.hosts.quantum(self.shape.quantum, ends));
                self.new.push_back(&mut self.queues, place);
            }
            Turn::Idle => {
                queue.turn = Turn::Bulk;
                self.hosts.join(ends);
            }
            Turn::Sparse | Turn::Bulk => {}
        }
        self.arrived = now;
        self.unfiltered = (self.shape.ack_filter && matches!(packet.body, Body::Ack(_))).then_some(place);
        self.unfiltered.is_some() || self.has_too_much()
    }

    fn shed(&mut self, dropped: &mut Vec<Packet>) {
        if let Some(place) = self.unfiltered.take()
            && let Some(ack) = ack_filter::take_redundant(&mut self.queues[place as usize].held)
        {
            self.packets -= 1;
            self.bytes -= u64::from(ack.size.0);
            dropped.push(ack);
        }
        while self.has_too_much() {
            self.evict(dropped);
        }
    }

    fn pull(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Pulled<'_>> {
        if C::EMPTY_LEAVES && self.packets == 0 {
            return None;
        }
        loop {
            let is_new = self.new.first.is_some();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = list.first?;
            let queue = &mut self.queues[place as usize];
            if queue.credits <= 0 {
                if queue.turn == Turn::Sparse {
                    queue.turn = if queue.held.packets() == 0 { Turn::Idle } else { Turn::Bulk };
                    if queue.turn == Turn::Bulk {
                        self.hosts.join(queue.ends);
                    }
                }
                queue.credits += self.hosts.quantum(self.shape.quantum, queue.ends);
                list.pop_front(&self.queues);
                self.old.push_back(&mut self.queues, place);
                continue;
            }
            let earlier = dropped.len();
            let marked = self.control.choose(&mut queue.state, &mut queue.held, now, dropped);
            for packet in &dropped[earlier..] {
                self.packets -= 1;
                self.bytes -= u64::from(packet.size.0);
            }
            if let (Some(marked), Some((_, packet))) = (marked, queue.held.oldest()) {
                let size = packet.size;
                self.packets -= 1;
                self.bytes -= u64::from(size.0);
                queue.credits -= i64::from(size.0);
                return Some(Pulled { held: &mut self.queues[place as usize].held, size, marked });
            }
            list.pop_front(&self.queues);
            if is_new && !C::EMPTY_LEAVES {
                // It would come first again with its next packet, before those that have waited for their turn.
                self.old.push_back(&mut self.queues, place);
            } else {
                let queue = &mut self.queues[place as usize];
                if std::mem::replace(&mut queue.turn, Turn::None) == Turn::Bulk {
                    self.hosts.leave(queue.ends);
                }
            }
        }
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.shape.limit = limit;
    }

    fn assign(&mut self, flow: u32, hosts: HostPair) {
        if self.hosts.assign(flow, hosts) && (flow as usize) < self.places.len() {
            self.places[flow as usize] = self.look_up(flow);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.queues.iter().flat_map(|queue| queue.held.iter()))
    }
}

impl<S: Default> Default for Queue<S> {
    fn default() -> Self {
        Self { held: Held::default(), state: S::default(), credits: 0, turn: Turn::None, ends: [OWN; 2], next: None }
    }
}

impl Turns {
    /// Adds a queue that is in no list.
    fn push_back<S>(&mut self, queues: &mut [Queue<S>], place: u32) {
        queues[place as usize].next = None;
        match self.first {
            Some(_) => queues[self.last as usize].next = Some(place),
            None => self.first = Some(place),
        }
        self.last = place;
    }

    /// Removes the first one.
    fn pop_front<S>(&mut self, queues: &[Queue<S>]) {
        self.first = self.first.and_then(|first| queues[first as usize].next);
    }
}

/// Packets in and out of queues, for the tests of each kind of control.
#[cfg(test)]
pub(super) mod testing {
    use cwnd::{Bytes, Span};

    use super::*;
    use crate::net::packet::{Data, Ecn};
    use crate::net::queue::scheduled::Sent;
    use crate::net::setup::Class;

    pub(in super::super) fn packet(flow: u32, number: u64, size: u32) -> Packet {
        let data = Data::new(number, Time::ZERO);
        let (size, ecn, class) = (Bytes(size), Ecn::NotCapable, Class::Out);
        Packet { due: Time::ZERO, flow, hop: 0, size, ecn, class, body: Body::Data(data) }
    }

    /// Its flow and its number.
    pub(in super::super) fn label(packet: &Packet) -> (u32, u64) {
        let number = match packet.body {
            Body::Data(data) => data.number,
            Body::Ack(ack) => ack.cumulative,
            _ => panic!("neither data nor an acknowledgement"),
        };
        (packet.flow, number)
    }

    /// Offers packets by flow, number and size.
    pub(in super::super) fn push<C: QueueControl>(queue: &mut FlowQueues<C>, packets: &[(u32, u64, u32)]) {
        for (flow, number, size) in packets {
            queue.push(Time::ZERO, &packet(*flow, *number, *size));
        }
    }

    pub(in super::super) fn pull<C: QueueControl>(queue: &mut FlowQueues<C>) -> Option<(u32, u64)> {
        sent(queue, Time::ZERO, &mut Vec::new()).map(|sent| label(&sent.packet))
    }

    pub(in super::super) fn drain<C: QueueControl>(queue: &mut FlowQueues<C>) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| pull(queue)).collect()
    }

    fn sent<C: QueueControl>(queue: &mut FlowQueues<C>, now: Time, dropped: &mut Vec<Packet>) -> Option<Sent> {
        queue.pull(now, dropped)?.take(now, now)
    }

    /// Offers a packet or takes one out in each step, after a gap in milliseconds: none is lost count of, and those of a flow stay in order.
    /// `change` makes the packet that is offered of one with data; after each offer the queue must satisfy `bounded`.
    pub(in super::super) fn account<C: QueueControl>(
        queue: &mut FlowQueues<C>,
        steps: Vec<(u64, Option<(u32, u32)>)>,
        change: impl Fn(u64, Time, Packet) -> Packet,
        bounded: impl Fn(&FlowQueues<C>) -> bool,
    ) {
        let (mut now, mut pushed, mut gone, mut dropped) = (Time::ZERO, 0, Vec::new(), Vec::new());
        for (number, (gap, step)) in (0..).zip(steps) {
            now += Span::from_millis(gap);
            if let Some((flow, size)) = step {
                queue.push(now, &change(number, now, packet(flow, number, size)));
                pushed += 1;
                queue.shed(&mut dropped);
                assert!(bounded(queue), "{} packets, {} bytes", queue.packets, queue.bytes);
            } else {
                let waited = queue.packets > 0;
                let pulled = sent(queue, now, &mut dropped);
                assert_eq!(pulled.is_some(), waited, "the link is never idle while packets wait");
                gone.extend(pulled.map(|pulled| label(&pulled.packet)));
            }
            assert_eq!(queue.packets, queue.waiting().count() as u64);
            assert_eq!(queue.bytes, queue.waiting().map(|packet| u64::from(packet.size.0)).sum::<u64>());
            assert_eq!(pushed, gone.len() as u64 + dropped.len() as u64 + queue.packets);
        }
        for flow in 0..6 {
            assert!(gone.iter().filter(|label| label.0 == flow).is_sorted());
        }
    }
}
