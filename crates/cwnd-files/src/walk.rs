//! The files of a sender: those below a directory. Symbolic links are left out, followed or kept according to [`Links`].

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, io, iter};

use cap_std::fs::{Dir, File, Metadata, MetadataExt};
use rustix::io::Errno;

use crate::directory::{Directory, open_without_waiting};
use crate::frame::Modified;
use crate::limits::MAX_NAME;
use crate::link::{self, Links};
use crate::name::Name;
use crate::outcome::Reason;

/// A file or directory to send.
#[derive(Clone, Debug)]
pub struct Source {
    directory: Directory,
    /// Below the directory.
    path: PathBuf,
    /// Its name at the receiver; empty for a directory whose content is sent without the directory itself.
    name: Vec<u8>,
    links: Links,
    /// Links may be followed out of the directory, which is then the root of the file system.
    anywhere: bool,
    /// An open file that is all of the source.
    file: Option<Arc<fs::File>>,
}

/// A file, directory or link that was found.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) path: PathBuf,
    pub(crate) name: Name,
    pub(crate) is_directory: bool,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: Modified,
    /// The target of a link that is kept.
    pub(crate) target: Option<Vec<u8>>,
}

/// A file that cannot be sent.
#[derive(Clone, Debug)]
pub(crate) struct Unavailable {
    pub(crate) name: Vec<u8>,
    pub(crate) reason: Reason,
}

impl Source {
    /// The file or directory at `path`. Its name at the receiver is the last component of `path`; if that is a link, what the link leads to
    /// is sent under the name of the link. Links below it are left out.
    ///
    /// # Errors
    /// `path` does not exist, is the root of the file system, has a name that is not a valid [`Name`], is no file and no directory, or it or the
    /// directory that it is in may not be read.
    pub fn at(path: &Path) -> io::Result<Self> {
        Self::with_links(path, Links::Skip)
    }

    /// The entries of `path`, with symbolic links treated according to `links`. Links that are followed may lead anywhere.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn with_links(path: &Path, links: Links) -> io::Result<Self> {
        let asked = path.file_name();
        let path = path.canonicalize()?;
        let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the root of the file system has no name");
        let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(unnamed)?;
        let called = asked.unwrap_or(name).as_bytes();
        Name::new(called).map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, bad))?;
        // A receiver that waits for it would learn late that it is unavailable.
        let metadata = path.metadata()?;
        if metadata.is_dir() {
            fs::read_dir(&path)?;
        } else if metadata.is_file() {
            fs::File::open(&path)?;
        } else {
            return Err(io::Error::other(Reason::Special));
        }
        let anywhere = links == Links::Follow;
        let root = Path::new("/");
        let (directory, below) =
            if anywhere { (root, path.strip_prefix(root).unwrap_or(&path)) } else { (parent, name.as_ref()) };
        Ok(Self {
            directory: Directory::open(directory)?,
            path: below.to_owned(),
            name: called.to_vec(),
            links,
            anywhere,
            file: None,
        })
    }

    /// An open file under a name of its own, which may be its only one.
    ///
    /// # Errors
    /// The root of the file system may not be read.
    pub fn of_file(file: fs::File, name: &Name) -> io::Result<Self> {
        let (directory, name) = (Directory::open(Path::new("/"))?, name.as_bytes().to_vec());
        let file = Some(Arc::new(file));
        Ok(Self { directory, path: PathBuf::new(), name, links: Links::Skip, anywhere: false, file })
    }

    /// The file or directory that `requested` names below `directory`. Its name at the receiver is the last component of `requested`. All of
    /// `directory` if `requested` is empty.
    pub(crate) fn below(directory: &Directory, requested: &[u8], links: Links) -> Result<Self, Unavailable> {
        let unavailable = |reason| Unavailable { name: requested.to_vec(), reason };
        let directory = directory.clone();
        if requested.is_empty() {
            return Ok(Self { directory, path: ".".into(), name: Vec::new(), links, anywhere: false, file: None });
        }
        let name = Name::new(requested).map_err(|_| unavailable(Reason::Name))?;
        if links != Links::Follow && directory.passes_link(&name) {
            return Err(unavailable(Reason::NamedLink));
        }
        let last = name.split().1.as_bytes().to_vec();
        Ok(Self { directory, path: name.as_path().to_owned(), name: last, links, anywhere: false, file: None })
    }

    /// Its name at the receiver; empty for a directory whose content is sent without the directory itself.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// All files and directories of the source, sorted by name, a directory before its contents.
    pub(crate) fn walk(&self) -> Walk<'_> {
        let first = Pending { path: self.path.clone(), name: self.name.clone(), through: None };
        let file = self.file.as_deref();
        let (directory, links, anywhere) = (self.directory.dir(), self.links, self.anywhere);
        Walk { directory, links, anywhere, file, at_root: true, pending: vec![first] }
    }

    /// Opens a file that was found.
    ///
    /// # Errors
    /// [`Reason::Unreadable`] if it cannot be opened, [`Reason::Changed`] if its size or modification time has changed.
    pub(crate) fn open(&self, item: &Item) -> Result<File, Reason> {
        let file = match &self.file {
            // It shares its position with the other copies: a reader begins with a seek.
            Some(file) => file.try_clone().map(File::from_std),
            None => open_without_waiting(self.directory.dir(), &item.path),
        };
        let file = file.map_err(|_| Reason::Unreadable)?;
        if item.is_still(&file) { Ok(file) } else { Err(Reason::Changed) }
    }
}

