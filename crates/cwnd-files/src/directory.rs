//! A directory that files are sent from or received into, and the room that transfers into it have reserved.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::{OFlags, fstatvfs};

use crate::link::Links;
use crate::name::Name;
use crate::outcome::Reason;

/// An open directory: everything below it can be reached through it, and nothing else. Clones share one handle.
#[derive(Clone, Debug)]
pub struct Directory(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    dir: Dir,
    reserved: Reserved,
}

/// The reserved and unused room of transfers into a directory.
#[derive(Debug, Default)]
struct Reserved(Mutex<Need>);

/// Room on a file system.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    bytes: u64,
    /// Files and directories.
    entries: u64,
}

/// Room for a file that is being received. Unused room is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    directory: Directory,
    need: Need,
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// `path` is not a directory, or this process may not read it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority())
            .map(|dir| Self(Arc::new(Opened { dir, reserved: Reserved::default() })))
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    /// Opens an ordinary file below the directory, and its size. With [`Links::Follow`] alone symbolic links are followed, as long as they lead to a
    /// file below.
    ///
    /// # Errors
    /// It does not exist, is a link or lies behind one, leads out of the directory, may not be read, or is not an ordinary file.
    pub fn open_file(&self, name: &Name, links: Links) -> io::Result<(std::fs::File, u64)> {
        let is_link = || self.dir().symlink_metadata(name.as_path()).is_ok_and(|metadata| metadata.is_symlink());
        if links != Links::Follow && (self.passes_link(name) || is_link()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, Reason::NamedLink));
        }
        let file = open_without_waiting(self.dir(), name.as_path())?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, Reason::Special));
        }
        Ok((file.into_std(), metadata.len()))
    }

    /// Reserves room for a new file of `size` bytes, if that much is free in addition to `keep_free` bytes and the reservations of others.
    /// A file counts with its directory entry, so that empty ones count too.
    pub(crate) fn reserve(&self, size: u64, keep_free: u64) -> io::Result<Option<Reservation>> {
        let mut reserved = self.0.reserved.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        Ok(Some(Reservation { directory: self.clone(), need }))
    }

    /// Whether a directory above `name` is a symbolic link. Nothing is received through one, which may have come from the same sender, and nothing is
    /// sent through one that is not to be followed.
    pub(crate) fn passes_link(&self, name: &Name) -> bool {
        let above = name.split().0.ancestors().filter(|path| *path != Path::new(""));
        above.into_iter().any(|path| self.dir().symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()))
    }

    /// Creates a directory and those above it, of which `left` may be new.
    ///
    /// # Errors
    /// [`Reason::Space`] if there is no room for another directory or `left` is used up, [`Reason::NotAFile`] if something else has one of
    /// the names, [`Reason::Other`] if one cannot be created.
    pub(crate) fn create_directories(&self, path: &Path, keep_free: u64, left: &mut u32) -> Result<(), Reason> {
        if path == Path::new("") || self.dir().is_dir(path) {
            return Ok(());
        }
        self.create_directories(path.parent().unwrap_or(Path::new("")), keep_free, left)?;
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
        self.directory.0.reserved.0.lock().unwrap_or_else(PoisonError::into_inner).bytes -= used;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut reserved = self.directory.0.reserved.0.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.bytes -= self.need.bytes;
        reserved.entries -= self.need.entries;
    }
}

/// Opens the file at `path` below `directory`. Opening a FIFO does not wait for its other end.
pub(crate) fn open_without_waiting(directory: &Dir, path: &Path) -> io::Result<File> {
    let options = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).clone();
    directory.open_with(path, &options)
}

/// The block size of most file systems: what the smallest file occupies.
const BLOCK: u64 = 4096;

/// The default of `mkfs.ext4`: this number of bytes kept free comes with one entry.
const BYTES_PER_ENTRY: u64 = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_creates_so_many_directories_and_no_more() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut left = 2;
        let mut create = |path: &str| directory.create_directories(Path::new(path), 0, &mut left);
        assert_eq!(
            [create("a/b"), create("a"), create("c"), create("a/b")],
            [Ok(()), Ok(()), Err(Reason::Space), Ok(())]
        );
        assert!(!place.path().join("c").exists());
    }
}
