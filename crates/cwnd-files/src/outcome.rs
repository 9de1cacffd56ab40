//! Reports of a transfer, while it runs and when it ends.

use thiserror::Error;

use crate::name::Name;
use crate::tree::Hash;

/// Whether the client sends or receives files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The client sends files to the server.
    Send = 1,
    /// The client receives files from the server.
    Receive = 2,
}

impl Role {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Send, Self::Receive].into_iter().find(|role| *role as u8 == byte)
    }
}

/// Why a file was not transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum Reason {
    /// Any cause without its own number.
    #[error("the other side cannot read or write it")]
    Other = 0,
    /// The receiver has another file of this name and may not replace it.
    #[error("there is another file of this name")]
    Exists = 1,
    /// The receiver has a directory where the file should go, or a file where the directory should.
    #[error("something of another kind has its name")]
    NotAFile = 2,
    /// The receiver's file system has too little free space.
    #[error("there is not enough room for it")]
    Space = 3,
    /// Another transfer writes the same file.
    #[error("another transfer of it is or was under way")]
    Busy = 4,
    /// The file changed at the sender while it was read.
    #[error("it was changed while it was sent")]
    Changed = 5,
    /// The sender cannot read the file.
    #[error("it cannot be read")]
    Unreadable = 6,
    /// The sender has no file of this name.
    #[error("there is no such file")]
    Missing = 7,
    /// The name is invalid, see [`BadName`](crate::BadName).
    #[error("its name cannot be used")]
    Name = 8,
    /// A device or a socket; of an older sender also a symbolic link.
    #[error("it is a link, a device or a socket")]
    Special = 9,
    /// The hash of the received file differs from that of the bytes that the sender read.
    #[error("its hash differs")]
    Differs = 10,
    /// A symbolic link that a side leaves out.
    #[error("it is a symbolic link")]
    Link = 11,
    /// A symbolic link to a place that may lie outside the directory of the receiver.
    #[error("it is a symbolic link that leads out of the directory")]
    Target = 12,
    /// The receiver knows no links.
    #[error("the other side is too old to keep symbolic links")]
    NoLinks = 13,
    /// A file that was requested by name is a symbolic link that a side leaves out, or lies behind one.
    #[error("it is a symbolic link, or lies behind one, which is left out: --links of either side says whether")]
    NamedLink = 14,
    /// A symbolic link that is to be followed leads back to itself, or to a directory above it.
    #[error("it is a symbolic link in a loop")]
    Loop = 15,
}

impl Reason {
    pub(crate) fn from_byte(byte: u8) -> Self {
        const ALL: [Reason; 16] = [
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
            Reason::Link,
            Reason::Target,
            Reason::NoLinks,
            Reason::NamedLink,
            Reason::Loop,
        ];
        ALL.get(usize::from(byte)).copied().unwrap_or(Self::Other)
    }
}

/// An event of a transfer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The sender has counted its files and bytes.
    Total {
        /// Ordinary files.
        files: u64,
        /// The sum of their sizes in bytes.
        bytes: u64,
    },
    /// The first bytes of a file are about to be sent or received.
    Started {
        /// Its name.
        name: &'a Name,
        /// Its size in bytes.
        size: u64,
        /// How many of its bytes the receiver has from an earlier transfer.
        from: u64,
    },
    /// This number of further bytes of the current file was sent or received.
    Transferred(u64),
    /// The receiver has the whole file, checked and under its name.
    Completed {
        /// Its name.
        name: &'a Name,
        /// Its size in bytes.
        size: u64,
        /// Its BLAKE3 hash.
        hash: Hash,
    },
    /// The receiver had a file with this name, size and modification time. Its content was not read.
    Unchanged {
        /// Its name.
        name: &'a Name,
        /// Its size in bytes.
        size: u64,
    },
    /// The receiver has a symbolic link as the sender has it.
    Linked {
        /// Its name.
        name: &'a Name,
    },
    /// A symbolic link was left out, which is no failure.
    Skipped {
        /// Its name, fit for a terminal.
        name: &'a str,
        /// Why.
        reason: Reason,
    },
    /// Nothing is transferred at the moment: files are counted, another transfer of the file is waited for, or the rest of a file is
    /// verified. Repeated several times a second, so that the transfer can be ended.
    Waiting,
    /// A file was not transferred.
    Failed {
        /// Its name, fit for a terminal.
        name: &'a str,
        /// Why.
        reason: Reason,
    },
}

impl Outcome {
    /// Counts a file that was not transferred, and makes its event. This end found the cause, or the other one did.
    pub(crate) fn missed<'a>(&mut self, name: &'a str, reason: Reason, found: Found) -> Event<'a> {
        if reason == Reason::Link {
            self.skipped += 1;
            return Event::Skipped { name, reason };
        }
        self.failed += 1;
        if found == Found::Here && matches!(reason, Reason::Other | Reason::Space | Reason::Unreadable) {
            self.failed_here += 1;
        }
        Event::Failed { name, reason }
    }
}

/// Which end found why a file is not transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Here,
    There,
}

/// Called with every event; `false` ends the transfer, which can be resumed.
pub(crate) type Observer<'a> = &'a mut dyn FnMut(Event<'_>) -> bool;

/// The counts at the end of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Files received whole.
    pub completed: u64,
    /// Files the receiver had before.
    pub unchanged: u64,
    /// Symbolic links that the receiver has as links.
    pub linked: u64,
    /// Symbolic links that were left out.
    pub skipped: u64,
    /// Files not transferred.
    pub failed: u64,
    /// The missed ones that cannot be read or written at this end, or for which this end has no room.
    pub failed_here: u64,
    /// File content transferred, bytes.
    pub bytes: u64,
}
