//! Long work, during which the interpreter goes on and can be interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cwnd::quantity;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Outcome, Progress, Reduce, RunError, Threads};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::run::{Runs, run_by};
use cwnd_run::scenario::Scenario;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::failure::Failure;
use crate::outside::AlgorithmErrors;

/// Does `job` on a thread of its own, without the interpreter's lock. Its runs may use `memory`, bytes. The calling thread checks for signals
/// meanwhile: at Ctrl-C the progress of `job` asks it to end, and `KeyboardInterrupt` is raised.
pub(crate) fn in_background<T: Send>(
    py: Python<'_>,
    memory: Option<u64>,
    job: impl FnOnce(&dyn Progress) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    watched(py, |should_continue| job(&Watched { should_continue, memory }), |_| Ok(()))
}

/// Bytes that all runs of a call together may use, from an argument called `memory`.
pub(crate) fn memory(text: Option<&str>) -> Result<Option<u64>, Failure> {
    text.map(quantity::memory).transpose().map_err(|error| Failure::Argument(format!("memory: {error}")))
}

/// Runs a `job` that checks whether to continue. The calling thread also looks at its progress, several times a second; an exception of
/// `look` ends the job as Ctrl-C does.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
) -> Result<T, Failure> {
    let should_continue = AtomicBool::new(true);
    py.detach(|| {
        thread::scope(|scope| {
            let (working, ended) = channel::<()>();
            let should_continue = &should_continue;
            let worker = scope.spawn(move || {
                let result = catch_panic(|| job(should_continue));
                drop(working);
                result
            });
            let mut raised = None;
            while ended.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Some(error) = interrupted().or_else(|| Python::attach(|py| look(py).err()))
                {
                    should_continue.store(false, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|_| Err(broken()));
            raised.map_or(result, |error| Err(error.into()))
        })
    })
}

/// Does `job` as [`in_background`], where it looks seldom whether to go on: at Ctrl-C it is left behind after a moment, and ends by
/// itself when it looks next.
pub(crate) fn left_behind<T: Send + 'static>(
    py: Python<'_>,
    memory: Option<u64>,
    job: impl FnOnce(&dyn Progress) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let should_continue = Arc::new(AtomicBool::new(true));
    let (sender, done) = channel();
    let flag = Arc::clone(&should_continue);
    let work = move || {
        let result = catch_panic(|| job(&Watched { should_continue: &flag, memory }));
        // Nobody waits for it any more.
        let _unwanted = sender.send(result);
    };
    thread::Builder::new().spawn(work).map_err(|error| Failure::Unexpected(error.to_string()))?;
    py.detach(move || {
        loop {
            match done.recv_timeout(BETWEEN_LOOKS) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => return Err(broken()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(error) = interrupted() {
                        should_continue.store(false, Ordering::Relaxed);
                        drop(done.recv_timeout(BEFORE_LEAVING));
                        return Err(error.into());
                    }
                }
            }
        }
    })
}

/// Runs every seed of every scenario, as [`run_jobs`].
pub(crate) fn runs(
    py: Python<'_>,
    scenarios: Vec<Scenario>,
    memory: Option<u64>,
    errors: &AlgorithmErrors,
) -> Result<Vec<Runs>, Failure> {
    let cells = Cells::default();
    run_by(scenarios, |jobs| run_jobs(py, jobs, &cells, memory, errors, |executor, jobs| Ok(executor.run(jobs)?)))
}

/// Runs cells, as [`run_jobs`].
pub(crate) fn outcomes(
    py: Python<'_>,
    jobs: Vec<Job<Probe>>,
    cells: &Cells,
    memory: Option<u64>,
    errors: &AlgorithmErrors,
) -> Result<Vec<Outcome<Reduction>>, Failure> {
    run_jobs(py, jobs, cells, memory, errors, |executor, jobs| Ok(executor.run_each(jobs).map_err(RunError::from)?))
}

