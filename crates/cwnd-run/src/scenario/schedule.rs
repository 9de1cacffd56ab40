//! Links that change, as scenarios write them.

use cwnd::quantity::QuantityError;
use cwnd::{BitRate, Span};
use cwnd_sim::LinkSetup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Fault;
use super::error::{Located, range};
use super::quantity::{Quantity, Written, refused};

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
    fn bits(self) -> u64 {
        match self {
            Self::Outage => 0,
            Self::Rate(rate) => rate.0.round() as u64,
        }
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
