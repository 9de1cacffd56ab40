//! A file that is being received.
//!
//! It is in the directory of the file it becomes, under a name of this crate ([`RESERVED`]), with its journal next to it if it has more
//! than one group. A lock on it excludes other transfers of the same file.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use cap_std::fs::{Dir, MetadataExt};
use rustix::fs::{FlockOperation, RenameFlags, fchmod, flock, fstat, renameat_with};
use rustix::io::Errno;

use crate::directory::Reservation;
use crate::error::TransferError;
use crate::frame::Modified;
use crate::journal::{Identity, Journal};
use crate::limits::MAX_LOCK_WAITS;
use crate::name::{Name, RESERVED};
use crate::options::ReceiveOptions;
use crate::outcome::{Event, Observer, Reason};
use crate::private;
use crate::tree::{GROUP, GroupValue, Hash, group_size, group_value, groups, root};
use crate::verification::Verification;

/// A file that the receiver has accepted.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) name: Name,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: Modified,
    /// The first group that has to come.
    pub(crate) from: u64,
    pub(crate) room: Reservation,
}

/// An open unfinished file.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) incoming: Incoming,
    /// The directory that holds it, and will hold the file.
    directory: Dir,
    names: Names,
    file: File,
    journal: Option<Journal>,
    /// The values of the groups written so far.
    values: Vec<GroupValue>,
    /// The number of them in the journal.
    recorded: usize,
    /// The verification of the groups of earlier transfers, until it has succeeded.
    verification: Option<Verification>,
}

/// The names of an unfinished file and its journal.
#[derive(Debug)]
struct Names {
    part: String,
    journal: String,
}

impl Names {
    /// The names for a file whose name has this last component.
    fn of(last: &OsStr) -> Self {
        let digest = blake3::hash(last.as_encoded_bytes()).to_hex();
        let stem = format!("{}{}", String::from_utf8_lossy(RESERVED), &digest[..20]);
        Self { part: format!("{stem}.part"), journal: format!("{stem}.journal") }
    }
}

/// The number of groups of an earlier transfer of the file that the journal lists.
pub(crate) fn proven(root: &Dir, identity: &Identity) -> u64 {
    let count = || {
        let (parent, last) = identity.name.split();
        let (directory, names) = (subdirectory(root, parent)?, Names::of(last));
        let size = directory.symlink_metadata(&names.part)?.len();
        let mut journal = private::open(&directory, &names.journal)?;
        let values = crate::journal::proven(&mut journal, &identity.digest(), groups(identity.size))?;
        Ok::<_, io::Error>(whole_groups(size, identity.size).min(values.len() as u64))
    };
    if groups(identity.size) > 1 { count().unwrap_or(0) } else { 0 }
}

/// Waits until no other transfer of the same file is under way; whether that is so. The other one may have lost its peer just now, and be
/// about to write its journal.
pub(crate) fn wait_unlocked(root: &Dir, name: &Name, wait: &mut LockWait, observer: Observer<'_>) -> bool {
    let (parent, last) = name.split();
    let unfinished = subdirectory(root, parent).and_then(|directory| private::open(&directory, &Names::of(last).part));
    // A file that does not exist is not locked.
    unfinished.and_then(|file| wait.lock(&file, observer)).unwrap_or(true)
}

/// Removes the journal of a transfer that ended between the renaming of the file and the removal of the journal.
pub(crate) fn remove_stale_journal(root: &Dir, name: &Name) {
    let (parent, last) = name.split();
    if let Ok(directory) = subdirectory(root, parent) {
        let names = Names::of(last);
        if directory.symlink_metadata(&names.part).is_err() {
            let _ = directory.remove_file(&names.journal);
        }
    }
}

