//! Sweeps: read and checked, run here, or handed out in tasks and gathered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::Span;
use cwnd_lab::sweep::{
    Cell, CellError, CellOutcome, Chunk, Dataset, DatasetError, FinishedCell, Outside, PartFormat, Pending, Shard,
    Stopped, Sweep as LabSweep, Swept as LabSwept, Task, TaskError, arrow, columns, gather, run_chunks, with_stored,
};
use cwnd_report::page::sweep_html;
use cwnd_report::text;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Found, Job, Outcome, Progress, RunError};
use cwnd_run::files::to_json;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Written;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::outside::{AlgorithmErrors, all_written};
use crate::table::Table;
use crate::work::{self, catch_panic};

/// A checked sweep.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Sweep {
    sweep: LabSweep,
    text: Arc<Text>,
}

/// The source of a sweep.
struct Text {
    name: String,
    text: String,
    directory: PathBuf,
    overrides: Vec<String>,
    /// Algorithms in Python, each with its stand-in in the text.
    outside: Vec<(String, Py<PyAny>)>,
}

/// A sweep, or a shard of it, on its way.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Sweeping {
    sweep: LabSweep,
    chunks: Vec<Chunk>,
    cells: Cells,
    /// The exceptions of its algorithms in Python.
    errors: Arc<AlgorithmErrors>,
    dataset: Option<Dataset>,
    counts: Counts,
    /// Chunks that are run elsewhere, by their index.
    pending: Mutex<BTreeMap<usize, Pending>>,
    rows: Mutex<BTreeMap<Chunk, Vec<FinishedCell>>>,
}

/// The results of a sweep.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Swept {
    sweep: LabSweep,
    rows: Vec<FinishedCell>,
    swept: LabSwept,
    /// The results of `rows`, and those that the store has of other shards.
    known: LabSwept,
}

/// The result of a cell in transit: its numbers by name, or an error.
type Travelling = (Vec<(String, Vec<f64>)>, Option<String>);
/// A failed cell: its place, its seed, what the sweep set, and why.
type Failed<'a> = (u64, u64, Vec<(&'a str, &'a str)>, String);

#[pymethods]
impl Sweep {
    /// Reads a TOML document called `name`; files it names are relative to `directory`. It has stand-ins of the algorithms `outside`.
    #[new]
    #[pyo3(signature = (name, text, directory, overrides, outside = Vec::new()))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        directory: PathBuf,
        overrides: Vec<String>,
        outside: Vec<(String, Py<PyAny>)>,
    ) -> Result<Self, Failure> {
        let text = Text { name, text, directory, overrides, outside };
        Ok(Self { sweep: text.read(py, &Arc::default())?, text: Arc::new(text) })
    }

    fn to_toml(&self) -> String {
        self.sweep.to_toml()
    }

    fn id(&self) -> String {
        self.sweep.id()
    }

    fn keys(&self) -> Vec<String> {
        self.sweep.keys().to_vec()
    }

    /// Ranks the points by another measure.
    fn ranked_by(&self, by: &str) -> Result<Self, Failure> {
        let sweep = self.sweep.clone().ranked_by(by.parse().map_err(named("by"))?);
        Ok(Self { sweep, text: Arc::clone(&self.text) })
    }

    /// The numbers of points and cells.
    fn size(&self) -> (usize, u64) {
        (self.sweep.points().len(), self.sweep.len())
    }

    /// How many chunks of some such time it is cut into.
    fn chunks(&self, chunk: &str) -> Result<usize, Failure> {
        Ok(self.sweep.chunks(seconds(chunk)?).len())
    }
}

