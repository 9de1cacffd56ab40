//! A flow's recovery as qlog, for qvis and other viewers of QUIC.
//!
//! The file is a JSON text sequence (RFC 7464), of one flow. The simulator's packets are not QUIC's; what the events say of them
//! is: every transmission has a number of its own, as in QUIC, so that a packet sent again is a new one that carries the same bytes
//! of stream 0. `smoothed_rtt` is in milliseconds, windows in bytes on the wire, rates in bit/s. Metrics are those of the sampled
//! instants, and only what changed.
//!
//! The log of packets decides what the file contains: a packet is lost in the event at which its bytes are sent again, and the
//! state is `recovery` from then until all packets sent before are acknowledged, `slow_start` while the window is below its threshold,
//! else `congestion_avoidance`.

use std::io::{self, Write};

use cwnd_trace::{FlowTrace, Trace};
use serde_json::{Map, Value, json};

use crate::About;
use crate::transmissions::{TransmissionEvent, events};

/// The version of the qlog format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events, as of their versions 14.
    Draft14,
    /// qlog 0.3, as classic qvis reads it: `recovery:metrics_updated`, `transport:packet_sent`.
    Legacy,
}

/// Writes flow `flow` of a trace, whose packets were logged.
///
/// # Errors
/// The writer fails.
pub fn write(
    out: &mut impl Write,
    trace: &Trace,
    flow: &FlowTrace,
    dialect: Dialect,
    about: &About<'_>,
) -> io::Result<()> {
    let mut writer = Writer { out, dialect, flow, state: None, recovering: false, slow_start: true };
    writer.record(&dialect.head(flow, about))?;
    let mut samples = trace.at.iter().enumerate().peekable();
    let mut known = Map::new();
    for (at, event) in events(&flow.log) {
        while let Some((index, sampled)) = samples.next_if(|(_, sampled)| **sampled < at) {
            writer.sample(*sampled, index, &mut known)?;
        }
        writer.transmission(at, event)?;
    }
    for (index, sampled) in samples {
        writer.sample(*sampled, index, &mut known)?;
    }
    Ok(())
}

struct Writer<'a, W> {
    out: &'a mut W,
    dialect: Dialect,
    flow: &'a FlowTrace,
    /// The state written last.
    state: Option<&'static str>,
    recovering: bool,
    slow_start: bool,
}

impl<W: Write> Writer<'_, W> {
    fn transmission(&mut self, at: u64, event: TransmissionEvent) -> io::Result<()> {
        let header = |number: u64| json!({ "packet_type": "1RTT", "packet_number": number });
        match event {
            TransmissionEvent::Sent { transmission, number } => {
                let data = json!({
                    "header": header(transmission),
                    "raw": { "length": self.flow.packet },
                    "frames": [self.dialect.stream(number * u64::from(self.flow.payload), self.flow.payload)],
                });
                self.event(at, EventName::PacketSent, &data)
            }
            TransmissionEvent::Lost(transmission) => {
                self.event(at, EventName::PacketLost, &json!({ "header": header(transmission) }))
            }
            TransmissionEvent::Acked(ranges) => {
                let ranges: Vec<Value> = ranges.into_iter().map(|(first, last)| json!([first, last])).collect();
                let frames = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
                // An acknowledgement of TCP or UDT has no number of QUIC's kind.
                let header = json!({ "packet_type": "1RTT" });
                self.event(at, EventName::PacketReceived, &json!({ "header": header, "frames": frames }))
            }
            TransmissionEvent::Recovering(recovering) => {
                self.recovering = recovering;
                self.update_state(at)
            }
        }
    }

    /// Writes the metrics that have changed since they were stored in `known`.
    fn sample(&mut self, at: u64, index: usize, known: &mut Map<String, Value>) -> io::Result<()> {
        let flow = self.flow;
        let packet = f64::from(flow.packet);
        let internal = flow.internals.iter().find(|(name, _)| *name == "ssthresh");
        let threshold = internal.and_then(|(_, values)| values.get(index)).copied().filter(|value| value.is_finite());
        let window = value(&flow.window, index);
        let bytes = |packets: f64| json!((packets * packet) as u64);
        let in_flight = flow.in_flight.get(index).copied();
        let metrics = [
            ("smoothed_rtt", value(&flow.srtt, index).map(|seconds| json!(seconds * 1e3))),
            ("congestion_window", window.map(bytes)),
            ("bytes_in_flight", in_flight.map(|packets| json!(packets * u64::from(flow.packet)))),
            ("packets_in_flight", in_flight.map(|packets| json!(packets))),
            ("ssthresh", threshold.map(bytes)),
            ("pacing_rate", value(&flow.pacing_rate, index).map(|rate| bytes(rate * 8.0))),
        ];
        let mut changed = Map::new();
        for (name, value) in metrics {
            if let Some(value) = value
                && known.get(name) != Some(&value)
            {
                known.insert(name.to_string(), value.clone());
                changed.insert(name.to_string(), value);
            }
        }
        if !changed.is_empty() {
            self.event(at, EventName::MetricsUpdated, &Value::Object(changed))?;
        }
        // Without a finite threshold a window algorithm has not met a loss yet.
        self.slow_start = match (internal, threshold) {
            (Some(_), Some(threshold)) => window.is_some_and(|window| window < threshold),
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.update_state(at)
    }

    fn update_state(&mut self, at: u64) -> io::Result<()> {
        let state = match (self.recovering, self.slow_start) {
            (true, _) => "recovery",
            (false, true) => "slow_start",
            (false, false) => "congestion_avoidance",
        };
        let Some(old) = self.state.replace(state) else {
            return self.event(at, EventName::CongestionStateUpdated, &json!({ "new": state }));
        };
        if old == state {
            return Ok(());
        }
        self.event(at, EventName::CongestionStateUpdated, &json!({ "old": old, "new": state }))
    }

    fn event(&mut self, at: u64, name: EventName, data: &Value) -> io::Result<()> {
        let milliseconds = at as f64 / 1e6;
        self.record(&json!({ "time": milliseconds, "name": self.dialect.event_name(name), "data": data }))
    }

    /// RFC 7464 section 2.2.
    fn record(&mut self, value: &Value) -> io::Result<()> {
        self.out.write_all(&[RECORD_SEPARATOR])?;
        serde_json::to_writer(&mut *self.out, value)?;
        self.out.write_all(b"\n")
    }
}

