//! The jobs that were submitted, and the threads that run them.
//!
//! Whoever asks waits, so that several who ask wait on threads of their own. A long job that came last would keep one processor busy
//! after all others have nothing left to do: the longest is begun first.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cwnd::{Span, Time};
use cwnd_sim::Simulation;
use cwnd_trace::Trace;

use super::batch::{Batch, Waiter};
use super::{Executor, Found, Interrupted, Job, Outcome, Progress, Reduce, RunError, Threads};
use crate::cells::{CellKey, Cells};

/// Jobs that wait or are being run.
pub struct Queue<'a, K: Reduce> {
    cells: &'a Cells,
    progress: &'a dyn Progress,
    /// What each run may use, bytes: an equal share for each thread or less, so that what fails does not depend on what else runs.
    memory: u64,
    /// Whoever asks runs jobs itself.
    on_calling_thread: bool,
    /// Results stay here for later requests.
    remembers: bool,
    closed: AtomicBool,
    state: Mutex<State<K>>,
    changed: Condvar,
}

struct State<K: Reduce> {
    /// By cost, and of equals the first to be submitted, so that the last entry is the next to run.
    waiting: BTreeMap<(u128, Reverse<u64>), (Id, Job<K>)>,
    /// Who waits for each job that waits or is being run.
    askers: BTreeMap<Id, Vec<Waiter<K::Reduction>>>,
    remembered: BTreeMap<CellKey, K::Reduction>,
    /// How many jobs were submitted.
    asked: u64,
}

/// What equal jobs have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Cell(CellKey),
    /// No other job is equal: the key does not have all that decides the run.
    Single(u64),
}

