//! Streams and listeners for tasks instead of threads.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use cwnd_udt::Mode;
use cwnd_udt::places::Standing;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::duration;
use crate::error::{AcceptError, BindError, CloseError, ConnectError, Ended};
use crate::listener::UdtListener;
use crate::oneshot::{self, RecvError};
use crate::options::Options;
use crate::owned_connection::OwnedConnection;
use crate::port::{Command, ConnectOutcome, PortRef};
use crate::service;
use crate::socket::{request, unspecified};
use crate::stats::Stats;
use crate::stream::UdtStream;
use crate::udt_port::UdtPort;
use crate::wait::Wait;

/// A [`UdtStream`] for tasks: [`AsyncRead`] and [`AsyncWrite`], on any runtime that drives them.
///
/// The thread of the UDP port does the work and wakes tasks; a connection has no thread of its own. Streams share a port, and thus a
/// thread, if they are [connected from](Self::connect_from) one [`UdtPort`] or accepted by one [`AsyncUdtListener`].
///
/// Every operation is cancel-safe: the next read returns what a dropped read did not return, and a dropped write has written nothing.
/// `tokio::io::split` makes two halves for two tasks.
///
/// Writing waits while the send buffer holds more than the network needs. [`poll_shutdown`] waits until the peer has everything, and
/// ends reading too, since UDT has no half-closed connections. Dropping a stream does not wait: the thread of the port continues to deliver
/// written data, up to the time to linger, while the process lives. Only [`close`](Self::close) reports whether it was delivered.
///
/// [`poll_shutdown`]: AsyncWrite::poll_shutdown
///
/// ```
/// use cwnd_net::{AsyncUdtListener, AsyncUdtStream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut listener = AsyncUdtListener::bind("127.0.0.1:0".parse()?)?;
/// let address = listener.local_addr();
/// let client = tokio::spawn(async move {
///     let mut stream = AsyncUdtStream::connect(address).await?;
///     stream.write_all(b"over UDT").await?;
///     stream.shutdown().await
/// });
/// let (mut stream, _from) = listener.accept().await?;
/// let mut text = String::new();
/// stream.read_to_string(&mut text).await?;
/// assert_eq!(text, "over UDT");
/// client.await??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AsyncUdtStream(OwnedConnection);

/// A [`UdtListener`] for tasks, of [`AsyncUdtStream`]s.
#[derive(Debug)]
pub struct AsyncUdtListener(UdtListener<UdtStream>);

impl AsyncUdtStream {
    /// Connects to a listener, from a port that the system chooses, which has a thread of its own. To look up names without blocking use
    /// `tokio::net::lookup_host`.
    ///
    /// # Errors
    /// [`ConnectError::Refused`] if the listener does not answer in time or refuses, [`ConnectError::Bind`] if no port can be opened, and
    /// [`ConnectError::Port`] if its thread has ended.
    pub async fn connect(peer: SocketAddr) -> Result<Self, ConnectError> {
        Self::connect_with(peer, &Options::default()).await
    }

    /// Connects with other than the default options.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`ConnectError::Bind`] also if an option is out of range.
    pub async fn connect_with(peer: SocketAddr, options: &Options) -> Result<Self, ConnectError> {
        call(service::open(unspecified(peer), options)?, peer, options).await
    }

