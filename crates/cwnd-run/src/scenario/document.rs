//! A scenario as it is written: the keys of the TOML document, before they are checked against each other.

use std::path::PathBuf;

use cwnd::window::{RateLimited, SlowStart};
use cwnd::{BitRate, Bytes, Span, Spec};
use cwnd_sim::notation::Amount;
use cwnd_sim::{Class, Duplex, Era, LinuxHost, Loss, RateSchedule, Reassembly, RecoveryScheme, SavedPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ScenarioError;
use super::impairments::Impairments;
use super::packets::{HeldPackets, Packets};
use super::quantity::{SampleEvery, Written};
use super::queue::Queue;
use super::schedule::{Schedule, TraceFile};
use super::source::Source;
use super::traffic::{Arrivals, Cbr, Direction, Ecn, Stage, is_zero, one};

/// A scenario of cwnd: one topology (`[dumbbell]`, `[parking_lot]` or `[[link]]`), groups of flows (`[[flow]]`), other traffic
/// (`[[cbr]]`, `[[arrivals]]`), and how long and how often to simulate them.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Document {
    /// Where the names of files in it begin; empty for the working directory.
    #[serde(skip)]
    pub directory: PathBuf,
    /// The behaviour that this scenario shows, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The simulated time.
    pub duration: Written<Span>,
    /// Measuring starts after this time; below `duration`. 10 s if not given, and at most half of `duration`.
    pub warmup: Written<Span>,
    /// The number of independent runs; at least 1.
    pub seeds: u32,
    /// The first run's seed; each further run takes the next number.
    pub first_seed: u64,
    /// The habits of all senders and receivers; a flow may have its own.
    pub era: Written<Era>,
    /// Detection and repair of losses by senders: `tahoe`, `reno`, `newreno`, `sack` or `rack`; that of the era if not given. A flow may
    /// have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Written<RecoveryScheme>>,
    /// Behaviours of Linux hosts for TCP flows: bursts of segmentation offload (`tso`), pacing (`fq`), merged arrivals (`gro`), receive
    /// windows that grow (`autotune`), cuts to whole packets (`whole`), the smallest timeout (`min_rto`); none if not given. A flow may
    /// have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Written<LinuxHost>>,
    /// The kind of slow start; that of the era if not given. A flow may have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<Written<SlowStart>>,
    /// How far a window grows that is not used; as the era has it if not given. A flow may have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limited: Option<Written<RateLimited>>,
    /// A data packet on the wire, headers included.
    pub packet: Written<Bytes>,
    /// Application data of a packet; at most `packet`.
    pub payload: Written<Bytes>,
    /// An acknowledgement on the wire.
    pub ack: Written<Bytes>,
    /// The interval between samples of flows and links.
    pub sampling: Written<SampleEvery>,
    /// The part that a seed draws.
    pub variation: Variation,
    /// All flows share one bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// A row of bottlenecks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parking_lot: Option<ParkingLot>,
    /// The links of any other topology; packets take the route of least delay, or the one that their flow names (`via`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// Groups of equal flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowGroup>,
    /// Groups of flows without congestion control. No measure of "all flows" counts them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cbr: Vec<Cbr>,
    /// Groups of finite flows that come and go. No measure of "all flows" counts them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrivals>,
}

/// The part that a seed draws: without it, flows synchronise at a drop-tail queue.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variation {
    /// Each start is delayed by a random time up to this; one base round-trip time of the flow if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Written<Span>>,
    /// Each base round-trip time is scaled by a random factor between 1 - this and 1 + this, at the flow's own access links;
    /// at least 0 and below 1.
    pub rtt: f64,
    /// Each data packet is delayed on leaving by a random part, up to this, of its transmission time on the slowest link of its
    /// route; at least 0 and below 1.
    pub jitter: f64,
}

/// Senders at `left`, receivers at `right`, one bottleneck between them. Acknowledgements queue on the reverse path. Half of the
/// round-trip time lies on these two links, the other half on each flow's own access links.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dumbbell {
    /// The rate of the bottleneck.
    pub rate: Written<BitRate>,
    /// The round-trip time without queueing; a flow may add to it (`extra_rtt`).
    pub rtt: Written<Span>,
    /// The queue in front of the bottleneck, the packet being sent not counted.
    pub queue: Written<Queue>,
    /// Random loss of data packets at the bottleneck.
    pub loss: Written<Loss>,
    /// Changes of the bottleneck over time; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// A file with a packet-delivery trace of Mahimahi, or with a table of rates, delays and losses (`.csv`), which the bottleneck follows
    /// instead of `rate`; its name is relative to the directory of the scenario. Sizes in bandwidth-delay products follow its mean rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Written<TraceFile>>,
    /// When the bottleneck transmits nothing; packets wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Written<Stage>>,
    /// Impairments of the bottleneck; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impairments: Option<Impairments>,
    /// Impairments of the reverse path; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_impairments: Option<Impairments>,
    /// The rate of the reverse path; `rate` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_rate: Option<Written<BitRate>>,
    /// The queue of the reverse path; `queue` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_queue: Option<Written<Queue>>,
    /// Random loss on the reverse path; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_loss: Option<Written<Loss>>,
    /// Whether bottleneck and reverse path transmit at the same time, or share one channel in turns; `full` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Written<Duplex>>,
}

