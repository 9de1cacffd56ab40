//! The outcomes of jobs that were submitted together, gathered for the thread that waits for them. It is woken once, not for each of them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Outcome, RunError};

/// Jobs that were submitted together.
pub(super) struct Batch<T> {
    /// An error ends the waiting.
    until_error: bool,
    gathered: Mutex<Gathered<T>>,
    changed: Condvar,
}

struct Gathered<T> {
    /// By the place of the job. None where there is none yet, or the work has ended before.
    outcomes: Vec<Option<Outcome<T>>>,
    /// The first of them that is one.
    error: Option<RunError>,
    /// How many outcomes may still come.
    awaited: usize,
}

/// Whoever has it owes the outcome of one job. Dropped without, it says that none will come.
pub(super) struct Waiter<T> {
    place: usize,
    batch: Arc<Batch<T>>,
}

impl<T> Batch<T> {
    /// A batch of `jobs` jobs.
    pub(super) fn new(jobs: usize, until_error: bool) -> Arc<Self> {
        let outcomes = std::iter::repeat_with(|| None).take(jobs).collect();
        let gathered = Gathered { outcomes, error: None, awaited: 0 };
        Arc::new(Self { until_error, gathered: Mutex::new(gathered), changed: Condvar::new() })
    }

    /// What the job at `place` is answered with. All are made before anybody waits.
    pub(super) fn asker(self: &Arc<Self>, place: usize) -> Waiter<T> {
        self.lock().awaited += 1;
        Waiter { place, batch: Arc::clone(self) }
    }

    /// Waits until no outcome will come any more: those that came.
    ///
    /// # Errors
    /// A job failed, the first that did; only where that ends the waiting.
    pub(super) fn wait(&self) -> Result<Vec<Option<Outcome<T>>>, RunError> {
        let mut gathered = self.lock();
        loop {
            if let Some(error) = gathered.error.take() {
                return Err(error);
            }
            if gathered.awaited == 0 {
                return Ok(std::mem::take(&mut gathered.outcomes));
            }
            gathered = self.changed.wait(gathered).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Gathered<T>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Waiter<T> {
    /// Sends the outcome to whoever waits for the batch.
    pub(super) fn send(self, outcome: Outcome<T>) {
        let mut gathered = self.batch.lock();
        match outcome {
            Err(error) if self.batch.until_error => {
                gathered.error.get_or_insert(error);
            }
            // After an error no caller reads further outcomes.
            outcome => {
                if let Some(place) = gathered.outcomes.get_mut(self.place) {
                    *place = Some(outcome);
                }
            }
        }
    }
}

impl<T> Drop for Waiter<T> {
    fn drop(&mut self) {
        let mut gathered = self.batch.lock();
        gathered.awaited -= 1;
        if gathered.awaited == 0 || gathered.error.is_some() {
            self.batch.changed.notify_all();
        }
    }
}
