//! gVisor's netstack as flows of the simulator: both ends are whole stacks with one TCP connection, over IPv4.
//!
//! `docs/foreign.md` lists the parts that are not the stack's (sockets, the processor). Nothing of it is copied or changed. `netstack/` has
//! the end of the adapter that is written in Go, with its clock, its random numbers and its application.

mod library;
#[path = "../../src/unseeded.rs"]
mod unseeded;

use std::collections::VecDeque;

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

use crate::library::{Event, Host};

/// All stacks of this program, by their names.
#[must_use]
pub fn stacks() -> Vec<Spec> {
    let name = if cfg!(feature = "mended") { "gvisor-mended" } else { "gvisor" };
    let stack = |(controller, cubic)| StackSpec::new(&format!("{name}:{controller}"), Gvisor { cubic }).into_spec();
    [("cubic", true), ("reno", false)].into_iter().map(stack).collect()
}

#[derive(Debug)]
struct Gvisor {
    cubic: bool,
}

/// One end.
struct End {
    host: Host,
    leaving: VecDeque<Vec<u8>>,
    next: Option<Time>,
    delivered: u64,
    /// The newest acknowledgement of the peer: its number, and the bytes of the application up to it.
    acknowledged: Option<(u32, u64)>,
    sent: Option<SentData>,
    shown: Shown,
}

/// The segments with data that an end has sent.
struct SentData {
    /// The number after the last byte.
    next: u32,
    /// The most data of a segment: the stack counts its window in these.
    segment: u32,
    /// Segments that were sent again.
    again: u64,
}

impl Stack for Gvisor {
    /// Its datagrams are whole IP packets.
    fn headers(&self) -> Bytes {
        Bytes(0)
    }

    fn connect(&self, connection: &Connection) -> Pair {
        let end = |server| {
            let seed = connection.seed ^ u64::from(server) << 63;
            let opened = Host::open(server, self.cubic, connection.datagram, seed, connection.start);
            let host = opened.unwrap_or_else(|reason| panic!("gVisor: {reason}"));
            let (leaving, shown) = (VecDeque::new(), Shown::default());
            let mut end = End { host, leaving, next: None, delivered: 0, acknowledged: None, sent: None, shown };
            // What the host has begun at its start leaves then.
            end.call(connection.start, Event::Submitted(0));
            Box::new(end)
        };
        Pair { receiver: end(true), sender: end(false) }
    }
}

impl End {
    fn call(&mut self, now: Time, event: Event<'_>) {
        let report = self.host.call(now, event).unwrap_or_else(|reason| panic!("gVisor: {reason}"));
        for _ in 0..report.leaving {
            let packet = self.host.take();
            if let Some((number, length)) = data(&packet) {
                let sent = self.sent.get_or_insert(SentData { next: number, segment: 0, again: 0 });
                sent.segment = sent.segment.max(length);
                let end = number.wrapping_add(length);
                if later(end, sent.next) { sent.next = end } else { sent.again += 1 }
            }
            self.leaving.push_back(packet);
        }
        self.next = u64::try_from(report.next).ok().map(Time::from_nanos);
        self.delivered = report.read;
        // Before the connection there is no window.
        if report.window > 0 {
            self.shown.window = Some(report.window.into());
            self.shown.ssthresh = Some(if report.ssthresh < UNKNOWN { report.ssthresh.into() } else { f64::INFINITY });
        }
        // gVisor does not show its count of packets in flight, nor lost ones: the numbers of the segments do.
        if let (Some(sent), Some((acknowledged, _))) = (&self.sent, self.acknowledged) {
            let in_flight = if later(sent.next, acknowledged) { sent.next.wrapping_sub(acknowledged) } else { 0 };
            self.shown.in_flight = Some(in_flight.div_ceil(sent.segment).into());
            self.shown.lost = Some(sent.again);
        }
        self.shown.rtt = u64::try_from(report.rtt).ok().filter(|rtt| *rtt > 0).map(Span::from_nanos);
    }
}

/// The TCP segment of an IPv4 packet.
fn segment(packet: &[u8]) -> Option<&[u8]> {
    packet.get(usize::from(packet.first()? & 0xf) * 4..)
}

/// The acknowledgement number of an IPv4 packet with a TCP segment, if it has one.
fn acknowledgement(packet: &[u8]) -> Option<u32> {
    let segment = segment(packet)?;
    let has_one = segment.get(13)? & 0x10 != 0;
    has_one.then_some(u32::from_be_bytes(*segment[8..].first_chunk()?))
}

/// The number of the first byte of the data in an IPv4 packet with a TCP segment, and its length, if it has data.
fn data(packet: &[u8]) -> Option<(u32, u32)> {
    let segment = segment(packet)?;
    let headers = usize::from(segment.get(12)? >> 4) * 4;
    let length = segment.len().checked_sub(headers)? as u32;
    (length > 0).then_some((u32::from_be_bytes(*segment[4..].first_chunk()?), length))
}

/// Whether a sequence number comes after another (RFC 9293 section 3.4).
fn later(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

impl Endpoint for End {
    fn submit(&mut self, now: Time, bytes: u64) {
        self.call(now, Event::Submitted(bytes));
    }

    /// gVisor does not use ECN.
    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        if let Some(number) = acknowledgement(datagram) {
            // The first one, of the SYN, is for no data. An older one than the newest does not count.
            let (last, bytes) = self.acknowledged.unwrap_or((number, 0));
            let newly = u64::from(number.wrapping_sub(last));
            self.acknowledged = Some(if later(number, last) { (number, bytes + newly) } else { (last, bytes) });
        }
        self.call(now, Event::Arrived(datagram));
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        buffer.extend(self.leaving.pop_front()?);
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, now: Time) {
        self.call(now, Event::Timeout);
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    /// gVisor does not show it: the numbers of the segments do.
    fn acknowledged(&self) -> Option<u64> {
        self.acknowledged.map(|(_, bytes)| bytes)
    }

    fn shown(&self) -> Shown {
        self.shown
    }
}

/// The threshold of a new connection, packets: without a memory of the route it is the largest number of 31 bits.
const UNKNOWN: u32 = i32::MAX as u32;
