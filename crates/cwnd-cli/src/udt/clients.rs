//! The clients of a server: how many there may be, and who makes room for another.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd_net::cwnd_udt::quota::network;
use cwnd_net::{Options, UdtStream};

/// The clients that are served. One that has requested nothing yet is dropped when another needs its place.
#[derive(Clone, Default)]
pub(super) struct Clients(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// In the order in which they came.
    clients: Vec<Client>,
    next: u64,
}

struct Client {
    number: u64,
    /// As one address counts.
    network: IpAddr,
    active: bool,
    stream: UdtStream,
}

/// The place of a client, which is free again when this is dropped.
pub(super) struct Place {
    clients: Clients,
    number: u64,
}

/// The options of a port that has a bound for clients.
pub(super) fn bounded(options: Options) -> Options {
    // Those that are being closed, or have not been accepted, count too.
    options.max_clients(4 * MAX as u32, 2 * MAX_PER_ADDRESS as u32)
}

impl Clients {
    /// A place for a client, if there is one or another client has requested nothing; else none.
    pub(super) fn admit(&self, stream: &UdtStream, from: SocketAddr) -> Option<Place> {
        let network = network(from.ip());
        let mut state = self.lock();
        let full_address = state.clients.iter().filter(|client| client.network == network).count() >= MAX_PER_ADDRESS;
        let makes_room = |client: &Client| !client.active && (!full_address || client.network == network);
        let dropped = if full_address || state.clients.len() >= MAX {
            let index = state.clients.iter().position(makes_room)?;
            Some(state.clients.remove(index))
        } else {
            None
        };
        let number = state.next;
        state.next += 1;
        state.clients.push(Client { number, network, active: false, stream: stream.clone() });
        drop(state);
        if let Some(client) = dropped {
            client.stream.abort();
        }
        Some(Place { clients: self.clone(), number })
    }

    /// Ends the connections of all, which wakes the threads that wait for them.
    pub(super) fn abort(&self) {
        let streams: Vec<_> = self.lock().clients.iter().map(|client| client.stream.clone()).collect();
        streams.into_iter().for_each(UdtStream::abort);
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().clients.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The client has requested something, and keeps its place.
    pub(super) fn activate(&self) {
        let mut state = self.clients.lock();
        if let Some(client) = state.clients.iter_mut().find(|client| client.number == self.number) {
            client.active = true;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.clients.lock();
        let index = state.clients.iter().position(|client| client.number == self.number);
        let client = index.map(|index| state.clients.remove(index));
        // Dropping the last reference to a stream may wait for its peer.
        drop(state);
        drop(client);
    }
}

/// Each has a thread, and buffers of some megabytes.
const MAX: usize = 64;
/// Of them, at one address: several transfers of one user, or some users behind one address, and not all there is.
const MAX_PER_ADDRESS: usize = 16;

#[cfg(test)]
mod tests {
    use cwnd_net::{UdtListener, UdtPort};

    use super::*;

    #[test]
    fn those_who_request_nothing_make_room() {
        let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listener: UdtListener = UdtListener::bind_with(local, &Options::default().backlog(100)).unwrap();
        let clients = Clients::default();
        let port = UdtPort::bind(local, &Options::default()).unwrap();
        let mut streams = Vec::new();
        let mut come = |ip: [u8; 4]| {
            streams.push(port.connect::<UdtStream>(listener.local_addr()).unwrap());
            let (stream, _) = listener.accept().unwrap();
            let place = clients.admit(&stream, SocketAddr::from((ip, 1)));
            streams.push(stream);
            place
        };
        // One address takes its part, and then makes room by what it holds idle itself.
        let mut greedy: Vec<_> = (0..MAX_PER_ADDRESS).map(|_| come([192, 0, 2, 1]).unwrap()).collect();
        greedy.iter().skip(1).for_each(Place::activate);
        greedy.push(come([192, 0, 2, 1]).unwrap());
        assert_eq!(clients.lock().clients.len(), MAX_PER_ADDRESS);
        assert!(!clients.lock().clients.iter().any(|client| client.number == greedy[0].number));
        greedy.iter().for_each(Place::activate);
        assert!(come([192, 0, 2, 1]).is_none(), "all of them have requested something");

        // Others take the rest; then the one that has been idle for longest goes.
        let others: Vec<_> =
            (0..MAX - MAX_PER_ADDRESS).map(|at| come([198, 51, 100, at as u8 / 12]).unwrap()).collect();
        let last = come([203, 0, 113, 1]).unwrap();
        assert!(come([192, 0, 2, 1]).is_none(), "others make no room for an address that has its part");
        assert_eq!(clients.lock().clients.len(), MAX);
        assert!(!clients.lock().clients.iter().any(|client| client.number == others[0].number));
        others.iter().chain([&last]).for_each(Place::activate);
        assert!(come([203, 0, 113, 2]).is_none());
        drop((greedy, others, last));
        assert!(clients.is_empty());
        streams.into_iter().for_each(UdtStream::abort);
    }
}
