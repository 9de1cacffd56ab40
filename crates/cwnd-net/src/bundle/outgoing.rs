//! Chunks that wait for a connection with room.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Duration;

use super::{CHUNK, CHUNK_HEADER, Fault, until};
use crate::clock::Deadline;
use crate::stream::UdtStream;
use crate::wait::{Notify, Wait, lock};

/// The state that the application that writes shares with the sending threads.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// Chunks that may wait: one for each connection.
    capacity: usize,
    state: Mutex<State>,
    /// There is a chunk to send, or none will follow.
    pending: Notify,
    /// There is room for a chunk, or a thread has ended.
    sent: Notify,
}

#[derive(Debug)]
struct State {
    /// With their headers.
    chunks: VecDeque<Vec<u8>>,
    /// The number of the next chunk to be written.
    next: u64,
    /// Threads that have not ended.
    threads: usize,
    fault: Option<Fault>,
    closed: bool,
    timeout: Option<Duration>,
}

impl Outgoing {
    pub(super) fn new(streams: usize) -> Self {
        let state = State {
            chunks: VecDeque::with_capacity(streams),
            next: 0,
            threads: 0,
            fault: None,
            closed: false,
            timeout: None,
        };
        Self { capacity: streams, state: Mutex::new(state), pending: Notify::default(), sent: Notify::default() }
    }

    pub(super) fn set_timeout(&self, timeout: Option<Duration>) {
        lock(&self.state).timeout = timeout;
    }

    /// Counts a thread that is being started.
    pub(super) fn begin(&self) {
        lock(&self.state).threads += 1;
    }

    /// Counts a thread that has ended.
    pub(super) fn end(&self) {
        lock(&self.state).threads -= 1;
        self.sent.notify();
    }

    /// Sends one chunk after another on a connection, until there are none left or it has ended.
    pub(super) fn send(&self, mut to: &UdtStream) {
        while let Some(chunk) = self.next() {
            if let Err(error) = to.write_all(&chunk) {
                lock(&self.state).fault.get_or_insert(error.into());
                break;
            }
        }
        self.end();
        self.pending.notify();
    }

    /// The next chunk to be sent; none if none will follow.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = lock(&self.state);
        loop {
            if state.fault.is_some() {
                return None;
            }
            if let Some(chunk) = state.chunks.pop_front() {
                drop(state);
                self.sent.notify();
                return Some(chunk);
            }
            if state.closed {
                return None;
            }
            state = self.pending.wait(state, until(None)).expect("it waits without a timeout");
        }
    }

    /// Waits for room, and hands the bytes over as a chunk.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(CHUNK)];
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut chunk = Vec::with_capacity(CHUNK_HEADER + bytes.len());
        chunk.extend_from_slice(&[0; 8]);
        chunk.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        chunk.extend_from_slice(bytes);
        let mut state = lock(&self.state);
        let wait = until(state.timeout);
        loop {
            if let Some(fault) = state.fault {
                return Err(fault.into());
            }
            if state.closed {
                return Err(io::ErrorKind::NotConnected.into());
            }
            if state.chunks.len() < self.capacity {
                break;
            }
            state = self.sent.wait(state, wait).ok_or(io::ErrorKind::WouldBlock)?;
        }
        chunk[..8].copy_from_slice(&state.next.to_le_bytes());
        state.next += 1;
        state.chunks.push_back(chunk);
        drop(state);
        self.pending.notify();
        Ok(bytes.len())
    }

    /// Accepts nothing more, and waits until the threads have handed over what there is; whether they have by then.
    pub(super) fn close(&self, deadline: Deadline) -> bool {
        let mut state = lock(&self.state);
        state.closed = true;
        drop(state);
        self.pending.notify();
        state = lock(&self.state);
        while state.threads > 0 {
            state = match self.sent.wait(state, Wait::Until(deadline)) {
                Some(state) => state,
                None => return false,
            };
        }
        true
    }
}
