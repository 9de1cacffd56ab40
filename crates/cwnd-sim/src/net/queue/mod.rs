//! Queueing disciplines: the treatment of packets in front of a line.
//!
//! A first-in-first-out queue ([`fifo`]) decides on arrival: whether a packet is enqueued ([`red`], [`rio`], [`pie`]), the fields written
//! into it ([`xcp`], [`vcp`], [`decbit`]) and, by arithmetic, when it leaves. Others keep their packets until the line is free for them
//! ([`scheduled`]): deficit round robin ([`drr`]), CoDel alone ([`codel`]), queues of flows ([`flows`]) with CoDel ([`fq_codel`]) or with
//! COBALT ([`cake`]), the coupled dual queue ([`dualpi2`]), and drop-tail ([`tail`]) for a line that is not always free for it.

pub(crate) mod ack_filter;
pub(crate) mod cake;
pub(crate) mod cobalt;
pub(crate) mod codel;
pub(crate) mod decbit;
pub(crate) mod drr;
pub(crate) mod dualpi2;
pub(crate) mod fifo;
pub(crate) mod flows;
pub(crate) mod fq_codel;
mod host_shares;
pub(crate) mod pie;
pub(crate) mod red;
pub(crate) mod rio;
pub(crate) mod scheduled;
pub(crate) mod tail;
pub(crate) mod vcp;
pub(crate) mod waiting;
pub(crate) mod xcp;

use cwnd::{Bytes, Time};

/// The decision of a queue about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Queue,
    Mark,
    Drop,
}

/// A packet arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub(crate) now: Time,
    pub(crate) size: Bytes,
    /// Its sender takes part in congestion notification.
    pub(crate) capable: bool,
    /// Packets and bytes waiting.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// The line has been idle since then.
    pub(crate) idle_since: Option<Time>,
    /// The limit of the queue leaves no room for it.
    pub(crate) full: bool,
}
