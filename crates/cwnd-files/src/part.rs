//! A file that is not yet whole.
//!
//! It lies in the folder of the file it becomes, under a name of this crate ([`RESERVED`]), with its journal
//! beside it if it has more than one group. A lock keeps other transfers away.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use cap_std::fs::{Dir, MetadataExt, OpenOptions};
use rustix::fs::{FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use crate::frame::Modified;
use crate::journal::{Identity, Journal};
use crate::name::{Name, RESERVED};
use crate::outcome::{Reason, TransferError};
use crate::receiver::{Taking, Wanted};
use crate::tree::{GROUP, GroupValue, Hash, group_size, group_value, groups, root};

/// A file that is coming.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) wanted: Wanted,
    /// The folder it goes into.
    folder: Dir,
    names: Names,
    file: File,
    journal: Option<Journal>,
    /// Of the groups that are there.
    values: Vec<GroupValue>,
    /// How many of them the journal knows.
    recorded: usize,
}

/// The names of an unfinished file and its journal.
#[derive(Debug)]
struct Names {
    part: String,
    journal: String,
}

impl Names {
    /// They depend on the last component only: the folder is the same.
    fn of(last: &OsStr) -> Self {
        let digest = blake3::hash(last.as_encoded_bytes()).to_hex();
        let stem = format!("{}{}", String::from_utf8_lossy(RESERVED), &digest[..20]);
        Self { part: format!("{stem}.part"), journal: format!("{stem}.journal") }
    }
}

/// How many groups of the file lie here and are proven, if a transfer of it goes on.
pub(crate) fn proven(root: &Dir, wanted: &Wanted) -> u64 {
    let count = || {
        let (parent, last) = wanted.name.split();
        let (folder, names) = (subfolder(root, parent)?, Names::of(last));
        let size = folder.symlink_metadata(&names.part)?.len();
        let mut journal = folder.open(&names.journal)?.into_std();
        let values = crate::journal::proven(&mut journal, &identity(wanted).digest(), groups(wanted.size))?;
        Ok::<_, io::Error>(whole_groups(size, wanted.size).min(values.len() as u64))
    };
    if groups(wanted.size) > 1 { count().unwrap_or(0) } else { 0 }
}

/// Waits for another transfer of the same file, whose groups may be of use; whether it has ended before long. It may have lost its peer
/// just now, and be about to write down what has come.
pub(crate) fn wait_for_others(root: &Dir, name: &Name) -> bool {
    let (parent, last) = name.split();
    let unfinished = subfolder(root, parent).and_then(|folder| folder.open(Names::of(last).part));
    // What is not there is nobody's.
    unfinished.and_then(|file| lock(&file.into_std())).unwrap_or(true)
}

/// Takes away what a transfer left that ended after the file was in its place.
pub(crate) fn forget(root: &Dir, name: &Name) {
    let (parent, last) = name.split();
    if let Ok(folder) = subfolder(root, parent) {
        let names = Names::of(last);
        if folder.symlink_metadata(&names.part).is_err() {
            let _ = folder.remove_file(&names.journal);
        }
    }
}

impl Part {
    /// Opens the unfinished file, which may be new.
    ///
    /// # Errors
    /// The inner one is about this file, the outer one about the file system.
    pub(crate) fn open(root: &Dir, wanted: Wanted) -> io::Result<Result<Self, Reason>> {
        let (parent, last) = wanted.name.split();
        let (folder, names) = (subfolder(root, parent)?, Names::of(last));
        let options = OpenOptions::new().create(true).read(true).write(true).clone();
        let mut file = folder.open_with(&names.part, &options)?.into_std();
        if !lock(&file)? {
            return Ok(Err(Reason::Busy));
        }
        // Another transfer may have finished it between opening and locking: then the name is gone, or another file's.
        let opened = cap_std::fs::Metadata::from_just_metadata(file.metadata()?);
        if !folder.symlink_metadata(&names.part).is_ok_and(|named| named.ino() == opened.ino()) {
            return Ok(Err(Reason::Busy));
        }
        let mut values = Vec::new();
        let mut journal = None;
        if groups(wanted.size) > 1 {
            let there = whole_groups(opened.len(), wanted.size).min(wanted.from);
            let file = folder.open_with(&names.journal, &options)?.into_std();
            let (opened, proven) = Journal::open(file, &identity(&wanted), there)?;
            (journal, values) = (Some(opened), proven);
        }
        if (values.len() as u64) < wanted.from {
            return Ok(Err(Reason::Busy));
        }
        let at = (wanted.from * GROUP).min(wanted.size);
        file.set_len(at)?;
        file.seek(SeekFrom::Start(at))?;
        let recorded = values.len();
        Ok(Ok(Self { wanted, folder, names, file, journal, values, recorded }))
    }

