//! Unfinished files, so that a process ended by a signal can remove them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file or directory under construction, and the directories above it that were made for it, the outermost first. It is removed when this is
/// dropped, unless it was [`finished`](Self::finish).
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
    above: Vec<PathBuf>,
    finished: bool,
}

impl Unfinished {
    /// Registers `path` before it is made. Directories above it that do not exist yet belong to it.
    pub(super) fn begin(path: PathBuf) -> Self {
        let missing =
            path.ancestors().skip(1).take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists());
        let mut above: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        above.reverse();
        all().push((path.clone(), above.clone()));
        Self { path, above, finished: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// It is in its place: nothing is to be removed.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().retain(|(path, _)| *path != self.path);
        if !self.finished {
            remove(&self.path, &self.above);
        }
    }
}

/// Removes every file and directory that this process has begun and not finished. For a process that is about to end.
pub fn remove_unfinished() {
    for (path, above) in all().drain(..) {
        remove(&path, &above);
    }
}

fn remove(path: &Path, above: &[PathBuf]) {
    // Nothing more can be done where removing fails, and the user needs the reason for it.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    for directory in above.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
}

fn all() -> MutexGuard<'static, Vec<(PathBuf, Vec<PathBuf>)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

static ALL: Mutex<Vec<(PathBuf, Vec<PathBuf>)>> = Mutex::new(Vec::new());
