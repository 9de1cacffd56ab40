//! A UDP port: one socket, one thread, any number of connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use cwnd_udt::{Handle, Settings};

use crate::connection::Connection;
use crate::error::{BindError, ConnectError};
use crate::listener::Backlog;
use crate::options::Options;
use crate::service::Service;
use crate::stats::Stats;
use crate::udp::Udp;
use crate::waiting::Reply;
use crate::waker::{Waker, waker};

/// What applications and the thread of a port share.
#[derive(Debug)]
pub(crate) struct Port {
    local: SocketAddr,
    buffer: (usize, usize),
    waker: Waker,
    /// None once the thread is gone.
    commands: Mutex<Option<Vec<Command>>>,
    /// How many hold the port open: listeners, connections, and ports that were opened as such.
    users: AtomicUsize,
}

/// Holds a port open.
#[derive(Debug)]
pub(crate) struct User(Arc<Port>);

/// What an application asks of the thread.
#[derive(Debug)]
pub(crate) enum Command {
    Abort(Handle),
    Connect(SocketAddr, Box<Settings>, Answer),
    Finish(Handle),
    /// Answered once what may leave has left.
    Flush(Reply<()>),
    Listen(Box<Settings>, usize, Arc<Backlog>),
    Rendezvous(SocketAddr, Box<Settings>, Answer),
    Stats(Handle, Reply<Option<Stats>>),
    Taken(Handle),
    Touched(Handle),
    Unlisten(Arc<Backlog>),
}

/// Where the outcome of a connection attempt goes.
pub(crate) type Answer = Reply<Outcome>;
/// What comes of a connection attempt.
pub(crate) type Outcome = Result<Arc<Connection>, ConnectError>;

impl Port {
    /// Opens a port and starts its thread.
    pub(crate) fn open(local: SocketAddr, options: &Options) -> Result<User, BindError> {
        options.settings.check()?;
        let udp = Udp::bind(local, options.buffer_bytes(), options.offload).map_err(BindError::Socket)?;
        let (waker, sleeper) = waker().map_err(BindError::Thread)?;
        let port = Arc::new(Self {
            local: udp.local(),
            buffer: udp.buffer(),
            waker,
            commands: Mutex::new(Some(Vec::new())),
            users: AtomicUsize::new(1),
        });
        let service = Service::new(Arc::clone(&port), udp, options)?;
        let name = format!("udt {}", port.local.port());
        thread::Builder::new().name(name).spawn(move || service.run(&sleeper)).map_err(BindError::Thread)?;
        Ok(User(port))
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// The receive buffer of the socket in bytes: wished for and granted.
    pub(crate) fn buffer(&self) -> (usize, usize) {
        self.buffer
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Another holder of this port.
    pub(crate) fn user(self: &Arc<Self>) -> User {
        self.users.fetch_add(1, Ordering::AcqRel);
        User(Arc::clone(self))
    }

    /// Whether anybody holds the port open.
    pub(crate) fn used(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    /// Takes all commands out, in exchange for an empty list.
    pub(crate) fn commands(&self, empty: &mut Vec<Command>) {
        if let Some(commands) = &mut *self.queue() {
            std::mem::swap(commands, empty);
        }
    }

    /// Whether there is a command, or nobody holds the port open any more.
    pub(crate) fn has_news(&self) -> bool {
        !self.used() || self.queue().as_ref().is_none_or(|commands| !commands.is_empty())
    }

    /// The thread is gone: whoever waits for an answer to a command need not.
    pub(crate) fn shut(&self) {
        *self.queue() = None;
    }

    fn queue(&self) -> MutexGuard<'_, Option<Vec<Command>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl User {
    /// Hands a command to the thread. An answer that never comes means that the thread is gone.
    pub(crate) fn tell(&self, command: Command) {
        let refused = match &mut *self.0.queue() {
            Some(commands) => {
                commands.push(command);
                None
            }
            None => Some(command),
        };
        // What waits for an answer hears of it by this.
        drop(refused);
        self.0.waker.wake();
    }

    pub(crate) fn port(&self) -> &Arc<Port> {
        &self.0
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if self.0.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.waker.wake();
        }
    }
}

/// The address from which any peer like `peer` can be reached, with a port of the system's choice.
pub(crate) fn any(peer: SocketAddr) -> SocketAddr {
    let ip: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    SocketAddr::new(ip, 0)
}
