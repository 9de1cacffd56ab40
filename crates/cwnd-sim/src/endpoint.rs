//! The kinds of endpoint: acknowledging every packet, reporting on a clock, or not answering at all.

use cwnd::host::{Counts, Spent};
use cwnd::{Algorithm, Bytes, CongestionControl, Packets, Rtt, Span, Time};
use cwnd_trace::PacketLog;
use cwnd_udt::Message;

use crate::era::{Era, MarkedAtOne};
use crate::net::packet::{Body, Data, Header};
use crate::tcp::recovery::{Cumulative, NewReno, RecoveryScheme, Reno, Sack, Tahoe};
use crate::traffic::source::Backlog;
use crate::watch::Watched;
use crate::{cbr, datagram, routed, tcp, udt};

/// What a sender is made of.
pub(crate) struct SenderConfig {
    pub(crate) algorithm: Algorithm,
    pub(crate) era: Era,
    /// As the era has it, or nothing where marks are echoed packet by packet.
    pub(crate) marked_at_one: MarkedAtOne,
    pub(crate) recovery: RecoveryScheme,
    pub(crate) backlog: Backlog,
    pub(crate) max_window: f64,
    pub(crate) packet: Bytes,
    pub(crate) payload: Bytes,
    pub(crate) paced: bool,
}

/// A sender.
#[derive(Debug)]
pub(crate) enum Sender {
    /// TCP-like, with selective acknowledgements.
    Sack(tcp::Sender<Sack>),
    /// TCP-like, without.
    Cumulative(tcp::Sender<Cumulative>),
    /// UDT's.
    Udt(Box<udt::Sender>),
    /// TCP-like, with packets on which routers write.
    Routed(Box<tcp::Sender<Sack>>),
    /// One that hears reports and sends nothing twice.
    Datagram(Box<datagram::Sender>),
    /// Without congestion control.
    Cbr(Box<cbr::Sender>),
    /// Any of them, with a log of its packets.
    Watched(Box<Watched>),
}

/// When a sender wants to be asked again without hearing from its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// To send more.
    pub(crate) release: Time,
    /// When its timer expires.
    pub(crate) deadline: Time,
}

/// A receiver.
#[derive(Debug)]
pub(crate) enum Receiver {
    /// TCP-like.
    Tcp(tcp::Receiver),
    /// TCP-like, behind a link that aggregates acknowledgements.
    Aggregate(Box<tcp::Aggregate>),
    /// UDT's.
    Udt(Box<udt::Receiver>),
    /// TCP-like, that answers with what routers wrote.
    Routed(Box<routed::Receiver>),
    /// One that hosts its half of an algorithm.
    Datagram(Box<datagram::Receiver>),
    /// Only counts.
    Counter,
}

/// Evaluates `$body` for the sender inside, or gives `$otherwise` for one without congestion control.
macro_rules! controlled {
    ($self:expr, $inner:ident => $body:expr, $otherwise:expr) => {
        match $self {
            Sender::Sack($inner) => $body,
            Sender::Cumulative($inner) => $body,
            Sender::Udt($inner) => $body,
            Sender::Watched($inner) => $body,
            Sender::Routed($inner) => $body,
            Sender::Datagram($inner) => $body,
            Sender::Cbr(_) => $otherwise,
        }
    };
}

/// Evaluates `$body` for the sender inside.
macro_rules! any {
    ($self:expr, $inner:ident => $body:expr) => {
        match $self {
            Sender::Sack($inner) => $body,
            Sender::Cumulative($inner) => $body,
            Sender::Udt($inner) => $body,
            Sender::Routed($inner) => $body,
            Sender::Datagram($inner) => $body,
            Sender::Cbr($inner) => $body,
            Sender::Watched($inner) => $body,
        }
    };
}

/// Evaluates `$known` with the facts of the sender inside, or `$other` for one that has them elsewhere.
macro_rules! facts {
    ($self:expr, $facts:ident => $known:expr, $inner:ident => $other:expr) => {
        match $self {
            Sender::Sack(sender) => {
                let $facts = sender.facts();
                $known
            }
            Sender::Cumulative(sender) => {
                let $facts = sender.facts();
                $known
            }
            Sender::Routed(sender) => {
                let $facts = sender.facts();
                $known
            }
            Sender::Datagram(sender) => {
                let $facts = sender.facts();
                $known
            }
            Sender::Cbr($inner) => $other,
            Sender::Udt($inner) => $other,
            Sender::Watched($inner) => $other,
        }
    };
}

