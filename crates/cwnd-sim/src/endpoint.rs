//! The two ends of a flow, of whatever kind.

use cwnd::{Algorithm, CongestionControl, Span, Time};
use cwnd_trace::{PacketLog, Protocol};
use cwnd_udt::Message;

use crate::logged::LoggedSender;
use crate::net::packet::AckEcho;
use crate::net::packet::{Body, Data, Header};
use crate::protocol::{Received, ReceiverProtocol, SenderConfig, SenderProtocol, SenderState, Timers};
use crate::tcp::recovery::{Cumulative, NewReno, Rack, RecoveryScheme, Reno, Sack, Sampled, Tahoe};
use crate::{agent, cbr, datagram, routed, stack, tcp, udt};

/// A sender.
#[derive(Debug)]
pub(crate) enum Sender {
    /// TCP-like, with selective acknowledgements.
    Sack(tcp::Sender<Sack>),
    /// TCP-like, with losses found by time (RFC 8985).
    Rack(Box<tcp::Sender<Rack>>),
    /// TCP-like, without.
    Cumulative(tcp::Sender<Cumulative>),
    /// These for an algorithm that asks for delivery-rate samples.
    SampledSack(Box<tcp::Sender<Sampled<Sack>>>),
    SampledRack(Box<tcp::Sender<Sampled<Rack>>>),
    SampledCumulative(Box<tcp::Sender<Sampled<Cumulative>>>),
    /// UDT's.
    Udt(Box<udt::Sender>),
    /// That of the author's ns-2 agents of UDT.
    Agent(Box<agent::Sender>),
    /// TCP-like, with packets on which routers write.
    Routed(Box<routed::Sender>),
    /// One whose receiver sends reports, and which retransmits nothing.
    Datagram(Box<datagram::Sender>),
    /// Without congestion control.
    Cbr(Box<cbr::Sender>),
    /// Both ends of a whole stack.
    Stack(Box<stack::Host>),
    /// Any but a stack, with a log of its packets.
    Logged(Box<LoggedSender<Self>>),
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
    /// That of the author's ns-2 agents of UDT.
    Agent(Box<agent::Receiver>),
    /// TCP-like, that answers with what routers wrote.
    Routed(Box<routed::Receiver>),
    /// One that hosts its half of an algorithm.
    Datagram(Box<datagram::Receiver>),
    /// Of a sender without congestion control.
    Cbr(cbr::Receiver),
    /// That of a whole stack, which its sender holds.
    Stack(stack::Receiver),
}

/// Evaluates `$body` for the sender inside.
macro_rules! sender {
    ($self:expr, $inner:ident => $body:expr) => {
        match $self {
            Sender::Sack($inner) => $body,
            Sender::Rack($inner) => $body,
            Sender::Cumulative($inner) => $body,
            Sender::SampledSack($inner) => $body,
            Sender::SampledRack($inner) => $body,
            Sender::SampledCumulative($inner) => $body,
            Sender::Udt($inner) => $body,
            Sender::Agent($inner) => $body,
            Sender::Routed($inner) => $body,
            Sender::Datagram($inner) => $body,
            Sender::Cbr($inner) => $body,
            Sender::Stack($inner) => $body,
            Sender::Logged($inner) => $body,
        }
    };
}

/// Evaluates `$body` for the receiver inside. Most packets reach the first kind, which is tested for first.
macro_rules! receiver {
    ($self:expr, $inner:ident => $body:expr) => {
        match $self {
            Receiver::Tcp($inner) => $body,
            other => {
                unlikely();
                match other {
                    Receiver::Tcp($inner) => $body,
                    Receiver::Aggregate($inner) => $body,
                    Receiver::Udt($inner) => $body,
                    Receiver::Agent($inner) => $body,
                    Receiver::Routed($inner) => $body,
                    Receiver::Datagram($inner) => $body,
                    Receiver::Cbr($inner) => $body,
                    Receiver::Stack($inner) => $body,
                }
            }
        }
    };
}

impl Sender {
    /// A TCP-like sender that starts at `now`.
    pub(crate) fn tcp(config: SenderConfig, now: Time) -> Self {
        let era = config.era;
        if config.algorithm.wants_samples() {
            return Self::sampled(config, now);
        }
        let cumulative = |config, rule| Self::Cumulative(tcp::Sender::new(config, Cumulative::new(rule, &era), now));
        match config.recovery {
            RecoveryScheme::Tahoe => cumulative(config, &Tahoe),
            RecoveryScheme::Reno => cumulative(config, &Reno),
            RecoveryScheme::NewReno => cumulative(config, &NewReno),
            RecoveryScheme::Sack => Self::Sack(tcp::Sender::new(config, Sack::new(&era), now)),
            RecoveryScheme::Rack => Self::Rack(Box::new(tcp::Sender::new(config, Rack::default(), now))),
        }
    }

