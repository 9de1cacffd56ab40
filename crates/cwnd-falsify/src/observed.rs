//! A run for the properties.

use cwnd_run::measure::Summary;
use cwnd_run::scenario::Scenario;
use cwnd_trace::{FlowTrace, LinkTrace, Trace};

/// A run, as properties see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed<'a> {
    /// The scenario of the run.
    pub(crate) scenario: &'a Scenario,
    /// Its trace.
    pub(crate) trace: &'a Trace,
    /// Its measures.
    pub(crate) summary: &'a Summary,
}

impl Observed<'_> {
    /// The flows of the subject: those before the competitor.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &FlowTrace> {
        self.trace.flows.iter().take_while(|flow| !flow.name.starts_with(COMPETITOR))
    }

    /// The subjects that a window bounds.
    pub(crate) fn bounded(&self) -> impl Iterator<Item = &FlowTrace> {
        self.subjects().filter(|flow| flow.window.iter().any(|window| window.is_finite()))
    }

    /// The bottleneck.
    pub(crate) fn link(&self) -> Option<&LinkTrace> {
        self.trace.links.get(self.scenario.bottleneck())
    }
}

/// The name of flows that are not the subject's.
pub(crate) const COMPETITOR: &str = "competitor";
