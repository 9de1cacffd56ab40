//! Two UDT endpoints, the path between them, and the streams of the two programs that use them.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use cwnd::{Span, Time};
use cwnd_udt::connection::{self, Arrived, Transmit};
use cwnd_udt::endpoint::Event;
use cwnd_udt::wire::{Control, HEADER, Packet};
use cwnd_udt::{Endpoint, EndpointConfig, Handle, Mode, SocketId};

use crate::line::{How, Line, PathCounts};
use crate::plan::{Draw, Plan};

/// A single change by an attacker on the path, to a packet of data of one direction, with a matching checksum of UDP, like an error that
/// the checksum does not detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    None,
    /// One bit of the payload is another.
    FlipPayload {
        end: usize,
        at: u64,
    },
    /// One bit of the header is another.
    FlipHeader {
        end: usize,
        at: u64,
    },
    /// The payload is that of the packet before.
    Replay {
        end: usize,
        at: u64,
    },
    /// A shutdown follows, which its sender has not sent.
    Shutdown {
        end: usize,
        at: u64,
    },
    /// Nothing of this direction arrives any more.
    Cut {
        end: usize,
        at: u64,
    },
}

impl Attack {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        let end = usize::from(draw.chance(0.3));
        // The answer is a few records only.
        let most = if end == 0 { draw.pick(&[4, 60, 400]) } else { 4 };
        let at = draw.between(0, most);
        match draw.between(0, 6) {
            0 => Self::None,
            1 => Self::FlipPayload { end, at },
            2 => Self::FlipHeader { end, at },
            3 => Self::Replay { end, at },
            4 => Self::Shutdown { end, at },
            _ => Self::Cut { end, at },
        }
    }

    pub(crate) fn name(self) -> String {
        format!("{self:?}").split(' ').next().unwrap_or_default().to_owned()
    }

    fn place(self) -> Option<(usize, u64)> {
        match self {
            Self::None => None,
            Self::FlipPayload { end, at }
            | Self::FlipHeader { end, at }
            | Self::Replay { end, at }
            | Self::Shutdown { end, at }
            | Self::Cut { end, at } => Some((end, at)),
        }
    }
}

/// The stream of a program: it registers what it waits for with the world, which goes on while both programs wait.
pub(crate) struct Pipe {
    shared: Arc<Shared>,
    end: usize,
}

#[derive(Default)]
struct Shared {
    sides: Mutex<[Side; 2]>,
    changed: Condvar,
}

#[derive(Default)]
struct Side {
    waits: Waits,
    inbound: VecDeque<u8>,
    outbound: Vec<u8>,
    /// The connection is gone.
    ended: bool,
    /// The program has waited for as long as it does at most.
    timed_out: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Runs,
    ToRead,
    ToWrite,
    /// The program is done with the stream.
    Done,
}

impl Pipe {
    /// Announces the event that this end waits for, and waits until the world has handled it.
    fn wait<'a>(&'a self, mut sides: MutexGuard<'a, [Side; 2]>, waits: Waits) -> MutexGuard<'a, [Side; 2]> {
        sides[self.end].waits = waits;
        self.shared.changed.notify_all();
        self.shared.changed.wait_while(sides, |sides| sides[self.end].waits == waits).unwrap()
    }
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut sides = self.shared.sides.lock().unwrap();
        while sides[self.end].inbound.is_empty() {
            if sides[self.end].ended {
                return Ok(0);
            }
            if sides[self.end].timed_out {
                return Err(io::ErrorKind::TimedOut.into());
            }
            sides = self.wait(sides, Waits::ToRead);
        }
        sides[self.end].inbound.read(out)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sides = self.shared.sides.lock().unwrap();
        while sides[self.end].outbound.len() >= AHEAD && !sides[self.end].ended {
            if sides[self.end].timed_out {
                return Err(io::ErrorKind::TimedOut.into());
            }
            sides = self.wait(sides, Waits::ToWrite);
        }
        if sides[self.end].ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        sides[self.end].outbound.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // A program that panics poisons nothing here.
        if let Ok(mut sides) = self.shared.sides.lock() {
            sides[self.end].waits = Waits::Done;
        }
        self.shared.changed.notify_all();
    }
}

pub(crate) struct World {
    shared: Arc<Shared>,
    plan: Plan,
    attack: Attack,
    draw: Draw,
    now: Time,
    /// When a program last went on.
    progress_at: Time,
    ends: [End; 2],
    lines: [Line; 2],
    /// Datagrams on their way, by their arrival: to which end, and how they arrive.
    path: BTreeMap<(Time, u64), (usize, How, Vec<u8>)>,
    count: u64,
}

struct End {
    endpoint: Endpoint,
    handle: Option<Handle>,
    /// All that was written.
    written: Vec<u8>,
    /// Payloads that arrived and were not read, by slot.
    stored: BTreeMap<u64, Vec<u8>>,
    ended: bool,
    /// Packets of data it has sent, and the payload of the last.
    packets: u64,
    last: Vec<u8>,
    cut: bool,
}

