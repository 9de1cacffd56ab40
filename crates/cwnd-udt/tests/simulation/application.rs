//! The transfer that an application at one end wants, and whether it succeeds.

use std::collections::BTreeMap;
use std::ops::Range;

use cwnd::{Span, Time};
use cwnd_udt::connection::{MessageOptions, SendError, Slot};
use cwnd_udt::{Connection, Mode};

use crate::plan::{Draw, Plan};

/// One end's application: it writes all it has, reads all the other has, and then finishes.
///
/// There are no bytes. A packet carries the offsets of its payload in the stream of the sender; the reader compares them with the offsets
/// that must come next.
pub(crate) struct Application {
    mode: Mode,
    draw: Draw,
    total: u64,
    largest: u64,
    written: u64,
    /// The data written as messages, by their first byte.
    messages: BTreeMap<u64, Sent>,
    ttl: Option<Span>,
    pauses: bool,
    reads: Option<(u64, Span)>,
    read_at: Time,
    write_at: Time,
    /// Payloads in a ring, which holds no more than the receive buffer of the connection.
    stored: Vec<Option<(Slot, Range<u64>)>>,
    pub(crate) read: u64,
    /// One past the last byte of the latest message read that had to be in order.
    ordered: u64,
    pub(crate) delivered: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    in_order: bool,
    mortal: bool,
    delivered: bool,
}

impl Application {
    pub(crate) fn new(plan: &Plan, seed: u64) -> Self {
        let payload = u64::from(plan.settings.mss) - 44;
        Self {
            mode: plan.settings.mode,
            draw: Draw::new(seed),
            total: plan.packets * payload,
            // Messages larger than a receiver's buffer cannot be delivered.
            largest: 16 * payload,
            written: 0,
            messages: BTreeMap::new(),
            ttl: plan.ttl,
            pauses: plan.pauses,
            reads: plan.reads,
            read_at: Time::ZERO,
            write_at: Time::ZERO,
            stored: vec![None; plan.settings.receive_buffer as usize + 2],
            read: 0,
            ordered: 0,
            delivered: 0,
        }
    }

    /// Keeps a payload. The place of a message that was given up and is never read is used again.
    pub(crate) fn store(&mut self, slot: Slot, bytes: Range<u64>) -> Result<(), String> {
        let place = self.place(slot);
        match self.stored[place].replace((slot, bytes)) {
            Some((known, bytes)) if known >= slot => {
                Err(format!("{slot:?} is to be stored where {known:?} is, {bytes:?}"))
            }
            _ => Ok(()),
        }
    }

    fn place(&self, slot: Slot) -> usize {
        slot.0 as usize % self.stored.len()
    }

    /// Whether everything has been written.
    pub(crate) fn has_written(&self) -> bool {
        self.written == self.total
    }

    /// Bytes written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether all that the other end has to say has been read; what may have been given up on the way counts as if it had been.
    pub(crate) fn has_read(&self, other: &Self, released: u64) -> bool {
        self.read == other.total || (self.ttl.is_some() && released == other.total)
    }

    /// Writes as much as there is room for and the application has at the moment.
    pub(crate) fn write(&mut self, now: Time, connection: &mut Connection) -> Result<(), String> {
        while self.written < self.total && now >= self.write_at {
            let bytes =
                (1 + (self.draw.unit() * self.draw.unit() * self.largest as f64) as u64).min(self.total - self.written);
            let taken = match self.mode {
                Mode::Stream => connection.write(bytes),
                Mode::Messages => self.send(now, bytes, connection)?,
            };
            self.written += taken;
            if taken < bytes {
                return Ok(());
            }
            if self.pauses && self.draw.chance(0.05) {
                self.write_at = now + Span::from_micros(self.draw.between(1, 300_000));
            }
        }
        Ok(())
    }

