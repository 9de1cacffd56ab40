//! The host of an end: what the adapters of all stacks of this program have in common.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use cwnd::Time;
use cwnd_stack::{Connection, Endpoint, Pair};

use crate::system::System;

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// It sends data.
    Client,
    /// It reads all data at once.
    Server,
}

/// An end of a stack with the clock and the random numbers that it sees.
#[derive(Debug)]
pub(crate) struct Host<E> {
    system: System,
    pub(crate) end: E,
}

impl Side {
    pub(crate) fn address(self) -> SocketAddr {
        let host = match self {
            Self::Client => 1,
            Self::Server => 2,
        };
        SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), 4433)
    }

    pub(crate) fn peer(self) -> SocketAddr {
        let peer = match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        };
        peer.address()
    }
}

impl<E> Host<E> {
    /// Lets the end do something at `now`.
    pub(crate) fn at<R>(&mut self, now: Time, call: impl FnOnce(&mut E) -> R) -> R {
        self.system.run(now, || call(&mut self.end))
    }
}

/// Both ends of a connection, each of which `make` makes while it sees the system of its host.
///
/// # Panics
/// The stack refuses its configuration.
pub(crate) fn pair<E, F: Display>(asked: &Connection, make: impl Fn(Side) -> Result<E, F>) -> Pair
where
    Host<E>: Endpoint + 'static,
{
    let host = |side| {
        let mut system = System::new(asked.seed ^ u64::from(side == Side::Server) << 63);
        let end = system.run(asked.start, || make(side)).unwrap_or_else(|error| panic!("the configuration: {error}"));
        Box::new(Host { system, end })
    };
    Pair { sender: host(Side::Client), receiver: host(Side::Server) }
}

/// The sent data.
pub(crate) static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The server's certificate, which no client verifies, and its key.
pub(crate) const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/certificate.pem");
pub(crate) const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/key.pem");
/// The application protocol of both ends.
pub(crate) const PROTOCOL: &[u8] = b"simulated";
/// Flow control is never the limit on any path here.
pub(crate) const WINDOW: u64 = 1 << 60;
