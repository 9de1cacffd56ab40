//! What the thread of a port knows of one connection, beside the protocol.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cwnd::{Span, Time};
use cwnd_udt::connection::{self as protocol, MessageOptions, Reason};
use cwnd_udt::{Endpoint, Handle, Mode, Settings};

use super::reassembly::Reassembly;
use super::shelf::Shelf;
use crate::connection::Connection;
use crate::error::Ended;
use crate::port::Answer;

/// Connections by their place in the endpoint.
#[derive(Debug, Default)]
pub(super) struct Members {
    places: Vec<Option<Member>>,
    alive: usize,
}

/// A connection, or the attempt at one.
#[derive(Debug)]
pub(super) enum Member {
    /// Somebody waits for it to open.
    Opening(Opening),
    Open(Box<Open>),
}

/// An attempt at a connection.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) handle: Handle,
    pub(super) peer: SocketAddr,
    pub(super) settings: Box<Settings>,
    pub(super) answer: Answer,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) shared: Arc<Connection>,
    /// The address of this host that the peer knows, if the socket has several.
    pub(super) from: Option<IpAddr>,
    arrived: Arrived,
    /// Bytes the protocol knows of, bytes it had no room for, and bytes that have left.
    told: u64,
    owed: u64,
    sent: u64,
    released: u64,
    demand: Demand,
    /// A short packet ends here, and what was written behind it is not told before it has left.
    short: u64,
    /// A message the protocol had no room for.
    refused: Option<(u64, MessageOptions)>,
    /// The application writes no more, and whether the protocol knows.
    finishing: bool,
    finished: bool,
    /// It is over.
    over: bool,
    /// It is in the list of those with arrivals to be handed over, with writes to be told, with bytes not acknowledged.
    has_arrivals: bool,
    has_writes: bool,
    has_sent: bool,
    /// Bytes have come or gone since it was last looked whether it rests.
    busy: bool,
    /// It is in the list of those that hold memory to be given back.
    is_warm: bool,
    /// No probe pair leaves alone before.
    pub(super) next_pair: Time,
}

/// How many bytes keep the network busy.
#[derive(Debug, Default)]
struct Demand {
    /// The look back: its beginning, what was acknowledged then, the most that was under way since.
    since: Time,
    released: u64,
    flight: u64,
    /// What was under way in the last one, and what was acknowledged; both may double, as in a slow start.
    busy: u64,
}

/// Packets that have arrived and are not in the hands of the application.
#[derive(Debug)]
enum Arrived {
    Stream(Reassembly),
    Messages {
        shelf: Shelf,
        /// Packets of messages handed over and not yet read.
        unread: u64,
    },
}

impl Members {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.alive
    }

    pub(super) fn insert(&mut self, handle: Handle, member: Member) {
        let place = handle.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        self.alive += usize::from(self.places[place].replace(member).is_none());
    }

    pub(super) fn remove(&mut self, handle: Handle) -> Option<Member> {
        let member = self.places.get_mut(handle.place())?.take_if(|member| member.handle() == handle)?;
        self.alive -= 1;
        Some(member)
    }

    /// The open connection at `place`.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Open> {
        match self.places.get_mut(place)? {
            Some(Member::Open(open)) => Some(open),
            _ => None,
        }
    }

    /// The open connection with this handle.
    pub(super) fn open(&mut self, handle: Handle) -> Option<&mut Open> {
        self.at(handle.place()).filter(|open| open.shared.handle == handle)
    }
}

/// Nobody is left waiting when the thread of the port ends.
impl Drop for Members {
    fn drop(&mut self) {
        for member in self.places.iter().flatten() {
            if let Member::Open(open) = member {
                open.shared.ended(Ended::Port);
            }
        }
    }
}

impl Member {
    fn handle(&self) -> Handle {
        match self {
            Self::Opening(opening) => opening.handle,
            Self::Open(open) => open.shared.handle,
        }
    }
}

