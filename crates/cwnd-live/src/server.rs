//! The server: who is let in, and how many.

use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::http::{Gate, Refused, Request, redirect, refuse, send_part, send_report, upgrade};
use crate::{report, session};

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

/// A server that has its address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The system gives no random bytes for a token.
    #[error("the system gives no random bytes for a token: {0}")]
    Random(getrandom::Error),
}

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    gate: Gate,
    pub(crate) limits: Limits,
    ended: AtomicBool,
    open: Mutex<Open>,
    runs: Mutex<usize>,
    freed: Condvar,
}

/// The connections there are.
#[derive(Debug, Default)]
struct Open {
    connections: Vec<(u64, IpAddr, TcpStream)>,
    next: u64,
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

impl Server {
    /// Listens at `address`; port 0 takes a free one. The token is random unless it is given.
    ///
    /// # Errors
    /// The address cannot be listened at, or the system has no random bytes.
    pub fn bind(address: SocketAddr, token: Option<String>, limits: Limits) -> Result<Self, ServerError> {
        let listener = TcpListener::bind(address).map_err(|error| ServerError::Bind { address, error })?;
        let address = listener.local_addr().map_err(|error| ServerError::Bind { address, error })?;
        let token = token.map_or_else(random_token, Ok)?;
        let shared = Shared {
            gate: Gate { address, token },
            limits,
            ended: AtomicBool::new(false),
            open: Mutex::default(),
            runs: Mutex::new(0),
            freed: Condvar::new(),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        let Gate { address, token } = &self.shared.gate;
        format!("http://{address}/{token}/")
    }

    /// Serves until `should_continue` returns false, which is called ten times a second.
    pub fn serve(self, should_continue: impl Fn() -> bool) {
        let address = self.shared.gate.address;
        let shared = Arc::clone(&self.shared);
        let accepting = thread::spawn(move || accept(&self.listener, &shared));
        while should_continue() && !accepting.is_finished() {
            thread::sleep(POLL);
        }
        self.shared.ended.store(true, Ordering::Relaxed);
        // Accepting ends with the next connection, sessions with their connections.
        let loopback =
            if address.is_ipv4() { IpAddr::from([127, 0, 0, 1]) } else { IpAddr::from([0_u16, 0, 0, 0, 0, 0, 0, 1]) };
        let ip = if address.ip().is_unspecified() { loopback } else { address.ip() };
        let _ = TcpStream::connect_timeout(&SocketAddr::new(ip, address.port()), POLL);
        for (_, _, stream) in &self.shared.open().connections {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
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

    /// A place for a connection, if there is one.
    fn admit(&self, stream: &TcpStream, from: IpAddr) -> Option<u64> {
        let mut open = self.open();
        let same = open.connections.iter().filter(|(_, address, _)| *address == from).count();
        if open.connections.len() >= self.limits.connections || same >= self.limits.connections_per_address {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.connections.push((number, from, stream.try_clone().ok()?));
        Some(number)
    }

    fn leave(&self, number: u64) {
        self.open().connections.retain(|(known, ..)| *known != number);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.runs.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while shared.goes_on() {
        let Ok((mut stream, from)) = listener.accept() else {
            // Out of descriptors: connections that end give some back.
            thread::sleep(POLL);
            continue;
        };
        let Some(number) = shared.admit(&stream, from.ip()) else {
            let _ = stream.set_write_timeout(Some(POLL));
            let _ = refuse(&mut stream, Refused(503, "Service Unavailable"), "too many visitors at this time\n");
            continue;
        };
        let own = Arc::clone(shared);
        let spawned = thread::Builder::new().spawn(move || {
            // What a visitor sends, or its leaving, is no fault of the server's.
            let _ = connection(stream, &own);
            own.leave(number);
        });
        if spawned.is_err() {
            shared.leave(number);
        }
    }
}

/// One request, or a session.
fn connection(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    match shared.gate.request(&mut stream)? {
        Ok(Request::Page(part)) => send_part(&mut stream, part),
        Ok(Request::Slash) => redirect(&mut stream, &shared.gate.token),
        Ok(Request::Report(body)) => match report::report(&body, shared) {
            Ok(html) => send_report(&mut stream, &html),
            Err(error) => refuse(&mut stream, Refused(422, "Unprocessable Content"), &error.to_string()),
        },
        Ok(Request::Socket(key)) => {
            upgrade(&mut stream, &key)?;
            stream.set_read_timeout(None)?;
            session::serve(stream, shared)
        }
        Err(refused) => refuse(&mut stream, refused, refused.1),
    }
}

/// 128 random bits.
fn random_token() -> Result<String, ServerError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(ServerError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

const POLL: Duration = Duration::from_millis(100);
/// For a request to arrive whole.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// For a visitor to take what is sent.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
