//! The bytes an application has written and the peer has not acknowledged.
//!
//! They lie in slots, one per packet, each with room for a header before its payload. Consecutive slots of a chunk therefore are
//! consecutive segments, which one system call sends without another copy. Every slot is full but the last before a pause of the
//! application, or of a message; nothing is added to a slot that was sealed short.
//!
//! The application copies and the thread of the port sends without waiting for one another, unless both need the same chunk.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use cwnd_udt::wire::HEADER;

use crate::error::Ended;
use crate::wait::{Notify, Wait, lock};

/// The send buffer of a connection, shared by its application and the thread of its port. `M` is the options of a message.
#[derive(Debug)]
pub(crate) struct SendBuffer<M> {
    /// Bytes that a full slot carries.
    payload: usize,
    /// Slots in all.
    capacity: u64,
    slots_per_chunk: u64,
    state: Mutex<State<M>>,
    room: Notify,
}

/// Consecutive slots, as far as they have been used.
pub(crate) type Chunk = Arc<Mutex<Vec<u8>>>;

/// Where a packet lies.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) chunk: Chunk,
    /// Where its header begins in the chunk.
    pub(crate) at: usize,
    /// Bytes from one slot to the next.
    pub(crate) stride: usize,
}

#[derive(Debug)]
struct State<M> {
    /// Where bytes lie, in order: all slots of a run are full, but for the last. The last run begins where a slot was last sealed.
    runs: VecDeque<Run>,
    chunks: VecDeque<Chunk>,
    /// The first slot of the first chunk.
    first: u64,
    /// Chunks to be used again, likely still in the processor's cache.
    spare: Vec<Chunk>,
    /// The slot being filled, and bytes in it.
    tail: u64,
    filled: usize,
    /// The bytes written so far, those submitted to the protocol, and those it will not ask for again.
    written: u64,
    submitted: u64,
    released: u64,
    /// The first slot that is not released.
    oldest: u64,
    /// Messages that are not submitted: their lengths and options.
    messages: VecDeque<(u64, M)>,
    /// Slots that may be in use at present: enough to keep the network busy, but no long queue.
    limit: u64,
    /// The application is copying into the tail, which must be neither sealed nor freed.
    filling: bool,
    /// How many slots an application waits for.
    wanted: Option<u64>,
    ended: Option<Ended>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    offset: u64,
    slot: u64,
}

impl<M> SendBuffer<M> {
    /// For `capacity` packets that carry up to `payload` bytes each.
    pub(crate) fn new(capacity: u64, payload: usize) -> Self {
        let state = State {
            runs: VecDeque::from([Run { offset: 0, slot: 0 }]),
            chunks: VecDeque::new(),
            first: 0,
            spare: Vec::new(),
            tail: 0,
            filled: 0,
            written: 0,
            submitted: 0,
            released: 0,
            oldest: 0,
            messages: VecDeque::new(),
            limit: capacity.min(MIN_LIMIT),
            filling: false,
            wanted: None,
            ended: None,
        };
        let slots_per_chunk = (CHUNK / (HEADER + payload)).max(1) as u64;
        Self { payload, capacity, slots_per_chunk, state: Mutex::new(state), room: Notify::default() }
    }

    /// The longest message it can hold, in bytes.
    pub(crate) fn longest_message(&self) -> u64 {
        self.capacity * self.payload as u64
    }

    /// Whether all that was written has been released.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state();
        state.written == state.released
    }

    fn state(&self) -> MutexGuard<'_, State<M>> {
        lock(&self.state)
    }

    /// Bytes from one slot to the next.
    fn stride(&self) -> usize {
        HEADER + self.payload
    }

    /// Where the header of a slot begins in its chunk.
    fn place(&self, slot: u64) -> usize {
        (slot % self.slots_per_chunk) as usize * self.stride()
    }

    /// Slots that may still be opened.
    fn room(&self, state: &State<M>) -> u64 {
        let opened = state.tail + u64::from(state.filled > 0);
        state.limit.saturating_sub(opened - state.oldest)
    }
}

/// The application's side: one write at a time, which the connection's lock for writers ensures.
impl<M> SendBuffer<M> {
    /// Waits for room and copies as many of `bytes` as fit: how many; none if there was no room in time.
    pub(crate) fn write(&self, bytes: &[u8], wait: Wait<'_>) -> Result<Option<usize>, Ended> {
        let Some(mut state) = self.wait(1, wait)? else { return Ok(None) };
        let size = bytes.len().min(self.room(&state) as usize * self.payload).min(MAX_COPY);
        state.filling = true;
        self.copy(state, &bytes[..size]).filling = false;
        Ok(Some(size))
    }

