//! qlog of any stack: versions 0.3 and later of the format, as one document or as a sequence of records.
//!
//! Read are the packets sent, acknowledged and lost, and the metrics of recovery. Other events are passed over.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ImportFault, Located, RecordedFlow, Sample};

/// The keys in the head of a file, in any version.
pub(super) const MARKS: [&str; 2] = ["\"qlog_version\"", "urn:ietf:params:qlog:"];
/// Precedes every record of a JSON text sequence (RFC 7464).
pub(super) const SEPARATOR: u8 = 0x1e;

/// Reads the connections of a file, one for each of its traces, and the line in which the last record of a sequence is cut, if it is. Packets
/// have `mss` bytes where it gives no length of any.
pub(super) fn read(bytes: &[u8], mss: u32) -> Result<(Vec<RecordedFlow>, Option<usize>), Located> {
    // A record that is a line by itself, and not the whole document on one line.
    let first = bytes.split(|byte| *byte == b'\n').next().and_then(|line| serde_json::from_slice::<Begin>(line).ok());
    let is_sequence = bytes.first() == Some(&SEPARATOR) || first.is_some_and(|first| first.traces.is_none());
    if is_sequence {
        sequence(bytes, mss).map(|(flow, cut)| (vec![flow], cut))
    } else {
        document(bytes, mss).map(|flows| (flows, None))
    }
}

/// A document that holds all of its events.
fn document(bytes: &[u8], mss: u32) -> Result<Vec<RecordedFlow>, Located> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| json(error.line(), &error))?;
    let flows = file.traces.into_iter().map(|trace| {
        let mut connection = Connection::new(&trace.head, mss);
        for (event, nth) in trace.events.iter().zip(1..) {
            connection.event(event).map_err(|fault| match fault {
                ImportFault::Json(why) => (1, ImportFault::Json(format!("event {nth}: {why}"))),
                other => (1, other),
            })?;
        }
        Ok(connection.finish())
    });
    flows.collect()
}

/// A head, and a record for each event. A writer that was ended leaves a part of its last record, which is passed over: its line.
fn sequence(bytes: &[u8], mss: u32) -> Result<(RecordedFlow, Option<usize>), Located> {
    let end = bytes.trim_ascii_end().len();
    let mut connection = Connection::new(&TraceHead::default(), mss);
    let mut line = 1;
    for text in bytes.split(|byte| *byte == SEPARATOR || *byte == b'\n') {
        if !text.trim_ascii().is_empty() {
            let is_last = offset(bytes, text) + text.len() >= end;
            let record: Record = match serde_json::from_slice(text) {
                Ok(record) => record,
                Err(error) if is_last && error.is_eof() => return Ok((connection.finish(), Some(line))),
                Err(error) => return Err(json(line, &error)),
            };
            match &record.trace {
                Some(head) => connection = Connection::new(head, mss),
                None => connection.event(&record).map_err(|fault| (line, fault))?,
            }
        }
        line += usize::from(text.as_ptr_range().end < bytes.as_ptr_range().end && ends_line(bytes, text));
    }
    Ok((connection.finish(), None))
}

/// Where `part` of `all` begins.
fn offset(all: &[u8], part: &[u8]) -> usize {
    part.as_ptr_range().start as usize - all.as_ptr_range().start as usize
}

/// Whether a line break follows `part` of `all`.
fn ends_line(all: &[u8], part: &[u8]) -> bool {
    all.get(offset(all, part) + part.len()) == Some(&b'\n')
}

fn json(line: usize, error: &serde_json::Error) -> Located {
    (line, ImportFault::Json(error.to_string()))
}

/// Distinguishes a document from a record.
#[derive(Deserialize)]
struct Begin {
    traces: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    traces: Vec<WholeTrace<'a>>,
}

#[derive(Deserialize)]
struct WholeTrace<'a> {
    #[serde(flatten)]
    head: TraceHead,
    #[serde(borrow, default)]
    events: Vec<Record<'a>>,
}

/// The fields that describe a trace as a whole.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TraceHead {
    common_fields: Value,
    vantage_point: Value,
}

/// A record of a sequence, or an event of a document.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(default)]
    time: Option<f64>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(default)]
    trace: Option<TraceHead>,
}

/// The state of a connection while its events are read.
struct Connection {
    flow: RecordedFlow,
    /// Times are since the event before.
    relative: bool,
    milliseconds: f64,
    /// Payload of the packets that are in flight, by number space and number.
    sent: BTreeMap<(u8, u64), u64>,
    /// The largest packet; 0 before the first with a length.
    packet: f64,
    /// A packet until then.
    usual: f64,
    now: Sample,
}

impl Connection {
    fn new(head: &TraceHead, mss: u32) -> Self {
        let common = &head.common_fields;
        let name = head.vantage_point["name"].as_str().or(common["group_id"].as_str()).unwrap_or("connection");
        let format = common["time_format"].as_str().unwrap_or_default();
        Self {
            flow: RecordedFlow {
                name: name.to_string(),
                algorithm: common["algorithm"].as_str().map(str::to_string),
                mss: 0,
                samples: Vec::new(),
            },
            relative: matches!(format, "delta" | "relative_to_previous_event"),
            milliseconds: 0.0,
            sent: BTreeMap::new(),
            packet: 0.0,
            usual: f64::from(mss.max(1)),
            now: Sample {
                at: 0,
                window: f64::NAN,
                threshold: f64::NAN,
                srtt: f64::NAN,
                acked: 0,
                in_flight: 0,
                retransmitted: Some(0),
                pacing: f64::NAN,
            },
        }
    }

