//! The clients of a server: their limit, which client gives up its place for another, and when a slow client is removed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwnd_net::cwnd_udt::places::{Places, Standing};
use cwnd_net::{Options, UdtStream};

use crate::clock::Stopwatch;

/// The clients that are served. Networks share the places as [`Places`] says: a client makes room for another one, unless it has proven
/// who it is. One that moves less than the least is dropped.
#[derive(Clone)]
pub(super) struct Clients {
    clock: Stopwatch,
    state: Arc<Mutex<State>>,
}

struct State {
    places: Places<u64>,
    clients: BTreeMap<u64, Client>,
    next: u64,
    swept_at: Duration,
}

struct Client {
    stream: UdtStream,
    /// The number of the first connection of its bundle.
    bundle: u64,
    progress: Progress,
}

/// The data that a client has moved since it was last judged.
#[derive(Clone, Copy, Debug)]
struct Progress {
    standing: Standing,
    since: Duration,
    bytes: u64,
}

/// The place of a client, which is free again when this is dropped.
pub(super) struct Place {
    clients: Clients,
    number: u64,
}

/// The options of a port that has a bound for clients.
pub(super) fn bounded(options: Options) -> Options {
    // Those that are being closed, or have not been accepted, count too.
    let connections = 4 * MAX;
    options.max_clients(connections as u32, 2 * MAX_PER_ADDRESS as u32).backlog(connections).clients_make_room(true)
}

impl Default for Clients {
    fn default() -> Self {
        let state = State {
            places: Places::new(MAX, MAX_PER_ADDRESS),
            clients: BTreeMap::new(),
            next: 0,
            swept_at: Duration::ZERO,
        };
        Self { clock: Stopwatch::start(), state: Arc::new(Mutex::new(state)) }
    }
}

impl Clients {
    /// A place for a client, if there is one or another client makes room; else none.
    pub(super) fn admit(&self, stream: &UdtStream, from: SocketAddr) -> Option<Place> {
        let mut state = self.lock();
        let number = state.next;
        let lost = state.places.take(number, from.ip()).ok()?;
        state.next += 1;
        let dropped = lost.and_then(|lost| state.clients.remove(&lost));
        let progress = Progress { standing: Standing::Idle, since: self.clock.elapsed(), bytes: 0 };
        state.clients.insert(number, Client { stream: stream.clone(), bundle: number, progress });
        drop(state);
        if let Some(client) = dropped {
            client.stream.abort();
        }
        Some(Place { clients: self.clone(), number })
    }

    /// Ends the connections of clients that are too slow. It may be called often.
    pub(super) fn sweep(&self) {
        let now = self.clock.elapsed();
        let mut state = self.lock();
        if now.saturating_sub(state.swept_at) < SWEEP {
            return;
        }
        state.swept_at = now;
        // The lock keeps the last reference to a stream from being dropped here, which may wait for its peer.
        let mut moved = BTreeMap::<u64, u64>::new();
        for client in state.clients.values() {
            *moved.entry(client.bundle).or_default() +=
                client.stream.stats().map_or(0, |stats| stats.udt.bytes_received + stats.udt.bytes_acked);
        }
        for client in state.clients.values_mut() {
            if client.progress.is_too_slow(now, moved[&client.bundle]) {
                client.stream.clone().abort();
            }
        }
    }

    /// Ends the connections of all, which wakes the threads that wait for them.
    pub(super) fn abort(&self) {
        let streams: Vec<_> = self.lock().clients.values().map(|client| client.stream.clone()).collect();
        streams.into_iter().for_each(UdtStream::abort);
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().clients.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// Whether a client that has moved `bytes` in all until `now` has had time to do more.
    fn is_too_slow(&mut self, now: Duration, bytes: u64) -> bool {
        let took = now.saturating_sub(self.since);
        if self.standing == Standing::Idle {
            return took >= TO_REQUEST;
        }
        if took < PERIOD {
            return false;
        }
        let moved = bytes.saturating_sub(self.bytes);
        (self.since, self.bytes) = (now, bytes);
        moved < LEAST
    }
}

impl Place {
    /// The client has requested something, over the connections that have these places, and has proven nothing: it makes room only for
    /// a network that has fewer.
    pub(super) fn is_busy(places: &[Self]) {
        Self::set(places, Standing::Busy);
    }

    /// The client has proven who it is, and keeps its place.
    pub(super) fn is_proven(places: &[Self]) {
        Self::set(places, Standing::Kept);
    }

