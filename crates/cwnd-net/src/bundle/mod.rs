//! One stream of bytes over several connections.
//!
//! Written data is cut into chunks of up to [`CHUNK`] bytes, numbered in their order. Each connection has a thread that sends the next
//! chunk whenever its send buffer has room, so that a faster connection carries more, and one that receives chunks, which are put into
//! order again. The connections are as they are without this: each has its own congestion control.

mod incoming;
mod join;
mod outgoing;

use std::io::{self, Read, Write};
use std::net::ToSocketAddrs;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::clock::Deadline;
use crate::error::{CloseError, ConnectError, Ended};
use crate::options::Options;
use crate::stats::Stats;
use crate::stream::UdtStream;
use crate::wait::{Wait, lock};

use incoming::Incoming;
use outgoing::Outgoing;

pub use join::Bundles;

/// A reliable stream of bytes in both directions over one or several connections, used as a [`UdtStream`] is.
///
/// N connections compete with others on the path as N flows do, and so get up to N times the share of one. One connection that ends
/// before the others ends the whole. A client opens a bundle by [`connect_with`](Self::connect_with), and a server
/// collects its connections by [`Bundles`]. A bundle of one connection is that connection: nothing is added to its bytes, and no thread.
///
/// Dropping the last clone closes it, as [`close`](Self::close) does.
#[derive(Clone, Debug)]
pub struct UdtBundle(Arc<Bundle>);

#[derive(Debug)]
enum Bundle {
    Single {
        stream: UdtStream,
        /// Bytes that were read from it before it became a bundle.
        unread: Mutex<Vec<u8>>,
    },
    Several(Several),
}

/// Several connections, and the threads that serve them.
#[derive(Debug)]
struct Several {
    streams: Vec<UdtStream>,
    incoming: Arc<Incoming>,
    outgoing: Arc<Outgoing>,
}

impl UdtBundle {
    /// Connects to a server that has [`Bundles`], `streams` times at once.
    ///
    /// # Errors
    /// As [`UdtStream::connect_with`] where one of them fails; [`ConnectError::Streams`] if the server allows fewer, and
    /// [`ConnectError::Join`] if it joins none or has no room for them.
    ///
    /// # Panics
    /// If `streams` is not 1 to [`MAX_STREAMS`].
    pub fn connect_with(peer: impl ToSocketAddrs, options: &Options, streams: u8) -> Result<Self, ConnectError> {
        assert!((1..=MAX_STREAMS).contains(&streams), "a bundle has 1 to {MAX_STREAMS} connections");
        let peer: Vec<_> = peer.to_socket_addrs().map_err(ConnectError::Address)?.collect();
        if streams == 1 {
            return UdtStream::connect_with(&*peer, options).map(Self::from);
        }
        join::connect(&peer, options, streams).and_then(|streams| Self::several(streams).map_err(ConnectError::Join))
    }

    fn several(streams: Vec<UdtStream>) -> io::Result<Self> {
        let bundle = Several {
            incoming: Arc::new(Incoming::new(streams.len())),
            outgoing: Arc::new(Outgoing::new(streams.len())),
            streams,
        };
        for stream in &bundle.streams {
            // UDT notices by itself that a peer is gone, and one connection may have nothing to carry for long.
            stream.set_read_timeout(None);
            stream.set_write_timeout(None);
            let (from, incoming) = (stream.clone(), Arc::clone(&bundle.incoming));
            let (to, outgoing) = (stream.clone(), Arc::clone(&bundle.outgoing));
            // Dropping the bundle on an error ends the threads there are.
            thread::Builder::new().name("cwnd bundle in".to_owned()).spawn(move || incoming.receive(from))?;
            outgoing.begin();
            let sender = Arc::clone(&outgoing);
            if let Err(error) =
                thread::Builder::new().name("cwnd bundle out".to_owned()).spawn(move || outgoing.send(&to))
            {
                sender.end();
                return Err(error);
            }
        }
        Ok(Self(Arc::new(Bundle::Several(bundle))))
    }

    /// A bundle of one connection, from which bytes of the carried stream, `unread`, have been read.
    fn single(stream: UdtStream, unread: Vec<u8>) -> Self {
        Self(Arc::new(Bundle::Single { stream, unread: Mutex::new(unread) }))
    }

    /// Its connections.
    #[must_use]
    pub fn streams(&self) -> &[UdtStream] {
        match &*self.0 {
            Bundle::Single { stream, .. } => std::slice::from_ref(stream),
            Bundle::Several(several) => &several.streams,
        }
    }

