//! The state that applications and the thread of a UDP port share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cwnd_udt::places::Standing;
use cwnd_udt::{Handle, Settings};

use crate::backlog::Backlog;
use crate::connection::Connection;
use crate::error::ConnectError;
use crate::oneshot;
use crate::stats::Stats;
use crate::wait::lock;
use crate::waker::Waker;

/// A UDP port: one socket, one thread, any number of connections.
#[derive(Debug)]
pub(crate) struct Port {
    local: SocketAddr,
    buffer: (usize, usize),
    waker: Waker,
    /// None once the thread has ended.
    commands: Mutex<Option<Vec<Command>>>,
    /// How many [`PortRef`]s there are.
    references: AtomicUsize,
}

/// A reference that keeps a port open: of a listener, a connection, or an application.
#[derive(Debug)]
pub(crate) struct PortRef(Arc<Port>);

/// A request of an application to the thread.
#[derive(Debug)]
pub(crate) enum Command {
    Abort(Handle),
    /// The application has accepted the connection.
    Accepted(Handle),
    Connect(SocketAddr, Box<Settings>, ConnectSender),
    /// The application writes no more.
    Finish(Handle),
    /// Answered once what may be sent has been sent.
    Flush(oneshot::Sender<()>),
    Listen(Box<Settings>, Arc<Backlog>),
    /// The application has written or read something.
    Notify(Handle),
    Rendezvous(SocketAddr, Box<Settings>, ConnectSender),
    /// How firmly the client of a connection holds its place.
    SetStanding(Handle, Standing),
    /// Not answered if the connection is closed.
    Stats(Handle, oneshot::Sender<Stats>),
    StopListening(Arc<Backlog>),
}

/// The outcome of an attempt at a connection.
pub(crate) type ConnectOutcome = Result<Arc<Connection>, ConnectError>;
/// Where it is sent.
pub(crate) type ConnectSender = oneshot::Sender<ConnectOutcome>;

impl Port {
    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// The receive buffer of the socket in bytes: requested and granted.
    pub(crate) fn buffer(&self) -> (usize, usize) {
        self.buffer
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Whether there is a [`PortRef`].
    pub(crate) fn is_referenced(&self) -> bool {
        self.references.load(Ordering::Acquire) > 0
    }

    /// Takes all commands, in exchange for an empty list.
    pub(crate) fn take_commands(&self, empty: &mut Vec<Command>) {
        if let Some(commands) = &mut *lock(&self.commands) {
            std::mem::swap(commands, empty);
        }
    }

    /// Whether there is a command, or the last reference is gone.
    pub(crate) fn has_work(&self) -> bool {
        !self.is_referenced() || lock(&self.commands).as_ref().is_none_or(|commands| !commands.is_empty())
    }

    /// The thread has ended: commands are dropped, and with them the senders for which applications wait.
    pub(crate) fn close(&self) {
        *lock(&self.commands) = None;
    }
}

impl PortRef {
    /// The first reference to a new port. `buffer` is the size of the socket's receive buffer in bytes: requested and granted.
    pub(crate) fn new(local: SocketAddr, buffer: (usize, usize), waker: Waker) -> Self {
        let (commands, references) = (Mutex::new(Some(Vec::new())), AtomicUsize::new(1));
        Self(Arc::new(Port { local, buffer, waker, commands, references }))
    }

    /// Queues a command and wakes the thread. If the thread has ended the command is dropped.
    pub(crate) fn send(&self, command: Command) {
        let refused = match &mut *lock(&self.0.commands) {
            Some(commands) => {
                commands.push(command);
                None
            }
            None => Some(command),
        };
        // Only now that the queue is unlocked: dropping a sender wakes its receiver.
        drop(refused);
        self.0.waker.wake();
    }

    pub(crate) fn port(&self) -> &Arc<Port> {
        &self.0
    }
}

impl Clone for PortRef {
    fn clone(&self) -> Self {
        self.0.references.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(&self.0))
    }
}

impl Drop for PortRef {
    fn drop(&mut self) {
        if self.0.references.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.waker.wake();
        }
    }
}