    fn send(&mut self, now: Time, bytes: u64, connection: &mut Connection) -> Result<u64, String> {
        let in_order = self.draw.chance(0.5);
        let ttl = self.ttl.filter(|_| self.draw.chance(0.5));
        let mut options = MessageOptions::new();
        (options.ttl, options.in_order) = (ttl, in_order);
        match connection.send_message(now, bytes, options) {
            Ok(_) => {
                let sent = Sent { end: self.written + bytes, in_order, mortal: ttl.is_some(), delivered: false };
                self.messages.insert(self.written, sent);
                Ok(bytes)
            }
            Err(SendError::Full | SendError::Closed) => Ok(0),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Reads what can be read and checks it against what `other` wrote.
    pub(crate) fn read(&mut self, now: Time, connection: &mut Connection, other: &mut Self) -> Result<(), String> {
        while now >= self.read_at {
            let most = match (self.mode, self.reads) {
                (Mode::Stream, Some((packets, _))) => packets,
                _ => u64::MAX,
            };
            let packets: Vec<_> = connection.readable().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
            if packets.is_empty() {
                return Ok(());
            }
            let mut whole: Option<Range<u64>> = None;
            for (slot, len) in &packets {
                let bytes = self.fetch(*slot)?;
                let start = whole.as_ref().map_or(bytes.start, |whole| whole.end);
                if bytes != (start..start + u64::from(*len)) {
                    return Err(format!("{slot:?}, {len} bytes, holds {bytes:?} and follows on {whole:?}"));
                }
                whole = Some(whole.map_or(bytes.start, |whole| whole.start)..bytes.end);
            }
            let whole = whole.unwrap_or_default();
            match self.mode {
                Mode::Stream if whole.start != self.read => {
                    return Err(format!("read {whole:?} where {} comes next", self.read));
                }
                Mode::Stream => self.read = whole.end,
                Mode::Messages => self.accept(whole, other)?,
            }
            connection.consume(now, packets.len() as u64);
            if let Some((_, pause)) = self.reads {
                self.read_at = now + pause;
            }
        }
        Ok(())
    }

    /// Takes a payload out of the ring.
    fn fetch(&mut self, slot: Slot) -> Result<Range<u64>, String> {
        let place = self.place(slot);
        match self.stored[place].take() {
            Some((known, bytes)) if known == slot => Ok(bytes),
            other => Err(format!("{slot:?} is to be read; in its place is {other:?}")),
        }
    }

    /// A message has come.
    fn accept(&mut self, bytes: Range<u64>, other: &mut Self) -> Result<(), String> {
        let Some(sent) = other.messages.get_mut(&bytes.start) else {
            return Err(format!("no message begins like {bytes:?}"));
        };
        if sent.end != bytes.end || sent.delivered {
            return Err(format!("{bytes:?} was delivered, and {sent:?} sent"));
        }
        sent.delivered = true;
        let in_order = sent.in_order;
        self.delivered += 1;
        self.read += bytes.end - bytes.start;
        if in_order {
            let missing =
                other.messages.range(self.ordered..bytes.start).find(|(_, sent)| !sent.delivered && !sent.mortal);
            if let Some((start, sent)) = missing {
                return Err(format!("{bytes:?} overtook the message at {start}: {sent:?}"));
            }
            if bytes.start < self.ordered {
                return Err(format!("{bytes:?} came after the messages up to {}", self.ordered));
            }
            self.ordered = bytes.end;
        }
        Ok(())
    }

    /// When the application wants to do something of its own accord after `now`. Room to write is an event, not a time.
    pub(crate) fn next(&self, now: Time, readable: bool) -> Option<Time> {
        let write = (self.written < self.total).then_some(self.write_at);
        let read = readable.then_some(self.read_at);
        write.into_iter().chain(read).filter(|at| *at > now).min()
    }

    /// Messages that did not arrive and were not allowed to expire.
    pub(crate) fn undelivered(&self) -> usize {
        self.messages.values().filter(|sent| !sent.delivered && !sent.mortal).count()
    }
}
