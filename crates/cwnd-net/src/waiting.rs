//! Waiting for the thread of a port: as a thread, or as a task.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::clock::Deadline;

/// How an application waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience<'a> {
    /// Not at all: its task is woken when it is worth to ask again.
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "only the asynchronous face has tasks"))]
    Task(&'a Waker),
    /// Blocks its thread until then.
    Until(Deadline),
}

/// Wakes whoever waits for a change of a state behind a mutex.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    threads: Condvar,
    task: Mutex<Option<Waker>>,
}

impl Bell {
    /// Waits for the next ring, which may come for nothing; none if the time is up, or if the task is to be woken instead.
    pub(crate) fn wait<'a, T>(&self, state: MutexGuard<'a, T>, patience: Patience<'_>) -> Option<MutexGuard<'a, T>> {
        match patience {
            Patience::Task(waker) => {
                // While the state is locked: whoever changes it rings afterwards.
                *lock(&self.task) = Some(waker.clone());
                None
            }
            Patience::Until(deadline) => match deadline.left() {
                None => Some(self.threads.wait(state).unwrap_or_else(PoisonError::into_inner)),
                Some(left) if left.is_zero() => None,
                Some(left) => Some(self.threads.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0),
            },
        }
    }

    /// The state has changed, and is not locked by the caller.
    pub(crate) fn ring(&self) {
        self.threads.notify_all();
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// A question to the thread of a port.
#[derive(Debug)]
pub(crate) struct Question<T>(Arc<Exchange<T>>);

/// Where its answer goes. Dropped without one, it says that there is none.
#[derive(Debug)]
pub(crate) struct Reply<T>(Arc<Exchange<T>>);

#[derive(Debug)]
struct Exchange<T> {
    answer: Mutex<Answer<T>>,
    bell: Bell,
}

#[derive(Debug)]
enum Answer<T> {
    Awaited,
    Given(T),
    /// One of the two sides is gone, or the answer has been taken.
    Over,
}

pub(crate) fn question<T>() -> (Question<T>, Reply<T>) {
    let exchange = Arc::new(Exchange { answer: Mutex::new(Answer::Awaited), bell: Bell::default() });
    (Question(Arc::clone(&exchange)), Reply(exchange))
}

impl<T> Question<T> {
    /// Waits for the answer; none if the time is up, and none within if there will not be one.
    pub(crate) fn wait(&self, patience: Patience<'_>) -> Option<Option<T>> {
        let mut answer = lock(&self.0.answer);
        loop {
            if !matches!(*answer, Answer::Awaited) {
                return Some(answer.take());
            }
            answer = self.0.bell.wait(answer, patience)?;
        }
    }

    /// Wants no answer any more; returns it if it has been given.
    pub(crate) fn withdraw(&self) -> Option<T> {
        lock(&self.0.answer).take()
    }
}

impl<T> Reply<T> {
    /// Answers. Gives the answer back if nobody wants it any more.
    pub(crate) fn give(self, value: T) -> Result<(), T> {
        let mut answer = lock(&self.0.answer);
        if !matches!(*answer, Answer::Awaited) {
            return Err(value);
        }
        *answer = Answer::Given(value);
        drop(answer);
        self.0.bell.ring();
        Ok(())
    }
}

impl<T> Answer<T> {
    fn take(&mut self) -> Option<T> {
        match std::mem::replace(self, Self::Over) {
            Self::Given(value) => Some(value),
            Self::Awaited | Self::Over => None,
        }
    }
}

impl<T> Drop for Question<T> {
    fn drop(&mut self) {
        let _unwanted = self.withdraw();
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut answer = lock(&self.0.answer);
        if matches!(*answer, Answer::Awaited) {
            *answer = Answer::Over;
        }
        drop(answer);
        self.0.bell.ring();
    }
}

/// Every change of what is locked here is complete before anything can panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn answers_come_once_and_missing_ones_are_noticed() {
        let forever = Patience::Until(Deadline::after(None));
        let (asked, reply) = question();
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            reply.give(7)
        });
        assert_eq!(asked.wait(forever), Some(Some(7)));
        assert_eq!(thread.join().unwrap(), Ok(()));
        assert_eq!(asked.wait(forever), Some(None));
        let (asked, reply) = question::<u8>();
        let soon = Patience::Until(Deadline::after(Some(Duration::from_millis(1))));
        assert_eq!(asked.wait(soon), None);
        drop(reply);
        assert_eq!(asked.wait(forever), Some(None));
        let (asked, reply) = question();
        drop(asked);
        assert_eq!(reply.give(7), Err(7));
    }
}
