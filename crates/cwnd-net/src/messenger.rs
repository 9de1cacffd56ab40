//! Messages with boundaries.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use cwnd_udt::Mode;
use cwnd_udt::connection::MessageOptions;
use cwnd_udt::places::Standing;

use crate::error::{CloseError, ConnectError, ReceiveError, SendError};
use crate::options::Options;
use crate::owned_connection::OwnedConnection;
use crate::socket::{self, Kind, Socket};
use crate::stats::Stats;

/// A connection that carries messages: each arrives whole or not at all.
///
/// As with a [`UdtStream`](crate::UdtStream), several threads may use it, dropping the last clone waits for the peer, and nothing is
/// encrypted.
///
/// ```
/// use cwnd_net::{MessageOptions, UdtMessageListener, UdtMessenger};
///
/// let listener = UdtMessageListener::bind("127.0.0.1:0".parse()?)?;
/// let client = UdtMessenger::connect(listener.local_addr())?;
/// client.send(b"one", MessageOptions::new().in_order())?;
/// client.send(b"two", MessageOptions::new().in_order())?;
/// let (server, _from) = listener.accept()?;
/// assert_eq!(server.receive()?, b"one");
/// assert_eq!(server.receive()?, b"two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UdtMessenger(Arc<OwnedConnection>);

impl UdtMessenger {
    /// Connects to a listener, from a port that the system chooses. If a name has several addresses they are tried one after the other.
    ///
    /// # Errors
    /// [`ConnectError::Address`] if the name has no address, [`ConnectError::Bind`] if no port can be opened, [`ConnectError::Refused`] if
    /// the listener does not answer in time or refuses, and [`ConnectError::Port`] if the thread of the port has ended.
    pub fn connect(peer: impl ToSocketAddrs) -> Result<Self, ConnectError> {
        Self::connect_with(peer, &Options::default())
    }

    /// Connects with other than the default options.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`ConnectError::Bind`] also if an option is out of range.
    pub fn connect_with(peer: impl ToSocketAddrs, options: &Options) -> Result<Self, ConnectError> {
        socket::connect(peer, options)
    }

    /// Connects to a peer that connects to `local` at the same time: both sides call this, and neither listens.
    ///
    /// # Errors
    /// [`ConnectError::Bind`] if the port cannot be opened at `local` or an option is out of range, [`ConnectError::Refused`] if the peer
    /// does not answer in time or its settings do not fit, and [`ConnectError::Port`] if the thread of the port has ended.
    pub fn rendezvous(local: SocketAddr, peer: SocketAddr, options: &Options) -> Result<Self, ConnectError> {
        socket::rendezvous(local, peer, options)
    }

    /// The address of the peer.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.peer
    }

    /// The local address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.connection.local
    }

    /// Waits for room in the send buffer and copies a message into it. Does not wait for its delivery.
    ///
    /// # Errors
    /// [`SendError::Empty`] or [`SendError::TooLong`] for its length, [`SendError::Timeout`] if there was no room in time, and
    /// [`SendError::Ended`] if the connection has ended.
    pub fn send(&self, message: &[u8], options: MessageOptions) -> Result<(), SendError> {
        let buffer = self.0.connection.send.longest_message();
        if message.is_empty() {
            return Err(SendError::Empty);
        }
        if message.len() as u64 > buffer {
            return Err(SendError::TooLong { bytes: message.len(), buffer });
        }
        if self.0.write_message(message, options)? { Ok(()) } else { Err(SendError::Timeout) }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// [`ReceiveError::Timeout`] if none arrived in time, [`ReceiveError::Ended`] if the connection has ended and all messages have been
    /// read.
    pub fn receive(&self) -> Result<Vec<u8>, ReceiveError> {
        self.0.read_message()?.ok_or(ReceiveError::Timeout)
    }

    /// How long [`receive`](Self::receive) waits; without limit for none, the default.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        self.0.set_read_timeout(timeout);
    }

    /// How long [`send`](Self::send) waits for room; without limit for none, the default.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        self.0.set_write_timeout(timeout);
    }

    /// Counters and measurements of the connection, and its current limit; none once it is closed.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.0.stats()
    }

    /// Ends sending, and closes the connection once every message has been delivered. Does not wait for that.
    pub fn shutdown(&self) {
        self.0.shutdown();
    }

    /// Closes the connection, and waits until the peer has every message that was sent, but not longer than the time to linger.
    ///
    /// # Errors
    /// [`CloseError::Lingered`] if the peer did not acknowledge every message within the time to linger, [`CloseError::Ended`] if the
    /// connection had ended before.
    pub fn close(self) -> Result<(), CloseError> {
        self.0.close()
    }

    /// Sets the standing of the connection, as [`UdtStream::set_standing`](crate::UdtStream::set_standing) does.
    pub fn set_standing(&self, standing: Standing) {
        self.0.set_standing(standing);
    }

    /// Closes the connection at once. Messages that have not been delivered are lost.
    pub fn abort(self) {
        self.0.abort();
    }
}

impl Kind for UdtMessenger {
    const MODE: Mode = Mode::Messages;

    fn of(connection: OwnedConnection) -> Self {
        Self(Arc::new(connection))
    }
}

impl Socket for UdtMessenger {}
