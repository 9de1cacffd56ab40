//! All connections of one UDP port: it dispatches datagrams, schedules who sends next, and keeps the timers.

mod backlog_shares;
mod datagram;
mod listening;
mod state;
mod table;
mod unproven;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use chacha20::ChaCha20Rng;
use cwnd::Time;
use rand_core::{Rng, SeedableRng};
use thiserror::Error;

pub use datagram::Datagram;
pub use table::Handle;

use crate::connection::{Arrived, Connection, Slot};
use crate::handshake::{Agreed, Client, Listener, Offer, Refusal, Rendezvous};
use crate::number::{Seq, SocketId};
use crate::places::{Places, Standing};
use crate::quota::Quota;
use crate::settings::{Settings, SettingsError};
use crate::socket_ids::PLACES;
use crate::timers::Timers;
use crate::wire::{Control, Handshake, Packet};
use backlog_shares::BacklogShares;
use listening::MAX_ANSWERS;
use state::{Entry, Established, State};
use table::Table;
use unproven::ByAddress;

/// The configuration of an endpoint.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// Random bytes of the operating system. The endpoint derives the key of cookies, ids and initial sequence numbers from them; anyone
    /// who knows them can forge packets.
    pub entropy: [u8; 32],
    /// The maximum number of connections, those being set up included; at most 2^18.
    pub max_connections: u32,
    /// The maximum number of connections of clients of the listener, which count until they are removed.
    pub max_clients: u32,
    /// The maximum number of connections of clients at one address, as [`Quota`] counts addresses.
    pub max_clients_per_address: u32,
    /// Whether a client makes room for another one, as [`Places`] says, until the host has given it a firmer
    /// [standing](Endpoint::set_standing). Otherwise the newcomer is refused.
    pub clients_make_room: bool,
    /// Bytes that arrived and unread data may cost ([`Connection::held`]) in all connections together, in addition to 64 KiB for each; half
    /// of it for one address. Packets beyond are dropped.
    pub memory: u64,
    /// The initial sequence number of every connection that this end requests; none for a random one. Only tests of wrapping numbers
    /// should set it.
    pub initial_number: Option<Seq>,
}

/// The connections of one UDP port, the listener among them if there is one.
///
/// A host passes datagrams and the time in, and polls for datagrams to send. In a loop: [`handle`](Self::handle) for every datagram that
/// has arrived, [`handle_timeout`](Self::handle_timeout) when [`next_timeout`](Self::next_timeout) is due,
/// [`poll_event`](Self::poll_event) until it gives none, and at last [`poll_transmit`](Self::poll_transmit) until it gives none,
/// which also updates the timers. Answers of the listener are sent first; then connections take turns of up to 16 packets,
/// each in the order its own documentation states.
///
/// ```
/// use std::net::SocketAddr;
/// use cwnd::Time;
/// use cwnd_udt::connection::Arrived;
/// use cwnd_udt::endpoint::Event;
/// use cwnd_udt::{Endpoint, EndpointConfig, Settings};
///
/// // A network without delay.
/// fn carry(now: Time, from: (&mut Endpoint, SocketAddr), to: &mut Endpoint) {
///     while let Some(outgoing) = from.0.poll_transmit(now) {
///         let mut datagram = Vec::new();
///         outgoing.encode(&mut datagram);
///         to.handle(Arrived { now, coalesced: false }, from.1, &datagram);
///     }
/// }
///
/// let (here, there) = ("192.0.2.1:9000".parse()?, "192.0.2.2:9000".parse()?);
/// let mut client = Endpoint::new(&EndpointConfig::new([1; 32]));
/// let mut server = Endpoint::new(&EndpointConfig::new([2; 32]));
/// server.listen(Settings::default(), 8)?;
/// client.connect(Time::ZERO, there, Settings::default())?;
/// for _ in 0..2 {
///     carry(Time::ZERO, (&mut client, here), &mut server);
///     carry(Time::ZERO, (&mut server, there), &mut client);
/// }
/// assert!(matches!(server.poll_event(), Some((_, Event::Accepted { .. }))));
/// assert!(matches!(client.poll_event(), Some((_, Event::Connected))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Endpoint {
    random: ChaCha20Rng,
    initial_number: Option<Seq>,
    listener: Option<Listener>,
    cookie_key: [u8; 16],
    table: Table,
    /// Where packets without an id lead: a client's repeated request by its id, a rendezvous by its address alone.
    peers: BTreeMap<(SocketAddr, Option<SocketId>), u32>,
    /// Accepted clients whose connection was removed, oldest first: a late request of theirs opens no other.
    closed_clients: VecDeque<(SocketAddr, SocketId, Seq)>,
    timers: Timers,
    /// Places that may have something to send; the first has its turn, in which `turn` packets were sent.
    turns: VecDeque<u32>,
    turn: u32,
    replies: VecDeque<Datagram>,
    events: VecDeque<(Handle, Event)>,
    /// Connections in the backlog of the listener.
    waiting: usize,
    clients: Places<u32>,
    clients_make_room: bool,
    unproven: ByAddress,
    memory: Quota,
    shares: BacklogShares,
    /// Requests without a valid cookie that may still be answered, as of a time.
    answers: (u64, Time),
    stats: EndpointStats,
}

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client has connected. The connection counts against the listener's backlog until it is [accepted](Endpoint::accept).
    Accepted {
        /// Its address.
        from: SocketAddr,
    },
    /// The requested connection is open.
    Connected,
    /// The attempt failed.
    Refused(Refusal),
    /// Something happened on an open connection.
    Connection(crate::connection::Event),
}

