//! The clients of a relay: each has an upstream socket of its own, so that the target can distinguish them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use cwnd::{Span, Time};

use crate::socket::Socket;

/// The clients, each with an index that stays the same until it is removed.
#[derive(Debug)]
pub(crate) struct Clients {
    slots: Vec<Option<Client>>,
    by_address: BTreeMap<SocketAddr, u32>,
    limit: usize,
    /// How many there were, and how many times one was refused.
    pub(crate) seen: u64,
    pub(crate) refused: u64,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) upstream: Socket,
    /// When a datagram was last received from it or for it.
    pub(crate) active: Time,
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
        let client = self.slots[index as usize].as_mut()?;
        client.active = client.active.max(now);
        Some(index)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Client> {
        self.slots.get(index as usize)?.as_ref()
    }

    /// All of them with their indices, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Client)> {
        let clients = self.slots.iter().zip(0..);
        clients.filter_map(|(client, index)| client.as_ref().map(|client| (index, client)))
    }

    /// A datagram for a client was received.
    pub(crate) fn touch(&mut self, index: u32, now: Time) {
        if let Some(Some(client)) = self.slots.get_mut(index as usize) {
            client.active = now;
        }
    }

    /// Removes those that were idle for longer than `idle`.
    pub(crate) fn remove_idle(&mut self, now: Time, idle: Span) {
        for slot in &mut self.slots {
            if let Some(client) = slot.take_if(|client| now.since(client.active) > idle) {
                self.by_address.remove(&client.address);
            }
        }
    }

    fn admit(&mut self, address: SocketAddr, open: impl FnOnce() -> Option<Socket>) -> Option<u32> {
        let client = if self.by_address.len() < self.limit { open() } else { None };
        let Some(upstream) = client else {
            self.refused += 1;
            return None;
        };
        let client = Some(Client { address, upstream, active: Time::ZERO });
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
        clients.remove_idle(second(15), Span::from_secs(9));
        assert!(clients.get(1).is_none() && clients.get(0).is_some());
        assert_eq!(clients.at(address(3), second(16), open), Some(1));
        assert_eq!((clients.seen, clients.refused), (3, 1));
    }
}
