//! Chunks that arrive on several connections, in their order again.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Mutex;
use std::time::Duration;

use super::{CHUNK, CHUNK_HEADER, Fault, until};
use crate::clock::Deadline;
use crate::stream::UdtStream;
use crate::wait::{Notify, Wait, lock};

/// The state that receiving threads share with the application that reads.
#[derive(Debug)]
pub(super) struct Incoming {
    state: Mutex<State>,
    /// The next chunk has arrived, or none will.
    arrived: Notify,
    /// A chunk was read.
    read: Notify,
}

#[derive(Debug)]
struct State {
    chunks: BTreeMap<u64, Vec<u8>>,
    /// The chunk being read, and how much of it was.
    next: u64,
    at: usize,
    /// Connections that have neither been closed by the peer nor failed.
    open: usize,
    /// Why the first connection that failed has, and until when what the others bring is waited for.
    fault: Option<(Fault, Deadline)>,
    /// Nobody reads any more.
    closed: bool,
    timeout: Option<Duration>,
}

impl Incoming {
    pub(super) fn new(streams: usize) -> Self {
        let state =
            State { chunks: BTreeMap::new(), next: 0, at: 0, open: streams, fault: None, closed: false, timeout: None };
        Self { state: Mutex::new(state), arrived: Notify::default(), read: Notify::default() }
    }

    pub(super) fn set_timeout(&self, timeout: Option<Duration>) {
        lock(&self.state).timeout = timeout;
    }

    /// Lets the threads end.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.chunks.clear();
        drop(state);
        self.read.notify();
        self.arrived.notify();
    }

    /// Chunks that have arrived and are not read.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        lock(&self.state).chunks.len()
    }

    /// Connections that have not ended.
    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        lock(&self.state).open
    }

    /// Receives the chunks of one connection until it ends.
    pub(super) fn receive(&self, mut from: UdtStream) {
        loop {
            let received = receive_chunk(&mut from);
            let mut state = lock(&self.state);
            let goes_on = match received {
                Ok(Some((number, chunk))) => {
                    // On one connection numbers ascend: the next one in the order never waits behind one that has to wait here.
                    while !state.closed && number.saturating_sub(state.next) >= WINDOW {
                        state = self.read.wait(state, until(None)).expect("it waits without a timeout");
                    }
                    let again = number < state.next || state.chunks.insert(number, chunk).is_some();
                    if again {
                        state.fail(Fault::Malformed("a chunk came twice"));
                    }
                    !state.closed && !again
                }
                Ok(None) => {
                    state.open -= 1;
                    false
                }
                Err(fault) => {
                    state.fail(fault);
                    state.open -= 1;
                    false
                }
            };
            drop(state);
            self.arrived.notify();
            if !goes_on {
                return;
            }
        }
    }

    /// Reads of the next chunk.
    pub(super) fn read(&self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let mut state = lock(&self.state);
        let wait = until(state.timeout);
        loop {
            let (next, at) = (state.next, state.at);
            if let Some(chunk) = state.chunks.get(&next) {
                let size = (chunk.len() - at).min(out.len());
                out[..size].copy_from_slice(&chunk[at..at + size]);
                if at + size < chunk.len() {
                    state.at += size;
                    return Ok(size);
                }
                state.chunks.remove(&next);
                (state.next, state.at) = (next + 1, 0);
                drop(state);
                self.read.notify();
                return Ok(size);
            }
            if let Some((fault, until)) = state.fault {
                // A peer that closes has sent its last words on any of the connections: an answer that refuses, for example.
                let waits = state.open > 0 && !state.closed && !matches!(fault, Fault::Malformed(_));
                let until = if waits { until } else { Deadline::after(Some(Duration::ZERO)) };
                state = self.arrived.wait(state, Wait::Until(until)).ok_or(fault)?;
                continue;
            }
            if state.closed {
                return Ok(0);
            }
            if state.open == 0 {
                // The chunk after one that never came was not the end.
                return if state.chunks.is_empty() { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            state = self.arrived.wait(state, wait).ok_or(io::ErrorKind::WouldBlock)?;
        }
    }
}

impl State {
    /// A connection has failed.
    fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert_with(|| (fault, Deadline::after(Some(GRACE))));
    }
}

/// Receives a chunk with its number; none if the peer has closed the connection.
fn receive_chunk(from: &mut UdtStream) -> Result<Option<(u64, Vec<u8>)>, Fault> {
    let mut header = [0; CHUNK_HEADER];
    let first = from.read(&mut header)?;
    if first == 0 {
        return Ok(None);
    }
    from.read_exact(&mut header[first..])?;
    let (number, length) = header.split_at(8);
    let number = u64::from_le_bytes(number.try_into().expect("it has 8 bytes"));
    let length = u32::from_le_bytes(length.try_into().expect("it has 4 bytes")) as usize;
    if !(1..=CHUNK).contains(&length) {
        return Err(Fault::Malformed("a chunk has a length that none has"));
    }
    let mut chunk = vec![0; length];
    from.read_exact(&mut chunk)?;
    Ok(Some((number, chunk)))
}

/// Chunks that may have arrived before the one that is read: 2 MiB. What follows waits in the receive buffers of the connections.
const WINDOW: u64 = 32;

/// How long the next chunk may still come on other connections once one has failed.
const GRACE: Duration = Duration::from_secs(1);
