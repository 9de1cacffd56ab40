//! The setup of a run of the synchronous-feedback host, as plain data.

use cwnd::registry::Spec;
use cwnd::units::{Bytes, Packets, Span};

/// The setup of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The flows.
    pub flows: Vec<FlowSetup>,
    /// The sum at which all flows are notified of congestion, packets per `rtt`; above 0.
    pub capacity: Packets,
    /// The capacity after the first common congestion, after the second, and so on; the last stays. The link of the trace has the first
    /// of all.
    pub later: Vec<Packets>,
    /// The round trip that time is counted in; at least 1 ms.
    pub rtt: Span,
    /// The number of steps of the rules per round trip.
    pub clock: Clock,
    /// Round trips that a decrease takes, without growth: 0 for simd's model, 1 for New AIMD's.
    pub decrease_rounds: u32,
    /// Probability per packet of a loss that only its flow is notified of, 0..=1.
    pub loss: f64,
    /// For the losses and for algorithms that draw random numbers.
    pub seed: u64,
    /// Round trips to run, more than 0 and at most 10^7.
    pub rounds: f64,
    /// Stop after this many times of common congestion.
    pub events: usize,
    /// A packet on the wire.
    pub packet: Bytes,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Its algorithm.
    pub algorithm: Spec,
    /// Its first window, packets; at least 1.
    pub window: Packets,
    /// Its round trip; the setup's if none.
    pub rtt: Option<Span>,
}

/// The number of steps of the rules per round trip. With a reporting algorithm (UDT, DAIMD) never more coarsely than its reports come, 10
/// ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Once per round trip; congestion is seen at its end, where the sum may be above the capacity.
    Rounds,
    /// This often per round trip, at least once; congestion hits in the instant in which the sum reaches the capacity.
    Continuous {
        /// Steps per round trip.
        steps: u32,
    },
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            flows: Vec::new(),
            capacity: Packets(100.0),
            later: Vec::new(),
            rtt: Span::from_millis(100),
            clock: Clock::Continuous { steps: 64 },
            decrease_rounds: 0,
            loss: 0.0,
            seed: 1,
            rounds: 1000.0,
            events: usize::MAX,
            packet: Bytes(1500),
        }
    }
}