    /// Waits for room and copies a message of at most [`longest_message`](Self::longest_message) bytes; false if there was no room in
    /// time.
    pub(crate) fn write_message(&self, bytes: &[u8], options: M, wait: Wait<'_>) -> Result<bool, Ended> {
        let Some(mut state) = self.wait(bytes.len().div_ceil(self.payload) as u64, wait)? else { return Ok(false) };
        state.filling = true;
        let mut state = self.copy(state, bytes);
        state.filling = false;
        if state.filled > 0 {
            state.seal();
        }
        state.messages.push_back((bytes.len() as u64, options));
        Ok(true)
    }

    /// Waits for room for `slots` packets; none if there was none in time.
    fn wait(&self, slots: u64, wait: Wait<'_>) -> Result<Option<MutexGuard<'_, State<M>>>, Ended> {
        let mut state = self.state();
        loop {
            if let Some(ended) = state.ended {
                return Err(ended);
            }
            // A message may need more than the network does.
            state.limit = state.limit.max(slots);
            if self.room(&state) >= slots {
                return Ok(Some(state));
            }
            state.wanted = Some(slots);
            state = match self.room.wait(state, wait) {
                Some(state) => state,
                None => return Ok(None),
            };
            state.wanted = None;
        }
    }

    /// Copies `bytes` into the slots from the tail on, for which there is room. The state is unlocked while a chunk is written.
    fn copy<'a>(&'a self, mut state: MutexGuard<'a, State<M>>, mut bytes: &[u8]) -> MutexGuard<'a, State<M>> {
        while !bytes.is_empty() {
            let index = ((state.tail - state.first) / self.slots_per_chunk) as usize;
            if index == state.chunks.len() {
                let chunk = state.spare.pop().unwrap_or_default();
                state.chunks.push_back(chunk);
            }
            let chunk = Arc::clone(&state.chunks[index]);
            let (tail, filled) = (state.tail, state.filled);
            drop(state);
            let copied = self.fill(&chunk, tail, filled, bytes);
            state = self.state();
            state.tail = tail + ((filled + copied) / self.payload) as u64;
            state.filled = (filled + copied) % self.payload;
            state.written += copied as u64;
            bytes = &bytes[copied..];
        }
        state
    }

    /// Copies bytes from `filled` of slot `tail` on, to the end of the chunk at most; returns how many.
    fn fill(&self, chunk: &Chunk, tail: u64, filled: usize, bytes: &[u8]) -> usize {
        let mut chunk = lock(chunk);
        self.extend(&mut chunk, self.place(tail) + (filled + bytes.len()).div_ceil(self.payload) * self.stride());
        let slots = chunk[self.place(tail)..].chunks_exact_mut(self.stride());
        let mut rest = bytes;
        for (index, slot) in slots.enumerate() {
            let from = if index == 0 { filled } else { 0 };
            let size = rest.len().min(self.payload - from);
            slot[HEADER + from..][..size].copy_from_slice(&rest[..size]);
            rest = &rest[size..];
            if rest.is_empty() {
                break;
            }
        }
        bytes.len() - rest.len()
    }

    /// Makes a chunk `wanted` bytes long, at most a whole one. A connection that writes little never holds the memory of a whole one.
    fn extend(&self, chunk: &mut Vec<u8>, wanted: usize) {
        let whole = self.slots_per_chunk as usize * self.stride();
        if wanted > whole / WHOLE_FROM && chunk.is_empty() {
            *chunk = vec![0; whole];
        } else if wanted.min(whole) > chunk.len() {
            chunk.resize(if wanted > whole / WHOLE_FROM { whole } else { wanted }, 0);
        }
    }
}

/// The side of the port's thread.
impl<M> SendBuffer<M> {
    /// Counts more bytes of a stream as submitted, and returns how many: full packets, or the short packet at the end of the written data
    /// if all packets before have been `sent` (a number of bytes) or the application is `finishing`.
    pub(crate) fn submit(&self, sent: u64, finishing: bool) -> u64 {
        let mut state = self.state();
        // Until a short packet is sent, the protocol would fill it up with the bytes that follow.
        if state.runs.back().is_some_and(|run| sent < run.offset) {
            return 0;
        }
        let full = state.written - state.filled as u64;
        let idle = finishing || sent >= state.submitted;
        if full == state.submitted && idle && state.filled > 0 && !state.filling {
            state.seal();
        }
        let submitted = state.written - state.filled as u64;
        submitted - std::mem::replace(&mut state.submitted, submitted)
    }

