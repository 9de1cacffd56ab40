//! The files of a store.
//!
//! The cells of a series are the lines of numbered files. Each file is written by one process alone, which creates it under the first number
//! that is free and appends to it, so that any number of processes, on any number of hosts that share the directory, may store cells of
//! one series. The files of a series are looked at once, when the first of its cells is sought. Only the places of their cells are remembered.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CellKey, Key, StoreError, record};
use crate::probe::Reduction;

pub(super) struct Store {
    directory: PathBuf,
    series: Mutex<BTreeMap<Key, Arc<Mutex<Series>>>>,
    /// The files opened last, the newest at the end.
    open: Mutex<VecDeque<(Key, u32, Arc<File>)>>,
}

/// The known cells of a series.
#[derive(Default)]
struct Series {
    /// Its files were looked at.
    known: bool,
    /// By seed.
    places: BTreeMap<u64, Place>,
    /// The first number of which no file was seen.
    free: u32,
    /// The file that this process appends to, and its length in bytes.
    own: Option<(u32, u64)>,
}

/// Where the line of a cell is.
#[derive(Clone, Copy)]
struct Place {
    file: u32,
    from: u64,
    length: usize,
}

impl Store {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf(), series: Mutex::default(), open: Mutex::default() }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn find(&self, key: CellKey) -> Option<Reduction> {
        let series = self.series(key.series);
        let mut series = lock(&series);
        if !series.known {
            self.look(key.series, &mut series);
        }
        let place = *series.places.get(&key.seed)?;
        let file = self.open(key.series, place.file, series.own).ok()?;
        let mut line = vec![0; place.length];
        // The lock on the series keeps others from moving this file's position.
        (&*file).seek(SeekFrom::Start(place.from)).ok()?;
        (&*file).read_exact(&mut line).ok()?;
        drop(series);
        record::read(&line).filter(|(seed, _)| *seed == key.seed).map(|(_, kept)| kept)
    }

    pub(super) fn keep(&self, key: CellKey, kept: &Reduction) -> Result<(), StoreError> {
        let line = record::write(key.seed, kept);
        let series = self.series(key.series);
        let mut series = lock(&series);
        let place = self.append(key.series, &mut series, &line).map_err(|error| {
            // How much was written is not known. What comes next goes to another file.
            let number = series.own.take().map_or(series.free, |(number, _)| number);
            StoreError { path: self.path(key.series, number), error: Arc::new(error) }
        })?;
        series.places.insert(key.seed, place);
        Ok(())
    }

    fn series(&self, key: Key) -> Arc<Mutex<Series>> {
        Arc::clone(lock(&self.series).entry(key).or_default())
    }

    /// Finds the places of all cells in the files of a series.
    fn look(&self, key: Key, series: &mut Series) {
        for file in 0.. {
            let Ok(text) = fs::read(self.path(key, file)) else {
                series.free = series.free.max(file);
                break;
            };
            let mut lines = text.split_inclusive(|byte| *byte == b'\n');
            if lines.next() != Some(FORMAT.as_bytes()) {
                continue;
            }
            let mut from = FORMAT.len() as u64;
            for line in lines {
                // The last line may be one that is being written, or never was to its end.
                if let Some(seed) = line.strip_suffix(b"\n").and_then(record::seed) {
                    series.places.insert(seed, Place { file, from, length: line.len() - 1 });
                }
                from += line.len() as u64;
            }
        }
        series.known = true;
    }

    fn append(&self, key: Key, series: &mut Series, line: &str) -> io::Result<Place> {
        let own =
            series.own.and_then(|(number, length)| Some((number, length, self.open(key, number, series.own).ok()?)));
        let (number, from) = if let Some((number, length, file)) = own {
            (&*file).write_all(line.as_bytes())?;
            (number, length)
        } else {
            if series.own.take().is_some() {
                // It is gone, and those before it may be. The numbers of files have no gap.
                series.free = 0;
            }
            let (number, file) = self.create(key, series)?;
            // One piece, so that no other process sees a file without a cell.
            (&*file).write_all(format!("{FORMAT}{line}").as_bytes())?;
            self.remember(key, number, file);
            (number, FORMAT.len() as u64)
        };
        series.own = Some((number, from + line.len() as u64));
        Ok(Place { file: number, from, length: line.len() - 1 })
    }

    /// A new file under the first number that is free.
    fn create(&self, key: Key, series: &mut Series) -> io::Result<(u32, Arc<File>)> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        loop {
            let (number, path) = (series.free, self.path(key, series.free));
            let created = match options.open(&path) {
                // The directory nearly always exists: it is made when writing finds none.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(path.parent().unwrap_or(&self.directory))?;
                    options.open(&path)
                }
                created => created,
            };
            match created {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => series.free += 1,
                created => {
                    let file = created?;
                    series.free += 1;
                    return Ok((number, Arc::new(file)));
                }
            }
        }
    }

    /// A file of a series, which stays open for a while.
    fn open(&self, key: Key, number: u32, own: Option<(u32, u64)>) -> io::Result<Arc<File>> {
        let open = lock(&self.open);
        if let Some(at) = open.iter().rposition(|(of, file, _)| (*of, *file) == (key, number)) {
            return Ok(Arc::clone(&open[at].2));
        }
        drop(open);
        let mut options = OpenOptions::new();
        options.read(true).append(own.is_some_and(|(own, _)| own == number));
        let file = Arc::new(options.open(self.path(key, number))?);
        self.remember(key, number, Arc::clone(&file));
        Ok(file)
    }

    fn remember(&self, key: Key, number: u32, file: Arc<File>) {
        let mut open = lock(&self.open);
        if open.len() == OPEN {
            open.pop_front();
        }
        open.push_back((key, number, file));
    }

    /// Directories of at most a few thousand files each.
    fn path(&self, key: Key, number: u32) -> PathBuf {
        let name = key.to_string();
        self.directory.join(&name[..2]).join(format!("{}.{number}", &name[2..]))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store").field("directory", &self.directory).finish_non_exhaustive()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first line of each file.
const FORMAT: &str = "cwnd cells 2\n";
/// How many files stay open: more than a machine has processors that each run a series of their own, and fewer than any system allows.
const OPEN: usize = 64;

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn kept(value: f64) -> Reduction {
        let mut kept = Reduction::default();
        kept.keep("value", vec![value]);
        kept
    }

    fn key(series: &str, seed: u64) -> CellKey {
        CellKey { series: Key::of_parts(&[series]), seed }
    }

    fn directory() -> TempDir {
        TempDir::new().expect("a directory")
    }

    #[test]
    fn a_cell_is_found_by_who_stored_it_and_by_others() {
        let directory = directory();
        let store = Store::new(directory.path());
        assert_eq!(store.find(key("a", 1)), None);
        for (series, seed) in [("a", 1), ("b", 1), ("a", 2), ("a", 1 << 60)] {
            store.keep(key(series, seed), &kept(seed as f64)).expect("stored");
        }
        for store in [store, Store::new(directory.path())] {
            for seed in [1, 2, 1 << 60] {
                assert_eq!(store.find(key("a", seed)), Some(kept(seed as f64)));
            }
            assert_eq!(store.find(key("b", 1)), Some(kept(1.0)));
            assert_eq!((store.find(key("a", 3)), store.find(key("b", 2))), (None, None));
        }
    }

    #[test]
    fn each_writer_has_files_of_its_own() {
        let directory = directory();
        let stores = [(); 3].map(|()| Store::new(directory.path()));
        for (seed, store) in (0..9).zip(stores.iter().cycle()) {
            store.keep(key("a", seed), &kept(seed as f64)).expect("stored");
        }
        let texts =
            (0..3).map(|number| fs::read_to_string(stores[0].path(Key::of_parts(&["a"]), number)).expect("a file"));
        assert_eq!(texts.map(|text| text.lines().count()).collect::<Vec<_>>(), [4, 4, 4]);
        let all = Store::new(directory.path());
        assert!((0..9).all(|seed| all.find(key("a", seed)) == Some(kept(seed as f64))));
        all.keep(key("a", 9), &kept(9.0)).expect("stored");
        assert!(all.path(Key::of_parts(&["a"]), 3).exists());
    }

    #[test]
    fn what_is_not_whole_is_not_found_and_costs_nothing_else() {
        let directory = directory();
        let store = Store::new(directory.path());
        (0..3).for_each(|seed| store.keep(key("a", seed), &kept(seed as f64)).expect("stored"));
        let path = store.path(Key::of_parts(&["a"]), 0);
        let text = fs::read_to_string(&path).expect("a file");
        let found = |damaged: &str| {
            fs::write(&path, damaged).expect("writable");
            let store = Store::new(directory.path());
            let found = [0, 1, 2].map(|seed| store.find(key("a", seed)));
            found.map(|kept| kept.and_then(|kept| kept.one("value")))
        };
        let whole = [Some(0.0), Some(1.0), Some(2.0)];
        assert_eq!(found(&text), whole);
        assert_eq!(found(&text[..text.len() - 1]), [Some(0.0), Some(1.0), None]);
        assert_eq!(found(&text.replace("\t1\tvalue=1.0", "\t1\tvalue=1.5")), [Some(0.0), None, Some(2.0)]);
        assert_eq!(found(&text.replace("\t1\tvalue=1.0", "\0\0\0")), [Some(0.0), None, Some(2.0)]);
        assert_eq!(found(&text.replace(FORMAT, "cwnd cells 1\n")), [None; 3]);
        assert_eq!(found(""), [None; 3]);
    }

    #[test]
    fn files_are_opened_again_where_many_are_used_in_turn() {
        let directory = directory();
        let store = Store::new(directory.path());
        let many: Vec<String> = (0..OPEN + 2).map(|nth| nth.to_string()).collect();
        for seed in 0..3 {
            for series in &many {
                store.keep(key(series, seed), &kept(seed as f64)).expect("stored");
            }
        }
        for store in [&store, &Store::new(directory.path())] {
            let found = |seed| many.iter().all(|series| store.find(key(series, seed)) == Some(kept(seed as f64)));
            assert!((0..3).all(found));
        }
        assert!(many.iter().all(|series| !store.path(Key::of_parts(&[series]), 1).exists()), "one file each");
        // Cells stored after others were read are appended.
        store.keep(key(&many[0], 3), &kept(3.0)).expect("stored");
        assert_eq!(Store::new(directory.path()).find(key(&many[0], 3)), Some(kept(3.0)));
    }

    #[test]
    fn a_store_that_is_removed_meanwhile_is_made_anew() {
        let directory = directory();
        let store = Store::new(directory.path());
        store.keep(key("a", 1), &kept(1.0)).expect("stored");
        lock(&store.open).clear();
        fs::remove_dir_all(directory.path().join(&Key::of_parts(&["a"]).to_string()[..2])).expect("a directory");
        assert_eq!(store.find(key("a", 1)), None);
        store.keep(key("a", 2), &kept(2.0)).expect("stored");
        assert_eq!(store.find(key("a", 2)), Some(kept(2.0)));
        assert_eq!(Store::new(directory.path()).find(key("a", 2)), Some(kept(2.0)));
    }

    #[test]
    fn where_nothing_can_be_written_the_file_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = Store::new(file.path()).keep(key("a", 1), &kept(1.0)).expect_err("a file is no directory");
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