    /// Counters and measurements of its first connection; none once one of them is closed.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        let mut all = self.streams().iter().map(UdtStream::stats);
        let first = all.next()?;
        all.all(|stats| stats.is_some()).then_some(first)?
    }

    /// Sets the timeout of reading, as [`UdtStream::set_read_timeout`] does.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        match &*self.0 {
            Bundle::Single { stream, .. } => stream.set_read_timeout(timeout),
            Bundle::Several(several) => several.incoming.set_timeout(timeout),
        }
    }

    /// Sets the timeout of writing, as [`UdtStream::set_write_timeout`] does.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        match &*self.0 {
            Bundle::Single { stream, .. } => stream.set_write_timeout(timeout),
            Bundle::Several(several) => several.outgoing.set_timeout(timeout),
        }
    }

    /// Closes all connections, and waits until the peer has everything that was written, as [`UdtStream::close`] does.
    ///
    /// # Errors
    /// As [`UdtStream::close`], of the first connection that fails.
    pub fn close(self) -> Result<(), CloseError> {
        match &*self.0 {
            Bundle::Single { stream, .. } => stream.clone().close(),
            Bundle::Several(several) => several.close(),
        }
    }

    /// Closes all connections at once, as [`UdtStream::abort`] does.
    pub fn abort(self) {
        match &*self.0 {
            Bundle::Single { stream, .. } => stream.clone().abort(),
            Bundle::Several(several) => several.abort(),
        }
    }
}

impl From<UdtStream> for UdtBundle {
    fn from(stream: UdtStream) -> Self {
        Self::single(stream, Vec::new())
    }
}

impl Several {
    fn close(&self) -> Result<(), CloseError> {
        self.incoming.close();
        if !self.outgoing.close(Deadline::after(Some(LINGER))) {
            self.abort();
            return Err(CloseError::Lingered);
        }
        // All at once, or each would wait for its own last acknowledgement.
        self.streams.iter().for_each(UdtStream::shutdown);
        let closed: Vec<_> = self.streams.iter().map(|stream| stream.clone().close()).collect();
        closed.into_iter().collect()
    }

    fn abort(&self) {
        self.incoming.close();
        self.outgoing.close(Deadline::after(Some(Duration::ZERO)));
        self.streams.iter().cloned().for_each(UdtStream::abort);
    }
}

impl Drop for Several {
    fn drop(&mut self) {
        // Closing a closed bundle again returns at once.
        let _ = self.close();
    }
}

impl Read for &UdtBundle {
    /// Zero bytes are the end: the peer has closed all connections.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &*self.0 {
            Bundle::Single { stream, unread } => {
                let mut unread = lock(unread);
                if unread.is_empty() {
                    drop(unread);
                    return (&*stream).read(out);
                }
                let size = unread.len().min(out.len());
                out[..size].copy_from_slice(&unread[..size]);
                unread.drain(..size);
                Ok(size)
            }
            Bundle::Several(several) => several.incoming.read(out),
        }
    }
}

impl Write for &UdtBundle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &*self.0 {
            Bundle::Single { stream, .. } => (&*stream).write(bytes),
            Bundle::Several(several) => several.outgoing.write(bytes),
        }
    }

    /// Does nothing, as for a [`UdtStream`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for UdtBundle {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&*self).read(out)
    }
}

impl Write for UdtBundle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why reading or writing fails: errors of the system cannot be cloned.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Ended(Ended),
    /// The peer sends data that no bundle sends.
    Malformed(&'static str),
    Other(io::ErrorKind),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        let ended = error.get_ref().and_then(|source| source.downcast_ref::<Ended>());
        ended.map_or(Self::Other(error.kind()), |ended| Self::Ended(*ended))
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Ended(ended) => ended.into(),
            Fault::Malformed(what) => Self::new(io::ErrorKind::InvalidData, what),
            Fault::Other(kind) => kind.into(),
        }
    }
}

/// Until when a call waits.
fn until(timeout: Option<Duration>) -> Wait<'static> {
    Wait::Until(Deadline::after(timeout))
}

/// The most connections of a bundle.
pub const MAX_STREAMS: u8 = 8;

/// The most bytes of a chunk: as many as a system call sends.
const CHUNK: usize = 64 * 1024;
/// Before a chunk: its number (8 bytes) and its length (4), little-endian.
const CHUNK_HEADER: usize = 12;

/// How long closing waits for data that is not yet in a send buffer.
const LINGER: Duration = if cfg!(test) { Duration::from_millis(500) } else { Duration::from_secs(10) };

#[cfg(test)]
mod tests;
