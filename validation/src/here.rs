//! The side of `cwnd`.

use cwnd_lab::measure::summarise;
use cwnd_trace::Trace;
use rayon::prelude::*;

use crate::outcome::Outcome;
use crate::plot::Series;
use crate::{Error, Experiment, Side};

/// Runs every seed of every experiment.
pub(crate) fn run(experiments: &[Experiment<'_>]) -> Result<Vec<Side>, Error> {
    experiments.par_iter().with_max_len(1).map(one).collect()
}

fn one(experiment: &Experiment<'_>) -> Result<Side, Error> {
    let mut side = Side { outcomes: Vec::new(), window: Series::default() };
    for seed in experiment.scenario.seeds() {
        let trace = cwnd_sim::run(&experiment.scenario.setup(seed), &mut |_| true)?;
        side.outcomes.push(Outcome::of(seed, &summarise(&trace, BOTTLENECK)));
        if side.outcomes.len() == 1 {
            side.window = window(&trace);
        }
    }
    Ok(side)
}

fn window(trace: &Trace) -> Series {
    let windows = trace.flows.first().map(|flow| flow.window.as_slice()).unwrap_or_default();
    Series::plotted(trace.at.iter().map(|at| *at as f64 / 1e9).zip(windows.iter().copied()), trace.warmup as f64 / 1e9)
}

/// The first link of a dumbbell.
const BOTTLENECK: usize = 0;
