//! The coupled dual queue.

use cwnd::{Bytes, Span};

use crate::error::{SetupError, SetupPart, require};

/// Coupled dual queue with PI2 (DualPI2, RFC 9332 appendix A).
///
/// Packets with ECT(1) or CE wait in the low-latency queue L, all others in the classic queue C; both share the limit. A controller keeps the
/// delay of C at `target` by a base probability p'. C drops or marks with p'², L marks with `coupling` × p', or by its own threshold
/// where that marks more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Setup {
    /// The delay to be kept; above zero.
    pub target: Span,
    /// Time between two updates of the probability, Tupdate; at least 1 µs.
    pub update: Span,
    /// Growth of p' per update, for each second that the delay is above the target; at least 0, Hz.
    pub alpha: f64,
    /// Growth of p' per update, for each second that the delay has grown by since the last one; at least 0, Hz.
    pub beta: f64,
    /// The factor k from p' to the probability of a mark in L; at least 1.
    pub coupling: f64,
    /// The waiting time from which L marks by itself, minTh.
    pub threshold: Span,
    /// The waiting time beyond `threshold` by which L marks every packet; with zero the threshold is a step.
    pub range: Span,
    /// L does not mark by itself while no more packets than this wait in it, Th_len. The packet that is decided on counts.
    pub spared: u32,
    /// The share of the capacity that C keeps while packets wait in both queues; above 0, below 1.
    pub share: f64,
    /// Once `coupling` × p' reaches 1, both queues drop whatever a packet carries. Otherwise p' stays below 1/`coupling`, and only the limit
    /// drops packets with ECT(1).
    pub overload: bool,
    /// What the RFC and Linux do differently apart from numbers.
    pub variant: DualPi2Variant,
    /// The largest packet of the line; at least 1 byte.
    pub mtu: Bytes,
}

/// The behaviour of [`DualPi2Setup`] that no number expresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPi2Variant {
    /// RFC 9332 appendix A: the delay is that of the oldest packet in C, and probabilities accumulate, so that drops and marks are evenly spaced. The
    /// last packet that waits is not dropped.
    Rfc,
    /// Linux `sch_dualpi2`: the delay is that of the oldest packet in either queue, drops and marks are random, and the controller
    /// spares a backlog of less than two packets.
    Linux,
}

impl DualPi2Setup {
    /// The parameters of RFC 9332 appendix A.1 for a maximum round-trip time of 100 ms.
    pub const RFC: Self = Self {
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        alpha: 0.15,
        beta: 3.0,
        coupling: 2.0,
        threshold: Span::from_micros(800),
        range: Span::from_micros(400),
        spared: 1,
        share: 1.0 / 16.0,
        overload: true,
        variant: DualPi2Variant::Rfc,
        mtu: Bytes(1500),
    };
    /// The defaults of Linux `sch_dualpi2`.
    pub const LINUX: Self = Self {
        update: Span::from_millis(16),
        alpha: 41.0 / 256.0,
        beta: 819.0 / 256.0,
        threshold: Span::from_millis(1),
        range: Span::ZERO,
        spared: 0,
        share: 0.1,
        variant: DualPi2Variant::Linux,
        ..Self::RFC
    };

    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        require(self.target > Span::ZERO, part, "DualPI2's target is above zero")?;
        require(self.update >= Span::from_micros(1), part, "the time between DualPI2's updates is at least 1 us")?;
        let gain = |gain: f64| (0.0..f64::INFINITY).contains(&gain);
        require(gain(self.alpha) && gain(self.beta), part, "DualPI2's alpha and beta are at least 0")?;
        require((1.0..f64::INFINITY).contains(&self.coupling), part, "DualPI2's coupling is at least 1")?;
        require(self.share > 0.0 && self.share < 1.0, part, "DualPI2's share is above 0 and below 1")?;
        require(self.mtu.0 > 0, part, "DualPI2's largest packet has at least one byte")
    }
}
