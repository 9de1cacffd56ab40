//! A run, and what several measures need of it.

use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use super::curve::{NANOS_PER_SECOND, Window};
use super::life::Life;
use super::link::{LinkCount, link_rate};
use super::statistics::mean;
use super::throughput::{coefficient_of_variation, own_series};

/// A run that is measured.
pub(super) struct Run<'a> {
    pub(super) trace: &'a Trace,
    /// The measured part of the run.
    pub(super) window: Window,
    /// The link that measures are taken at.
    pub(super) link: Option<&'a LinkTrace>,
    /// The goodput of each flow; none of one that is left out.
    pub(super) goodputs: Vec<Option<f64>>,
}

impl<'a> Run<'a> {
    /// The goodputs of the flows that are not left out.
    pub(super) fn known_goodputs(&self) -> Vec<f64> {
        self.goodputs.iter().flatten().copied().collect()
    }

    /// The goodput of each flow that is there, in every `interval` of its life.
    pub(super) fn series(&self, interval: u64) -> Option<Vec<Vec<f64>>> {
        let flows = self.trace.flows.iter();
        let lives = flows.filter_map(|flow| Some((flow, Life::within(self.trace, flow, self.window)?)));
        lives.map(|(flow, life)| own_series(self.trace, flow, &life, interval)).collect()
    }

    /// The coefficient of variation of these, mean over flows.
    pub(super) fn mean_variation(&self, interval: u64) -> Option<f64> {
        let variations = self.series(interval)?;
        mean(&variations.iter().filter_map(|flow| coefficient_of_variation(flow)).collect::<Vec<_>>())
    }

    pub(super) fn link_rate(&self, what: LinkCount) -> Option<f64> {
        link_rate(self.trace, self.link?, what, self.window)
    }

    /// The link, where anything is measured: what waited after the warm-up is counted by packets.
    pub(super) fn waited(&self) -> Option<&'a LinkTrace> {
        self.link.filter(|_| !self.window.is_empty())
    }

    /// The largest share among the flows.
    pub(super) fn largest(&self, of: impl Fn(&FlowTrace) -> Option<f64>) -> Option<f64> {
        self.trace.flows.iter().filter_map(of).reduce(f64::max)
    }

    /// The longest of these times of the finite flows, seconds; none without one, or if one has not come to it.
    pub(super) fn slowest(&self, time: impl Fn(&FlowTrace) -> Option<u64>) -> Option<f64> {
        let finite = self.trace.flows.iter().filter(|flow| flow.size.is_some());
        let times: Option<Vec<u64>> = finite.map(time).collect();
        times?.into_iter().max().map(|nanos| nanos as f64 / NANOS_PER_SECOND)
    }

    /// The flow that starts last before the end, if not all start together.
    pub(super) fn last_starter(&self) -> Option<usize> {
        let flows = &self.trace.flows;
        let first = flows.iter().map(|flow| flow.start).min()?;
        let starters = flows.iter().enumerate().filter(|(_, flow)| flow.start < self.trace.end);
        let (index, last) = starters.max_by_key(|(_, flow)| flow.start)?;
        (last.start > first).then_some(index)
    }
}
