//! Reads the state of a sender from the packets of a capture at its host.

use std::collections::VecDeque;
use std::net::SocketAddr;

use super::{RecordedFlow, Sample};

/// The two ends of a flow: from its sender to its receiver.
pub(super) type Ends = (SocketAddr, SocketAddr);

/// The fields that are read of a TCP segment or a packet of UDT. Numbers are bytes of TCP, and half packets of UDT, whose 31 bits then wrap
/// as TCP's 32 do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    udt: bool,
    /// The number of its first byte, and how many it has.
    first: u32,
    count: u32,
    /// Its payload, bytes.
    payload: u32,
    /// Options of a segment with data, bytes.
    options: u32,
    /// Everything below has arrived.
    ack: Option<u32>,
    /// The round-trip time that the other side says, seconds.
    rtt: Option<f64>,
    /// The largest segment that its sender takes, bytes.
    largest: Option<u32>,
}

impl Segment {
    pub(super) fn of_tcp(bytes: &[u8], length: usize) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let header = usize::from(*bytes.get(12)? >> 4) * 4;
        let flags = *bytes.get(13)?;
        let payload = u32::try_from(length.checked_sub(header)?).ok()?;
        let is_syn = flags & SYN != 0;
        Some(Self {
            first: word(4)?,
            // A SYN has a number, and no data that could be measured.
            count: if is_syn { 0 } else { payload },
            payload: if is_syn { 0 } else { payload },
            options: header.saturating_sub(20) as u32,
            ack: (flags & ACK != 0).then(|| word(8)).flatten(),
            largest: if is_syn { largest(bytes.get(20..header)?) } else { None },
            ..Self::default()
        })
    }

    /// A possible packet of UDT: its header follows the 8 bytes of UDP's.
    pub(super) fn of_udt(bytes: &[u8], length: usize) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let head = word(8)?;
        if head & CONTROL == 0 {
            let payload = u32::try_from(length.checked_sub(24)?).ok()?;
            return Some(Self { udt: true, first: head << 1, count: 2, payload, ..Self::default() });
        }
        // Short acknowledgements have no round-trip time.
        let is_ack = head >> 16 == UDT_ACK;
        let rtt = if length >= 36 { word(28).map(|micros| f64::from(micros) * 1e-6) } else { None };
        is_ack.then_some(Self { udt: true, ack: Some(word(24)? << 1), rtt, ..Self::default() })
    }

    pub(super) fn is_data(&self) -> bool {
        self.payload > 0
    }
}

/// The maximum segment size among the options of a SYN.
fn largest(mut options: &[u8]) -> Option<u32> {
    loop {
        match options {
            [1, rest @ ..] => options = rest,
            [2, 4, high, low, ..] => return Some(u32::from(u16::from_be_bytes([*high, *low]))),
            [kind, length, ..] if *kind > 1 && *length >= 2 => options = options.get(usize::from(*length)..)?,
            _ => return None,
        }
    }
}

/// One direction of a connection.
pub(super) struct Connection {
    udt: bool,
    name: Option<(String, String)>,
    /// The first number, unwrapped numbers above it: all below `una` have arrived, and `next` follows the last that was sent.
    una: u64,
    next: u64,
    una_wrapped: u32,
    retransmitted: u64,
    /// Ends of data that was sent once, and when: what round-trip times are taken of.
    timed: VecDeque<(u64, u64)>,
    srtt: f64,
    /// The largest payload, and the largest options of a segment with data.
    payload: u32,
    options: u32,
    /// The largest segment that the receiver takes.
    limit: Option<u32>,
    samples: Vec<Sample>,
}

impl Connection {
    pub(super) fn new(first: &Segment, at: u64) -> Self {
        let mut connection = Self {
            udt: first.udt,
            name: None,
            una: 0,
            next: 0,
            una_wrapped: first.first,
            retransmitted: 0,
            timed: VecDeque::new(),
            srtt: f64::NAN,
            payload: 0,
            options: 0,
            limit: None,
            samples: Vec::new(),
        };
        connection.sample(at);
        connection
    }