impl Item {
    fn new(path: PathBuf, name: Name, metadata: &Metadata) -> Self {
        Self {
            path,
            name,
            is_directory: metadata.is_dir(),
            size: if metadata.is_dir() { 0 } else { metadata.len() },
            mode: metadata.mode() & 0o777,
            modified: modified(metadata),
            target: None,
        }
    }

    /// A link that is sent as one.
    fn of_link(path: PathBuf, name: Name, metadata: &Metadata, target: Vec<u8>) -> Self {
        Self { size: 0, target: Some(target), ..Self::new(path, name, metadata) }
    }

    /// Whether it has bytes to send.
    pub(crate) fn is_file(&self) -> bool {
        !self.is_directory && self.target.is_none()
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
    directory: &'a Dir,
    links: Links,
    anywhere: bool,
    file: Option<&'a fs::File>,
    /// The next entry was named, and not found in a directory.
    at_root: bool,
    /// Listed entries that are not yet visited, the next one last.
    pending: Vec<Pending>,
}

/// A path that was listed.
struct Pending {
    path: PathBuf,
    name: Vec<u8>,
    /// The last link that was followed on the way to it.
    through: Option<Rc<Followed>>,
}

/// Where a link lies that was followed, and the one before it.
struct Followed {
    at: PathBuf,
    before: Option<Rc<Followed>>,
}

impl Walk<'_> {
    /// Lists a directory, whose content is visited next.
    fn descend(&mut self, Pending { path, name, through }: &Pending) -> io::Result<()> {
        let mut names =
            self.directory.read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort_by(|a, b| b.cmp(a));
        let below = |child: &OsStr| {
            let separator: &[u8] = if name.is_empty() { b"" } else { b"/" };
            [name, separator, child.as_bytes()].concat()
        };
        let child = |child| Pending { path: path.join(child), name: below(child), through: through.clone() };
        self.pending.extend(names.iter().map(|name| child(name)));
        Ok(())
    }

