//! The link, the clock and the applications at both ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use cwnd::{Bytes, Spec};

use super::super::*;
use crate::number::{Seq, SocketId};
use crate::wire::Position;

pub(super) const PAYLOAD: u32 = 1456;

/// A packet or message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parcel {
    Data(DataPacket),
    Message(Message),
}

/// Whether a parcel that leaves now is lost.
pub(super) type Loses = Box<dyn FnMut(Time, &Parcel) -> bool>;

/// One direction of the link.
pub(super) struct Line {
    pub(super) delay: Span,
    /// Bits per second; none for no transmission time.
    pub(super) rate: Option<u64>,
    /// Packets that may wait for the line.
    pub(super) queue: usize,
    /// Whether a parcel is lost.
    pub(super) loses: Loses,
    /// How much later the packet of data of this number arrives than it would.
    pub(super) late: Box<dyn Fn(u64) -> Span>,
    /// Changes a parcel on its way.
    pub(super) alters: Box<dyn FnMut(&mut Parcel)>,
    free: Time,
    departures: std::collections::VecDeque<Time>,
    pub(super) dropped: u64,
}

/// One end.
pub(super) struct End {
    pub(super) core: Connection,
    pub(super) line: Line,
    /// Bytes the application still wants to write.
    pub(super) to_write: u64,
    /// Whether it reads.
    pub(super) reads: bool,
    stored: BTreeMap<u64, Range<u64>>,
    /// Bytes read, in order.
    pub(super) read: u64,
    /// Messages read, as the bytes of the sender's stream.
    pub(super) messages: Vec<Range<u64>>,
    pub(super) events: Vec<Event>,
    /// Everything that left, with its time.
    pub(super) said: Vec<(Time, Parcel)>,
    /// How late its host runs it after a timer or an arrival; none for at once.
    pub(super) lateness: Option<Box<dyn FnMut() -> Span>>,
    /// Packets that have arrived since the host last ran the connection, and when it runs it again.
    socket: Vec<(Time, Parcel)>,
    runs_at: Time,
    /// The lateness of the current sleep.
    late: Span,
}

pub(super) struct World {
    pub(super) now: Time,
    pub(super) ends: [End; 2],
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    parcels: BTreeMap<u64, Parcel>,
    count: u64,
}

pub(super) fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

pub(super) fn settings() -> Settings {
    Settings::default()
}

pub(super) fn seq(value: u32) -> Seq {
    Seq::new(value).expect("31 bits")
}

pub(super) fn agreed(isn: u32, mode: Mode) -> Agreed {
    Agreed {
        isn_ours: seq(isn),
        isn_theirs: seq(isn),
        payload: PAYLOAD,
        peer_id: SocketId::new(7).expect("31 bits"),
        peer_window: 25_600,
        mode,
        opened: Time::ZERO,
        seed: 1,
    }
}

/// The header of a one-packet message.
pub(super) fn header(seq: Seq) -> DataHeader {
    DataHeader {
        seq,
        position: Position::Only,
        in_order: false,
        message: MessageNumber::FIRST,
        timestamp_us: 0,
        to: SocketId::new(7).expect("31 bits"),
    }
}

impl Line {
    /// A line that loses nothing.
    pub(super) fn new(delay: u64, rate: Option<u64>) -> Self {
        Self {
            delay: Span::from_millis(delay),
            rate,
            queue: 1000,
            loses: Box::new(|_, _| false),
            late: Box::new(|_| Span::ZERO),
            alters: Box::new(|_| {}),
            free: Time::ZERO,
            departures: std::collections::VecDeque::new(),
            dropped: 0,
        }
    }

    /// When a parcel arrives that is put on the line now.
    fn carry(&mut self, now: Time, parcel: &Parcel) -> Option<Time> {
        if (self.loses)(now, parcel) {
            self.dropped += 1;
            return None;
        }
        let late = if let Parcel::Data(data) = parcel { (self.late)(data.number) } else { Span::ZERO };
        let Some(rate) = self.rate else { return Some(now + self.delay + late) };
        while self.departures.front().is_some_and(|departure| *departure <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= self.queue {
            self.dropped += 1;
            return None;
        }
        let size = match parcel {
            Parcel::Data(data) => Bytes(stats::HEADERS + (data.bytes.end - data.bytes.start) as u32),
            Parcel::Message(_) => Bytes(68),
        };
        self.free = self.free.max(now) + Span::from_secs_f64(size.bits() / rate as f64);
        self.departures.push_back(self.free);
        Some(self.free + self.delay + late)
    }
}

impl World {
    /// Two ends of equal settings, `delay` ms apart.
    pub(super) fn new(delay: u64, rate: Option<u64>) -> Self {
        Self::with(&settings(), &agreed(1000, Mode::Stream), delay, rate)
    }

