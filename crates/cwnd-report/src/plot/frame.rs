//! What the plots of one report have in common: which flows are drawn, in which colours, at which resolution.

use serde_json::{Value, json};

use super::colour::{self, Palette};
use super::spec::unique;
use crate::page::{Report, Row};
use cwnd_run::measure::{Curve, SHORT_INTERVAL, Window};
use cwnd_trace::{LinkTrace, Trace};

/// Colours, resolution and scales shared by all rows, so that plots can be compared side by side.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) palette: Palette,
    /// The labels of the rows, made unique.
    pub(crate) labels: Vec<String>,
    /// The algorithms of which several rows have all their flows.
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

/// The flows of a row that are drawn.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Indices into the flows of the trace.
    pub(crate) flows: Vec<usize>,
    /// Their names, made unique; with the algorithm where several share the row.
    pub(crate) labels: Vec<String>,
    /// Their colours.
    pub(crate) colours: Vec<Value>,
    /// Their dashes: flows of one algorithm differ.
    pub(crate) dashes: Vec<Value>,
}

impl Frame {
    pub(crate) fn of(report: &Report<'_>) -> Self {
        let traces = || report.rows.iter().map(|row| row.trace);
        let algorithms = traces().flat_map(|trace| {
            let crowds = trace.crowds.iter().map(|crowd| crowd.algorithm.as_str());
            trace.flows.iter().map(|flow| flow.algorithm.as_str()).chain(crowds)
        });
        let labels = report.rows.iter().map(|row| row.label.as_str());
        let mut repeated: Vec<String> =
            report.rows.iter().filter(|row| !mixed(row.trace)).map(|row| first(row).to_string()).collect();
        repeated.sort_unstable();
        repeated = repeated.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
        let series: usize = report.rows.iter().map(|row| SERIES_PER_FLOW * drawn_flows(row.trace).len() + 1).sum();
        let columns = (POINTS / (2 * series.max(1))).clamp(MIN_COLUMNS, MAX_COLUMNS);
        let end = traces().map(|trace| trace.end).max().unwrap_or(0);
        let longest_rtt = traces().flat_map(|trace| &trace.flows).map(|flow| flow.base_rtt).max().unwrap_or(0);
        let coarsest = traces().map(coarsest_sampling).max().unwrap_or(0);
        let interval = SHORT_INTERVAL.max(longest_rtt).max(coarsest).max(end / columns as u64);

        let link = |trace: &Trace| trace.links.get(report.bottleneck).and_then(|link| link.rate);
        let queue = traces().filter_map(|trace| trace.links.get(report.bottleneck));
        let srtt = traces().flat_map(|trace| &trace.flows).flat_map(|flow| &flow.srtt).copied();
        Self {
            palette: Palette::new(algorithms.chain(labels.clone())),
            repeated,
            labels: unique(&labels.map(str::to_string).collect::<Vec<_>>()),
            columns,
            interval,
            end_s: seconds(end),
            rate: traces().filter_map(link).max().map_or(0.0, |rate| rate as f64),
            queue: queue.flat_map(|link| &link.queue_packets).copied().max().unwrap_or(0) as f64,
            rtt: srtt.filter(|rtt| rtt.is_finite()).fold(0.0, f64::max),
        }
    }

    /// The flows of a row, as they are drawn.
    pub(crate) fn drawn(&self, row: &Row<'_>) -> Drawn {
        let flows = drawn_flows(row.trace);
        let all = &row.trace.flows;
        let mixed = mixed(row.trace);
        let names: Vec<String> = flows
            .iter()
            .map(|index| &all[*index])
            .map(|flow| if mixed { format!("{} · {}", flow.name, flow.algorithm) } else { flow.name.clone() })
            .collect();
        let nth = |index: usize| {
            flows.iter().filter(|other| **other < index && all[**other].algorithm == all[index].algorithm).count()
        };
        Drawn {
            labels: unique(&names),
            colours: flows
                .iter()
                .map(|index| if mixed { self.palette.variable(&all[*index].algorithm) } else { self.row_colour(row) })
                .map(Value::from)
                .collect(),
            dashes: flows.iter().map(|index| json!(colour::dash(nth(*index)))).collect(),
            flows,
        }
    }

    /// The colour of a row: that of its first flow, since a label is free text; that of the label where it and others have one
    /// algorithm, and it is another host that tells them apart.
    pub(crate) fn row_colour(&self, row: &Row<'_>) -> String {
        let algorithm = first(row);
        let alike = !mixed(row.trace) && self.repeated.iter().any(|repeated| repeated == algorithm);
        self.palette.variable(if alike { &row.label } else { algorithm })
    }
}

