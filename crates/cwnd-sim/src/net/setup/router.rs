//! Routers that write on packets.

use cwnd::Span;

use crate::error::{SetupError, SetupPart, require};

/// An XCP router (Katabi, Handley and Rohrs, SIGCOMM 2002).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpSetup {
    /// Share of the spare capacity given away per round trip; above 0. Below pi / (4 sqrt 2) = 0.555 it is stable.
    pub alpha: f64,
    /// Share of the persistent queue taken back per round trip; above 0, and alpha squared times the square root of 2 for stability.
    pub beta: f64,
    /// Share of the traffic shuffled between flows; 0..=1.
    pub gamma: f64,
}

/// A VCP router (Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcpSetup {
    /// Share of the capacity that counts as all of it; above 0, at most 1.
    pub target: f64,
    /// Share of the persistent queue that counts as load; at least 0.
    pub queue_weight: f64,
    /// Over which the load is measured; above 0.
    pub interval: Span,
}

/// A DECbit router (Ramakrishnan and Jain 1990).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecBitSetup {
    /// The average queue, with the packet in transmission, from which the bit is set; above 0.
    pub threshold: f64,
}

impl XcpSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let positive = [self.alpha, self.beta].iter().all(|gain| *gain > 0.0 && gain.is_finite());
        require(positive, part, "XCP's alpha and beta are above 0")?;
        require((0.0..=1.0).contains(&self.gamma), part, "XCP's gamma is at least 0 and at most 1")
    }
}

impl VcpSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        require(self.target > 0.0 && self.target <= 1.0, part, "VCP's target is above 0 and at most 1")?;
        let weight = self.queue_weight >= 0.0 && self.queue_weight.is_finite();
        require(weight, part, "VCP's queue weight is at least 0")?;
        require(self.interval > Span::ZERO, part, "VCP's interval is above 0")
    }
}

impl DecBitSetup {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let threshold = self.threshold > 0.0 && self.threshold.is_finite();
        require(threshold, part, "DECbit's threshold is above 0")
    }
}

impl Default for XcpSetup {
    /// The paper's.
    fn default() -> Self {
        Self { alpha: 0.4, beta: 0.226, gamma: 0.1 }
    }
}

impl Default for VcpSetup {
    /// The paper's.
    fn default() -> Self {
        Self { target: 0.98, queue_weight: 0.5, interval: Span::from_millis(200) }
    }
}

impl Default for DecBitSetup {
    /// The paper's: one packet.
    fn default() -> Self {
        Self { threshold: 1.0 }
    }
}
