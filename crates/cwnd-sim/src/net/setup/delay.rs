//! Disciplines that watch how long packets wait.

use cwnd::{Bytes, Span};

use crate::error::{SetupError, SetupPart, require};

/// Controlled delay (CoDel, RFC 8289): one queue, first in, first out; a full one drops what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelSetup {
    /// The acceptable queueing delay; above zero, below `interval`.
    pub target: Span,
    /// The time above `target` until the first drop: about the longest round-trip time of the flows.
    pub interval: Span,
    /// A queue of no more bytes than this is left alone: the line's largest packet.
    pub mtu: Bytes,
    /// Packets that can carry a mark are marked instead of dropped.
    pub mark: bool,
    /// Packets that can carry a mark are marked once they have waited longer than this, whatever the control decides (Linux
    /// `ce_threshold`); none without it.
    pub ce_threshold: Option<Span>,
    /// Packets with ECT(1) or CE are marked once they have waited longer than this (Linux `ce_threshold` with the selector 0x1/0x1); none without
    /// it.
    pub l4s_threshold: Option<Span>,
}

/// Flow queueing with controlled delay (FQ-CoDel, RFC 8290): flows, by a hash that the seed perturbs, in queues that take turns by
/// bytes, new ones first, each under CoDel's control. When the limit, which all share, is exceeded, the longest queue in bytes
/// loses half of its packets from its head, at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelSetup<Q = Bytes> {
    /// Of each queue.
    pub codel: CoDelSetup,
    /// The number of queues; 1..=65536. Flows whose hashes are equal share one.
    pub queues: u32,
    /// The quantum of a queue per round; at least 1.
    pub quantum: Q,
    /// Of all packets that wait, bytes: a second limit.
    pub memory: u64,
}

/// Proportional integral controller enhanced (PIE, RFC 8033): one queue, first in, first out, in front of which packets are dropped
/// at random.
///
/// The delay that it controls is that of the packet whose transmission began last, and zero if none waits: the variant with
/// timestamps, as in appendix A, and not the estimate by the rate of departures (section 5.2). Of the enhancements of section 5 it
/// has marks (5.1), drops at regular distances (5.4) as an option, and the cap on the growth of high probabilities (5.5); it is
/// always active (5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSetup {
    /// The delay to be kept, QDELAY_REF; above zero.
    pub target: Span,
    /// Time between two updates of the probability, T_UPDATE; at least 1 µs.
    pub update: Span,
    /// Growth of the probability per update, for each second that the delay is above the target; at least 0.
    pub alpha: f64,
    /// Growth of the probability per update, for each second that the delay has grown by since the last one; at least 0.
    pub beta: f64,
    /// The longest burst after a calm, MAX_BURST: nothing is dropped early meanwhile.
    pub burst: Span,
    /// Packets that can carry a mark are marked instead of dropped early, at probabilities below `mark_limit`.
    pub mark: bool,
    /// 0..=1.
    pub mark_limit: f64,
    /// Keep drops from coming in a row, or from staying away (section 5.4).
    pub derandomize: bool,
    /// A queue of at most two of these is left alone, MEAN_PKTSIZE; at least 1.
    pub mean_packet: Bytes,
}

impl CoDelSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let ordered = self.target > Span::ZERO && self.target < self.interval;
        require(ordered, part, "CoDel's target is above zero and below its interval")
    }
}

impl FqCoDelSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        self.codel.check(part)?;
        require((1..=1 << 16).contains(&self.queues), part, "FQ-CoDel has 1 to 65536 queues")?;
        require(self.quantum.0 > 0, part, "FQ-CoDel's quantum has at least one byte")
    }
}

impl PieSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        require(self.target > Span::ZERO, part, "PIE's target is above zero")?;
        require(self.update >= Span::from_micros(1), part, "the time between PIE's updates is at least 1 us")?;
        let gain = |gain: f64| (0.0..f64::INFINITY).contains(&gain);
        require(gain(self.alpha) && gain(self.beta), part, "PIE's alpha and beta are at least 0")?;
        require((0.0..=1.0).contains(&self.mark_limit), part, "PIE's mark limit is at least 0 and at most 1")?;
        require(self.mean_packet.0 > 0, part, "PIE's mean packet has at least one byte")
    }
}

impl Default for CoDelSetup {
    /// RFC 8289 section 4: 5 ms in 100 ms. Packets of at most 1500 bytes.
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes(1500),
            mark: false,
            ce_threshold: None,
            l4s_threshold: None,
        }
    }
}

impl Default for FqCoDelSetup {
    /// RFC 8290 section 5.2, with marks: 1024 queues, 32 MB. Packets of at most 1500 bytes.
    fn default() -> Self {
        let codel = CoDelSetup { mark: true, ..CoDelSetup::default() };
        Self { codel, queues: 1024, quantum: Bytes(1500), memory: 32_000_000 }
    }
}

impl Default for PieSetup {
    /// RFC 8033: 15 ms, gains of 1/8 and 5/4 Hz every 15 ms, bursts of 150 ms, marks up to 10 % (but none unless asked for).
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Span::from_millis(150),
            mark: false,
            mark_limit: 0.1,
            derandomize: false,
            mean_packet: Bytes(1500),
        }
    }
}
