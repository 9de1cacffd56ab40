//! Drop-tail for a line whose next packet is not known when it arrives.

use cwnd::Time;

use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::Packet;
use crate::net::setup::QueueLimit;

/// First in, first out; a packet that finds the queue full is dropped.
#[derive(Debug)]
pub(crate) struct Tail {
    limit: QueueLimit,
    held: Held,
}

impl Tail {
    /// An empty queue.
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { limit, held: Held::default() }
    }
}

impl Scheduler for Tail {
    fn push(&mut self, now: Time, packet: &Packet) -> bool {
        self.held.push(now, packet);
        self.limit.is_exceeded(self.held.packets(), self.held.bytes())
    }

    fn shed(&mut self, dropped: &mut Vec<Packet>) {
        dropped.extend(self.held.pop_newest().map(|(_, packet)| packet));
    }

    fn pull(&mut self, _: Time, _: &mut Vec<Packet>) -> Option<Pulled<'_>> {
        Pulled::of(&mut self.held, false)
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    fn backlog(&self) -> (u64, u64) {
        (self.held.packets(), self.held.bytes())
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.held.iter())
    }
}
