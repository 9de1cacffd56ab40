//! The executor: runs scenarios with seeds on threads, for every command.
//!
//! A [`Job`] is a scenario, a seed, and the reduction of the run. An [`Executor`] runs jobs on all cores, on some threads or on the
//! calling thread. It begins the longest job first, runs equal jobs once, takes stored cells, and turns a panic into an
//! error. Results are in the order of the jobs and do not depend on the number of threads. A [`Progress`] is notified of the progress
//! and decides whether to continue.
//!
//! Where jobs are not all known at the start, [`Executor::serve`] keeps the threads running while others [`ask`](Queue::ask).

mod batch;
mod causes;
mod memory;
mod queue;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use cwnd::Span;
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use thiserror::Error;

use crate::cells::{CellKey, Cells, StoreError};
use crate::measure::{Summary, summarise};
use crate::probe::{Probe, Reduction};
use crate::scenario::Scenario;

pub use causes::{Cause, causes, failed};
pub use memory::{default_memory, machine_memory};
pub use queue::Queue;

/// Is notified of the progress of runs, and can stop them. Called from every thread that runs some.
pub trait Progress: Sync {
    /// Asked before each run and several times within: whether to go on.
    fn should_continue(&self) -> bool;
    /// The memory that all runs together may use for packets and samples, bytes; none for [`default_memory`].
    fn memory(&self) -> Option<u64> {
        None
    }
    /// Announces simulated time that is needed in addition.
    fn announce(&self, _time: Span) {}
    /// Reports simulated time that has passed or was found in the store. It equals the announced time of all jobs that succeed.
    fn advance(&self, _time: Span) {}
    /// A job is done.
    fn done(&self, _found: Found) {}
    /// Everything that was asked for under a name is done, such as a result of a paper.
    fn completed(&self, _what: &str) {}
}

/// Reports nothing, and never stops the work.
impl Progress for () {
    fn should_continue(&self) -> bool {
        true
    }
}

/// Where the result of a job came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It was computed.
    Computed,
    /// It was computed for an equal job.
    Equal,
    /// It was in the store.
    Stored,
    /// The job failed.
    Failed,
}

/// A reduction of runs to the values that are kept.
pub trait Reduce: Copy + Send + Sync {
    /// The kept values.
    type Reduction: Clone + Send;
    /// Identifies this reduction among others of the same run.
    fn name(&self) -> &str;
    /// The number of observations of a run before its end, at equal distances of simulated time.
    fn observations(&self) -> u32 {
        0
    }
    /// Observes the record of a run so far.
    fn observe(&self, _scenario: &Scenario, _recorded: &Trace) {}
    /// Reduces the trace of a run of the scenario.
    fn reduce(&self, scenario: &Scenario, trace: Trace) -> Self::Reduction;
    /// The values stored under `key`.
    fn find(&self, _cells: &Cells, _key: CellKey) -> Option<Self::Reduction> {
        None
    }
    /// Stores it, if it is of the kind that is stored.
    ///
    /// # Errors
    /// The file of the cell cannot be created or written.
    fn store(&self, _cells: &Cells, _key: CellKey, _kept: &Self::Reduction) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Keeps numbers, which are stored as cells.
impl Reduce for Probe {
    type Reduction = Reduction;

    fn name(&self) -> &str {
        self.name
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) -> Reduction {
        let mut kept = (self.of)(scenario, &trace);
        kept.keep_digest(trace.digest);
        kept
    }

    fn find(&self, cells: &Cells, key: CellKey) -> Option<Reduction> {
        cells.find(key)
    }

    fn store(&self, cells: &Cells, key: CellKey, kept: &Reduction) -> Result<(), StoreError> {
        cells.keep(key, kept)
    }
}

/// Keeps the whole trace with its measures. Nothing is stored.
#[derive(Clone, Copy, Debug)]
pub struct WholeTrace;

impl Reduce for WholeTrace {
    type Reduction = (Trace, Summary);