    /// Connects from a port that many connections share.
    ///
    /// # Errors
    /// [`ConnectError::Refused`] if the listener does not answer in time or refuses, [`ConnectError::Open`] if the port has as many
    /// connections as it can have, and [`ConnectError::Port`] if its thread has ended.
    pub async fn connect_from(port: &UdtPort, peer: SocketAddr) -> Result<Self, ConnectError> {
        call(port.port.clone(), peer, &port.options).await
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

    /// Counters and measurements of the connection, and its current limit; none once it is closed.
    pub async fn stats(&self) -> Option<Stats> {
        recv(&self.0.request_stats()).await
    }

    /// Closes the stream, and waits until the peer has everything that was written, but not longer than the time to linger.
    ///
    /// # Errors
    /// [`CloseError::Lingered`] if the peer did not acknowledge everything within the time to linger, [`CloseError::Ended`] if the
    /// connection had ended before.
    pub async fn close(self) -> Result<(), CloseError> {
        self.0.shutdown();
        poll_fn(|context| ready(self.0.wait_for_close(Wait::Task(context.waker())))).await
    }

    /// Sets the standing of the connection, as [`UdtStream::set_standing`](crate::UdtStream::set_standing) does.
    pub fn set_standing(&self, standing: Standing) {
        self.0.set_standing(standing);
    }

    /// Closes the stream at once. Written data that has not been delivered is lost. UDT does not report to the peer how much that was: if
    /// everything sent so far has arrived there, its reading ends as if this side had closed.
    pub fn abort(self) {
        self.0.abort();
    }
}

impl AsyncRead for AsyncUdtStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if out.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        match self.0.read_with(out.initialize_unfilled(), Wait::Task(context.waker())) {
            Ok(Some(size)) => {
                out.advance(size);
                Poll::Ready(Ok(()))
            }
            Ok(None) => Poll::Pending,
            Err(Ended::PeerClosed | Ended::Closed) => Poll::Ready(Ok(())),
            Err(ended) => Poll::Ready(Err(ended.into())),
        }
    }
}

impl AsyncWrite for AsyncUdtStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready(self.0.write_with(bytes, Wait::Task(context.waker())).transpose()).map_err(io::Error::from)
    }

    /// Does nothing: written data is sent as soon as congestion control allows.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.shutdown();
        ready(self.0.wait_for_close(Wait::Task(context.waker()))).map_err(io::Error::from)
    }
}

impl AsyncUdtListener {
    /// Listens at `local`; if its port number is 0 the system chooses one.
    ///
    /// # Errors
    /// [`BindError::Socket`] if the address is in use or does not belong to this host, and the other variants if the system provides no
    /// thread or no random numbers.
    pub fn bind(local: SocketAddr) -> Result<Self, BindError> {
        UdtListener::bind(local).map(Self)
    }

    /// Listens at `local` with other than the default options.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), and [`BindError::Settings`] if an option is out of range.
    pub fn bind_with(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        UdtListener::bind_with(local, options).map(Self)
    }

    /// Listens on a port that is open already. There is one listener at a time; a new one replaces the old.
    #[must_use]
    pub fn on(port: &UdtPort) -> Self {
        Self(port.listen())
    }

    /// Waits for the next connection; also returns its peer's address. Cancel-safe.
    ///
    /// # Errors
    /// [`AcceptError::Port`] if the thread of the port has ended.
    pub async fn accept(&mut self) -> Result<(AsyncUdtStream, SocketAddr), AcceptError> {
        let connection = poll_fn(|context| match self.0.accept_with(Wait::Task(context.waker())) {
            Err(AcceptError::Timeout) => Poll::Pending,
            other => Poll::Ready(other),
        });
        let connection = connection.await?;
        let peer = connection.connection.peer;
        Ok((AsyncUdtStream(connection.without_blocking()), peer))
    }

    /// The address at which it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }
}

/// An attempt at a connection. Dropped before its end, it aborts the connection that may just have been made.
struct Call {
    port: PortRef,
    outcome: oneshot::Receiver<ConnectOutcome>,
}

async fn call(port: PortRef, peer: SocketAddr, options: &Options) -> Result<AsyncUdtStream, ConnectError> {
    let outcome = request(&port, peer, Mode::Stream, options, Command::Connect);
    let call = Call { port, outcome };
    let connection = recv(&call.outcome).await.unwrap_or(Err(ConnectError::Port))?;
    let linger = duration(options.settings.linger);
    Ok(AsyncUdtStream(OwnedConnection::new(connection, call.port.clone(), linger).without_blocking()))
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(Ok(connection)) = self.outcome.close() {
            self.port.send(Command::Abort(connection.handle));
        }
    }
}

/// Waits for the value of a channel; none if its sender is dropped.
async fn recv<T>(receiver: &oneshot::Receiver<T>) -> Option<T> {
    poll_fn(|context| match receiver.recv(Wait::Task(context.waker())) {
        Ok(value) => Poll::Ready(Some(value)),
        Err(RecvError::Closed) => Poll::Ready(None),
        Err(RecvError::Pending) => Poll::Pending,
    })
    .await
}

fn ready<T>(value: Option<T>) -> Poll<T> {
    value.map_or(Poll::Pending, Poll::Ready)
}
