//! Cells that are run elsewhere: by a worker that has this program, and neither the sweep nor its store.
//!
//! Whoever has the sweep makes [`Pending`] of a chunk, sends its [`Task`] to a worker, and makes rows of what comes back. A task is a
//! function of its text: it may be run anywhere, any number of times, and its outcomes are those of running the cells here.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::run::summary;
use super::{Cell, CellError, CellOutcome, Chunk, FinishedCell, Sweep};
use cwnd_run::VERSION;
use cwnd_run::cells::{CellKey, Cells, Key, SOURCES};
use cwnd_run::execute::{Executor, Interrupted, Progress, RunError, Threads};
use cwnd_run::probe::Probe;
use cwnd_run::scenario::{Scenario, ScenarioError};
use cwnd_text::counted_with;

/// A chunk of which the store may have some cells.
#[derive(Clone, Debug)]
pub struct Pending {
    chunk: Chunk,
    found: Vec<FinishedCell>,
    missing: Vec<Cell>,
}

/// Cells to be run, one after the other.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    version: String,
    sources: String,
    base: String,
    points: Vec<Part>,
}

/// Some runs of a point.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Part {
    set: Vec<String>,
    seeds: Vec<u64>,
}

/// A task cannot be run.
#[derive(Debug, Error)]
pub enum TaskError {
    /// The caller ended it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// It was made by a program that would compute something else.
    #[error(
        "cwnd {VERSION} runs here, and cwnd {0} asks, whose simulator differs: install the same build on both sides"
    )]
    Other(String),
    /// Its base with what a point sets is no scenario.
    #[error(transparent)]
    Scenario(#[from] Box<ScenarioError>),
    /// It is no task.
    #[error("not a task of cwnd {VERSION}: {0}")]
    Text(#[from] serde_json::Error),
}

/// The results are not those of the requested cells.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{}, and {}", counted_with(*asked, "cell", ["was requested", "were requested"]), counted_with(*got, "cell", ["was returned", "were returned"]))]
pub struct CountError {
    asked: usize,
    got: usize,
}

impl Pending {
    /// Looks for the cells of `chunk` in the store.
    #[must_use]
    pub fn of(sweep: &Sweep, chunk: Chunk, cells: &Cells) -> Self {
        let mut pending = Self { chunk, found: Vec::new(), missing: Vec::new() };
        let wanted = sweep.cells_of(chunk);
        for runs in wanted.chunk_by(|a, b| a.point == b.point) {
            let scenario = sweep.scenario(&sweep.points()[runs[0].point]);
            for cell in runs {
                let stored = stored_as(&scenario, cell.seed);
                match stored.and_then(|key| cells.find(key)) {
                    Some(kept) => pending.found.push(FinishedCell { cell: *cell, outcome: Ok(kept) }),
                    None => pending.missing.push(*cell),
                }
            }
        }
        pending
    }

    /// Which chunk it is.
    #[must_use]
    pub fn chunk(&self) -> Chunk {
        self.chunk
    }

    /// How many of its cells the store has.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found.len()
    }

    /// How many of its cells are to be run.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.missing.len()
    }

    /// The runs of the chunk.
    #[must_use]
    pub fn task(&self, sweep: &Sweep) -> Task {
        let parts = self.missing.chunk_by(|a, b| a.point == b.point).map(|runs| Part {
            set: sweep.items(&sweep.points()[runs[0].point].values).collect(),
            seeds: runs.iter().map(|cell| cell.seed).collect(),
        });
        let points = parts.collect();
        Task { version: VERSION.to_string(), sources: SOURCES.to_string(), base: sweep.base.clone(), points }
    }

    /// The rows of the chunk, with the outcomes of its task, cell by cell. Numbers are stored; one that cannot be is a failed cell, as
    /// where cells are run here.
    ///
    /// # Errors
    /// There are more outcomes, or fewer, than cells that were requested.
    pub fn finish(
        self,
        sweep: &Sweep,
        outcomes: Vec<CellOutcome>,
        cells: &Cells,
    ) -> Result<Vec<FinishedCell>, CountError> {
        if outcomes.len() != self.missing.len() {
            return Err(CountError { asked: self.missing.len(), got: outcomes.len() });
        }
        let mut rows = self.found;
        let mut outcomes = outcomes.into_iter();
        for runs in self.missing.chunk_by(|a, b| a.point == b.point) {
            let scenario = sweep.scenario(&sweep.points()[runs[0].point]);
            for (cell, outcome) in runs.iter().zip(outcomes.by_ref()) {
                let outcome = outcome.and_then(|kept| {
                    let key = stored_as(&scenario, cell.seed);
                    let stored = key.map_or(Ok(()), |key| cells.keep(key, &kept));
                    stored.map(|()| kept).map_err(|error| RunError::from(error).into())
                });
                rows.push(FinishedCell { cell: *cell, outcome });
            }
        }
        rows.sort_by_key(|row| row.cell.index);
        Ok(rows)
    }
}

impl Task {
    /// Reads a task as it is displayed.
    ///
    /// # Errors
    /// `text` is no JSON of a task, or that of a program whose sources differ in what a run computes.
    pub fn read(text: &str) -> Result<Self, TaskError> {
        let task: Self = serde_json::from_str(text)?;
        if task.sources == SOURCES { Ok(task) } else { Err(TaskError::Other(task.version)) }
    }

    /// Equal tasks have equal keys, and what would compute something else has another.
    #[must_use]
    pub fn key(&self) -> String {
        Key::of_parts(&["task", &self.to_string()]).to_string()
    }

    /// Runs its cells one after the other on the thread that calls: whoever hands out tasks hands them out to threads. Nothing is
    /// stored.
    ///
    /// # Errors
    /// `progress` returned false, or a point of the task is no valid scenario.
    pub fn run(&self, progress: &dyn Progress) -> Result<Vec<CellOutcome>, TaskError> {
        let mut jobs = Vec::new();
        for Part { set, seeds } in &self.points {
            let scenario = Scenario::read("task", &self.base, set).map_err(Box::new)?;
            let scenario = Arc::new(scenario);
            jobs.extend(seeds.iter().map(|seed| summary(&scenario, *seed)));
        }
        let outcomes = Executor::new(&Cells::default(), progress).on(Threads::Calling).run_each(jobs)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.map_err(CellError::Run)).collect())
    }
}

/// The key of a run in the store; none where its document does not decide it all.
fn stored_as(scenario: &Scenario, seed: u64) -> Option<CellKey> {
    scenario.is_its_document().then(|| CellKey::of(scenario, seed, Probe::SUMMARY.name))
}

/// `rows`, in the order of the cells, with what the store has of all other cells of the sweep: those of other shards.
#[must_use]
pub fn with_stored(sweep: &Sweep, rows: &[FinishedCell], cells: &Cells) -> Vec<FinishedCell> {
    let mut all = Vec::with_capacity(rows.len());
    let mut next = 0;
    let missing = |first: u64, end: u64| match first < end {
        true => Pending::of(sweep, Chunk { first, end }, cells).found,
        false => Vec::new(),
    };
    for row in rows {
        all.extend(missing(next, row.cell.index));
        all.push(row.clone());
        next = row.cell.index + 1;
    }
    all.extend(missing(next, sweep.len()));
    all
}

/// Text for [`Task::read`].
impl fmt::Display for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