#[pymethods]
impl Sweeping {
    #[new]
    fn new(
        sweep: &Bound<'_, Sweep>,
        chunk: &str,
        shard: Option<&str>,
        store: Store,
        out: Option<PathBuf>,
        format: Option<&str>,
    ) -> Result<Self, Failure> {
        let (py, sweep) = (sweep.py(), sweep.get());
        let errors = Arc::default();
        let sweep = match sweep.sweep.has_outside() {
            // Exceptions of its algorithms belong to this run.
            true => sweep.text.read(py, &errors)?.ranked_by(sweep.sweep.by()),
            false => sweep.sweep.clone(),
        };
        if sweep.has_outside() && out.is_some() {
            return Err(Failure::Argument(NO_FOLDER.to_string()));
        }
        let seconds = seconds(chunk)?;
        let shard: Option<Shard> = shard.map(|text| text.parse().map_err(named("shard"))).transpose()?;
        let format = format.map_or(Ok(PartFormat::USUAL), |name| name.parse().map_err(named("format")))?;
        let chunks = sweep.chunks(seconds);
        let dataset = out.map(|directory| Dataset::open(&directory, &sweep, seconds, format)).transpose()?;
        Ok(Self {
            chunks: shard.map_or_else(|| chunks.clone(), |shard| shard.of(&chunks)),
            cells: store.cells(),
            sweep,
            errors,
            dataset,
            counts: Counts::default(),
            pending: Mutex::default(),
            rows: Mutex::default(),
        })
    }

    /// The number of chunks.
    fn __len__(&self) -> usize {
        self.chunks.len()
    }

    /// The number of cells.
    fn cells(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Cells computed, found in the store, and failed, so far.
    fn counts(&self) -> (u64, u64, u64) {
        let Counts { computed, stored, failed } = &self.counts;
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(computed), now(stored), now(failed))
    }

    /// Runs all of it here. `status` is called now and then, and may end it by an exception.
    fn run(&self, py: Python<'_>, status: Py<PyAny>, memory: Option<&str>) -> Result<(), Failure> {
        let memory = work::memory(memory)?;
        let job = |should_continue: &AtomicBool| {
            let watch = Watched { counts: &self.counts, should_continue, memory };
            Ok(run_chunks(&self.sweep, &self.chunks, &self.cells, self.dataset.as_ref(), &watch)?)
        };
        let rows = match self.sweep.has_outside() {
            true => self.run_outside(py, &status, memory)?,
            false => work::watched(py, job, |py| status.call0(py).map(drop))?,
        };
        let mut rows = rows.into_iter().peekable();
        let mut kept = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in &self.chunks {
            let own = std::iter::from_fn(|| rows.next_if(|row| (chunk.first..chunk.end).contains(&row.cell.index)));
            kept.insert(*chunk, own.collect());
        }
        Ok(())
    }

    /// The part of a chunk to run elsewhere, with a key that equal tasks have in common. None if the store has all of it: then it is done.
    fn task(&self, py: Python<'_>, index: usize) -> Result<Option<(String, String)>, Failure> {
        let chunk = *self.chunks.get(index).ok_or_else(|| PyIndexError::new_err(index))?;
        py.detach(|| {
            catch_panic(|| {
                let pending = Pending::of(&self.sweep, chunk, &self.cells);
                self.counts.stored.fetch_add(pending.found() as u64, Ordering::Relaxed);
                if pending.missing() == 0 {
                    self.done(pending, Vec::new())?;
                    return Ok(None);
                }
                let task = pending.task(&self.sweep);
                self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(index, pending);
                Ok(Some((task.key(), task.to_string())))
            })
        })
    }

    /// Takes what came of a task, and writes the chunk. A second time changes nothing.
    fn take(&self, py: Python<'_>, index: usize, outcomes: Vec<Travelling>) -> Result<(), Failure> {
        let outcomes = outcomes.into_iter().map(|(numbers, error)| {
            let mut kept = Reduction::default();
            numbers.into_iter().for_each(|(name, values)| kept.keep(name, values));
            error.map_or(Ok(kept), |error| Err(CellError::Elsewhere(error)))
        });
        self.taken(py, index, |_| outcomes.collect())
    }

    /// Takes note that a task cannot be run: all its cells failed.
    fn lose(&self, py: Python<'_>, index: usize, why: &str) -> Result<(), Failure> {
        self.taken(py, index, |missing| vec![Err(CellError::Elsewhere(why.to_string())); missing])
    }

    /// The results.
    fn swept(&self) -> Swept {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<FinishedCell> = rows.values().flatten().cloned().collect();
        let known = gather(&self.sweep, &with_stored(&self.sweep, &rows, &self.cells));
        Swept { swept: gather(&self.sweep, &rows), known, sweep: self.sweep.clone(), rows }
    }
}

