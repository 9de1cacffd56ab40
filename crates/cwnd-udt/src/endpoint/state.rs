//! One connection of an endpoint, from the first handshake to the end.

use std::net::{IpAddr, SocketAddr};

use cwnd::{Span, Time};

use super::backlog_shares::Arrivals;
use crate::connection::{self, Connection, Transmit};
use crate::handshake::{Agreed, Client, Refusal, Rendezvous};
use crate::number::SocketId;
use crate::quota::Quota;
use crate::settings::Settings;
use crate::wire::{Handshake, Message, Request};

/// A connection, or what will become one.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: SocketId,
    pub(super) peer: SocketAddr,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// Connects to a listener.
    Connecting(Box<(Client, Settings)>),
    /// Connects to an end that connects to this one.
    Rendezvous(Box<(Rendezvous, Settings)>),
    Established(Box<Established>),
    /// The attempt failed, and the host has not removed it yet.
    Refused,
}

/// An open connection, and the rest of its handshake.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) connection: Connection,
    pub(super) agreed: Agreed,
    /// The peer connected to the listener.
    pub(super) client: bool,
    /// Its application has not accepted it yet.
    in_backlog: bool,
    /// The answer of a server, until the client has sent a packet on the connection. libudt's client fails if a packet overtakes the
    /// answer, so that it is sent before every packet; a packet that waits for it is in `held`.
    pub(super) response: Option<Handshake>,
    held: Option<Transmit>,
    /// Until then such a client may not be ready for packets, and none is sent.
    quiet_until: Time,
    /// The packets received lately, for its share of the backlog.
    pub(super) arrivals: Arrivals,
    /// Bytes taken from the port's memory for arrived and unread data.
    pub(super) reserved: u64,
    /// A keep-alive is due: the peer, a server or the other end of a rendezvous, may wait for a first packet.
    keep_alive_due: bool,
    /// The answer of a rendezvous to an end that is still asking, and whether it is due.
    agreement: Option<Handshake>,
    agreement_due: bool,
}

impl Entry {
    pub(super) fn new(id: SocketId, peer: SocketAddr, state: State) -> Self {
        Self { id, peer, state }
    }

    pub(super) fn open(&self) -> Option<&Established> {
        match &self.state {
            State::Established(open) => Some(open),
            _ => None,
        }
    }

    pub(super) fn open_mut(&mut self) -> Option<&mut Established> {
        match &mut self.state {
            State::Established(open) => Some(open),
            _ => None,
        }
    }

    pub(super) fn connection(&self) -> Option<&Connection> {
        self.open().map(|open| &open.connection)
    }

    pub(super) fn connection_mut(&mut self) -> Option<&mut Connection> {
        self.open_mut().map(|open| &mut open.connection)
    }

    /// The connection, now that a packet for it has come from the peer.
    pub(super) fn on_packet(&mut self) -> Option<&mut Connection> {
        match &mut self.state {
            State::Established(open) => {
                open.response = None;
                Some(&mut open.connection)
            }
            _ => None,
        }
    }

    /// The handshake has come to its end.
    pub(super) fn establish(&mut self, now: Time, agreed: &Agreed) {
        let open = match &self.state {
            State::Connecting(connecting) => Established::new(Connection::new(&connecting.1, agreed, now), *agreed),
            State::Rendezvous(rendezvous) => Established {
                agreement: Some(rendezvous.0.agreement(agreed)),
                ..Established::new(Connection::new(&rendezvous.1, agreed, now), *agreed)
            },
            State::Established(_) | State::Refused => return,
        };
        self.state = State::Established(Box::new(open));
    }

    /// The next packet to send, and the destination id.
    pub(super) fn poll(&mut self, now: Time) -> Option<(Option<SocketId>, Transmit)> {
        match &mut self.state {
            State::Connecting(connecting) => {
                connecting.0.poll(now).map(|handshake| (None, Transmit::Handshake(handshake)))
            }
            State::Rendezvous(rendezvous) => {
                rendezvous.0.poll(now).map(|(id, handshake)| (id, Transmit::Handshake(handshake)))
            }
            State::Established(open) => Some((Some(open.agreed.peer_id), open.poll(now)?)),
            State::Refused => None,
        }
    }

