//! The sender of traffic without congestion control.

use cwnd::host::Counts;
use cwnd::{Packets, Rtt, Span, Time};

use crate::net::packet::Data;
use crate::traffic::source::Backlog;

/// Sends what its schedule says.
#[derive(Debug)]
pub(crate) struct Sender {
    backlog: Backlog,
    next: u64,
}

impl Sender {
    /// A sender of what `backlog` hands over.
    pub(crate) fn new(backlog: Backlog) -> Self {
        Self { backlog, next: 0 }
    }

    /// The next packet to leave now, if one is due.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Data> {
        let number = self.next;
        if !self.backlog.has(now, number) {
            return None;
        }
        self.next += 1;
        Some(Data { number, sent_at: now, retransmission: false, reacted: false, pair: false })
    }

    /// When the next packet may be due.
    pub(crate) fn next_release(&self) -> Time {
        self.backlog.due()
    }

    /// Its rate now, bit/s.
    pub(crate) fn rate(&self) -> u64 {
        self.backlog.rate().unwrap_or(0)
    }

    /// What it has sent; it hears of nothing else.
    pub(crate) fn counts(&self) -> Counts {
        Counts { sent: self.next, ..Counts::default() }
    }

    /// No time: nothing but its schedule holds it.
    pub(crate) fn limited(&self, _now: Time) -> (Span, Span) {
        (Span::ZERO, Span::ZERO)
    }

    /// None: nobody answers.
    pub(crate) fn rtt(&self) -> Option<Rtt> {
        None
    }

    /// Everything at once.
    pub(crate) fn window(&self) -> Packets {
        Packets(f64::INFINITY)
    }
}
