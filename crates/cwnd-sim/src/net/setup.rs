//! The setup of a link, as plain data.

mod cake;
mod delay;
mod dualpi2;
mod duplex;
mod impairments;
mod jitter;
mod phase;
mod router;

use std::sync::Arc;

use cwnd::{Bytes, Span, Time};

pub use self::cake::{CakeSetup, HostPair, Isolation};
pub use self::delay::{CoDelSetup, FqCoDelSetup, PieSetup};
pub use self::dualpi2::{DualPi2Setup, DualPi2Variant};
pub use self::duplex::{Duplex, HalfDuplex, Sharing};
pub use self::impairments::{Impairments, Mangling, ReorderBy, Reordering, TokenBucket};
pub use self::jitter::{Jitter, Noise};
pub use self::phase::Phase;
pub use self::router::{DecBitSetup, VcpSetup, XcpSetup};
use super::delivery::DeliveryTrace;
use super::steps::Schedule;
use crate::error::{SetupError, SetupPart, in_range, require};

/// Indexes [`Setup::nodes`](crate::Setup::nodes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Indexes [`Setup::links`](crate::Setup::links).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// A link in one direction, with the queue in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSetup {
    /// Its name in traces.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Bits per second until the first of `rate_steps`; none for a link of pure delay, which has no queue.
    ///
    /// This is also the rate that random early detection supposes while the line is idle, and that a flow's jitter is taken from.
    pub rate: Option<u64>,
    /// Later rates. The bits that are left of a packet when the rate changes go on at the new rate. 0 is an outage: packets
    /// wait, and the one in transmission goes on afterwards.
    pub rate_steps: Schedule<u64>,
    /// It transmits at the instants of a trace only, of whose mean rate `rate` should be; none if it transmits all the time.
    pub deliveries: Option<Arc<DeliveryTrace>>,
    /// Propagation delay until the first of `delay_steps`; routes and base round-trip times are computed from it.
    pub delay: Span,
    /// Later delays. A packet has the delay of the instant its last bit leaves the line; packets stay in order, so that one with
    /// a shorter delay than its predecessor arrives at the same instant as that.
    pub delay_steps: Schedule<Span>,
    /// The capacity for waiting packets, without the one in transmission.
    pub queue: QueueLimit,
    /// Which packets wait, which go, and in which order.
    pub discipline: Discipline,
    /// Random loss on the link, before its queue.
    pub loss: Loss,
    /// Impairments of packets.
    pub impairments: Impairments,
    /// Later values of `loss`, `impairments` and `queue`.
    pub phases: Schedule<Phase>,
    /// The channel that it shares with others; none if it transmits on its own.
    pub half_duplex: Option<HalfDuplex>,
}

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most this many packets wait.
    Packets(u32),
    /// At most this many bytes wait.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// What a queue does with its packets: before a link with thresholds `T` in packets and quanta `Q` in bytes, or as it is written
/// ([`notation`](crate::notation)), before the path is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline<T = f64, Q = Bytes> {
    /// First in, first out; a packet that finds the queue full is dropped.
    DropTail,
    /// Drop-tail with random early detection.
    Red(RedSetup<T>),
    /// Drop-tail with random early detection by class.
    Rio(RioSetup<T>),
    /// Deficit round robin over flows.
    Drr(DrrSetup<Q>),
    /// First in, first out, with drops by how long packets have waited.
    CoDel(CoDelSetup),
    /// CoDel in a queue per flow; the queues take turns.
    FqCoDel(FqCoDelSetup<Q>),
    /// COBALT in a queue per flow; the queues take turns.
    Cake(CakeSetup),
    /// First in, first out, with random drops that keep to a delay.
    Pie(PieSetup),
    /// A low-latency queue and a classic one, whose marks and drops are coupled.
    DualPi2(DualPi2Setup),
    /// Drop-tail behind an XCP router.
    Xcp(XcpSetup),
    /// Drop-tail behind a VCP router.
    Vcp(VcpSetup),
    /// Drop-tail behind a DECbit router.
    DecBit(DecBitSetup),
}

