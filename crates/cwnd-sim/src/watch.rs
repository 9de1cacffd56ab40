//! A sender that is looked at: everything it sends and everything that reaches it is written down.

use std::ops::{Deref, DerefMut};

use cwnd::Time;
use cwnd_trace::{Logged, PacketLog, Protocol, Seen};
use cwnd_udt::{Message, SocketId};

use crate::endpoint::{Sender, Wishes};
use crate::net::packet::{Ack, Block, Body};

/// A sender with a log. As a kind of sender of its own it costs others nothing, not even a branch.
#[derive(Debug)]
pub(crate) struct Watched {
    sender: Sender,
    log: Log,
}

#[derive(Debug)]
struct Log {
    log: PacketLog,
    /// As many as it may hold.
    most: usize,
    /// The flow's data is ECN-capable, unless sent again.
    ecn: bool,
}

impl Watched {
    /// Looks at `sender` for at most `most` packets.
    pub(crate) fn new(sender: Sender, most: usize, ecn: bool) -> Self {
        let protocol = match sender {
            Sender::Udt(_) => Protocol::Udt,
            Sender::Datagram(_) => Protocol::Datagrams,
            _ => Protocol::Tcp,
        };
        Self { sender, log: Log { log: PacketLog { protocol, ..PacketLog::default() }, most, ecn } }
    }

    /// The same as [`Sender::serve`], but what leaves is added to `sent`.
    #[cold]
    pub(crate) fn serve(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Wishes {
        let Self { sender, log } = self;
        if let Some(body) = body {
            log.note(now, body);
        }
        sender.serve(now, body, |body| {
            log.note(now, &body);
            sent.push(body);
        })
    }

    /// What was seen.
    pub(crate) fn into_log(self) -> PacketLog {
        self.log.log
    }
}

/// Everything that nobody looks at is the sender's.
impl Deref for Watched {
    type Target = Sender;

    fn deref(&self) -> &Sender {
        &self.sender
    }
}

impl DerefMut for Watched {
    fn deref_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }
}

impl Log {
    fn note(&mut self, now: Time, body: &Body) {
        let at = now.as_nanos();
        if self.log.packets.len() >= self.most {
            self.log.full.get_or_insert(at);
            return;
        }
        let seen = match body {
            Body::Data(data) | Body::Headed(data, _) => Seen::Data {
                number: data.number,
                again: data.retransmission,
                capable: self.ecn && !data.retransmission,
                reacted: data.reacted,
            },
            Body::Ack(Ack { cumulative, sack, marked, .. }) => acknowledgement(*cumulative, *sack, *marked),
            Body::Reply(reply) => {
                let [first, second] = reply.sack;
                acknowledgement(reply.cumulative, [first, second, Block::default()], false)
            }
            Body::Report(report) => Seen::Report { newest: report.newest, arrivals: report.arrivals },
            Body::ToSender(message) => self.control(now, message, true),
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
    let sack = sack.map(|Block { first, end }| (first, end));
    Seen::Ack { cumulative, sack, echoes }
}
