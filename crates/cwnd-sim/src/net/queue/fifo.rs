//! First in, first out: drop-tail, alone or behind random early detection or PIE.

use cwnd::{Bytes, Time};

use super::decbit::DecBit;
use super::pie::Pie;
use super::red::Red;
use super::rio::Rio;
use super::vcp::Vcp;
use super::waiting::Waiting;
use super::xcp::Xcp;
use super::{Arriving, Decision};
use crate::net::line::Line;
use crate::net::packet::{Ecn, Packet};
use crate::net::setup::QueueLimit;

/// A line and the packets that wait for it.
#[derive(Debug)]
pub(crate) struct Fifo {
    pub(crate) line: Line,
    pub(crate) limit: QueueLimit,
    pub(crate) early: Early,
    pub(crate) waiting: Waiting,
}

/// What drops packets before the queue is full, or writes on them.
#[derive(Debug)]
pub(crate) enum Early {
    Nothing,
    Red(Box<Red>),
    Rio(Box<Rio>),
    Pie(Box<Pie>),
    Xcp(Box<Xcp>),
    Vcp(Box<Vcp>),
    DecBit(Box<DecBit>),
}

/// A packet was enqueued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    pub(crate) marked: bool,
    /// Its transmission.
    pub(crate) start: Time,
    pub(crate) finish: Time,
}

impl Fifo {
    /// Decides on a packet; none if it is dropped. An idle line takes every packet at once, whatever the limit.
    #[inline(always)]
    pub(crate) fn offer(&mut self, now: Time, packet: &mut Packet) -> Option<Admitted> {
        if self.is_drop_tail() {
            return self.offer_to_tail(now, packet.size);
        }
        self.waiting.advance(now);
        let start = self.line.next_start(now);
        let busy = start > now;
        let (packets, bytes) = (self.waiting.packets(), self.waiting.bytes());
        let full = busy && self.limit.refuses(packets, bytes, packet.size);
        let arriving = || {
            let capable = packet.ecn != Ecn::NotCapable;
            let idle_since = (!busy).then(|| self.line.free_at());
            Arriving { now, size: packet.size, capable, packets, bytes, idle_since, full }
        };
        let fate = match &mut self.early {
            Early::Nothing => Decision::Queue,
            Early::Red(red) => red.admit(&arriving()),
            Early::Rio(rio) => rio.admit(&arriving(), packet.class, start),
            Early::Pie(pie) => pie.admit(&arriving(), start),
            Early::Xcp(xcp) => xcp.admit(&arriving(), &mut packet.body),
            Early::Vcp(vcp) => vcp.admit(&arriving(), &mut packet.body),
            Early::DecBit(decbit) => decbit.admit(&arriving(), start, &mut packet.body),
        };
        if fate == Decision::Drop {
            return None;
        }
        if busy {
            self.waiting.push(start, packet.size);
        }
        Some(Admitted { marked: fate == Decision::Mark, start, finish: self.line.send(now, packet.size) })
    }

    /// Nothing but the length of the queue decides.
    #[inline]
    pub(crate) fn is_drop_tail(&self) -> bool {
        matches!(self.early, Early::Nothing)
    }

    /// [`offer`](Self::offer) for a packet of `size` where the queue [drops at its tail](Self::is_drop_tail).
    #[inline(always)]
    pub(crate) fn offer_to_tail(&mut self, now: Time, size: Bytes) -> Option<Admitted> {
        self.waiting.advance(now);
        let start = self.line.next_start(now);
        if start > now {
            if self.limit.refuses(self.waiting.packets(), self.waiting.bytes(), size) {
                return None;
            }
            self.waiting.push(start, size);
        }
        Some(Admitted { marked: false, start, finish: self.line.send(now, size) })
    }
}
