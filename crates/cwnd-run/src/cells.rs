//! Cells: what is kept of single runs, stored so that no run is done twice.
//!
//! A cell is one run of a scenario with one seed, reduced to named numbers by a [`Probe`](crate::probe::Probe). Its key is a hash of the scenario with
//! its defaults spelt out, the seed, the probe and the sources of everything a run goes through. A stored cell therefore never
//! needs to be invalidated: a program that would compute something else asks for another key. Cells are written beside their
//! place and moved there, so that one is complete or absent, and an interrupted series resumes where it stopped.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use thiserror::Error;

use crate::files::write_whole;
use crate::probe::Kept;
use crate::scenario::{Document, Scenario};

/// The store: a folder of cells, or none.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    folder: Option<PathBuf>,
}

/// What a cell is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; blake3::OUT_LEN]);

/// A cell cannot be stored.
#[derive(Clone, Debug, Error)]
#[error("cannot store a cell in `{path}`: {error}")]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: Arc<io::Error>,
}

impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.error.kind() == other.error.kind()
    }
}

impl Cells {
    /// Cells in `folder`, which is made when the first is written.
    #[must_use]
    pub fn stored(folder: &Path) -> Self {
        Self { folder: Some(folder.to_path_buf()) }
    }

    /// Cells where every command keeps them: in the user's folder for what can be computed again, if there is one.
    #[must_use]
    pub fn of_user() -> Self {
        caches().map_or_else(Self::default, |caches| Self::stored(&caches.join("cwnd/cells")))
    }

    /// What is stored under `key`. A file that cannot be read, or is not whole, is as good as none: the cell is computed again.
    #[must_use]
    pub fn find(&self, key: Key) -> Option<Kept> {
        let text = fs::read_to_string(key.path(self.folder.as_ref()?)).ok()?;
        let mut lines = text.lines();
        if lines.next() != Some(FORMAT) {
            return None;
        }
        let mut kept = Kept::default();
        for line in lines {
            if line == END {
                return Some(kept);
            }
            let mut parts = line.split('\t');
            let name = parts.next()?;
            kept.keep(name, parts.map(str::parse).collect::<Result<Vec<f64>, _>>().ok()?);
        }
        None
    }

    /// Stores a cell, if there is a folder.
    ///
    /// # Errors
    /// The file of the cell cannot be created, written or renamed.
    pub fn keep(&self, key: Key, kept: &Kept) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = key.path(folder);
        // Shortest digits that read back as the same number.
        let mut text = format!("{FORMAT}\n");
        for (name, values) in kept.iter() {
            text.push_str(name);
            values.iter().for_each(|value| {
                let _ = write!(text, "\t{value:?}");
            });
            text.push('\n');
        }
        text.push_str(END);
        text.push('\n');
        write_whole(&path, text.as_bytes()).map_err(|error| StoreError { path, error: Arc::new(error) })
    }
}

impl Key {
    /// The key of what is kept of a run of `scenario` with `seed`, which `keep` names ([`Probe::name`](crate::probe::Probe::name)).
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64, keep: &str) -> Self {
        // How often a scenario is run, and what it is called, says nothing about one run.
        let run = Document { title: None, seeds: 1, first_seed: seed, ..scenario.document().clone() };
        Self::of_parts(&[keep, &run.to_toml()])
    }

    /// The key of a result of this program that `parts` determine.
    #[must_use]
    pub fn of_parts(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in std::iter::once(&SOURCES).chain(parts) {
            // The length in front keeps two parts apart from one.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Folders of at most a few thousand files each.
    fn path(self, folder: &Path) -> PathBuf {
        let name = self.to_string();
        folder.join(&name[..2]).join(&name[2..])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

fn caches() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(below_home)))
}

/// A hash of the sources of everything a run goes through.
pub const SOURCES: &str = env!("CWND_SOURCES");
/// The first line of a cell.
const FORMAT: &str = "cwnd cell 1";
/// The last one.
const END: &str = "end";

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(value: f64) -> Kept {
        let mut kept = Kept::default();
        kept.keep("plain", vec![value]);
        kept.keep("series", vec![0.1, 1.0 / 3.0, -0.0, f64::INFINITY]);
        kept.keep("nothing", vec![]);
        kept
    }

    fn scenario(text: &str) -> Scenario {
        Scenario::read("x.toml", &format!("{text}\n[dumbbell]\n[[flow]]\nalgorithm = \"reno\"\n"), &[]).expect("valid")
    }

    #[test]
    fn a_cell_is_read_back_exactly() {
        let folder = tempfile::TempDir::new().expect("a directory");
        let key = Key::of_parts(&["a"]);
        let cells = Cells::stored(folder.path());
        assert_eq!(cells.find(key), None);
        cells.keep(key, &kept(0.1 + 0.2)).expect("stored");
        assert_eq!(cells.find(key), Some(kept(0.1 + 0.2)));
        assert_eq!(Cells::default().find(key), None);
    }

    #[test]
    fn what_is_not_whole_is_not_found() {
        let folder = tempfile::TempDir::new().expect("a directory");
        let (key, cells) = (Key::of_parts(&["a"]), Cells::stored(folder.path()));
        cells.keep(key, &kept(1.0)).expect("stored");
        let path = key.path(folder.path());
        let text = fs::read_to_string(&path).expect("it was written");
        for damaged in [&text[..text.len() - 5], "", "cwnd cell 0\nend\n", "cwnd cell 1\nplain\tx\nend\n"] {
            fs::write(&path, damaged).expect("writable");
            assert_eq!(cells.find(key), None);
        }
    }

    #[test]
    fn a_key_has_what_decides_a_run_and_nothing_else() {
        let probe = "summary";
        let base = Key::of(&scenario(""), 1, probe);
        assert_eq!(base, Key::of(&scenario("title = \"x\"\nseeds = 9\nfirst_seed = 4"), 1, probe));
        // A default spelt out is the same scenario.
        assert_eq!(base, Key::of(&scenario("duration = \"60s\""), 1, probe));
        assert_ne!(base, Key::of(&scenario(""), 2, probe));
        assert_ne!(base, Key::of(&scenario("duration = \"61s\""), 1, probe));
        assert_ne!(base, Key::of(&scenario(""), 1, "other"));
        assert_ne!(Key::of_parts(&["ab", "c"]), Key::of_parts(&["a", "bc"]));
    }
}
