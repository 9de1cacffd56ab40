//! The clients of a relay: each has an upstream socket of its own, so that the target can distinguish them.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::{Span, Time};

use crate::socket::Socket;

/// The clients, each with an index that stays the same until it is removed.
#[derive(Debug)]
pub(crate) struct Clients {
    slots: Slots,
    by_address: BTreeMap<SocketAddr, u32>,
    limit: usize,
    /// How many there were, and how many times one was refused.
    pub(crate) seen: u64,
    pub(crate) refused: u64,
}

/// The clients by their indices.
pub(crate) type Slots = Vec<Option<Arc<Client>>>;

/// The changes of the clients that the thread of one direction publishes to the other one.
#[derive(Debug)]
pub(crate) struct Published {
    slots: Mutex<Slots>,
    changes: UnixStream,
    /// Readable once they have changed.
    changed: UnixStream,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) upstream: Socket,
    /// When a datagram was last received from it or for it, nanoseconds.
    active: AtomicU64,
}

impl Clients {
    /// At most `limit` at a time.
    pub(crate) fn new(limit: usize) -> Self {
        Self { slots: Vec::new(), by_address: BTreeMap::new(), limit, seen: 0, refused: 0 }
    }

    /// The client at an address; a new one with a socket from `open` if there are fewer than the limit.
    pub(crate) fn at(&mut self, address: SocketAddr, now: Time, open: impl FnOnce() -> Option<Socket>) -> Option<u32> {
        let index = match self.by_address.get(&address) {
            Some(index) => *index,
            None => self.admit(address, open)?,
        };
        self.get(index)?.touch(now);
        Some(index)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Client> {
        self.slots.get(index as usize)?.as_deref()
    }

    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Removes those that were idle for longer than `idle`; whether there were any.
    pub(crate) fn remove_idle(&mut self, now: Time, idle: Span) -> bool {
        let before = self.by_address.len();
        for slot in &mut self.slots {
            if let Some(client) = slot.take_if(|client| now.since(client.active()) > idle) {
                self.by_address.remove(&client.address);
            }
        }
        self.by_address.len() < before
    }

    fn admit(&mut self, address: SocketAddr, open: impl FnOnce() -> Option<Socket>) -> Option<u32> {
        let client = if self.by_address.len() < self.limit { open() } else { None };
        let Some(upstream) = client else {
            self.refused += 1;
            return None;
        };
        let client = Some(Arc::new(Client { address, upstream, active: AtomicU64::new(0) }));
        let index = match self.slots.iter().position(Option::is_none) {
            Some(vacant) => {
                self.slots[vacant] = client;
                vacant as u32
            }
            None => {
                self.slots.push(client);
                self.slots.len() as u32 - 1
            }
        };
        self.by_address.insert(address, index);
        self.seen += 1;
        Some(index)
    }
}

impl Client {
    /// A datagram from it or for it was received.
    pub(crate) fn touch(&self, now: Time) {
        self.active.fetch_max(now.as_nanos(), Ordering::Relaxed);
    }

    fn active(&self) -> Time {
        Time::from_nanos(self.active.load(Ordering::Relaxed))
    }
}

impl Published {
    /// No clients yet.
    pub(crate) fn new() -> io::Result<Self> {
        let (changes, changed) = UnixStream::pair()?;
        changes.set_nonblocking(true)?;
        changed.set_nonblocking(true)?;
        Ok(Self { slots: Mutex::default(), changes, changed })
    }

    /// Publishes the changes to the other thread.
    pub(crate) fn publish(&self, slots: &Slots) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).clone_from(slots);
        // It fails if the buffer is full: the other thread has yet to read it, and finds this change too.
        let _ = (&self.changes).write(&[1]);
    }

    /// Brings `slots` up to date.
    pub(crate) fn update(&self, slots: &mut Slots) {
        if (&self.changed).read(&mut [0; 64]).is_ok() {
            slots.clone_from(&self.slots.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl AsFd for Published {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changed.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_bounded_and_idle_ones_removed() {
        let mut clients = Clients::new(2);
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let open = || Socket::bind(address(0)).ok();
        let second = |secs| Time::ZERO + Span::from_secs(secs);
        assert_eq!(clients.at(address(1), second(0), open), Some(0));
        assert_eq!(clients.at(address(2), second(5), open), Some(1));
        assert_eq!(clients.at(address(1), second(6), open), Some(0));
        assert_eq!(clients.at(address(3), second(6), open), None, "there is no room");
        assert!(clients.remove_idle(second(15), Span::from_secs(9)));
        assert!(!clients.remove_idle(second(15), Span::from_secs(9)));
        assert!(clients.get(1).is_none() && clients.get(0).is_some());
        assert_eq!(clients.at(address(3), second(16), open), Some(1));
        assert_eq!((clients.seen, clients.refused), (3, 1));
    }
}
