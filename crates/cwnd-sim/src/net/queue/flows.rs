//! Flow queueing: queues of flows that take turns by bytes.
//!
//! A flow goes to the queue that its hash names. Queues take turns, as in deficit round robin, and those that were empty a moment ago
//! come first: a flow that sends less than its share hardly waits. A rule of its own decides on the packets of each queue
//! ([`QueueControl`]): CoDel in [`fq_codel`](super::fq_codel), COBALT in [`cake`](super::cake).

use std::fmt::Debug;

use cwnd::Time;

use super::ack_filter;
use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::{Body, Packet};
use crate::net::setup::QueueLimit;
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
}

/// Packets that wait, queue by queue.
#[derive(Debug)]
pub(crate) struct FlowQueues<C: QueueControl> {
    control: C,
    shape: Shape,
    /// Perturbs the hash.
    perturbation: u64,
    /// The queues of the flows up to the last one seen.
    places: Vec<u32>,
    /// How many of these flows have come to each set of queues.
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
#[derive(Debug, Default)]
pub(super) struct Queue<S> {
    pub(super) held: Held,
    pub(super) state: S,
    /// What it may still send in this turn, bytes.
    credits: i64,
    /// It is in one of the lists.
    pub(super) listed: bool,
    /// The one behind it in its list.
    next: Option<u32>,
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
            places: Vec::new(),
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
            let set = Stream::seeded(self.perturbation ^ u64::from(flow)).below(self.known.len() as u64);
            let known = &mut self.known[set as usize];
            self.places.push(set as u32 * C::WAYS + *known % C::WAYS);
            *known = known.wrapping_add(1);
        }
        self.places[flow as usize]
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
        let queue = &mut self.queues[place as usize];
        queue.held.push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size.0);
        if !queue.listed {
            (queue.listed, queue.credits) = (true, i64::from(self.shape.quantum));
            self.new.push_back(&mut self.queues, place);
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
                queue.credits += i64::from(self.shape.quantum);
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
                self.queues[place as usize].listed = false;
            }
        }
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.shape.limit = limit;
    }

    fn backlog(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.queues.iter().flat_map(|queue| queue.held.iter()))
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
