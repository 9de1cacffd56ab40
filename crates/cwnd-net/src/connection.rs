//! A connection as its application and the thread of its port share it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwnd_udt::Handle;
use cwnd_udt::connection::MessageOptions;

use crate::clock::Deadline;
use crate::error::{CloseError, Ended};
use crate::port::{Command, User};
use crate::receive_buffer::ReceiveBuffer;
use crate::send_buffer::SendBuffer;
use crate::stats::Stats;
use crate::waiting::{Bell, Patience, Question, question};

/// Both directions of a connection. The port's thread puts in and takes out; the application waits here.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) handle: Handle,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) send: SendBuffer<MessageOptions>,
    pub(crate) receive: ReceiveBuffer,
    /// How many packets the application may read before the protocol should hear of it.
    pub(crate) report: AtomicU64,
    /// The thread has been told to look at this connection, and has not yet done so.
    pub(crate) touched: AtomicBool,
    pub(crate) end: End,
}

/// Where an application waits for the end of a connection.
#[derive(Debug, Default)]
pub(crate) struct End {
    why: Mutex<Option<Ended>>,
    known: Bell,
}

/// An application's end of a connection. When it is dropped the connection is closed.
#[derive(Debug)]
pub struct Owned {
    pub(crate) connection: Arc<Connection>,
    port: User,
    linger: Duration,
    /// Whether whoever drops it waits for the peer.
    patient: bool,
    writing: Turn,
    reading: Turn,
}

/// One call at a time, and how long it may wait.
#[derive(Debug, Default)]
struct Turn {
    busy: Mutex<()>,
    limit: Mutex<Option<Duration>>,
}

impl Connection {
    /// Nothing more will happen on this connection.
    pub(crate) fn ended(&self, why: Ended) {
        self.send.end(why);
        self.receive.end(why);
        self.end.set(why);
    }
}

impl End {
    fn set(&self, why: Ended) {
        lock(&self.why).get_or_insert(why);
        self.known.ring();
    }

    fn wait(&self, patience: Patience<'_>) -> Option<Ended> {
        let mut why = lock(&self.why);
        while why.is_none() {
            why = self.known.wait(why, patience)?;
        }
        *why
    }
}

impl Owned {
    pub(crate) fn new(connection: Arc<Connection>, port: User, linger: Duration) -> Self {
        Self { connection, port, linger, patient: true, writing: Turn::default(), reading: Turn::default() }
    }

    /// Whoever drops it does not wait: the thread of the port delivers what was written.
    pub(crate) fn impatient(mut self) -> Self {
        self.patient = false;
        self
    }

