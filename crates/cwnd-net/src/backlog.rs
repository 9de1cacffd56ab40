//! Connections that wait to be accepted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::connection::Connection;
use crate::error::{AcceptError, Ended};
use crate::wait::{Notify, Wait, lock};

/// The backlog of a listener.
#[derive(Debug)]
pub(crate) struct Backlog {
    capacity: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    connections: VecDeque<Arc<Connection>>,
    closed: bool,
}

impl Backlog {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), changed: Notify::default() }
    }

    /// How many connections may wait. The protocol refuses others.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Adds a connection; false if the listener is closed, and the connection therefore aborted.
    pub(crate) fn push(&self, connection: Arc<Connection>) -> bool {
        let mut state = lock(&self.state);
        if state.closed {
            connection.end(Ended::Aborted);
            return false;
        }
        if state.connections.len() >= self.capacity {
            // Those that have ended no longer count for the protocol, which would otherwise have refused this one.
            state.connections.retain(|waiting| waiting.ended().is_none());
        }
        state.connections.push_back(connection);
        drop(state);
        self.changed.notify();
        true
    }

    /// Removes the connection that has waited longest.
    pub(crate) fn pop(&self, wait: Wait<'_>) -> Result<Arc<Connection>, AcceptError> {
        let mut state = lock(&self.state);
        loop {
            if let Some(connection) = state.connections.pop_front() {
                return Ok(connection);
            }
            if state.closed {
                return Err(AcceptError::Port);
            }
            state = self.changed.wait(state, wait).ok_or(AcceptError::Timeout)?;
        }
    }

    /// Accepts nothing more, and returns the connections that waited.
    pub(crate) fn close(&self) -> VecDeque<Arc<Connection>> {
        let mut state = lock(&self.state);
        state.closed = true;
        let connections = std::mem::take(&mut state.connections);
        drop(state);
        self.changed.notify();
        connections
    }
}
