//! The record of a run that a host writes.
//!
//! Every host (simulator, model, wire) writes the same columns: cumulative curves of sent, delivered and lost packets, the
//! state of each flow at the sampled instants, and how long packets waited at each link. Everything measured afterwards comes
//! from these columns; this crate measures nothing itself and knows no host.
//!
//! Times are nanoseconds since the start of the run.

mod cross;
mod demand;
mod histogram;
mod packets;

pub use cross::{CbrTrace, FlowArrivalsTrace, SizeClass};
pub use demand::{Demand, DemandStage};
pub use histogram::Histogram;
pub use packets::{EcnField, Logged, PacketLog, Protocol, Seen};

use smallvec::SmallVec;

/// One value per sampled instant. The three of a run that is not sampled over time need no allocation.
pub type Column<T> = SmallVec<[T; 3]>;

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The sampled instants, ascending. The first is 0; the end of the warm-up, the stops and pauses of flows and the end of the run are
    /// among them.
    pub at: Column<u64>,
    /// The end of the warm-up: measuring starts here.
    pub warmup: u64,
    /// The end of the run.
    pub end: u64,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowTrace>,
    /// Flows without congestion control, in the order of the scenario.
    pub cbr: Vec<CbrTrace>,
    /// Groups of arriving flows of finite flows, in the order of the scenario.
    pub flow_arrivals: Vec<FlowArrivalsTrace>,
    /// The links, in the order of the scenario.
    pub links: Vec<LinkTrace>,
    /// A hash over every delivered packet (instant, flow, number) and all totals: equal digests are equal runs.
    pub digest: u64,
    /// Events the host handled: its unit of work.
    pub events: u64,
}

/// One flow: curves and states have one value per sampled instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowTrace {
    /// Its name in the scenario.
    pub name: String,
    /// Its algorithm with parameters, as written.
    pub algorithm: String,
    /// Bytes of a packet on the wire.
    pub packet: u32,
    /// Bytes of a packet that are the application's.
    pub payload: u32,
    /// When it was to start, and its stop if it has one.
    pub start: u64,
    /// The drawn delay of its start after that, nanoseconds.
    pub late: u64,
    /// None: it lasts as long as the run.
    pub stop: Option<u64>,
    /// When its application pauses, between its start and its stop; ascending, and apart from each other.
    pub pauses: Vec<Pause>,
    /// The links that its data crosses, in order, as indices of [`Trace::links`].
    pub links: SmallVec<[u32; 4]>,
    /// The most that it would carry alone: what its application hands over at a rate of its own, and the window that its receiver grants per
    /// round trip.
    pub demand: Demand,
    /// Its round-trip time without queueing or serialisation, nanoseconds.
    pub base_rtt: u64,
    /// Its size in packets; none for a flow without end.
    pub size: Option<u64>,
    /// From its start (as drawn) to the arrival of the last of these packets, nanoseconds; none if that did not happen.
    pub completed: Option<u64>,
    /// From its start until the last of these packets was acknowledged, nanoseconds; none if that did not happen.
    pub acknowledged: Option<u64>,
    /// Cumulative: data packets sent, retransmissions included.
    pub sent: Column<u64>,
    /// Cumulative: of those, retransmissions.
    pub retransmitted: Column<u64>,
    /// Cumulative: different data packets that reached the receiver.
    pub delivered: Column<u64>,
    /// Cumulative: packets the sender found lost, rightly or not.
    pub lost: Column<u64>,
    /// Cumulative: data packets that queues refused or links lost.
    pub dropped: Column<u64>,
    /// Cumulative: data packets that reached the receiver with a congestion mark.
    pub marked: Column<u64>,
    /// Cumulative: expiries of the retransmission timer.
    pub timeouts: Column<u64>,
    /// Cumulative nanoseconds during which the application had nothing to send.
    pub source_limited: Column<u64>,
    /// Cumulative nanoseconds during which the receiver's window held the sender.
    pub peer_limited: Column<u64>,
    /// Packets the algorithm allows in flight.
    pub window: Column<f64>,
    /// Packets in flight.
    pub in_flight: Column<u64>,
    /// Smoothed round-trip time, seconds; not a number before the first sample.
    pub srtt: Column<f64>,
    /// Packets per second the sender is paced at; not a number while it is not paced.
    pub pacing_rate: Column<f64>,
    /// Internals of the algorithm by name, where they were recorded.
    pub internals: Vec<(&'static str, Column<f64>)>,
    /// Its packets one by one, where a log was requested.
    pub log: PacketLog,
}

/// A time in which the application of a flow hands nothing over, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Its begin.
    pub from: u64,
    /// Its end.
    pub to: u64,
}

/// One link, in one direction: curves and states have one value per sampled instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkTrace {
    /// Its name in the scenario.
    pub name: String,
    /// Bits per second, at first if the rate changes; none for a link of pure delay.
    pub rate: Option<u64>,
    /// Propagation delay, nanoseconds, at first if it changes.
    pub delay: u64,
    /// Cumulative: packets offered to the link.
    pub offered: Column<u64>,
    /// Cumulative: packets the queue refused or discarded.
    pub dropped: Column<u64>,
    /// Cumulative: packets lost at random.
    pub lost: Column<u64>,
    /// Cumulative: packets marked instead of dropped.
    pub marked: Column<u64>,
    /// Cumulative: packets that left at the far end.
    pub carried: Column<u64>,
    /// Cumulative: bytes of these.
    pub carried_bytes: Column<u64>,
    /// Cumulative: bytes that could have been carried, by the line and past a shaper or a policer; empty where that is `rate` all the
    /// time.
    pub capacity_bytes: Column<u64>,
    /// Packets waiting, without the one being sent.
    pub queue_packets: Column<u64>,
    /// Bytes waiting.
    pub queue_bytes: Column<u64>,
    /// The queueing delay of each packet before its transmission, nanoseconds; packets offered after the warm-up.
    pub wait: Histogram,
    /// Each packet offered to the link, where it is tapped.
    pub passages: Vec<Passage>,
}

/// A packet offered to a tapped link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When.
    pub at: u64,
    /// The index of its flow.
    pub flow: u32,
    /// The kind of packet.
    pub what: Passing,
    /// Its size with headers.
    pub bytes: u32,
    /// The tap lost it. What the queue then does is not recorded here.
    pub lost: bool,
}

/// A packet that passes a tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A data packet.
    Data {
        /// From 0.
        number: u64,
        /// 1 for the first time this number comes by.
        transmission: u32,
    },
    /// An acknowledgement.
    Ack {
        /// The number of packets of this flow so far, this one included.
        nth: u64,
        /// All packets below have arrived.
        cumulative: u64,
    },
}