impl Text {
    fn read(&self, py: Python<'_>, errors: &Arc<AlgorithmErrors>) -> Result<LabSweep, Failure> {
        let given: Vec<_> = self.outside.iter().map(|(_, given)| given.bind(py).clone()).collect();
        let algorithms = all_written("algorithm", &given, errors)?;
        let stand_ins = self.outside.iter().map(|(stand_in, _)| stand_in.clone());
        let outside = stand_ins.zip(algorithms).map(|(stand_in, algorithm)| Outside { stand_in, algorithm }).collect();
        let Self { name, text, directory, overrides, .. } = self;
        errors.or_result(Ok(LabSweep::read_with(name, text, directory, overrides, outside)?))
    }
}

impl Sweeping {
    /// Runs all cells: on all cores those whose algorithms are built in, then one after the other on the calling thread those with one in
    /// Python. What such an algorithm raises is the error of its cell.
    fn run_outside(
        &self,
        py: Python<'_>,
        status: &Py<PyAny>,
        memory: Option<u64>,
    ) -> Result<Vec<FinishedCell>, Failure> {
        let mut jobs = Vec::new();
        for chunk in &self.chunks {
            for cells in self.sweep.cells_of(*chunk).chunk_by(|a, b| a.point == b.point) {
                let scenario = Arc::new(self.sweep.scenario(&self.sweep.points()[cells[0].point]));
                let job = |seed| Job { scenario: Arc::clone(&scenario), seed, keep: Probe::SUMMARY };
                jobs.extend(cells.iter().map(|cell| (*cell, job(cell.seed))));
            }
        }
        let (outside, inside): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|(_, job)| job.scenario.has_outside());
        let (cells, inside): (Vec<Cell>, Vec<Job<Probe>>) = inside.into_iter().unzip();
        let on_all_cores = |should_continue: &AtomicBool| {
            let watch = Watched { counts: &self.counts, should_continue, memory };
            Ok(Executor::new(&self.cells, &watch).run_each(inside).map_err(RunError::from)?)
        };
        let outcomes = work::watched(py, on_all_cores, |py| status.call0(py).map(drop))?;
        let of_run = |outcome: Outcome<Reduction>| outcome.map_err(CellError::Run);
        let finished = |(cell, outcome)| FinishedCell { cell, outcome: of_run(outcome) };
        let mut rows: Vec<FinishedCell> = cells.into_iter().zip(outcomes).map(finished).collect();
        for (cell, job) in outside {
            let outcome = match work::alone(&self.errors, &self.cells, memory, job)? {
                Ok(outcome) => of_run(outcome),
                Err(raised) => Err(CellError::Elsewhere(raised.told(py))),
            };
            let count = if outcome.is_ok() { &self.counts.computed } else { &self.counts.failed };
            count.fetch_add(1, Ordering::Relaxed);
            rows.push(FinishedCell { cell, outcome });
            status.call0(py)?;
        }
        rows.sort_by_key(|row| row.cell.index);
        Ok(rows)
    }

    fn taken(
        &self,
        py: Python<'_>,
        index: usize,
        outcomes: impl FnOnce(usize) -> Vec<CellOutcome>,
    ) -> Result<(), Failure> {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        let Some(pending) = pending else { return Ok(()) };
        let outcomes = outcomes(pending.missing());
        py.detach(|| catch_panic(|| self.done(pending, outcomes)))
    }

    fn done(&self, pending: Pending, outcomes: Vec<CellOutcome>) -> Result<(), Failure> {
        let (chunk, missing) = (pending.chunk(), pending.missing() as u64);
        let rows = pending.finish(&self.sweep, outcomes, &self.cells);
        let rows = rows.map_err(|error| Failure::Unexpected(error.to_string()))?;
        let failed = rows.iter().filter(|row| row.outcome.is_err()).count() as u64;
        if let Some(dataset) = &self.dataset {
            dataset.write(chunk, &rows)?;
        }
        self.counts.failed.fetch_add(failed, Ordering::Relaxed);
        self.counts.computed.fetch_add(missing - failed, Ordering::Relaxed);
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).insert(chunk, rows);
        Ok(())
    }
}

