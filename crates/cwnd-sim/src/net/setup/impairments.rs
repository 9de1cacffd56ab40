//! What a link does to packets beside queueing, transmitting, delaying and losing them.

use cwnd::Span;

use crate::error::{SetupError, SetupPart, require};

/// What happens to packets at the far end of a link. By default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Each packet is held back by a uniform draw from zero to this much. None overtakes another for it: one with a smaller draw
    /// waits for those before it, so that with many packets in this time the delay stays near its largest and they come in bunches.
    pub jitter: Span,
    /// Some packets are overtaken by others.
    pub reordering: Option<Reordering>,
}

/// Packets that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// The probability that a packet is held back, whatever it carries; 0..=1.
    pub probability: f64,
    /// For how long.
    pub by: HoldBack,
}

/// How long a packet is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldBack {
    /// For this time.
    Time(Span),
    /// Until so many packets of the link have overtaken it that were not held back themselves, at least 1: the extent of RFC 4737
    /// section 4.2. For a second at most, should fewer follow.
    Packets(u32),
}

impl Impairments {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let Some(Reordering { probability, by }) = self.reordering else { return Ok(()) };
        let probable = (0.0..=1.0).contains(&probability);
        require(probable, part, "the probability of reordering is at least 0 and at most 1")?;
        require(by != HoldBack::Packets(0), part, "a packet held back is overtaken by at least 1 packet")
    }
}
