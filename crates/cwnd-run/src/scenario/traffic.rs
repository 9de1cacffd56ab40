//! Traffic as scenarios write it: sizes and rates of sources, times on and off, `[[cbr]]` and `[[arrivals]]`.

use cwnd::quantity::{self, QuantityError};
use cwnd::{Bytes, Span, Spec};
use cwnd_sim::{AckEcho, Class, Era, Interarrival, RateChange, RateSchedule, RecoveryScheme, Sizes};
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
    pub size: Written<Sizes>,
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
    pub fn new(algorithm: Written<Spec>, size: Written<Sizes>, load: f64) -> Self {
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

/// The size of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Packets.
    Packets(u64),
    /// Bytes of the application.
    Bytes(u64),
}

/// A time in which data is handed over; without an end, until the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its begin.
    pub from: Span,
    /// Its end.
    pub to: Option<Span>,
}

impl Amount {
    /// Whole packets of `payload`.
    pub(super) fn packets(self, payload: Bytes) -> u64 {
        match self {
            Self::Packets(packets) => packets,
            Self::Bytes(bytes) => bytes.div_ceil(u64::from(payload.0.max(1))),
        }
    }
}

impl Quantity for Amount {
    const NAME: &'static str = "Amount";
    const EXPECTED: &'static str = "packets or bytes, such as `100p` or `1MB`: 1 to 1e15 packets, or `1B` to `9000TB`";
    const EXAMPLES: &'static [&'static str] = &["100p", "1MB"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let read = packets(text).filter(|packets| packets.fract() == 0.0).map(|packets| Self::Packets(packets as u64));
        let bytes = || quantity::memory(text).ok().map(Self::Bytes);
        read.or_else(bytes).ok_or_else(|| refused(text, Self::EXPECTED))
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

impl Quantity for RateSchedule {
    const NAME: &'static str = "RateSchedule";
    const EXPECTED: &'static str = "a rate, such as `cbr:2mbit`, or one that changes after each step: \
         `square:10mbit,5mbit,step=5s`, `walk:10mbit,reach=5mbit,step=5s`, `uniform:10mbit,step=5s`, \
         `additive-walk:1mbit,reach=250kbit,step=5s` or `multiplicative-walk:1mbit,factor=5/3,step=5s,floor=50kbit`; each may \
         have a floor, a ceiling, and `rest_of=10mbit` to send what the schedule leaves of that";
    const EXAMPLES: &'static [&'static str] =
        &["cbr:2mbit", "square:10mbit,5mbit,step=5s", "walk:10mbit,reach=5mbit,step=5s,floor=500kbit,rest_of=20mbit"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        schedule(text).ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl Quantity for Interarrival {
    const NAME: &'static str = "Interarrival";
    const EXPECTED: &'static str = "a mean time above zero, such as `30ms`, or two in turn: `square:30ms,10ms,step=5s`";
    const EXAMPLES: &'static [&'static str] = &["30ms", "square:30ms,10ms,step=5s"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let time = |text| quantity::span(text).ok().filter(|time| *time > Span::ZERO);
        let read = || {
            let Some(waves) = text.trim().strip_prefix("square:") else { return time(text).map(Self::Constant) };
            let [first, second, step] = waves.split(',').collect::<Vec<_>>().try_into().ok()?;
            let step = time(step.trim().strip_prefix("step=")?)?;
            Some(Self::Square { means: [time(first)?, time(second)?], step })
        };
        read().ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl Quantity for Sizes {
    const NAME: &'static str = "Sizes";
    const EXPECTED: &'static str = "packets, 1 to 1e15, such as `10p` for all alike, or `pareto:30p,shape=1.35` for a Pareto distribution with \
         this mean and a shape above 1";
    const EXAMPLES: &'static [&'static str] = &["10p", "pareto:30p,shape=1.35"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let read = || {
            let Some(rest) = text.trim().strip_prefix("pareto:") else {
                return packets(text)
                    .filter(|packets| packets.fract() == 0.0)
                    .map(|packets| Self::Constant(packets as u64));
            };
            let (mean, shape) = rest.split_once(',')?;
            let shape = quantity::number(shape.trim().strip_prefix("shape=")?).ok().filter(|shape| *shape > 1.0)?;
            Some(Self::Pareto { mean: packets(mean)?, shape })
        };
        read().ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

/// A number of packets with its unit, above zero; exact as a whole number.
fn packets(text: &str) -> Option<f64> {
    let (number, unit) = quantity::split(text);
    let number = quantity::number(number).ok().filter(|number| *number > 0.0 && *number <= MAX_PACKETS)?;
    matches!(unit, "p" | "packets").then_some(number)
}

/// Whole bit/s; zero needs no unit.
fn bits(text: &str) -> Option<u64> {
    if text.trim() == "0" {
        return Some(0);
    }
    quantity::bit_rate(text).ok().map(|rate| rate.0.round() as u64)
}

fn schedule(text: &str) -> Option<RateSchedule> {
    let (rule, rest) = text.split_once(':')?;
    let mut words = rest.split(',').map(str::trim).peekable();
    let initial = bits(words.next()?)?;
    let other = words.next_if(|word| !word.contains('=')).map(bits);
    let mut options = Options::default();
    words.try_for_each(|word| options.take(word))?;
    let Options { step, reach, factor, floor, ceiling, rest_of } = options;
    let change = match (rule.trim(), other, reach, factor) {
        ("cbr", None, None, None) => RateChange::Constant,
        ("square", Some(other), None, None) => RateChange::Square(other?),
        ("walk", None, Some(reach), None) => RateChange::Walk(reach),
        ("uniform", None, None, None) => RateChange::Uniform,
        ("additive-walk", None, Some(reach), None) => RateChange::AdditiveWalk(reach),
        ("multiplicative-walk", None, None, Some(factor)) => RateChange::MultiplicativeWalk(factor),
        _ => return None,
    };
    // A constant rate has no steps, all others have.
    let mut schedule = match (change, step) {
        (RateChange::Constant, None) => RateSchedule::constant(initial),
        (RateChange::Constant, Some(_)) | (_, None) => return None,
        (change, Some(step)) => RateSchedule::stepping(initial, step, change),
    };
    schedule.floor = floor.unwrap_or(schedule.floor);
    schedule.ceiling = ceiling.unwrap_or(schedule.ceiling);
    schedule.rest_of = rest_of;
    Some(schedule)
}

/// What follows the rates of a schedule.
#[derive(Default)]
struct Options {
    step: Option<Span>,
    reach: Option<u64>,
    factor: Option<f64>,
    floor: Option<u64>,
    ceiling: Option<u64>,
    rest_of: Option<u64>,
}

impl Options {
    /// Takes in `key=value`; none if it is unknown, wrong or given twice.
    fn take(&mut self, word: &str) -> Option<()> {
        fn set<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
            let value = value?;
            slot.replace(value).is_none().then_some(())
        }
        let (key, value) = word.split_once('=')?;
        match key.trim() {
            "step" => set(&mut self.step, quantity::span(value).ok().filter(|step| *step > Span::ZERO)),
            "reach" => set(&mut self.reach, bits(value)),
            "factor" => set(&mut self.factor, quantity::number(value).ok().filter(|factor| *factor > 0.0)),
            "floor" => set(&mut self.floor, bits(value)),
            "ceiling" => set(&mut self.ceiling, bits(value)),
            "rest_of" => set(&mut self.rest_of, bits(value)),
            _ => None,
        }
    }
}

fn many() -> u32 {
    MANY
}

/// As many flows at once as an overloaded group reaches in seconds: some 20 MB.
const MANY: u32 = 10_000;
/// The packets of an exabyte, far below the 2^53 up to which a number is exact.
const MAX_PACKETS: f64 = 1e15;

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
    fn schedules() {
        const MBIT: u64 = 1_000_000;
        let five = Span::from_secs(5);
        let read = |text| RateSchedule::read(text).ok();
        assert_eq!(read("cbr:2mbit"), Some(RateSchedule::constant(2 * MBIT)));
        let square = RateSchedule::stepping(10 * MBIT, five, RateChange::Square(0));
        assert_eq!(read("square: 10mbit, 0, step=5s"), Some(square));
        let walk = RateSchedule { floor: 50_000, ..RateSchedule::stepping(MBIT, five, RateChange::Walk(500_000)) };
        assert_eq!(read("walk:1mbit,reach=500kbit,step=5s,floor=50kbit"), Some(walk));
        let rest = RateSchedule {
            ceiling: 3 * MBIT,
            rest_of: Some(10 * MBIT),
            ..RateSchedule::stepping(MBIT, five, RateChange::Uniform)
        };
        assert_eq!(read("uniform:1mbit,step=5s,rest_of=10mbit,ceiling=3mbit"), Some(rest));
        let factor =
            RateSchedule { floor: 1, ..RateSchedule::stepping(MBIT, five, RateChange::MultiplicativeWalk(5.0 / 3.0)) };
        assert_eq!(read("multiplicative-walk:1mbit,factor=5/3,step=5s,floor=1bit"), Some(factor));
        for text in [
            "2mbit",
            "cbr:2",
            "cbr:2mbit,step=5s",
            "square:10mbit,step=5s",
            "square:10mbit,5mbit",
            "uniform:1mbit,step=0s",
            "walk:1mbit,reach=1mbit,factor=2,step=5s",
            "walk:1mbit,reach=1mbit,reach=1mbit,step=5s",
            "additive-walk:1mbit,step=5s",
            "sine:1mbit,step=5s",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_gaps_and_stages() {
        assert_eq!(Amount::read("100p").map(|amount| amount.packets(Bytes(1460))), Ok(100));
        assert_eq!(Amount::read("1MB").map(|amount| amount.packets(Bytes(1460))), Ok(685));
        assert!(["100", "0p", "1.5p", "-1p"].iter().all(|text| Amount::read(text).is_err()));

        assert_eq!(Sizes::read("pareto:30p,shape=1.35"), Ok(Sizes::Pareto { mean: 30.0, shape: 1.35 }));
        assert_eq!(Sizes::read("7p"), Ok(Sizes::Constant(7)));
        assert!(
            ["pareto:30p", "pareto:30p,shape=1", "pareto:30,shape=2", "0p"]
                .iter()
                .all(|text| Sizes::read(text).is_err())
        );

        let [thirty, ten] = [30, 10].map(Span::from_millis);
        assert_eq!(Interarrival::read("30ms"), Ok(Interarrival::Constant(thirty)));
        let square = Interarrival::Square { means: [thirty, ten], step: Span::from_secs(5) };
        assert_eq!(Interarrival::read("square:30ms,10ms,step=5s"), Ok(square));
        assert!(
            ["0s", "square:30ms,step=5s", "square:30ms,0s,step=5s", "30"]
                .iter()
                .all(|text| Interarrival::read(text).is_err())
        );

        assert_eq!(Stage::read("1s..2s"), Ok(Stage { from: Span::from_secs(1), to: Some(Span::from_secs(2)) }));
        assert_eq!(Stage::read("300s .."), Ok(Stage { from: Span::from_secs(300), to: None }));
        assert!(["2s..1s", "1s..1s", "..2s", "1s-2s"].iter().all(|text| Stage::read(text).is_err()));
    }
}
