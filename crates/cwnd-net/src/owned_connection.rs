//! A connection as its application owns it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cwnd_udt::connection::MessageOptions;
use cwnd_udt::places::Standing;

use crate::clock::Deadline;
use crate::connection::Connection;
use crate::error::{CloseError, Ended};
use crate::oneshot;
use crate::port::{Command, PortRef};
use crate::stats::Stats;
use crate::wait::{Wait, lock};

/// The application's end of a connection. Dropping it closes the connection.
#[derive(Debug)]
pub struct OwnedConnection {
    pub(crate) connection: Arc<Connection>,
    port: PortRef,
    linger: Duration,
    /// Whether dropping waits for the peer.
    blocks_on_drop: bool,
    writers: CallLock,
    readers: CallLock,
}

/// Lets one call at a time proceed, and holds its timeout.
#[derive(Debug, Default)]
struct CallLock {
    busy: Mutex<()>,
    timeout: Mutex<Option<Duration>>,
}

impl OwnedConnection {
    pub(crate) fn new(connection: Arc<Connection>, port: PortRef, linger: Duration) -> Self {
        let (writers, readers) = (CallLock::default(), CallLock::default());
        Self { connection, port, linger, blocks_on_drop: true, writers, readers }
    }

    /// Makes dropping the connection not wait: the thread of the port delivers written data.
    #[cfg(feature = "tokio")]
    pub(crate) fn without_blocking(mut self) -> Self {
        self.blocks_on_drop = false;
        self
    }

    /// Copies some of `bytes` for sending; none after the timeout for writing.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Option<usize>, Ended> {
        let (_guard, deadline) = self.writers.lock();
        self.write_with(bytes, Wait::Until(deadline))
    }

    /// Copies some of `bytes` for sending. The caller makes sure that there is one call at a time.
    pub(crate) fn write_with(&self, bytes: &[u8], wait: Wait<'_>) -> Result<Option<usize>, Ended> {
        let written = self.connection.send.write(bytes, wait)?;
        if written.is_some() {
            self.notify();
        }
        Ok(written)
    }

    /// Copies a message for sending; false after the timeout for writing.
    pub(crate) fn write_message(&self, bytes: &[u8], options: MessageOptions) -> Result<bool, Ended> {
        let (_guard, deadline) = self.writers.lock();
        let written = self.connection.send.write_message(bytes, options, Wait::Until(deadline))?;
        self.notify();
        Ok(written)
    }

    /// Fills `out` with bytes that have arrived; none after the timeout for reading.
    pub(crate) fn read(&self, out: &mut [u8]) -> Result<Option<usize>, Ended> {
        let (_guard, deadline) = self.readers.lock();
        self.read_with(out, Wait::Until(deadline))
    }

    /// Fills `out` with bytes that have arrived. The caller makes sure that there is one call at a time.
    pub(crate) fn read_with(&self, out: &mut [u8], wait: Wait<'_>) -> Result<Option<usize>, Ended> {
        let read = self.connection.receive.read(out, wait)?;
        Ok(read.map(|(size, packets)| {
            self.report(packets);
            size
        }))
    }

    /// Removes a message that has arrived; none after the timeout for reading.
    pub(crate) fn read_message(&self) -> Result<Option<Vec<u8>>, Ended> {
        let (_guard, deadline) = self.readers.lock();
        let read = self.connection.receive.read_message(Wait::Until(deadline))?;
        Ok(read.map(|(message, packets)| {
            self.report(packets);
            message
        }))
    }

    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) {
        *lock(&self.writers.timeout) = timeout;
    }

    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) {
        *lock(&self.readers.timeout) = timeout;
    }

    /// Closes the connection once everything is delivered, and does not wait for that.
    pub(crate) fn shutdown(&self) {
        self.connection.send.end(Ended::Closed);
        self.port.send(Command::Finish(self.connection.handle));
    }

    /// Closes the connection and waits until everything is delivered or the time to linger is over.
    pub(crate) fn close(&self) -> Result<(), CloseError> {
        self.shutdown();
        let deadline = Deadline::after(self.linger.checked_add(GRACE));
        self.wait_for_close(Wait::Until(deadline)).unwrap_or(Err(CloseError::Lingered))
    }

    /// Waits for the end of the connection: whether everything was delivered by then; none if it has not ended in time.
    pub(crate) fn wait_for_close(&self, wait: Wait<'_>) -> Option<Result<(), CloseError>> {
        Some(match self.connection.wait_for_end(wait)? {
            Ended::Closed => Ok(()),
            // The peer had acknowledged everything when it closed.
            Ended::PeerClosed if self.connection.send.is_empty() => Ok(()),
            Ended::Lingered => Err(CloseError::Lingered),
            ended => Err(CloseError::Ended(ended)),
        })
    }

    /// Sets how firmly the client at the other end holds its place.
    pub(crate) fn set_standing(&self, standing: Standing) {
        self.port.send(Command::SetStanding(self.connection.handle, standing));
    }

    /// Ends the connection at once. Undelivered data is lost.
    pub(crate) fn abort(&self) {
        abort(&self.connection, &self.port);
    }

    /// Counters and measurements of the connection; none once it is closed.
    pub(crate) fn stats(&self) -> Option<Stats> {
        self.request_stats().recv(Wait::Until(Deadline::after(None))).ok()
    }

    pub(crate) fn request_stats(&self) -> oneshot::Receiver<Stats> {
        let (sender, receiver) = oneshot::channel();
        self.port.send(Command::Stats(self.connection.handle, sender));
        receiver
    }

    /// Makes the thread of the port look at the buffers.
    fn notify(&self) {
        if !self.connection.notified.swap(true, Ordering::AcqRel) {
            self.port.send(Command::Notify(self.connection.handle));
        }
    }

    /// `packets` have been read and not reported. The next arrival reports them anyway, so that the thread is only notified if the
    /// window may soon be closed.
    fn report(&self, packets: u64) {
        if packets >= self.connection.report_threshold.load(Ordering::Relaxed) {
            self.notify();
        }
    }
}

/// Ends a connection at once.
pub(crate) fn abort(connection: &Connection, port: &PortRef) {
    connection.end(Ended::Aborted);
    port.send(Command::Abort(connection.handle));
}

impl CallLock {
    /// Waits for other calls, and begins the timeout.
    fn lock(&self) -> (MutexGuard<'_, ()>, Deadline) {
        let guard = lock(&self.busy);
        (guard, Deadline::after(*lock(&self.timeout)))
    }
}

impl Drop for OwnedConnection {
    fn drop(&mut self) {
        if !self.blocks_on_drop {
            self.shutdown();
            return;
        }
        // A thread that panics does not wait for the peer.
        if !std::thread::panicking() {
            // An application that needs the outcome calls `close`.
            let _outcome = self.close();
        }
        // Does nothing to a connection that is closed.
        self.port.send(Command::Abort(self.connection.handle));
        if self.connection.ended().is_none_or(|why| why == Ended::Aborted) {
            // The program may end now, and with it the thread; a peer that gets no shutdown packet waits until it times out.
            let (sender, receiver) = oneshot::channel();
            self.port.send(Command::Flush(sender));
            let _flushed = receiver.recv(Wait::Until(Deadline::after(Some(GRACE))));
        }
    }
}

/// After the time to linger the protocol closes the connection, and the thread of the port may take this long to report it.
const GRACE: Duration = Duration::from_secs(1);
