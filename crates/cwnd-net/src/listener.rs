//! Sockets that wait for connections.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Deadline;
use crate::connection::Owned;
use crate::error::{AcceptError, BindError};
use crate::messenger::UdtMessenger;
use crate::options::Options;
use crate::port::{Command, Port, User};
use crate::socket::Socket;
use crate::stream::UdtStream;
use crate::waiting::{Bell, Patience};

/// Accepts connections: streams, or with [`UdtMessageListener`] those that carry messages.
///
/// ```
/// use std::io::{Read, Write};
/// use cwnd_net::{UdtListener, UdtStream};
///
/// let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse()?)?;
/// let address = listener.local_addr();
/// let client = std::thread::spawn(move || {
///     let mut stream = UdtStream::connect(address).unwrap();
///     stream.write_all(b"over UDT").unwrap();
///     stream.close().unwrap();
/// });
/// let (mut stream, _from) = listener.accept()?;
/// let mut text = String::new();
/// stream.read_to_string(&mut text)?;
/// assert_eq!(text, "over UDT");
/// client.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UdtListener<S = UdtStream> {
    port: User,
    backlog: Arc<Backlog>,
    timeout: Mutex<Option<Duration>>,
    accepts: PhantomData<fn() -> S>,
}

/// Accepts connections that carry messages.
pub type UdtMessageListener = UdtListener<UdtMessenger>;

/// Connections of an endless listener, one after the other.
#[derive(Debug)]
pub struct Incoming<'a, S> {
    listener: &'a UdtListener<S>,
}

impl<S: Socket> UdtListener<S> {
    /// Listens at `local`; port 0 is one of the system's choice. A listener at `[::]` accepts IPv4 too, whose addresses then look like
    /// `::ffff:192.0.2.1`, unless the system keeps the two apart (`net.ipv6.bindv6only` of Linux); one at `0.0.0.0` accepts IPv4
    /// alone. Answers leave from the address that was called.
    ///
    /// # Errors
    /// The address is in use or not this host's, or the system refuses something else that is needed.
    pub fn bind(local: SocketAddr) -> Result<Self, BindError> {
        Self::bind_with(local, &Options::default())
    }

    /// Listens at `local` with options of one's own.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), and if the options cannot be used.
    pub fn bind_with(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        Ok(Self::on(Port::open(local, options)?, options))
    }

    pub(crate) fn on(port: User, options: &Options) -> Self {
        let backlog = Arc::new(Backlog::default());
        let mut settings = options.settings.clone();
        settings.mode = S::MODE;
        port.tell(Command::Listen(Box::new(settings), options.backlog, Arc::clone(&backlog)));
        Self { port, backlog, timeout: Mutex::default(), accepts: PhantomData }
    }

    /// The next connection and its peer's address. Waits for one, but no longer than the [timeout](Self::set_timeout).
    ///
    /// # Errors
    /// Nobody called in time, or the port is shut.
    pub fn accept(&self) -> Result<(S, SocketAddr), AcceptError> {
        let timeout = *self.timeout.lock().unwrap_or_else(PoisonError::into_inner);
        let owned = self.accept_with(Patience::Until(Deadline::after(timeout)))?;
        let peer = owned.connection.peer;
        Ok((S::of(owned), peer))
    }

    pub(crate) fn accept_with(&self, patience: Patience<'_>) -> Result<Owned, AcceptError> {
        self.backlog.take(patience)
    }

    /// Connections as they come, for ever.
    pub fn incoming(&self) -> Incoming<'_, S> {
        Incoming { listener: self }
    }

    /// How long [`accept`](Self::accept) waits; without end for none, which is how it begins.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.port.port().local()
    }
}

impl<S> Drop for UdtListener<S> {
    fn drop(&mut self) {
        self.port.tell(Command::Unlisten(Arc::clone(&self.backlog)));
        self.backlog.shut();
    }
}

impl<S: Socket> Iterator for Incoming<'_, S> {
    type Item = Result<(S, SocketAddr), AcceptError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.listener.accept() {
            Err(AcceptError::Port) => None,
            other => Some(other),
        }
    }
}

/// Connections that wait to be accepted.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    state: Mutex<State>,
    news: Bell,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Owned>,
    shut: bool,
}

impl Backlog {
    /// Adds a connection, unless nobody will accept it any more.
    pub(crate) fn put(&self, owned: Owned) {
        let mut state = self.state();
        if state.shut {
            owned.give_up();
            // This is the thread for which others wait.
            drop(owned.impatient());
            return;
        }
        state.waiting.push_back(owned);
        drop(state);
        self.news.ring();
    }

    /// Nothing is accepted any more. Connections that wait are given up.
    pub(crate) fn shut(&self) {
        let mut state = self.state();
        state.shut = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.news.ring();
        waiting.iter().for_each(Owned::give_up);
    }

    fn take(&self, patience: Patience<'_>) -> Result<Owned, AcceptError> {
        let mut state = self.state();
        loop {
            if let Some(owned) = state.waiting.pop_front() {
                owned.taken();
                return Ok(owned);
            }
            if state.shut {
                return Err(AcceptError::Port);
            }
            state = self.news.wait(state, patience).ok_or(AcceptError::Timeout)?;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