impl Open {
    pub(super) fn new(shared: Arc<Connection>, from: Option<IpAddr>, settings: &Settings) -> Self {
        let arrived = match settings.mode {
            Mode::Stream => Arrived::Stream(Reassembly::default()),
            Mode::Messages => Arrived::Messages { shelf: Shelf::new(settings.receive_buffer.into()), unread: 0 },
        };
        Self {
            shared,
            from,
            arrived,
            told: 0,
            owed: 0,
            sent: 0,
            released: 0,
            demand: Demand::default(),
            short: 0,
            refused: None,
            finishing: false,
            finished: false,
            over: false,
            has_arrivals: false,
            has_writes: false,
            has_sent: false,
            busy: false,
            is_warm: false,
            next_pair: Time::ZERO,
        }
    }

    /// How many packets an application may read before the protocol should hear of it, although nothing arrives, if it has `room`
    /// for so many.
    pub(super) fn report(mode: Mode, room: u64) -> u64 {
        match mode {
            Mode::Stream => (room / 8).max(1),
            Mode::Messages => MESSAGES_AHEAD / 2,
        }
    }

    /// Whether it is to be put into the list of those that hold memory to be given back.
    pub(super) fn list_warm(&mut self) -> bool {
        self.busy = true;
        !std::mem::replace(&mut self.is_warm, true)
    }

    /// Gives memory back if nothing happened since the last call; whether to look again.
    pub(super) fn rest(&mut self) -> bool {
        self.is_warm = std::mem::take(&mut self.busy);
        if !self.is_warm {
            self.shared.send.rest();
            self.shared.receive.rest();
            match &mut self.arrived {
                Arrived::Stream(reassembly) => reassembly.rest(),
                Arrived::Messages { shelf, .. } => shelf.rest(),
            }
        }
        self.is_warm
    }

    /// Whether it is to be put into the list of those with arrivals.
    pub(super) fn list_arrivals(&mut self) -> bool {
        !std::mem::replace(&mut self.has_arrivals, true)
    }

    /// Whether it is to be put into the list of those with writes.
    pub(super) fn list_writes(&mut self) -> bool {
        !std::mem::replace(&mut self.has_writes, true)
    }

    /// Whether it is to be put into the list of those with bytes that are not acknowledged.
    pub(super) fn list_sent(&mut self) -> bool {
        !std::mem::replace(&mut self.has_sent, true)
    }

    /// A packet has arrived.
    pub(super) fn store(&mut self, number: u64, payload: &[u8]) {
        match &mut self.arrived {
            Arrived::Stream(reassembly) => reassembly.take(number, payload, &self.shared.receive),
            Arrived::Messages { shelf, .. } => shelf.put(number, payload),
        }
    }

    /// Hands over what has arrived, and tells the protocol what has been read.
    pub(super) fn deliver(&mut self, now: Time, endpoint: &mut Endpoint) {
        self.has_arrivals = false;
        let read = self.shared.receive.tell();
        match &mut self.arrived {
            Arrived::Stream(reassembly) => {
                reassembly.flush(&self.shared.receive);
                if read > 0 {
                    let room = endpoint.with(self.shared.handle, |connection| {
                        connection.consume(now, read);
                        connection.receive_room()
                    });
                    let report = Self::report(Mode::Stream, room.unwrap_or_default());
                    self.shared.report.store(report, Ordering::Relaxed);
                }
            }
            Arrived::Messages { shelf, unread } => {
                *unread -= read;
                // What lies in front of the application does not count for the protocol: it must not grow without bound.
                while *unread < MESSAGES_AHEAD || self.over {
                    let message = endpoint
                        .connection(self.shared.handle)
                        .map(|connection| shelf.take(connection.readable().map(|(slot, _)| slot.0)));
                    let Some(message) = message.filter(|message| message.packets > 0) else { break };
                    *unread += message.packets;
                    self.shared.receive.put(message);
                    endpoint.with(self.shared.handle, |connection| connection.consume(now, 1));
                }
            }
        }
    }

