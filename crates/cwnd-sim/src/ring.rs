//! Packets in order, in memory that a run has a budget of.
//!
//! What a run needs grows with the packets under way and in queues. They are in rings, and a ring asks the budget where it grows, which
//! is once for each doubling: a packet that finds room costs no more than it does in a plain ring.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The memory that the packets of a run may use, and how much of it they do.
#[derive(Debug)]
pub(crate) struct Budget {
    most: AtomicU64,
    used: AtomicU64,
    /// A ring could not grow: packets are missing from the run, which has to end.
    passed: AtomicBool,
    /// Work of the run after which it is asked whether it may go on; none once it may not.
    look: AtomicU64,
}

/// A ring that grows within a budget.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    places: VecDeque<T>,
    budget: Arc<Budget>,
}

impl Budget {
    /// A budget of `most` bytes.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            most: AtomicU64::new(most),
            used: AtomicU64::new(0),
            passed: AtomicBool::new(false),
            look: AtomicU64::new(0),
        }
    }

    /// From now on there are `most` bytes.
    pub(crate) fn set(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Bytes there are.
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Whether more was needed than there is.
    pub(crate) fn is_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }

    /// The work after which the run is to be looked at next.
    #[inline(always)]
    pub(crate) fn look(&self) -> u64 {
        self.look.load(Ordering::Relaxed)
    }

    /// Sets that, unless the run has to end.
    pub(crate) fn look_after(&self, work: u64) {
        self.look.store(if self.is_passed() { 0 } else { work }, Ordering::Relaxed);
    }

    /// Takes `bytes` from the budget, and returns whether they were available.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let used = self.used.load(Ordering::Relaxed).saturating_add(bytes);
        let fits = used <= self.most();
        if fits {
            self.used.store(used, Ordering::Relaxed);
        } else {
            self.pass();
        }
        fits
    }

    /// There is a limit of another kind, and it was reached.
    pub(crate) fn pass(&self) {
        self.passed.store(true, Ordering::Relaxed);
        self.look.store(0, Ordering::Relaxed);
    }

    /// Gives back `bytes`.
    pub(crate) fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl<T> Ring<T> {
    /// An empty ring.
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { places: VecDeque::new(), budget: Arc::clone(budget) }
    }

    /// Adds a packet at the end; whether the budget had room for it. If not, the run is over.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: T) -> bool {
        if self.places.len() == self.places.capacity() && !self.grow(1) {
            return false;
        }
        self.places.push_back(packet);
        true
    }

    /// Makes room for `more` packets; whether the budget allows it.
    pub(crate) fn reserve(&mut self, more: usize) -> bool {
        self.places.capacity() - self.places.len() >= more || self.grow(more)
    }

    /// Bytes charged to the budget.
    pub(crate) fn charged(&self) -> u64 {
        self.cost(self.places.capacity())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) -> bool {
        let (len, before) = (self.places.len(), self.places.capacity());
        let places = (2 * before).max(len.saturating_add(more)).max(FIRST_PLACES);
        // Both exist while packets are moved.
        if !self.budget.take(self.cost(places)) {
            return false;
        }
        self.places.reserve_exact(places - len);
        self.budget.release(self.cost(before));
        true
    }

    /// The cost of this number of places: senders and queues keep at most another copy of a packet.
    fn cost(&self, places: usize) -> u64 {
        (places as u64).saturating_mul(2 * size_of::<T>() as u64)
    }
}

impl<T> Deref for Ring<T> {
    type Target = VecDeque<T>;

    fn deref(&self) -> &VecDeque<T> {
        &self.places
    }
}

/// To take packets out, and put them back.
impl<T> DerefMut for Ring<T> {
    fn deref_mut(&mut self) -> &mut VecDeque<T> {
        &mut self.places
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.budget.release(self.charged());
    }
}

/// As many as the standard library begins with.
const FIRST_PLACES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_grows_within_its_budget_and_gives_back_what_it_used() {
        let budget = Arc::new(Budget::new(1000));
        let mut ring = Ring::new(&budget);
        // 16 bytes a place: 4, 8, 16, 32 places are 512 bytes, and 64 would be 1024 more.
        let held = (0_u64..).take_while(|number| ring.push(*number)).count();
        assert_eq!((held, ring.charged(), budget.is_passed()), (32, 512, true));
        drop(ring);
        assert!(budget.take(1000), "all is there again");
    }

    #[test]
    fn room_may_be_made_beforehand() {
        let budget = Arc::new(Budget::new(1000));
        let mut ring = Ring::<u64>::new(&budget);
        assert!(ring.reserve(40) && ring.capacity() >= 40);
        assert!(!ring.reserve(1000) && budget.is_passed());
    }
}