    fn sampled(config: SenderConfig, now: Time) -> Self {
        let era = config.era;
        let cumulative = |config, rule| {
            let scheme = Sampled::new(Cumulative::new(rule, &era), false);
            Self::SampledCumulative(Box::new(tcp::Sender::new(config, scheme, now)))
        };
        match config.recovery {
            RecoveryScheme::Tahoe => cumulative(config, &Tahoe),
            RecoveryScheme::Reno => cumulative(config, &Reno),
            RecoveryScheme::NewReno => cumulative(config, &NewReno),
            RecoveryScheme::Sack => {
                let scheme = Sampled::new(Sack::new(&era), true);
                Self::SampledSack(Box::new(tcp::Sender::new(config, scheme, now)))
            }
            RecoveryScheme::Rack => {
                let scheme = Sampled::new(Rack::default(), true);
                Self::SampledRack(Box::new(tcp::Sender::new(config, scheme, now)))
            }
        }
    }

    /// Whether it notes something about each packet under way, which takes memory.
    pub(crate) fn notes_packets(&self) -> bool {
        !matches!(self, Self::Sack(_) | Self::Cumulative(_) | Self::Datagram(_) | Self::Cbr(_))
    }

    /// This sender with a log of at most `most` packets.
    pub(crate) fn logged(self, most: usize, ecn: Option<AckEcho>) -> Self {
        let protocol = match self {
            Self::Udt(_) | Self::Agent(_) => Protocol::Udt,
            Self::Datagram(_) => Protocol::Datagrams,
            _ => Protocol::Tcp,
        };
        Self::Logged(Box::new(LoggedSender::new(self, protocol, most, ecn)))
    }

    /// The state of the sender inside.
    pub(crate) fn state(&self) -> &dyn SenderState {
        sender!(self, sender => sender.state())
    }

    /// The log, if there is one.
    pub(crate) fn into_log(self) -> PacketLog {
        if let Self::Logged(logged) = self { logged.into_log() } else { PacketLog::default() }
    }
}

#[deny(clippy::missing_trait_methods, reason = "the sender inside does it")]
impl SenderProtocol for Sender {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        sender!(self, sender => sender.serve(now, body, send))
    }

    fn on_wake(&mut self, now: Time) {
        sender!(self, sender => sender.on_wake(now));
    }

    fn on_deadline(&mut self, now: Time) {
        sender!(self, sender => sender.on_deadline(now));
    }

    fn on_handshake(&mut self, now: Time, rtt: Span, restarted: Option<Algorithm>) {
        sender!(self, sender => sender.on_handshake(now, rtt, restarted));
    }
}

impl Receiver {
    /// A TCP-like receiver whose acknowledgements wait for one another for `aggregation`.
    pub(crate) fn tcp(options: tcp::ReceiverOptions, aggregation: Option<Span>) -> Self {
        let receiver = tcp::Receiver::new(options);
        match aggregation {
            None => Self::Tcp(receiver),
            Some(interval) => Self::Aggregate(Box::new(tcp::Aggregate::new(receiver, interval))),
        }
    }

    /// Whether a data packet may have made its timers due at `now`, when it came.
    #[inline(always)]
    pub(crate) fn may_be_due(&self, now: Time) -> bool {
        match self {
            Self::Udt(receiver) => receiver.next_timeout() <= now,
            receiver => matches!(receiver, Self::Agent(_) | Self::Datagram(_)),
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "the receiver inside does it")]
impl ReceiverProtocol for Receiver {
    #[inline(always)]
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, answer: &mut Body) -> Received {
        receiver!(self, receiver => receiver.handle_data(now, data, marked, answer))
    }

    fn handle_header(&mut self, header: &Header) {
        receiver!(self, receiver => receiver.handle_header(header));
    }

    #[cold]
    fn handle_lost_ect(&mut self) {
        receiver!(self, receiver => receiver.handle_lost_ect());
    }

    fn handle_message(&mut self, now: Time, message: &Message) {
        receiver!(self, receiver => receiver.handle_message(now, message));
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        receiver!(self, receiver => receiver.handle_timeout(now))
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        receiver!(self, receiver => receiver.next_timeout())
    }
}

/// Marks a branch as cold: the compiler then tests for the common kind first, instead of using a jump table.
#[cold]
#[inline(never)]
fn unlikely() {}
