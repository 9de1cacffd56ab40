//! The bytes that have arrived and the application has not read.
//!
//! The port's thread puts packets in order by itself and hands over whole pieces; the application copies out of a piece without
//! keeping the thread waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Ended;
use crate::waiting::{Bell, Patience};

/// What one connection holds for reading, shared by its application and the thread of its port.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    state: Mutex<State>,
    news: Bell,
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
    /// Packets that have been read in full, and those of them the protocol knows of.
    consumed: u64,
    told: u64,
    waiting: bool,
    ended: Option<Ended>,
}

impl ReceiveBuffer {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), news: Bell::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The application's side. It reads one call at a time: streams and messengers see to that.
impl ReceiveBuffer {
    /// Fills `out` with what is there, waiting for the first byte; none if it does not come in time. Also returns how many
    /// packets have been read since the protocol was last told.
    pub(crate) fn read(&self, out: &mut [u8], patience: Patience<'_>) -> Result<Option<(usize, u64)>, Ended> {
        let Some(mut state) = self.wait(patience)? else { return Ok(None) };
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
                state.retire(piece);
            } else {
                state.read = read + size;
                state.pieces.push_front(piece);
            }
        }
        Ok(Some((filled, state.consumed - state.told)))
    }

    /// Takes a message, waiting for one; none if it does not come in time. Also returns how many packets have been read
    /// since the protocol was last told.
    pub(crate) fn read_message(&self, patience: Patience<'_>) -> Result<Option<(Vec<u8>, u64)>, Ended> {
        let Some(mut state) = self.wait(patience)? else { return Ok(None) };
        let Some(piece) = state.pieces.pop_front() else { return Ok(None) };
        state.consumed += piece.packets;
        Ok(Some((piece.bytes, state.consumed - state.told)))
    }

    /// Waits for something to read; none if it does not come in time. What has arrived can be read after the end.
    fn wait(&self, patience: Patience<'_>) -> Result<Option<MutexGuard<'_, State>>, Ended> {
        let mut state = self.state();
        loop {
            if !state.pieces.is_empty() {
                return Ok(Some(state));
            }
            if let Some(ended) = state.ended {
                return Err(ended);
            }
            state.waiting = true;
            state = match self.news.wait(state, patience) {
                Some(state) => state,
                None => return Ok(None),
            };
            state.waiting = false;
        }
    }
}

/// The side of the port's thread.
impl ReceiveBuffer {
    /// Hands over a piece that is not empty, and takes an empty one in return.
    pub(crate) fn put(&self, piece: Piece) -> Piece {
        let mut state = self.state();
        state.pieces.push_back(piece);
        let spare = state.spare.pop().unwrap_or_default();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        if waiting {
            self.news.ring();
        }
        Piece { bytes: spare, packets: 0 }
    }

    /// How many packets the application has read since the last call.
    pub(crate) fn tell(&self) -> u64 {
        let mut state = self.state();
        let news = state.consumed - state.told;
        state.told = state.consumed;
        news
    }

    /// Gives memory back while nothing happens.
    pub(crate) fn rest(&self) {
        let mut state = self.state();
        state.spare = Vec::new();
        state.pieces.shrink_to_fit();
    }

    /// Nothing will arrive any more.
    pub(crate) fn end(&self, why: Ended) {
        self.state().ended.get_or_insert(why);
        self.news.ring();
    }
}

impl State {
    /// A piece that has been read to its end.
    fn retire(&mut self, mut piece: Piece) {
        self.read = 0;
        self.consumed += piece.packets;
        // A reader who keeps up needs two or three; more would be memory that lies idle.
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

    fn now() -> Patience<'static> {
        Patience::Until(Deadline::after(Some(Duration::ZERO)))
    }

    fn piece(byte: u8, size: usize) -> Piece {
        Piece { bytes: vec![byte; size], packets: 1 }
    }

    #[test]
    fn reads_cross_pieces_and_count_those_read_to_their_end() {
        let buffer = ReceiveBuffer::new();
        buffer.put(piece(1, 3));
        buffer.put(piece(2, 3));
        let mut out = [0; 4];
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((4, 1))));
        assert_eq!(out, [1, 1, 1, 2]);
        assert_eq!((buffer.tell(), buffer.tell()), (1, 0));
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((2, 1))));
        assert_eq!(out[..2], [2, 2]);
        assert_eq!(buffer.read(&mut out, now()), Ok(None));
    }

    #[test]
    fn what_arrived_can_be_read_after_the_end() {
        let buffer = ReceiveBuffer::new();
        buffer.put(piece(7, 2));
        buffer.end(Ended::PeerClosed);
        buffer.end(Ended::Silent);
        let mut out = [0; 4];
        assert_eq!(buffer.read(&mut out, now()), Ok(Some((2, 1))));
        assert_eq!(buffer.read(&mut out, now()), Err(Ended::PeerClosed));
    }

    #[test]
    fn a_reader_who_waits_is_woken() {
        let buffer = Arc::new(ReceiveBuffer::new());
        let reader = Arc::clone(&buffer);
        let thread = thread::spawn(move || reader.read(&mut [0; 4], Patience::Until(Deadline::after(None))));
        thread::sleep(Duration::from_millis(20));
        buffer.put(piece(7, 2));
        assert_eq!(thread.join().unwrap(), Ok(Some((2, 1))));
    }

    #[test]
    fn messages_come_whole() {
        let buffer = ReceiveBuffer::new();
        buffer.put(piece(1, 3));
        buffer.put(piece(2, 5));
        assert_eq!(buffer.read_message(now()), Ok(Some((vec![1; 3], 1))));
        assert_eq!(buffer.read_message(now()), Ok(Some((vec![2; 5], 2))));
    }
}