impl Part {
    /// Opens or creates the unfinished file.
    ///
    /// # Errors
    /// The outer error is one of the file system. The inner one is [`Reason::Busy`]: another transfer has the lock, has finished the
    /// file, or has changed the journal since `incoming.from` was read from it; or [`Reason::NotAFile`]: something that cannot be
    /// removed has its temporary name.
    pub(crate) fn open(
        root: &Dir,
        incoming: Incoming,
        wait: &mut LockWait,
        observer: Observer<'_>,
    ) -> io::Result<Result<Self, Reason>> {
        let (parent, last) = incoming.name.split();
        let (directory, names) = (subdirectory(root, parent)?, Names::of(last));
        let mut file = loop {
            let file = match private::open_or_create(&directory, &names.part) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Err(Reason::NotAFile)),
                opened => opened?,
            };
            if !wait.lock(&file, observer)? {
                return Ok(Err(Reason::Busy));
            }
            // Otherwise another transfer had received nothing of it, and removed it before it released the lock.
            if fstat(&file)?.st_nlink > 0 {
                break file;
            }
        };
        // Another transfer may have renamed it between opening and locking: then its name is free, or that of another file.
        let opened = cap_std::fs::Metadata::from_just_metadata(file.metadata()?);
        if !directory.symlink_metadata(&names.part).is_ok_and(|named| named.ino() == opened.ino()) {
            return Ok(Err(Reason::Busy));
        }
        fchmod(&file, private::PRIVATE)?;
        let mut values = Vec::new();
        let mut journal = None;
        if groups(incoming.size) > 1 {
            let complete = whole_groups(opened.len(), incoming.size).min(incoming.from);
            let file = match private::open_or_create(&directory, &names.journal) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Err(Reason::NotAFile)),
                opened => opened?,
            };
            let (opened, proven) = Journal::open(file, &identity(&incoming), complete)?;
            (journal, values) = (Some(opened), proven);
        }
        if (values.len() as u64) < incoming.from {
            return Ok(Err(Reason::Busy));
        }
        let at = (incoming.from * GROUP).min(incoming.size);
        file.set_len(at)?;
        file.seek(SeekFrom::Start(at))?;
        let recorded = values.len();
        let verification = match values.is_empty() {
            true => None,
            false => Some(Verification::start(&file, incoming.size, values.clone())?),
        };
        Ok(Ok(Self { incoming, directory, names, file, journal, values, recorded, verification }))
    }

    /// Adds the next group.
    pub(crate) fn add(&mut self, value: &GroupValue, bytes: &[u8]) -> Result<(), TransferError> {
        let (index, all) = (self.values.len() as u64, groups(self.incoming.size));
        if index >= all || bytes.len() != group_size(index, self.incoming.size) {
            return Err(TransferError::Protocol("a group that the file does not have"));
        }
        if group_value(index, all, bytes) != *value {
            return Err(TransferError::Damaged(self.incoming.name.clone()));
        }
        if self.is_verified() {
            self.verify()?;
        }
        write_sparse(&mut self.file, bytes).map_err(|error| self.failed(error))?;
        self.incoming.room.used(bytes.len());
        self.values.push(*value);
        if self.values.len() - self.recorded >= GROUPS_PER_SYNC {
            self.checkpoint().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Whether [`verify`](Self::verify) does not wait.
    pub(crate) fn is_verified(&self) -> bool {
        self.verification.as_ref().is_none_or(Verification::is_finished)
    }

    /// Waits until the groups of earlier transfers are verified.
    ///
    /// # Errors
    /// One of them has been changed, or cannot be read. It and those after it are removed.
    pub(crate) fn verify(&mut self) -> Result<(), TransferError> {
        let Some(verification) = self.verification.take() else { return Ok(()) };
        let resumed = (self.incoming.from as usize).min(self.values.len());
        let intact = verification.result().map_err(|error| self.failed(error))?;
        if intact == resumed {
            return Ok(());
        }
        self.truncate(intact).map_err(|error| self.failed(error))?;
        Err(TransferError::Altered(self.incoming.name.clone()))
    }

    /// Keeps the first groups only.
    fn truncate(&mut self, groups: usize) -> io::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.truncate(groups as u64)?;
        }
        self.values.truncate(groups);
        self.recorded = groups;
        self.file.set_len(groups as u64 * GROUP)
    }

    /// Syncs the groups written so far, then adds them to the journal.
    pub(crate) fn checkpoint(&mut self) -> io::Result<()> {
        if let Some(journal) = self.journal.as_mut().filter(|_| self.recorded < self.values.len()) {
            self.file.sync_data()?;
            journal.append(&self.values[self.recorded..])?;
            self.recorded = self.values.len();
        }
        Ok(())
    }

    /// Keeps what the next transfer of the file can resume from. Where that is nothing, the unfinished file is removed.
    pub(crate) fn keep(&mut self) -> io::Result<()> {
        let kept = self.checkpoint();
        if self.recorded == 0 { self.discard().and(kept) } else { kept }
    }

    /// Renames the complete file to its name: its hash, or why it cannot have that name.
    pub(crate) fn finish(mut self, options: &ReceiveOptions) -> Result<Result<Hash, Reason>, TransferError> {
        self.verify()?;
        if (self.values.len() as u64) < groups(self.incoming.size) {
            return Err(TransferError::Protocol("a file ends before its last group"));
        }
        let hash = root(&self.values);
        let published = self.publish(options).map_err(|error| self.failed(error))?;
        Ok(published.map(|()| hash))
    }

    fn publish(&self, options: &ReceiveOptions) -> io::Result<Result<(), Reason>> {
        let sync = options.sync || self.journal.is_some();
        self.file.set_permissions(Permissions::from_mode(self.incoming.mode & 0o777 & !umask()))?;
        if let Some(modified) = system_time(self.incoming.modified) {
            self.file.set_modified(modified)?;
        }
        if sync {
            self.file.sync_all()?;
        }
        let flags = if options.overwrite { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        let last = self.incoming.name.split().1;
        match renameat_with(&self.directory, &self.names.part, &self.directory, last, flags) {
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
            self.directory.remove_file(&self.names.journal)?;
        }
        if sync {
            self.directory.open(".")?.sync_all()?;
        }
        Ok(Ok(()))
    }

    /// Removes the unfinished file and its journal.
    pub(crate) fn discard(&self) -> io::Result<()> {
        self.directory.remove_file(&self.names.part)?;
        if self.journal.is_some() { self.directory.remove_file(&self.names.journal) } else { Ok(()) }
    }

    fn failed(&self, error: io::Error) -> TransferError {
        TransferError::File { name: self.incoming.name.clone(), error }
    }
}