/// Why a connection cannot be opened.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There are as many connections as there may be.
    #[error("no room for another connection")]
    Full,
    /// There is a rendezvous with this address.
    #[error("a rendezvous with this address is under way")]
    Repeated,
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// A payload to be stored: bytes 16 and after of the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The connection it belongs to.
    pub handle: Handle,
    /// Its place there.
    pub slot: Slot,
}

/// Counters of an endpoint that belong to no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointStats {
    /// Datagrams that are no packets of UDT.
    pub malformed: u64,
    /// Packets for no connection, or from an address that is not its peer's.
    pub misdirected: u64,
    /// Requests with a cookie that is wrong or expired.
    pub invalid_cookies: u64,
    /// Clients refused.
    pub rejected: u64,
    /// Clients that had to make room for others.
    pub evicted: u64,
    /// Packets of data dropped because others take the memory.
    pub no_memory: u64,
    /// Requests that were not answered, because there were too many.
    pub unanswered: u64,
}

impl Endpoint {
    /// An endpoint without connections.
    #[must_use]
    pub fn new(config: &EndpointConfig) -> Self {
        let mut random = ChaCha20Rng::from_seed(config.entropy);
        let (mut cookie_key, mut name_key) = ([0; 16], [0; 16]);
        random.fill_bytes(&mut cookie_key);
        random.fill_bytes(&mut name_key);
        Self {
            random,
            initial_number: config.initial_number,
            listener: None,
            cookie_key,
            table: Table::new(name_key, config.max_connections),
            peers: BTreeMap::new(),
            closed_clients: VecDeque::new(),
            timers: Timers::default(),
            turns: VecDeque::new(),
            turn: 0,
            replies: VecDeque::new(),
            events: VecDeque::new(),
            waiting: 0,
            clients: Places::new(config.max_clients as usize, config.max_clients_per_address as usize),
            clients_make_room: config.clients_make_room,
            unproven: ByAddress::default(),
            memory: Quota::new(config.memory, config.memory / 2),
            shares: BacklogShares::default(),
            answers: (MAX_ANSWERS, Time::ZERO),
            stats: EndpointStats::default(),
        }
    }

