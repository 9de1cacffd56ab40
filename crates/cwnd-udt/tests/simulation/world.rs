//! Two endpoints, their applications, and the path between them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;

use cwnd::{Span, Time};
use cwnd_udt::connection::{self, Arrived, Reason, Transmit};
use cwnd_udt::endpoint::{Event, Stored};
use cwnd_udt::{Connection, Endpoint, EndpointConfig, Handle, Refusal, Settings};

use crate::application::Application;
use crate::line::{How, Line, PathCounts};
use crate::plan::{Draw, HostPlan, Plan};

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) end: Ending,
    /// How each end's connection was closed or refused.
    pub(crate) reasons: [String; 2],
    pub(crate) elapsed: Span,
    pub(crate) datagrams: u64,
    pub(crate) steps: u64,
    pub(crate) retransmitted: u64,
    pub(crate) met: [PathCounts; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// Everything arrived, both ways.
    Complete,
    /// A connection was opened, and one end or both gave it up.
    Broken,
    /// No connection was opened.
    Refused,
}

struct World {
    plan: Plan,
    now: Time,
    ends: [End; 2],
    lines: [Line; 2],
    events: BinaryHeap<Reverse<(Time, u64)>>,
    /// Each event, by its number.
    what: std::collections::BTreeMap<u64, What>,
    count: u64,
    datagrams: u64,
    steps: u64,
    trace: bool,
}

enum What {
    Arrival(usize, Datagram),
    Wake(usize),
}

/// Bytes of a header or a whole control packet, and the offsets of the payload that follows.
#[derive(Clone)]
struct Datagram {
    bytes: Vec<u8>,
    payload: Option<Range<u64>>,
    how: How,
}

struct End {
    plan: HostPlan,
    endpoint: Endpoint,
    draw: Draw,
    handle: Option<Handle>,
    application: Application,
    socket: VecDeque<Datagram>,
    wake: Time,
    /// When it opens its connection, if it is its turn to.
    opens: Option<Time>,
    closed: Option<Reason>,
    refused: Option<Refusal>,
}

/// Carries a plan out.
///
/// # Errors
/// A byte arrived wrong, twice or not at all, a connection did not end in time, or a counter disagrees: in words.
pub(crate) fn run(plan: &Plan, trace: bool) -> Result<Outcome, String> {
    World::new(plan.clone(), trace).run()
}

impl World {
    fn new(plan: Plan, trace: bool) -> Self {
        let mut draw = Draw::new(plan.seed ^ 0x5eed);
        let ends = [0, 1].map(|index| {
            let mut entropy = [0; 32];
            entropy[..8].copy_from_slice(&draw.next().to_le_bytes());
            let mut config = EndpointConfig::new(entropy);
            config.initial_number = plan.initial_number;
            End {
                plan: plan.hosts[index].clone(),
                endpoint: Endpoint::new(&config),
                draw: Draw::new(draw.next()),
                handle: None,
                application: Application::new(&plan, draw.next()),
                socket: VecDeque::new(),
                wake: Time::ZERO,
                opens: None,
                closed: None,
                refused: None,
            }
        });
        let lines = [0, 1].map(|index| Line::new(plan.lines[index].clone(), draw.next()));
        let (events, what) = (BinaryHeap::new(), std::collections::BTreeMap::new());
        Self { plan, now: Time::ZERO, ends, lines, events, what, count: 0, datagrams: 0, steps: 0, trace }
    }

    fn run(mut self) -> Result<Outcome, String> {
        self.open()?;
        while !self.is_over() {
            let Reverse((time, number)) = self.events.pop().ok_or_else(|| self.state("nothing will ever happen"))?;
            self.now = time;
            match self.what.remove(&number) {
                Some(What::Arrival(to, datagram)) => {
                    let end = &mut self.ends[to];
                    if end.socket.len() < SOCKET {
                        end.socket.push_back(datagram);
                    }
                    self.step(to)?;
                }
                Some(What::Wake(end)) if self.ends[end].wake == time => self.step(end)?,
                _ => {}
            }
            self.check_bounds()?;
        }
        self.finish()
    }