#[derive(Clone, Copy, Debug)]
enum EventName {
    CongestionStateUpdated,
    MetricsUpdated,
    PacketLost,
    PacketReceived,
    PacketSent,
}

impl Dialect {
    /// The extension of its files.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Draft14 => "sqlog",
            Self::Legacy => "legacy.sqlog",
        }
    }

    fn event_name(self, name: EventName) -> &'static str {
        match (self, name) {
            (Self::Draft14, EventName::CongestionStateUpdated) => "quic:congestion_state_updated",
            (Self::Draft14, EventName::MetricsUpdated) => "quic:recovery_metrics_updated",
            (Self::Draft14, EventName::PacketLost) => "quic:packet_lost",
            (Self::Draft14, EventName::PacketReceived) => "quic:packet_received",
            (Self::Draft14, EventName::PacketSent) => "quic:packet_sent",
            (Self::Legacy, EventName::CongestionStateUpdated) => "recovery:congestion_state_updated",
            (Self::Legacy, EventName::MetricsUpdated) => "recovery:metrics_updated",
            (Self::Legacy, EventName::PacketLost) => "recovery:packet_lost",
            (Self::Legacy, EventName::PacketReceived) => "transport:packet_received",
            (Self::Legacy, EventName::PacketSent) => "transport:packet_sent",
        }
    }

    fn stream(self, offset: u64, length: u32) -> Value {
        match self {
            Self::Draft14 => {
                json!({ "frame_type": "stream", "stream_id": 0, "offset": offset, "raw": { "payload_length": length } })
            }
            Self::Legacy => json!({ "frame_type": "stream", "stream_id": 0, "offset": offset, "length": length }),
        }
    }

    /// The first record of the file.
    fn head(self, flow: &FlowTrace, about: &About<'_>) -> Value {
        let title = format!("simulated: {}, {}", about.title, flow.name);
        let description = format!(
            "A simulation, not a connection: {} by {}, seed {}. Repeat with: {}",
            flow.algorithm, about.program, about.seed, about.command
        );
        let vantage_point = json!({ "name": flow.name, "type": "client" });
        match self {
            Self::Draft14 => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "description": description,
                "trace": {
                    "title": title,
                    "description": description,
                    "vantage_point": vantage_point,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-14"],
                    "common_fields": {
                        "simulated": true,
                        "algorithm": flow.algorithm,
                        "group_id": flow.name,
                        "time_format": "relative_to_epoch",
                        "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    },
                },
            }),
            Self::Legacy => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": title,
                "description": description,
                "trace": {
                    "title": title,
                    "description": description,
                    "vantage_point": vantage_point,
                    "common_fields": {
                        "simulated": true,
                        "algorithm": flow.algorithm,
                        "group_id": flow.name,
                        "protocol_type": ["QUIC"],
                        "time_format": "relative",
                        "reference_time": 0,
                    },
                },
            }),
        }
    }
}

fn value(column: &[f64], index: usize) -> Option<f64> {
    column.get(index).copied().filter(|value| value.is_finite())
}

/// Precedes every text of a sequence.
const RECORD_SEPARATOR: u8 = 0x1e;