    /// Accepts clients from now on, in place of an earlier listener. `backlog` connections may wait to be accepted.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn listen(&mut self, settings: Settings, backlog: usize) -> Result<(), SettingsError> {
        settings.check()?;
        self.listener = Some(Listener::new(settings, backlog, self.cookie_key));
        Ok(())
    }

    /// Accepts no more clients; the connections there are go on.
    pub fn stop_listening(&mut self) {
        self.listener = None;
    }

    /// Connects to the listener at `server`.
    ///
    /// # Errors
    /// [`OpenError::Settings`] if a setting is out of range, [`OpenError::Full`] if there are as many connections as there may be.
    pub fn connect(&mut self, now: Time, server: SocketAddr, settings: Settings) -> Result<Handle, OpenError> {
        settings.check()?;
        let (place, offer) = self.offer(&settings, server)?;
        let client = Client::new(offer, server, now, settings.connect_timeout);
        Ok(self.insert(place, Entry::new(offer.id, server, State::Connecting(Box::new((client, settings))))))
    }

    /// Connects to `peer`, which connects to this endpoint at the same time.
    ///
    /// # Errors
    /// [`OpenError::Settings`] if a setting is out of range, [`OpenError::Full`] if there are as many connections as there may be, and
    /// [`OpenError::Repeated`] if a rendezvous with `peer` is under way.
    pub fn rendezvous(&mut self, now: Time, peer: SocketAddr, settings: Settings) -> Result<Handle, OpenError> {
        settings.check()?;
        if self.peers.contains_key(&(peer, None)) {
            return Err(OpenError::Repeated);
        }
        let (place, offer) = self.offer(&settings, peer)?;
        let rendezvous = Rendezvous::new(offer, peer, now, settings.rendezvous_timeout);
        self.peers.insert((peer, None), place);
        Ok(self.insert(place, Entry::new(offer.id, peer, State::Rendezvous(Box::new((rendezvous, settings))))))
    }

    /// Handles a datagram. If it has data to be stored, returns for which connection and where.
    pub fn handle(&mut self, arrived: Arrived, from: SocketAddr, datagram: &[u8]) -> Option<Stored> {
        let Ok(packet) = Packet::parse(datagram) else {
            self.stats.malformed += 1;
            return None;
        };
        let to = match &packet {
            Packet::Data(header, _) => Some(header.to),
            Packet::Control { to, .. } => *to,
        };
        let place = match (to, &packet) {
            (Some(id), _) => self.table.find(id).filter(|place| self.is_peer(*place, from)),
            (None, Packet::Control { control: Control::Handshake(theirs), .. }) => {
                match self.peers.get(&(from, None)) {
                    Some(place) => Some(*place),
                    None => {
                        self.handle_request(arrived.now, from, theirs);
                        return None;
                    }
                }
            }
            (None, _) => None,
        };
        let Some(place) = place else {
            self.stats.misdirected += 1;
            return None;
        };
        let stored = match packet {
            Packet::Data(header, payload) => {
                let length = u32::try_from(payload.len()).ok()?;
                self.established(arrived.now, place)?;
                let open = self.table.get_mut(place)?.open_mut()?;
                if !open.reserve(&mut self.memory, from.ip(), length) {
                    self.stats.no_memory += 1;
                    return None;
                }
                if let Some(share) = self.shares.count(arrived.now, &mut open.arrivals) {
                    open.connection.share_backlog(share);
                }
                open.connection.handle_data(arrived, &header, length)
            }
            Packet::Control { control: Control::Handshake(theirs), .. } => {
                self.continue_handshake(arrived.now, place, &theirs, to.is_some());
                None
            }
            Packet::Control { control, .. } => {
                self.established(arrived.now, place)?.handle_control(arrived.now, &control);
                None
            }
        };
        self.schedule(place);
        let handle = self.table.handle(place);
        stored.map(|slot| Stored { handle, slot })
    }

    /// Handles the timeouts that are due, of connections and of attempts. It may be called late.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(place) = self.timers.take_due(now) {
            let Some(entry) = self.table.get_mut(place) else { continue };
            if let Some(refusal) = entry.handle_timeout(now) {
                self.refuse(place, refusal);
            }
            self.schedule(place);
        }
    }

    /// The next datagram to send; none if none may be sent now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        while let Some(place) = self.turns.front().copied() {
            let handle = self.table.handle(place);
            let Some(entry) = self.table.get_mut(place) else {
                self.end_turn(place);
                continue;
            };
            let Some((id, transmit)) = entry.poll(now) else {
                self.timers.set(place, entry.next_timeout());
                self.end_turn(place);
                self.collect_events(place);
                continue;
            };
            let datagram = Datagram { to: entry.peer, id, handle: Some(handle), transmit };
            self.turn += 1;
            if self.turn >= TURN && !datagram.opens_pair() {
                self.turn = 0;
                self.turns.rotate_left(1);
            }
            return Some(datagram);
        }
        None
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest; at once if there may be something to send.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        if self.turns.is_empty() && self.replies.is_empty() { self.timers.first() } else { Some(Time::ZERO) }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<(Handle, Event)> {
        while let Some((handle, event)) = self.events.pop_front() {
            if self.table.place(handle).is_some() {
                return Some((handle, event));
            }
        }
        None
    }

    /// Calls `action` with an established connection, and then schedules the connection and collects its events.
    pub fn with<R>(&mut self, handle: Handle, action: impl FnOnce(&mut Connection) -> R) -> Option<R> {
        let place = self.table.place(handle)?;
        let result = self.table.get_mut(place)?.connection_mut().map(action)?;
        self.schedule(place);
        Some(result)
    }

    /// An established connection.
    #[must_use]
    pub fn connection(&self, handle: Handle) -> Option<&Connection> {
        self.table.get(self.table.place(handle)?)?.connection()
    }

    /// The application has accepted a connection, which no longer counts against the backlog.
    pub fn accept(&mut self, handle: Handle) {
        if let Some(place) = self.table.place(handle) {
            self.leave_backlog(place);
        }
    }

    /// How firmly the client of a connection holds its place from now on, where [`EndpointConfig::clients_make_room`] is set.
    pub fn set_standing(&mut self, handle: Handle, standing: Standing) {
        if let Some(place) = self.table.place(handle).filter(|_| self.clients_make_room) {
            self.clients.set(place, standing);
        }
    }

    /// Removes a connection. Nothing is sent to its peer: finish or abort it before, and go on until it is closed.
    pub fn remove(&mut self, handle: Handle) {
        let Some(place) = self.table.place(handle) else { return };
        self.leave_backlog(place);
        self.timers.set(place, None);
        let Some(entry) = self.table.remove(place) else { return };
        let Some(Established { client, agreed, reserved, .. }) = entry.open() else {
            self.peers.remove(&(entry.peer, None));
            return;
        };
        self.memory.release(entry.peer.ip(), *reserved);
        let key = client.then_some(agreed.peer_id);
        if self.peers.get(&(entry.peer, key)) == Some(&place) {
            self.peers.remove(&(entry.peer, key));
        }
        if *client {
            self.clients.release(place);
            if self.closed_clients.len() == MAX_CLOSED_CLIENTS {
                self.closed_clients.pop_front();
            }
            self.closed_clients.push_back((entry.peer, agreed.peer_id, agreed.isn_theirs));
        }
    }

    /// Connections there are, those being set up included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.table.len()
    }

    /// The counters of this endpoint.
    #[must_use]
    pub fn stats(&self) -> EndpointStats {
        self.stats
    }

    fn is_peer(&self, place: u32, from: SocketAddr) -> bool {
        self.table.get(place).is_some_and(|entry| entry.peer == from)
    }

    /// A free place, and what a connection there brings to its handshake.
    fn offer(&mut self, settings: &Settings, peer: SocketAddr) -> Result<(u32, Offer), OpenError> {
        let (place, id) = self.table.reserve(self.random.next_u32()).ok_or(OpenError::Full)?;
        let random = Seq::new(self.random.next_u32() >> 1);
        let isn = self.initial_number.or(random).expect("a shifted number has 31 bits");
        Ok((place, Offer::new(settings, peer, id, isn, self.random.next_u64())))
    }

    fn insert(&mut self, place: u32, entry: Entry) -> Handle {
        self.table.fill(place, entry);
        self.schedule(place);
        self.table.handle(place)
    }

    /// A handshake for a connection, open or about to be; whether it was sent to the connection's id.
    fn continue_handshake(&mut self, now: Time, place: u32, theirs: &Handshake, has_id: bool) {
        let Some(entry) = self.table.get_mut(place) else { return };
        match &mut entry.state {
            State::Connecting(connecting) => match connecting.0.handle(now, theirs) {
                Some(Ok(agreed)) => self.open(now, place, &agreed),
                Some(Err(refusal)) => self.refuse(place, refusal),
                None => {}
            },
            State::Rendezvous(rendezvous) => {
                if let Some(agreed) = rendezvous.0.handle(now, theirs, has_id) {
                    self.open(now, place, &agreed);
                }
            }
            State::Established(open) => open.handle_handshake(theirs),
            State::Refused => {}
        }
    }

    /// The connection at `place`, if there is one now that its peer has sent something only a connected end sends.
    fn established(&mut self, now: Time, place: u32) -> Option<&mut Connection> {
        if let State::Rendezvous(rendezvous) = &self.table.get(place)?.state
            && let Some(agreed) = rendezvous.0.confirmed()
        {
            self.open(now, place, &agreed);
        }
        self.table.get_mut(place)?.on_packet()
    }

    fn open(&mut self, now: Time, place: u32, agreed: &Agreed) {
        let Some(entry) = self.table.get_mut(place) else { return };
        entry.establish(now, agreed);
        self.events.push_back((self.table.handle(place), Event::Connected));
    }

    fn refuse(&mut self, place: u32, refusal: Refusal) {
        let Some(entry) = self.table.get_mut(place) else { return };
        entry.state = State::Refused;
        let peer = entry.peer;
        if self.peers.get(&(peer, None)) == Some(&place) {
            self.peers.remove(&(peer, None));
        }
        self.events.push_back((self.table.handle(place), Event::Refused(refusal)));
    }

    /// The connection at `place` was changed: it may have events, something to send, or another timeout.
    fn schedule(&mut self, place: u32) {
        if let Some(entry) = self.table.get_mut(place) {
            let ip = entry.peer.ip();
            if let Some(open) = entry.open_mut() {
                open.release(&mut self.memory, ip);
            }
        }
        self.collect_events(place);
        if self.table.queue(place) {
            self.turns.push_back(place);
        }
    }

    fn end_turn(&mut self, place: u32) {
        self.turn = 0;
        self.turns.pop_front();
        self.table.unqueue(place);
    }

    fn collect_events(&mut self, place: u32) {
        let handle = self.table.handle(place);
        let Some(connection) = self.table.get_mut(place).and_then(Entry::connection_mut) else { return };
        while let Some(event) = connection.poll_event() {
            self.events.push_back((handle, Event::Connection(event)));
        }
    }
}

impl EndpointConfig {
    /// Room for as many connections as ids can name, memory without a limit, and random initial numbers.
    #[must_use]
    pub fn new(entropy: [u8; 32]) -> Self {
        Self {
            entropy,
            max_connections: PLACES,
            max_clients: PLACES,
            max_clients_per_address: PLACES,
            clients_make_room: false,
            memory: u64::MAX,
            initial_number: None,
        }
    }
}

/// Packets of a turn: a quarter of what one system call can send, so that turns are short and calls are few.
const TURN: u32 = 16;
/// Late requests are rare; one of a client that is no longer in the list opens a connection that times out.
const MAX_CLOSED_CLIENTS: usize = 256;

#[cfg(test)]
mod tests;
