//! Impairments of a link, as options of commands.

use std::str::FromStr;

use clap::Args;
use cwnd::Span;
use cwnd_run::scenario::{self, Stage, Step, TraceFile, Written};
use cwnd_sim::{Duplex, Jitter, Mangling, Reordering, TokenBucket};

use crate::arguments::{probability, whole};

/// The options have the names of the keys of links in scenarios.
#[derive(Args, Clone, Debug)]
pub struct Impairments {
    /// Add jitter of up to this time, or of a distribution such as normal:20ms,deviation=4ms or wifi:7ms, without reordering
    #[arg(long, value_name = "DELAY", help_heading = "Impairments")]
    jitter: Option<Written<Jitter>>,
    /// Reorder a share of the packets: delay them for a time, such as 0.02:15ms, or behind a number of later packets, such as 0.02:3p
    #[arg(long, value_name = "SHARE:BY", help_heading = "Impairments")]
    reorder: Option<Written<Reordering>>,
    /// Drop packets for which a token bucket has no tokens, such as 5mbit,burst=30kB
    #[arg(long, value_name = "BUCKET", help_heading = "Impairments")]
    policer: Option<Written<TokenBucket>>,
    /// Delay packets until a token bucket has tokens for them, such as 5mbit,burst=30kB
    #[arg(long, value_name = "BUCKET", help_heading = "Impairments")]
    shaper: Option<Written<TokenBucket>>,
    /// Aggregate packets: the first waits up to this time for others
    #[arg(long, value_name = "TIME", help_heading = "Impairments")]
    aggregate: Option<Written<Span>>,
    /// Forward only the newest of N acknowledgements of a flow that leave together; with --aggregate
    #[arg(long, value_name = "N", requires = "aggregate", value_parser = whole::<u32>(1..=1_000_000), help_heading = "Impairments")]
    pub thin_acks: Option<u32>,
    /// Damage this share of the packets: they take their time on the line and are discarded
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Impairments")]
    corrupt: Option<f64>,
    /// Deliver this share of the packets twice
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Impairments")]
    duplicate: Option<f64>,
    /// Clear the ECN field of every packet
    #[arg(long, help_heading = "Impairments")]
    bleach_ecn: bool,
    /// Overwrite the ECN field of packets that have one: ect0 and ect1 erase marks, ce marks every packet
    #[arg(long, value_name = "FIELD", help_heading = "Impairments")]
    mangle_ecn: Option<Written<Mangling>>,
    /// Let the two directions share one channel in turns, such as half:access=200us,burst=16
    #[arg(long, value_name = "DUPLEX", help_heading = "Impairments")]
    pub duplex: Option<Written<Duplex>>,
    /// Change the link at a time, such as "20s loss=0.3 jitter=wifi:7ms": the keys of a `schedule` step in scenarios; may be repeated
    #[arg(long, value_name = "AT KEY=VALUE", help_heading = "Impairments")]
    pub step: Vec<TypedStep>,
    /// Transmit at the instants of a packet-delivery trace of Mahimahi instead of at --rate, or of CellReplay's two: HEAVY,light=LIGHT,idle=20ms
    #[arg(long, value_name = "FILE", help_heading = "Impairments")]
    pub trace: Option<Written<TraceFile>>,
    /// Transmit nothing in this period, such as 10s..10.5s, while packets wait; may be repeated
    #[arg(long, value_name = "FROM..TO", help_heading = "Impairments")]
    pub outage: Vec<Written<Stage>>,
}

/// A step of a link that changes.
#[derive(Clone, Debug)]
pub struct TypedStep {
    /// The step.
    pub step: Step,
    /// As it was typed.
    pub text: String,
}

impl FromStr for TypedStep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self { step: text.parse()?, text: text.to_string() })
    }
}

impl Impairments {
    /// The keys of a scenario; none if no option is given.
    pub fn keys(&self) -> Option<scenario::Impairments> {
        let Self { jitter, reorder, policer, shaper, aggregate, thin_acks, corrupt, duplicate, .. } = self.clone();
        let Self { bleach_ecn, mangle_ecn, .. } = self.clone();
        let buckets = policer.is_some() || shaper.is_some();
        let shares = corrupt.is_some() || duplicate.is_some();
        let any = buckets
            || jitter.is_some()
            || reorder.is_some()
            || aggregate.is_some()
            || shares
            || bleach_ecn
            || mangle_ecn.is_some();
        any.then_some(scenario::Impairments {
            jitter,
            reorder,
            policer,
            shaper,
            aggregate,
            thin_acks,
            corrupt,
            duplicate,
            bleach_ecn,
            mangle_ecn,
        })
    }

    /// Whether no option is given.
    pub fn are_none(&self) -> bool {
        self.keys().is_none()
            && self.step.is_empty()
            && self.thin_acks.is_none()
            && self.trace.is_none()
            && self.duplex.is_none()
            && self.outage.is_empty()
    }

    /// The impairments of the bottleneck in a comparison, which carries no acknowledgements.
    pub fn keys_forth(&self) -> Option<scenario::Impairments> {
        self.keys().map(|keys| scenario::Impairments { thin_acks: None, ..keys })
    }

    /// The impairments of the reverse path in a comparison, which carries the acknowledgements.
    pub fn keys_back(&self) -> Option<scenario::Impairments> {
        let Self { aggregate, thin_acks, .. } = self.clone();
        let compressed = scenario::Impairments { aggregate, thin_acks, ..scenario::Impairments::default() };
        compressed.aggregate.is_some().then_some(compressed)
    }
}
