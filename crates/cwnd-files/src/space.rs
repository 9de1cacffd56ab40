//! Free space, reserved by all transfers into a folder together.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::fstatvfs;

use crate::outcome::Reason;
use crate::walk::Folder;

/// What transfers into a folder have reserved and not yet used.
#[derive(Debug, Default)]
pub(crate) struct Reserved(Mutex<Need>);

/// Room on a file system.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    bytes: u64,
    /// Files and folders.
    entries: u64,
}

/// Room for a file that is being received. What is not used is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    folder: Folder,
    need: Need,
}

impl Folder {
    /// Reserves room for a new file of `size` bytes, if so much is free beside `keep_free` bytes and what others have reserved. A file
    /// counts with its directory entry, so that empty ones count too.
    pub(crate) fn reserve(&self, size: u64, keep_free: u64) -> io::Result<Option<Reservation>> {
        let mut reserved = self.reserved().0.lock().unwrap_or_else(PoisonError::into_inner);
        let system = fstatvfs(self.dir())?;
        let need =
            Need { bytes: size.checked_next_multiple_of(BLOCK).unwrap_or(size).saturating_add(BLOCK), entries: 1 };
        let bytes = system.f_bavail.saturating_mul(system.f_frsize);
        // Some file systems have no fixed number of entries, and say 0.
        let entries = if system.f_files == 0 { u64::MAX } else { system.f_favail };
        let keep = Need { bytes: keep_free, entries: keep_free / BYTES_PER_ENTRY };
        let fits = |free: u64, keep: u64, reserved: u64, need: u64| {
            free.checked_sub(keep).and_then(|free| free.checked_sub(reserved)).is_some_and(|free| free >= need)
        };
        if !fits(bytes, keep.bytes, reserved.bytes, need.bytes)
            || !fits(entries, keep.entries, reserved.entries, need.entries)
        {
            return Ok(None);
        }
        reserved.bytes += need.bytes;
        reserved.entries += need.entries;
        Ok(Some(Reservation { folder: self.clone(), need }))
    }

    /// Creates a folder and those above it, of which `left` may be new.
    ///
    /// # Errors
    /// [`Reason::Space`] if there is no room for another folder or `left` is used up, [`Reason::NotAFile`] if something else has one of
    /// the names, [`Reason::Other`] if one cannot be created.
    pub(crate) fn create_folders(&self, path: &Path, keep_free: u64, left: &mut u32) -> Result<(), Reason> {
        if path == Path::new("") || self.dir().is_dir(path) {
            return Ok(());
        }
        self.create_folders(path.parent().unwrap_or(Path::new("")), keep_free, left)?;
        let _room = self.reserve(0, keep_free).map_err(|_| Reason::Other)?.ok_or(Reason::Space)?;
        *left = left.checked_sub(1).ok_or(Reason::Space)?;
        match self.dir().create_dir(path) {
            Ok(()) => Ok(()),
            // Another transfer was faster.
            Err(_) if self.dir().is_dir(path) => Ok(()),
            Err(_) if self.dir().symlink_metadata(path).is_ok() => Err(Reason::NotAFile),
            Err(_) => Err(Reason::Other),
        }
    }
}

impl Reservation {
    /// Releases the room for bytes that were written: the file system counts them now.
    pub(crate) fn used(&mut self, bytes: usize) {
        let used = self.need.bytes.min(bytes as u64);
        self.need.bytes -= used;
        self.folder.reserved().0.lock().unwrap_or_else(PoisonError::into_inner).bytes -= used;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut reserved = self.folder.reserved().0.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.bytes -= self.need.bytes;
        reserved.entries -= self.need.entries;
    }
}

/// The block size of most file systems: what the smallest file occupies.
const BLOCK: u64 = 4096;

/// The default of `mkfs.ext4`: of bytes kept free, so many come with an entry each.
const BYTES_PER_ENTRY: u64 = 16 << 10;
