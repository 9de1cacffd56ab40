//! What can go wrong, an enum per operation.

use std::io;

use thiserror::Error;

/// Why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Ended {
    /// This side closed it.
    #[error("the connection was closed on this side")]
    Closed,
    /// This side closed it, and what it held was not delivered within the time to linger.
    #[error("the peer did not take everything within the time to linger")]
    Lingered,
    /// The peer closed it.
    #[error("the peer closed the connection")]
    PeerClosed,
    /// Nothing was heard of the peer for too long.
    #[error("the peer has fallen silent")]
    Silent,
    /// The thread of the port is gone.
    #[error("the port was shut")]
    Port,
}

impl From<Ended> for io::Error {
    fn from(ended: Ended) -> Self {
        let kind = match ended {
            Ended::Closed => io::ErrorKind::NotConnected,
            Ended::PeerClosed => io::ErrorKind::BrokenPipe,
            Ended::Lingered | Ended::Silent => io::ErrorKind::TimedOut,
            Ended::Port => io::ErrorKind::ConnectionAborted,
        };
        Self::new(kind, ended)
    }
}
