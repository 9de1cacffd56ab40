//! Running cells: from the store or computed, and no failure of one keeps another from running.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use thiserror::Error;

use super::{Cell, Chunk, Dataset, DatasetError, Sweep};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Interrupted, Job, Progress, Queue, RunError};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

/// A cell with its outcome: what the probe keeps, or the error.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedCell {
    /// The cell.
    pub cell: Cell,
    /// The numbers, or the error.
    pub outcome: CellOutcome,
}

/// The outcome of a cell: what [`Probe::SUMMARY`] keeps, or the error.
pub type CellOutcome = Result<Reduction, CellError>;

/// Why a cell has no numbers.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CellError {
    /// The message of a worker on another machine, or of the scheduler of tasks.
    #[error("{0}")]
    Elsewhere(String),
    /// It failed here.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Why chunks were not all run.
#[derive(Debug, Error)]
pub enum Stopped {
    /// Rows cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// [`Progress::should_continue`] said no.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Runs chunks side by side on all cores, so that no core waits for the last cell of one, and writes the rows of each as it ends. The
/// rows are in the order of the cells, and the same however often a chunk is run.
///
/// # Errors
/// `progress` ended the work, or rows cannot be written. Cells computed by then are in the store.
pub fn run_chunks(
    sweep: &Sweep,
    chunks: &[Chunk],
    cells: &Cells,
    dataset: Option<&Dataset>,
    progress: &dyn Progress,
) -> Result<Vec<FinishedCell>, Stopped> {
    let executor = Executor::new(cells, progress);
    let next = AtomicUsize::new(0);
    // Scenarios are in memory for the chunks that are open only. While one is written, another has cells to run.
    let open = chunks.len().min(2 * executor.width());
    let results: Vec<Result<Vec<_>, Stopped>> = executor.serve(|queue| {
        let ask = || {
            let mut done = Vec::new();
            while let Some((index, chunk)) = take(chunks, &next) {
                let rows = run_chunk(sweep, chunk, queue)?;
                if let Some(dataset) = dataset {
                    dataset.write(chunk, &rows)?;
                }
                done.push((index, rows));
            }
            Ok(done)
        };
        let ask = || ask().inspect_err(|_| queue.close());
        thread::scope(|scope| {
            let askers: Vec<_> = (0..open).map(|_| scope.spawn(ask)).collect();
            askers
                .into_iter()
                .map(|asker| asker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    });
    // Where rows cannot be written, the other chunks are interrupted for it.
    let (done, mut errors): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    errors.sort_by_key(|error| matches!(error, Err(Stopped::Interrupted(_))));
    let mut rows = Vec::new();
    for result in errors.into_iter().chain(done) {
        rows.extend(result?);
    }
    rows.sort_by_key(|(index, _)| *index);
    Ok(rows.into_iter().flat_map(|(_, rows)| rows).collect())
}

fn take(chunks: &[Chunk], next: &AtomicUsize) -> Option<(usize, Chunk)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    chunks.get(index).map(|chunk| (index, *chunk))
}

fn run_chunk(sweep: &Sweep, chunk: Chunk, queue: &Queue<'_, Probe>) -> Result<Vec<FinishedCell>, Interrupted> {
    let cells = sweep.cells_of(chunk);
    let mut jobs = Vec::with_capacity(cells.len());
    for cells in cells.chunk_by(|a, b| a.point == b.point) {
        let scenario = Arc::new(sweep.scenario(&sweep.points()[cells[0].point]));
        jobs.extend(cells.iter().map(|cell| summary(&scenario, cell.seed)));
    }
    let outcomes = queue.submit_each(jobs)?;
    let rows = cells
        .into_iter()
        .zip(outcomes)
        .map(|(cell, outcome)| FinishedCell { cell, outcome: outcome.map_err(CellError::Run) });
    Ok(rows.collect())
}

/// The job of a cell.
pub(super) fn summary(scenario: &Arc<Scenario>, seed: u64) -> Job<Probe> {
    Job { scenario: Arc::clone(scenario), seed, keep: Probe::SUMMARY }
}