    /// Offers the next message and its length; it counts as submitted if it is `accepted`. Whether there was one and it was.
    pub(crate) fn submit_message(&self, accepted: impl FnOnce(u64, M) -> bool) -> bool
    where
        M: Copy,
    {
        let mut state = self.state();
        let next = state.messages.front().copied().filter(|(length, options)| accepted(*length, *options));
        if let Some((length, _)) = next {
            state.messages.pop_front();
            state.submitted += length;
        }
        next.is_some()
    }

    /// Whether everything written has been submitted.
    pub(crate) fn is_submitted(&self) -> bool {
        let state = self.state();
        state.submitted == state.written && !state.filling
    }

    /// Where the packet with these bytes lies; none if they do not fill one slot from its beginning.
    pub(crate) fn slot(&self, bytes: &Range<u64>) -> Option<Slot> {
        let state = self.state();
        if bytes.start < state.released || bytes.end > state.submitted || bytes.end > bytes.start + self.payload as u64
        {
            return None;
        }
        let slot = state.find(bytes.start, self.payload as u64).filter(|(_, within)| *within == 0)?.0;
        let index = slot.checked_sub(state.first)? / self.slots_per_chunk;
        let chunk = state.chunks.get(usize::try_from(index).ok()?)?;
        Some(Slot { chunk: Arc::clone(chunk), at: self.place(slot), stride: self.stride() })
    }

    /// Whether the chunk goes on behind the slot at `at`.
    pub(crate) fn is_followed(&self, at: usize) -> bool {
        at + 2 * self.stride() <= self.slots_per_chunk as usize * self.stride()
    }

    /// Frees the bytes before `offset`, which will not be asked for again. From now on `needed` bytes are enough to keep the network busy.
    /// Returns how many bytes lie here beyond what every connection may have; for messages it can be more than `needed`.
    pub(crate) fn release(&self, offset: u64, needed: u64) -> u64 {
        let mut state = self.state();
        self.free(&mut state, offset, needed);
        let used = (state.tail + 1 - state.oldest).saturating_sub(MIN_LIMIT) * self.payload as u64;
        // Waking a thread costs more than copying a packet, so it is woken for a quarter of the limit.
        if state.wanted.is_some_and(|wanted| self.room(&state) >= wanted.max(state.limit / 4)) {
            state.wanted = None;
            drop(state);
            self.room.notify();
        }
        used
    }

    fn free(&self, state: &mut State<M>, offset: u64, needed: u64) {
        state.limit = (needed / self.payload as u64 + MIN_LIMIT).min(self.capacity).max(state.wanted.unwrap_or(0));
        let offset = offset.min(state.submitted);
        if offset <= state.released {
            return;
        }
        let Some((slot, _)) = state.find(offset, self.payload as u64) else { return };
        state.released = offset;
        state.oldest = slot;
        let old = state.runs.partition_point(|run| run.offset <= offset).saturating_sub(1);
        state.runs.drain(..old);
        while state.first + self.slots_per_chunk <= slot
            && let Some(mut chunk) = state.chunks.pop_front()
        {
            state.first += self.slots_per_chunk;
            // A chunk of which a batch still holds segments is freed with the batch.
            if Arc::get_mut(&mut chunk).is_some() {
                state.spare.push(chunk);
            }
        }
        let spare = if state.released == state.written { 1 } else { (state.limit / self.slots_per_chunk) as usize + 1 };
        state.spare.truncate(spare);
    }

    /// Frees memory of an idle connection: a chunk may be a hundred times what one costs otherwise.
    pub(crate) fn release_memory(&self) {
        let mut state = self.state();
        state.spare.clear();
        if state.released == state.written && state.filled == 0 && !state.filling {
            // The tail may lie within the first chunk, which is then allocated again.
            state.first = state.tail - state.tail % self.slots_per_chunk;
            state.chunks.clear();
        }
    }

