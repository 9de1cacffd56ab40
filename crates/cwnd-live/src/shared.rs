//! The state that all visitors share: limits, turns to run, and whether the server continues.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The limits of a server's visitors.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time, of all visitors; and up to 32 more of this host itself. One whose request has not arrived whole makes room for
    /// others.
    pub connections: usize,
    /// Connections at a time from one address, or from a network of 64 bits of IPv6.
    pub connections_per_address: usize,
    /// The time for a request to arrive completely.
    pub request: Duration,
    /// The time without a message after which a page is asked whether it is still there, and the time it has to answer.
    pub idle: Duration,
    /// Runs at a time, of all visitors; the others wait. Of those that wait, the next is one from the address with the fewest runs.
    pub runs: usize,
    /// Runs in real time, of all visitors; more are refused. They take a turn of [`runs`](Self::runs) for each step.
    pub clocked: usize,
    /// Threads of a run.
    pub threads: usize,
    /// Memory of a run for packets and samples, bytes.
    pub memory: u64,
    /// The memory of a run in real time.
    pub clocked_memory: u64,
    /// Wall time of a run that is not in real time.
    pub time: Duration,
}

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    ended: AtomicBool,
    turns: Mutex<Turns>,
    freed: Condvar,
}

/// The running requests, and the waiting ones.
#[derive(Debug, Default)]
struct Turns {
    running: Vec<IpAddr>,
    /// In the order in which they came.
    waiting: Vec<(u64, IpAddr)>,
    next: u64,
    /// Runs in real time.
    clocked: usize,
}

/// A turn to run, which is over when this is dropped.
pub(crate) struct Turn<'a>(&'a Shared, IpAddr);

/// A place for a run in real time, which is free again when this is dropped.
pub(crate) struct Clocked<'a>(&'a Shared);

impl Limits {
    /// Limits for the user of this host: all processors for every run. Half of the memory is for runs in real time.
    #[must_use]
    pub fn of_one_user(memory: u64) -> Self {
        let (runs, clocked) = (4, 4);
        Self {
            connections: 32,
            connections_per_address: 32,
            request: REQUEST,
            idle: IDLE,
            runs,
            clocked,
            threads: processors(),
            memory: memory / 2 / runs as u64,
            clocked_memory: memory / 2 / clocked as u64,
            time: Duration::from_secs(30),
        }
    }

    /// For visitors from elsewhere: a processor each, and as many runs at a time as there are processors.
    #[must_use]
    pub fn of_many(memory: u64) -> Self {
        let (runs, clocked) = (processors(), 32);
        Self {
            connections: 256,
            connections_per_address: 64,
            request: REQUEST,
            idle: IDLE,
            runs,
            clocked,
            threads: 1,
            memory: memory / 2 / runs as u64,
            clocked_memory: memory / 2 / clocked as u64,
            time: Duration::from_secs(10),
        }
    }
}

impl Shared {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ended: AtomicBool::new(false), turns: Mutex::default(), freed: Condvar::new() }
    }

    /// From now on nothing goes on.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Whether the server is to go on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.ended.load(Ordering::Relaxed)
    }

    /// Waits for a turn to run for a visitor from `address`, while `wanted` returns true.
    pub(crate) fn turn(&self, address: IpAddr, wanted: impl Fn() -> bool) -> Option<Turn<'_>> {
        let mut turns = self.lock();
        let number = turns.next;
        turns.next += 1;
        turns.waiting.push((number, address));
        loop {
            let is_wanted = wanted();
            let is_next = turns.running.len() < self.limits.runs && turns.first() == Some(number);
            if is_wanted && !is_next {
                turns = self.freed.wait_timeout(turns, POLL).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            turns.waiting.retain(|(waiting, _)| *waiting != number);
            if is_wanted {
                turns.running.push(address);
            }
            drop(turns);
            // Another one is the next now.
            self.freed.notify_all();
            return is_wanted.then(|| Turn(self, address));
        }
    }

    /// A place for a run that follows the clock, if one is free.
    pub(crate) fn clocked(&self) -> Option<Clocked<'_>> {
        let mut turns = self.lock();
        let is_free = turns.clocked < self.limits.clocked;
        turns.clocked += usize::from(is_free);
        is_free.then(|| Clocked(self))
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    /// The next waiting run: of those from the address with the fewest runs, the one that has waited longest.
    fn first(&self) -> Option<u64> {
        let runs = |address: &IpAddr| self.running.iter().filter(|running| *running == address).count();
        self.waiting.iter().min_by_key(|(number, address)| (runs(address), *number)).map(|(number, _)| *number)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = self.0.lock();
        if let Some(at) = turns.running.iter().position(|running| *running == self.1) {
            turns.running.swap_remove(at);
        }
        drop(turns);
        self.0.freed.notify_all();
    }
}

impl Drop for Clocked<'_> {
    fn drop(&mut self) {
        self.0.lock().clocked -= 1;
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

const REQUEST: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);
/// How often it is asked whether a turn is still wanted.
const POLL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_turn_is_for_the_address_with_the_fewest_runs() {
        let [busy, other] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let mut turns = Turns { running: vec![busy], ..Turns::default() };
        turns.waiting = vec![(0, busy), (1, busy), (2, other), (3, other)];
        assert_eq!(turns.first(), Some(2));
        turns.running.push(other);
        assert_eq!(turns.first(), Some(0));
        turns.running = vec![other];
        assert_eq!(turns.first(), Some(0));
        turns.waiting.clear();
        assert_eq!(turns.first(), None);
    }

    #[test]
    fn a_turn_that_nobody_wants_any_more_is_not_waited_for() {
        let shared = Shared::new(Limits { runs: 1, ..Limits::of_one_user(1 << 30) });
        let address = IpAddr::from([127, 0, 0, 1]);
        let first = shared.turn(address, || true);
        assert!(first.is_some());
        assert!(shared.turn(address, || false).is_none());
        assert_eq!(shared.lock().running, [address]);
        drop(first);
        assert!(shared.turn(address, || true).is_some());
        assert!(shared.lock().waiting.is_empty() && shared.lock().running.is_empty());
    }

    #[test]
    fn places_of_runs_that_follow_the_clock_are_counted() {
        let shared = Shared::new(Limits { clocked: 1, ..Limits::of_one_user(1 << 30) });
        let place = shared.clocked();
        assert!(place.is_some() && shared.clocked().is_none());
        drop(place);
        assert!(shared.clocked().is_some());
    }

    #[test]
    fn all_runs_together_have_the_memory_that_is_given() {
        for limits in [Limits::of_one_user(8 << 30), Limits::of_many(8 << 30)] {
            let whole = limits.runs as u64 * limits.memory + limits.clocked as u64 * limits.clocked_memory;
            assert!(whole <= 8 << 30 && whole > 7 << 30, "{limits:?}");
        }
    }
}
