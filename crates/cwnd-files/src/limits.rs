//! All bounds on the memory, files and time that a peer can take from this end.
//!
//! Not among them is what the content of a transfer needs by its nature: 64 bytes of hashes for each MiB of a file that is received or
//! sent, the names in those directories of the served tree that are being walked, and the disk, of which
//! [`ReceiveOptions::keep_free`](crate::ReceiveOptions::keep_free) is left.

use crate::tree::GROUP;

/// Memory for one peer, bytes: the worst of what receives and what sends, with all names of full length. Tested below.
#[cfg(test)]
const PER_PEER: usize = 40 << 20;

/// The maximum length of a name, bytes: Linux accepts no longer path (`PATH_MAX`).
pub(crate) const MAX_NAME: usize = 4096;

/// The maximum length of a component of a name, bytes (`NAME_MAX`).
pub(crate) const MAX_COMPONENT: usize = 255;

/// Components of a name: deeper than trees of files are, and few enough that one name creates few directories.
pub(crate) const MAX_DEPTH: usize = 64;

/// The maximum length of an error's text, bytes.
pub(crate) const MAX_TEXT: usize = 1024;

/// The maximum payload of any frame, bytes: a group and its value.
pub(crate) const MAX_PAYLOAD: usize = GROUP as usize + 32;

/// Bytes read ahead from a connection, and bytes collected before they are written.
pub(crate) const BUFFER: usize = 1 << 17;

/// Entries to which the receiver replies at once. Two batches of replies and results take 100 KB, which the connection has to hold.
pub(crate) const BATCH: usize = 1024;

/// Accepted files that have not come yet. The next batch is announced before the files of the last one are sent.
pub(crate) const MAX_PENDING: usize = 2 * BATCH;

/// Files sent without a result. A receiver that replies in order has sent the results of all batches but two.
pub(crate) const MAX_SENT: usize = 3 * BATCH;

/// Different names in one request; a directory needs one.
pub(crate) const MAX_NAMES: usize = 10_000;

/// The maximum length of the names in one request, bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1 << 20;

/// Entries that a server counts for a client. The rest of a larger tree is sent without having been counted.
pub(crate) const MAX_COUNTED: usize = 100_000;

/// Directories that one transfer may create. Each occupies a block and an entry of the file system.
pub(crate) const MAX_NEW_FOLDERS: u32 = 100_000;

/// Waits of 0.2 s for files that other transfers have locked, of one transfer in all: 15 s.
pub(crate) const MAX_LOCK_WAITS: u32 = 75;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Incoming;
    use crate::tree::GroupValue;
    use crate::walk::{Item, Source};

    #[test]
    fn the_buffers_of_a_peer_are_bounded_in_bytes() {
        // A vector that grows has at most twice the room it needs.
        let connection = 2 * 2 * BUFFER + 2 * MAX_PAYLOAD;
        // The kept values of a file grow with its groups.
        assert_eq!(2 * size_of::<GroupValue>(), 64);
        let name = MAX_NAME + 64;
        let receiving = connection + MAX_PENDING * (size_of::<Incoming>() + name) + 2 * BATCH * 32;
        let request = 3 * MAX_NAME_BYTES + MAX_NAMES * (size_of::<Source>() + 3 * 32);
        let announced = 2 * BATCH * (size_of::<Item>() + 2 * name);
        let sending = connection + request + announced + 2 * MAX_SENT * 64 + MAX_SENT * name;
        assert!(receiving <= PER_PEER && sending <= PER_PEER, "{receiving} and {sending} of {PER_PEER}");
        assert!(2 * receiving.max(sending) > PER_PEER, "the bound says something");
    }
}