/// Random early detection (ns-2's semantics).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSetup<T = f64> {
    /// Average queue from which packets are dropped early, packets.
    pub min: T,
    /// Average queue at which the probability is `max_p`, packets; at least `min`. Where the two are equal every packet from there
    /// on is dropped, or marked: with a `weight` of 1 and `mark` that is DCTCP's queue (RFC 8257 section 3.1).
    pub max: T,
    /// 0..=1.
    pub max_p: f64,
    /// Weight of the present queue in its average, w_q; above 0, at most 1.
    pub weight: f64,
    /// Above `max` the probability rises to 1 at twice `max`, instead of jumping.
    pub gentle: bool,
    /// No early drop before 1/p packets have passed since the last one.
    pub wait: bool,
    /// Queue and probabilities count bytes instead of packets.
    pub byte_mode: bool,
    /// For byte mode and for the decay of the average while the line is idle.
    pub mean_packet: Bytes,
    /// Early drops of ECN-capable packets become marks.
    pub mark: bool,
    /// No marks but drops while the probability is above this (ns-2 since December 2005: 0.1); 1 for RFC 3168.
    pub mark_limit: f64,
}

/// Random early detection with two classes (RIO; Clark and Fang, IEEE/ACM Transactions on Networking 6(4), 1998).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RioSetup<T = f64> {
    /// For packets of [`Class::In`], by the average of the waiting packets of this class.
    pub inside: RedSetup<T>,
    /// For packets of [`Class::Out`], by the average of all waiting packets.
    pub outside: RedSetup<T>,
}

/// Which of RIO's two classes a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Within what its sender may expect: dropped late.
    In,
    /// Anything else: dropped early.
    #[default]
    Out,
}

impl Class {
    /// Both.
    pub const ALL: [Self; 2] = [Self::In, Self::Out];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }

    /// The class called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// Deficit round robin (Shreedhar and Varghese, IEEE/ACM Transactions on Networking 4(3), 1996) with a class for every flow.
///
/// On overflow of the limit, which all flows share, the packet at the head of the longest queue (in bytes) is dropped, as in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrrSetup<Q = Bytes> {
    /// The quantum of a flow per round; at least 1. One largest packet is fair from round to round; less only costs time.
    pub quantum: Q,
}

/// Loss that has nothing to do with congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet with this probability, 0..=1.
    Bernoulli(f64),
    /// Every n-th packet of the link; at least 1.
    Periodic(u64),
    /// In bursts.
    GilbertElliott(GilbertElliott),
}

/// A channel with a good and a bad state (Gilbert 1960, Elliott 1963) that may change after each packet; it begins in the good
/// one. All values are probabilities, 0..=1.
///
/// In the long run `to_bad / (to_bad + to_good)` of the packets meet the bad state, `1 / to_good` in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// From the good state to the bad one.
    pub to_bad: f64,
    /// From the bad state to the good one.
    pub to_good: f64,
    /// Of losing a packet in the good state; 0 in Gilbert's model.
    pub loss_good: f64,
    /// Of losing a packet in the bad state; 1 in the simplest model.
    pub loss_bad: f64,
}

/// A link where each packet of TCP-like flows is recorded as it is offered, before the queue: the time-sequence record by which a
/// recovery is judged. It can lose and mark packets on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Which link.
    pub link: LinkId,
    /// The packets to lose, mark or hold back.
    pub faults: Vec<Fault>,
    /// Keep a record of every packet in the trace. It grows with the length of the run.
    pub record: bool,
}

/// A packet that a tap loses or marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A data packet of the flow at this index.
    Data {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// Its number, from 0.
        number: u64,
        /// 1 for the first time it comes by, 2 for the second.
        transmission: u32,
    },
    /// A data packet of the flow at this index, by its place among all that come by.
    Nth {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The n-th, retransmissions counted, from 1.
        nth: u64,
    },
    /// A data packet of the flow at this index is marked if it is ECN-capable.
    MarkData {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// Its number, from 0.
        number: u64,
        /// 1 for the first time it comes by, 2 for the second.
        transmission: u32,
    },
    /// A data packet of the flow at this index is held back at the far end of the link.
    HoldData {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// Its number, from 0.
        number: u64,
        /// 1 for the first time it comes by, 2 for the second.
        transmission: u32,
        /// For how long.
        by: ReorderBy,
    },
    /// An acknowledgement of the flow at this index is held back at the far end of the link.
    HoldAck {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The n-th that comes by, from 1.
        nth: u64,
        /// For how long.
        by: ReorderBy,
    },
    /// An acknowledgement of the flow at this index.
    Ack {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The n-th that comes by, from 1.
        nth: u64,
    },
    /// The next data packets of the flow at this index that come by from an instant on.
    Next {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The instant.
        from: Time,
        /// The number of packets.
        count: u32,
    },
    /// Data packets of the flow at this index that come by between two instants, at random.
    Share {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The first instant.
        from: Time,
        /// The first instant after that.
        to: Time,
        /// The share in parts per thousand.
        per_mille: u16,
    },
    /// The next ECN-capable data packets of the flow at this index that come by from an instant on are not lost but marked.
    Mark {
        /// Of [`Setup::flows`](crate::Setup::flows).
        flow: u32,
        /// The instant.
        from: Time,
        /// The number of packets.
        count: u32,
    },
}

