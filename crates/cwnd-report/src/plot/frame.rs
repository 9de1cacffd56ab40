//! The common properties of the plots of one page: colours, resolution and scales.

use cwnd_run::measure::{Estimates, SHORT_INTERVAL};
use cwnd_trace::{LinkTrace, Trace};

use super::colour::Palette;
use super::flows::{DrawnFlow, drawn, few, mixed, unique};
use super::time::{coarsest_sampling, seconds};

/// One algorithm, or one mixture of algorithms, on the scenario: a section of the page.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// Its name in tables and plots: usually the algorithm as written.
    pub label: String,
    /// Its measures over all seeds.
    pub measures: &'a Estimates,
    /// The run of the first seed.
    pub trace: &'a Trace,
}

/// The shown runs, and the colours, resolution and scales that they share, so that their plots can be compared.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) shown: &'a [Shown<'a>],
    pub(crate) palette: Palette,
    /// The labels of the shown runs, made unique.
    pub(crate) labels: Vec<String>,
    /// How many seeds the measures are means over.
    pub(crate) seeds: usize,
    /// Indexes the links of every trace.
    pub(crate) bottleneck: usize,
    /// The algorithms of which several have all their flows.
    repeated: Vec<String>,
    /// Pixel columns of a plot over time: fewer where there is much to draw, so that the page stays small.
    pub(crate) columns: usize,
    /// Averages of rates over time are taken over this long, nanoseconds.
    pub(crate) interval: u64,
    /// The end of the longest run, seconds.
    pub(crate) end_s: f64,
    /// The upper end of rate axes, bit/s.
    pub(crate) rate: f64,
    /// The upper end of queue axes, packets.
    pub(crate) queue: f64,
    /// The upper end of axes of round-trip times, seconds.
    pub(crate) rtt: f64,
}

impl<'a> Frame<'a> {
    pub(crate) fn of(shown: &'a [Shown<'a>], bottleneck: usize, seeds: usize) -> Self {
        let traces = || shown.iter().map(|one| one.trace);
        let algorithms = traces().flat_map(|trace| {
            let flow_arrivals = trace.flow_arrivals.iter().map(|group| group.algorithm.as_str());
            trace.flows.iter().map(|flow| flow.algorithm.as_str()).chain(flow_arrivals)
        });
        let labels = shown.iter().map(|one| one.label.as_str());
        let mut repeated: Vec<String> =
            shown.iter().filter(|one| !mixed(one.trace)).map(|one| first(one).to_string()).collect();
        repeated.sort_unstable();
        repeated = repeated.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
        let series: usize = traces().map(|trace| SERIES_PER_FLOW * few(trace).len() + 1).sum();
        let columns = (POINTS / (2 * series.max(1))).clamp(MIN_COLUMNS, MAX_COLUMNS);
        let end = traces().map(|trace| trace.end).max().unwrap_or(0);
        let longest_rtt = traces().flat_map(|trace| &trace.flows).map(|flow| flow.base_rtt).max().unwrap_or(0);
        let coarsest = traces().map(coarsest_sampling).max().unwrap_or(0);
        let interval = SHORT_INTERVAL.max(longest_rtt).max(coarsest).max(end / columns as u64);

        let link = |trace: &Trace| trace.links.get(bottleneck).and_then(|link| link.rate);
        let queue = traces().filter_map(|trace| trace.links.get(bottleneck));
        let srtt = traces().flat_map(|trace| &trace.flows).flat_map(|flow| &flow.srtt).copied();
        Self {
            shown,
            palette: Palette::new(algorithms.chain(labels.clone())),
            repeated,
            labels: unique(&labels.map(str::to_string).collect::<Vec<_>>()),
            seeds,
            bottleneck,
            columns,
            interval,
            end_s: seconds(end),
            rate: traces().filter_map(link).max().map_or(0.0, |rate| rate as f64),
            queue: queue.flat_map(|link| &link.queue_packets).copied().max().unwrap_or(0) as f64,
            rtt: srtt.filter(|rtt| rtt.is_finite()).fold(0.0, f64::max),
        }
    }

    /// A few flows of the runs at `index`, as they are drawn.
    pub(crate) fn drawn(&self, index: usize) -> Vec<DrawnFlow> {
        self.flows(index, &few(self.shown[index].trace))
    }

    /// All flows of the runs at `index`, as they are drawn.
    pub(crate) fn all(&self, index: usize) -> Vec<DrawnFlow> {
        let all: Vec<usize> = (0..self.shown[index].trace.flows.len()).collect();
        self.flows(index, &all)
    }

    fn flows(&self, index: usize, flows: &[usize]) -> Vec<DrawnFlow> {
        let trace = self.shown[index].trace;
        drawn(trace, flows, |algorithm| match mixed(trace) {
            true => self.palette.variable(algorithm),
            false => self.colour(index),
        })
    }

    /// The colour of the runs at `index`: that of their first flow, since a label is free text; that of the label where they and others
    /// have one algorithm and differ in the host. A single run of several algorithms has the colour of none.
    pub(crate) fn colour(&self, index: usize) -> String {
        let one = &self.shown[index];
        let algorithm = first(one);
        if self.shown.len() == 1 && mixed(one.trace) {
            return "var(--text)".to_string();
        }
        let alike = !mixed(one.trace) && self.repeated.iter().any(|repeated| repeated == algorithm);
        self.palette.variable(if alike { &one.label } else { algorithm })
    }

    /// The link that the plots show.
    pub(crate) fn bottleneck(&self, one: &Shown<'a>) -> Option<&'a LinkTrace> {
        one.trace.links.get(self.bottleneck)
    }
}

/// The algorithm of the first flow.
pub(crate) fn first<'a>(one: &'a Shown<'_>) -> &'a str {
    one.trace.flows.first().map_or(one.label.as_str(), |flow| &flow.algorithm)
}

/// Window, rate and round-trip time are drawn per flow.
const SERIES_PER_FLOW: usize = 3;
/// Points on a whole page: about 2 MB of the 5 MB a page may have.
const POINTS: usize = 120_000;
/// Pixel columns: a plot is seldom wider than the largest, and below the smallest its shape is lost.
const MAX_COLUMNS: usize = 400;
const MIN_COLUMNS: usize = 20;