    fn event(&mut self, record: &Record) -> Result<(), ImportFault> {
        let Some(time) = record.time else { return Ok(()) };
        self.milliseconds = if self.relative { self.milliseconds + time } else { time };
        let Some(name) = &record.name else { return Ok(()) };
        let name = name.rsplit(':').next().unwrap_or_default();
        let name = name.strip_prefix("recovery_").unwrap_or(name);
        if !["packet_sent", "packet_received", "packet_lost", "metrics_updated"].contains(&name) {
            return Ok(());
        }
        let nanoseconds = self.milliseconds * 1e6;
        if !(0.0..MOST_TIME).contains(&nanoseconds) {
            return Err(ImportFault::Number { field: "time", given: time.to_string() });
        }
        self.now.at = nanoseconds as u64;
        let Some(data) = record.data else { return Ok(()) };
        let data: Value = serde_json::from_str(data.get()).map_err(|error| ImportFault::Json(error.to_string()))?;
        match name {
            "packet_sent" => self.packet_sent(&data),
            "packet_received" => {
                self.acknowledged(&data);
            }
            "packet_lost" => {
                if self.sent.remove(&key(&data)).is_some() {
                    self.now.retransmitted = self.now.retransmitted.map(|lost| lost + 1);
                }
            }
            _ => self.metrics(&data),
        }
        Ok(())
    }

    fn packet_sent(&mut self, data: &Value) {
        // In version 0.3, and in what quinn writes, the header has it.
        let header = &data["header"];
        let length = number(&data["raw"]["length"]).or_else(|| number(&header["packet_size"]));
        let length = length.or_else(|| number(&header["length"])).unwrap_or(0.0);
        let frames = data["frames"].as_array().map_or(&[][..], Vec::as_slice);
        let streams = frames.iter().filter(|frame| frame["frame_type"] == "stream");
        let payload = |frame: &Value| number(&frame["raw"]["payload_length"]).or_else(|| number(&frame["length"]));
        let payload: f64 = streams.filter_map(payload).sum();
        let payload = payload.clamp(0.0, MOST_PACKET) as u64;
        if self.packet == 0.0 && length > 0.0 {
            self.rescale(self.usual / length.min(MOST_PACKET));
        }
        self.packet = self.packet.max(length.clamp(0.0, MOST_PACKET));
        let is_first = self.flow.mss == 0 && payload > 0;
        self.flow.mss = self.flow.mss.max(payload as u32);
        self.sent.insert(key(data), payload);
        if is_first {
            self.sample();
        }
    }

    /// Metrics before the first packet were in packets of the usual size.
    fn rescale(&mut self, factor: f64) {
        for sample in self.flow.samples.iter_mut().chain([&mut self.now]) {
            sample.window *= factor;
            sample.threshold *= factor;
        }
    }

    fn acknowledged(&mut self, data: &Value) {
        let space = space(&data["header"]);
        let frames = data["frames"].as_array().map_or(&[][..], Vec::as_slice);
        let mut any = false;
        for range in frames.iter().filter_map(|frame| frame["acked_ranges"].as_array()).flatten() {
            let ends: Vec<f64> = range.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(number).collect();
            let (Some(first), Some(last)) = (ends.first(), ends.last()) else { continue };
            if first > last {
                continue;
            }
            let acked = (space, *first as u64)..=(space, *last as u64);
            let acked: Vec<(u8, u64)> = self.sent.range(acked).map(|(packet, _)| *packet).collect();
            for packet in acked {
                self.now.acked += self.sent.remove(&packet).unwrap_or(0);
                any = true;
            }
        }
        if any {
            self.sample();
        }
    }

    fn metrics(&mut self, data: &Value) {
        let bytes = |name: &str| number(&data[name]);
        let packet = if self.packet > 0.0 { self.packet } else { self.usual };
        if let Some(window) = bytes("congestion_window") {
            self.now.window = window / packet;
        }
        if let Some(threshold) = bytes("ssthresh") {
            // Stacks write the largest number for none.
            self.now.threshold = if threshold < MOST_WINDOW { threshold / packet } else { f64::NAN };
        }
        if let Some(srtt) = bytes("smoothed_rtt") {
            self.now.srtt = srtt * 1e-3;
        }
        if let Some(pacing) = bytes("pacing_rate") {
            self.now.pacing = pacing;
        }
        if let Some(packets) = bytes("packets_in_flight").or_else(|| bytes("bytes_in_flight").map(|all| all / packet)) {
            self.now.in_flight = packets.max(0.0).round() as u64;
        }
        self.sample();
    }

    fn sample(&mut self) {
        match self.flow.samples.last_mut() {
            Some(last) if last.at == self.now.at => *last = self.now,
            _ => self.flow.samples.push(self.now),
        }
    }

    fn finish(mut self) -> RecordedFlow {
        self.flow.samples.sort_by_key(|sample| sample.at);
        if self.flow.mss == 0 {
            self.flow.mss = self.usual as u32;
        }
        self.flow
    }
}

/// The number space of a packet and its number.
fn key(data: &Value) -> (u8, u64) {
    let header = &data["header"];
    (space(header), number(&header["packet_number"]).unwrap_or(0.0) as u64)
}

fn space(header: &Value) -> u8 {
    match header["packet_type"].as_str() {
        Some("initial") => 0,
        Some("handshake") => 1,
        _ => 2,
    }
}

/// A finite number, which some stacks write as text.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

/// Bytes that no packet has.
const MOST_PACKET: f64 = 65_536.0;
/// Bytes that no window has.
const MOST_WINDOW: f64 = 1e15;
/// Nanoseconds that no time of a recording reaches.
const MOST_TIME: f64 = 1e19;