    fn name(&self) -> &str {
        "whole trace"
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) -> (Trace, Summary) {
        let summary = summarise(&trace, scenario.bottleneck());
        (trace, summary)
    }
}

/// A run to do.
#[derive(Clone, Debug)]
pub struct Job<K> {
    /// The setup to run.
    pub scenario: Arc<Scenario>,
    /// With which seed.
    pub seed: u64,
    /// The reduction of its trace.
    pub keep: K,
}

/// The outcome of a job.
pub type Outcome<T> = Result<T, RunError>;

/// Why a job has no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// The work was ended.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The simulator, or what reduces a trace, met a defect.
    #[error("the simulation panicked: {0}")]
    Panicked(String),
    /// The simulator refuses the setup.
    #[error(transparent)]
    Setup(SetupError),
    /// The kept values cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// [`Progress::should_continue`] said no, or an error elsewhere ended the work.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("interrupted")]
pub struct Interrupted;

/// Which threads run jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks, one job after the other: for algorithms from outside that would only wait for each other.
    Calling,
    /// This number of the executor's own threads.
    Own(NonZeroUsize),
}

/// The settings of the executor.
#[derive(Clone, Copy)]
pub struct Executor<'a> {
    cells: &'a Cells,
    progress: &'a dyn Progress,
    threads: Threads,
    remembers: bool,
    /// What each job may use, bytes; none for an equal share for each thread.
    each: Option<u64>,
}

impl<'a> Executor<'a> {
    /// Runs jobs on all cores, with the store `cells`.
    #[must_use]
    pub fn new(cells: &'a Cells, progress: &'a dyn Progress) -> Self {
        let threads = Threads::Own(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        Self { cells, progress, threads, remembers: false, each: None }
    }

    /// Runs on other threads.
    #[must_use]
    pub fn on(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// Also keeps results in memory, for queues in which equal jobs are submitted one after the other.
    #[must_use]
    pub fn remembering(self) -> Self {
        Self { remembers: true, ..self }
    }

    /// Allows each job `bytes` of memory, on fewer threads where the memory of all jobs does not suffice: what fails depends neither on the
    /// number of threads nor on the machine. One that may use less than `bytes` in all allows a single job that.
    #[must_use]
    pub fn with_memory_of_each(self, bytes: u64) -> Self {
        let most = usize::try_from(self.memory() / bytes.max(1)).unwrap_or(usize::MAX);
        let threads = match self.threads {
            Threads::Own(count) => Threads::Own(count.min(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN))),
            Threads::Calling => Threads::Calling,
        };
        Self { each: Some(bytes), ..self.on(threads) }
    }

    /// Whether the work goes on.
    #[must_use]
    pub fn should_continue(&self) -> bool {
        self.progress.should_continue()
    }

    /// What all jobs together may use, bytes.
    fn memory(&self) -> u64 {
        self.progress.memory().unwrap_or_else(default_memory)
    }

    /// The number of jobs at a time.
    #[must_use]
    pub fn width(&self) -> usize {
        match self.threads {
            Threads::Calling => 1,
            Threads::Own(count) => count.get(),
        }
    }

    /// Runs jobs, and returns the kept values of each in their order. The first error ends the work.
    ///
    /// # Errors
    /// A job failed, or `progress` returned false. Cells computed by then are in the store.
    pub fn run<K: Reduce>(&self, jobs: Vec<Job<K>>) -> Result<Vec<K::Reduction>, RunError> {
        self.for_jobs(jobs.len()).serve(|queue| queue.ask(jobs))
    }

    /// Runs jobs, and returns the outcome of each, in their order. One that fails keeps no other from running.
    ///
    /// # Errors
    /// `progress` returned false. Cells computed by then are in the store.
    pub fn run_each<K: Reduce>(&self, jobs: Vec<Job<K>>) -> Result<Vec<Outcome<K::Reduction>>, Interrupted> {
        self.for_jobs(jobs.len()).serve(|queue| queue.submit_each(jobs))
    }

    /// This executor with at most as many threads as jobs, so that each job has more memory.
    fn for_jobs(&self, jobs: usize) -> Self {
        match (self.threads, NonZeroUsize::new(jobs)) {
            (Threads::Own(count), Some(jobs)) => self.on(Threads::Own(count.min(jobs))),
            _ => *self,
        }
    }

    /// Runs the jobs submitted to the queue while `client` runs, which may submit from several threads. Ends the work when `client` does.
    pub fn serve<K: Reduce, R>(&self, client: impl FnOnce(&Queue<'_, K>) -> R) -> R {
        let queue = Queue::new(self);
        thread::scope(|scope| {
            let _closing = queue.closing();
            if let Threads::Own(count) = self.threads {
                (0..count.get()).for_each(|_| drop(scope.spawn(|| queue.work())));
            }
            client(&queue)
        })
    }
}

impl fmt::Debug for Executor<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Executor").field("cells", self.cells).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl From<SetupError> for RunError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Interrupted => Interrupted.into(),
            error => Self::Setup(error),
        }
    }
}
