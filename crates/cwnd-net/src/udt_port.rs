//! UDP ports that many connections share.

use std::net::{SocketAddr, UdpSocket};

use crate::error::{BindError, ConnectError};
use crate::listener::UdtListener;
use crate::options::Options;
use crate::port::{Command, PortRef};
use crate::service;
use crate::socket::{Socket, call};

/// A UDP port for any number of connections, all served by one thread: a listener, and connections made from it.
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
    pub(crate) port: PortRef,
    pub(crate) options: Options,
}

impl UdtPort {
    /// Opens a port at `local`; if its port number is 0 the system chooses one.
    ///
    /// # Errors
    /// [`BindError::Socket`] if the address is in use or does not belong to this host, [`BindError::Settings`] if the options are out
    /// of range, and the other variants if the system provides no thread or no random numbers.
    pub fn bind(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        Ok(Self { port: service::open(local, options)?, options: options.clone() })
    }

    /// Makes a port of a socket that is bound, and perhaps known to others already: the mapping of a NAT belongs to the socket on which it
    /// was observed. Datagrams that have arrived there and are not UDT's are ignored.
    ///
    /// # Errors
    /// As [`bind`](Self::bind); [`BindError::Socket`] if the socket does not take the options of one of UDP.
    pub fn on(socket: UdpSocket, options: &Options) -> Result<Self, BindError> {
        Ok(Self { port: service::open_on(socket, options)?, options: options.clone() })
    }

    /// Its local address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.port.port().local()
    }

    /// The kernel's receive buffer in bytes: requested and granted. If less was granted, packets are lost when the host is busy; the
    /// usual limit is `net.core.rmem_max`.
    #[must_use]
    pub fn socket_buffer(&self) -> (usize, usize) {
        self.port.port().buffer()
    }

    /// Connects to a listener.
    ///
    /// # Errors
    /// [`ConnectError::Refused`] if the listener does not answer in time or refuses, [`ConnectError::Open`] if the port has as many
    /// connections as it can have, and [`ConnectError::Port`] if its thread has ended.
    pub fn connect<S: Socket>(&self, peer: SocketAddr) -> Result<S, ConnectError> {
        call(self.port.clone(), peer, &self.options, Command::Connect)
    }

    /// Connects to a peer that connects to this port at the same time.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`ConnectError::Open`] also if a rendezvous with `peer` is under way on this port.
    pub fn rendezvous<S: Socket>(&self, peer: SocketAddr) -> Result<S, ConnectError> {
        call(self.port.clone(), peer, &self.options, Command::Rendezvous)
    }

    /// Accepts connections on this port. There is one listener at a time; a new one replaces the old.
    #[must_use]
    pub fn listen<S: Socket>(&self) -> UdtListener<S> {
        UdtListener::on(self.port.clone(), &self.options)
    }
}
