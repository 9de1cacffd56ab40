//! How applications wait for the thread of a port: as a thread, or as a task.
//!
//! The crate `event-listener` does not serve: its listener is deregistered when it is dropped, so that `poll_read` and `poll_write` would
//! allocate one for every wait and keep it in the stream between polls, where the waker kept here needs neither.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::clock::Deadline;

/// How an application waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait<'a> {
    /// Not at all: its task is woken when it should poll again.
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "only asynchronous sockets have tasks"))]
    Task(&'a Waker),
    /// Blocks its thread until then.
    Until(Deadline),
}

/// Wakes the threads and the task that wait for a change of a state behind a mutex.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    threads: Condvar,
    task: Mutex<Option<Waker>>,
}

impl Notify {
    /// Waits for the next notification, which may be spurious; none after the deadline, or if the task will be woken instead.
    pub(crate) fn wait<'a, T>(&self, state: MutexGuard<'a, T>, wait: Wait<'_>) -> Option<MutexGuard<'a, T>> {
        match wait {
            Wait::Task(waker) => {
                // The state is still locked, so that no change and no notification can come between the look at it and this.
                *lock(&self.task) = Some(waker.clone());
                None
            }
            Wait::Until(deadline) => match deadline.left() {
                None => Some(self.threads.wait(state).unwrap_or_else(PoisonError::into_inner)),
                Some(left) if left.is_zero() => None,
                Some(left) => Some(self.threads.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0),
            },
        }
    }

    /// Wakes everybody who waits. The state has been changed, and the caller has unlocked it.
    pub(crate) fn notify(&self) {
        self.threads.notify_all();
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// Locks a mutex whose content is consistent whenever something can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