/// Lets `run` do jobs on all cores without the interpreter's lock, except where an algorithm is in Python. Those run one after the other on
/// the calling thread, which holds the lock: threads would only hand it to each other. The results are in the order of the jobs.
fn run_jobs<K: Reduce, T: Send>(
    py: Python<'_>,
    jobs: Vec<Job<K>>,
    cells: &Cells,
    memory: Option<u64>,
    errors: &AlgorithmErrors,
    run: impl Fn(&Executor<'_>, Vec<Job<K>>) -> Result<Vec<T>, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let (outside, inside): (Vec<_>, Vec<_>) =
        jobs.into_iter().enumerate().partition(|(_, job)| job.scenario.has_outside());
    let (mut places, inside): (Vec<usize>, Vec<Job<K>>) = inside.into_iter().unzip();
    let (others, outside): (Vec<usize>, Vec<Job<K>>) = outside.into_iter().unzip();
    let mut done = Vec::new();
    if !inside.is_empty() {
        done = in_background(py, memory, |progress| run(&Executor::new(cells, progress), inside))?;
    }
    if !outside.is_empty() {
        let here = CallingThread { errors, signals: errors, memory };
        let executor = Executor::new(cells, &here).on(Threads::Calling);
        done.extend(errors.or_result(catch_panic(|| run(&executor, outside)))?);
    }
    places.extend(others);
    let mut done: Vec<(usize, T)> = places.into_iter().zip(done).collect();
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// Does `job`, which runs cells over and over, on all cores without the interpreter's lock; on the calling thread if the algorithm is in
/// Python. An exception in `errors` ends it.
pub(crate) fn executing<T: Send>(
    py: Python<'_>,
    outside: bool,
    memory: Option<u64>,
    errors: &AlgorithmErrors,
    job: impl FnOnce(Executor<'_>) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let cells = Cells::default();
    if !outside {
        let work = |should_continue: &AtomicBool| job(Executor::new(&cells, &Watched { should_continue, memory }));
        return errors.or_result(watched(py, work, |py| errors.raise(py)));
    }
    let here = CallingThread { errors, signals: errors, memory };
    errors.or_result(catch_panic(|| job(Executor::new(&cells, &here).on(Threads::Calling))))
}

/// Runs one job whose algorithm is in Python on the calling thread, which holds the interpreter's lock: its outcome, or what the algorithm
/// raised.
///
/// # Errors
/// What a signal raised, also while the algorithm ran, or the run broke.
pub(crate) fn alone<K: Reduce>(
    errors: &AlgorithmErrors,
    cells: &Cells,
    memory: Option<u64>,
    job: Job<K>,
) -> Result<Result<Outcome<K::Reduction>, Failure>, Failure> {
    let signals = AlgorithmErrors::default();
    let here = CallingThread { errors, signals: &signals, memory };
    let executor = Executor::new(cells, &here).on(Threads::Calling);
    let run = catch_panic(|| Ok(executor.run_each(vec![job]).map_err(RunError::from)?));
    signals.or_result(Ok(()))?;
    match errors.or_result(Ok(())) {
        // A signal may come while a method runs, and is raised in there.
        Err(Failure::Python(error)) if Python::attach(|py| !error.is_instance_of::<PyException>(py)) => {
            Err(error.into())
        }
        Err(raised) => Ok(Err(raised)),
        Ok(()) => Ok(Ok(run?.into_iter().next().ok_or_else(broken)?)),
    }
}

/// Goes on until a flag falls.
struct Watched<'a> {
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
}

/// Goes on until an algorithm or a signal raises something. For the thread that holds the interpreter's lock.
struct CallingThread<'a> {
    errors: &'a AlgorithmErrors,
    /// Where the exception of a signal is kept.
    signals: &'a AlgorithmErrors,
    memory: Option<u64>,
}

impl Progress for CallingThread<'_> {
    fn should_continue(&self) -> bool {
        if let Some(error) = interrupted() {
            self.signals.record(error);
        }
        !self.errors.any() && !self.signals.any()
    }

    fn memory(&self) -> Option<u64> {
        self.memory
    }
}

/// Does `job`, which calls into Python over and over, where all parallel work is done by one thread that holds the interpreter's
/// lock: taking it for each call takes longer than the call.
pub(crate) fn attached<T: Send>(job: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(1);
    let known = |thread: ThreadBuilder| Python::attach(|_| thread.run());
    pool.build_scoped(known, |pool| pool.install(job)).map_err(|error| Failure::Unexpected(error.to_string()))
}

/// Does `job`, and makes an error of a panic: none may reach the interpreter.
pub(crate) fn catch_panic<T>(job: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| Err(broken()))
}

/// The exception of a signal that has arrived: `KeyboardInterrupt` for Ctrl-C.
fn interrupted() -> Option<PyErr> {
    Python::attach(|py| py.check_signals().err())
}

fn broken() -> Failure {
    Failure::Unexpected("cwnd is broken here; what it printed on standard error belongs into a report".to_string())
}

/// As soon as people expect an answer to Ctrl-C.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Most work ends within that, and leaves no thread behind.
const BEFORE_LEAVING: Duration = Duration::from_millis(300);
