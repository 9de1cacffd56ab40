//! Sockets that accept connections.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backlog::Backlog;
use crate::clock::{Deadline, duration};
use crate::error::{AcceptError, BindError};
use crate::messenger::UdtMessenger;
use crate::options::Options;
use crate::owned_connection::{OwnedConnection, abort};
use crate::port::{Command, PortRef};
use crate::service;
use crate::socket::Socket;
use crate::stream::UdtStream;
use crate::wait::{Wait, lock};

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
    port: PortRef,
    backlog: Arc<Backlog>,
    linger: Duration,
    timeout: Mutex<Option<Duration>>,
    accepts: PhantomData<fn() -> S>,
}

/// Accepts connections that carry messages.
pub type UdtMessageListener = UdtListener<UdtMessenger>;

/// An iterator over the connections of a listener; it ends when the port is closed.
#[derive(Debug)]
pub struct Incoming<'a, S> {
    listener: &'a UdtListener<S>,
}

impl<S: Socket> UdtListener<S> {
    /// Listens at `local`; if its port number is 0 the system chooses one. A listener at `[::]` accepts IPv4 too, with addresses such as
    /// `::ffff:192.0.2.1`, unless the system separates the two (`net.ipv6.bindv6only` of Linux); one at `0.0.0.0` accepts IPv4 only.
    /// Answers are sent from the address to which the client sent.
    ///
    /// # Errors
    /// [`BindError::Socket`] if the address is in use or does not belong to this host, and the other variants if the system provides no
    /// thread or no random numbers.
    pub fn bind(local: SocketAddr) -> Result<Self, BindError> {
        Self::bind_with(local, &Options::default())
    }

    /// Listens at `local` with other than the default options.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), and [`BindError::Settings`] if an option is out of range.
    pub fn bind_with(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        Ok(Self::on(service::open(local, options)?, options))
    }

    pub(crate) fn on(port: PortRef, options: &Options) -> Self {
        let backlog = Arc::new(Backlog::new(options.backlog));
        let mut settings = options.settings.clone();
        settings.mode = S::MODE;
        port.send(Command::Listen(Box::new(settings), Arc::clone(&backlog)));
        let linger = duration(options.settings.linger);
        Self { port, backlog, linger, timeout: Mutex::default(), accepts: PhantomData }
    }

    /// Waits for the next connection, but no longer than the [timeout](Self::set_timeout); also returns its peer's address.
    ///
    /// # Errors
    /// [`AcceptError::Timeout`] if no client connected in time, [`AcceptError::Port`] if the thread of the port has ended.
    pub fn accept(&self) -> Result<(S, SocketAddr), AcceptError> {
        let timeout = *lock(&self.timeout);
        let connection = self.accept_with(Wait::Until(Deadline::after(timeout)))?;
        let peer = connection.connection.peer;
        Ok((S::of(connection), peer))
    }

    pub(crate) fn accept_with(&self, wait: Wait<'_>) -> Result<OwnedConnection, AcceptError> {
        let connection = self.backlog.pop(wait)?;
        self.port.send(Command::Accepted(connection.handle));
        Ok(OwnedConnection::new(connection, self.port.clone(), self.linger))
    }

    /// An iterator that [accepts](Self::accept) connections.
    pub fn incoming(&self) -> Incoming<'_, S> {
        Incoming { listener: self }
    }

    /// How long [`accept`](Self::accept) waits; without limit for none, the default.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        *lock(&self.timeout) = timeout;
    }

    /// The address at which it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.port.port().local()
    }
}

impl<S> Drop for UdtListener<S> {
    fn drop(&mut self) {
        self.port.send(Command::StopListening(Arc::clone(&self.backlog)));
        self.backlog.close().iter().for_each(|connection| abort(connection, &self.port));
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