    /// Tells the protocol what the application has written, as far as it may know, and has room. Whether it was told something.
    pub(super) fn tell(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        self.has_writes = false;
        let news = match self.arrived {
            Arrived::Stream(_) => self.tell_bytes(endpoint),
            Arrived::Messages { .. } => self.tell_messages(now, endpoint),
        };
        if self.finishing && !self.finished && self.owed == 0 && self.refused.is_none() && self.shared.send.is_told() {
            self.finished = true;
            endpoint.with(self.shared.handle, |connection| connection.finish(now));
            return true;
        }
        news
    }

    /// Bytes before `offset` have left.
    pub(super) fn has_left(&mut self, offset: u64) {
        self.sent = self.sent.max(offset);
    }

    fn tell_bytes(&mut self, endpoint: &mut Endpoint) -> bool {
        let mut news = false;
        while self.owed > 0 || self.sent >= self.short {
            if self.owed == 0 {
                let (bytes, short) = self.shared.send.tell(self.finishing || self.sent >= self.told);
                self.owed = bytes;
                if short {
                    self.short = self.told + bytes;
                }
            }
            let taken = endpoint.with(self.shared.handle, |connection| connection.write(self.owed)).unwrap_or(0);
            if taken == 0 {
                break;
            }
            self.owed -= taken;
            self.told += taken;
            news = true;
        }
        news
    }

    fn tell_messages(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        let mut news = false;
        while let Some((bytes, options)) = self.refused.take().or_else(|| self.shared.send.tell_message()) {
            let sent = endpoint.with(self.shared.handle, |connection| connection.send_message(now, bytes, options));
            match sent {
                Some(Err(protocol::SendError::Full)) => {
                    self.refused = Some((bytes, options));
                    break;
                }
                Some(_) => {
                    // What is told has to be released one day, also if it outlives its time and never leaves.
                    self.told += bytes;
                    news = true;
                }
                None => break,
            }
        }
        news
    }

    /// The application writes no more.
    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Makes room where the protocol has done with bytes; whether there are others.
    pub(super) fn release(&mut self, now: Time, endpoint: &Endpoint) -> bool {
        let released = endpoint.connection(self.shared.handle).map_or(self.told, protocol::Connection::released);
        if released > self.released {
            // A message that outlived its time need not leave any more.
            self.sent = self.sent.max(released);
            self.demand.flight = self.demand.flight.max(self.sent - self.released);
            if now.since(self.demand.since) >= LOOK_BACK {
                let drained = released - self.demand.released;
                self.demand = Demand {
                    since: now,
                    released,
                    flight: self.sent - released,
                    busy: 2 * (self.demand.flight + drained),
                };
            }
            self.released = released;
            self.shared.send.release(released, self.demand.busy);
        }
        self.has_sent = released < self.told;
        self.has_sent
    }

    /// The connection is over; what has arrived is handed over.
    pub(super) fn end(&mut self, now: Time, reason: Reason, endpoint: &mut Endpoint) {
        self.over = true;
        self.release(now, endpoint);
        self.deliver(now, endpoint);
        self.shared.ended(match reason {
            Reason::Aborted => Ended::Aborted,
            Reason::Dead => Ended::Silent,
            Reason::Finished => Ended::Closed,
            Reason::Lingered => Ended::Lingered,
            Reason::PeerAborted => Ended::PeerAborted,
            Reason::PeerFinished => Ended::PeerClosed,
        });
    }
}

/// Longer than an application is kept from its processor as a rule, and than most acknowledgements take.
const LOOK_BACK: Span = Span::from_millis(20);
/// Packets of messages that lie ready for an application which has not asked for them yet.
const MESSAGES_AHEAD: u64 = 64;