    fn open(&mut self) -> Result<(), String> {
        let late = Span::from_micros(self.ends[1].draw.between(0, 1_000_000));
        self.ends[0].opens = Some(Time::ZERO);
        if self.plan.rendezvous {
            self.ends[1].opens = Some(Time::ZERO + late);
        } else {
            let listening = self.ends[1].endpoint.listen(self.plan.settings.clone(), 1);
            listening.map_err(|error| error.to_string())?;
        }
        for end in [0, 1] {
            self.push(Time::ZERO, What::Wake(end));
        }
        Ok(())
    }

    /// One turn of the loop of the host at end `index`.
    fn step(&mut self, index: usize) -> Result<(), String> {
        self.steps += 1;
        let now = self.now;
        if let Some((_, until)) =
            self.ends[index].plan.stalls.iter().find(|(from, until)| (*from..*until).contains(&now))
        {
            let until = *until;
            self.wake(index, until);
            return Ok(());
        }
        let (one, other) = self.ends.split_at_mut(1);
        let (end, peer) = if index == 0 { (&mut one[0], &mut other[0]) } else { (&mut other[0], &mut one[0]) };
        let local = end.local(now);
        if end.opens.is_some_and(|at| at <= now) {
            end.opens = None;
            let (settings, peer) = (self.plan.settings.clone(), address(1 - index));
            let opened = match self.plan.rendezvous {
                true => end.endpoint.rendezvous(local, peer, settings),
                false => end.endpoint.connect(local, peer, settings),
            };
            end.handle = Some(opened.map_err(|error| error.to_string())?);
        }
        end.receive(local, address(1 - index))?;
        end.endpoint.handle_timeout(local);
        end.process_events()?;
        end.act(local, peer)?;
        end.process_events()?;
        let mut sent = 0;
        while let Some(datagram) = self.ends[index].endpoint.poll_transmit(local) {
            if self.trace {
                eprintln!("{now} end {index} ({local}): {:?}", datagram.transmit);
            }
            sent += 1;
            if sent > MOST_AT_ONCE {
                return Err(self.state("a storm"));
            }
            if datagram.to != address(1 - index) {
                if datagram.handle.is_some() {
                    return Err(self.state("a packet to an unknown address"));
                }
                // A listener's cookie, for the forged address of a handshake.
                continue;
            }
            let mut bytes = Vec::new();
            datagram.encode(&mut bytes);
            let payload = match datagram.transmit {
                Transmit::Data(data) => Some(data.bytes),
                _ => None,
            };
            self.send(index, &bytes, payload.as_ref());
        }
        self.ends[index].process_events()?;
        let next = self.ends[index].next(now, local);
        self.wake(index, next.max(now));
        Ok(())
    }

    fn send(&mut self, from: usize, bytes: &[u8], payload: Option<&Range<u64>>) {
        self.datagrams += 1;
        let size = bytes.len() + payload.map_or(0, |payload| (payload.end - payload.start) as usize);
        for (arrival, how) in self.lines[from].carry(self.now, size) {
            let datagram = Datagram { bytes: bytes.to_vec(), payload: payload.cloned(), how };
            self.push(arrival, What::Arrival(1 - from, datagram));
        }
    }

    fn push(&mut self, time: Time, what: What) {
        self.count += 1;
        self.what.insert(self.count, what);
        self.events.push(Reverse((time, self.count)));
    }

    fn wake(&mut self, index: usize, time: Time) {
        if self.ends[index].wake != time || time == self.now {
            self.ends[index].wake = time;
            if time < Time::MAX {
                self.push(time, What::Wake(index));
            }
        }
    }