    /// Copies some of `bytes` for sending; none if the time for writing is up.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Option<usize>, Ended> {
        let (_turn, deadline) = self.writing.begin();
        self.write_with(bytes, Patience::Until(deadline))
    }

    /// Copies some of `bytes` for sending. One call at a time: whoever calls sees to that.
    pub(crate) fn write_with(&self, bytes: &[u8], patience: Patience<'_>) -> Result<Option<usize>, Ended> {
        let written = self.connection.send.write(bytes, patience)?;
        if written.is_some() {
            self.touch();
        }
        Ok(written)
    }

    /// Copies a message for sending; false if the time for writing is up.
    pub(crate) fn write_message(&self, bytes: &[u8], options: MessageOptions) -> Result<bool, Ended> {
        let (_turn, deadline) = self.writing.begin();
        let written = self.connection.send.write_message(bytes, options, Patience::Until(deadline))?;
        self.touch();
        Ok(written)
    }

    /// Fills `out` with bytes that have arrived; none if the time for reading is up.
    pub(crate) fn read(&self, out: &mut [u8]) -> Result<Option<usize>, Ended> {
        let (_turn, deadline) = self.reading.begin();
        self.read_with(out, Patience::Until(deadline))
    }

    /// Fills `out` with bytes that have arrived. One call at a time: whoever calls sees to that.
    pub(crate) fn read_with(&self, out: &mut [u8], patience: Patience<'_>) -> Result<Option<usize>, Ended> {
        let read = self.connection.receive.read(out, patience)?;
        Ok(read.map(|(size, packets)| {
            self.report(packets);
            size
        }))
    }

    /// Takes a message that has arrived; none if the time for reading is up.
    pub(crate) fn read_message(&self) -> Result<Option<Vec<u8>>, Ended> {
        let (_turn, deadline) = self.reading.begin();
        let read = self.connection.receive.read_message(Patience::Until(deadline))?;
        Ok(read.map(|(message, packets)| {
            self.report(packets);
            message
        }))
    }

    pub(crate) fn set_write_timeout(&self, limit: Option<Duration>) {
        *lock(&self.writing.limit) = limit;
    }

    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) {
        *lock(&self.reading.limit) = limit;
    }

    /// Closes the connection once everything is delivered, and does not wait for that.
    pub(crate) fn shutdown(&self) {
        self.connection.send.end(Ended::Closed);
        self.port.tell(Command::Finish(self.connection.handle));
    }

    /// Closes the connection and waits until everything is delivered or the time to linger is over.
    pub(crate) fn close(&self) -> Result<(), CloseError> {
        self.shutdown();
        // The protocol gives up after the time to linger; a little more for its last word.
        let last = Deadline::after(self.linger.checked_add(GRACE));
        self.ended(Patience::Until(last)).unwrap_or(Err(CloseError::Lingered))
    }

    /// Waits for the end, and says whether everything was delivered by then; none if it does not come in time.
    pub(crate) fn ended(&self, patience: Patience<'_>) -> Option<Result<(), CloseError>> {
        Some(match self.connection.end.wait(patience)? {
            Ended::Closed => Ok(()),
            // Whatever was written had arrived when the peer closed.
            Ended::PeerClosed if self.connection.send.is_empty() => Ok(()),
            Ended::Lingered => Err(CloseError::Lingered),
            ended => Err(CloseError::Ended(ended)),
        })
    }

    /// Ends the connection at once, whatever it holds.
    pub(crate) fn give_up(&self) {
        self.connection.ended(Ended::Aborted);
        self.port.tell(Command::Abort(self.connection.handle));
    }

    /// The application has accepted it.
    pub(crate) fn taken(&self) {
        self.port.tell(Command::Taken(self.connection.handle));
    }

    /// How the connection is doing; none once it is forgotten.
    pub(crate) fn stats(&self) -> Option<Stats> {
        self.ask_for_stats().wait(Patience::Until(Deadline::after(None))).flatten().flatten()
    }

    pub(crate) fn ask_for_stats(&self) -> Question<Option<Stats>> {
        let (question, reply) = question();
        self.port.tell(Command::Stats(self.connection.handle, reply));
        question
    }

    /// Lets the port's thread look at what the application did.
    fn touch(&self) {
        if !self.connection.touched.swap(true, Ordering::AcqRel) {
            self.port.tell(Command::Touched(self.connection.handle));
        }
    }

    /// `packets` have been read of which the protocol has not heard. It hears of them with the next arrival anyhow, so that only
    /// a window about to close is worth a word.
    fn report(&self, packets: u64) {
        if packets >= self.connection.report.load(Ordering::Relaxed) {
            self.touch();
        }
    }
}

impl Turn {
    fn begin(&self) -> (MutexGuard<'_, ()>, Deadline) {
        let turn = lock(&self.busy);
        (turn, Deadline::after(*lock(&self.limit)))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.patient {
            self.shutdown();
            return;
        }
        // Not while unwinding: whoever panics should not wait for a peer.
        if !std::thread::panicking() {
            // Whoever wants to know calls `close`.
            let _outcome = self.close();
        }
        // Nothing, if it is over; otherwise the peer was given up, or there is no time for it.
        self.port.tell(Command::Abort(self.connection.handle));
        if lock(&self.connection.end.why).is_none_or(|why| why == Ended::Aborted) {
            // The program may end now, and with it the thread. A peer that is not told takes the silence for a pause.
            let (question, reply) = question();
            self.port.tell(Command::Flush(reply));
            let _told = question.wait(Patience::Until(Deadline::after(Some(GRACE))));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long after the time to linger the thread of the port may take to say that it is over.
const GRACE: Duration = Duration::from_secs(1);
