//! Traffic as scenarios write it: sizes and rates of sources, times on and off, `[[cbr]]` and `[[arrivals]]`.

use cwnd::quantity::{self, QuantityError};
use cwnd::{Bytes, Span, Spec};
use cwnd_sim::notation::{Amount, FlowSizes, whole_amount};
use cwnd_sim::{AckEcho, Class, Era, Interarrival, RateSchedule, RecoveryScheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Quantity, Written, refused};

/// Which way a group's data flows.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From `from` to `to`.
    #[default]
    Forward,
    /// From `to` to `from`.
    Reverse,
}

/// The echo of congestion marks by acknowledgements.
pub type Ecn = Written<AckEcho>;

/// A group of equal flows without congestion control: packets at a scheduled rate, never acknowledged and never sent again.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// The rate of each of them, headers included.
    pub rate: Written<RateSchedule>,
    /// The name of the group in tables and traces; `cbr` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of such flows; at least 1.
    #[serde(default = "one")]
    pub count: u32,
    /// When they start; steps of the rate count from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Written<Span>>,
    /// When they stop; never if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Written<Span>>,
    /// When they send, instead of `start` and `stop`; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Written<Stage>>,
    /// The node of the senders; the topology's first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node of the receivers; the topology's last if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Reverse traffic exchanges `from` and `to`.
    #[serde(default)]
    pub direction: Direction,
    /// The class of their packets at `rio` queues.
    #[serde(default)]
    pub class: Written<Class>,
    /// The host that sends their data, by any name: entries with the same name share it, and so do all flows of an entry. Each flow has a host
    /// of its own if not given. Only `cake` looks at hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_host: Option<String>,
    /// The host that receives their data, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst_host: Option<String>,
    /// A packet on the wire; the scenario's if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Written<Bytes>>,
}

impl Cbr {
    /// A flow that sends at `rate`, everything else as usual.
    #[must_use]
    pub fn new(rate: Written<RateSchedule>) -> Self {
        Self {
            rate,
            name: None,
            count: 1,
            start: None,
            stop: None,
            on: Vec::new(),
            from: None,
            to: None,
            direction: Direction::Forward,
            class: Written::default(),
            src_host: None,
            dst_host: None,
            packet: None,
        }
    }
}

/// Finite flows that arrive at random, as a Poisson process, or readers of web pages who do. How often is given by `load` or
/// by `gap`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// The algorithm of the flows, with parameters.
    pub algorithm: Written<Spec>,
    /// The size of each flow.
    pub size: Written<FlowSizes>,
    /// Their data as a share of the rate of the dumbbell or parking lot, on average; above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Mean time between arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Written<Interarrival>>,
    /// Arrivals are web users, each of whom requests many flows; single flows if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<Web>,
    /// Their name in tables and traces; the algorithm if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When the first may arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Written<Span>>,
    /// When the last may arrive; the end of the run if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Written<Span>>,
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
    /// The round-trip time of each is longer by a uniform draw from zero to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_spread: Option<Written<Span>>,
    /// Packets can carry congestion marks, and acknowledgements echo them like this; no marks if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// Acknowledge every second packet, or one after this time; `0s` for every packet at once, as the era has it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Written<Span>>,
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
    /// Detection and repair of losses; that of the scenario if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Written<RecoveryScheme>>,
    /// The habits of these senders and receivers; the scenario's if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Written<Era>>,
    /// The maximum number of flows at once; further arrivals are refused and counted.
    #[serde(default = "many")]
    pub limit: u32,
}

impl Arrivals {
    /// Flows of `size` under `algorithm` that fill the share `load` of the rate, everything else as usual.
    #[must_use]
    pub fn new(algorithm: Written<Spec>, size: Written<FlowSizes>, load: f64) -> Self {
        Self {
            algorithm,
            size,
            load: Some(load),
            gap: None,
            web: None,
            name: None,
            start: None,
            stop: None,
            from: None,
            to: None,
            direction: Direction::Forward,
            via: Vec::new(),
            via_back: Vec::new(),
            extra_rtt: None,
            rtt_spread: None,
            ecn: None,
            delayed_ack: None,
            class: Written::default(),
            src_host: None,
            dst_host: None,
            handshake: 0,
            recovery: None,
            era: None,
            limit: MANY,
        }
    }
}

/// The requests of a web user. Both numbers are geometric, the time is exponential.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// Mean number of pages, one after the other; at least 1.
    pub pages: f64,
    /// Mean number of objects on a page, all requested at once, each over a flow of its own; at least 1.
    pub objects: f64,
    /// Mean time between the arrival of a page and the request for the next one.
    pub think: Written<Span>,
}

/// A time in which data is handed over; without an end, until the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its begin.
    pub from: Span,
    /// Its end.
    pub to: Option<Span>,
}

impl Quantity for Amount {
    const NAME: &'static str = "Amount";
    const EXPECTED: &'static str = "packets or bytes, such as `100p` or `1MB`: 1 to 1e15 packets, or `1B` to `9000TB`";
    const EXAMPLES: &'static [&'static str] = &["100p", "1MB"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        whole_amount(text).ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl Quantity for Stage {
    const NAME: &'static str = "Stage";
    const EXPECTED: &'static str = "a begin and an end, such as `100s..200s`, or `300s..` for the rest of the run";
    const EXAMPLES: &'static [&'static str] = &["100s..200s", "300s.."];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let read = || {
            let (from, to) = text.split_once("..")?;
            let from = quantity::span(from).ok()?;
            let to = if to.trim().is_empty() { None } else { Some(quantity::span(to).ok()?) };
            Some(Self { from, to }).filter(|stage| stage.to.is_none_or(|to| to > stage.from))
        };
        read().ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

fn many() -> u32 {
    MANY
}

/// As many flows at once as an overloaded group reaches in seconds: some 20 MB.
const MANY: u32 = 10_000;

/// Whether a number needs not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

pub(super) fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_stages() {
        assert_eq!(Amount::read("100p").map(|amount| amount.whole_packets(Bytes(1460))), Ok(100));
        assert_eq!(Amount::read("1MB").map(|amount| amount.whole_packets(Bytes(1460))), Ok(685));
        assert!(["100", "0p", "1.5p", "-1p"].iter().all(|text| Amount::read(text).is_err()));

        assert_eq!(Stage::read("1s..2s"), Ok(Stage { from: Span::from_secs(1), to: Some(Span::from_secs(2)) }));
        assert_eq!(Stage::read("300s .."), Ok(Stage { from: Span::from_secs(300), to: None }));
        assert!(["2s..1s", "1s..1s", "..2s", "1s-2s"].iter().all(|text| Stage::read(text).is_err()));
    }
}