    /// Refuses further writes.
    pub(crate) fn end(&self, why: Ended) {
        self.state().ended.get_or_insert(why);
        self.room.notify();
    }
}

impl<M> State<M> {
    /// Ends the slot at the tail.
    fn seal(&mut self) {
        self.tail += 1;
        self.filled = 0;
        self.runs.push_back(Run { offset: self.written, slot: self.tail });
    }

    /// The slot that holds byte `offset`, and the byte's place in it.
    fn find(&self, offset: u64, payload: u64) -> Option<(u64, u64)> {
        let after = self.runs.partition_point(|run| run.offset <= offset);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let within = offset - run.offset;
        Some((run.slot + within / payload, within % payload))
    }
}

/// Bytes of a chunk: several of the longest GSO batches.
const CHUNK: usize = 256 * 1024;
/// A chunk of which more than this part (an eighth) is used is allocated whole: growing it step by step would copy it each time.
const WHOLE_FROM: usize = 8;
/// Packets that may wait here even if the network seems to need none: about 256 KiB, ten milliseconds at 200 Mbit/s.
const MIN_LIMIT: u64 = 180;
/// Bytes copied per call: enough to outweigh the locks, few enough for sending to begin meanwhile.
const MAX_COPY: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;

    /// Without waiting.
    fn now() -> Wait<'static> {
        Wait::Until(Deadline::after(Some(Duration::ZERO)))
    }

    fn content(buffer: &SendBuffer<()>, bytes: Range<u64>) -> Option<Vec<u8>> {
        let size = (bytes.end - bytes.start) as usize;
        let slot = buffer.slot(&bytes)?;
        let chunk = slot.chunk.lock().unwrap();
        Some(chunk[slot.at + HEADER..][..size].to_vec())
    }

    #[test]
    fn full_packets_are_submitted_at_once_and_the_short_one_when_all_are_sent() {
        let buffer = SendBuffer::new(32, 100);
        assert_eq!(buffer.write(&[1; 250], now()), Ok(Some(250)));
        assert_eq!(buffer.submit(0, false), 200);
        assert_eq!(buffer.submit(199, false), 0);
        assert_eq!(buffer.submit(200, false), 50);
        assert_eq!(buffer.submit(250, false), 0);
        // The short packet was sealed: later bytes begin another packet, and are not submitted before the short one is sent.
        assert_eq!(buffer.write(&[2; 120], now()), Ok(Some(120)));
        assert_eq!(buffer.submit(249, false), 0);
        assert_eq!((buffer.submit(250, true), buffer.submit(250, true)), (100, 20));
        assert_eq!(content(&buffer, 200..250), Some(vec![1; 50]));
        assert_eq!(content(&buffer, 250..350), Some(vec![2; 100]));
        assert_eq!(content(&buffer, 350..370), Some(vec![2; 20]));
        assert_eq!(content(&buffer, 210..250), None, "no packet begins there");
        assert_eq!(content(&buffer, 370..380), None, "nothing was written there");
    }

    #[test]
    fn writes_share_packets() {
        let buffer = SendBuffer::new(32, 100);
        for byte in 0..4 {
            buffer.write(&[byte; 60], now()).unwrap();
        }
        assert_eq!(buffer.submit(0, false), 200);
        assert_eq!(content(&buffer, 100..200), Some([[1; 20].as_slice(), &[2; 60], &[3; 20]].concat()));
    }

    #[test]
    fn room_is_bounded_and_comes_back_with_what_is_released() {
        let buffer = SendBuffer::<()>::new(8, 100);
        assert_eq!(buffer.write(&[0; 5_000], now()), Ok(Some(800)));
        assert_eq!(buffer.write(&[0; 1], now()), Ok(None));
        buffer.submit(0, false);
        buffer.release(399, 0);
        assert_eq!(buffer.write(&[0; 5_000], now()), Ok(Some(300)), "three whole packets are free");
        buffer.end(Ended::Closed);
        assert_eq!(buffer.write(&[0; 1], now()), Err(Ended::Closed));
    }

    #[test]
    fn chunks_are_used_again_in_order_with_their_contents_apart() {
        let buffer = SendBuffer::new(1_000, 1_000);
        let mut sent = 0;
        for round in 0..50_u8 {
            let mut rest = vec![round; 100_000];
            while let Some(size) = buffer.write(&rest, now()).unwrap() {
                rest.drain(..size);
                if rest.is_empty() {
                    break;
                }
            }
            assert_eq!(buffer.submit(sent, false), 100_000);
            for packet in 0..100 {
                let bytes = sent + packet * 1_000..sent + (packet + 1) * 1_000;
                assert_eq!(content(&buffer, bytes), Some(vec![round; 1_000]));
            }
            sent += 100_000;
            buffer.release(sent - 50_000, 1 << 20);
        }
        let state = buffer.state();
        assert!(state.chunks.len() + state.spare.len() <= 3, "100 packets fit into one chunk, and may lie in two");
    }

    #[test]
    fn no_more_chunks_are_kept_than_may_be_written_and_two() {
        let buffer = SendBuffer::<()>::new(25_600, 1_000);
        buffer.release(0, 20_000_000);
        let mut written = 0;
        while let Some(size) = buffer.write(&[1; MAX_COPY], now()).unwrap() {
            written += size as u64;
        }
        assert!(written >= 20_000_000, "{written}");
        buffer.submit(0, false);
        // The path has become ten times as short: 2 MB, and the share that every connection may have.
        buffer.release(written - 100_000, 2_000_000);
        let state = buffer.state();
        let kept = state.spare.len() * CHUNK;
        assert!((1_000_000..=2_180_000 + 2 * CHUNK).contains(&kept), "{kept} bytes");
        drop(state);
        buffer.submit(written, true);
        buffer.release(written, 2_000_000);
        assert_eq!(buffer.state().spare.len(), 1, "nothing waits");
    }

    #[test]
    fn an_idle_buffer_holds_nothing_and_continues_where_it_was() {
        let buffer = SendBuffer::<()>::new(1_000, 1_000);
        buffer.write(&[1; 1_500], now()).unwrap();
        buffer.release_memory();
        assert_eq!((buffer.submit(0, false), buffer.submit(1_000, false)), (1_000, 500));
        buffer.release_memory();
        assert_eq!(content(&buffer, 1_000..1_500), Some(vec![1; 500]), "what is not released stays");
        buffer.release(1_500, 0);
        buffer.release_memory();
        let held = |buffer: &SendBuffer<()>| {
            let state = buffer.state();
            state.chunks.len() + state.spare.len()
        };
        assert_eq!(held(&buffer), 0);
        buffer.write(&[2; 1_000], now()).unwrap();
        assert_eq!(buffer.submit(1_500, false), 1_000);
        assert_eq!(content(&buffer, 1_500..2_500), Some(vec![2; 1_000]));
        assert_eq!(held(&buffer), 1);
    }

    #[test]
    fn a_chunk_is_as_long_as_what_was_written() {
        let buffer = SendBuffer::<()>::new(1_000, 1_000);
        let held = |buffer: &SendBuffer<()>| buffer.state().chunks[0].lock().unwrap().len();
        buffer.write(&[1; 100], now()).unwrap();
        assert_eq!(held(&buffer), HEADER + 1_000);
        buffer.write(&[2; 900], now()).unwrap();
        assert_eq!(held(&buffer), HEADER + 1_000);
        buffer.write(&[3; 1_001], now()).unwrap();
        assert_eq!(held(&buffer), 3 * (HEADER + 1_000));
        assert_eq!(buffer.submit(0, false), 2_000);
        assert_eq!(content(&buffer, 0..1_000), Some([[1; 100].as_slice(), &[2; 900]].concat()));
        assert_eq!(content(&buffer, 1_000..2_000), Some(vec![3; 1_000]));
    }

    #[test]
    fn a_message_begins_a_packet_of_its_own() {
        let buffer = SendBuffer::new(8, 100);
        assert_eq!(buffer.write_message(&[1; 130], 'a', now()), Ok(true));
        assert_eq!(buffer.write_message(&[2; 200], 'b', now()), Ok(true));
        assert_eq!(buffer.write_message(&[3; 500], 'c', now()), Ok(false), "four slots are taken");
        assert_eq!(buffer.write_message(&[3; 400], 'd', now()), Ok(true));
        assert!(!buffer.submit_message(|length, options| (length, options) != (130, 'a')), "it stays the next");
        assert!(buffer.submit_message(|length, options| (length, options) == (130, 'a')));
        assert!(buffer.submit_message(|length, options| (length, options) == (200, 'b')));
        assert!(buffer.slot(&(130..230)).is_some());
        buffer.release(330, 0);
        assert_eq!(buffer.write_message(&[4; 400], 'e', now()), Ok(true));
    }
}
