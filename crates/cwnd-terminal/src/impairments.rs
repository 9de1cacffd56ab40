//! What a link does to packets, as options of commands.

use clap::Args;
use cwnd::Span;
use cwnd_run::scenario::{self, Stage, TraceFile, Written};
use cwnd_sim::{Reordering, TokenBucket};

use crate::arguments::whole;

/// The keys of links in scenarios, under the same names.
#[derive(Args, Clone, Debug)]
pub struct Impairments {
    /// Hold each packet back by up to this much, in order
    #[arg(long, value_name = "TIME", help_heading = "Impairments")]
    jitter: Option<Written<Span>>,
    /// Hold a share of the packets back for a time, such as 0.02:15ms, or until others have overtaken them, such as 0.02:3p
    #[arg(long, value_name = "SHARE:BY", help_heading = "Impairments")]
    reorder: Option<Written<Reordering>>,
    /// Drop what a token bucket has no tokens for, such as 5mbit,burst=30kB
    #[arg(long, value_name = "BUCKET", help_heading = "Impairments")]
    policer: Option<Written<TokenBucket>>,
    /// Let packets wait for the tokens of a bucket, such as 5mbit,burst=30kB
    #[arg(long, value_name = "BUCKET", help_heading = "Impairments")]
    shaper: Option<Written<TokenBucket>>,
    /// Let packets wait for one another, the first for this time
    #[arg(long, value_name = "TIME", help_heading = "Impairments")]
    aggregate: Option<Written<Span>>,
    /// Of N acknowledgements of a flow that leave together only the newest goes on; with --aggregate
    #[arg(long, value_name = "N", requires = "aggregate", value_parser = whole::<u32>(1..=1_000_000), help_heading = "Impairments")]
    pub thin_acks: Option<u32>,
    /// Transmit at the instants of a packet-delivery trace of Mahimahi only, instead of at --rate
    #[arg(long, value_name = "FILE", help_heading = "Impairments")]
    pub trace: Option<Written<TraceFile>>,
    /// Transmit nothing meanwhile, such as 10s..10.5s; packets wait. May be given several times
    #[arg(long, value_name = "FROM..TO", help_heading = "Impairments")]
    pub outage: Vec<Written<Stage>>,
}

impl Impairments {
    /// As a scenario has them; none if there are none.
    pub fn keys(&self) -> Option<scenario::Impairments> {
        let Self { jitter, reorder, policer, shaper, aggregate, thin_acks, .. } = self.clone();
        let buckets = policer.is_some() || shaper.is_some();
        let any = buckets || jitter.is_some() || reorder.is_some() || aggregate.is_some();
        any.then_some(scenario::Impairments { jitter, reorder, policer, shaper, aggregate, thin_acks })
    }

    /// Whether none is given.
    pub fn are_none(&self) -> bool {
        self.keys().is_none() && self.thin_acks.is_none() && self.trace.is_none() && self.outage.is_empty()
    }

    /// Those of the bottleneck in a comparison, where no acknowledgements are.
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
