//! Messages with boundaries.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use cwnd_udt::Mode;
use cwnd_udt::connection::MessageOptions;

use crate::connection::Owned;
use crate::error::{CloseError, ConnectError, ReceiveError, SendError};
use crate::options::Options;
use crate::socket::{self, Kind, Socket};
use crate::stats::Stats;

/// A connection that carries messages: each arrives whole or not at all.
///
/// Everything a [`UdtStream`](crate::UdtStream) says of threads, closing and clear text holds here too.
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
pub struct UdtMessenger(Arc<Owned>);

impl UdtMessenger {
    /// Connects to a listener, from a port of the system's choice. A name that stands for several addresses is tried at each.
    ///
    /// # Errors
    /// Nobody answers, the other side refuses, or the name means nothing.
    pub fn connect(peer: impl ToSocketAddrs) -> Result<Self, ConnectError> {
        Self::connect_with(peer, &Options::default())
    }

    /// Connects with options of one's own.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and if the options cannot be used.
    pub fn connect_with(peer: impl ToSocketAddrs, options: &Options) -> Result<Self, ConnectError> {
        socket::connect(peer, options)
    }

    /// Meets a peer that calls `local` while it is called: both sides do the same, neither listens.
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with), and if `local` cannot be had.
    pub fn rendezvous(local: SocketAddr, peer: SocketAddr, options: &Options) -> Result<Self, ConnectError> {
        socket::rendezvous(local, peer, options)
    }

    /// The other end.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.peer
    }

    /// This end.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.connection.local
    }

    /// Sends a message, which waits for room but not for its delivery.
    ///
    /// # Errors
    /// It is empty or too long, there was no room in time, or the connection is over.
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

    /// The next message, once there is one.
    ///
    /// # Errors
    /// None came in time, or the connection is over and all have been read.
    pub fn receive(&self) -> Result<Vec<u8>, ReceiveError> {
        self.0.read_message()?.ok_or(ReceiveError::Timeout)
    }

    /// How long [`receive`](Self::receive) waits; without end for none, which is how it begins.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        self.0.set_read_timeout(timeout);
    }

    /// How long [`send`](Self::send) waits for room; without end for none, which is how it begins.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        self.0.set_write_timeout(timeout);
    }

    /// How the connection is doing, and what limits it; none once it is over and forgotten.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.0.stats()
    }

    /// Sends no more: when every message has been delivered, the connection is closed. Does not wait for that.
    pub fn shutdown(&self) {
        self.0.shutdown();
    }

    /// Closes the connection, and waits until the peer has every message that was sent, but not longer than the time to linger.
    ///
    /// # Errors
    /// The peer may not have every message.
    pub fn close(self) -> Result<(), CloseError> {
        self.0.close()
    }

    /// Closes the connection at once. Messages that have not been delivered are lost.
    pub fn abort(self) {
        self.0.give_up();
    }
}

impl Kind for UdtMessenger {
    const MODE: Mode = Mode::Messages;

    fn of(owned: Owned) -> Self {
        Self(Arc::new(owned))
    }
}

impl Socket for UdtMessenger {}