/// A row of equal links in both directions between the nodes `r0`, `r1`, …; flows go from the first node to the last unless they
/// say otherwise. Half of the round-trip time lies on the links, the other half on each flow's own access links.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParkingLot {
    /// The number of links; at least 1.
    pub hops: u32,
    /// The rate of each link.
    pub rate: Written<BitRate>,
    /// The round-trip time over the whole row without queueing; a flow may add to it (`extra_rtt`).
    pub rtt: Written<Span>,
    /// The queue in front of each link. One bandwidth-delay product is that of the whole row.
    pub queue: Written<Queue>,
    /// Random loss at each link in the direction of growing numbers.
    pub loss: Written<Loss>,
}

/// A link between two nodes; nodes exist by being named.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name in traces; `from-to` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The node where it begins.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// A second link leads back, with the same rate, delay and queue.
    #[serde(default = "yes")]
    pub both_ways: bool,
    /// Its rate; a link without one is pure delay, or follows its `trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Written<BitRate>>,
    /// Its propagation delay, one way.
    pub delay: Written<Span>,
    /// The queue in front of it, in packets or bytes; needed if it has a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Written<Queue>>,
    /// Random loss in its own direction; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Written<Loss>>,
    /// Changes over time, in its own direction; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// A file with a packet-delivery trace of Mahimahi, or with a table of rates, delays and losses (`.csv`), which it follows in its own
    /// direction instead of `rate`; its name is relative to the directory of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Written<TraceFile>>,
    /// When it transmits nothing in its own direction; packets wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Written<Stage>>,
    /// Impairments in its own direction; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impairments: Option<Impairments>,
    /// Whether it and the link that leads back transmit at the same time, or share one channel in turns; `full` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Written<Duplex>>,
}

/// A group of equal flows.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// The algorithm, with parameters: `simd`, `aimd:b=1/8`.
    pub algorithm: Written<Spec>,
    /// The name of the group in tables and traces; the algorithm if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of such flows; at least 1.
    #[serde(default = "one")]
    pub count: u32,
    /// When they start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Written<Span>>,
    /// When their data ends; never if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Written<Span>>,
    /// When they have data, instead of `start` and `stop`; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Written<Stage>>,
    /// The size of each flow, all of it there from the start; without end if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Written<Amount>>,
    /// The rate at which their applications supply data; faster than any path if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Written<RateSchedule>>,
    /// The node of the senders; the topology's first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node of the receivers; the topology's last if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Reverse traffic exchanges `from` and `to`.
    #[serde(default)]
    pub direction: Direction,
    /// The links that their data crosses, by name and in order; the route of least delay if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// The links that their acknowledgements cross, by name and in order; the route of least delay if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via_back: Vec<String>,
    /// Round-trip time of their own access links, on top of what the topology gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_rtt: Option<Written<Span>>,
    /// Spread packets over the round trip even where the algorithm does not ask for it.
    #[serde(default)]
    pub paced: bool,
    /// The kind of slow start; that of the scenario if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<Written<SlowStart>>,
    /// How far a window grows that is not used; as the scenario says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limited: Option<Written<RateLimited>>,
    /// The window and the round-trip time that an earlier connection had on the path: a window algorithm jumps to half of that window (Careful
    /// Resume, RFC 9959); no jump if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Written<SavedPath>>,
    /// Packets can carry congestion marks, and acknowledgements echo them like this; no marks if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// Acknowledge every second packet, or one after this time; `0s` for every packet at once, as the era has it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Written<Span>>,
    /// Acknowledgements wait for one another: the first for this time, and all that become due meanwhile leave with it; none waits
    /// if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_aggregation: Option<Written<Span>>,
    /// The host of either end wakes for arrivals only this often, and handles together all packets that have arrived since; above 0s,
    /// at most 100ms. Each packet wakes its host if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Written<Span>>,
    /// The clock of either host ticks this often, and timers expire at ticks: those of retransmission, delayed acknowledgement, pacing and
    /// the application; above 0s, at most 1s. Timers are exact if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Written<Span>>,
    /// Detection and repair of losses by these senders; that of the scenario if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Written<RecoveryScheme>>,
    /// Behaviours of Linux hosts; those of the scenario if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Written<LinuxHost>>,
    /// Treatment of packets out of order by these receivers: `sack` keeps them and reports them, `go-back-n` drops them; `sack` if not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Written<Reassembly>>,
    /// Packets of each of these flows that are dropped at the entry of the first link of their way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<Written<Packets>>,
    /// Data packets of each of these flows that are marked there; the flow needs `ecn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Written<Packets>>,
    /// Packets of each of these flows that are held back at the exit of that link, while others overtake them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Written<HeldPackets>>,
    /// The class of their packets and acknowledgements at `rio` queues.
    #[serde(default)]
    pub class: Written<Class>,
    /// The host that sends their data, by any name: entries with the same name share it, and so do all flows of an entry. Each flow has a host
    /// of its own if not given. Only `cake` looks at hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_host: Option<String>,
    /// The host that receives their data, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst_host: Option<String>,
    /// Round trips of small packets before the first data, 0 to 2: 1 as for TCP or QUIC, 2 as for TCP with TLS 1.3. The first timeout then
    /// follows from their round-trip time. Only flows over TCP have them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handshake: u32,
    /// The receiver's window in packets, at least 1; no bound if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_window: Option<f64>,
    /// The habits of these senders and receivers; the scenario's if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Written<Era>>,
}