    /// The target of the link at `path`. [`Reason::Link`] if it lies outside of the directory, [`Reason::Loop`] if the link leads to itself
    /// or to a directory that is being visited.
    fn follow(&self, Pending { path, name, through }: &Pending) -> Result<(Pending, Metadata), Reason> {
        let to = if self.anywhere {
            Path::new("/").join(path).canonicalize().map(|to| to.strip_prefix("/").map_or(to.clone(), Path::to_owned))
        } else {
            self.directory.canonicalize(path)
        };
        let to = to.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Reason::Missing,
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Reason::Loop,
            _ => Reason::Link,
        })?;
        let through = Followed { at: path.clone(), before: through.clone() };
        let mut followed = iter::successors(Some(&through), |link| link.before.as_deref());
        if followed.any(|link| plain(&link.at).starts_with(plain(&to))) {
            return Err(Reason::Loop);
        }
        let metadata = self.directory.symlink_metadata(&to).map_err(|_| Reason::Unreadable)?;
        Ok((Pending { path: to, name: name.clone(), through: Some(Rc::new(through)) }, metadata))
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Item, Unavailable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut next = self.pending.pop()?;
            let named = std::mem::take(&mut self.at_root);
            let unavailable = |name, reason| Some(Err(Unavailable { name, reason }));
            let found = match self.file {
                Some(file) => file.metadata().map(Metadata::from_just_metadata),
                None => self.directory.symlink_metadata(&next.path),
            };
            let mut metadata = match found {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return unavailable(next.name, Reason::Missing);
                }
                Err(_) => return unavailable(next.name, Reason::Unreadable),
            };
            let mut target = None;
            if metadata.is_symlink() {
                match self.links {
                    Links::Skip if named => return unavailable(next.name, Reason::NamedLink),
                    Links::Skip => return unavailable(next.name, Reason::Link),
                    Links::Keep => target = self.directory.read_link_contents(&next.path).ok(),
                    Links::Follow => match self.follow(&next) {
                        Ok(to) => (next, metadata) = to,
                        Err(Reason::Link) if named => return unavailable(next.name, Reason::Target),
                        Err(reason) => return unavailable(next.name, reason),
                    },
                }
            }
            if metadata.is_dir() && self.descend(&next).is_err() {
                return unavailable(next.name, Reason::Unreadable);
            }
            if !metadata.is_dir() && !metadata.is_file() && target.is_none() {
                return unavailable(next.name, Reason::Special);
            }
            if next.name.is_empty() {
                continue;
            }
            let Ok(name) = Name::new(&next.name) else { return unavailable(next.name, Reason::Name) };
            return Some(match target.map(|target| target.into_os_string().into_vec()) {
                None => Ok(Item::new(next.path, name, &metadata)),
                Some(target) if link::announced(&name, &target).len() > MAX_NAME => {
                    Err(Unavailable { name: next.name, reason: Reason::Name })
                }
                Some(target) => Ok(Item::of_link(next.path, name, &metadata, target)),
            });
        }
    }
}

/// Without `.` at its beginning.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_keeps_the_names_of_the_directories_it_is_in() {
        let place = tempfile::tempdir().unwrap();
        for directory in 0..20 {
            let path = place.path().join(directory.to_string());
            fs::create_dir(&path).unwrap();
            (0..50).for_each(|file| fs::write(path.join(file.to_string()), "").unwrap());
        }
        let source = Source::below(&Directory::open(place.path()).unwrap(), b"", Links::Skip).unwrap();
        let mut walk = source.walk();
        let (mut found, mut most) = (0, 0);
        while walk.next().is_some() {
            found += 1;
            most = most.max(walk.pending.len());
        }
        assert!(found == 20 * 51 && most <= 20 + 50, "{most} names at once, {found} in all");
    }

    #[test]
    fn a_walk_finds_what_is_in_the_directory_in_order_and_nothing_outside() {
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
                Ok(Item { name, is_directory, size, .. }) => {
                    format!("{name} {}", if is_directory { "-".into() } else { size.to_string() })
                }
                Err(Unavailable { name, reason }) => format!("{} {reason:?}", String::from_utf8_lossy(&name)),
            };
            source.walk().map(line).collect()
        };
        let all = [".cwnd-0.part Name", "a 3", "b -", "b/2 3", "b/empty -", "out Link"];
        let directory = Directory::open(&tree).unwrap();
        assert_eq!(found(&Source::below(&directory, b"", Links::Skip).unwrap()), all);
        let mut named: Vec<_> = all.iter().map(|line| format!("tree/{line}")).collect();
        named.insert(0, "tree -".to_owned());
        assert_eq!(found(&Source::at(&tree).unwrap()), named);
        assert_eq!(found(&Source::below(&directory, b"b/2", Links::Skip).unwrap()), ["2 3"]);
        assert_eq!(found(&Source::below(&directory, b"c", Links::Skip).unwrap()), ["c Missing"]);
        // It lies outside.
        assert_eq!(found(&Source::below(&directory, b"out/secret", Links::Follow).unwrap()), ["secret Unreadable"]);
        for links in [Links::Skip, Links::Keep] {
            let behind = Source::below(&directory, b"out/secret", links).unwrap_err();
            assert_eq!(behind.reason, Reason::NamedLink);
        }
        assert_eq!(found(&Source::below(&directory, b"out", Links::Skip).unwrap()), ["out NamedLink"]);
        assert!(Source::below(&directory, b"../secret", Links::Skip).is_err());
    }
}
