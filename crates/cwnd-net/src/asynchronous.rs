//! Streams and listeners for tasks instead of threads.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use cwnd_udt::Mode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::duration;
use crate::connection::Owned;
use crate::error::{AcceptError, BindError, CloseError, ConnectError, Ended};
use crate::listener::UdtListener;
use crate::options::Options;
use crate::port::{Command, Outcome, Port, User, any};
use crate::socket::{UdtPort, ask};
use crate::stats::Stats;
use crate::stream::UdtStream;
use crate::waiting::{Patience, Question};

/// A [`UdtStream`] for tasks: [`AsyncRead`] and [`AsyncWrite`], on any runtime that drives them.
///
/// The thread of the UDP port does the work and wakes tasks; no connection has a thread of its own. Streams that are to share a port,
/// and so a thread, are [connected from](Self::connect_from) a [`UdtPort`] or accepted by an [`AsyncUdtListener`].
///
/// Every operation can be cancelled without a loss: what a dropped read did not return is read by the next, what a dropped write did
/// not count was not taken. `tokio::io::split` makes two halves for two tasks.
///
/// Writing waits while more lies here than the network needs, so that a task cannot outrun its peer. [`poll_shutdown`] waits until
/// the peer has everything, and, as UDT has no half-closed connections, ends reading too. Dropping a stream waits for nothing: the port's
/// thread goes on delivering what was written, up to the time to linger; only a [`close`](Self::close) tells what came of that, and only
/// while the process lives.
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
pub struct AsyncUdtStream(Owned);

/// A [`UdtListener`] for tasks, of [`AsyncUdtStream`]s.
#[derive(Debug)]
pub struct AsyncUdtListener(UdtListener<UdtStream>);

impl AsyncUdtStream {
    /// Connects to a listener, from a port of the system's choice, which has a thread of its own. Names are not looked up:
    /// `tokio::net::lookup_host` does so without blocking.
    ///
    /// # Errors
    /// Nobody answers, or the other side refuses.
    pub async fn connect(peer: SocketAddr) -> Result<Self, ConnectError> {
        Self::connect_with(peer, &Options::default()).await
    }

    /// Connects with options of one's own.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and if the options cannot be used.
    pub async fn connect_with(peer: SocketAddr, options: &Options) -> Result<Self, ConnectError> {
        call(Port::open(any(peer), options)?, peer, options).await
    }

    /// Connects from a port that many connections share.
    ///
    /// # Errors
    /// Nobody answers, the other side refuses, or the port has no room.
    pub async fn connect_from(port: &UdtPort, peer: SocketAddr) -> Result<Self, ConnectError> {
        call(port.user.port().user(), peer, &port.options).await
    }

    /// The other end.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.connection.peer
    }

    /// This end.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.connection.local
    }

    /// How the connection is doing, and what limits it; none once it is over and forgotten.
    pub async fn stats(&self) -> Option<Stats> {
        let question = self.0.ask_for_stats();
        poll_fn(|context| ready(question.wait(Patience::Task(context.waker())))).await.flatten()
    }

    /// Closes the stream, and waits until the peer has everything that was written, but not longer than the time to linger.
    ///
    /// # Errors
    /// The peer may not have everything.
    pub async fn close(self) -> Result<(), CloseError> {
        self.0.shutdown();
        poll_fn(|context| ready(self.0.ended(Patience::Task(context.waker())))).await
    }

    /// Closes the stream at once. What was written and has not been delivered is lost. UDT does not tell the peer how much that
    /// was: if nothing is missing between what has arrived, its reading ends as if this side had closed.
    pub fn abort(self) {
        self.0.give_up();
    }
}

impl AsyncRead for AsyncUdtStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if out.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        match self.0.read_with(out.initialize_unfilled(), Patience::Task(context.waker())) {
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
        ready(self.0.write_with(bytes, Patience::Task(context.waker())).transpose()).map_err(io::Error::from)
    }

    /// Nothing waits to be flushed: what was written leaves as soon as the network takes it.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.shutdown();
        ready(self.0.ended(Patience::Task(context.waker()))).map_err(io::Error::from)
    }
}

impl AsyncUdtListener {
    /// Listens at `local`; port 0 is one of the system's choice.
    ///
    /// # Errors
    /// The address is in use or not this host's, or the system refuses something else that is needed.
    pub fn bind(local: SocketAddr) -> Result<Self, BindError> {
        UdtListener::bind(local).map(Self)
    }

    /// Listens at `local` with options of one's own.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), and if the options cannot be used.
    pub fn bind_with(local: SocketAddr, options: &Options) -> Result<Self, BindError> {
        UdtListener::bind_with(local, options).map(Self)
    }

    /// Listens on a port that is open already. There can be one listener at a time; a new one takes the place of the old.
    #[must_use]
    pub fn on(port: &UdtPort) -> Self {
        Self(port.listen())
    }

    /// The next connection and its peer's address. A cancelled call loses none.
    ///
    /// # Errors
    /// The port is shut.
    pub async fn accept(&mut self) -> Result<(AsyncUdtStream, SocketAddr), AcceptError> {
        let owned = poll_fn(|context| match self.0.accept_with(Patience::Task(context.waker())) {
            Err(AcceptError::Timeout) => Poll::Pending,
            other => Poll::Ready(other),
        });
        let owned = owned.await?;
        let peer = owned.connection.peer;
        Ok((AsyncUdtStream(owned.impatient()), peer))
    }

    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }
}

/// An attempt at a connection. Dropped before its end, it leaves none behind.
struct Call {
    user: User,
    question: Question<Outcome>,
}

async fn call(user: User, peer: SocketAddr, options: &Options) -> Result<AsyncUdtStream, ConnectError> {
    let question = ask(&user, peer, Mode::Stream, options, Command::Connect);
    let call = Call { user, question };
    let outcome = poll_fn(|context| ready(call.question.wait(Patience::Task(context.waker())))).await;
    let connection = outcome.unwrap_or(Err(ConnectError::Port))?;
    let linger = duration(options.settings.linger);
    Ok(AsyncUdtStream(Owned::new(connection, call.user.port().user(), linger).impatient()))
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(Ok(connection)) = self.question.withdraw() {
            self.user.tell(Command::Abort(connection.handle));
        }
    }
}

fn ready<T>(what: Option<T>) -> Poll<T> {
    what.map_or(Poll::Pending, Poll::Ready)
}
