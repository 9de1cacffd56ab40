//! Runs every algorithm in every experiment, and asks the claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::measure::{CrossMeasure, PROBE};
use super::plan::{Compare, CrossClaim, CrossExperiment, Plan};
use super::record::{Answer, Asked, CrossTable, Crossing, Score};
use crate::computed::Computed;
use crate::error::Result;
use crate::provenance::Made;
use crate::settings::Scale;
use crate::verdict::Verdict;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Progress};
use cwnd_run::probe::{Probe, Reduction};

/// The value of each algorithm of the plan by experiment and measure, both by their index.
type Values = BTreeMap<(usize, CrossMeasure), Vec<Computed>>;

/// Runs the plan at a length. Of how it was made, `made` has the runs, their lengths and seeds.
///
/// # Errors
/// A scenario is wrong, the simulator refuses it, a cell cannot be stored, or the work was interrupted.
pub fn cross(plan: &Plan, scale: Scale, cells: &Cells, progress: &dyn Progress) -> Result<Crossing> {
    let mut jobs: Vec<Job<Probe>> = Vec::new();
    let mut counts = Vec::new();
    for experiment in &plan.experiment {
        for algorithm in &plan.algorithm {
            let scenario = Arc::new(experiment.scenario(&algorithm.spec, scale)?);
            counts.push(scenario.seeds().len());
            jobs.extend(scenario.seeds().map(|seed| Job { scenario: Arc::clone(&scenario), seed, keep: PROBE }));
        }
    }
    let made = made(&jobs);
    let mut kept = Executor::new(cells, progress).run(jobs)?.into_iter();
    let mut runs = counts.into_iter().map(|count| kept.by_ref().take(count).collect::<Vec<Reduction>>());
    let mut values = Values::new();
    for (index, experiment) in plan.experiment.iter().enumerate() {
        let runs: Vec<Vec<Reduction>> = runs.by_ref().take(plan.algorithm.len()).collect();
        for measure in &experiment.measures {
            values.insert((index, *measure), measured(plan, experiment, (*measure, scale), &runs));
        }
    }
    let table = plan.experiment.iter().enumerate().flat_map(|(index, experiment)| {
        let values = &values;
        experiment.measures.iter().map(move |measure| tabled(plan, (index, *measure), values))
    });
    let table = table.collect();
    let claim = plan.claim.iter().map(|claim| asked(plan, claim, &values)).collect();
    Ok(Crossing { made, table, claim })
}

fn made(jobs: &[Job<Probe>]) -> Made {
    let lengths = jobs.iter().map(|job| job.scenario.duration().as_secs_f64());
    let length_s = lengths.fold([f64::INFINITY, 0.0], |[least, most], one| [one.min(least), one.max(most)]);
    let seeds = jobs.iter().map(|job| job.seed).min().zip(jobs.iter().map(|job| job.seed).max());
    Made { runs: jobs.len(), length_s, seeds: seeds.map(|(first, last)| [first, last]), ..Made::default() }
}

/// The value of each algorithm, one per seed.
fn measured(
    plan: &Plan,
    experiment: &CrossExperiment,
    (measure, scale): (CrossMeasure, Scale),
    runs: &[Vec<Reduction>],
) -> Vec<Computed> {
    let settle = experiment.settle(scale);
    let values = runs.iter().map(|runs| Computed::over(runs, |kept| measure.of(kept, experiment.flows, settle)));
    let values: Vec<Computed> = values.collect();
    // The only flow of a scenario competes with no flow of TCP.
    let is_alone = runs.iter().flatten().all(|kept| kept.all("flow_goodput_bps").len() == 1);
    match plan.index(TCP).filter(|_| is_alone && measure == CrossMeasure::Friendliness) {
        Some(tcp) => values.iter().map(|value| value.per(&values[tcp])).collect(),
        None => values,
    }
}

/// The flow with which a lone flow is compared.
const TCP: &str = "TCP";

fn tabled(plan: &Plan, (index, measure): (usize, CrossMeasure), values: &Values) -> CrossTable {
    let all = values.get(&(index, measure)).map_or(&[][..], Vec::as_slice);
    let best = best(measure, all, 0..plan.algorithm.len());
    let named = plan.algorithm.iter().zip(all);
    CrossTable {
        experiment: plan.experiment[index].id.clone(),
        measure,
        best: best.map_or(String::new(), |best| plan.algorithm[best].name.clone()),
        score: named.filter_map(|(algorithm, value)| Some((algorithm.name.clone(), score(value)?))).collect(),
    }
}

/// The index of the best mean; an algorithm without a value is not among them.
fn best(measure: CrossMeasure, all: &[Computed], among: impl Iterator<Item = usize>) -> Option<usize> {
    let distances = among.filter_map(|at| Some((at, measure.distance(all.get(at)?.value()?))));
    distances.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}

/// A value with half the width of its interval, in five digits.
fn score(value: &Computed) -> Option<Score> {
    let mean = value.value()?;
    let half = value.interval().map(|interval| (interval.high - interval.low) / 2.0);
    let digits = |number: f64| format!("{number:.4e}").parse().unwrap_or(number);
    Some(Score(std::iter::once(mean).chain(half).map(digits).collect()))
}

/// A claim, asked of every experiment that it can be asked of.
fn asked(plan: &Plan, claim: &CrossClaim, values: &Values) -> Asked {
    let tolerance = claim.tolerance();
    let experiments = plan.experiment.iter().enumerate().filter(|(_, experiment)| claim.asks(experiment));
    let answer = experiments.map(|(index, experiment)| {
        let compared = compared(plan, claim, &values[&(index, claim.measure)]);
        let verdict = tolerance.as_ref().map_or(Verdict::Undecided, |one| one.judge(None, &compared));
        Answer { experiment: experiment.id.clone(), verdict, score: score(&compared) }
    });
    Asked {
        claim: claim.text.clone(),
        source: claim.source.clone(),
        answer: answer.collect(),
        tolerance: tolerance.map(|tolerance| tolerance.to_string()).unwrap_or_default(),
    }
}

/// The values that the tolerance of a claim applies to, run by run.
fn compared(plan: &Plan, claim: &CrossClaim, all: &[Computed]) -> Computed {
    let Some(own) = plan.index(&claim.algorithm) else { return Computed::NONE };
    let others: Vec<usize> = claim.than.iter().filter_map(|name| plan.index(name)).collect();
    match (claim.compare, others.as_slice()) {
        (Compare::Value, _) => all[own].clone(),
        (Compare::Difference, [other, ..]) => all[own].minus(&all[*other]),
        (Compare::Ratio, [other, ..]) => all[own].per(&all[*other]),
        (Compare::BestLess, [_, ..]) => best(claim.measure, all, others.iter().copied().chain([own]))
            .map_or(Computed::NONE, |best| all[best].minus(&all[own])),
        (_, []) => Computed::NONE,
    }
}
