//! The bytes an application has written and the peer has not acknowledged.
//!
//! They lie in slots, one per packet, each with room for a header before its payload. Slots that follow one another in a chunk
//! therefore are datagrams in a row, which leave by one system call without being copied again. Every slot is full but the last
//! before a pause of the application, or of a message; a slot that has been sealed short is never continued.
//!
//! The application copies and the port's thread sends without waiting for one another, unless both want the same chunk.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd_udt::wire::HEADER;

use crate::error::Ended;
use crate::waiting::{Bell, Patience};

/// What one connection holds for sending, shared by its application and the thread of its port. `M` is what an application says
/// of a message.
#[derive(Debug)]
pub(crate) struct SendBuffer<M> {
    /// Bytes that a full slot carries.
    payload: usize,
    /// Slots in all.
    capacity: u64,
    slots_per_chunk: u64,
    state: Mutex<State<M>>,
    room: Bell,
}

/// Slots in a row, as far as they have been used.
pub(crate) type Chunk = Arc<Mutex<Vec<u8>>>;

/// Where a packet lies.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) chunk: Chunk,
    /// Its header's place in the chunk.
    pub(crate) at: usize,
}

#[derive(Debug)]
struct State<M> {
    /// Where bytes lie, in order: all slots of a run are full, but for the last.
    runs: VecDeque<Run>,
    chunks: VecDeque<Chunk>,
    /// The slot with which the first chunk begins.
    first: u64,
    /// Chunks to be used again, warm in the processor's cache.
    spare: Vec<Chunk>,
    /// The slot being filled, and bytes in it.
    tail: u64,
    filled: usize,
    /// Of all bytes ever written: those copied here, those the protocol knows of, and those it has done with.
    written: u64,
    told: u64,
    released: u64,
    /// The first slot that is not released.
    oldest: u64,
    /// Messages the protocol does not know of: their lengths.
    messages: VecDeque<(u64, M)>,
    /// Slots that may be in use at present: enough to keep the network busy, and no more that would wait here.
    limit: u64,
    /// The application is copying into the tail, which must be neither sealed nor given back.
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
            told: 0,
            released: 0,
            oldest: 0,
            messages: VecDeque::new(),
            limit: capacity.min(LEAST),
            filling: false,
            wanted: None,
            ended: None,
        };
        let slots_per_chunk = (CHUNK / (HEADER + payload)).max(1) as u64;
        Self { payload, capacity, slots_per_chunk, state: Mutex::new(state), room: Bell::default() }
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
        // Every change of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Slots that may still be opened.
    fn room(&self, state: &State<M>) -> u64 {
        let opened = state.tail + u64::from(state.filled > 0);
        state.limit.saturating_sub(opened - state.oldest)
    }
}

/// The application's side. It writes one call at a time: streams and messengers see to that.
impl<M> SendBuffer<M> {
    /// Copies some of `bytes`, waiting for room. Returns how many; none if there is none in time.
    pub(crate) fn write(&self, bytes: &[u8], patience: Patience<'_>) -> Result<Option<usize>, Ended> {
        let Some(mut state) = self.wait(1, patience)? else { return Ok(None) };
        let size = bytes.len().min(self.room(&state) as usize * self.payload).min(PIECE);
        state.filling = true;
        self.copy(state, &bytes[..size]).filling = false;
        Ok(Some(size))
    }

    /// Copies a message of at most [`longest_message`](Self::longest_message) bytes, waiting for room. Whether there was
    /// any in time.
    pub(crate) fn write_message(&self, bytes: &[u8], about: M, patience: Patience<'_>) -> Result<bool, Ended> {
        let Some(mut state) = self.wait(bytes.len().div_ceil(self.payload) as u64, patience)? else { return Ok(false) };
        state.filling = true;
        let mut state = self.copy(state, bytes);
        state.filling = false;
        if state.filled > 0 {
            state.seal();
        }
        state.messages.push_back((bytes.len() as u64, about));
        Ok(true)
    }

    /// Waits for room for `slots` packets; none if there is none in time.
    fn wait(&self, slots: u64, patience: Patience<'_>) -> Result<Option<MutexGuard<'_, State<M>>>, Ended> {
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
            // Whoever is woken should find room for more than one packet: waking costs more than copying.
            state.wanted = Some(slots.max(state.limit / 4));
            state = match self.room.wait(state, patience) {
                Some(state) => state,
                None => return Ok(None),
            };
            state.wanted = None;
        }
    }