impl World {
    /// The world of a seed, and the streams of the client and the server.
    pub(crate) fn new(seed: u64, attack: Attack) -> (Self, [Pipe; 2]) {
        let shared = Arc::<Shared>::default();
        let mut plan = Plan::new(seed);
        let mut draw = Draw::new(!seed);
        plan.settings.mode = Mode::Stream;
        plan.settings.mss = draw.pick(&[576, 1500, 9000]);
        plan.settings.linger = Span::from_secs(30);
        // Longer ones may end a connection, as they should.
        let short = |(from, to): &(Time, Time)| to.since(*from) < Span::from_secs(2);
        for line in &mut plan.lines {
            line.blackouts.retain(short);
            // So does a queue that holds packets for longer than the time after which a peer counts as gone.
            let slowest = line.rates.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min);
            let drained = slowest * LONGEST_QUEUE.as_secs_f64() / (8.0 * f64::from(plan.settings.mss));
            line.queue = line.queue.min(drained as usize).max(2);
        }
        let lines = [0, 1].map(|index| Line::new(plan.lines[index].clone(), draw.next()));
        let ends = [0, 1].map(|_| {
            let mut entropy = [0; 32];
            entropy[..8].copy_from_slice(&draw.next().to_le_bytes());
            let mut config = EndpointConfig::new(entropy);
            config.initial_number = plan.initial_number;
            End::new(Endpoint::new(&config))
        });
        let pipes = [0, 1].map(|end| Pipe { shared: Arc::clone(&shared), end });
        let (now, path) = (Time::ZERO, BTreeMap::new());
        (Self { shared, plan, attack, draw, now, progress_at: now, ends, lines, path, count: 0 }, pipes)
    }

    /// Runs until both programs and both connections are done; what packets met on the path, and how many seconds it took.
    pub(crate) fn run(mut self) -> (PathCounts, f64) {
        let settings = self.plan.settings.clone();
        self.ends[1].endpoint.listen(settings.clone(), 1).unwrap();
        self.ends[0].handle = Some(self.ends[0].endpoint.connect(self.now, address(1), settings).unwrap());
        let shared = Arc::clone(&self.shared);
        loop {
            let sides = shared.sides.lock().unwrap();
            let runs = |sides: &mut [Side; 2]| sides.iter().any(|side| side.waits == Waits::Runs);
            let (mut sides, late) = shared.changed.wait_timeout_while(sides, HANG, runs).unwrap();
            assert!(!late.timed_out(), "seed {}, {:?}: a program hangs", self.plan.seed, self.attack);
            self.step(&mut sides);
            if self.is_over(&sides) {
                break;
            }
            if self.serve(&mut sides) {
                shared.changed.notify_all();
                continue;
            }
            self.advance(&sides);
        }
        let mut met = self.lines[0].met;
        met.add(&self.lines[1].met);
        (met, self.now.as_secs_f64())
    }

    fn is_over(&self, sides: &[Side; 2]) -> bool {
        let done = sides.iter().all(|side| side.waits == Waits::Done);
        done && self.ends.iter().all(|end| end.ended)
    }

    /// Lets programs run whose wait is over; whether there is one.
    fn serve(&mut self, sides: &mut [Side; 2]) -> bool {
        let mut any = false;
        for (side, end) in sides.iter_mut().zip(&self.ends) {
            side.ended = end.ended;
            side.timed_out = self.now.since(self.progress_at) >= TIMEOUT;
            let over = match side.waits {
                Waits::ToRead => !side.inbound.is_empty() || side.ended || side.timed_out,
                Waits::ToWrite => side.outbound.len() < AHEAD || side.ended || side.timed_out,
                Waits::Runs | Waits::Done => false,
            };
            if over {
                side.waits = Waits::Runs;
                any = true;
            }
        }
        if any {
            self.progress_at = self.now;
        }
        any
    }

    /// Moves time to what happens next.
    fn advance(&mut self, sides: &[Side; 2]) {
        let timeouts = self.ends.iter().filter_map(|end| end.endpoint.next_timeout());
        let arrival = self.path.first_key_value().map(|((at, _), _)| *at);
        let next = timeouts.chain(arrival).min();
        let waits = [sides[0].waits, sides[1].waits];
        let seed = self.plan.seed;
        let Some(next) = next.filter(|next| *next < LIMIT) else {
            panic!("seed {seed}, {:?}: nothing happens at {}, both wait: {waits:?}", self.attack, self.now);
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.path.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, how, mut bytes) = entry.remove();
            let from = if how == How::Foreign { address(9) } else { address(1 - to) };
            match how {
                // The checksum of UDP tells.
                How::Corrupt => continue,
                How::Garbage => bytes.iter_mut().for_each(|byte| *byte = self.draw.next() as u8),
                How::Whole | How::Foreign => {}
            }
            let end = &mut self.ends[to];
            let stored = end.endpoint.handle(Arrived { now: self.now, coalesced: false }, from, &bytes);
            if let Some(stored) = stored {
                assert!(how == How::Whole, "seed {seed}: a datagram that is {how:?} was taken for one");
                end.stored.insert(stored.slot.0, bytes.split_off(HEADER));
            }
        }
    }

    /// One iteration of both hosts.
    fn step(&mut self, sides: &mut [Side; 2]) {
        for (index, side) in sides.iter_mut().enumerate() {
            self.ends[index].endpoint.handle_timeout(self.now);
            self.ends[index].process_events();
            self.ends[index].service(self.now, side);
            while let Some(datagram) = self.ends[index].endpoint.poll_transmit(self.now) {
                // A listener's answer to the apparent sender.
                if datagram.to != address(1 - index) {
                    continue;
                }
                let mut bytes = Vec::new();
                datagram.encode(&mut bytes);
                let payload = match datagram.transmit {
                    Transmit::Data(data) => Some(data.bytes.start as usize..data.bytes.end as usize),
                    _ => None,
                };
                if let Some(payload) = &payload {
                    bytes.extend_from_slice(&self.ends[index].written[payload.clone()]);
                }
                self.send(index, bytes, payload.is_some());
            }
            self.ends[index].process_events();
        }
        if self.ends[0].ended && self.ends[1].handle.is_none() {
            self.ends[1].ended = true;
        }
    }

    /// Gives a datagram to the path, and to whoever is on it.
    fn send(&mut self, index: usize, mut bytes: Vec<u8>, is_data: bool) {
        let end = &mut self.ends[index];
        let mut forged = None;
        if is_data {
            let attacked = self.attack.place() == Some((index, end.packets));
            end.packets += 1;
            let length = (bytes.len() - HEADER) as u64;
            let payload = bytes[HEADER..].to_vec();
            match self.attack {
                Attack::FlipPayload { .. } if attacked => {
                    bytes[HEADER + self.draw.between(0, length) as usize] ^= 1 << self.draw.between(0, 8);
                }
                Attack::FlipHeader { .. } if attacked => {
                    bytes[self.draw.between(0, HEADER as u64) as usize] ^= 1 << self.draw.between(0, 8);
                }
                Attack::Replay { .. } if attacked && !end.last.is_empty() => {
                    bytes.truncate(HEADER);
                    bytes.extend_from_slice(&end.last);
                }
                Attack::Shutdown { .. } if attacked => {
                    let to = bytes[12..].first_chunk().map(|word| u32::from_be_bytes(*word)).and_then(SocketId::new);
                    let mut shutdown = Vec::new();
                    Packet::Control { to, timestamp_us: 0, control: Control::Shutdown }.encode(&mut shutdown);
                    forged = Some(shutdown);
                }
                Attack::Cut { .. } if attacked => end.cut = true,
                _ => {}
            }
            end.last = payload;
        }
        if end.cut {
            return;
        }
        for bytes in [Some(bytes), forged].into_iter().flatten() {
            for (arrival, how) in self.lines[index].carry(self.now, bytes.len()) {
                self.count += 1;
                self.path.insert((arrival, self.count), (1 - index, how, bytes.clone()));
            }
        }
    }
}