    /// Handles a timeout; returns why if the attempt failed.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Option<Refusal> {
        match &mut self.state {
            State::Connecting(connecting) => connecting.0.expired(now).then_some(Refusal::Timeout),
            State::Rendezvous(rendezvous) => rendezvous.0.expired(now),
            State::Established(open) => {
                open.connection.handle_timeout(now);
                None
            }
            State::Refused => None,
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Time> {
        match &self.state {
            State::Connecting(connecting) => Some(connecting.0.next_timeout()),
            State::Rendezvous(rendezvous) => Some(rendezvous.0.next_timeout()),
            State::Established(open) if open.response.is_some() => {
                open.connection.next_timeout().map(|at| at.max(open.quiet_until))
            }
            State::Established(open) => open.connection.next_timeout(),
            State::Refused => None,
        }
    }

    /// Whether it was in the backlog, in which it no longer is.
    pub(super) fn leave_backlog(&mut self) -> bool {
        match &mut self.state {
            State::Established(open) => std::mem::take(&mut open.in_backlog),
            _ => false,
        }
    }
}

impl Established {
    fn new(connection: Connection, agreed: Agreed) -> Self {
        Self {
            connection,
            agreed,
            client: false,
            in_backlog: false,
            response: None,
            held: None,
            quiet_until: Time::ZERO,
            arrivals: Arrivals::default(),
            reserved: 0,
            keep_alive_due: true,
            agreement: None,
            agreement_due: false,
        }
    }

    /// The server's end.
    pub(super) fn accepted(now: Time, connection: Connection, agreed: Agreed, response: Handshake) -> Self {
        let open = Self::new(connection, agreed);
        let quiet_until = now + CLIENT_SETUP;
        Self { client: true, in_backlog: true, response: Some(response), quiet_until, keep_alive_due: false, ..open }
    }

    /// Takes memory for a packet with `length` bytes of payload; whether there is any.
    pub(super) fn reserve(&mut self, memory: &mut Quota, ip: IpAddr, length: u32) -> bool {
        let needed = blocks(self.connection.held() + connection::cost_of_packet(length));
        let missing = needed.saturating_sub(self.reserved);
        if missing > memory.left(ip) {
            return false;
        }
        self.reserved += memory.take(ip, missing);
        true
    }

    /// Gives back the memory of data that was read.
    pub(super) fn release(&mut self, memory: &mut Quota, ip: IpAddr) {
        // A block more is kept, so that not every packet takes it and gives it back.
        let surplus = self.reserved.saturating_sub(blocks(self.connection.held()) + BLOCK);
        if surplus > 0 {
            memory.release(ip, surplus);
            self.reserved -= surplus;
        }
    }

    /// The server's answer once more, for a client that asks again.
    pub(super) fn repeat_response(&mut self, now: Time) -> Option<Handshake> {
        self.quiet_until = now + CLIENT_SETUP;
        self.response
    }

    /// A handshake for a connection that is open: an end of a rendezvous may not know that yet.
    pub(super) fn handle_handshake(&mut self, theirs: &Handshake) {
        let asks = matches!(theirs.request, Request::Rendezvous | Request::Response);
        self.agreement_due |= asks && self.agreement.is_some();
    }

    fn poll(&mut self, now: Time) -> Option<Transmit> {
        if std::mem::take(&mut self.agreement_due)
            && let Some(agreement) = self.agreement
        {
            return Some(Transmit::Handshake(agreement));
        }
        if std::mem::take(&mut self.keep_alive_due) {
            return Some(Transmit::Message(Message::KeepAlive));
        }
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        if self.response.is_some() && now < self.quiet_until {
            return None;
        }
        let transmit = self.connection.poll_transmit(now)?;
        if let Some(response) = self.response
            && !matches!(&transmit, Transmit::Data(data) if data.pair)
        {
            self.held = Some(transmit);
            return Some(Transmit::Handshake(response));
        }
        Some(transmit)
    }
}

/// The bytes taken from the port's memory for `held` bytes: whole blocks, beyond the first.
fn blocks(held: u64) -> u64 {
    held / BLOCK * BLOCK
}

/// Every connection has so much without asking, which is what an acknowledgement each 10 ms needs at 50 Mbit/s.
const BLOCK: u64 = 64 * 1024;
/// libudt's client drops packets while its thread prepares the connection, and sends none when it is ready. Other clients send one.
const CLIENT_SETUP: Span = Span::from_millis(20);
