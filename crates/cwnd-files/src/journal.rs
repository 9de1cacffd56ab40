//! The groups of an unfinished file that are on the disk, listed in a file in its directory.
//!
//! A header identifies the file; a record follows for each group that was received and written, in order. The groups are synced
//! before their records are written, so that a journal never lists more than the disk has, also after a crash of the machine. A
//! record torn by a crash ends the journal.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::frame::Modified;
use crate::name::Name;
use crate::tree::{GROUP, GroupValue};

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    identity: [u8; 32],
    records: u64,
}

/// Identifies a version of a file at the sender. If any of this changes there, the received part cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) name: Name,
    pub(crate) size: u64,
    pub(crate) modified: Modified,
}

impl Identity {
    /// The header of its journal.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(MAGIC).update(&GROUP.to_le_bytes()).update(&self.size.to_le_bytes());
        hasher.update(&self.modified.seconds.to_le_bytes()).update(&self.modified.nanos.to_le_bytes());
        *hasher.update(self.name.as_bytes()).finalize().as_bytes()
    }
}

impl Journal {
    /// Opens the journal in `file`, which may be new, torn, or that of another file: the values it has of the first `groups` groups.
    /// Later records are cut off.
    pub(crate) fn open(mut file: File, identity: &Identity, groups: u64) -> io::Result<(Self, Vec<GroupValue>)> {
        let identity = identity.digest();
        let values = proven(&mut file, &identity, groups)?;
        let mut journal = Self { file, identity, records: values.len() as u64 };
        if values.is_empty() {
            journal.file.set_len(0)?;
            journal.file.rewind()?;
            journal.file.write_all(&journal.identity)?;
        } else {
            let length = (HEADER + values.len() * RECORD) as u64;
            journal.file.set_len(length)?;
            journal.file.seek(SeekFrom::Start(length))?;
        }
        Ok((journal, values))
    }

    /// Adds the values of the next groups, which must be on the disk.
    pub(crate) fn append(&mut self, values: &[GroupValue]) -> io::Result<()> {
        let mut records = Vec::with_capacity(values.len() * RECORD);
        for value in values {
            records.extend_from_slice(value);
            records.extend_from_slice(&check(&self.identity, self.records, value));
            self.records += 1;
        }
        self.file.write_all(&records)
    }

    /// Keeps the first records only.
    pub(crate) fn truncate(&mut self, records: u64) -> io::Result<()> {
        let length = HEADER as u64 + records * RECORD as u64;
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length))?;
        self.records = records;
        Ok(())
    }
}

/// The values that the journal in `file` has of the first `groups` groups, if it is the journal of this file.
pub(crate) fn proven(file: &mut File, identity: &[u8; 32], groups: u64) -> io::Result<Vec<GroupValue>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(HEADER as u64 + groups.saturating_mul(RECORD as u64)).read_to_end(&mut bytes)?;
    let Some(records) = bytes.strip_prefix(identity) else { return Ok(Vec::new()) };
    let values = (0..).zip(records.chunks_exact(RECORD)).map_while(|(index, record)| {
        let (value, sum) = record.split_first_chunk()?;
        (check(identity, index, value) == sum).then_some(*value)
    });
    Ok(values.collect())
}

/// Binds a record to its file and its index.
fn check(identity: &[u8; 32], index: u64, value: &GroupValue) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new_keyed(identity);
    let hash = hasher.update(&index.to_le_bytes()).update(value).finalize();
    *hash.as_bytes().first_chunk().unwrap_or(&[0; CHECK])
}

const MAGIC: &[u8] = b"cwnd journal 1";

/// The digest of the identity.
const HEADER: usize = 32;

/// A value and its check.
const RECORD: usize = 32 + CHECK;

/// Detects torn records. It does not authenticate: whoever can write the journal can write the file.
const CHECK: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tree::groups;

    fn identity(size: u64) -> Identity {
        Identity { name: Name::new(b"a/b").unwrap(), size, modified: Modified { seconds: 5, nanos: 6 } }
    }

    fn reopen(file: &File, identity: &Identity) -> Vec<GroupValue> {
        Journal::open(file.try_clone().unwrap(), identity, groups(identity.size)).unwrap().1
    }

    #[test]
    fn a_journal_belongs_to_one_file() {
        let file = tempfile::tempfile().unwrap();
        let ours = identity(9 * GROUP);
        let (mut journal, values) = Journal::open(file.try_clone().unwrap(), &ours, 9).unwrap();
        assert!(values.is_empty());
        journal.append(&[[1; 32], [2; 32]]).unwrap();
        journal.append(&[[3; 32]]).unwrap();
        assert_eq!(reopen(&file, &ours), [[1; 32], [2; 32], [3; 32]]);
        let later = Identity { modified: Modified { seconds: 5, nanos: 7 }, ..ours.clone() };
        assert!(reopen(&file, &later).is_empty());
        assert!(reopen(&file, &ours).is_empty(), "it was overwritten by the other one");
    }

    #[test]
    fn records_beyond_the_end_of_the_file_are_ignored() {
        let file = tempfile::tempfile().unwrap();
        let ours = identity(2 * GROUP);
        let (mut journal, _) = Journal::open(file.try_clone().unwrap(), &ours, 9).unwrap();
        journal.append(&[[1; 32]; 5]).unwrap();
        assert_eq!(reopen(&file, &ours).len(), 2);
    }

    proptest! {
        #[test]
        fn torn_and_overwritten_records_are_ignored(
            records in 0_usize..6,
            cut in 0_usize..300,
            flipped in proptest::option::of(0_usize..300),
        ) {
            let file = tempfile::tempfile().unwrap();
            let ours = identity(9 * GROUP);
            let all: Vec<GroupValue> = (0..records as u8).map(|n| [n; 32]).collect();
            Journal::open(file.try_clone().unwrap(), &ours, 9).unwrap().0.append(&all).unwrap();
            let length = (HEADER + records * RECORD).saturating_sub(cut);
            file.set_len(length as u64).unwrap();
            let mut valid = length.saturating_sub(HEADER) / RECORD;
            if let Some(at) = flipped.filter(|at| *at < length) {
                use std::os::unix::fs::FileExt;
                let mut byte = [0];
                file.read_exact_at(&mut byte, at as u64).unwrap();
                file.write_all_at(&[byte[0] ^ 4], at as u64).unwrap();
                valid = valid.min(at.checked_sub(HEADER).map_or(0, |at| at / RECORD));
            }
            prop_assert_eq!(reopen(&file, &ours), &all[..valid]);
            // New records follow the valid ones.
            let (mut journal, _) = Journal::open(file.try_clone().unwrap(), &ours, 9).unwrap();
            journal.append(&[[9; 32]]).unwrap();
            prop_assert_eq!(reopen(&file, &ours).len(), valid + 1);
        }
    }
}