    /// Two ends of a connection for messages.
    pub(super) fn of_messages(delay: u64, rate: Option<u64>) -> Self {
        let settings = Settings { mode: Mode::Messages, ..settings() };
        Self::with(&settings, &agreed(1000, Mode::Messages), delay, rate)
    }

    /// Two ends under the congestion control `algorithm`.
    pub(super) fn under(algorithm: &str, delay: u64, rate: Option<u64>) -> Self {
        let settings = Settings::new(Spec::parse(algorithm).expect("registered"));
        Self::with(&settings, &agreed(1000, Mode::Stream), delay, rate)
    }

    pub(super) fn with(settings: &Settings, agreed: &Agreed, delay: u64, rate: Option<u64>) -> Self {
        let end = |core| End {
            core,
            line: Line::new(delay, rate),
            to_write: 0,
            reads: true,
            stored: BTreeMap::new(),
            read: 0,
            messages: Vec::new(),
            events: Vec::new(),
            said: Vec::new(),
            lateness: None,
            socket: Vec::new(),
            runs_at: Time::ZERO,
            late: Span::ZERO,
        };
        let core = || Connection::new(settings, agreed, Time::ZERO);
        Self {
            now: Time::ZERO,
            ends: [end(core()), end(core())],
            heap: BinaryHeap::new(),
            parcels: BTreeMap::new(),
            count: 0,
        }
    }

    /// Goes on until `done` or `end`; the instant reached.
    pub(super) fn run_until(&mut self, end: Time, mut done: impl FnMut(&Self) -> bool) -> Time {
        let mut idle = 0;
        loop {
            for index in 0..2 {
                if self.ends[index].runs(self.now) {
                    self.turn(index);
                    self.ends[index].sleep(self.now);
                }
            }
            if done(self) {
                break;
            }
            let timers = self.ends.iter().filter_map(End::next).min();
            let arrival = self.heap.peek().map(|Reverse((at, ..))| *at);
            let Some(next) = timers.into_iter().chain(arrival).min().map(|at| at.max(self.now)) else { break };
            if next > end {
                self.now = end;
                break;
            }
            idle = if next == self.now { idle + 1 } else { 0 };
            assert!(idle < 10_000, "no progress at {}: {:?}", self.now, self.ends[0].core.stats(self.now));
            self.now = next;
            while let Some(Reverse((at, id, to))) = self.heap.peek().copied().filter(|Reverse((at, ..))| *at <= next) {
                debug_assert!(at <= self.now);
                self.heap.pop();
                let parcel = self.parcels.remove(&id).expect("queued with its id");
                if self.ends[to].lateness.is_some() {
                    self.ends[to].arrives(at, parcel);
                } else {
                    self.deliver(to, at, &parcel);
                }
            }
            for index in 0..2 {
                if self.ends[index].runs(self.now) {
                    for (at, parcel) in std::mem::take(&mut self.ends[index].socket) {
                        self.deliver(index, at, &parcel);
                    }
                    self.ends[index].core.handle_timeout(self.now);
                }
            }
        }
        self.now
    }

    /// Goes on for `millis`.
    pub(super) fn run(&mut self, millis: u64) {
        let end = self.now + Span::from_millis(millis);
        self.run_until(end, |_| false);
    }

    /// Sends `bytes` from the first end to the second; how long it takes until all are read.
    pub(super) fn transfer(&mut self, bytes: u64, limit: u64) -> Span {
        let start = self.now;
        self.ends[0].to_write += bytes;
        let goal = self.ends[1].read + bytes;
        let end = self.run_until(start + Span::from_millis(limit), |world| world.ends[1].read >= goal);
        assert_eq!(self.ends[1].read, goal, "{:?}", self.ends[0].core.stats(self.now));
        end.since(start)
    }