impl Drawn {
    /// What to add to a caption where not all flows are drawn.
    pub(crate) fn remark(&self, trace: &Trace) -> String {
        if self.flows.len() == trace.flows.len() {
            return String::new();
        }
        format!(" {} of {} flows are drawn.", self.flows.len(), trace.flows.len())
    }
}

/// Whether its flows have several algorithms.
fn mixed(trace: &Trace) -> bool {
    trace.flows.windows(2).any(|pair| pair[0].algorithm != pair[1].algorithm)
}

/// The algorithm of the first flow.
fn first<'a>(row: &'a Row<'_>) -> &'a str {
    row.trace.flows.first().map_or(row.label.as_str(), |flow| &flow.algorithm)
}

/// The link that the plots of a row show.
pub(crate) fn bottleneck<'a>(report: &Report<'_>, row: &Row<'a>) -> Option<&'a LinkTrace> {
    row.trace.links.get(report.bottleneck)
}

/// The whole run, warm-up included.
pub(crate) fn whole(trace: &Trace) -> Window {
    Window { from: 0, to: trace.end }
}

pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The middles of the whole intervals of a run, seconds.
pub(crate) fn middles(count: usize, interval: u64) -> Vec<f64> {
    (0..count).map(|k| seconds(interval) * (k as f64 + 0.5)).collect()
}

/// How often a cumulative count rose in each of `columns` pixel columns, where it did: the middle of the column and the rise.
pub(crate) fn rises(trace: &Trace, values: &[u64], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let curve = Curve::new(&trace.at, values);
    let width = (trace.end / columns.max(1) as u64).max(1).max(coarsest_sampling(trace));
    let window = |k: u64| Window { from: k * width, to: ((k + 1) * width).min(trace.end) };
    let rises = (0..trace.end.div_ceil(width)).map(window).map(|window| (window, curve.rise(window)));
    rises
        .filter(|(_, rise)| *rise > 0.0)
        .map(|(window, rise)| (seconds(window.from) + seconds(width) / 2.0, rise))
        .unzip()
}

/// A few flows of each algorithm, the same number of each, in the order of the scenario.
fn drawn_flows(trace: &Trace) -> Vec<usize> {
    let mut algorithms: Vec<&str> = trace.flows.iter().map(|flow| flow.algorithm.as_str()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let each = (MAX_FLOWS / algorithms.len().max(1)).max(1);
    let mut taken = vec![0; algorithms.len()];
    let wanted = |(index, flow): (usize, &cwnd_trace::FlowTrace)| {
        let group = algorithms.binary_search(&flow.algorithm.as_str()).ok()?;
        taken[group] += 1;
        (taken[group] <= each).then_some(index)
    };
    let mut flows: Vec<usize> = trace.flows.iter().enumerate().filter_map(wanted).collect();
    flows.truncate(MAX_FLOWS);
    flows
}

fn coarsest_sampling(trace: &Trace) -> u64 {
    trace.at.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or(0)
}

/// More lines than this in one plot cannot be told apart.
pub(crate) const MAX_FLOWS: usize = 8;
/// Window, rate and round-trip time are drawn per flow.
const SERIES_PER_FLOW: usize = 3;
/// Points on a whole page: about 2 MB of the 5 MB a page may have.
const POINTS: usize = 120_000;
/// Pixel columns: a plot is seldom wider than the largest, and below the smallest its shape is lost.
const MAX_COLUMNS: usize = 400;
const MIN_COLUMNS: usize = 20;

#[cfg(test)]
mod tests {
    use cwnd_trace::FlowTrace;

    use super::*;

    #[test]
    fn each_algorithm_has_the_same_number_of_lines() {
        let flow = |algorithm: &str| FlowTrace { algorithm: algorithm.to_string(), ..FlowTrace::default() };
        let flows: Vec<FlowTrace> = (0..20).map(|_| flow("reno")).chain((0..20).map(|_| flow("simd"))).collect();
        let trace = Trace { flows, ..Trace::default() };
        assert_eq!(drawn_flows(&trace), [0, 1, 2, 3, 20, 21, 22, 23]);
        assert!(drawn_flows(&Trace::default()).is_empty());
    }

    #[test]
    fn rises_are_counted_where_they_happen() {
        let trace = Trace { at: vec![0, 10, 20, 30, 40], end: 40, ..Trace::default() };
        let (times, counts) = rises(&trace, &[0, 0, 3, 3, 4], 4);
        assert_eq!(counts, [3.0, 1.0]);
        assert!((times[0] - 15e-9).abs() < 1e-18 && (times[1] - 35e-9).abs() < 1e-18);
        // Two columns: the counts add up to the same total.
        assert_eq!(rises(&trace, &[0, 0, 3, 3, 4], 2).1, [3.0, 1.0]);
    }
}