impl Sender {
    /// A TCP-like sender that starts at `now`.
    pub(crate) fn tcp(config: SenderConfig, now: Time) -> Self {
        let era = config.era;
        let cumulative = |config, rule| Self::Cumulative(tcp::Sender::new(config, Cumulative::new(rule, &era), now));
        match config.recovery {
            RecoveryScheme::Tahoe => cumulative(config, &Tahoe),
            RecoveryScheme::Reno => cumulative(config, &Reno),
            RecoveryScheme::NewReno => cumulative(config, &NewReno),
            RecoveryScheme::Sack => Self::Sack(tcp::Sender::new(config, Sack::new(&era), now)),
        }
    }

    /// The same sender with a log of at most `most` packets.
    pub(crate) fn watched(self, most: usize, ecn: bool) -> Self {
        Self::Watched(Box::new(Watched::new(self, most, ecn)))
    }

    /// The log, if there is one.
    pub(crate) fn into_log(self) -> PacketLog {
        if let Self::Watched(watched) = self { watched.into_log() } else { PacketLog::default() }
    }

    /// Takes in what the receiver sent, if anything, and hands all that may leave now to `send`. The kind of sender is looked at
    /// once for all of it.
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, body: Option<&Body>, mut send: impl FnMut(Body)) -> Wishes {
        match self {
            Self::Sack(sender) => sender.serve(now, body, send),
            Self::Cumulative(sender) => sender.serve(now, body, send),
            Self::Udt(sender) => sender.serve(now, body, send),
            Self::Routed(sender) => collected(send, |sent| routed::serve(sender, now, body, sent)),
            Self::Datagram(sender) => collected(send, |sent| sender.serve(now, body, sent)),
            Self::Cbr(sender) => {
                while let Some(data) = sender.poll(now) {
                    send(Body::Data(data));
                }
                Wishes { release: sender.next_release(), deadline: Time::MAX }
            }
            Self::Watched(watched) => collected(send, |sent| watched.serve(now, body, sent)),
        }
    }

    /// The time the algorithm asked to be woken at may have come.
    pub(crate) fn on_wake(&mut self, now: Time) {
        controlled!(self, sender => sender.on_wake(now), ());
    }

    /// The timer may have expired.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        match self {
            Self::Sack(sender) => sender.on_deadline(now),
            Self::Cumulative(sender) => sender.on_deadline(now),
            Self::Watched(watched) => watched.on_deadline(now),
            Self::Routed(sender) => sender.on_deadline(now),
            Self::Udt(_) | Self::Datagram(_) | Self::Cbr(_) => {}
        }
    }

    /// All packets below have been acknowledged.
    pub(crate) fn acked(&self) -> u64 {
        controlled!(self, sender => sender.acked(), 0)
    }

    /// What it counts.
    pub(crate) fn counts(&self) -> Counts {
        facts!(self, facts => facts.counts, sender => sender.counts())
    }

    /// Time spent for want of data, and of room at the receiver.
    pub(crate) fn limited(&self, now: Time) -> (Span, Span) {
        facts!(self, facts => { let Spent { source, peer, .. } = facts.limits.spent(now); (source, peer) }, sender => sender.limited(now))
    }

    /// The round-trip time, if it has a sample.
    pub(crate) fn rtt(&self) -> Option<Rtt> {
        facts!(self, facts => facts.rtt.get(), sender => sender.rtt())
    }

    /// Shows the internals of its algorithm.
    pub(crate) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::Sack(sender) => sender.algorithm().inspect(visit),
            Self::Cumulative(sender) => sender.algorithm().inspect(visit),
            Self::Udt(sender) => sender.algorithm().inspect(visit),
            Self::Routed(sender) => sender.algorithm().inspect(visit),
            Self::Datagram(sender) => sender.algorithm().inspect(visit),
            Self::Watched(watched) => watched.inspect(visit),
            Self::Cbr(_) => {}
        }
    }

    /// The window it has.
    pub(crate) fn window(&self) -> Packets {
        any!(self, sender => sender.window())
    }

    /// Packets it counts as in the network.
    pub(crate) fn in_flight(&self) -> u64 {
        controlled!(self, sender => sender.in_flight(), 0)
    }

    /// The time between two packets, while departures are spaced.
    pub(crate) fn spacing(&self) -> Option<Span> {
        controlled!(self, sender => sender.spacing(), None)
    }

    /// The rate its schedule has now, bit/s; none for one under congestion control.
    pub(crate) fn scheduled_rate(&self) -> Option<u64> {
        if let Self::Cbr(sender) = self { Some(sender.rate()) } else { None }
    }
}