impl End {
    fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            handle: None,
            written: Vec::new(),
            stored: BTreeMap::new(),
            ended: false,
            packets: 0,
            last: Vec::new(),
            cut: false,
        }
    }

    /// Processes what the endpoint reports.
    fn process_events(&mut self) {
        while let Some((handle, event)) = self.endpoint.poll_event() {
            match event {
                Event::Accepted { .. } => {
                    self.endpoint.accept(handle);
                    self.handle = Some(handle);
                }
                Event::Refused(_) | Event::Connection(connection::Event::Closed(_)) => self.ended = true,
                Event::Connected | Event::Connection(_) => {}
            }
        }
    }

    /// Passes on what the program has written, and what it can read.
    fn service(&mut self, now: Time, side: &mut Side) {
        let Some(handle) = self.handle else { return };
        let Self { endpoint, written, stored, .. } = self;
        endpoint.with(handle, |connection| {
            let taken = connection.write(side.outbound.len() as u64) as usize;
            written.extend(side.outbound.drain(..taken));
            let readable: Vec<_> = connection.readable().collect();
            for (slot, length) in &readable {
                let payload = stored.remove(&slot.0).unwrap_or_default();
                assert_eq!(payload.len(), *length as usize, "the host has what the protocol says it has");
                side.inbound.extend(payload);
            }
            connection.consume(now, readable.len() as u64);
            if side.waits == Waits::Done && side.outbound.is_empty() {
                connection.finish(now);
            }
        });
    }
}

fn address(index: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, index as u8)), 9000)
}

/// The data that a program may write before it must wait.
const AHEAD: usize = 1 << 18;
/// The limit on the real computing time of a program; others run at the same time.
const HANG: Duration = Duration::from_secs(120);
/// The time in which the path's slowest rate empties its queue, at most.
const LONGEST_QUEUE: Span = Span::from_secs(5);
/// How long the real programs wait for the network.
const TIMEOUT: Span = Span::from_secs(300);
/// An hour: nothing is that slow.
const LIMIT: Time = Time::from_nanos(3_600_000_000_000);
