//! Errors, an enum per operation.

use std::io;

use cwnd_udt::SettingsError;
use cwnd_udt::endpoint::OpenError;
use cwnd_udt::handshake::Refusal;
use thiserror::Error;

/// Why no port was opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// The system has no random numbers for socket ids and cookies.
    #[error("cannot get random numbers: {0}")]
    Entropy(io::Error),
    /// A setting is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system refused the socket or its address.
    #[error("cannot open the UDP socket: {0}")]
    Socket(io::Error),
    /// The system refused a thread, or the socket pair that wakes it.
    #[error("cannot start the thread of the port: {0}")]
    Thread(io::Error),
}

/// Why there is no connection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name of the peer has no address, or could not be looked up.
    #[error("cannot look up the address: {0}")]
    Address(io::Error),
    /// No port was opened to connect from.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The port has as many connections as it can have, or a rendezvous with this peer is under way.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The thread of the port has ended.
    #[error("the port is closed")]
    Port,
    /// The peer did not answer, or refused.
    #[error("{peer}: {why}")]
    Refused {
        /// The address of the peer.
        peer: std::net::SocketAddr,
        /// The reason.
        why: Refusal,
    },
    /// The peer allows fewer connections for one bundle.
    #[error("the connections of a stream are more than the {most} that the other side allows")]
    Streams {
        /// How many.
        most: u8,
    },
    /// The peer does not join connections, or has not joined these.
    #[error("the other side has not joined the connections: {0}")]
    Join(io::Error),
}

/// Why a listener no longer accepts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// The thread of the port has ended.
    #[error("the port is closed")]
    Port,
    /// No client connected in time.
    #[error("no connection within the timeout")]
    Timeout,
}

/// Why a message was not accepted for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message is empty, which the protocol cannot express.
    #[error("an empty message cannot be sent")]
    Empty,
    /// The connection has ended.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// There was no room in the send buffer in time.
    #[error("no room for the message within the timeout")]
    Timeout,
    /// It does not fit into the send buffer.
    #[error("a message of {bytes} B is longer than the send buffer of {buffer} B")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The maximum length.
        buffer: u64,
    },
}

/// Why no message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The connection has ended, and everything that arrived has been read.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// No message arrived in time.
    #[error("no message within the timeout")]
    Timeout,
}

/// Why a connection was closed before everything was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CloseError {
    /// The connection had ended before, and data that was not acknowledged by then may be lost.
    #[error("not everything was delivered: {0}")]
    Ended(Ended),
    /// The peer did not acknowledge everything within the time to linger.
    #[error("not everything was delivered within the time to linger")]
    Lingered,
}

/// Why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Ended {
    /// This side aborted it.
    #[error("the connection was aborted on this side")]
    Aborted,
    /// This side closed it.
    #[error("the connection was closed on this side")]
    Closed,
    /// The peer acknowledged data that had not been sent.
    #[error("the peer acknowledged data that had not been sent")]
    FalseAck,
    /// This side closed it, and not everything was delivered within the time to linger.
    #[error("the peer did not acknowledge everything within the time to linger")]
    Lingered,
    /// The peer aborted it, and data of one direction or the other is lost.
    #[error("the peer aborted the connection")]
    PeerAborted,
    /// The peer closed it after everything was delivered, or aborted it when nothing was in flight, which UDT does not distinguish.
    #[error("the peer closed the connection")]
    PeerClosed,
    /// The thread of the port has ended.
    #[error("the port is closed")]
    Port,
    /// Nothing was received from the peer for [`idle_timeout`](crate::Options::idle_timeout).
    #[error("the peer has timed out")]
    TimedOut,
}

impl From<Ended> for io::Error {
    fn from(ended: Ended) -> Self {
        let kind = match ended {
            Ended::Aborted | Ended::FalseAck | Ended::Port => io::ErrorKind::ConnectionAborted,
            Ended::Closed => io::ErrorKind::NotConnected,
            Ended::Lingered | Ended::TimedOut => io::ErrorKind::TimedOut,
            Ended::PeerAborted => io::ErrorKind::ConnectionReset,
            Ended::PeerClosed => io::ErrorKind::BrokenPipe,
        };
        Self::new(kind, ended)
    }
}

impl From<CloseError> for io::Error {
    fn from(error: CloseError) -> Self {
        match error {
            CloseError::Ended(ended) => ended.into(),
            CloseError::Lingered => Self::new(io::ErrorKind::TimedOut, error),
        }
    }
}

impl From<ConnectError> for io::Error {
    fn from(error: ConnectError) -> Self {
        let kind = match &error {
            ConnectError::Address(inner) => inner.kind(),
            ConnectError::Refused { why: Refusal::Timeout, .. } => io::ErrorKind::TimedOut,
            ConnectError::Refused { .. } => io::ErrorKind::ConnectionRefused,
            ConnectError::Join(inner) => inner.kind(),
            ConnectError::Streams { .. } => io::ErrorKind::ConnectionRefused,
            ConnectError::Bind(_) | ConnectError::Open(_) | ConnectError::Port => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
