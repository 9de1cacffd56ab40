//! A visitor, as its runs see it: whether the run is still wanted, the destination of answers, and changes made meanwhile.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwnd_engine::{Frame, Pulled};
use tungstenite::{Bytes, Message};

use crate::socket::Sender;

/// One page that is open somewhere.
pub(crate) struct Visitor {
    pub(crate) address: IpAddr,
    sender: Sender,
    /// Grows with everything that supersedes a run.
    generation: AtomicU64,
    pulled: Mutex<Pulled>,
    changed: Condvar,
}

impl Visitor {
    pub(crate) fn new(address: IpAddr, sender: Sender) -> Self {
        Self { address, sender, generation: AtomicU64::new(0), pulled: Mutex::default(), changed: Condvar::new() }
    }

    /// Sends an answer.
    pub(crate) fn send(&self, frame: &Frame) {
        self.sender.send(Message::binary(frame.encode()));
    }

    /// Asks whether it is still there; browsers answer by themselves.
    pub(crate) fn ping(&self) {
        self.sender.send(Message::Ping(Bytes::new()));
    }

    /// Whether nothing newer is asked for.
    pub(crate) fn wants(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
    }

    /// Ends what runs; the generation of what comes next.
    pub(crate) fn supersede(&self) -> u64 {
        let mut pulled = self.lock();
        *pulled = Pulled::default();
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        drop(pulled);
        self.changed.notify_all();
        generation
    }

    /// Changes the paced run; values that are not given stay.
    pub(crate) fn pull(&self, rate: Option<String>, speed: Option<f64>) {
        let mut pulled = self.lock();
        pulled.rate = rate.or(pulled.rate.take());
        pulled.speed = speed.or(pulled.speed);
        drop(pulled);
        self.changed.notify_all();
    }

    /// The changes since the last call.
    pub(crate) fn pulled(&self) -> Pulled {
        std::mem::take(&mut self.lock())
    }

    /// Waits for at most so long, and no longer once something changes.
    pub(crate) fn wait(&self, time: Duration) {
        drop(self.changed.wait_timeout(self.lock(), time));
    }

    fn lock(&self) -> MutexGuard<'_, Pulled> {
        self.pulled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
