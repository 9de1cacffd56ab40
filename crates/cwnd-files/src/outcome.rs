//! What a transfer reports while it runs and when it ends.

use std::io;

use thiserror::Error;

use crate::frame::Malformed;
use crate::name::Name;
use crate::tree::Hash;

/// Which way files go, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The client has the files.
    Give = 1,
    /// The client wants the files.
    Take = 2,
}

impl Role {
    pub(crate) fn of(byte: u8) -> Option<Self> {
        [Self::Give, Self::Take].into_iter().find(|role| *role as u8 == byte)
    }
}

/// Why a file does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum Reason {
    /// Any cause that has no number.
    #[error("the other side cannot read or write it")]
    Other = 0,
    /// At the taker, and it may not be replaced.
    #[error("there is another file of this name")]
    Exists = 1,
    /// A folder stands where the file should go, or the other way round.
    #[error("something of another kind has its name")]
    NotAFile = 2,
    /// At the taker.
    #[error("there is not enough room for it")]
    Space = 3,
    /// Another transfer writes the same file.
    #[error("another transfer of it is or was under way")]
    Busy = 4,
    /// At the giver.
    #[error("it was changed while it was sent")]
    Changed = 5,
    /// At the giver.
    #[error("it cannot be read")]
    Unreadable = 6,
    /// At the giver.
    #[error("there is none")]
    Missing = 7,
    /// [`BadName`](crate::BadName).
    #[error("its name cannot be used")]
    Name = 8,
    /// A symbolic link, a device, a socket.
    #[error("it is a link, a device or a socket")]
    Special = 9,
    /// What the taker has is not what the giver sent.
    #[error("its hash differs")]
    Differs = 10,
}

impl Reason {
    pub(crate) fn of(byte: u8) -> Self {
        const ALL: [Reason; 11] = [
            Reason::Other,
            Reason::Exists,
            Reason::NotAFile,
            Reason::Space,
            Reason::Busy,
            Reason::Changed,
            Reason::Unreadable,
            Reason::Missing,
            Reason::Name,
            Reason::Special,
            Reason::Differs,
        ];
        ALL.get(usize::from(byte)).copied().unwrap_or(Self::Other)
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// What the giver found at the beginning: ordinary files, and their bytes.
    Total {
        /// Files.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A file begins, or goes on.
    Begun {
        /// Which.
        name: &'a Name,
        /// Its bytes.
        size: u64,
        /// Those that are there already.
        from: u64,
    },
    /// So many bytes of it have passed.
    Moved(u64),
    /// A file is in its place, checked.
    Whole {
        /// Which.
        name: &'a Name,
        /// Its bytes.
        size: u64,
        /// Its BLAKE3 hash.
        hash: Hash,
    },
    /// A file with this name, size and time of change was there before. It has not been read.
    Unchanged {
        /// Which.
        name: &'a Name,
        /// Its bytes.
        size: u64,
    },
    /// A file does not move.
    Failed {
        /// Which, as it was asked for.
        name: &'a str,
        /// Why.
        reason: Reason,
    },
}

/// Takes notice of events; `false` ends the transfer, which can be resumed.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Event<'_>) -> bool;

/// What a transfer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Files that arrived.
    pub whole: u64,
    /// Files that were there before.
    pub unchanged: u64,
    /// Files that did not move.
    pub failed: u64,
    /// Bytes that did, of all files.
    pub bytes: u64,
}

/// Why a transfer ended early. What has arrived of a large file is kept, and used by the next transfer of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The connection broke, or a file system did.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What the other side says makes no sense here.
    #[error("the other side does not keep to the protocol: {0}")]
    Protocol(&'static str),
    /// A client wanted to give.
    #[error("files are not taken here")]
    ReadOnly,
    /// The other side speaks another version.
    #[error("the other side speaks version {0} of the protocol, this one version 1")]
    Version(u8),
    /// The other side does not want to, or cannot go on.
    #[error("the other side: {0}")]
    Refused(String),
    /// Bytes changed on their way; it is safe to go on with a new connection.
    #[error("{0} arrived damaged")]
    Damaged(Name),
    /// A file could not be written here.
    #[error("{name}: {error}")]
    File {
        /// Which.
        name: Name,
        /// Why.
        error: io::Error,
    },
    /// The one who watches wanted it.
    #[error("interrupted")]
    Interrupted,
}

impl TransferError {
    /// Whether another connection may do better: it broke, or changed bytes.
    #[must_use]
    pub fn is_of_the_connection(&self) -> bool {
        match self {
            Self::Io(error) => error.get_ref().is_none_or(|source| !source.is::<Malformed>()),
            Self::Damaged(_) => true,
            _ => false,
        }
    }
}