impl Fault {
    /// The index of its flow.
    #[must_use]
    pub fn flow(&self) -> u32 {
        match *self {
            Self::Data { flow, .. }
            | Self::Nth { flow, .. }
            | Self::MarkData { flow, .. }
            | Self::HoldData { flow, .. }
            | Self::HoldAck { flow, .. }
            | Self::Ack { flow, .. }
            | Self::Next { flow, .. }
            | Self::Share { flow, .. }
            | Self::Mark { flow, .. } => flow,
        }
    }
}

impl LinkSetup {
    /// A drop-tail link without random loss whose rate and delay do not change.
    #[must_use]
    pub fn new(name: String, (from, to): (NodeId, NodeId), rate: Option<u64>, delay: Span, queue: QueueLimit) -> Self {
        Self {
            name,
            from,
            to,
            rate,
            rate_steps: Schedule::default(),
            deliveries: None,
            delay,
            delay_steps: Schedule::default(),
            queue,
            discipline: Discipline::DropTail,
            loss: Loss::None,
            impairments: Impairments::default(),
            phases: Schedule::default(),
            half_duplex: None,
        }
    }

    /// Checks every field but the ends.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        let part = &SetupPart::Link(self.name.clone());
        let rate_accepted = self.rate.is_none_or(|rate| (1..=MAX_RATE).contains(&rate));
        require(rate_accepted, part, "the rate must be at least 1 bit/s and at most 1 Pbit/s")?;
        self.check_rates(part)?;
        self.check_varying(part)?;
        self.delay_steps.check(part)?;
        match &self.discipline {
            Discipline::DropTail => {}
            Discipline::Red(red) => red.check(part)?,
            Discipline::Rio(rio) => rio.inside.check(part).and_then(|()| rio.outside.check(part))?,
            Discipline::Xcp(xcp) => xcp.check(part)?,
            Discipline::Vcp(vcp) => vcp.check(part)?,
            Discipline::DecBit(decbit) => decbit.check(part)?,
            Discipline::Drr(drr) => require(drr.quantum.0 > 0, part, "DRR's quantum has at least one byte")?,
            Discipline::CoDel(codel) => codel.check(part)?,
            Discipline::FqCoDel(fq) => fq.check(part)?,
            Discipline::Cake(cake) => cake.check(part)?,
            Discipline::Pie(pie) => pie.check(part)?,
            Discipline::DualPi2(dual) => dual.check(part)?,
        }
        self.loss.check(part)?;
        self.impairments.check(part)?;
        self.check_half_duplex(part)?;
        self.check_phases(part)
    }

    /// One thing at most varies a line.
    fn check_varying(&self, part: &SetupPart) -> Result<(), SetupError> {
        let shaped = self.impairments.shaper.is_some();
        let varying = [!self.rate_steps.steps.is_empty(), shaped, self.deliveries.is_some()];
        let alone = varying.into_iter().filter(|varies| *varies).count() <= 1;
        let field = if shaped { "impairments.shaper" } else { "trace" };
        in_range(alone, part, field, "none with rates that change (`schedule`, `outage`) or a `trace`")?;
        let has_rate = self.rate.is_some() || varying.into_iter().all(|varies| !varies);
        in_range(has_rate, part, field, "none in a link without a `rate`")
    }

    fn check_rates(&self, part: &SetupPart) -> Result<(), SetupError> {
        let Schedule { steps, repeat } = &self.rate_steps;
        self.rate_steps.check(part)?;
        let Some((first, _)) = steps.first() else { return Ok(()) };
        require(self.rate.is_some(), part, "a link of pure delay has no rate that could change")?;
        let accepted = steps.iter().all(|(_, rate)| *rate <= MAX_RATE);
        require(accepted, part, "a later rate must be at least 0 and at most 1 Pbit/s")?;
        let ends = if repeat.is_some() {
            *first > Span::ZERO || steps.iter().any(|(_, rate)| *rate > 0)
        } else {
            steps.last().is_some_and(|(_, rate)| *rate > 0)
        };
        in_range(ends, part, "schedule", "one whose last rate is above 0, or that repeats: an outage must end")
    }
}

