//! Names that cannot lead out of a directory.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use thiserror::Error;

use crate::limits::{MAX_COMPONENT, MAX_DEPTH, MAX_NAME};
use cwnd_text::Printable;

/// The name of a file or directory relative to where a transfer goes: components of any bytes, `/` between them.
///
/// No component is empty, `.` or `..`, longer than 255 bytes, contains a NUL, or begins as the names of unfinished files do
/// ([`RESERVED`]). That alone keeps names inside a directory without symbolic links; links are handled where files are opened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Vec<u8>);

/// Why bytes are not a [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadName {
    /// A component is empty, `.` or `..`, or contains a NUL.
    #[error("the name is not that of a file below the directory")]
    Component,
    /// The name has more than 64 components.
    #[error("the name is that of a file more than 64 directories deep")]
    Deep,
    /// The name has more than 4096 bytes, or a component of more than 255.
    #[error("the name is too long: at most 4096 bytes, and 255 between two `/`")]
    Long,
    /// A component begins with [`RESERVED`].
    #[error("names that begin with `.cwnd-` are those of unfinished files")]
    Reserved,
}

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// A component or all of it is too long, a component is empty, `.` or `..` or contains a NUL, or one is [`RESERVED`].
    pub fn new(bytes: &[u8]) -> Result<Self, BadName> {
        if bytes.len() > MAX_NAME {
            return Err(BadName::Long);
        }
        if bytes.iter().filter(|byte| **byte == b'/').count() >= MAX_DEPTH {
            return Err(BadName::Deep);
        }
        for component in bytes.split(|byte| *byte == b'/') {
            match component {
                b"" | b"." | b".." => return Err(BadName::Component),
                _ if component.contains(&0) => return Err(BadName::Component),
                _ if component.len() > MAX_COMPONENT => return Err(BadName::Long),
                _ if component.starts_with(RESERVED) => return Err(BadName::Reserved),
                _ => {}
            }
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The name as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as a relative path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The path of its directory, which may be empty, and its last component.
    pub(crate) fn split(&self) -> (&Path, &OsStr) {
        let at = self.0.iter().rposition(|byte| *byte == b'/');
        let (directory, last) = at.map_or((&[][..], &self.0[..]), |at| (&self.0[..at], &self.0[at + 1..]));
        (Path::new(OsStr::from_bytes(directory)), OsStr::from_bytes(last))
    }
}

impl fmt::Display for Name {
    /// Formats the name as [`Printable`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable::new(&self.0).fmt(f)
    }
}

/// The first bytes of the names of unfinished files and their journals.
pub const RESERVED: &[u8] = b".cwnd-";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_lead_out_of_the_directory_are_refused() {
        for bytes in [&b"a"[..], b"a/b", b"...", b"a/..b", b"\xff", b"-rf", b"a b"] {
            assert!(Name::new(bytes).is_ok(), "{bytes:?}");
        }
        let component = [&b""[..], b"/", b"/a", b"a/", b"a//b", b".", b"..", b"a/..", b"../a", b"a/./b", b"a\0b"];
        for bytes in component {
            assert_eq!(Name::new(bytes), Err(BadName::Component), "{bytes:?}");
        }
        assert_eq!(Name::new(&[b'a'; 256]), Err(BadName::Long));
        assert_eq!(Name::new(&b"ab/".repeat(1400)), Err(BadName::Long));
        assert_eq!(Name::new(&[&b"a/".repeat(64)[..], b"a"].concat()), Err(BadName::Deep));
        assert!(Name::new(&[&b"a/".repeat(63)[..], b"a"].concat()).is_ok());
        assert_eq!(Name::new(b"a/.cwnd-1"), Err(BadName::Reserved));
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_directory(bytes in proptest::collection::vec(prop_oneof![Just(b'.'), Just(b'/'), Just(b'a'), any::<u8>()], 0..12)) {
            if let Ok(name) = Name::new(&bytes) {
                let normal = |component| matches!(component, std::path::Component::Normal(_));
                prop_assert!(name.as_path().components().all(normal));
                let (directory, last) = name.split();
                prop_assert_eq!(directory.join(last), name.as_path());
            }
        }
    }
}
