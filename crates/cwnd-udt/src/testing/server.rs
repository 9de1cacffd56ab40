//! A server with its connections, whatever clients and unknown addresses send.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use cwnd::{Span, Time};

use super::{Input, control, data, handshake};
use crate::connection::{self, Arrived, Connection, Transmit};
use crate::endpoint::{Endpoint, EndpointConfig, Event, Handle};
use crate::number::{AckNumber, Seq, SocketId};
use crate::places::Standing;
use crate::quota::network;
use crate::settings::Settings;
use crate::wire::{Control, FullAck, LossRange, Losses, Message, Request};

/// Reads `bytes` as a list of datagrams from several addresses, actions of the application, and time that passes, and lets an endpoint with
/// a listener handle it.
///
/// # Panics
/// If the endpoint panics, has more connections or memory than it may, sends more bytes to an address that has proven nothing than came
/// from it, or always has something to do at one instant.
pub fn check_server(bytes: &[u8]) {
    let mut server = Server::new();
    let mut input = Input(bytes);
    while !input.is_empty() {
        server.step(&mut input);
        server.settle();
        server.check();
    }
}

struct Server {
    now: Time,
    endpoint: Endpoint,
    /// Connections that clients have opened, with their peers.
    clients: BTreeMap<Handle, SocketAddr>,
    /// Connections this end asked for.
    others: Vec<Handle>,
    /// By address: the last cookie, the connections known there, and how many more bytes came than went.
    peers: BTreeMap<SocketAddr, Peer>,
}

#[derive(Debug, Default)]
struct Peer {
    cookie: u32,
    ids: Vec<SocketId>,
    proven: bool,
    credit: i64,
}

impl Server {
    fn new() -> Self {
        let config = EndpointConfig {
            max_connections: 8,
            max_clients: MAX_CLIENTS as u32,
            max_clients_per_address: MAX_PER_ADDRESS as u32,
            clients_make_room: true,
            memory: MEMORY,
            ..EndpointConfig::new([7; 32])
        };
        let mut endpoint = Endpoint::new(&config);
        endpoint.listen(settings(), 4).expect("the settings are in range");
        let (clients, others, peers) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        Self { now: Time::ZERO, endpoint, clients, others, peers }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let kind = input.byte() % 16;
        let from = address(input.byte());
        let peer = self.peers.entry(from).or_default();
        let id = peer.ids.get(usize::from(input.byte()) % peer.ids.len().max(1)).copied();
        let datagram = match (kind, id) {
            (0, _) => handshake(Request::Regular, u32::from(input.byte() % 8) + 1, 0),
            (1 | 2, _) => handshake(Request::Response, u32::from(input.byte() % 8) + 1, peer.cookie),
            (3, _) => handshake(Request::Rendezvous, u32::from(input.byte() % 8) + 1, 0),
            (4..=7, Some(id)) => data(id, input.word().into(), usize::from(input.byte()) * 6 % 1460),
            (8, Some(id)) => {
                let next = Seq::MAX + input.offset();
                let number = AckNumber::new(input.byte().into()).unwrap_or(AckNumber::FIRST);
                let window = input.word().into();
                control(id, Control::Ack(FullAck { number, next, rtt_us: 1000, rtt_var_us: 1, window, rates: None }))
            }
            (9, Some(id)) => match LossRange::new(Seq::MAX + input.offset(), Seq::MAX + input.offset()) {
                Some(range) => {
                    let message = Message::Nak(Losses::new(range));
                    control(id, message.control())
                }
                None => control(id, Control::KeepAlive),
            },
            (10, Some(id)) => {
                control(id, if input.byte().is_multiple_of(4) { Control::Shutdown } else { Control::KeepAlive })
            }
            (11, _) => (0..input.byte() % 80).map(|_| input.byte()).collect(),
            (12, _) => {
                self.now += Span::from_micros(u64::from(input.word()) << (input.byte() % 12));
                return;
            }
            (13, _) => {
                // Refused if there is one, or no room.
                let opened = match input.byte() % 2 {
                    0 => self.endpoint.rendezvous(self.now, from, settings()),
                    _ => self.endpoint.connect(self.now, from, settings()),
                };
                self.others.extend(opened.ok());
                // An address that is asked for a connection may be sent requests.
                peer.proven = true;
                return;
            }
            _ => {
                self.act(input);
                return;
            }
        };
        peer.credit += datagram.len() as i64;
        self.endpoint.handle(Arrived { now: self.now, coalesced: false }, from, &datagram);
    }

