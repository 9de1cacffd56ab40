//! The side of `cwnd`.

use cwnd_run::run::{Runs, run as run_all};
use cwnd_trace::Trace;

use crate::outcome::Outcome;
use crate::plot::Series;
use crate::{Error, Experiment, Side};

/// Runs every seed of every experiment.
pub(crate) fn run(experiments: &[Experiment<'_>]) -> Result<Vec<Side>, Error> {
    let scenarios = experiments.iter().map(|experiment| experiment.scenario.clone()).collect();
    Ok(run_all(scenarios, &())?.iter().map(side).collect())
}

fn side(runs: &Runs) -> Side {
    let seeds = runs.scenario.seeds().zip(&runs.summaries);
    Side {
        outcomes: seeds.map(|(seed, summary)| Outcome::of(seed, summary)).collect(),
        window: runs.traces.first().map(window).unwrap_or_default(),
    }
}

fn window(trace: &Trace) -> Series {
    let windows = trace.flows.first().map(|flow| flow.window.as_slice()).unwrap_or_default();
    Series::plotted(trace.at.iter().map(|at| *at as f64 / 1e9).zip(windows.iter().copied()), trace.warmup as f64 / 1e9)
}
