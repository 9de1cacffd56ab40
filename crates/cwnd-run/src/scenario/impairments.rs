//! Impairments of links in scenarios.

use std::borrow::Cow;

use cwnd::Span;
use cwnd::quantity::{self, QuantityError};
use cwnd_sim::notation::{JITTERS, TOKEN_BUCKETS};
use cwnd_sim::{Jitter, ReorderBy, Reordering, TokenBucket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Quantity, Written, refused};

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
            reordering: self.reorder.as_ref().map(|reordering| *reordering.value()),
        }
    }
}

impl Quantity for Jitter {
    const NAME: &'static str = "Jitter";
    const EXPECTED: &'static str = "a distribution of delays, such as `5ms` or `normal:20ms,deviation=4ms`";
    const EXAMPLES: &'static [&'static str] =
        &["5ms", "normal:20ms,deviation=4ms", "pareto:10ms,shape=3", "wifi:7ms", "5ms,overtaking=yes"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        Self::read(text)
    }

    fn description() -> Cow<'static, str> {
        JITTERS.description().into()
    }
}

impl Quantity for Reordering {
    const NAME: &'static str = "Reordering";
    const EXPECTED: &'static str = "a share of the packets and for how long they are held back, such as `0.02:15ms`, or how many \
         others overtake them, such as `0.02:3p`";
    const EXAMPLES: &'static [&'static str] = &["0.02:15ms", "1/1000:3p"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let read = || {
            let (share, by) = text.split_once(':')?;
            let probability = quantity::number(share).ok().filter(|p| (0.0..=1.0).contains(p))?;
            let by = match by.trim().strip_suffix('p') {
                Some(packets) => ReorderBy::Packets(packets.trim_end().parse().ok().filter(|packets| *packets > 0)?),
                None => ReorderBy::Time(quantity::span(by).ok()?),
            };
            Some(Self { probability, by })
        };
        read().ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl Quantity for TokenBucket {
    const NAME: &'static str = "TokenBucket";
    const EXPECTED: &'static str = "a rate and what may pass at once, such as `5mbit,burst=30kB`";
    const EXAMPLES: &'static [&'static str] = &["5mbit,burst=30kB"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        TOKEN_BUCKETS.read(text)
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;

    #[test]
    fn reordering_has_a_share_and_a_time_or_a_distance() {
        let read = |text| Reordering::read(text).ok();
        let time = ReorderBy::Time(Span::from_millis(15));
        assert_eq!(read("0.02:15ms"), Some(Reordering { probability: 0.02, by: time }));
        assert_eq!(read("1/50: 3 p"), Some(Reordering { probability: 0.02, by: ReorderBy::Packets(3) }));
        assert!(["0.02", "2:15ms", "0.02:0p", "0.02:15", "0.02:1.5p", ":1ms"].iter().all(|text| read(text).is_none()));
    }

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