#[pymethods]
impl Swept {
    /// The document of `cwnd sweep --json`.
    fn to_json(&self) -> String {
        to_json(&self.swept)
    }

    /// The output of `cwnd sweep`; `directory` has its files, if there is one.
    #[pyo3(signature = (directory=None))]
    fn text(&self, directory: Option<PathBuf>) -> String {
        text::sweep(&self.sweep, &self.swept, directory.as_deref())
    }

    /// The report.
    fn html(&self) -> String {
        sweep_html(&self.sweep, &self.known)
    }

    /// A row per cell.
    fn table(&self) -> Result<Table, Failure> {
        Table::of(arrow(&columns(&self.sweep, &self.rows)))
    }

    /// The keys that its points set.
    fn keys(&self) -> Vec<String> {
        self.sweep.keys().to_vec()
    }

    /// Its failed cells.
    fn failed(&self) -> Vec<Failed<'_>> {
        let failed = self.rows.iter().filter_map(|row| {
            let values = &self.sweep.points()[row.cell.point].values;
            let set = self.sweep.keys().iter().zip(values);
            let set = set.filter_map(|(key, value)| Some((key.as_str(), value.as_ref()?.text.as_str())));
            Some((row.cell.index, row.cell.seed, set.collect(), row.outcome.as_ref().err()?.to_string()))
        });
        failed.collect()
    }
}

/// Does a task of a sweep that is elsewhere, on the calling thread.
#[pyfunction]
pub(crate) fn sweep_task(py: Python<'_>, task: &str) -> Result<Vec<Travelling>, Failure> {
    let outcomes = py.detach(|| catch_panic(|| Ok(Task::read(task)?.run(&())?)))?;
    let plain = |kept: &Reduction| kept.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect();
    Ok(outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(kept) => (plain(&kept), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        })
        .collect())
}

/// Where cells are kept: a directory, or where every command keeps them.
#[derive(FromPyObject)]
pub(crate) enum Store {
    Usual(bool),
    Directory(PathBuf),
}

impl Store {
    fn cells(self) -> Cells {
        match self {
            Self::Usual(true) => Cells::of_user(),
            Self::Usual(false) => Cells::default(),
            Self::Directory(directory) => Cells::stored(&directory),
        }
    }
}

#[derive(Default)]
struct Counts {
    computed: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
}

struct Watched<'a> {
    counts: &'a Counts,
    should_continue: &'a AtomicBool,
    memory: Option<u64>,
}

impl Progress for Watched<'_> {
    fn should_continue(&self) -> bool {
        self.should_continue.load(Ordering::Relaxed)
    }

    fn memory(&self) -> Option<u64> {
        self.memory
    }

    fn done(&self, found: Found) {
        let count = match found {
            Found::Computed | Found::Equal => &self.counts.computed,
            Found::Stored => &self.counts.stored,
            Found::Failed => &self.counts.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

const NO_FOLDER: &str = "out: the sweep has an algorithm in Python, and no file shows whether its code has changed: write the `table` and the `report` of the result";

fn seconds(chunk: &str) -> Result<f64, Failure> {
    let chunk: Written<Span> = chunk.parse().map_err(named("chunk"))?;
    Ok(chunk.value().as_secs_f64())
}

fn named<E: std::fmt::Display>(argument: &'static str) -> impl Fn(E) -> Failure {
    move |error| Failure::Argument(format!("{argument}: {error}"))
}

impl From<DatasetError> for Failure {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Sweep(error) => (*error).into(),
            DatasetError::Unwritable { .. } => Self::Directory(error),
            DatasetError::NoSweep(_) | DatasetError::Other(_) => Self::Argument(format!("out: {error}")),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(error: Stopped) -> Self {
        match error {
            Stopped::Dataset(error) => error.into(),
            Stopped::Interrupted(error) => RunError::from(error).into(),
        }
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Interrupted(error) => RunError::from(error).into(),
            TaskError::Scenario(error) => (*error).into(),
            TaskError::Other(_) | TaskError::Text(_) => Self::Argument(error.to_string()),
        }
    }
}
