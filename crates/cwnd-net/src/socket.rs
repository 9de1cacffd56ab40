//! The common part of streams and messengers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use cwnd_udt::{Mode, Settings};

use crate::clock::{Deadline, duration};
use crate::error::ConnectError;
use crate::oneshot;
use crate::options::Options;
use crate::owned_connection::OwnedConnection;
use crate::port::{Command, ConnectOutcome, ConnectSender, PortRef};
use crate::service;
use crate::wait::Wait;

/// A kind of connection: [`UdtStream`](crate::UdtStream) or [`UdtMessenger`](crate::UdtMessenger).
pub trait Socket: Kind {}

/// A kind of connection. Its name is private to this crate, so that there are no further kinds.
pub trait Kind: Sized {
    /// The mode of such a connection.
    const MODE: Mode;

    /// The socket for a connection.
    fn of(connection: OwnedConnection) -> Self;
}

/// Tries the addresses of `peer` one after the other, each from a port of its own.
pub(crate) fn connect<S: Socket>(peer: impl ToSocketAddrs, options: &Options) -> Result<S, ConnectError> {
    let mut failure = None;
    for peer in peer.to_socket_addrs().map_err(ConnectError::Address)? {
        match call(service::open(unspecified(peer), options)?, peer, options, Command::Connect) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| ConnectError::Address(std::io::ErrorKind::NotFound.into())))
}

/// Connects to `peer`, which connects to `local` at the same time.
pub(crate) fn rendezvous<S: Socket>(local: SocketAddr, peer: SocketAddr, options: &Options) -> Result<S, ConnectError> {
    call(service::open(local, options)?, peer, options, Command::Rendezvous)
}

/// Asks the thread of a port for a connection, and waits for it.
pub(crate) fn call<S: Socket>(
    port: PortRef,
    peer: SocketAddr,
    options: &Options,
    command: fn(SocketAddr, Box<Settings>, ConnectSender) -> Command,
) -> Result<S, ConnectError> {
    let outcome = request(&port, peer, S::MODE, options, command).recv(Wait::Until(Deadline::after(None)));
    let connection = outcome.unwrap_or(Err(ConnectError::Port))?;
    Ok(S::of(OwnedConnection::new(connection, port, duration(options.settings.linger))))
}

/// Asks the thread of a port for a connection.
pub(crate) fn request(
    port: &PortRef,
    peer: SocketAddr,
    mode: Mode,
    options: &Options,
    command: fn(SocketAddr, Box<Settings>, ConnectSender) -> Command,
) -> oneshot::Receiver<ConnectOutcome> {
    let mut settings = options.settings.clone();
    settings.mode = mode;
    let (sender, receiver) = oneshot::channel();
    port.send(command(peer, Box::new(settings), sender));
    receiver
}

/// The unspecified address of the same family as `peer`, with a port number chosen by the system.
pub(crate) fn unspecified(peer: SocketAddr) -> SocketAddr {
    let ip: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    SocketAddr::new(ip, 0)
}
