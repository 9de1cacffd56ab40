//! Runs scenarios: one simulation per seed, on all cores.

use cwnd::Span;
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use rayon::prelude::*;

use crate::measure::{Estimates, Summary, summarise};
use crate::scenario::Scenario;

/// A scenario with the traces of its runs.
#[derive(Clone, Debug)]
pub struct Runs {
    /// What was run.
    pub scenario: Scenario,
    /// One trace per seed, in the order of the seeds.
    pub traces: Vec<Trace>,
    /// The measures of each trace.
    pub summaries: Vec<Summary>,
}

/// Hears how much simulated time has passed in any run since the last call; says whether to go on.
pub type Progress<'a> = &'a (dyn Fn(Span) -> bool + Sync);

/// Runs every seed of every scenario. The result does not depend on the number of threads.
///
/// # Errors
/// The simulator refuses a setup, or `progress` ended the work.
pub fn run(scenarios: Vec<Scenario>, progress: Progress<'_>) -> Result<Vec<Runs>, SetupError> {
    let jobs: Vec<(&Scenario, u64)> =
        scenarios.iter().flat_map(|scenario| scenario.seeds().map(move |seed| (scenario, seed))).collect();
    // One job at a time: runs differ much in length, and a thread with a batch would keep the others waiting.
    let results = jobs.par_iter().with_max_len(1).map(|(scenario, seed)| one(scenario, *seed, progress));
    let mut results = results.collect::<Result<Vec<_>, _>>()?.into_iter();
    let gathered = scenarios.into_iter().map(|scenario| {
        let (traces, summaries) = results.by_ref().take(scenario.seeds().len()).unzip();
        Runs { scenario, traces, summaries }
    });
    Ok(gathered.collect())
}

/// The same on the calling thread, one run after the other: for algorithms from outside that would only wait for each other.
///
/// # Errors
/// The simulator refuses a setup, or `progress` ended the work.
pub fn run_in_turn(scenarios: Vec<Scenario>, progress: Progress<'_>) -> Result<Vec<Runs>, SetupError> {
    let seeds =
        |scenario: &Scenario| scenario.seeds().map(|seed| one(scenario, seed, progress)).collect::<Result<Vec<_>, _>>();
    let runs = scenarios.into_iter().map(|scenario| {
        let (traces, summaries) = seeds(&scenario)?.into_iter().unzip();
        Ok(Runs { scenario, traces, summaries })
    });
    runs.collect()
}

impl Runs {
    /// The measures over all seeds.
    #[must_use]
    pub fn estimates(&self) -> Estimates {
        Estimates::over(&self.summaries)
    }
}

/// Simulates one seed, and tells `progress` how much simulated time has passed since it was last told.
pub(crate) fn simulate(
    scenario: &Scenario,
    seed: u64,
    progress: &mut dyn FnMut(Span) -> bool,
) -> Result<Trace, SetupError> {
    let mut told = 0;
    let trace = cwnd_sim::run(&scenario.setup(seed), &mut |now| {
        let passed = Span::from_nanos(now - told);
        told = now;
        progress(passed)
    })?;
    if progress(scenario.duration() - Span::from_nanos(told)) { Ok(trace) } else { Err(SetupError::Interrupted) }
}

fn one(scenario: &Scenario, seed: u64, progress: Progress<'_>) -> Result<(Trace, Summary), SetupError> {
    let trace = simulate(scenario, seed, &mut |passed| progress(passed))?;
    let summary = summarise(&trace, scenario.bottleneck());
    Ok((trace, summary))
}
