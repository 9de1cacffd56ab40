//! The files that a sender has: those below a folder. Symbolic links out of it are not followed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata, MetadataExt};

use crate::folder::{Folder, open_without_waiting};
use crate::frame::Modified;
use crate::name::Name;
use crate::outcome::Reason;

/// A file or folder to send.
#[derive(Clone, Debug)]
pub struct Source {
    folder: Folder,
    /// Below the folder.
    path: PathBuf,
    /// Its name at the receiver; empty for a folder whose content is sent without the folder itself.
    name: Vec<u8>,
}

/// A file or folder that was found.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) path: PathBuf,
    pub(crate) name: Name,
    pub(crate) is_folder: bool,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: Modified,
}

/// A file that cannot be sent.
#[derive(Clone, Debug)]
pub(crate) struct Unavailable {
    pub(crate) name: Vec<u8>,
    pub(crate) reason: Reason,
}

impl Source {
    /// The file or folder at `path`. Its name at the receiver is the last component of `path`; if that is a link, what the link leads to
    /// is sent under the name of the link.
    ///
    /// # Errors
    /// `path` does not exist, is the root of the file system, has a name that is not a valid [`Name`], or its folder may not be read.
    pub fn at(path: &Path) -> io::Result<Self> {
        let asked = path.file_name();
        let path = path.canonicalize()?;
        let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the root of the file system has no name");
        let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(unnamed)?;
        let called = asked.unwrap_or(name).as_bytes();
        Name::new(called).map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, bad))?;
        Ok(Self { folder: Folder::open(parent)?, path: name.into(), name: called.to_vec() })
    }

    /// The file or folder that `requested` names below `folder`. Its name at the receiver is the last component of `requested`. All of
    /// `folder` if `requested` is empty.
    pub(crate) fn below(folder: &Folder, requested: &[u8]) -> Result<Self, Unavailable> {
        let unavailable = |reason| Unavailable { name: requested.to_vec(), reason };
        let folder = folder.clone();
        if requested.is_empty() {
            return Ok(Self { folder, path: ".".into(), name: Vec::new() });
        }
        let name = Name::new(requested).map_err(|_| unavailable(Reason::Name))?;
        let last = name.split().1.as_bytes().to_vec();
        Ok(Self { folder, path: name.as_path().to_owned(), name: last })
    }

    /// Its name at the receiver; empty for a folder whose content is sent without the folder itself.
    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    /// All files and folders of the source, sorted by name, a folder before what is in it.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { folder: self.folder.dir(), pending: vec![(self.path.clone(), self.name.clone())] }
    }

    /// Opens a file that was found.
    ///
    /// # Errors
    /// [`Reason::Unreadable`] if it cannot be opened, [`Reason::Changed`] if its size or modification time has changed.
    pub(crate) fn open(&self, item: &Item) -> Result<File, Reason> {
        let file = open_without_waiting(self.folder.dir(), &item.path).map_err(|_| Reason::Unreadable)?;
        if item.is_still(&file) { Ok(file) } else { Err(Reason::Changed) }
    }
}

impl Item {
    fn new(path: PathBuf, name: Name, metadata: &Metadata) -> Self {
        Self {
            path,
            name,
            is_folder: metadata.is_dir(),
            size: if metadata.is_dir() { 0 } else { metadata.len() },
            mode: metadata.mode() & 0o777,
            modified: modified(metadata),
        }
    }

    /// Whether the open file still has the size and the modification time that were found.
    pub(crate) fn is_still(&self, file: &File) -> bool {
        let same = |metadata: Metadata| {
            metadata.is_file() && metadata.len() == self.size && modified(&metadata) == self.modified
        };
        file.metadata().is_ok_and(same)
    }
}

/// The modification time.
pub(crate) fn modified(metadata: &Metadata) -> Modified {
    Modified { seconds: metadata.mtime(), nanos: metadata.mtime_nsec() as u32 }
}

