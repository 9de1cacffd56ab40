//! Streams of bytes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use cwnd_udt::Mode;
use cwnd_udt::places::Standing;

use crate::error::{CloseError, ConnectError, Ended};
use crate::options::Options;
use crate::owned_connection::OwnedConnection;
use crate::socket::{self, Kind, Socket};
use crate::stats::Stats;

/// A reliable stream of bytes in both directions, as [`TcpStream`](std::net::TcpStream) is, over UDT.
///
/// Reading and writing block. Several threads may use one stream, through `&UdtStream` or a [clone](Self::try_clone). Nothing is
/// encrypted. Unlike TCP, UDT closes both directions at once: a peer that closes reads nothing more.
///
/// Dropping the last clone closes the stream and waits, as [`close`](Self::close) does, but does not report the outcome.
///
/// ```no_run
/// use std::io::Write;
/// use cwnd_net::UdtStream;
///
/// let mut stream = UdtStream::connect("192.0.2.1:9000")?;
/// stream.write_all(&[0; 1_000_000])?;
/// println!("{}", stream.stats().expect("the port lives as long as the stream"));
/// stream.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UdtStream(Arc<OwnedConnection>);

impl UdtStream {
    /// Connects to a listener, from a port that the system chooses. If a name has several addresses they are tried one after the other.
    ///
    /// # Errors
    /// [`ConnectError::Address`] if the name has no address, [`ConnectError::Bind`] if no port can be opened, [`ConnectError::Refused`] if
    /// the listener does not answer in time or refuses, and [`ConnectError::Port`] if the thread of the port has ended.
    pub fn connect(peer: impl ToSocketAddrs) -> Result<Self, ConnectError> {
        Self::connect_with(peer, &Options::default())
    }

    /// Connects with other than the default options.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`ConnectError::Bind`] also if an option is out of range.
    pub fn connect_with(peer: impl ToSocketAddrs, options: &Options) -> Result<Self, ConnectError> {
        socket::connect(peer, options)
    }

    /// Connects to a peer that connects to `local` at the same time: both sides call this, and neither listens.
    ///
    /// # Errors
    /// [`ConnectError::Bind`] if the port cannot be opened at `local` or an option is out of range, [`ConnectError::Refused`] if the peer
    /// does not answer in time or its settings do not fit, and [`ConnectError::Port`] if the thread of the port has ended.
    pub fn rendezvous(local: SocketAddr, peer: SocketAddr, options: &Options) -> Result<Self, ConnectError> {
        socket::rendezvous(local, peer, options)
    }

    /// The address of the peer.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.peer
    }

    /// The local address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.connection.local
    }

    /// How long reading waits for the first byte before it fails with [`WouldBlock`](io::ErrorKind::WouldBlock); without limit
    /// for none, the default.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        self.0.set_read_timeout(timeout);
    }

    /// How long writing waits for room before it fails with [`WouldBlock`](io::ErrorKind::WouldBlock); without limit for none, the
    /// default.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        self.0.set_write_timeout(timeout);
    }

    /// Another handle for the same stream.
    #[must_use]
    pub fn try_clone(&self) -> Self {
        self.clone()
    }

    /// Counters and measurements of the connection, and its current limit; none once it is closed.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.0.stats()
    }

    /// Ends writing, and closes the stream once everything written has been delivered. Does not wait for that.
    pub fn shutdown(&self) {
        self.0.shutdown();
    }

    /// Closes the stream, and waits until the peer has everything that was written, but not longer than the time to linger.
    /// Other clones of the stream can then read arrived data, and no longer write.
    ///
    /// # Errors
    /// [`CloseError::Lingered`] if the peer did not acknowledge everything within the time to linger, [`CloseError::Ended`] if the
    /// connection had ended before.
    pub fn close(self) -> Result<(), CloseError> {
        self.0.close()
    }

    /// Sets how firmly the client at the other end holds its place, where the listener has
    /// [clients that make room](Options::clients_make_room).
    pub fn set_standing(&self, standing: Standing) {
        self.0.set_standing(standing);
    }

    /// Closes the stream at once. Written data that has not been delivered is lost. UDT does not report to the peer how much that was: if
    /// everything sent so far has arrived there, its reading ends as if this side had closed.
    pub fn abort(self) {
        self.0.abort();
    }
}

impl Read for &UdtStream {
    /// Zero bytes are the end of the stream: the peer closed it after everything was delivered.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        match self.0.read(out) {
            Ok(Some(size)) => Ok(size),
            Ok(None) => Err(io::ErrorKind::WouldBlock.into()),
            Err(Ended::PeerClosed | Ended::Closed) => Ok(0),
            Err(ended) => Err(ended.into()),
        }
    }
}

impl Write for &UdtStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        self.0.write(bytes)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Does nothing: written data is sent as soon as congestion control allows.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for UdtStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&*self).read(out)
    }
}

impl Write for UdtStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kind for UdtStream {
    const MODE: Mode = Mode::Stream;

    fn of(connection: OwnedConnection) -> Self {
        Self(Arc::new(connection))
    }
}

impl Socket for UdtStream {}
