//! The side of the simulator.

use cwnd_run::run::{Runs, run};
use cwnd_trace::{Column, FlowTrace, Trace};

use super::cases::Experiment;
use crate::Error;
use crate::plot::Series;

/// The measurements.
pub(super) struct Simulated {
    pub(super) goodput_bps: Vec<f64>,
    pub(super) queue_delay_s: Vec<f64>,
    pub(super) retransmitted: Vec<f64>,
    pub(super) window: Series,
}

/// Runs the experiments of the list, each as often.
pub(super) fn simulate(experiments: &[&Experiment<'_>], repeats: u32) -> Result<Vec<Simulated>, Error> {
    let scenarios = experiments.iter().map(|experiment| experiment.scenario(repeats)).collect::<Result<_, _>>()?;
    Ok(run(scenarios, &())?.iter().zip(experiments).map(|(runs, experiment)| simulated(runs, experiment)).collect())
}

fn simulated(runs: &Runs, experiment: &Experiment<'_>) -> Simulated {
    let rate = experiment.path.rate.value().0;
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    Simulated {
        goodput_bps: runs.summaries.iter().map(|summary| number(summary.goodput_bps)).collect(),
        queue_delay_s: runs.traces.iter().map(|trace| queue_delay(trace, rate)).collect(),
        retransmitted: runs.traces.iter().map(retransmitted).collect(),
        window: runs.traces.first().map(window).unwrap_or_default(),
    }
}

/// The mean over samples of what waits, as it is taken of the emulated link.
fn queue_delay(trace: &Trace, rate: f64) -> f64 {
    let from = trace.at.partition_point(|at| *at < trace.warmup);
    let waiting = trace.links[0].queue_bytes.get(from..).unwrap_or_default();
    waiting.iter().sum::<u64>() as f64 / waiting.len() as f64 * 8.0 / rate
}

fn retransmitted(trace: &Trace) -> f64 {
    let from = trace.at.partition_point(|at| *at < trace.warmup);
    let grown = |column: &[u64]| {
        column.get(from).zip(column.last()).map_or(0.0, |(first, last)| last.saturating_sub(*first) as f64)
    };
    let sum = |of: fn(&FlowTrace) -> &Column<u64>| trace.flows.iter().map(|flow| grown(of(flow))).sum::<f64>();
    sum(|flow| &flow.retransmitted) / sum(|flow| &flow.sent)
}

fn window(trace: &Trace) -> Series {
    let windows = trace.flows.first().map(|flow| flow.window.as_slice()).unwrap_or_default();
    let at = trace.at.iter().map(|at| *at as f64 / 1e9);
    Series::plotted(at.zip(windows.iter().copied()), trace.warmup as f64 / 1e9)
}