/// The iterator of [`Source::walk`].
pub(crate) struct Walk<'a> {
    folder: &'a Dir,
    /// Paths and names that were listed and are not yet visited, the next one last.
    pending: Vec<(PathBuf, Vec<u8>)>,
}

impl Walk<'_> {
    /// Lists a folder, whose content is visited next.
    fn descend(&mut self, path: &Path, name: &[u8]) -> io::Result<()> {
        let mut names =
            self.folder.read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort_by(|a, b| b.cmp(a));
        let below = |child: &OsStr| {
            let separator: &[u8] = if name.is_empty() { b"" } else { b"/" };
            [name, separator, child.as_bytes()].concat()
        };
        self.pending.extend(names.iter().map(|child| (path.join(child), below(child))));
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Item, Unavailable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (path, name) = self.pending.pop()?;
            let unavailable = |name, reason| Some(Err(Unavailable { name, reason }));
            let metadata = match self.folder.symlink_metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return unavailable(name, Reason::Missing),
                Err(_) => return unavailable(name, Reason::Unreadable),
            };
            if metadata.is_dir() && self.descend(&path, &name).is_err() {
                return unavailable(name, Reason::Unreadable);
            }
            if !metadata.is_dir() && !metadata.is_file() {
                return unavailable(name, Reason::Special);
            }
            if name.is_empty() {
                continue;
            }
            return match Name::new(&name) {
                Ok(name) => Some(Ok(Item::new(path, name, &metadata))),
                Err(_) => unavailable(name, Reason::Name),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_walk_keeps_the_names_of_the_folders_it_is_in() {
        let place = tempfile::tempdir().unwrap();
        for folder in 0..20 {
            let path = place.path().join(folder.to_string());
            fs::create_dir(&path).unwrap();
            (0..50).for_each(|file| fs::write(path.join(file.to_string()), "").unwrap());
        }
        let source = Source::below(&Folder::open(place.path()).unwrap(), b"").unwrap();
        let mut walk = source.walk();
        let (mut found, mut most) = (0, 0);
        while walk.next().is_some() {
            found += 1;
            most = most.max(walk.pending.len());
        }
        assert!(found == 20 * 51 && most <= 20 + 50, "{most} names at once, {found} in all");
    }

    #[test]
    fn a_walk_finds_what_is_in_the_folder_in_order_and_nothing_outside() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path().join("tree");
        fs::create_dir_all(tree.join("b/empty")).unwrap();
        fs::write(tree.join("b/2"), "two").unwrap();
        fs::write(tree.join("a"), "one").unwrap();
        fs::write(tree.join(".cwnd-0.part"), "unfinished").unwrap();
        fs::write(place.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(place.path(), tree.join("out")).unwrap();

        let found = |source: &Source| -> Vec<String> {
            let line = |found| match found {
                Ok(Item { name, is_folder, size, .. }) => {
                    format!("{name} {}", if is_folder { "-".into() } else { size.to_string() })
                }
                Err(Unavailable { name, reason }) => format!("{} {reason:?}", String::from_utf8_lossy(&name)),
            };
            source.walk().map(line).collect()
        };
        let all = [".cwnd-0.part Name", "a 3", "b -", "b/2 3", "b/empty -", "out Special"];
        let folder = Folder::open(&tree).unwrap();
        assert_eq!(found(&Source::below(&folder, b"").unwrap()), all);
        let mut named: Vec<_> = all.iter().map(|line| format!("tree/{line}")).collect();
        named.insert(0, "tree -".to_owned());
        assert_eq!(found(&Source::at(&tree).unwrap()), named);
        assert_eq!(found(&Source::below(&folder, b"b/2").unwrap()), ["2 3"]);
        assert_eq!(found(&Source::below(&folder, b"c").unwrap()), ["c Missing"]);
        assert_eq!(found(&Source::below(&folder, b"out/secret").unwrap()), ["secret Unreadable"], "it lies outside");
        assert!(Source::below(&folder, b"../secret").is_err());
    }
}
