//! Opens unfinished files and journals in directories where other users may write too.
//!
//! Another user can put anything under the names of this crate before it is used: a FIFO, which blocks whoever opens it; a symbolic or a
//! hard link, through which another file would be overwritten; a file of their own, which they could read and change. None of these
//! is opened as an unfinished file.

use std::fs::File;
use std::io;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Opens the file `name`, directly in `directory`, for reading and writing.
///
/// # Errors
/// It does not exist, cannot be opened, or is not a private file: then [`io::ErrorKind::InvalidInput`].
pub(crate) fn open(directory: &Dir, name: &str) -> io::Result<File> {
    match openat(directory, name, FLAGS, Mode::empty()).map(File::from) {
        Ok(file) if is_private(&file)? => Ok(file),
        Ok(_) | Err(Errno::LOOP | Errno::NXIO | Errno::ISDIR) => Err(io::ErrorKind::InvalidInput.into()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a private file, or creates it if it does not exist. Removes anything in its place that is not a private file.
///
/// # Errors
/// The file can be neither opened nor created, or another one in its place cannot be removed: then [`io::ErrorKind::InvalidInput`].
pub(crate) fn open_or_create(directory: &Dir, name: &str) -> io::Result<File> {
    for _ in 0..TRIES {
        match openat(directory, name, FLAGS | OFlags::CREATE | OFlags::EXCL, PRIVATE) {
            Ok(file) => return Ok(file.into()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        match open(directory, name) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                unlinkat(directory, name, AtFlags::empty()).map_err(|_| io::ErrorKind::InvalidInput)?;
            }
            // It was removed in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// Whether this is an ordinary file of this user without a second name. One without any name was just removed by another transfer.
fn is_private(file: &File) -> io::Result<bool> {
    let stat = fstat(file)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_nlink <= 1
        && stat.st_uid == geteuid().as_raw())
}

/// Readable and writable by the owner only.
pub(crate) const PRIVATE: Mode = Mode::from_bits_retain(0o600);

/// Without `NONBLOCK`, opening a FIFO could wait for its other end.
const FLAGS: OFlags =
    OFlags::RDWR.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Somebody who creates such files over and over makes the file fail, not the transfer wait.
const TRIES: usize = 3;

#[cfg(test)]
mod tests {
    use rustix::fs::{Gid, Uid, fchown};

    use super::*;

    #[test]
    fn a_file_of_another_user_is_not_private() {
        let own = tempfile::tempfile().unwrap();
        // A file without any name was removed by another transfer.
        assert!(is_private(&own).unwrap());
        let foreign = if geteuid().is_root() {
            fchown(&own, Some(Uid::from_raw(65_534)), Some(Gid::from_raw(65_534))).unwrap();
            own
        } else {
            File::open("/etc/passwd").unwrap()
        };
        assert!(!is_private(&foreign).unwrap());
    }
}
