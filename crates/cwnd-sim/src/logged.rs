//! A sender with a log of everything it sends and everything that reaches it.

use std::ops::{Deref, DerefMut};

use cwnd::Time;
use cwnd_trace::{EcnField, Logged, PacketLog, Protocol, Seen};
use cwnd_udt::wire::{LossRange, Losses};
use cwnd_udt::{Message, Seq, SocketId};

use crate::agent;
use crate::net::packet::AckEcho;
use crate::net::packet::{Block, Body, Ecn};
use crate::protocol::{SenderProtocol, Timers, collect, collected};

/// A sender with a log. As a kind of sender of its own it costs others nothing, not even a branch.
#[derive(Debug)]
pub(crate) struct LoggedSender<S> {
    sender: S,
    log: Log,
}

#[derive(Debug)]
struct Log {
    log: PacketLog,
    /// As many as it may hold.
    most: usize,
    /// Whether and how the flow takes part in ECN.
    ecn: Option<AckEcho>,
}

impl<S: SenderProtocol> LoggedSender<S> {
    /// Logs at most `most` packets of `sender`, whose protocol is `protocol`.
    pub(crate) fn new(sender: S, protocol: Protocol, most: usize, ecn: Option<AckEcho>) -> Self {
        Self { sender, log: Log { log: PacketLog { protocol, ..PacketLog::default() }, most, ecn } }
    }

    /// See [`SenderProtocol::serve`].
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        collected(send, |sent| self.send_to(now, body, sent))
    }

    #[cold]
    fn send_to(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Timers {
        let Self { sender, log } = self;
        if let Some(body) = body {
            log.record(now, body);
        }
        sender.serve(now, body, |body| {
            log.record(now, &body);
            collect(sent, body)
        })
    }

    /// The log.
    pub(crate) fn into_log(self) -> PacketLog {
        self.log.log
    }
}

/// All but serving is the sender's.
impl<S> Deref for LoggedSender<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.sender
    }
}

impl<S> DerefMut for LoggedSender<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.sender
    }
}

impl Log {
    fn record(&mut self, now: Time, body: &Body) {
        let at = now.as_nanos();
        if self.log.packets.len() >= self.most {
            self.log.full.get_or_insert(at);
            return;
        }
        let seen = match body {
            Body::Data(data) | Body::Headed(data, _) => Seen::Data {
                number: data.number,
                again: data.retransmission,
                ecn: match Ecn::of_data(self.ecn, data) {
                    Ecn::NotCapable | Ecn::Congestion => EcnField::NotEct,
                    Ecn::Capable => EcnField::Ect0,
                    Ecn::Scalable => EcnField::Ect1,
                },
                reacted: data.reacted,
            },
            Body::Ack(ack) => acknowledgement(ack.cumulative, ack.ranges(), ack.marked),
            Body::Reply(reply) => {
                let [first, second] = reply.sack;
                let second = if reply.has_totals() { Block::default() } else { second };
                acknowledgement(reply.cumulative, [first, second, Block::default()], reply.marked)
            }
            Body::Report(report) => Seen::Report { newest: report.newest, arrivals: report.arrivals },
            // A stack has no such log, and a handshake none of its sender.
            Body::Datagram(_) | Body::Handshake(_) => return,
            Body::ToSender(message) => self.control(now, message, true),
            Body::Agent(agent::Message::Nak { first, .. }) => {
                let first = Seq::MAX.next() + *first;
                let Some(named) = LossRange::new(first, first) else { return };
                self.control(now, &Message::Nak(Losses::new(named)), true)
            }
            // The wire has no such message.
            Body::Agent(agent::Message::DelayWarning) => return,
            Body::ToReceiver(message) => self.control(now, message, false),
        };
        self.log.packets.push(Logged { at, seen });
    }

    fn control(&mut self, now: Time, message: &Message, arrives: bool) -> Seen {
        let before = self.log.control.len();
        // Both ends have the same name, and a clock in microseconds that wraps.
        let stamp = (now.as_nanos() / 1000) as u32;
        message.control().encode(SocketId::new(1), stamp, &mut self.log.control);
        let len = self.log.control.len() - before;
        Seen::Control { arrives, len: u16::try_from(len).unwrap_or(u16::MAX) }
    }
}

fn acknowledgement(cumulative: u64, sack: [Block; 3], echoes: bool) -> Seen {
    let sack = sack.map(|block| if block.is_empty() { (0, 0) } else { (block.first, block.end) });
    Seen::Ack { cumulative, sack, echoes }
}
