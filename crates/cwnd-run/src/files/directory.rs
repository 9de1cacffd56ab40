//! A directory of results that appears complete or not at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::unfinished::Unfinished;

/// A directory under construction. It is built next to its final place and moved there by [`publish`](Self::publish); dropped before
/// that, it takes everything it made with it.
#[derive(Debug)]
pub struct Directory {
    target: PathBuf,
    partial: Unfinished,
}

/// A directory of results cannot be made.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// Something is there already; results are never mixed with others.
    #[error("`{0}` exists already: name a new directory")]
    Exists(PathBuf),
    /// It cannot be written.
    #[error("cannot write `{path}`: {error}")]
    Unwritable {
        /// What could not be written.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Directory {
    /// Starts the directory `target`, which must not exist.
    ///
    /// # Errors
    /// Something is at `target` already, or the directory above it does not exist or may not be written.
    pub fn start(target: &Path) -> Result<Self, DirectoryError> {
        if fs::symlink_metadata(target).is_ok() {
            return Err(DirectoryError::Exists(target.to_path_buf()));
        }
        let unwritable = |error| DirectoryError::Unwritable { path: target.to_path_buf(), error };
        let Some(name) = target.file_name() else { return Err(unwritable(io::ErrorKind::InvalidInput.into())) };
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".partial-{}", std::process::id()));
        let directory = Self { target: target.to_path_buf(), partial: Unfinished::begin(parent.join(hidden)) };
        fs::create_dir_all(directory.path()).map_err(unwritable)?;
        Ok(directory)
    }

    /// Where its files are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.partial.path()
    }

    /// Moves it to its place and says where that is.
    ///
    /// # Errors
    /// Something appeared at the target meanwhile, or the directory cannot be renamed to it.
    pub fn publish(self) -> Result<PathBuf, DirectoryError> {
        fs::rename(self.partial.path(), &self.target)
            .map_err(|error| DirectoryError::Unwritable { path: self.target.clone(), error })?;
        self.partial.finish();
        Ok(self.target)
    }
}

/// The first of `stem-1`, `stem-2`, … below `parent` that does not exist.
#[must_use]
pub fn fresh(parent: &Path, stem: &str) -> PathBuf {
    let paths = (1_u32..).map(|number| parent.join(format!("{stem}-{number}")));
    let mut free = paths.filter(|path| fs::symlink_metadata(path).is_err());
    free.next().expect("a file system holds fewer than four billion entries of a name")
}