impl<'a, K: Reduce> Queue<'a, K> {
    pub(super) fn new(executor: &Executor<'a>) -> Self {
        let (waiting, askers, remembered) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            cells: executor.cells,
            progress: executor.progress,
            memory: (executor.memory() / executor.width() as u64).min(executor.each.unwrap_or(u64::MAX)),
            on_calling_thread: executor.threads == Threads::Calling,
            remembers: executor.remembers,
            closed: AtomicBool::new(false),
            state: Mutex::new(State { waiting, askers, remembered, asked: 0 }),
            changed: Condvar::new(),
        }
    }

    /// Waits for jobs, and returns the kept values of each in their order.
    ///
    /// # Errors
    /// A job failed, and the others are not waited for, or `progress` returned false.
    pub fn ask(&self, jobs: Vec<Job<K>>) -> Result<Vec<K::Reduction>, RunError> {
        let outcomes = self.submit(jobs, true)?;
        Ok(outcomes.into_iter().map(|outcome| outcome?.ok()).collect::<Option<_>>().ok_or(Interrupted)?)
    }

    /// Waits for jobs, and returns the outcome of each, in their order.
    ///
    /// # Errors
    /// `progress` returned false.
    pub fn submit_each(&self, jobs: Vec<Job<K>>) -> Result<Vec<Outcome<K::Reduction>>, Interrupted> {
        let outcomes = self.submit(jobs, false).map_err(|_| Interrupted)?;
        outcomes.into_iter().collect::<Option<_>>().ok_or(Interrupted)
    }

    /// Ends the work: no job is begun any more, those that run end at their next progress, and nobody waits for one.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        state.waiting.clear();
        state.askers.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// Closes the queue when the result is dropped: a thread that panics must not leave others waiting.
    pub(super) fn closing(&self) -> Closing<'_, 'a, K> {
        Closing(self)
    }

    /// Runs one job after the other until the work is ended.
    pub(super) fn work(&self) {
        let _closing = self.closing();
        let mut state = self.lock();
        while !self.closed.load(Ordering::Relaxed) {
            let next = state.waiting.pop_last();
            state = match next {
                Some((_, (id, job))) => {
                    drop(state);
                    self.answer(id, &job);
                    self.lock()
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Submits jobs, and waits for their outcomes, of which some are missing where the work has ended.
    ///
    /// # Errors
    /// The first of a job, only if `until_error`: then it ends the waiting.
    fn submit(&self, jobs: Vec<Job<K>>, until_error: bool) -> Result<Vec<Option<Outcome<K::Reduction>>>, RunError> {
        self.progress.announce(jobs.iter().fold(Span::ZERO, |sum, job| sum + job.scenario.duration()));
        let keys: Vec<Option<CellKey>> = jobs.iter().map(key).collect();
        let batch = Batch::new(jobs.len(), until_error);
        {
            let mut state = self.lock();
            for (place, (job, key)) in jobs.into_iter().zip(keys).enumerate() {
                if self.closed.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(kept) = key.and_then(|key| state.remembered.get(&key)) {
                    batch.asker(place).send(Ok(kept.clone()));
                    self.progress.advance(job.scenario.duration());
                    self.progress.done(Found::Equal);
                    continue;
                }
                state.asked += 1;
                let number = state.asked;
                let id = key.map_or(Id::Single(number), Id::Cell);
                let asker = batch.asker(place);
                if let Some(askers) = state.askers.get_mut(&id) {
                    askers.push(asker);
                    continue;
                }
                state.askers.insert(id, vec![asker]);
                state.waiting.insert((job.scenario.cost(), Reverse(number)), (id, job));
            }
        }
        self.changed.notify_all();
        if self.on_calling_thread {
            loop {
                let next = self.lock().waiting.pop_last();
                let Some((_, (id, job))) = next else { break };
                self.answer(id, &job);
            }
        }
        batch.wait()
    }

    /// Runs a job, and hands its outcome to all who asked.
    fn answer(&self, id: Id, job: &Job<K>) {
        let (found, outcome) = self.run(id, job);
        if matches!(outcome, Err(RunError::Interrupted(_))) {
            self.close();
            return;
        }
        let mut askers = {
            let mut state = self.lock();
            if let (Id::Cell(key), Ok(kept), true) = (id, &outcome, self.remembers) {
                state.remembered.insert(key, kept.clone());
            }
            state.askers.remove(&id).unwrap_or_default()
        };
        for nth in 0..askers.len() {
            let first = nth == 0;
            if !first && outcome.is_ok() {
                self.progress.advance(job.scenario.duration());
            }
            self.progress.done(if found == Found::Computed && !first { Found::Equal } else { found });
        }
        let last = askers.pop();
        askers.into_iter().for_each(|asker| asker.send(outcome.clone()));
        if let Some(last) = last {
            last.send(outcome);
        }
    }

    fn run(&self, id: Id, job: &Job<K>) -> (Found, Outcome<K::Reduction>) {
        let mut found = Found::Stored;
        // A defect that one job brings to light must not cost the others. Nothing of the run is used after a panic.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if !self.should_continue() {
                return Err(Interrupted.into());
            }
            let key = match id {
                Id::Cell(key) => Some(key),
                Id::Single(_) => None,
            };
            if let Some(kept) = key.and_then(|key| job.keep.find(self.cells, key)) {
                self.progress.advance(job.scenario.duration());
                return Ok(kept);
            }
            found = Found::Computed;
            let kept = job.keep.reduce(&job.scenario, self.simulate(job)?);
            if let Some(key) = key {
                job.keep.store(self.cells, key, &kept)?;
            }
            Ok(kept)
        }));
        let panicked = |payload: Box<dyn Any + Send>| Err(RunError::Panicked(message(&*payload).to_string()));
        let outcome = outcome.unwrap_or_else(panicked);
        (if outcome.is_ok() { found } else { Found::Failed }, outcome)
    }

    /// Simulates, and reports to progress how much simulated time has passed since the last report.
    fn simulate(&self, job: &Job<K>) -> Result<Trace, RunError> {
        let mut before = 0;
        let mut advance = |now| {
            self.progress.advance(Span::from_nanos(now - before));
            before = now;
            self.should_continue()
        };
        let setup = job.scenario.setup(job.seed);
        let mut simulation = Simulation::of(&setup).within(self.memory).unobserved();
        let looks = u64::from(job.keep.observations());
        for nth in 1..=looks {
            let at = setup.duration.as_nanos() / (looks + 1) * nth;
            simulation.proceed(Time::from_nanos(at), &setup, &mut advance)?;
            job.keep.observe(&job.scenario, simulation.recorded());
            // Between two looks there may be too few events for a progress.
            if !self.should_continue() {
                return Err(Interrupted.into());
            }
        }
        let trace = simulation.finish(&setup, &mut advance)?;
        self.progress.advance(job.scenario.duration() - Span::from_nanos(before));
        Ok(trace)
    }

    fn should_continue(&self) -> bool {
        !self.closed.load(Ordering::Relaxed) && self.progress.should_continue()
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Reduce> fmt::Debug for Queue<'_, K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Queue").field("cells", self.cells).field("closed", &self.closed).finish_non_exhaustive()
    }
}

/// Closes a queue when dropped.
pub(super) struct Closing<'q, 'a, K: Reduce>(&'q Queue<'a, K>);

impl<K: Reduce> Drop for Closing<'_, '_, K> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The key of a job, if it has all that decides the run.
fn key<K: Reduce>(job: &Job<K>) -> Option<CellKey> {
    job.scenario.is_its_document().then(|| CellKey::of(&job.scenario, job.seed, job.keep.name()))
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