    fn set(places: &[Self], standing: Standing) {
        let Some(first) = places.first() else { return };
        let now = first.clients.clock.elapsed();
        let mut state = first.clients.lock();
        let State { places: all, clients, .. } = &mut *state;
        for place in places {
            let Some(client) = clients.get_mut(&place.number) else { continue };
            if client.progress.standing != Standing::Kept {
                all.set(place.number, standing);
                client.stream.set_standing(standing);
                client.bundle = first.number;
                client.progress = Progress { standing, since: now, bytes: 0 };
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.clients.lock();
        state.places.release(self.number);
        let client = state.clients.remove(&self.number);
        // Dropping the last reference to a stream may wait for its peer.
        drop(state);
        drop(client);
    }
}

/// Each has a thread, and buffers of some megabytes.
const MAX: usize = 64;
/// The maximum for one address. Several transfers of one user or some users behind one address fit, but one address cannot take all places.
const MAX_PER_ADDRESS: usize = 16;
/// How long a client may take to prove who it is, or to request something, however many packets it sends.
const TO_REQUEST: Duration = Duration::from_secs(30);
/// The period in which a client has to move [`LEAST`] bytes, both directions together: 218 bytes a second. A receiver that verifies the
/// stored part of a large file moves nothing for a while.
const PERIOD: Duration = Duration::from_secs(300);
const LEAST: u64 = 64 << 10;
const SWEEP: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use cwnd_net::{UdtListener, UdtPort};

    use super::*;

    /// A server, and connections to it as if they came from other addresses.
    struct Crowd {
        listener: UdtListener,
        port: UdtPort,
        clients: Clients,
        streams: Vec<UdtStream>,
    }

    impl Crowd {
        fn new() -> Self {
            let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
            let listener = UdtListener::bind_with(local, &Options::default().backlog(100)).unwrap();
            let port = UdtPort::bind(local, &Options::default()).unwrap();
            Self { listener, port, clients: Clients::default(), streams: Vec::new() }
        }

        fn come(&mut self, ip: [u8; 4]) -> Option<Place> {
            self.streams.push(self.port.connect::<UdtStream>(self.listener.local_addr()).unwrap());
            let (stream, _) = self.listener.accept().unwrap();
            let place = self.clients.admit(&stream, SocketAddr::from((ip, 1)));
            self.streams.push(stream);
            place
        }

        fn has(&self, place: &Place) -> bool {
            self.clients.lock().clients.contains_key(&place.number)
        }
    }

    impl Drop for Crowd {
        fn drop(&mut self) {
            self.streams.drain(..).for_each(UdtStream::abort);
        }
    }

    #[test]
    fn those_who_request_nothing_make_room() {
        let mut crowd = Crowd::new();
        // One address takes its part, and then makes room by what it holds idle itself.
        let mut greedy: Vec<_> = (0..MAX_PER_ADDRESS).map(|_| crowd.come([192, 0, 2, 1]).unwrap()).collect();
        Place::is_busy(&greedy[1..]);
        greedy.push(crowd.come([192, 0, 2, 1]).unwrap());
        assert_eq!(crowd.clients.lock().clients.len(), MAX_PER_ADDRESS);
        assert!(!crowd.has(&greedy[0]));
        Place::is_proven(&greedy);
        assert!(crowd.come([192, 0, 2, 1]).is_none(), "all of them have requested something");

        // Others take the rest; then the one that has been idle for longest goes.
        let others: Vec<_> =
            (0..MAX - MAX_PER_ADDRESS).map(|at| crowd.come([198, 51, 100, at as u8 / 12]).unwrap()).collect();
        let last = crowd.come([203, 0, 113, 1]).unwrap();
        assert!(crowd.come([192, 0, 2, 1]).is_none(), "others make no room for an address that has its part");
        assert_eq!(crowd.clients.lock().clients.len(), MAX);
        assert!(!crowd.has(&others[0]));
        Place::is_proven(&others);
        Place::is_proven(std::slice::from_ref(&last));
        assert!(crowd.come([203, 0, 113, 2]).is_none());
        drop((greedy, others, last));
        assert!(crowd.clients.is_empty());
    }

    // 4 addresses of slow readers once held all places for as long as they liked.
    #[test]
    fn strangers_that_are_served_make_room_for_another_network() {
        let mut crowd = Crowd::new();
        let slow: Vec<_> = (0..MAX).map(|at| crowd.come([192, 0, 2, at as u8 / 16]).unwrap()).collect();
        Place::is_busy(&slow);
        let honest = crowd.come([198, 51, 100, 1]).unwrap();
        Place::is_busy(std::slice::from_ref(&honest));
        let late: Vec<_> = (0..20).filter_map(|at| crowd.come([192, 0, 2, at])).collect();
        assert!(crowd.has(&honest), "a network that has one lost it to one that has {}", MAX - 1);
        assert_eq!(late.iter().filter(|place| crowd.has(place)).count(), 1, "newcomers make room for each other first");
        assert_eq!(slow.iter().filter(|place| crowd.has(place)).count(), MAX - 2);
    }

    #[test]
    fn a_client_has_to_request_something_and_then_to_move_the_least() {
        let at = Duration::from_secs;
        let mut progress = Progress { standing: Standing::Idle, since: at(5), bytes: 0 };
        assert_eq!([34, 35].map(|now| progress.is_too_slow(at(now), 1 << 30)), [false, true], "bytes are no request");
        for standing in [Standing::Busy, Standing::Kept] {
            progress = Progress { standing, since: at(0), bytes: 0 };
            // A byte less than the least, over and over, is dropped at the end of the first period.
            assert!(!progress.is_too_slow(at(299), 0) && progress.is_too_slow(at(300), LEAST - 1));
            progress = Progress { standing, since: at(0), bytes: 0 };
            let periods: Vec<_> = (1..4).map(|period| progress.is_too_slow(at(300 * period), LEAST * period)).collect();
            assert_eq!(periods, [false; 3]);
            assert!(progress.is_too_slow(at(1200), LEAST * 3), "what was moved before counts no more");
        }
    }
}
