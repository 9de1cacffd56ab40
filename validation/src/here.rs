//! The side of `cwnd`.

use cwnd_lab::measure::summarise;
use cwnd_lab::scenario::Scenario;
use cwnd_sim::Setup;
use cwnd_trace::Trace;
use rayon::prelude::*;

use crate::outcome::Outcome;
use crate::plot::Series;
use crate::{Error, Side};

/// Runs every seed of every scenario.
pub(crate) fn run(scenarios: &[Scenario]) -> Result<Vec<Side>, Error> {
    scenarios.par_iter().map(one).collect()
}

fn one(scenario: &Scenario) -> Result<Side, Error> {
    let mut side = Side { outcomes: Vec::new(), windows: Series::default() };
    for seed in scenario.seeds() {
        let setup: Setup = scenario.setup(seed);
        let trace = cwnd_sim::run(&setup, &mut |_| true)?;
        side.outcomes.push(Outcome::of(seed, &summarise(&trace, BOTTLENECK)));
        if side.outcomes.len() == 1 {
            side.windows = windows(&trace);
        }
    }
    Ok(side)
}

fn windows(trace: &Trace) -> Series {
    Series {
        at_s: trace.at.iter().map(|at| *at as f64 / 1e9).collect(),
        flows: trace.flows.iter().map(|flow| flow.window.clone()).collect(),
    }
}

/// The first link of a dumbbell.
const BOTTLENECK: usize = 0;
