//! The record of cross traffic.

use smallvec::SmallVec;

use crate::{Column, Demand, Histogram, Pause};

/// A flow without congestion control: curves and states have one value per sampled instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CbrTrace {
    /// Its name in the scenario.
    pub name: String,
    /// Bytes of a packet on the wire.
    pub packet: u32,
    /// When it starts.
    pub start: u64,
    /// When it stops; none for never.
    pub stop: Option<u64>,
    /// When it pauses, between its start and its stop; ascending, and apart from each other.
    pub pauses: Vec<Pause>,
    /// The links that it crosses, in order, as indices of [`Trace::links`](crate::Trace::links).
    pub links: SmallVec<[u32; 4]>,
    /// The rate of its schedule while it does not pause.
    pub demand: Demand,
    /// Cumulative: packets sent.
    pub sent: Column<u64>,
    /// Cumulative: packets that reached the receiver.
    pub delivered: Column<u64>,
    /// Cumulative: packets that queues refused or links lost.
    pub dropped: Column<u64>,
    /// Bit/s on the wire, as scheduled.
    pub rate: Column<f64>,
}

/// Finite flows that come and go, all together: curves have one value per sampled instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowArrivalsTrace {
    /// Its name in the scenario.
    pub name: String,
    /// The algorithm of its flows with parameters, as written.
    pub algorithm: String,
    /// Bytes of a packet on the wire.
    pub packet: u32,
    /// Bytes of a packet that are the application's.
    pub payload: u32,
    /// The round-trip time of its flows without queueing or serialisation, before the draws of each, nanoseconds.
    pub base_rtt: u64,
    /// The links that its data crosses, in order, as indices of [`Trace::links`](crate::Trace::links).
    pub links: SmallVec<[u32; 4]>,
    /// When the first flow may arrive.
    pub start: u64,
    /// When the last one may; none for the end of the run.
    pub stop: Option<u64>,
    /// Cumulative: flows requested.
    pub arrived: Column<u64>,
    /// Cumulative: of those, flows refused because too many were there.
    pub refused: Column<u64>,
    /// Cumulative: flows whose last packet has arrived.
    pub completed: Column<u64>,
    /// Cumulative: packets the admitted flows have to deliver.
    pub requested: Column<u64>,
    /// Cumulative: data packets sent, retransmissions included.
    pub sent: Column<u64>,
    /// Cumulative: of those, retransmissions.
    pub retransmitted: Column<u64>,
    /// Cumulative: different data packets that reached the receivers.
    pub delivered: Column<u64>,
    /// Cumulative: data packets that queues refused or links lost.
    pub dropped: Column<u64>,
    /// Cumulative: expiries of retransmission timers.
    pub timeouts: Column<u64>,
    /// Packets per flow, of the flows that were admitted after the warm-up.
    pub sizes: Histogram,
    /// How long these flows took, by size. Flows that were incomplete at the end of the run are missing, mostly those with long times.
    pub classes: Vec<SizeClass>,
}

/// How long flows of like size took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeClass {
    /// Packets of the largest flows in it; those of the next class are larger. The last class has no bound: [`u64::MAX`].
    pub up_to: u64,
    /// From the start of a flow to the arrival of its last packet, nanoseconds.
    pub arrived: Histogram,
    /// From the start of a flow until everything was acknowledged, nanoseconds.
    pub acknowledged: Histogram,
}
