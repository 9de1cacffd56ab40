//! Symbolic links: how a sender treats them, and how one is sent and created as a link.
//!
//! A link travels in the frame of an entry, as a file of no bytes, under the name `.cwnd-link/NAME`, a NUL, and its target. A receiver
//! without links rejects that name, since its first component is [reserved](crate::RESERVED), and the transfer goes on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, renameat, symlinkat, unlinkat};

use crate::name::Name;
use crate::outcome::Reason;

/// How symbolic links in a directory are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// A sender leaves them out, and a receiver creates none; each is reported as [`Event::Skipped`](crate::Event::Skipped).
    #[default]
    Skip,
    /// A sender sends their targets, under the name of the link. A receiver creates none.
    Follow,
    /// A sender sends them as links, and a receiver creates those that lead to a place inside its directory.
    Keep,
}

/// The name under which a link is announced.
pub(crate) fn announced(name: &Name, target: &[u8]) -> Vec<u8> {
    [PREFIX, name.as_bytes(), b"\0", target].concat()
}

/// The name and the target of a link that was announced under this name; none if it is no link.
pub(crate) fn parse(announced: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = announced.strip_prefix(PREFIX)?;
    let at = rest.iter().position(|byte| *byte == 0)?;
    Some((&rest[..at], &rest[at + 1..]))
}

/// Creates a link in a directory that exists.
///
/// # Errors
/// [`Reason::Target`] if it may lead out of `root`, [`Reason::Exists`] if another link or file has its name and `overwrite` is not set,
/// [`Reason::NotAFile`] if a directory has, [`Reason::Other`] if it cannot be created.
pub(crate) fn create(root: &Dir, name: &Name, target: &[u8], overwrite: bool) -> Result<(), Reason> {
    let (parent, last) = name.split();
    let depth = parent.components().count();
    let target = Path::new(OsStr::from_bytes(target));
    if !stays_inside(depth, target) {
        return Err(Reason::Target);
    }
    let directory = if depth == 0 { root.try_clone() } else { root.open_dir(parent) }.map_err(|_| Reason::Other)?;
    match directory.symlink_metadata(last) {
        Ok(present) if present.is_dir() => return Err(Reason::NotAFile),
        Ok(present) if present.is_symlink() && directory.read_link_contents(last).is_ok_and(|same| same == target) => {
            return Ok(());
        }
        Ok(_) if !overwrite => return Err(Reason::Exists),
        Ok(_) => {}
        Err(_) => return symlinkat(target, &directory, last).map_err(|_| Reason::Other),
    }
    // The existing link is replaced at once, or not at all.
    let _left_by_an_earlier_one = unlinkat(&directory, TEMPORARY, AtFlags::empty());
    symlinkat(target, &directory, TEMPORARY)
        .and_then(|()| renameat(&directory, TEMPORARY, &directory, last))
        .map_err(|_| Reason::Other)
}

/// Whether a link leads to no place outside the directory that is `depth` directories above it. After a name, `..` is not accepted: the
/// name may be that of another link, and `..` is then the directory above its target.
fn stays_inside(depth: usize, target: &Path) -> bool {
    let up = target.components().take_while(|component| *component == Component::ParentDir).count();
    let mut down = target.components().skip(up);
    let only_names = down.all(|component| matches!(component, Component::Normal(_) | Component::CurDir));
    !target.as_os_str().is_empty() && up <= depth && only_names
}

/// Its first component is none that a file may have.
const PREFIX: &[u8] = b".cwnd-link/";

/// A link before it has its name.
const TEMPORARY: &str = ".cwnd-link";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_stays_inside_is_told_from_others() {
        for (depth, target) in [(0, "a"), (0, "./a/b"), (1, "../a"), (2, "../../a"), (1, ".."), (0, ".")] {
            assert!(stays_inside(depth, Path::new(target)), "{depth} {target}");
        }
        for (depth, target) in [(0, "/"), (9, "/etc"), (0, ".."), (1, "../.."), (0, "a/../.."), (5, "a/.."), (0, "")] {
            assert!(!stays_inside(depth, Path::new(target)), "{depth} {target}");
        }
    }

    #[test]
    fn a_link_is_announced_under_no_name_of_a_file() {
        let name = Name::new(b"a/b").unwrap();
        let bytes = announced(&name, b"../c");
        assert_eq!(parse(&bytes), Some((&b"a/b"[..], &b"../c"[..])));
        assert!(Name::new(&bytes).is_err() && parse(b"a/b").is_none());
    }
}
