//! A client of hand-made packets, which may break the protocol.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use cwnd_udt::wire::{DropRequest, Handshake, Position, Request};
use cwnd_udt::{Control, DataHeader, MessageNumber, Packet, Seq, SocketId};

use crate::interop::{Error, clock, expect};

/// A socket connected to one peer.
#[derive(Debug)]
pub(crate) struct Raw {
    socket: UdpSocket,
    /// The peer's id of the connection, once it was accepted.
    peer: Option<SocketId>,
}

/// The proposal of a raw client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    /// The number of its first packet.
    pub(crate) isn: Seq,
    /// The largest packet.
    pub(crate) mss: u32,
    /// The window.
    pub(crate) window: u32,
    /// 1 for a stream, 2 for messages.
    pub(crate) socket_type: u32,
}

/// The server's answer to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The connection is open.
    Accepted(Handshake),
    /// Refused with code 1002.
    Rejected,
    /// No handshake within half a second.
    Silence,
}

impl Default for Proposal {
    fn default() -> Self {
        Self { isn: Seq::new(1_000_000).expect("it has less than 31 bits"), mss: 1500, window: 8192, socket_type: 1 }
    }
}

impl Raw {
    /// Binds a socket on the loopback and connects it to a peer.
    ///
    /// # Errors
    /// No local port is free, or the peer's address is of another family.
    pub(crate) fn new(peer: SocketAddr) -> Result<Self, Error> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(peer)?;
        Ok(Self { socket, peer: None })
    }

    /// The local address.
    ///
    /// # Errors
    /// The system call fails.
    pub(crate) fn local(&self) -> Result<SocketAddr, Error> {
        Ok(self.socket.local_addr()?)
    }

    /// Asks a listener for its cookie, up to twelve times.
    ///
    /// # Errors
    /// No handshake comes back to any of them, a datagram that comes back is no packet, or the socket fails.
    pub(crate) fn cookie(&self, proposal: &Proposal) -> Result<u32, Error> {
        // As often as a client would.
        for _ in 0..12 {
            self.send_handshake(proposal, Request::Regular, 0)?;
            if let Some(handshake) = self.handshake(REPEAT)? {
                return Ok(handshake.cookie);
            }
        }
        Err(Error::Expectation("no listener answers".to_owned()))
    }

    /// Asks for a connection with a cookie, which need not be the listener's.
    ///
    /// # Errors
    /// A datagram that comes back is no packet, or the socket fails.
    pub(crate) fn ask(&mut self, proposal: &Proposal, cookie: u32) -> Result<Answer, Error> {
        self.send_handshake(proposal, Request::Response, cookie)?;
        Ok(match self.handshake(TIMEOUT)? {
            None => Answer::Silence,
            Some(Handshake { request: Request::Rejected, .. }) => Answer::Rejected,
            Some(handshake) => {
                self.peer = handshake.id;
                Answer::Accepted(handshake)
            }
        })
    }

    /// Opens a connection as a client does.
    ///
    /// # Errors
    /// Those of [`cookie`](Self::cookie) and of [`ask`](Self::ask).
    pub(crate) fn open(&mut self, proposal: &Proposal) -> Result<Answer, Error> {
        let cookie = self.cookie(proposal)?;
        self.ask(proposal, cookie)
    }

    /// Sends a data packet on the connection.
    ///
    /// # Errors
    /// No connection has been accepted, or the socket fails.
    pub(crate) fn send_data(&self, seq: Seq, payload: &[u8]) -> Result<(), Error> {
        let to = self.connection()?;
        let message = MessageNumber::FIRST;
        let header = DataHeader { seq, position: Position::Only, in_order: false, message, timestamp_us: 0, to };
        self.send(&Packet::Data(header, payload))
    }

    /// Sends a control packet on the connection.
    ///
    /// # Errors
    /// No connection has been accepted, or the socket fails.
    pub(crate) fn send_control(&self, control: Control<'_>) -> Result<(), Error> {
        let to = Some(self.connection()?);
        self.send(&Packet::Control { to, timestamp_us: 0, control })
    }

    /// Sends any bytes.
    ///
    /// # Errors
    /// The socket fails.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> Result<(), Error> {
        self.socket.send(bytes)?;
        Ok(())
    }

    /// The time until a control packet arrives for which `wanted` holds; none if none does within `timeout`.
    ///
    /// # Errors
    /// A datagram that arrives is no packet, or the socket fails.
    pub(crate) fn wait_for(
        &self,
        timeout: Duration,
        wanted: impl Fn(&Control<'_>) -> bool,
    ) -> Result<Option<Duration>, Error> {
        let start = clock::now();
        self.receive(start + timeout, |packet| match packet {
            Packet::Control { control, .. } if wanted(control) => Some(start.elapsed()),
            _ => None,
        })
    }

    /// The first request to drop a message that arrives within `timeout`; none if none does.
    ///
    /// # Errors
    /// A datagram that arrives is no packet, or the socket fails.
    pub(crate) fn drop_request(&self, timeout: Duration) -> Result<Option<DropRequest>, Error> {
        self.receive(clock::now() + timeout, |packet| match packet {
            Packet::Control { control: Control::DropRequest(request), .. } => Some(*request),
            _ => None,
        })
    }

    /// The peer's id of the connection.
    ///
    /// # Errors
    /// No connection has been accepted.
    pub(crate) fn connection(&self) -> Result<SocketId, Error> {
        self.peer.ok_or_else(|| Error::Expectation("there is no connection".to_owned()))
    }

    fn send_handshake(&self, proposal: &Proposal, request: Request, cookie: u32) -> Result<(), Error> {
        let handshake = Handshake {
            version: 4,
            socket_type: proposal.socket_type,
            isn: proposal.isn,
            mss: proposal.mss,
            window: proposal.window,
            request,
            id: SocketId::new(OWN_ID),
            cookie,
            address: [0; 16],
        };
        self.send(&Packet::Control { to: None, timestamp_us: 0, control: Control::Handshake(handshake) })
    }

    fn send(&self, packet: &Packet<'_>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        self.send_bytes(&bytes)
    }

    fn handshake(&self, timeout: Duration) -> Result<Option<Handshake>, Error> {
        self.receive(clock::now() + timeout, |packet| match packet {
            Packet::Control { control: Control::Handshake(handshake), .. } => Some(*handshake),
            _ => None,
        })
    }

    /// Receives packets until `select` returns something or the deadline has passed.
    fn receive<T>(&self, deadline: Instant, select: impl Fn(&Packet<'_>) -> Option<T>) -> Result<Option<T>, Error> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let left = deadline.saturating_duration_since(clock::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.socket.set_read_timeout(Some(left))?;
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    let packet = Packet::parse(&buffer[..length]);
                    expect(packet.is_ok(), || format!("{length} bytes that are no packet"))?;
                    if let Some(found) = packet.ok().and_then(|packet| select(&packet)) {
                        return Ok(Some(found));
                    }
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                // The peer's port is closed.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The time to wait for an answer: long compared with the loopback, short compared with a test run.
const TIMEOUT: Duration = Duration::from_millis(500);

/// libudt's clients repeat their request at this interval.
const REPEAT: Duration = Duration::from_millis(250);

/// The socket id these clients give.
const OWN_ID: u32 = 0x1234_5678;
