//! Impairments of links in scenarios.

use cwnd::Span;
use cwnd_sim::{Jitter, Mangling, Reordering, TokenBucket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Written;

/// Impairments of a link in its own direction, besides queueing, delay and random loss.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Impairments {
    /// Each packet is delayed by a random draw from a distribution. Packets stay in order unless `overtaking=yes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Written<Jitter>>,
    /// A share of the packets is held back, for a time or until others have overtaken them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Written<Reordering>>,
    /// A token bucket that drops packets for which it has no tokens, before the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Written<TokenBucket>>,
    /// A token bucket that delays packets until it has tokens, behind the queue; not with rates that change. They are then transmitted at
    /// the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Written<TokenBucket>>,
    /// Packets wait for one another: the first for this time, and all that arrive meanwhile leave with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Written<Span>>,
    /// Only the newest of each group of this many acknowledgements of a flow that leave together continues; with `aggregate`, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin_acks: Option<u32>,
    /// The probability that a packet arrives damaged and is discarded, after it has taken its time on the line; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<f64>,
    /// The probability that a packet arrives twice, the copy right behind it; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,
    /// Clears the ECN field of every packet: marks and the capability itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bleach_ecn: bool,
    /// Overwrites the ECN field of every packet that has one, as faulty routers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mangle_ecn: Option<Written<Mangling>>,
}

impl Impairments {
    /// What the simulator takes.
    #[must_use]
    pub fn setup(&self) -> cwnd_sim::Impairments {
        let time = |time: &Option<Written<Span>>| time.as_ref().map(|time| *time.value());
        let bucket = |bucket: &Option<Written<TokenBucket>>| bucket.as_ref().map(|bucket| *bucket.value());
        cwnd_sim::Impairments {
            policer: bucket(&self.policer),
            shaper: bucket(&self.shaper),
            aggregation: time(&self.aggregate),
            ack_thinning: self.thin_acks,
            jitter: self.jitter.as_ref().map(|jitter| *jitter.value()),
            corruption: self.corrupt.unwrap_or(0.0),
            duplication: self.duplicate.unwrap_or(0.0),
            bleach: self.bleach_ecn,
            mangling: self.mangle_ecn.as_ref().map(|mangling| *mangling.value()),
            reordering: self.reorder.as_ref().map(|reordering| *reordering.value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::scenario::quantity::Quantity;

    #[test]
    fn a_token_bucket_has_a_rate_and_a_burst() {
        let read = |text| TokenBucket::read(text).ok();
        assert_eq!(read("5mbit, burst=30kB"), Some(TokenBucket { rate: 5_000_000, burst: Bytes(30_000) }));
        assert!(
            ["5mbit", "5mbit,30kB", "5mbit,burst=0B", "burst=30kB", "0bit,burst=30kB"]
                .iter()
                .all(|text| read(text).is_none())
        );
    }
}
