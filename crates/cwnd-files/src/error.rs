//! How a transfer fails.

use std::io;

use thiserror::Error;

use crate::name::{BadName, Name};
use cwnd_text::Printable;

/// Why received bytes are not a valid frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A field has a value outside its range.
    #[error("a {0} out of range")]
    Field(&'static str),
    /// There is no such kind of frame.
    #[error("a message of unknown kind {0}")]
    Kind(u8),
    /// The payload is longer or shorter than this kind may have.
    #[error("a message of kind {kind} and {length} bytes")]
    Length {
        /// The kind byte.
        kind: u8,
        /// The length of the payload according to the header.
        length: u32,
    },
    /// The first bytes of the connection do not belong to this protocol.
    #[error("the other side uses another protocol")]
    Magic,
    /// The name of a file is invalid.
    #[error("{0}")]
    Name(#[from] BadName),
}

/// Why a transfer ended early. The received part of a large file is kept, and the next transfer of it resumes from there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The part of a file that an earlier transfer has left was changed since. From there on it has to be received again.
    #[error("{0}: the received part has been changed")]
    Altered(Name),
    /// The other side serves another client, and one only.
    #[error("{BUSY}")]
    Busy,
    /// The connection was lost, or bytes were changed, after a part of the file had been written to a stream.
    #[error("{0}; part of the file was already written, so a retry is impossible")]
    CutOff(String),
    /// A group does not match the value that was sent with it.
    #[error("{0} arrived damaged")]
    Damaged(Name),
    /// A file could not be written here.
    #[error("{name}: {error}")]
    File {
        /// Its name.
        name: Name,
        /// The error of the file system.
        error: io::Error,
    },
    /// The observer of the events returned `false`.
    #[error("interrupted")]
    Interrupted,
    /// The connection failed, or a file system did.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is a directory, a link, no file or more than one where a single file was to be received.
    #[error("the other side does not send exactly one file")]
    NotOneFile,
    /// Received data cannot be written to a stream.
    #[error("cannot write the file to its stream: {0}")]
    Output(io::Error),
    /// A frame that is not allowed at this point.
    #[error("the other side violates the protocol: {0}")]
    Protocol(&'static str),
    /// A client wanted to send to a server that only serves.
    #[error("this server does not receive files")]
    ReadOnly,
    /// The other side reports an error.
    #[error("the other side: {}", Printable::new(.0))]
    Refused(String),
    /// The other side uses another version of the protocol.
    #[error("the other side uses version {0} of the protocol, this one version 1")]
    Version(u8),
}

/// The reason for [`refuse`](crate::refuse) that a client of this version reads as [`TransferError::Busy`].
pub const BUSY: &str = "busy: another receiver has this transfer";

impl TransferError {
    /// The error that the other side reports in these words.
    pub(crate) fn reported(text: &str) -> Self {
        if text == BUSY { Self::Busy } else { Self::Refused(text.to_owned()) }
    }

    /// Whether the same transfer may succeed over a new connection: this one failed or changed bytes, or bytes on the disk were changed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Io(error) => error.get_ref().is_none_or(|source| !source.is::<Malformed>()),
            Self::Altered(_) | Self::Damaged(_) => true,
            _ => false,
        }
    }
}