    fn is_over(&self) -> bool {
        // Arrived data can still be read from a connection that is closed.
        let readable = |end: &End| end.connection().is_some_and(|connection| connection.readable().next().is_some());
        let over = |end: &End| end.refused.is_some() || (end.closed.is_some() && !readable(end));
        let unreadable = self.ends.iter().all(over);
        unreadable || self.ends[0].refused.is_some()
    }

    fn check_bounds(&self) -> Result<(), String> {
        let seconds = self.now.as_secs_f64();
        if self.now > LIMIT {
            return Err(self.state("too slow"));
        }
        // Data both ways, a good part of it several times, an acknowledgement and its confirmation each 10 ms, and what keeps
        // probing while the path is dark.
        let datagrams = 24.0 * self.plan.packets as f64 + 800.0 * seconds + 1000.0;
        if self.datagrams as f64 > datagrams {
            return Err(self.state("too many datagrams"));
        }
        if self.steps as f64 > 4.0 * datagrams {
            return Err(self.state("too many steps"));
        }
        for end in &self.ends {
            if end.endpoint.connections() > 1 {
                return Err(self.state("a connection too many"));
            }
            let Some(connection) = end.connection().filter(|_| self.steps.is_multiple_of(64)) else { continue };
            let stats = connection.stats(end.local(self.now));
            // Departing packets are within the peer's window; messages given up before they left take numbers too.
            let Settings { send_buffer, receive_buffer, .. } = self.plan.settings;
            if stats.unacked > u64::from(send_buffer + receive_buffer) {
                return Err(self.state("more is kept than may be"));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Outcome, String> {
        let retransmitted = self.ends.iter().map(|end| {
            end.connection().map(|connection| connection.stats(end.local(self.now))).map_or(0, |stats| stats.retrans)
        });
        let retransmitted = retransmitted.sum();
        let refused = self.ends.iter().any(|end| end.refused.is_some());
        let complete = [0, 1].into_iter().all(|index| {
            let (end, peer) = (&self.ends[index], &self.ends[1 - index]);
            match self.plan.ttl {
                None => end.application.has_read(&peer.application, 0),
                Some(_) => peer.application.has_written() && peer.application.undelivered() == 0,
            }
        });
        let end = match (refused, complete) {
            (true, _) => Ending::Refused,
            (false, true) => Ending::Complete,
            (false, false) => Ending::Broken,
        };
        if end != Ending::Complete && !self.plan.harsh() {
            return Err(self.state("given up without need"));
        }
        for index in [0, 1] {
            let end = &mut self.ends[index];
            if let Some(handle) = end.handle.take() {
                end.endpoint.remove(handle);
            }
            if end.endpoint.connections() != 0 {
                return Err(self.state("a connection is left"));
            }
        }
        Ok(Outcome {
            end,
            reasons: [self.ends[0].reason(), self.ends[1].reason()],
            elapsed: self.now.since(Time::ZERO),
            datagrams: self.datagrams,
            steps: self.steps,
            retransmitted,
            met: [self.lines[0].met, self.lines[1].met],
        })
    }

    /// The fault, and the state of the world.
    fn state(&self, what: &str) -> String {
        let mut text = format!("{what} at {}, {} datagrams, {} steps", self.now, self.datagrams, self.steps);
        for (index, end) in self.ends.iter().enumerate() {
            text += &format!(
                "\n  end {index}: read {}, written {}, closed {:?}, refused {:?}\n    {:?}",
                end.application.read,
                end.application.written(),
                end.closed,
                end.refused,
                end.connection().map(|connection| connection.stats(end.local(self.now)))
            );
        }
        text
    }
}

impl End {
    /// The time of its clock.
    fn local(&self, now: Time) -> Time {
        self.plan.jumps.iter().filter(|(at, _)| *at <= now).fold(now, |time, (_, ahead)| time + *ahead)
    }

    fn reason(&self) -> String {
        match (&self.refused, &self.closed) {
            (Some(refusal), _) => refusal.to_string(),
            (None, Some(reason)) => format!("{reason:?}"),
            (None, None) => "open".to_owned(),
        }
    }

    fn connection(&self) -> Option<&Connection> {
        self.endpoint.connection(self.handle?)
    }

    /// Reads the socket.
    fn receive(&mut self, local: Time, from: SocketAddr) -> Result<(), String> {
        let mut coalesced = false;
        while let Some(Datagram { mut bytes, payload, how }) = self.socket.pop_front() {
            let from = if how == How::Foreign { address(9) } else { from };
            if how == How::Corrupt {
                continue;
            }
            if how == How::Garbage {
                bytes.iter_mut().for_each(|byte| *byte = self.draw.next() as u8);
            }
            let length = payload.as_ref().map_or(0, |payload| (payload.end - payload.start) as usize);
            bytes.resize(bytes.len() + length, 0);
            let stored = self.endpoint.handle(Arrived { now: local, coalesced }, from, &bytes);
            coalesced = true;
            match (stored, payload) {
                (Some(Stored { slot, .. }), Some(bytes)) if how == How::Whole => self.application.store(slot, bytes)?,
                (None, _) => {}
                (Some(stored), _) => return Err(format!("{stored:?} for a datagram that is {how:?}")),
            }
        }
        Ok(())
    }

    /// Processes what the endpoint reports.
    fn process_events(&mut self) -> Result<(), String> {
        while let Some((handle, event)) = self.endpoint.poll_event() {
            match event {
                Event::Accepted { from } => {
                    if from != address(0) || self.handle.is_some() {
                        return Err(format!("a connection of nobody's, from {from}"));
                    }
                    self.endpoint.accept(handle);
                    self.handle = Some(handle);
                }
                Event::Refused(refusal) => self.refused = Some(refusal),
                Event::Connection(connection::Event::Closed(reason)) => {
                    if let Some(earlier) = self.closed.replace(reason) {
                        return Err(format!("closed twice: {earlier:?} and {reason:?}"));
                    }
                }
                Event::Connected | Event::Connection(_) => {}
            }
        }
        Ok(())
    }

    /// Lets the application write, read and finish.
    fn act(&mut self, local: Time, peer: &mut Self) -> Result<(), String> {
        let Some(handle) = self.handle else { return Ok(()) };
        let released = match peer.handle.and_then(|handle| peer.endpoint.connection(handle)) {
            Some(connection) => connection.released(),
            None => 0,
        };
        let Self { endpoint, application, .. } = self;
        let done = endpoint.with(handle, |connection| {
            application.write(local, connection)?;
            application.read(local, connection, &mut peer.application)?;
            if application.has_written() && application.has_read(&peer.application, released) {
                connection.finish(local);
            }
            Ok(())
        });
        done.unwrap_or(Ok(()))
    }

    /// When it wants to run again, if nothing comes.
    fn next(&self, now: Time, local: Time) -> Time {
        let ahead = local.since(now);
        let connection = self.connection();
        let readable = connection.is_some_and(|connection| connection.readable().next().is_some());
        let own = self.application.next(local, readable).filter(|_| connection.is_some());
        let next = self.endpoint.next_timeout().into_iter().chain(own).min();
        let next = next.map_or(Time::MAX, |at| now + at.since(now + ahead)).min(self.opens.unwrap_or(Time::MAX));
        self.plan.jumps.iter().map(|(at, _)| *at).filter(|at| *at > now).fold(next, Time::min)
    }
}

fn address(index: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, index as u8)), 9000)
}

/// Datagrams a socket holds while nobody reads it.
const SOCKET: usize = 2000;
/// Packets that may leave at one instant: a window without pacing, and reports.
const MOST_AT_ONCE: u32 = 3000;
/// Half an hour: window algorithms at a tenth of packets lost are slow, not stuck.
const LIMIT: Time = Time::from_nanos(1_800_000_000_000);
