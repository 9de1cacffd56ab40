//! UDT endpoints: the protocol core of the wire, with data that is only counted.
//!
//! Each end is a whole [`Connection`]. Their messages travel as values; sizes, queues and losses are those of the
//! network. The handshake is left out, and so are the keep-alives: no end disappears here.

use cwnd::host::Facts;
use cwnd::{Algorithm, Packets, Span, Start, Time};
use cwnd_udt::connection::{Arrived, Connection, DataPacket, Transmit};
use cwnd_udt::wire::Position;
use cwnd_udt::{Agreed, DataHeader, Message, MessageNumber, Mode, Seq, Settings, SocketId};

use crate::net::packet::{Body, Data};
use crate::protocol::{Received, ReceiverProtocol, SenderProtocol, SenderState, Timers};
use crate::setup::FlowSetup;
use crate::traffic::source::Backlog;

/// The end that sends data.
#[derive(Debug)]
pub(crate) struct Sender {
    core: Connection,
    backlog: Backlog,
    payload: u64,
    /// Packets handed over to the core, and those of them that have left.
    written: u64,
    next: u64,
    /// The application has no more for now.
    starved: bool,
}

/// The end that receives data and reads it at once.
#[derive(Debug)]
pub(crate) struct Receiver {
    core: Connection,
    payload: u32,
    /// When the core has something to send; an instant that has passed means now.
    due: Time,
}

/// Both ends of a flow that starts at `now`.
pub(crate) fn ends(setup: &FlowSetup, start: &Start, backlog: Backlog, now: Time) -> (Sender, Receiver) {
    let window = setup.max_window.map_or(UNBOUNDED, |window| (window as u32).max(1));
    let mut settings = Settings::new(setup.algorithm.clone());
    settings.send_buffer = UNBOUNDED;
    settings.receive_buffer = window;
    settings.keep_alive = Span::MAX;
    settings.idle_timeout = Span::MAX;
    // A packet has all of the headers, as a datagram over IPv4.
    let payload = setup.packet.0.saturating_sub(HEADERS).max(1);
    let agreed = Agreed {
        isn_ours: ISN,
        isn_theirs: ISN,
        payload,
        peer_id: PEER,
        peer_window: window,
        mode: Mode::Stream,
        opened: now,
        seed: start.seed,
    };
    let core = || Connection::with_start(&settings, &agreed, start, now);
    let payload_bytes = u64::from(payload);
    (
        Sender { core: core(), backlog, payload: payload_bytes, written: 0, next: 0, starved: false },
        Receiver { core: core(), payload, due: Time::MAX },
    )
}

impl Sender {
    /// Hands packets over to the core, two ahead: the first of a probe pair leaves only if its second is there. Of an application that
    /// always has more it is many at once.
    fn write(&mut self, now: Time) {
        while self.written < self.next + 2 {
            let packets = match self.backlog.ahead(now, self.written) {
                u64::MAX => MANY,
                ahead => ahead.min(1),
            };
            self.starved = packets == 0;
            if self.starved {
                break;
            }
            self.written += packets;
            self.core.write(packets * self.payload);
        }
    }

    /// The next packet to leave now, if one may.
    fn poll(&mut self, now: Time) -> Option<Body> {
        Some(match self.core.poll_transmit(now)? {
            Transmit::Data(DataPacket { number, retransmission, pair, .. }) => {
                self.next = self.next.max(number + 1);
                Body::Data(Data { retransmission, pair, ..Data::new(number, now) })
            }
            Transmit::Message(message) => Body::ToReceiver(message),
            // The connection is established.
            Transmit::Handshake(_) => return None,
        })
    }
}

impl Receiver {
    fn update_due(&mut self) {
        self.due = self.core.next_report();
    }
}

impl SenderProtocol for Sender {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, mut send: impl FnMut(Body) -> bool) -> Timers {
        if let Some(Body::ToSender(message)) = body {
            self.core.handle_message(now, message);
        }
        self.write(now);
        let due = loop {
            let goes_on = self.poll(now).is_some_and(&mut send);
            self.write(now);
            let due = self.core.next_timeout().unwrap_or(Time::MAX);
            if !goes_on {
                break due;
            }
            if due > now {
                // Mostly a packet leaves alone.
                self.core.record_limit(now);
                break due;
            }
        };
        let supply = if self.starved { self.backlog.due() } else { Time::MAX };
        Timers { release: due.min(supply).max(now), deadline: Time::MAX }
    }

    /// Its core has one time for all timers.
    fn on_wake(&mut self, now: Time) {
        self.core.handle_timeout(now);
    }
}

impl SenderState for Sender {
    fn facts(&self) -> Option<&Facts> {
        Some(self.core.facts())
    }

    fn algorithm(&self) -> Option<&Algorithm> {
        Some(self.core.algorithm())
    }

    fn acked(&self) -> u64 {
        self.core.released() / self.payload
    }

    fn window(&self) -> Packets {
        self.core.control().window
    }

    fn in_flight(&self) -> u64 {
        self.core.in_flight()
    }

    fn spacing(&self) -> Option<Span> {
        self.core.spacing()
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, now: Time, data: &Data, _marked: bool, _answer: &mut Body) -> Received {
        let header = DataHeader {
            seq: ISN + data.number,
            position: Position::Only,
            in_order: true,
            message: MessageNumber::FIRST,
            timestamp_us: 0,
            to: PEER,
        };
        let new = self.core.handle_data(Arrived { now, coalesced: false }, &header, self.payload).is_some();
        self.core.consume(now, u64::MAX);
        self.update_due();
        // Its answers are sent by its timers, which are due at once.
        Received { new, answered: false }
    }

    fn handle_message(&mut self, now: Time, message: &Message) {
        self.core.handle_message(now, message);
        self.update_due();
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        // Most packets of data make nothing due.
        if self.due > now {
            return None;
        }
        self.core.handle_timeout(now);
        let transmit = self.core.poll_transmit(now);
        self.update_due();
        match transmit? {
            Transmit::Message(message) => Some(Body::ToSender(message)),
            // Its application writes nothing, and there is no handshake.
            Transmit::Data(_) | Transmit::Handshake(_) => None,
        }
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.due
    }
}

/// Where numbers start at both ends: probe pairs begin with the multiples of 16.
const ISN: Seq = match Seq::new(0) {
    Some(isn) => isn,
    None => Seq::MAX,
};
/// The name of every connection: the simulator knows whose packet it is.
const PEER: SocketId = match SocketId::new(1) {
    Some(id) => id,
    None => panic!("1 has 31 bits and is not 0"),
};
/// Packets handed over at once.
const MANY: u64 = 1024;
/// IPv4, UDP and UDT.
const HEADERS: u32 = 44;
/// More packets than a simulated flow ever has outstanding, fewer than half of the numbers there are.
const UNBOUNDED: u32 = 1 << 29;