    /// The messages that left `from`, with their times.
    pub(super) fn messages_of(&self, from: usize) -> Vec<(Time, Message)> {
        let said = self.ends[from].said.iter();
        said.filter_map(|(at, parcel)| if let Parcel::Message(message) = parcel { Some((*at, *message)) } else { None })
            .collect()
    }

    /// Lets an end handle a message that the other never sent.
    pub(super) fn forge(&mut self, to: usize, message: Message) {
        self.ends[to].core.handle_message(self.now, &message);
    }

    /// Passes an arrived packet to an end, at the time that its socket reports.
    pub(super) fn deliver(&mut self, to: usize, now: Time, parcel: &Parcel) {
        let end = &mut self.ends[to];
        match parcel {
            Parcel::Data(data) => {
                let len = (data.bytes.end - data.bytes.start) as u32;
                let arrived = Arrived { now, coalesced: false };
                if let Some(Slot(slot)) = end.core.handle_data(arrived, &data.header, len) {
                    assert_eq!(slot, data.number, "numbers unwrap");
                    assert_eq!(end.stored.insert(slot, data.bytes.clone()), None, "a slot is given once");
                }
            }
            Parcel::Message(message) => end.core.handle_message(now, message),
        }
    }

    /// Applications act, then everything leaves that may.
    fn turn(&mut self, index: usize) {
        let now = self.now;
        let end = &mut self.ends[index];
        if end.to_write > 0 {
            end.to_write -= end.core.write(end.to_write);
        }
        while end.reads {
            let packets: Vec<_> = end.core.readable().collect();
            if packets.is_empty() {
                break;
            }
            let mut message: Option<Range<u64>> = None;
            for (Slot(slot), len) in &packets {
                let bytes = end.stored.remove(slot).expect("stored");
                assert_eq!(u64::from(*len), bytes.end - bytes.start);
                message = match message {
                    None => Some(bytes),
                    Some(so_far) => {
                        assert_eq!(so_far.end, bytes.start, "the packets of a message follow each other");
                        Some(so_far.start..bytes.end)
                    }
                };
            }
            let message = message.expect("not empty");
            if end.core.mode == Mode::Stream {
                assert_eq!(message.start, end.read, "every byte once and in order");
            }
            end.read += message.end - message.start;
            end.messages.push(message);
            end.core.consume(now, packets.len() as u64);
        }
        while let Some(transmit) = end.core.poll_transmit(now) {
            let mut parcel = match transmit {
                Transmit::Data(data) => Parcel::Data(data),
                Transmit::Handshake(_) => unreachable!("a connection begins after its handshake"),
                Transmit::Message(message) => Parcel::Message(message),
            };
            end.said.push((now, parcel.clone()));
            if let Some(arrival) = end.line.carry(now, &parcel) {
                (end.line.alters)(&mut parcel);
                self.heap.push(Reverse((arrival, self.count, 1 - index)));
                self.parcels.insert(self.count, parcel);
                self.count += 1;
            }
        }
        while let Some(event) = end.core.poll_event() {
            end.events.push(event);
        }
    }
}

impl End {
    /// Whether the host runs it now.
    fn runs(&self, now: Time) -> bool {
        self.lateness.is_none() || self.runs_at <= now
    }

    /// When something happens here by itself.
    fn next(&self) -> Option<Time> {
        if self.lateness.is_some() { Some(self.runs_at) } else { self.core.next_timeout() }
    }

    /// All is done until the next timer or arrival.
    fn sleep(&mut self, now: Time) {
        if let Some(lateness) = &mut self.lateness {
            self.late = lateness();
            self.runs_at = self.core.next_timeout().map_or(Time::MAX, |at| at.max(now) + self.late);
        }
    }

    /// Something arrives at its socket, which wakes it.
    fn arrives(&mut self, at: Time, parcel: Parcel) {
        self.socket.push((at, parcel));
        self.runs_at = self.runs_at.min(at + self.late);
    }
}

/// Loses the `n`-th packet of data, counting from 1, when it first leaves.
pub(super) fn lose_first_copy_of(n: u64) -> Loses {
    Box::new(move |_, parcel| matches!(parcel, Parcel::Data(data) if data.number + 1 == n && !data.retransmission))
}
