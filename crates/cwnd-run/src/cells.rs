//! Cells: what is kept of single runs, stored so that no run is done twice.
//!
//! A cell is one run of a scenario with one seed, reduced to named numbers by a [`Probe`]. Its key is a hash of the scenario with
//! its defaults spelt out, the seed, the probe and the sources of everything a run goes through. A stored cell therefore never
//! needs to be invalidated: a program that would compute something else asks for another key. Cells are written beside their
//! place and moved there, so that one is complete or absent, and an interrupted series goes on where it was.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::{fmt, fs, io};

use thiserror::Error;

use crate::files::write_whole;
use crate::probe::{Kept, Probe};
use crate::scenario::{Document, Scenario};

/// Cells on disk, and those of this process. Shared between threads.
#[derive(Debug, Default)]
pub struct Cells {
    folder: Option<PathBuf>,
    here: Mutex<BTreeMap<Key, Slot>>,
}

/// What a cell is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; blake3::OUT_LEN]);

/// A cell cannot be stored.
#[derive(Debug, Error)]
#[error("cannot store a cell in `{path}`: {error}")]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

type Slot = Arc<Mutex<Option<Kept>>>;

impl Cells {
    /// Cells in `folder`, which is made when the first is written.
    #[must_use]
    pub fn stored(folder: &Path) -> Self {
        Self { folder: Some(folder.to_path_buf()), ..Self::default() }
    }

    /// Cells where every command keeps them: in the user's folder for what can be computed again, if there is one.
    #[must_use]
    pub fn of_user() -> Self {
        caches().map_or_else(Self::default, |caches| Self::stored(&caches.join("cwnd/cells")))
    }

    /// The same store with nothing of this process.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { folder: self.folder.clone(), ..Self::default() }
    }

    /// The cell of `key`: from this process, from the store, or computed now. Of several threads that ask for the same cell one
    /// computes it; the others do what else there is to do, and wait. `compute` must therefore not hand work to other threads.
    ///
    /// # Errors
    /// `compute` failed, or the cell cannot be stored.
    pub fn get_or<E: From<StoreError>>(&self, key: Key, compute: impl FnOnce() -> Result<Kept, E>) -> Result<Kept, E> {
        let slot = {
            let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(here.entry(key).or_default())
        };
        let mut kept = lend_a_hand(&slot);
        if let Some(kept) = &*kept {
            return Ok(kept.clone());
        }
        let found = match self.find(key) {
            Some(found) => found,
            None => {
                let computed = compute()?;
                self.keep(key, &computed)?;
                computed
            }
        };
        *kept = Some(found.clone());
        Ok(found)
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

    /// Stores a cell that was computed elsewhere.
    ///
    /// # Errors
    /// It cannot be written.
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
        write_whole(&path, text.as_bytes()).map_err(|error| StoreError { path, error })
    }
}

/// Locks `slot`. While another thread has it, which takes as long as a run, this one takes up other work of the pool.
fn lend_a_hand(slot: &Mutex<Option<Kept>>) -> MutexGuard<'_, Option<Kept>> {
    loop {
        match slot.try_lock() {
            Ok(kept) => return kept,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if rayon::yield_now() == Some(rayon::Yield::Executed) => {}
            Err(TryLockError::WouldBlock) => return slot.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl Key {
    /// The key of a run of `scenario` with `seed`, reduced by `probe`.
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64, probe: &Probe) -> Self {
        // How often a scenario is run, and what it is called, says nothing about one run.
        let run = Document { title: None, seeds: 1, first_seed: seed, ..scenario.document().clone() };
        let scenario = toml::to_string(&run).expect("a document has only tables, text and finite numbers");
        Self::of_parts(&[probe.name, &scenario])
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
    fn a_cell_is_computed_once_and_read_back_exactly() {
        let folder = tempfile::TempDir::new().expect("a directory");
        let key = Key::of_parts(&["a"]);
        let first = Cells::stored(folder.path());
        assert_eq!(first.get_or(key, || Ok::<_, StoreError>(kept(0.1 + 0.2))).expect("stored"), kept(0.1 + 0.2));
        for cells in [first, Cells::stored(folder.path())] {
            let found = cells.get_or::<StoreError>(key, || panic!("it is there")).expect("read");
            assert_eq!(found, kept(0.1 + 0.2));
        }
    }

    #[test]
    fn what_is_not_whole_is_computed_again() {
        let folder = tempfile::TempDir::new().expect("a directory");
        let key = Key::of_parts(&["a"]);
        Cells::stored(folder.path()).get_or(key, || Ok::<_, StoreError>(kept(1.0))).expect("stored");
        let path = key.path(folder.path());
        let text = fs::read_to_string(&path).expect("it was written");
        for damaged in [&text[..text.len() - 5], "", "cwnd cell 0\nend\n", "cwnd cell 1\nplain\tx\nend\n"] {
            fs::write(&path, damaged).expect("writable");
            let cells = Cells::stored(folder.path());
            assert_eq!(cells.get_or(key, || Ok::<_, StoreError>(kept(2.0))).expect("stored"), kept(2.0));
        }
    }

    #[test]
    fn a_failure_stores_nothing() {
        let cells = Cells::default();
        let key = Key::of_parts(&["a"]);
        let fault = || StoreError { path: PathBuf::new(), error: io::ErrorKind::Other.into() };
        assert!(cells.get_or(key, || Err(fault())).is_err());
        assert_eq!(cells.get_or(key, || Ok::<_, StoreError>(kept(3.0))).expect("computed"), kept(3.0));
    }

    #[test]
    fn a_key_has_what_decides_a_run_and_nothing_else() {
        let probe = Probe::SUMMARY;
        let base = Key::of(&scenario(""), 1, &probe);
        assert_eq!(base, Key::of(&scenario("title = \"x\"\nseeds = 9\nfirst_seed = 4"), 1, &probe));
        // A default spelt out is the same scenario.
        assert_eq!(base, Key::of(&scenario("duration = \"60s\""), 1, &probe));
        assert_ne!(base, Key::of(&scenario(""), 2, &probe));
        assert_ne!(base, Key::of(&scenario("duration = \"61s\""), 1, &probe));
        assert_ne!(base, Key::of(&scenario(""), 1, &Probe { name: "other", ..probe }));
        assert_ne!(Key::of_parts(&["ab", "c"]), Key::of_parts(&["a", "bc"]));
    }
}
