//! The bytes that have arrived and the application has not read.
//!
//! The thread of the port orders packets by itself and pushes whole pieces; the application copies out of a piece without keeping the
//! thread waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::error::Ended;
use crate::wait::{Notify, Wait, lock};

/// The receive buffer of a connection, shared by its application and the thread of its port.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    state: Mutex<State>,
    readable: Notify,
}

/// Bytes in order: a part of a stream, or one message.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// How many packets brought them.
    pub(crate) packets: u64,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that have been read.
    read: usize,
    /// Empty pieces, to be filled again.
    spare: Vec<Vec<u8>>,
    /// Packets that have been read in full, and those of them that were reported to the protocol.
    consumed: u64,
    reported: u64,
    /// An application waits for a piece.
    waiting: bool,
    ended: Option<Ended>,
}

impl ReceiveBuffer {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), readable: Notify::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// The application's side: one read at a time, which the connection's lock for readers ensures.
impl ReceiveBuffer {
    /// Waits for the first byte and fills `out` with the available bytes. Returns the number of bytes, and the number of packets that have
    /// been read and not reported; `None` if nothing arrived in time.
    pub(crate) fn read(&self, out: &mut [u8], wait: Wait<'_>) -> Result<Option<(usize, u64)>, Ended> {
        let Some(mut state) = self.wait(wait)? else { return Ok(None) };
        let mut filled = 0;
        while filled < out.len()
            && let Some(piece) = state.pieces.pop_front()
        {
            let read = state.read;
            drop(state);
            let rest = &piece.bytes[read..];
            let size = rest.len().min(out.len() - filled);
            out[filled..][..size].copy_from_slice(&rest[..size]);
            filled += size;
            state = self.state();
            if size == rest.len() {
                state.recycle(piece);
            } else {
                state.read = read + size;
                state.pieces.push_front(piece);
            }
        }
        Ok(Some((filled, state.consumed - state.reported)))
    }

    /// Waits for a message: its bytes, and how many packets have been read and not reported; none if it did not arrive in time.
    pub(crate) fn read_message(&self, wait: Wait<'_>) -> Result<Option<(Vec<u8>, u64)>, Ended> {
        let Some(mut state) = self.wait(wait)? else { return Ok(None) };
        let Some(piece) = state.pieces.pop_front() else { return Ok(None) };
        state.consumed += piece.packets;
        Ok(Some((piece.bytes, state.consumed - state.reported)))
    }

    /// Waits for something to read; `None` if nothing arrived in time. Arrived data can be read after the end.
    fn wait(&self, wait: Wait<'_>) -> Result<Option<MutexGuard<'_, State>>, Ended> {
        let mut state = self.state();
        loop {
            if !state.pieces.is_empty() {
                return Ok(Some(state));
            }
            if let Some(ended) = state.ended {
                return Err(ended);
            }
            state.waiting = true;
            state = match self.readable.wait(state, wait) {
                Some(state) => state,
                None => return Ok(None),
            };
            state.waiting = false;
        }
    }
}

/// The side of the port's thread.
impl ReceiveBuffer {
    /// Adds a piece that is not empty, and returns an empty one with memory to be used again.
    pub(crate) fn push(&self, piece: Piece) -> Piece {
        let mut state = self.state();
        state.pieces.push_back(piece);
        let spare = state.spare.pop().unwrap_or_default();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        if waiting {
            self.readable.notify();
        }
        Piece { bytes: spare, packets: 0 }
    }

    /// How many packets the application has read since the last call; they count as reported.
    pub(crate) fn report(&self) -> u64 {
        let mut state = self.state();
        let unreported = state.consumed - state.reported;
        state.reported = state.consumed;
        unreported
    }

    /// Frees memory of an idle connection.
    pub(crate) fn release_memory(&self) {
        let mut state = self.state();
        state.spare = Vec::new();
        state.pieces.shrink_to_fit();
    }

    /// Lets reads fail once everything that arrived has been read.
    pub(crate) fn end(&self, why: Ended) {
        self.state().ended.get_or_insert(why);
        self.readable.notify();
    }
}

impl State {
    /// Counts a piece that has been read to its end, and keeps its memory.
    fn recycle(&mut self, mut piece: Piece) {
        self.read = 0;
        self.consumed += piece.packets;
        // A reader that keeps up needs two or three; more would be idle memory.
        if self.spare.len() < 4 {
            piece.bytes.clear();
            self.spare.push(piece.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;

    fn now() -> Wait<'static> {
        Wait::Until(Deadline::after(Some(Duration::ZERO)))
    }

    fn piece(byte: u8, size: usize) -> Piece {
        Piece { bytes: vec![byte; size], packets: 1 }
    }

    #[test]
    fn reads_cross_pieces_and_count_those_read_to_their_end() {
        let buffer = ReceiveBuffer::new();
        buffer.push(piece(1, 3));
        buffer.push(piece(2, 3));
        let mut out = [0; 4];
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((4, 1))));
        assert_eq!(out, [1, 1, 1, 2]);
        assert_eq!((buffer.report(), buffer.report()), (1, 0));
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((2, 1))));
        assert_eq!(out[..2], [2, 2]);
        assert_eq!(buffer.read(&mut out, now()), Ok(None));
    }

    #[test]
    fn memory_of_some_pieces_is_kept() {
        let buffer = ReceiveBuffer::new();
        (0..20).for_each(|_| drop(buffer.push(piece(1, 3))));
        let mut out = [0; 100];
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((60, 20))));
        assert_eq!(buffer.state().spare.len(), 4);
    }

    #[test]
    fn what_arrived_can_be_read_after_the_end() {
        let buffer = ReceiveBuffer::new();
        buffer.push(piece(7, 2));
        buffer.end(Ended::PeerClosed);
        buffer.end(Ended::TimedOut);
        let mut out = [0; 4];
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((2, 1))));
        assert_eq!(buffer.read(&mut out, now()), Err(Ended::PeerClosed));
    }

    #[test]
    fn a_waiting_reader_is_woken() {
        let buffer = Arc::new(ReceiveBuffer::new());
        let reader = Arc::clone(&buffer);
        let thread = thread::spawn(move || reader.read(&mut [0; 4], Wait::Until(Deadline::after(None))));
        thread::sleep(Duration::from_millis(20));
        buffer.push(piece(7, 2));
        assert_eq!(thread.join().unwrap(), Ok(Some((2, 1))));
    }

    #[test]
    fn messages_come_whole() {
        let buffer = ReceiveBuffer::new();
        buffer.push(piece(1, 3));
        buffer.push(piece(2, 5));
        assert_eq!(buffer.read_message(now()), Ok(Some((vec![1; 3], 1))));
        assert_eq!(buffer.read_message(now()), Ok(Some((vec![2; 5], 2))));
    }
}
