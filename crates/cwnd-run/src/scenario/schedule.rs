//! Links that change, as scenarios write them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwnd::quantity::QuantityError;
use cwnd::{BitRate, Span};
use cwnd_sim::{DeliveryTrace, LinkSetup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Fault;
use super::error::{Located, range};
use super::quantity::{Quantity, Written, refused};
use super::traffic::Stage;
use crate::files::read_limited;

/// How the rate and the delay of a link change in steps. Sizes in bandwidth-delay products follow the rate before the first one.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Start over after this time, as it was before the first step; later than the last step. Never if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Written<Span>>,
    /// The changes, in order of time.
    pub steps: Vec<Step>,
}

/// What changes at an instant; the rest stays.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, since the start of the run or of the repetition.
    pub at: Written<Span>,
    /// The rate from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Written<StepRate>>,
    /// What is added to the delay of the link from then on, one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_delay: Option<Written<Span>>,
}

/// A rate of a link, or none for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRate {
    /// Packets wait.
    Outage,
    /// So fast.
    Rate(BitRate),
}

/// The name of a file with a packet-delivery trace of Mahimahi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile(PathBuf);

impl TraceFile {
    /// Reads it, if its name begins at `folder`.
    ///
    /// # Errors
    /// [`Fault::Trace`] names the file, and the line that is wrong: it cannot be read, or is no delivery trace.
    pub fn read_in(&self, folder: &Path) -> Result<Arc<DeliveryTrace>, Fault> {
        let path = folder.join(&self.0);
        let fault = |reason: &dyn std::fmt::Display| Fault::Trace(format!("`{}`: {reason}", path.display()));
        let bytes = read_limited(&path, MOST_OF_TRACE).map_err(|error| fault(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| fault(&error))?;
        DeliveryTrace::parse(&text).map(Arc::new).map_err(|error| fault(&error))
    }
}

/// Bytes of a delivery trace: an hour at a hundred megabits.
const MOST_OF_TRACE: u64 = 256 << 20;

/// Lets nothing be transmitted meanwhile: `steps` of a link that begins with `rate`, with those that begin and end the `outages`.
#[must_use]
pub fn with_outages(rate: u64, steps: &[(Span, u64)], outages: &[Stage]) -> Vec<(Span, u64)> {
    let ends = outages.iter().flat_map(|outage| [Some(outage.from), outage.to]).flatten();
    let mut instants: Vec<Span> = steps.iter().map(|(at, _)| *at).chain(ends).collect();
    instants.sort_unstable();
    instants.dedup();
    let rate_at = |at| steps.iter().rev().find(|(from, _)| *from <= at).map_or(rate, |(_, rate)| *rate);
    let is_out = |at| outages.iter().any(|outage| outage.from <= at && outage.to.is_none_or(|to| to > at));
    instants.into_iter().map(|at| (at, if is_out(at) { 0 } else { rate_at(at) })).collect()
}

/// Lets `link` follow a delivery trace, and pauses it; `key` is that of the link.
pub(super) fn vary(
    link: &mut LinkSetup,
    (trace, folder): (&Option<Written<TraceFile>>, &Path),
    outages: &[Written<Stage>],
    key: &str,
) -> Result<(), Located> {
    if let Some(trace) = trace {
        if link.rate.is_none() {
            let why = "the queue of a link that follows a trace is one of a link with a rate";
            return Err(Located::at(key, Fault::Missing { key: "rate", why }));
        }
        if !link.rate_steps.steps.is_empty() {
            return Err(range(key, "trace", &format!("`{trace}`"), "none beside a `schedule` with rates"));
        }
        let deliveries = trace.value().read_in(folder).map_err(|fault| Located::at(&format!("{key}.trace"), fault))?;
        link.rate = Some(deliveries.mean_rate());
        link.deliveries = Some(deliveries);
    }
    let Some(first) = outages.first() else { return Ok(()) };
    let (Some(rate), None, None) = (link.rate, &link.deliveries, link.rate_steps.repeat) else {
        let accepted = "none in a link without a `rate`, beside a `trace`, or beside a `schedule` that repeats";
        return Err(range(key, "outage", &format!("`{first}`"), accepted));
    };
    let outages: Vec<Stage> = outages.iter().map(|outage| *outage.value()).collect();
    link.rate_steps.steps = with_outages(rate, &link.rate_steps.steps, &outages);
    Ok(())
}

impl Schedule {
    /// Lets `link` follow it; `key` is that of the link.
    pub(super) fn apply(&self, link: &mut LinkSetup, key: &str) -> Result<(), Located> {
        let key = format!("{key}.schedule");
        let mut last: Option<&Written<Span>> = None;
        for (index, step) in self.steps.iter().enumerate() {
            let key = format!("{key}.steps.{index}");
            if let Some(last) = last.filter(|last| last.value() >= step.at.value()) {
                return Err(range(&key, "at", &step.at, &format!("later than the step before, {last}")));
            }
            last = Some(&step.at);
            step.apply(link, &key)?;
        }
        let Some(last) = last else { return Err(range(&key, "steps", &"empty", "at least one step")) };
        if let Some(repeat) = &self.repeat {
            if repeat.value() <= last.value() {
                return Err(range(&key, "repeat", repeat, &format!("later than the last step, {last}")));
            }
            (link.rate_steps.repeat, link.delay_steps.repeat) = (Some(*repeat.value()), Some(*repeat.value()));
        }
        Ok(())
    }
}

impl Step {
    fn apply(&self, link: &mut LinkSetup, key: &str) -> Result<(), Located> {
        let at = *self.at.value();
        if self.rate.is_none() && self.extra_delay.is_none() {
            let why = "a step changes the `rate`, the `extra_delay` or both";
            return Err(Located::at(key, Fault::Missing { key: "rate", why }));
        }
        if let Some(rate) = &self.rate {
            if link.rate.is_none() {
                return Err(range(key, "rate", &format!("`{rate}`"), "none in a link without a `rate`"));
            }
            link.rate_steps.steps.push((at, rate.value().bits()));
        }
        if let Some(extra) = &self.extra_delay {
            link.delay_steps.steps.push((at, link.delay + *extra.value()));
        }
        Ok(())
    }
}

impl StepRate {
    /// Bit/s; 0 in an outage.
    pub(super) fn bits(self) -> u64 {
        match self {
            Self::Outage => 0,
            Self::Rate(rate) => rate.0.round() as u64,
        }
    }
}

impl Quantity for TraceFile {
    const NAME: &'static str = "TraceFile";
    const EXPECTED: &'static str = "the name of a file with a packet-delivery trace of Mahimahi: on each line a millisecond at which 1504 bytes can leave";
    const EXAMPLES: &'static [&'static str] = &["traces/train.trace"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() { Err(refused(text, Self::EXPECTED)) } else { Ok(Self(text.into())) }
    }
}

impl Quantity for StepRate {
    const NAME: &'static str = "StepRate";
    const EXPECTED: &'static str = "a rate with its unit, such as `100mbit`, or `outage`";
    const EXAMPLES: &'static [&'static str] = &["100mbit", "outage"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "outage" {
            return Ok(Self::Outage);
        }
        BitRate::read(text).map(Self::Rate).map_err(|_| refused(text, Self::EXPECTED))
    }
}
