//! The quantities of a flow over time, of any kind of trace.

use cwnd_trace::{Column, FlowTrace, Trace};
use thiserror::Error;

use super::Quantity;
use crate::overlay::{Input, RecordedFlow};

/// A flow over time. Each value holds until the next one; times are nanoseconds since the first packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The flow's name.
    pub name: String,
    /// The congestion control, where the trace has it.
    pub algorithm: Option<String>,
    /// When its first packet left, nanoseconds on the clock of the trace.
    pub start: u64,
    end: u64,
    values: [Vec<(u64, f64)>; Quantity::ALL.len()],
}

/// A trace lacks the flow that a comparison needs.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SeriesError {
    /// Several flows, and no name.
    #[error("it has the flows {}: name one with --flow", .0.join(", "))]
    Several(Vec<String>),
    /// No flow of that name.
    #[error("it has no flow `{0}`, but {list}", list = .1.join(", "))]
    Unknown(String, Vec<String>),
    /// No flow sends.
    #[error("no flow in it sends data")]
    Silent,
}

/// The flow `name` of an input, or its only flow; `run` is the trace of the input where that is a scenario. A name that the input lacks is an
/// error only where it has several flows.
///
/// # Errors
/// There is no such flow, or several and no name.
pub fn flow(input: &Input, run: Option<&Trace>, name: Option<&str>) -> Result<Series, SeriesError> {
    let mut all: Vec<Series> = match input {
        Input::Scenario(_) => run.into_iter().flat_map(of_trace).collect(),
        Input::Stored { traces, .. } => traces.iter().flat_map(of_trace).collect(),
        Input::Recorded(_, flows) => flows.iter().filter_map(of_recording).collect(),
    };
    let names = |all: &[Series]| all.iter().map(|series| series.name.clone()).collect::<Vec<_>>();
    match (all.len(), name) {
        (0, _) => Err(SeriesError::Silent),
        (1, _) => Ok(all.swap_remove(0)),
        (_, None) => Err(SeriesError::Several(names(&all))),
        (_, Some(name)) => match all.iter().position(|series| series.name == name) {
            Some(place) => Ok(all.swap_remove(place)),
            None => Err(SeriesError::Unknown(name.to_string(), names(&all))),
        },
    }
}

impl Series {
    /// Nanoseconds over which a rate is a mean.
    pub const RATE_SPAN: u64 = 200_000_000;

    /// When its last value is, nanoseconds since its first packet.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The known values of a quantity, by time.
    #[must_use]
    pub fn values(&self, quantity: Quantity) -> &[(u64, f64)] {
        &self.values[quantity as usize]
    }

    /// The smallest and the largest value of a quantity from `within` nanoseconds before a time until as long after it; none where none is known.
    pub(super) fn range(&self, quantity: Quantity, at: u64, within: u64) -> Option<(f64, f64)> {
        let values = self.values(quantity);
        let first = values.partition_point(|(time, _)| *time <= at.saturating_sub(within)).saturating_sub(1);
        let until = at.saturating_add(within);
        let known = values.get(first..)?.iter().take_while(|(time, _)| *time <= until).map(|(_, value)| *value);
        known.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }
}

/// What a trace of any kind has of a flow at an instant.
#[derive(Clone, Copy)]
struct Known {
    at: u64,
    window: f64,
    srtt: f64,
    /// Payload bytes acknowledged.
    acked: f64,
    state: f64,
}

/// The flows of a trace of this program that send.
fn of_trace(trace: &Trace) -> impl Iterator<Item = Series> {
    trace.flows.iter().filter_map(|flow| {
        let first = flow.sent.iter().position(|sent| *sent > 0)?;
        let threshold = flow.internals.iter().find(|(name, _)| *name == "ssthresh").map(|(_, values)| values);
        let threshold = threshold.filter(|values| values.iter().any(|value| !value.is_nan()));
        let known = trace.at.iter().enumerate().skip(first).map(|(index, at)| Known {
            at: *at,
            window: real(&flow.window, index),
            srtt: real(&flow.srtt, index),
            acked: flow.delivered.get(index).copied().unwrap_or(0) as f64 * f64::from(flow.payload),
            state: threshold.map_or(f64::NAN, |values| state(real(&flow.window, index), real(values, index))),
        });
        Some(series(name_of(flow), known))
    })
}

fn name_of(flow: &FlowTrace) -> (String, Option<String>) {
    (flow.name.clone(), Some(flow.algorithm.clone()))
}

fn real(values: &Column<f64>, index: usize) -> f64 {
    values.get(index).copied().unwrap_or(f64::NAN)
}

/// A recorded flow from its first packet on; none without samples. What a log has before that is the handshake.
fn of_recording(flow: &RecordedFlow) -> Option<Series> {
    let first = flow.samples.iter().rposition(|sample| sample.acked == 0 && sample.in_flight == 0).unwrap_or(0);
    let samples = flow.samples.get(first..).filter(|samples| !samples.is_empty())?;
    // A stack that never shows a threshold may have none.
    let has_threshold = samples.iter().any(|sample| sample.threshold.is_finite());
    let known = samples.iter().map(|sample| Known {
        at: sample.at,
        window: sample.window,
        srtt: sample.srtt,
        acked: sample.acked as f64,
        state: if has_threshold { state(sample.window, sample.threshold) } else { f64::NAN },
    });
    Some(series((flow.name.clone(), flow.algorithm.clone()), known))
}

/// Slow start lasts until the window reaches a threshold. Unknown without a window.
fn state(window: f64, threshold: f64) -> f64 {
    match (window.is_nan(), threshold.is_finite() && window >= threshold) {
        (true, _) => f64::NAN,
        (false, true) => AVOIDANCE,
        (false, false) => 0.0,
    }
}

/// The series of the instants `known`, of which there is one at least.
fn series((name, algorithm): (String, Option<String>), known: impl Iterator<Item = Known>) -> Series {
    let known: Vec<Known> = known.collect();
    let start = known.first().map_or(0, |first| first.at);
    let end = known.last().map_or(0, |last| last.at - start);
    let mut series = Series { name, algorithm, start, end, values: Default::default() };
    let mut take = |quantity: Quantity, at: u64, value: f64| {
        if value.is_finite() {
            series.values[quantity as usize].push((at, value));
        }
    };
    for now in &known {
        let at = now.at - start;
        take(Quantity::Window, at, now.window);
        take(Quantity::Rtt, at, now.srtt * 1e3);
        take(Quantity::State, at, now.state);
    }
    // A rate changes with what arrives, and again when that leaves the span.
    let left = known.iter().map(|now| now.at.saturating_add(Series::RATE_SPAN));
    let mut instants: Vec<u64> = known.iter().map(|now| now.at).chain(left).filter(|at| *at <= start + end).collect();
    instants.sort_unstable();
    instants.dedup();
    let acked_at = |at: u64| known[known.partition_point(|now| now.at <= at).saturating_sub(1)].acked;
    for at in instants.into_iter().filter(|at| at - start >= Series::RATE_SPAN) {
        let acked = acked_at(at) - acked_at(at - Series::RATE_SPAN);
        take(Quantity::Rate, at - start, acked * 8e-6 / (Series::RATE_SPAN as f64 * 1e-9));
    }
    series
}

/// The state of congestion avoidance; that of slow start is 0.
pub(super) const AVOIDANCE: f64 = 1.0;
