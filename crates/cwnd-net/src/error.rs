//! What can go wrong, an enum per operation.

use std::io;

use cwnd_udt::SettingsError;
use cwnd_udt::endpoint::OpenError;
use cwnd_udt::handshake::Refusal;
use thiserror::Error;

/// Why no port was opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// The system has no random numbers for names and cookies.
    #[error("no random numbers: {0}")]
    Entropy(io::Error),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system refused the socket or its address.
    #[error("no UDP socket: {0}")]
    Socket(io::Error),
    /// The system refused a thread, or what it needs to sleep.
    #[error("no thread for the port: {0}")]
    Thread(io::Error),
}

/// Why there is no connection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name of the peer means nothing, or could not be looked up.
    #[error("no address: {0}")]
    Address(io::Error),
    /// No port was opened to connect from.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The port has no room for another connection, or calls this peer already.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The port was shut meanwhile.
    #[error("the port was shut")]
    Port,
    /// The other side is not there, or said no.
    #[error("{peer}: {why}")]
    Refused {
        /// The address that was called.
        peer: std::net::SocketAddr,
        /// What was wrong.
        why: Refusal,
    },
}

/// Why a listener accepts nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// The thread of the port is gone.
    #[error("the port was shut")]
    Port,
    /// Nobody called in time.
    #[error("no connection within the time to wait")]
    Timeout,
}

/// Why a message was not taken for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// Nothing to send: the protocol has no empty packets.
    #[error("a message of no bytes cannot be sent")]
    Empty,
    /// The connection is over.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// There was no room in time.
    #[error("no room for the message within the time to wait")]
    Timeout,
    /// It does not fit into the send buffer.
    #[error("a message of {bytes} bytes is longer than the send buffer of {buffer} bytes")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// What fits.
        buffer: u64,
    },
}

/// Why no message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The connection is over, and everything that arrived has been read.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// None came in time.
    #[error("no message within the time to wait")]
    Timeout,
}

/// Why a connection was not closed in peace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CloseError {
    /// It had ended before, and what was not acknowledged by then may be lost.
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
    /// This side gave it up.
    #[error("the connection was given up on this side")]
    Aborted,
    /// This side closed it.
    #[error("the connection was closed on this side")]
    Closed,
    /// This side closed it, and not everything was delivered within the time to linger.
    #[error("the peer did not take everything within the time to linger")]
    Lingered,
    /// The peer gave it up, and something sent by one side or the other is lost.
    #[error("the peer gave the connection up")]
    PeerAborted,
    /// The peer closed it, after everything was delivered; or it gave up before more had left it, which UDT does not tell apart.
    #[error("the peer closed the connection")]
    PeerClosed,
    /// The thread of the port is gone.
    #[error("the port was shut")]
    Port,
    /// Nothing was heard of the peer for too long.
    #[error("the peer has fallen silent")]
    Silent,
}

impl From<Ended> for io::Error {
    fn from(ended: Ended) -> Self {
        let kind = match ended {
            Ended::Aborted | Ended::Port => io::ErrorKind::ConnectionAborted,
            Ended::Closed => io::ErrorKind::NotConnected,
            Ended::Lingered | Ended::Silent => io::ErrorKind::TimedOut,
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
            ConnectError::Bind(_) | ConnectError::Open(_) | ConnectError::Port => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