    /// Copies `bytes` into the slots from the tail on, for which there is room. The state is free while a chunk is written.
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

    /// Copies bytes from `filled` of slot `tail` on, to the end of the chunk at most. Returns how many.
    fn fill(&self, chunk: &Chunk, tail: u64, filled: usize, bytes: &[u8]) -> usize {
        let mut chunk = chunk.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Makes a chunk `wanted` bytes long, as far as chunks go. Who writes little never takes the memory of a whole one.
    fn extend(&self, chunk: &mut Vec<u8>, wanted: usize) {
        let whole = self.slots_per_chunk as usize * self.stride();
        if wanted > whole / FEW && chunk.is_empty() {
            *chunk = vec![0; whole];
        } else if wanted.min(whole) > chunk.len() {
            chunk.resize(if wanted > whole / FEW { whole } else { wanted }, 0);
        }
    }

    /// The place of a slot's header in its chunk.
    fn place(&self, slot: u64) -> usize {
        (slot % self.slots_per_chunk) as usize * self.stride()
    }
}

/// The side of the port's thread.
impl<M> SendBuffer<M> {
    /// Bytes of a stream of which the protocol may be told, beyond those of earlier calls: full packets, or, if all before have
    /// left (`idle`), the short one at the end of what was written. Also whether it is the short one.
    pub(crate) fn tell(&self, idle: bool) -> (u64, bool) {
        let mut state = self.state();
        let full = state.written - state.filled as u64;
        let short = full == state.told && idle && state.filled > 0 && !state.filling;
        let told = if short { state.written } else { full };
        if short {
            state.seal();
        }
        let news = told.saturating_sub(state.told);
        state.told += news;
        (news, short)
    }

    /// Whether the protocol has been told of everything.
    pub(crate) fn is_told(&self) -> bool {
        let state = self.state();
        state.told == state.written && !state.filling
    }

    /// The next message of which the protocol may be told, and its length.
    pub(crate) fn tell_message(&self) -> Option<(u64, M)> {
        let mut state = self.state();
        let (length, about) = state.messages.pop_front()?;
        state.told += length;
        Some((length, about))
    }

    /// Where the packet with these bytes lies; none if they do not fill one slot from its beginning.
    pub(crate) fn slot(&self, bytes: &Range<u64>) -> Option<Slot> {
        let state = self.state();
        if bytes.start < state.released || bytes.end > state.told || bytes.end > bytes.start + self.payload as u64 {
            return None;
        }
        let slot = state.find(bytes.start, self.payload as u64).filter(|(_, within)| *within == 0)?.0;
        let index = slot.checked_sub(state.first)? / self.slots_per_chunk;
        let chunk = state.chunks.get(usize::try_from(index).ok()?)?;
        Some(Slot { chunk: Arc::clone(chunk), at: self.place(slot) })
    }

    /// Bytes from one slot to the next.
    pub(crate) fn stride(&self) -> usize {
        HEADER + self.payload
    }

    /// Whether the chunk goes on behind the slot at `at`.
    pub(crate) fn is_followed(&self, at: usize) -> bool {
        at + 2 * self.stride() <= self.slots_per_chunk as usize * self.stride()
    }

    /// Bytes before `offset` will not be asked for again; `busy` bytes are enough to keep the network busy.
    pub(crate) fn release(&self, offset: u64, busy: u64) {
        let mut state = self.state();
        state.limit = (busy / self.payload as u64 + LEAST).min(self.capacity).max(state.wanted.unwrap_or(0));
        let offset = offset.min(state.told);
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
            // A chunk of which something is still leaving is left to whoever sends it.
            if Arc::get_mut(&mut chunk).is_some() {
                state.spare.push(chunk);
            }
        }
        if state.released == state.written {
            state.spare.truncate(1);
        }
        if let Some(wanted) = state.wanted
            && self.room(&state) >= wanted
        {
            state.wanted = None;
            drop(state);
            self.room.ring();
        }
    }

