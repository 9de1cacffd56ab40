//! What streams and messengers have in common.

use std::net::{SocketAddr, ToSocketAddrs};

use cwnd_udt::{Mode, Settings};

use crate::clock::{Deadline, duration};
use crate::connection::Owned;
use crate::error::{BindError, ConnectError};
use crate::options::Options;
use crate::port::{Answer, Command, Outcome, Port, User, any};
use crate::waiting::{Patience, Question, question};

/// A kind of connection: [`UdtStream`](crate::UdtStream) or [`UdtMessenger`](crate::UdtMessenger).
pub trait Socket: Kind {}

/// What sets the kinds apart. Not to be named outside of this crate, so that there are no others.
pub trait Kind: Sized {
    /// What such a connection carries.
    const MODE: Mode;

    /// The application's end of a connection.
    fn of(owned: Owned) -> Self;
}

/// A UDP port for any number of connections, all served by one thread: a listener, and connections that leave from it.
///
/// ```
/// use cwnd_net::{Options, UdtListener, UdtPort, UdtStream};
///
/// let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse()?)?;
/// let port = UdtPort::bind("127.0.0.1:0".parse()?, &Options::default())?;
/// let one: UdtStream = port.connect(listener.local_addr())?;
/// let two: UdtStream = port.connect(listener.local_addr())?;
/// assert_eq!(one.local_addr(), two.local_addr());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UdtPort {
    pub(crate) user: User,
    pub(crate) options: Options,
}

impl UdtPort {
    /// Opens a port at `local`; 0 is one of the system's choice.
    ///
    /// # Errors
    /// The address is in use or not this host's, the options cannot be used, or the system refuses something else that is needed.
    pub fn bind(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        Ok(Self { user: Port::open(local, options)?, options: options.clone() })
    }

    /// Where it is.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.user.port().local()
    }

    /// The kernel's receive buffer in bytes: what was asked for, and what was granted. Less than asked for costs packets when the
    /// host is busy; `net.core.rmem_max` is the usual bound.
    #[must_use]
    pub fn socket_buffer(&self) -> (usize, usize) {
        self.user.port().buffer()
    }

    /// Connects to a listener.
    ///
    /// # Errors
    /// Nobody answers, the other side refuses, or the settings do not fit together.
    pub fn connect<S: Socket>(&self, peer: SocketAddr) -> Result<S, ConnectError> {
        call(self.user.port().user(), peer, &self.options, Command::Connect)
    }

    /// Meets a peer that calls this port while it is called.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub fn rendezvous<S: Socket>(&self, peer: SocketAddr) -> Result<S, ConnectError> {
        call(self.user.port().user(), peer, &self.options, Command::Rendezvous)
    }

    /// Accepts connections on this port. There can be one listener at a time; a new one takes the place of the old.
    #[must_use]
    pub fn listen<S: Socket>(&self) -> crate::UdtListener<S> {
        crate::UdtListener::on(self.user.port().user(), &self.options)
    }
}

/// Tries the addresses of `peer` one after the other, each from a port of its own.
pub(crate) fn connect<S: Socket>(peer: impl ToSocketAddrs, options: &Options) -> Result<S, ConnectError> {
    let mut failure = None;
    for peer in peer.to_socket_addrs().map_err(ConnectError::Address)? {
        match call(Port::open(any(peer), options)?, peer, options, Command::Connect) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| ConnectError::Address(std::io::ErrorKind::NotFound.into())))
}

/// Meets `peer`, which calls `local` while it is called.
pub(crate) fn rendezvous<S: Socket>(local: SocketAddr, peer: SocketAddr, options: &Options) -> Result<S, ConnectError> {
    call(Port::open(local, options)?, peer, options, Command::Rendezvous)
}

fn call<S: Socket>(
    user: User,
    peer: SocketAddr,
    options: &Options,
    command: fn(SocketAddr, Box<Settings>, Answer) -> Command,
) -> Result<S, ConnectError> {
    let outcome = ask(&user, peer, S::MODE, options, command).wait(Patience::Until(Deadline::after(None)));
    let connection = outcome.flatten().unwrap_or(Err(ConnectError::Port))?;
    Ok(S::of(Owned::new(connection, user, duration(options.settings.linger))))
}

/// Asks the thread of a port for a connection.
pub(crate) fn ask(
    user: &User,
    peer: SocketAddr,
    mode: Mode,
    options: &Options,
    command: fn(SocketAddr, Box<Settings>, Answer) -> Command,
) -> Question<Outcome> {
    let mut settings = options.settings.clone();
    settings.mode = mode;
    let (question, answer) = question();
    user.tell(command(peer, Box::new(settings), answer));
    question
}
