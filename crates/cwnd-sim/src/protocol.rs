//! The common parts of the kinds of sender and of receiver.

use cwnd::host::{Counts, Facts, Spent};
use cwnd::{Algorithm, Bytes, CongestionControl, Packets, Rtt, Span, Time};
use cwnd_udt::Message;

use crate::era::{Era, MarkedAtOne};
use crate::net::packet::{AckEcho, Body, Data, Header};
use crate::tcp::LinuxHost;
use crate::tcp::recovery::RecoveryScheme;
use crate::traffic::source::Backlog;

/// The setup of a sender.
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
    /// Between two ticks of the clock of its host; none for an exact one.
    pub(crate) tick: Option<Span>,
    /// How marks come back, if its packets may have any.
    pub(crate) echo: Option<AckEcho>,
    pub(crate) host: LinuxHost,
}

/// When a sender has something to do without a packet from its receiver; [`Time::MAX`] for never.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// It may send more, or its algorithm asked to be woken.
    pub(crate) release: Time,
    /// Its retransmission timer expires.
    pub(crate) deadline: Time,
}

/// A kind of sender. The defaults are those of one without congestion control.
pub(crate) trait SenderProtocol {
    /// Handles what the receiver sent, if anything, and hands all that may leave now to `send`, until that returns false.
    fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers;

    /// The time the algorithm asked to be woken at may have come.
    fn on_wake(&mut self, _now: Time) {}

    /// The retransmission timer may have expired.
    fn on_deadline(&mut self, _now: Time) {}

    /// A round trip of the handshake has taken `rtt`. After losses in it an algorithm with a smaller window takes the place of the one that has
    /// had no signal.
    fn on_handshake(&mut self, _now: Time, _rtt: Span, _restarted: Option<Algorithm>) {}
}

/// The state of a sender, as the recorder and the audit read it. The defaults are those of a sender without congestion control.
pub(crate) trait SenderState {
    /// Itself, without its type.
    fn state(&self) -> &dyn SenderState
    where
        Self: Sized,
    {
        self
    }

    /// Its facts.
    fn facts(&self) -> Option<&Facts> {
        None
    }

    /// The algorithm inside.
    fn algorithm(&self) -> Option<&Algorithm> {
        None
    }

    /// Its counters.
    #[inline]
    fn counts(&self) -> Counts {
        self.facts().map_or_else(Counts::default, |facts| facts.counts)
    }

    /// Time spent under each limit.
    fn spent(&self, now: Time) -> Spent {
        self.facts().map_or_else(Spent::default, |facts| facts.limits.spent(now))
    }

    /// The round-trip time, if it has a sample.
    fn rtt(&self) -> Option<Rtt> {
        self.facts().and_then(|facts| facts.rtt.get())
    }

    /// Shows the internals of its algorithm.
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.inspect(visit);
        }
    }

    /// All packets below have been acknowledged.
    fn acked(&self) -> u64 {
        0
    }

    /// The window it has.
    fn window(&self) -> Packets {
        Packets(f64::INFINITY)
    }

    /// Packets it counts as in the network.
    fn in_flight(&self) -> u64 {
        0
    }

    /// The time between two packets, while departures are spaced.
    fn spacing(&self) -> Option<Span> {
        None
    }

    /// The rate its schedule has now, bit/s; none for one under congestion control.
    fn scheduled_rate(&self) -> Option<u64> {
        None
    }
}

/// The fate of a data packet at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// It had not arrived before, and is kept.
    pub(crate) new: bool,
    /// It is answered at once.
    pub(crate) answered: bool,
}

/// A kind of receiver. The defaults are those of one that never answers.
pub(crate) trait ReceiverProtocol {
    /// Handles a data packet. If it is answered at once the answer is left in `answer`.
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, answer: &mut Body) -> Received;

    /// The data packet to come has this header.
    fn handle_header(&mut self, _header: &Header) {}

    /// The data packet to come has lost the ECT that it left with.
    fn handle_lost_ect(&mut self) {}

    /// Handles a control packet of the sender.
    fn handle_message(&mut self, _now: Time, _message: &Message) {}

    /// The next packet that its timers send by now; to be called until there is none.
    fn handle_timeout(&mut self, _now: Time) -> Option<Body> {
        None
    }

    /// When its next timer is due; [`Time::MAX`] for never.
    #[inline]
    fn next_timeout(&self) -> Time {
        Time::MAX
    }
}

/// Hands to `send` what `serve` has collected: for the rarer kinds of sender, whose own copies of what sends a packet, or a `send`
/// lent out to them, would cost each packet of the others.
#[inline(always)]
pub(crate) fn collected(mut send: impl FnMut(Body) -> bool, serve: impl FnOnce(&mut Vec<Body>) -> Timers) -> Timers {
    let mut sent = Vec::new();
    let timers = serve(&mut sent);
    for body in sent {
        if !send(body) {
            break;
        }
    }
    timers
}

/// Adds to the [`collected`] packets, and returns whether more may leave at this instant.
pub(crate) fn collect(sent: &mut Vec<Body>, body: Body) -> bool {
    sent.push(body);
    sent.len() < MOST_COLLECTED
}

/// More would be memory outside of every budget. The rest leaves with the next event of the sender.
const MOST_COLLECTED: usize = 1 << 20;
