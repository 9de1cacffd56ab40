//! A line that asks its queue for the next packet whenever it is free.
//!
//! Nothing looks at such a queue between two arrivals, so that it needs no events of its own: the packets that have left since
//! the last look are taken out, in order, at the next one, each at the instant its transmission began. A packet that leaves at an
//! instant does so before one that arrives then.

use std::collections::VecDeque;
use std::fmt::Debug;

use cwnd::Time;

use crate::net::line::Line;
use crate::net::packet::{Ecn, Packet};

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
    /// Takes in a packet.
    fn push(&mut self, now: Time, packet: Packet);

    /// Drops what is too much, after a packet that has to wait.
    fn shed(&mut self, dropped: &mut Vec<Packet>);

    /// The packet to be transmitted from `now` on, which never goes back; what goes in its stead is `dropped`. If something waits,
    /// something is sent.
    fn pull(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Pulled>;

    /// Packets and bytes that wait.
    fn backlog(&self) -> (u64, u64);

    /// The packets that wait.
    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_>;
}

/// A packet taken from a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pulled {
    pub(crate) packet: Packet,
    pub(crate) arrived: Time,
    /// It was marked here.
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
    /// the queue; else it waits, and what is too much is dropped.
    pub(crate) fn offer(&mut self, now: Time, packet: Packet) -> Option<Sent> {
        self.queue.push(now, packet);
        if self.line.free_at() > now {
            self.queue.shed(&mut self.dropped);
            return None;
        }
        let pulled = self.queue.pull(now, &mut self.dropped)?;
        let finish = self.line.send(now, pulled.packet.size);
        Some(pulled.sent(now, finish))
    }

    /// The next packet whose transmission has begun by `now`.
    pub(crate) fn next(&mut self, now: Time) -> Option<Sent> {
        let start = self.line.free_at();
        if start > now {
            return None;
        }
        let pulled = self.queue.pull(start, &mut self.dropped)?;
        let finish = self.line.follow(pulled.packet.size);
        Some(pulled.sent(start, finish))
    }
}

impl Pulled {
    /// A packet that arrived at `arrived`, as it is.
    pub(crate) fn unmarked((arrived, packet): (Time, Packet)) -> Self {
        Self { packet, arrived, marked: false }
    }

    /// A packet that arrived at `arrived`, with a mark; none if its sender does not take part.
    pub(crate) fn marked((arrived, packet): (Time, Packet)) -> Option<Self> {
        let marked = Self { packet: Packet { ecn: Ecn::Congestion, ..packet }, arrived, marked: true };
        (packet.ecn != Ecn::NotCapable).then_some(marked)
    }

    fn sent(self, start: Time, finish: Time) -> Sent {
        let Self { packet, arrived, marked } = self;
        Sent { packet, arrived, marked, start, finish }
    }
}

impl Held {
    pub(crate) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.size.0);
        self.packets.push_back((now, packet));
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

    pub(crate) fn head(&self) -> Option<&Packet> {
        self.packets.front().map(|(_, packet)| packet)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|(_, packet)| packet)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