    /// Gives memory back while nothing happens: a chunk may be a hundred times what an idle connection costs otherwise.
    pub(crate) fn rest(&self) {
        let mut state = self.state();
        state.spare.clear();
        if state.released == state.written && state.filled == 0 && !state.filling {
            // The tail may lie within the first chunk, which is then made again.
            state.first = state.tail - state.tail % self.slots_per_chunk;
            state.chunks.clear();
        }
    }

    /// Nothing can be written any more.
    pub(crate) fn end(&self, why: Ended) {
        self.state().ended.get_or_insert(why);
        self.room.ring();
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

/// Bytes of a chunk: several of the longest trains of datagrams that one system call takes.
const CHUNK: usize = 256 * 1024;
/// Of which more than this part is used, a chunk is made whole: growing piece by piece would copy what is there each time.
const FEW: usize = 8;
/// Packets that may wait here although the network seems to need none: about 256 KiB, ten milliseconds at 200 Mbit/s.
const LEAST: u64 = 180;
/// Bytes copied before the protocol hears of them: enough to pay for the locks, few enough for sending to begin meanwhile.
const PIECE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;

    /// Without waiting.
    fn now() -> Patience<'static> {
        Patience::Until(Deadline::after(Some(Duration::ZERO)))
    }

    fn content(buffer: &SendBuffer<()>, bytes: Range<u64>) -> Option<Vec<u8>> {
        let size = (bytes.end - bytes.start) as usize;
        let slot = buffer.slot(&bytes)?;
        let chunk = slot.chunk.lock().unwrap();
        Some(chunk[slot.at + HEADER..][..size].to_vec())
    }

    #[test]
    fn full_packets_are_told_at_once_and_the_short_one_when_all_have_left() {
        let buffer = SendBuffer::new(32, 100);
        assert_eq!(buffer.write(&[1; 250], now()), Ok(Some(250)));
        assert_eq!(buffer.tell(true), (200, false));
        assert_eq!(buffer.tell(false), (0, false));
        assert_eq!(buffer.tell(true), (50, true));
        assert_eq!(buffer.tell(true), (0, false));
        // The short packet was sealed: what follows begins a packet of its own.
        assert_eq!(buffer.write(&[2; 120], now()), Ok(Some(120)));
        assert_eq!((buffer.tell(false), buffer.tell(true)), ((100, false), (20, true)));
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
        assert_eq!(buffer.tell(false), (200, false));
        assert_eq!(content(&buffer, 100..200), Some([[1; 20].as_slice(), &[2; 60], &[3; 20]].concat()));
    }

    #[test]
    fn room_is_bounded_and_comes_back_with_what_is_released() {
        let buffer = SendBuffer::<()>::new(8, 100);
        assert_eq!(buffer.write(&[0; 5_000], now()), Ok(Some(800)));
        assert_eq!(buffer.write(&[0; 1], now()), Ok(None));
        buffer.tell(false);
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
            assert_eq!(buffer.tell(true), (100_000, false));
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
    fn at_rest_it_holds_nothing_and_goes_on_where_it_was() {
        let buffer = SendBuffer::<()>::new(1_000, 1_000);
        buffer.write(&[1; 1_500], now()).unwrap();
        buffer.rest();
        assert_eq!((buffer.tell(true), buffer.tell(true)), ((1_000, false), (500, true)));
        buffer.rest();
        assert_eq!(content(&buffer, 1_000..1_500), Some(vec![1; 500]), "what is not released stays");
        buffer.release(1_500, 0);
        buffer.rest();
        let held = |buffer: &SendBuffer<()>| {
            let state = buffer.state();
            state.chunks.len() + state.spare.len()
        };
        assert_eq!(held(&buffer), 0);
        buffer.write(&[2; 1_000], now()).unwrap();
        assert_eq!(buffer.tell(true), (1_000, false));
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
        assert_eq!(buffer.tell(true), (2_000, false));
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
        assert_eq!(buffer.tell_message(), Some((130, 'a')));
        assert_eq!(buffer.tell_message(), Some((200, 'b')));
        assert!(buffer.slot(&(130..230)).is_some());
        buffer.release(330, 0);
        assert_eq!(buffer.write_message(&[4; 400], 'e', now()), Ok(true));
    }
}
