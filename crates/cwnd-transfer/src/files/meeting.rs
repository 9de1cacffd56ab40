//! The connection of two ends behind NAT, with the help of a `udt meet`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use cwnd::Span;
use cwnd_files::BUSY;
use cwnd_meet::{Client, LENGTH, Response, Role, Room};
use cwnd_net::cwnd_udt::Refusal;
use cwnd_net::{BindError, ConnectError, Options, UdtPort, UdtStream};
use cwnd_secure::Code;
use thiserror::Error;

use crate::clock::Stopwatch;
use crate::connect::{connect_kind, is_end};
use crate::failure::Kind;

/// A meeting place, and whom to meet there.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    place: String,
    room: Room,
    role: Role,
    options: Options,
}

/// The other end.
pub(super) struct PeerConnection {
    pub(super) stream: UdtStream,
    /// Where it is; where the relay is if everything passes through it.
    pub(super) peer: SocketAddr,
    pub(super) relayed: bool,
}

/// Why there is no connection to the other end.
#[derive(Debug, Error)]
pub(super) enum MeetError {
    /// Another receiver is connected to the sender, through the meeting place.
    #[error("{BUSY}")]
    Busy,
    /// There is one to neither the other end nor a server.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The meeting place takes no more.
    #[error("the meeting place is full: one of its limits is reached")]
    Full,
    /// The name of the meeting place is unknown, or there is no socket.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The other end did not come.
    #[error("nobody with this code connected to the meeting place within {} s", .0.as_secs())]
    Nobody(Duration),
    /// No relay answers.
    #[error("no `udt meet` answers there")]
    NoAnswer,
    /// Neither way led to the other end.
    #[error(
        "the other side was there, but there is no connection to it, neither directly nor through the meeting place"
    )]
    Unreachable,
}

impl MeetError {
    /// Its kind, for scripts.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Busy => Kind::Busy,
            Self::Connect(error) => connect_kind(error),
            Self::Full => Kind::Refused,
            Self::Io(_) | Self::Nobody(_) | Self::NoAnswer | Self::Unreachable => Kind::NoAnswer,
        }
    }

    /// Whether another attempt may find room.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Full | Self::Connect(ConnectError::Refused { why: Refusal::Full, .. }) => true,
            Self::Connect(ConnectError::Join(error)) => is_end(error),
            _ => false,
        }
    }
}

impl Meeting {
    /// A meeting of those who have this code, at `place`, a host and a port.
    pub(super) fn new(place: &str, code: &Code, role: Role, options: Options) -> Self {
        let options = options.rendezvous_timeout(RENDEZVOUS_TIMEOUT);
        Self { place: place.to_owned(), room: Room(code.public_name()), role, options }
    }

    /// A connection to the other end, for which this waits `timeout`, or for ever without one.
    pub(super) fn connect(&self, timeout: Option<Duration>) -> Result<PeerConnection, MeetError> {
        let (socket, relay, peer) = self.find(timeout)?;
        let port = UdtPort::on(socket, &self.options).map_err(ConnectError::Bind)?;
        for (to, relayed) in [(peer, false), (relay, true)] {
            match port.rendezvous(to) {
                Ok(stream) => return Ok(PeerConnection { stream, peer: to, relayed }),
                Err(ConnectError::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(MeetError::Unreachable)
    }

    /// The socket on which the meeting place was asked, where that is, and where the other end is seen.
    fn find(&self, timeout: Option<Duration>) -> Result<(UdpSocket, SocketAddr, SocketAddr), MeetError> {
        for relay in self.place.to_socket_addrs()? {
            match self.ask(relay, timeout) {
                // A name may have addresses of two families, of which the network has one.
                Err(MeetError::NoAnswer | MeetError::Io(_)) => {}
                found => return found.map(|(socket, peer)| (socket, relay, peer)),
            }
        }
        Err(MeetError::NoAnswer)
    }

    /// Asks a relay for the other end until it is there.
    fn ask(&self, relay: SocketAddr, timeout: Option<Duration>) -> Result<(UdpSocket, SocketAddr), MeetError> {
        let any: IpAddr = if relay.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).map_err(|error| ConnectError::Bind(BindError::Socket(error)))?;
        let mut client = Client::new(self.room, self.role);
        let (clock, mut next, mut responded_at) = (Stopwatch::start(), Duration::ZERO, Duration::ZERO);
        // Longer datagrams are none of a relay.
        let mut buffer = [0; LENGTH + 1];
        loop {
            let now = clock.elapsed();
            if now.saturating_sub(responded_at) >= RESPONSE_TIMEOUT {
                return Err(MeetError::NoAnswer);
            }
            if let Some(timeout) = timeout.filter(|timeout| now >= *timeout) {
                return Err(MeetError::Nobody(timeout));
            }
            if now >= next {
                socket.send_to(&client.request(), relay)?;
                next = now + INTERVAL;
            }
            socket.set_read_timeout(Some((next - now).max(Duration::from_millis(1))))?;
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            if from != relay {
                continue;
            }
            match client.handle(&buffer[..length]) {
                // Datagrams that the other end sends through the relay may be here first.
                Response::Ignored => continue,
                Response::Challenge => next = clock.elapsed(),
                Response::Waiting => {}
                Response::Peer(peer) => return Ok((socket, peer)),
                // Its own connection of before has not ended yet for the relay.
                Response::Busy if self.role == Role::Host => {}
                Response::Busy => return Err(MeetError::Busy),
                Response::Full => return Err(MeetError::Full),
            }
            responded_at = clock.elapsed();
        }
    }
}

/// The longest wait of a receiver for a sender, which notices after 10 s that a connection is lost.
pub(super) const PEER_TIMEOUT: Duration = Duration::from_secs(60);
/// The time for each attempt: twenty handshakes. The two ends begin within a [`INTERVAL`] and a round trip of each other.
const RENDEZVOUS_TIMEOUT: Span = Span::from_secs(5);
/// The interval between requests to a relay. They also keep the mapping of a NAT open.
const INTERVAL: Duration = Duration::from_millis(250);
/// The longest silence of a relay: twenty requests are lost, or it is gone.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