/// The remaining time that one transfer may wait for the locks of others.
#[derive(Debug)]
pub(crate) struct LockWait {
    tries: u32,
}

impl LockWait {
    /// 15 s. A transfer that has lost its peer and has not noticed yet releases its lock within 10 s.
    pub(crate) fn new() -> Self {
        Self { tries: MAX_LOCK_WAITS }
    }

    /// Locks the file; whether that succeeded within the time that is left, and before `observer` ended the transfer.
    fn lock(&mut self, file: &File, observer: Observer<'_>) -> io::Result<bool> {
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(true),
                Err(Errno::WOULDBLOCK) if self.tries > 0 && observer(Event::Waiting) => {
                    self.tries -= 1;
                    thread::sleep(LOCK_POLL);
                }
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Writes the next bytes at the end of a file, and leaves a hole where they are blocks of zeros.
fn write_sparse(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let length = |run: &[u8], zero: bool| -> usize {
        run.chunks(BLOCK).take_while(|block| is_zero(block) == zero).map(<[u8]>::len).sum()
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        let (data, behind) = rest.split_at(length(rest, false));
        file.write_all(data)?;
        let (hole, behind) = behind.split_at(length(behind, true));
        if !hole.is_empty() {
            let end = file.seek(SeekFrom::Current(hole.len() as i64))?;
            // A hole at the end has no length of its own.
            file.set_len(end)?;
        }
        rest = behind;
    }
    Ok(())
}

fn is_zero(block: &[u8]) -> bool {
    block.iter().all(|byte| *byte == 0)
}

/// Opens the directory at `path` below `root`; `root` itself for an empty path.
fn subdirectory(root: &Dir, path: &std::path::Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() { root.try_clone() } else { root.open_dir(path) }
}

/// The permission bits that new files of this process do not get.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    // Other systems tell the mask only to a process that changes it, which would change the files of other threads too.
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
}

fn identity(incoming: &Incoming) -> Identity {
    Identity { name: incoming.name.clone(), size: incoming.size, modified: incoming.modified }
}

/// Complete groups within the first `length` bytes of a file of `size` bytes.
fn whole_groups(length: u64, size: u64) -> u64 {
    if length >= size { groups(size) } else { length / GROUP }
}

/// None for a time outside the range of the system's clock.
fn system_time(modified: Modified) -> Option<std::time::SystemTime> {
    let seconds = Duration::from_secs(modified.seconds.unsigned_abs());
    let whole = if modified.seconds < 0 { UNIX_EPOCH.checked_sub(seconds) } else { UNIX_EPOCH.checked_add(seconds) };
    whole?.checked_add(Duration::from_nanos(u64::from(modified.nanos)))
}

/// The file is synced every 32 MiB, which takes some tens of milliseconds; so much is lost at most if the process is killed.
const GROUPS_PER_SYNC: usize = 32;

/// The block size of most file systems. Groups begin at a multiple of it.
const BLOCK: usize = 4096;

/// The interval between attempts at a locked file.
const LOCK_POLL: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn blocks_of_zeros_become_holes_and_nothing_else_does() {
        let mut file = tempfile::tempfile().unwrap();
        let mut expected = Vec::new();
        // Groups as they arrive: zeros alone, data in the middle of a block, at its ends, and a short last one.
        for (size, data) in
            [(1 << 20, None), (1 << 20, Some(5000)), (1 << 20, Some(0)), (1 << 20, Some((1 << 20) - 1)), (4097, None)]
        {
            let mut group = vec![0; size];
            data.into_iter().for_each(|at: usize| group[at] = 1);
            write_sparse(&mut file, &group).unwrap();
            expected.extend(group);
            assert_eq!(file.metadata().unwrap().len(), expected.len() as u64, "what is there can be resumed");
        }
        let mut read = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut read).unwrap();
        assert!(read == expected);
        assert!(file.metadata().unwrap().blocks() * 512 <= 4 * BLOCK as u64, "three blocks have data");
    }
}
