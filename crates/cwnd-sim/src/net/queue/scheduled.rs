//! A line that asks its queue for the next packet whenever it is free.
//!
//! Nothing looks at such a queue between two arrivals, so that it needs no events of its own: the packets that have left since
//! the last look are taken out, in order, at the next one, each at the instant its transmission began. A packet that leaves at an
//! instant does so before one that arrives then.

use std::collections::VecDeque;
use std::fmt::Debug;

use cwnd::{Bytes, Time};

use crate::net::line::Line;
use crate::net::packet::{Ecn, Packet};
use crate::net::setup::{HostPair, QueueLimit};

/// A line and the queue in front of it.
#[derive(Debug)]
pub(crate) struct Scheduled<Q: ?Sized> {
    pub(crate) line: Line,
    /// What the queue has dropped, for the owner to take.
    pub(crate) dropped: Vec<Packet>,
    pub(crate) queue: Q,
}

/// A queue that decides on a packet when the line is free for it.
pub(crate) trait Scheduler: Debug + Send {
    /// Takes in a packet; whether there is too much now, if it has to wait.
    fn push(&mut self, now: Time, packet: &Packet) -> bool;

    /// Drops the excess.
    fn shed(&mut self, dropped: &mut Vec<Packet>);

    /// The packet to be transmitted from `now` on, which never goes back, still in its place; what goes in its stead is `dropped`. If
    /// something waits, something is sent.
    fn pull(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Pulled<'_>>;

    /// Changes the limit, to which the queue is held from the next packet on.
    fn set_limit(&mut self, limit: QueueLimit);

    /// Tells it the hosts of a flow, of which no packet waits. Only a queue that shares by host listens.
    fn assign(&mut self, _flow: u32, _hosts: HostPair) {}

    /// Packets and bytes that wait.
    fn backlog(&self) -> (u64, u64);

    /// The packets that wait.
    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_>;
}

/// The oldest of some packets, which is to be sent and has to be [taken](Self::take) out.
#[derive(Debug)]
#[must_use]
pub(crate) struct Pulled<'a> {
    pub(crate) held: &'a mut Held,
    /// Its size.
    pub(crate) size: Bytes,
    /// It is marked here.
    pub(crate) marked: bool,
}

/// A packet that has been put on the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) packet: Packet,
    pub(crate) arrived: Time,
    pub(crate) marked: bool,
    /// Its transmission.
    pub(crate) start: Time,
    pub(crate) finish: Time,
}

/// Packets in the order of their arrival, with the instants of it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    packets: VecDeque<(Time, Packet)>,
    bytes: u64,
}

impl<Q: Scheduler> Scheduled<Q> {
    pub(crate) fn new(line: Line, queue: Q) -> Self {
        Self { line, dropped: Vec::new(), queue }
    }
}

impl<Q: Scheduler + ?Sized> Scheduled<Q> {
    /// Offers a packet, once [`next`](Self::next) has nothing left at `now`. An idle line takes it at once, whatever the limit of
    /// the queue. Otherwise it waits, and the excess is dropped.
    pub(crate) fn offer(&mut self, now: Time, packet: &Packet) -> Option<Sent> {
        let too_much = self.queue.push(now, packet);
        if self.line.free_at() > now {
            if too_much {
                self.queue.shed(&mut self.dropped);
            }
            return None;
        }
        let pulled = self.queue.pull(now, &mut self.dropped)?;
        let finish = self.line.send(now, pulled.size);
        pulled.take(now, finish)
    }

    /// The next packet whose transmission has begun by `now`.
    pub(crate) fn next(&mut self, now: Time) -> Option<Sent> {
        let start = self.line.free_at();
        if start > now {
            return None;
        }
        let pulled = self.queue.pull(start, &mut self.dropped)?;
        let finish = self.line.follow(pulled.size);
        pulled.take(start, finish)
    }
}

impl<'a> Pulled<'a> {
    /// The oldest of `held`; none if nothing is.
    #[inline]
    pub(crate) fn of(held: &'a mut Held, marked: bool) -> Option<Self> {
        let size = held.oldest()?.1.size;
        Some(Self { held, size, marked })
    }

    /// Takes the packet out, which is transmitted from `start` to `finish`.
    pub(crate) fn take(self, start: Time, finish: Time) -> Option<Sent> {
        let (arrived, packet) = self.held.packets.front()?;
        let ecn = if self.marked { Ecn::Congestion } else { packet.ecn };
        let sent = Sent { packet: Packet { ecn, ..*packet }, arrived: *arrived, marked: self.marked, start, finish };
        self.held.packets.pop_front();
        self.held.bytes -= u64::from(self.size.0);
        Some(sent)
    }
}

impl Held {
    pub(crate) fn push(&mut self, now: Time, packet: &Packet) {
        self.bytes += u64::from(packet.size.0);
        self.packets.push_back((now, *packet));
    }

    /// Takes the oldest packet.
    pub(crate) fn pop(&mut self) -> Option<(Time, Packet)> {
        let head = self.packets.pop_front()?;
        self.bytes -= u64::from(head.1.size.0);
        Some(head)
    }

    /// Takes the newest packet.
    pub(crate) fn pop_newest(&mut self) -> Option<(Time, Packet)> {
        let tail = self.packets.pop_back()?;
        self.bytes -= u64::from(tail.1.size.0);
        Some(tail)
    }

    /// Takes the packet at `index` from the oldest one, which is the packet at 0.
    pub(crate) fn remove(&mut self, index: usize) -> Option<Packet> {
        let (_, packet) = self.packets.remove(index)?;
        self.bytes -= u64::from(packet.size.0);
        Some(packet)
    }

    /// The oldest packet, and when it arrived.
    pub(crate) fn oldest(&self) -> Option<&(Time, Packet)> {
        self.packets.front()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Packet> {
        self.packets.iter().map(|(_, packet)| packet)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
