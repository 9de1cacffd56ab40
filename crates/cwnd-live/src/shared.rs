//! What all visitors share: limits, turns to run, and whether the server goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a server's visitors may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time, of all visitors.
    pub connections: usize,
    /// Connections at a time from one address.
    pub connections_per_address: usize,
    /// Runs at a time, of all visitors; the others wait.
    pub runs: usize,
    /// Threads of a run.
    pub threads: usize,
    /// Memory of a run for packets and samples, bytes.
    pub memory: u64,
    /// Wall time of a run that does not follow the clock.
    pub time: Duration,
}

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    ended: AtomicBool,
    runs: Mutex<usize>,
    freed: Condvar,
}

/// A turn to run, which is over when this is dropped.
pub(crate) struct Turn<'a>(&'a Shared);

impl Limits {
    /// For the user of this host: all processors for every run.
    #[must_use]
    pub fn of_one_user(memory: u64) -> Self {
        let threads = processors();
        let time = Duration::from_secs(30);
        Self { connections: 32, connections_per_address: 32, runs: 4, threads, memory: memory / 4, time }
    }

    /// For visitors from elsewhere: a processor each, as many runs at a time as there are processors, and the memory shared by these.
    #[must_use]
    pub fn of_many(memory: u64) -> Self {
        let runs = processors();
        let memory = memory / runs as u64;
        Self { connections: 256, connections_per_address: 64, runs, threads: 1, memory, time: Duration::from_secs(10) }
    }
}

impl Shared {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ended: AtomicBool::new(false), runs: Mutex::new(0), freed: Condvar::new() }
    }

    /// From now on nothing goes on.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Whether the server is to go on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.ended.load(Ordering::Relaxed)
    }

    /// Waits for a turn to run, while `wanted` returns true.
    pub(crate) fn turn(&self, wanted: impl Fn() -> bool) -> Option<Turn<'_>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        while *runs >= self.limits.runs {
            if !wanted() {
                return None;
            }
            runs = self.freed.wait_timeout(runs, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        *runs += 1;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.runs.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How often it is asked whether a turn is still wanted.
const POLL: Duration = Duration::from_millis(100);