impl Receiver {
    /// A TCP-like receiver whose acknowledgements wait for one another for `aggregation`.
    pub(crate) fn tcp(habits: tcp::Habits, aggregation: Option<Span>) -> Self {
        let receiver = tcp::Receiver::new(habits);
        match aggregation {
            None => Self::Tcp(receiver),
            Some(interval) => Self::Aggregate(Box::new(tcp::Aggregate::new(receiver, interval))),
        }
    }

    /// Takes in a data packet: whether it is new, and whether it is answered at once. The answer is left in `answer`.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, now: Time, data: &Data, marked: bool, answer: &mut Body) -> (bool, bool) {
        match self {
            Self::Tcp(receiver) => {
                if let Some(ack) = receiver.on_plain_data(data, marked) {
                    *answer = Body::Ack(ack);
                    return (true, true);
                }
                let (new, ack) = receiver.on_data(now, data, marked);
                let answered = ack.is_some();
                if let Some(ack) = ack {
                    *answer = Body::Ack(ack);
                }
                (new, answered)
            }
            Self::Aggregate(receiver) => {
                aside();
                (receiver.on_data(now, data, marked), false)
            }
            Self::Udt(receiver) => {
                aside();
                // What it has to say, its clock asks for at once.
                (receiver.on_data(now, data), false)
            }
            Self::Routed(receiver) => {
                aside();
                let (new, reply) = receiver.on_data(now, data, marked);
                let answered = reply.is_some();
                if let Some(reply) = reply {
                    *answer = Body::Reply(reply);
                }
                (new, answered)
            }
            Self::Datagram(receiver) => {
                aside();
                receiver.on_data(now, data, marked);
                (true, false)
            }
            Self::Counter => {
                aside();
                (true, false)
            }
        }
    }

    /// The data packet to come has this header.
    pub(crate) fn on_header(&mut self, header: &Header) {
        match self {
            Self::Routed(receiver) => receiver.on_header(header),
            Self::Datagram(receiver) => receiver.on_header(header),
            Self::Tcp(_) | Self::Aggregate(_) | Self::Udt(_) | Self::Counter => {}
        }
    }

    /// Takes in what the sender said beside data.
    pub(crate) fn on_message(&mut self, now: Time, message: &Message) {
        if let Self::Udt(receiver) = self {
            receiver.on_message(now, message);
        }
    }

    /// Whether it is one of those that say more than one thing at a time.
    #[inline(always)]
    pub(crate) fn is_talkative(&self) -> bool {
        matches!(self, Self::Udt(_) | Self::Datagram(_))
    }

    /// Whether it says what it has to say as soon as data arrives, or nothing.
    pub(crate) fn answers_at_once(&self) -> bool {
        match self {
            Self::Tcp(receiver) => receiver.answers_at_once(),
            Self::Counter => true,
            Self::Aggregate(_) | Self::Udt(_) | Self::Routed(_) | Self::Datagram(_) => false,
        }
    }

    /// When its clock is due.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        match self {
            Self::Tcp(receiver) => receiver.next_timer(),
            Self::Aggregate(receiver) => {
                aside();
                receiver.next_timer()
            }
            Self::Udt(receiver) => {
                aside();
                receiver.next_timer()
            }
            Self::Routed(receiver) => {
                aside();
                receiver.next_timer()
            }
            Self::Datagram(receiver) => {
                aside();
                receiver.next_timer()
            }
            Self::Counter => {
                aside();
                Time::MAX
            }
        }
    }

    /// Something its clock asks to send; to be called until there is nothing.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Body> {
        match self {
            Self::Tcp(receiver) => receiver.on_timer(now).map(Body::Ack),
            Self::Aggregate(receiver) => receiver.on_timer(now).map(Body::Ack),
            Self::Udt(receiver) => receiver.on_timer(now),
            Self::Routed(receiver) => receiver.on_timer(now).map(Body::Reply),
            Self::Datagram(receiver) => receiver.on_timer(now),
            Self::Counter => None,
        }
    }
}

/// Tells the compiler that most packets do not come this way: it tests for where they go, instead of looking up a table.
#[cold]
#[inline(never)]
fn aside() {}

/// Hands to `send` what `serve` has collected: for the rarer kinds of sender, whose own copies of what sends a packet, or a `send`
/// lent out to them, would cost each packet of the others.
#[inline(always)]
fn collected(send: impl FnMut(Body), serve: impl FnOnce(&mut Vec<Body>) -> Wishes) -> Wishes {
    let mut sent = Vec::new();
    let wishes = serve(&mut sent);
    sent.into_iter().for_each(send);
    wishes
}