impl FlowGroup {
    /// `count` flows under `algorithm`, everything else as usual.
    #[must_use]
    pub fn new(algorithm: Written<Spec>, count: u32) -> Self {
        Self {
            algorithm,
            name: None,
            count,
            start: None,
            stop: None,
            on: Vec::new(),
            size: None,
            source: None,
            from: None,
            to: None,
            direction: Direction::Forward,
            via: Vec::new(),
            via_back: Vec::new(),
            extra_rtt: None,
            paced: false,
            slow_start: None,
            rate_limited: None,
            resume: None,
            ecn: None,
            delayed_ack: None,
            ack_aggregation: None,
            wake: None,
            timer: None,
            recovery: None,
            host: None,
            receiver: None,
            drop: None,
            mark: None,
            hold: None,
            class: Written::default(),
            src_host: None,
            dst_host: None,
            handshake: 0,
            max_window: None,
            era: None,
        }
    }
}

// Without type parameters, so that what serde derives for a document is compiled in this crate alone.
impl Document {
    /// The document that `source` holds; what it leaves out has its default. It is not checked.
    ///
    /// # Errors
    /// A key is unknown, or its value has another type.
    pub fn of(source: &Source<'_>) -> Result<Self, ScenarioError> {
        let document = Self { directory: source.directory().to_path_buf(), ..source.document()? };
        if source.root().contains_key("warmup") {
            return Ok(document);
        }
        Ok(Self { warmup: default_warmup(*document.duration.value()), ..document })
    }

    /// As TOML, defaults spelt out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a document has only tables, text and finite numbers")
    }

    /// The value of a dotted key as an error shows it; none for a table or a key that has no value.
    pub(super) fn written(&self, path: &str) -> Option<String> {
        match &self.value(path)? {
            toml::Value::String(text) if text.starts_with(|first: char| first.is_ascii_digit()) => Some(text.clone()),
            toml::Value::String(text) => Some(format!("`{text}`")),
            toml::Value::Float(number) => Some(number.to_string()),
            toml::Value::Table(_) | toml::Value::Array(_) => None,
            value => Some(value.to_string()),
        }
    }

    /// The value of a dotted key; none for one that has none.
    pub(super) fn value(&self, path: &str) -> Option<toml::Value> {
        let root = toml::Value::Table(self.to_toml().parse().ok()?);
        let next = |value: toml::Value, key: &str| match value {
            toml::Value::Array(mut items) => {
                let index = key.parse::<usize>().ok().filter(|index| *index < items.len())?;
                Some(items.swap_remove(index))
            }
            toml::Value::Table(mut table) => table.remove(key),
            _ => None,
        };
        path.split('.').try_fold(root, next)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self {
            directory: PathBuf::new(),
            title: None,
            duration: Written::literal("60s"),
            warmup: Written::literal("10s"),
            seeds: 5,
            first_seed: 1,
            era: Written::literal("modern"),
            recovery: None,
            host: None,
            slow_start: None,
            rate_limited: None,
            packet: Written::literal("1500B"),
            payload: Written::literal("1460B"),
            ack: Written::literal("40B"),
            sampling: Written::literal("100ms"),
            variation: Variation::default(),
            dumbbell: None,
            parking_lot: None,
            link: Vec::new(),
            flow: Vec::new(),
            cbr: Vec::new(),
            arrivals: Vec::new(),
        }
    }
}

impl Default for Variation {
    fn default() -> Self {
        Self { start: None, rtt: 0.05, jitter: 0.9 }
    }
}

impl Default for Dumbbell {
    fn default() -> Self {
        Self {
            rate: Written::literal("100mbit"),
            rtt: Written::literal("50ms"),
            queue: Written::literal("droptail:1bdp"),
            loss: Written::literal("0"),
            schedule: None,
            trace: None,
            outage: Vec::new(),
            impairments: None,
            reverse_impairments: None,
            reverse_rate: None,
            reverse_queue: None,
            reverse_loss: None,
            duplex: None,
        }
    }
}

impl Default for ParkingLot {
    fn default() -> Self {
        Self {
            hops: 3,
            rate: Written::literal("100mbit"),
            rtt: Written::literal("50ms"),
            queue: Written::literal("droptail:1bdp"),
            loss: Written::literal("0"),
        }
    }
}

/// Ten seconds, or half of a `duration` shorter than twice that.
#[must_use]
pub fn default_warmup(duration: Span) -> Written<Span> {
    let warmup = Document::default().warmup;
    if duration / 2 < *warmup.value() { (duration / 2).into() } else { warmup }
}

fn yes() -> bool {
    true
}