    pub(super) fn named(&mut self, interface: Option<(&str, &str)>) {
        if self.name.is_none() {
            self.name = interface.map(|(name, description)| (name.to_string(), description.to_string()));
        }
    }

    /// It sent data.
    pub(super) fn sent(&mut self, segment: &Segment, at: u64) {
        if segment.udt != self.udt {
            return;
        }
        self.payload = self.payload.max(segment.payload);
        self.options = self.options.max(segment.options);
        let ahead = segment.first.wrapping_sub(self.una_wrapped);
        // Lower numbers were acknowledged already, and are retransmissions.
        let end = if ahead < HALF { self.una + u64::from(ahead) + u64::from(segment.count) } else { 0 };
        if end > self.next {
            self.next = end;
            if self.timed.len() < MOST_TIMED {
                self.timed.push_back((end, at));
            }
        } else {
            self.retransmitted += u64::from(segment.count);
            // An acknowledgement does not tell which of the two it is for (Karn and Partridge 1987).
            self.timed.clear();
        }
    }

    /// The other side said something.
    pub(super) fn answered(&mut self, segment: &Segment, at: u64) {
        self.limit = self.limit.or(segment.largest);
        let Some(ack) = segment.ack.filter(|_| segment.udt == self.udt) else { return };
        let newly = ack.wrapping_sub(self.una_wrapped);
        if newly == 0 || newly >= HALF {
            return;
        }
        self.una += u64::from(newly);
        self.una_wrapped = ack;
        self.next = self.next.max(self.una);
        let mut sent = None;
        while let Some((end, at)) = self.timed.front().copied()
            && end <= self.una
        {
            sent = Some(at);
            self.timed.pop_front();
        }
        if let Some(sent) = sent {
            let rtt = at.saturating_sub(sent) as f64 * 1e-9;
            self.srtt = if self.srtt.is_nan() { rtt } else { self.srtt + (rtt - self.srtt) / 8.0 };
        }
        if let Some(rtt) = segment.rtt {
            self.srtt = rtt;
        }
        self.sample(at);
    }

    fn sample(&mut self, at: u64) {
        self.samples.push(Sample {
            at,
            window: f64::NAN,
            threshold: f64::NAN,
            srtt: self.srtt,
            acked: self.una,
            in_flight: self.next - self.una,
            retransmitted: Some(self.retransmitted),
            pacing: f64::NAN,
        });
    }

    /// The flow, if any of its data was acknowledged; segments have `mss` bytes where they were captured before a device cut them.
    pub(super) fn finish(mut self, (from, to): Ends, mss: u32) -> Option<RecordedFlow> {
        if self.una == 0 {
            return None;
        }
        let mss = match self.limit {
            _ if self.udt => self.payload,
            Some(limit) if self.payload > limit => limit.saturating_sub(self.options),
            None if self.payload > JUMBO => mss,
            _ => self.payload,
        };
        let mss = mss.max(1);
        let (bytes, packets): (u64, u64) = if self.udt { (u64::from(mss), 2) } else { (1, u64::from(mss)) };
        for sample in &mut self.samples {
            sample.acked = if self.udt { sample.acked / 2 * bytes } else { sample.acked };
            sample.in_flight = sample.in_flight.div_ceil(packets);
            sample.retransmitted = sample.retransmitted.map(|count| count.div_ceil(packets));
        }
        self.samples.sort_by_key(|sample| sample.at);
        let (name, algorithm) = match self.name {
            Some((name, algorithm)) => (name, Some(algorithm)),
            None => (format!("{from} to {to}"), None),
        };
        Some(RecordedFlow { name, algorithm, mss, samples: self.samples })
    }
}

// Flags of TCP.
const SYN: u8 = 2;
const ACK: u8 = 16;
/// The bit of UDT's control packets, and the head of its acknowledgements.
const CONTROL: u32 = 1 << 31;
const UDT_ACK: u32 = 0x8002;
/// Half of the numbers: a number further ahead counts as behind.
const HALF: u32 = 1 << 31;
/// The largest payload of a frame.
const JUMBO: u32 = 9000;
/// Segments whose round-trip time is being taken.
const MOST_TIMED: usize = 1 << 16;
