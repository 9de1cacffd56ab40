//! The server: which visitors are admitted, and how many.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cwnd_udt::places::{Places, Standing};
use thiserror::Error;

use crate::http::{Gate, Refused, Request, close, redirect, refuse, send_part, send_report, upgrade};
use crate::shared::{Limits, Shared};
use crate::{report, session};

/// A server that has its address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    admission: Arc<Admission>,
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

/// Which visitors are admitted, and which are connected.
#[derive(Debug)]
struct Admission {
    gate: Gate,
    shared: Shared,
    open: Mutex<Open>,
}

/// The place of a connection, which is free again when this is dropped, in a panic too.
struct Place(Arc<Admission>, u64);

/// The connections there are. Networks share the places: a connection whose request has not arrived whole makes room for others.
#[derive(Debug)]
struct Open {
    streams: BTreeMap<u64, TcpStream>,
    strangers: Places<u64>,
    /// Beyond those of strangers, for who uses this host itself.
    owner: Places<u64>,
    next: u64,
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
        let gate = Gate { address, token };
        let open = Open {
            streams: BTreeMap::new(),
            strangers: Places::new(limits.connections, limits.connections_per_address),
            owner: Places::new(limits.connections.min(OWN), limits.connections_per_address.min(OWN)),
            next: 0,
        };
        let admission = Admission { gate, shared: Shared::new(limits), open: Mutex::new(open) };
        Ok(Self { listener, admission: Arc::new(admission) })
    }

    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        let Gate { address, token } = &self.admission.gate;
        format!("http://{address}/{token}/")
    }

    /// Serves until `should_continue` returns false, which is called ten times a second.
    pub fn serve(self, should_continue: impl Fn() -> bool) {
        let address = self.admission.gate.address;
        let admission = Arc::clone(&self.admission);
        let accepting = thread::spawn(move || accept(&self.listener, &admission));
        while should_continue() && !accepting.is_finished() {
            thread::sleep(POLL);
        }
        self.admission.shared.end();
        // Accepting ends with the next connection, sessions with their connections.
        let loopback =
            if address.is_ipv4() { IpAddr::from([127, 0, 0, 1]) } else { IpAddr::from([0_u16, 0, 0, 0, 0, 0, 0, 1]) };
        let ip = if address.ip().is_unspecified() { loopback } else { address.ip() };
        let _ = TcpStream::connect_timeout(&SocketAddr::new(ip, address.port()), POLL);
        for stream in self.admission.open().streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Admission {
    /// A place for a connection, if there is one, or another one makes room.
    fn admit(&self, stream: &TcpStream, from: IpAddr) -> Option<u64> {
        let clone = stream.try_clone().ok()?;
        let own = from.to_canonical().is_loopback() || stream.local_addr().is_ok_and(|local| local.ip() == from);
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        let places = if own { &mut open.owner } else { &mut open.strangers };
        if let Some(lost) = places.take(number, from).ok()?.and_then(|lost| open.streams.remove(&lost)) {
            // Wakes the thread that reads, which then ends.
            let _ = lost.shutdown(Shutdown::Both);
        }
        open.streams.insert(number, clone);
        Some(number)
    }

    /// A connection has sent a whole request with the token, and makes no more room for others.
    fn keep(&self, number: u64) {
        let mut open = self.open();
        open.owner.set(number, Standing::Kept);
        open.strangers.set(number, Standing::Kept);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.0.open();
        open.streams.remove(&self.1);
        open.owner.release(self.1);
        open.strangers.release(self.1);
    }
}

fn accept(listener: &TcpListener, admission: &Arc<Admission>) {
    while admission.shared.goes_on() {
        let Ok((mut stream, from)) = listener.accept() else {
            // Out of descriptors: connections that end give some back.
            thread::sleep(POLL);
            continue;
        };
        let Some(number) = admission.admit(&stream, from.ip()) else {
            let _ = stream.set_write_timeout(Some(POLL));
            let _ = refuse(&mut stream, Refused(503, "Service Unavailable"), "too many connections: try again later\n");
            continue;
        };
        let place = Place(Arc::clone(admission), number);
        // Where there is no thread for it, the place is dropped with the rest.
        let _ = thread::Builder::new().spawn(move || {
            // Messages of a visitor, or its leaving, are no fault of the server's.
            let _ = connection(stream, from.ip(), &place);
        });
    }
}

/// One request, or a session.
fn connection(mut stream: TcpStream, from: IpAddr, Place(admission, number): &Place) -> io::Result<()> {
    let limit = admission.shared.limits.request;
    stream.set_read_timeout(Some(limit / 2))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let request = admission.gate.request(&mut stream, limit)?;
    if request.is_ok() {
        admission.keep(*number);
    }
    match request {
        Ok(Request::Page(part)) => send_part(&mut stream, part)?,
        Ok(Request::Slash) => redirect(&mut stream, &admission.gate.token)?,
        Ok(Request::Report(body)) => match report::report(&body, from, &admission.shared) {
            Ok(html) => send_report(&mut stream, &html)?,
            Err(error) => refuse(&mut stream, Refused(422, "Unprocessable Content"), &error.to_string())?,
        },
        Ok(Request::Socket(key)) => {
            upgrade(&mut stream, &key)?;
            stream.set_read_timeout(Some(admission.shared.limits.idle))?;
            return session::serve(stream, from, &admission.shared);
        }
        Err(refused) => refuse(&mut stream, refused, refused.1)?,
    }
    close(stream)
}

/// 128 random bits.
fn random_token() -> Result<String, ServerError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(ServerError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Each takes two descriptors, and a process often has 1024.
const OWN: usize = 32;
const POLL: Duration = Duration::from_millis(100);
/// The time that a visitor has to receive sent data.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