    /// The application does something with one of its connections.
    fn act(&mut self, input: &mut Input<'_>) {
        let index = usize::from(input.byte());
        let all: Vec<Handle> = self.clients.keys().chain(&self.others).copied().collect();
        let Some(handle) = all.get(index % all.len().max(1)).copied() else { return };
        let (now, amount) = (self.now, u64::from(input.word()));
        match input.byte() % 8 {
            0 => self.endpoint.accept(handle),
            1 => self.remove(handle),
            2 => drop(self.endpoint.with(handle, |connection| connection.abort(now))),
            3 => drop(self.endpoint.with(handle, |connection| connection.finish(now))),
            4 | 5 => drop(self.endpoint.with(handle, |connection| connection.consume(now, amount))),
            6 => {
                let standings = [Standing::Idle, Standing::Busy, Standing::Kept];
                self.endpoint.set_standing(handle, standings[amount as usize % 3]);
            }
            _ => drop(self.endpoint.with(handle, |connection| connection.write(amount))),
        }
    }

    fn remove(&mut self, handle: Handle) {
        self.endpoint.remove(handle);
        self.clients.remove(&handle);
        self.others.retain(|other| *other != handle);
    }

    fn settle(&mut self) {
        for _ in 0..MAX_ROUNDS {
            self.endpoint.handle_timeout(self.now);
            let mut sent = 0;
            while let Some(datagram) = self.endpoint.poll_transmit(self.now) {
                sent += 1;
                assert!(sent < MAX_SENT, "a storm");
                let peer = self.peers.entry(datagram.to).or_default();
                match datagram.transmit {
                    Transmit::Handshake(ours) if ours.request == Request::Regular => peer.cookie = ours.cookie,
                    Transmit::Handshake(ours) if ours.request == Request::Response => {
                        peer.proven = true;
                        peer.ids.extend(ours.id.filter(|id| !peer.ids.contains(id)));
                    }
                    _ => {}
                }
                let mut bytes = Vec::new();
                datagram.encode(&mut bytes);
                peer.credit -= bytes.len() as i64;
                assert!(peer.proven || peer.credit >= 0, "an unproven address is sent more than came from it");
            }
            while let Some((handle, event)) = self.endpoint.poll_event() {
                match event {
                    Event::Accepted { from } => drop(self.clients.insert(handle, from)),
                    Event::Refused(_) | Event::Connection(connection::Event::Closed(_)) => self.remove(handle),
                    Event::Connected | Event::Connection(_) => {}
                }
            }
            if sent == 0 && self.endpoint.next_timeout().is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("still not idle: {:?} at {}", self.endpoint.next_timeout(), self.now);
    }

    fn check(&self) {
        let (clients, others) = (self.clients.len(), self.others.len());
        assert_eq!(self.endpoint.connections(), clients + others, "a connection that no client and no other end has");
        assert!(clients <= MAX_CLIENTS && clients + others <= 8, "{clients} clients, {others} others");
        for ip in self.clients.values().map(|from| network(from.ip())) {
            let same = self.clients.values().filter(|from| network(from.ip()) == ip).count();
            assert!(same <= MAX_PER_ADDRESS, "{same} clients at {ip}");
        }
        let all = self.clients.keys().chain(&self.others);
        let held: u64 = all.filter_map(|handle| self.endpoint.connection(*handle)).map(Connection::held).sum();
        assert!(held <= MEMORY + 8 * 64 * 1024, "{held} bytes are held");
    }
}

fn settings() -> Settings {
    Settings { send_buffer: 64, receive_buffer: 256, backlog: Some(256), prove_acks: true, ..Settings::default() }
}

/// Two ports of each of four hosts.
fn address(byte: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, byte % 4)), 9000 + u16::from(byte / 4 % 2))
}

const MAX_CLIENTS: usize = 6;
const MAX_PER_ADDRESS: usize = 3;
/// Less than the windows of all connections hold.
const MEMORY: u64 = 256 * 1024;
/// Packets that may leave at one instant.
const MAX_SENT: usize = 2000;
/// Rounds at one instant before it is idle.
const MAX_ROUNDS: usize = 40;