    /// Adds the next group.
    pub(crate) fn add(&mut self, value: &GroupValue, bytes: &[u8]) -> Result<(), TransferError> {
        let (index, all) = (self.values.len() as u64, groups(self.wanted.size));
        if index >= all || bytes.len() != group_size(index, self.wanted.size) {
            return Err(TransferError::Protocol("a group that the file does not have"));
        }
        if group_value(index, all, bytes) != *value {
            return Err(TransferError::Damaged(self.wanted.name.clone()));
        }
        self.file.write_all(bytes).map_err(|error| self.failed(error))?;
        self.values.push(*value);
        if self.values.len() - self.recorded >= GROUPS_PER_SYNC {
            self.suspend().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Brings to the disk what has come, and then to the journal.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        if let Some(journal) = self.journal.as_mut().filter(|_| self.recorded < self.values.len()) {
            self.file.sync_data()?;
            journal.append(&self.values[self.recorded..])?;
            self.recorded = self.values.len();
        }
        Ok(())
    }

    /// Moves the file to its place: its hash, or why it cannot be there.
    pub(crate) fn finish(self, rules: &Taking) -> Result<Result<Hash, Reason>, TransferError> {
        if (self.values.len() as u64) < groups(self.wanted.size) {
            return Err(TransferError::Protocol("a file ends before its last group"));
        }
        let hash = root(&self.values);
        let settled = self.settle(rules).map_err(|error| self.failed(error))?;
        Ok(settled.map(|()| hash))
    }

    fn settle(&self, rules: &Taking) -> io::Result<Result<(), Reason>> {
        let sync = rules.sync || self.journal.is_some();
        self.file.set_permissions(Permissions::from_mode(self.wanted.mode & 0o777))?;
        if let Some(modified) = instant(self.wanted.modified) {
            self.file.set_modified(modified)?;
        }
        if sync {
            self.file.sync_all()?;
        }
        let flags = if rules.overwrite { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        let last = self.wanted.name.split().1;
        match renameat_with(&self.folder, &self.names.part, &self.folder, last, flags) {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                self.discard()?;
                return Ok(Err(Reason::Exists));
            }
            Err(Errno::ISDIR | Errno::NOTEMPTY) => {
                self.discard()?;
                return Ok(Err(Reason::NotAFile));
            }
            Err(error) => return Err(error.into()),
        }
        if self.journal.is_some() {
            self.folder.remove_file(&self.names.journal)?;
        }
        if sync {
            self.folder.open(".")?.sync_all()?;
        }
        Ok(Ok(()))
    }

    /// Takes it away with its journal.
    pub(crate) fn discard(&self) -> io::Result<()> {
        self.folder.remove_file(&self.names.part)?;
        if self.journal.is_some() { self.folder.remove_file(&self.names.journal) } else { Ok(()) }
    }

    fn failed(&self, error: io::Error) -> TransferError {
        TransferError::File { name: self.wanted.name.clone(), error }
    }
}

/// Locks the file, as soon as no other transfer of it is under way; whether that was the case before long. The last one may have
/// lost its peer and not know it yet.
fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..LOCK_TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_WAIT),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// The folder at `path` below `root`; that itself for an empty path.
fn subfolder(root: &Dir, path: &std::path::Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() { root.try_clone() } else { root.open_dir(path) }
}

fn identity(wanted: &Wanted) -> Identity {
    Identity { name: wanted.name.clone(), size: wanted.size, modified: wanted.modified }
}

/// Groups that lie whole in the first `there` bytes of a file of `size` bytes.
fn whole_groups(there: u64, size: u64) -> u64 {
    if there >= size { groups(size) } else { there / GROUP }
}

/// None for times that no file system here knows.
fn instant(modified: Modified) -> Option<std::time::SystemTime> {
    let seconds = Duration::from_secs(modified.seconds.unsigned_abs());
    let whole = if modified.seconds < 0 { UNIX_EPOCH.checked_sub(seconds) } else { UNIX_EPOCH.checked_add(seconds) };
    whole?.checked_add(Duration::from_nanos(u64::from(modified.nanos)))
}

/// Every 32 MiB the disk is waited for: some tens of milliseconds, and what the end of a program can cost.
const GROUPS_PER_SYNC: usize = 32;

/// Fifteen seconds in all: by then a connection whose peer has died is given up.
const LOCK_TRIES: u32 = 75;
const LOCK_WAIT: Duration = Duration::from_millis(200);
