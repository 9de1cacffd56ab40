//! Cells: numbers kept of single runs, stored so that no run is done twice.
//!
//! A cell is one run of a scenario with one seed, reduced to named numbers by a [`Probe`](crate::probe::Probe). It is found by a hash of the
//! scenario with its defaults spelt out, the probe, and the sources of everything a run goes through, and by the seed. A stored cell therefore
//! never needs to be invalidated: a program that would compute something else asks for another key. An incomplete cell is not found, and an
//! interrupted series of runs resumes where it stopped.

mod record;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use thiserror::Error;

use crate::probe::Reduction;
use crate::scenario::Scenario;
use store::Store;

/// The store: a directory of cells, or none.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    store: Option<Arc<Store>>,
}

/// What a cell is found by: a series, which is the runs of a scenario of which the same is kept, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellKey {
    series: Key,
    seed: u64,
}

/// A hash of what decides a result, and of the program that computes it.
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
    /// Cells in `directory`, which is made when the first is written.
    #[must_use]
    pub fn stored(directory: &Path) -> Self {
        Self { store: Some(Arc::new(Store::new(directory))) }
    }

    /// Cells where every command keeps them: in the user's cache directory, if there is one.
    #[must_use]
    pub fn of_user() -> Self {
        caches().map_or_else(Self::default, |caches| Self::stored(&caches.join("cwnd/cells")))
    }

    /// Where they are stored; none where they are not.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.store.as_deref().map(Store::directory)
    }

    /// The cell stored under `key`. A cell that cannot be read or is incomplete counts as missing and is computed again, as is one that another
    /// process stores after the first look at the series.
    #[must_use]
    pub fn find(&self, key: CellKey) -> Option<Reduction> {
        self.store.as_ref()?.find(key)
    }

    /// Stores a cell, if there is a directory.
    ///
    /// # Errors
    /// The file of the cell cannot be created or written.
    pub fn keep(&self, key: CellKey, kept: &Reduction) -> Result<(), StoreError> {
        self.store.as_ref().map_or(Ok(()), |store| store.keep(key, kept))
    }
}

impl CellKey {
    /// The key of the numbers kept of a run of `scenario` with `seed`, which `keep` names ([`Probe::name`](crate::probe::Probe::name)).
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64, keep: &str) -> Self {
        Self { series: Key::of_bytes(&[keep.as_bytes(), scenario.hash()]), seed }
    }
}

impl Key {
    /// The key of a result of this program that `parts` determine.
    #[must_use]
    pub fn of_parts(parts: &[&str]) -> Self {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        Self::of_bytes(&parts)
    }

    fn of_bytes(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in std::iter::once(&SOURCES.as_bytes()).chain(parts) {
            // The length in front keeps two parts apart from one.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
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

/// A hash of the sources of everything a run goes through, and of the compiler. In a package from a registry it is one of the package's code and version:
/// the other crates of the simulator have the same version, and the versions of the crates of others do not count.
pub const SOURCES: &str = env!("CWND_SOURCES");

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        Scenario::read("x.toml", &format!("{text}\n[dumbbell]\n[[flow]]\nalgorithm = \"reno\"\n"), &[]).expect("valid")
    }

    #[test]
    fn a_key_has_what_decides_a_run_and_nothing_else() {
        let probe = "summary";
        let base = CellKey::of(&scenario(""), 1, probe);
        assert_eq!(base, CellKey::of(&scenario("title = \"x\"\nseeds = 9\nfirst_seed = 4"), 1, probe));
        // A default spelt out is the same scenario.
        assert_eq!(base, CellKey::of(&scenario("duration = \"60s\""), 1, probe));
        assert_ne!(base, CellKey::of(&scenario(""), 2, probe));
        let series = |text, probe| CellKey::of(&scenario(text), 1, probe).series;
        assert_ne!(base.series, series("duration = \"61s\"", probe));
        assert_ne!(base.series, series("", "other"));
        assert_ne!(Key::of_parts(&["ab", "c"]), Key::of_parts(&["a", "bc"]));
        let again = scenario("").with_seeds(7, 2);
        assert_eq!(base, CellKey::of(&again, 1, probe));
    }
}