impl QueueLimit {
    /// Whether a queue of `packets` and `bytes` has no room for a packet of `size`.
    #[inline]
    pub(crate) fn refuses(self, packets: u64, bytes: u64, size: Bytes) -> bool {
        self.is_exceeded(packets + 1, bytes + u64::from(size.0))
    }

    /// Whether so much is too much.
    #[inline]
    pub(crate) fn is_exceeded(self, packets: u64, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets > u64::from(limit),
            Self::Bytes(limit) => bytes > limit,
            Self::Unlimited => false,
        }
    }
}

impl RedSetup {
    fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        require(self.min >= 0.0 && self.min <= self.max && self.max.is_finite(), part, "RED wants 0 <= min <= max")?;
        require((0.0..=1.0).contains(&self.max_p), part, "RED's max_p is at least 0 and at most 1")?;
        require(self.weight > 0.0 && self.weight <= 1.0, part, "RED's weight is above 0 and at most 1")?;
        require((0.0..=1.0).contains(&self.mark_limit), part, "RED's mark limit is at least 0 and at most 1")?;
        require(self.mean_packet.0 > 0, part, "RED's mean packet has at least one byte")
    }
}

impl<T: Copy> RedSetup<T> {
    /// ns-2's values since 2001 with these thresholds: gentle, waiting, in packets; marks at any probability (RFC 3168).
    #[must_use]
    pub const fn between(min: T, max: T) -> Self {
        Self {
            min,
            max,
            max_p: 0.1,
            weight: 0.002,
            gentle: true,
            wait: true,
            byte_mode: false,
            mean_packet: Bytes(1500),
            mark: false,
            mark_limit: 1.0,
        }
    }
}

impl Default for RedSetup {
    /// Thresholds of 5 and 15 packets, otherwise [`between`](Self::between).
    fn default() -> Self {
        Self::between(5.0, 15.0)
    }
}

impl<T: Copy> RioSetup<T> {
    /// ns-2's values with these thresholds, `min` and `max` of each class: largest probabilities 1/50 inside and 1/10 outside, not gentle.
    #[must_use]
    pub const fn between(inside: [T; 2], outside: [T; 2]) -> Self {
        let inside = RedSetup { max_p: 0.02, gentle: false, ..RedSetup::between(inside[0], inside[1]) };
        Self { inside, outside: RedSetup { gentle: false, ..RedSetup::between(outside[0], outside[1]) } }
    }
}

impl Default for RioSetup {
    /// Thresholds of 15 and 30 packets inside, 5 and 15 outside, otherwise [`between`](Self::between).
    fn default() -> Self {
        Self::between([15.0, 30.0], [5.0, 15.0])
    }
}

impl Default for DrrSetup {
    /// One packet of 1500 bytes.
    fn default() -> Self {
        Self { quantum: Bytes(1500) }
    }
}

impl Loss {
    fn check(self, part: &SetupPart) -> Result<(), SetupError> {
        let probable =
            |p: f64| require((0.0..=1.0).contains(&p), part, "a loss probability is at least 0 and at most 1");
        match self {
            Self::None => Ok(()),
            Self::Bernoulli(p) => probable(p),
            Self::Periodic(n) => require(n > 0, part, "periodic loss takes every n-th packet, n at least 1"),
            Self::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad }) => {
                [to_bad, to_good, loss_good, loss_bad].into_iter().try_for_each(probable)
            }
        }
    }
}

/// Above every line there is; with it, sums of transmission times stay far within 64 bits.
pub(crate) const MAX_RATE: u64 = 1_000_000_000_000_000;
