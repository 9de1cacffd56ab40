//! Impairments of a link besides queueing, transmission, delay and random loss.

use cwnd::{Bytes, Span};

use super::{Jitter, MAX_RATE};
use crate::error::{SetupError, SetupPart, in_range, require};

/// Impairments of a link besides queueing, delay and random loss; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Packets that find no tokens are dropped, before anything else happens to them.
    pub policer: Option<TokenBucket>,
    /// Packets wait for tokens, and are transmitted at the rate of the line then. What waits for tokens counts as being transmitted.
    pub shaper: Option<TokenBucket>,
    /// The first packet to arrive at the far end waits there for this time, and all that arrive meanwhile leave with it, as over a medium
    /// whose turns are shared. Acknowledgements come compressed that way.
    pub aggregation: Option<Span>,
    /// Only the newest of each group of this many acknowledgements of a TCP flow that leave together continues, and the newest of the
    /// remainder; at least 1. Needs `aggregation`.
    pub ack_thinning: Option<u32>,
    /// Each packet is delayed by a random draw. Unless the jitter permits overtaking, a packet with a smaller draw waits for those before
    /// it, so that with many packets in this time the delay stays near its maximum and packets arrive in bunches.
    pub jitter: Option<Jitter>,
    /// Some packets are overtaken by others.
    pub reordering: Option<Reordering>,
    /// The probability that a packet arrives damaged and is discarded at the far end, after it has taken its time on the line; 0..=1.
    pub corruption: f64,
    /// The probability that a packet arrives twice, the copy right behind it; 0..=1. Copies take no time on the line.
    pub duplication: f64,
    /// Every packet loses its ECN field at the far end: marks and the capability itself.
    pub bleach: bool,
    /// The ECN field of every packet that has one is overwritten at the far end, before `bleach` clears it.
    pub mangling: Option<Mangling>,
}

/// The value that a faulty router writes into the ECN field of packets whose senders take part (RFC 9000 section 13.4.2.1 has senders look for it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mangling {
    /// ECT(0): marks are gone, and packets of scalable senders look like classic ones.
    Classic,
    /// ECT(1): marks are gone, and packets of classic senders look like scalable ones.
    Scalable,
    /// CE: every packet is marked.
    Congestion,
}

impl Mangling {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Classic, Self::Scalable, Self::Congestion];

    /// The value of a name; none for another text.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mangling| mangling.name() == name)
    }

    /// The name in scenarios.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "ect0",
            Self::Scalable => "ect1",
            Self::Congestion => "ce",
        }
    }
}

/// A token bucket, which begins full; it fills at `rate` and each packet takes its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Bits per second; at least 1.
    pub rate: u64,
    /// Its depth; at least 1. A packet that is larger passes no policer, and a shaper only when the bucket is full.
    pub burst: Bytes,
}

/// Packets that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// The probability that a packet is held back, whatever it carries; 0..=1.
    pub probability: f64,
    /// For how long.
    pub by: ReorderBy,
}

/// The delay of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderBy {
    /// For this time.
    Time(Span),
    /// Until this number of packets of the link that were not held back have overtaken it, at least 1: the extent of RFC 4737
    /// section 4.2. For a second at most, should fewer follow.
    Packets(u32),
}

impl Impairments {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        for bucket in [self.policer, self.shaper].into_iter().flatten() {
            let in_range = (1..=MAX_RATE).contains(&bucket.rate);
            require(in_range, part, "the rate of a token bucket must be at least 1 bit/s and at most 1 Pbit/s")?;
            require(bucket.burst.0 > 0, part, "a token bucket holds at least one byte")?;
        }
        in_range(self.ack_thinning != Some(0), part, "impairments.thin_acks", "at least 1")?;
        let together = self.ack_thinning.is_none() || self.aggregation.is_some();
        let accepted = "none without `aggregate`: those are thinned out that leave together";
        in_range(together, part, "impairments.thin_acks", accepted)?;
        for (probability, field) in
            [(self.corruption, "impairments.corrupt"), (self.duplication, "impairments.duplicate")]
        {
            in_range((0.0..=1.0).contains(&probability), part, field, "a probability from 0 to 1")?;
        }
        self.jitter.map_or(Ok(()), |jitter| jitter.check(part))?;
        let Some(Reordering { probability, by }) = self.reordering else { return Ok(()) };
        let probable = (0.0..=1.0).contains(&probability);
        require(probable, part, "the probability of reordering is at least 0 and at most 1")?;
        require(by != ReorderBy::Packets(0), part, "a packet held back is overtaken by at least 1 packet")
    }
}
