//! Evaluations: scenarios that are run and judged by a property.

use std::sync::Arc;

use cwnd_run::execute::{Executor, Interrupted, Job, Outcome, Reduce};
use cwnd_run::scenario::{Scenario, ScenarioError};
use cwnd_text::one_line;
use cwnd_trace::Trace;

use crate::property::Promise;

/// The algorithm that is judged, and the property.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// How runs are executed.
    pub executor: Executor<'a>,
    /// The property with its bound.
    pub promise: &'a Promise,
}

/// The outcome of an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The number of the property; none where the run says nothing.
    pub value: Option<f64>,
    /// By how much the property is kept, in units of its bound; negative if it is broken.
    pub margin: Option<f64>,
    /// Why a run failed.
    pub error: Option<String>,
    /// Why the run says nothing.
    pub silence: Option<String>,
}

impl Subject<'_> {
    /// Runs every scenario with all of its seeds, and judges each seed.
    ///
    /// # Errors
    /// The work was interrupted.
    pub fn judge_all(&self, scenarios: &[Scenario]) -> Result<Vec<Vec<Evaluated>>, Interrupted> {
        let mut jobs = Vec::new();
        let mut refused = Vec::new();
        for scenario in scenarios {
            let own = self.variants(scenario);
            refused.push(own.as_ref().err().cloned());
            for (scenario, seed) in own.into_iter().flatten() {
                jobs.push(Job { scenario, seed, keep: Judge { promise: self.promise, seed } });
            }
        }
        let mut outcomes = self.executor.with_memory_of_each(MOST_MEMORY).run_each(jobs)?.into_iter();
        let rivals = self.promise.rivals().len();
        let of = |(scenario, refused): (&Scenario, Option<String>)| match refused {
            Some(error) => vec![Evaluated::failed(&error)],
            None => {
                let seeds = scenario.seeds().len();
                let each: Vec<Outcome<Result<f64, String>>> = outcomes.by_ref().take(seeds * (1 + rivals)).collect();
                each.chunks(1 + rivals).map(|outcomes| self.judged(outcomes)).collect()
            }
        };
        Ok(scenarios.iter().zip(refused).map(of).collect())
    }

    /// The digest of the run of a scenario with its first seed; none if that fails.
    ///
    /// # Errors
    /// The work was interrupted.
    pub(crate) fn digest(&self, scenario: &Scenario) -> Result<Option<u64>, Interrupted> {
        let first = scenario.seeds().next();
        let job = |seed| Job { scenario: Arc::new(scenario.clone()), seed, keep: Digest };
        let outcomes = self.executor.run_each(first.map(job).into_iter().collect())?;
        Ok(outcomes.into_iter().find_map(Result::ok))
    }

    /// The runs of a scenario: for each seed that of the subject, then those of its rivals.
    fn variants(&self, scenario: &Scenario) -> Result<Vec<(Arc<Scenario>, u64)>, String> {
        if scenario.packets() > MOST_PACKETS {
            return Err(format!("{:.0} packets are more than the {MOST_PACKETS} of an evaluation", scenario.packets()));
        }
        let rival = |name: &&str| with_algorithm(scenario, name).map(Arc::new).map_err(|error| error.to_string());
        let rivals: Vec<Arc<Scenario>> = self.promise.rivals().iter().map(rival).collect::<Result<_, _>>()?;
        let all: Vec<Arc<Scenario>> = std::iter::once(Arc::new(scenario.clone())).chain(rivals).collect();
        Ok(scenario.seeds().flat_map(|seed| all.iter().map(move |one| (Arc::clone(one), seed))).collect())
    }

    fn judged(&self, outcomes: &[Outcome<Result<f64, String>>]) -> Evaluated {
        let [own, rivals @ ..] = outcomes else { return Evaluated::default() };
        let own = match own {
            Ok(Ok(own)) => *own,
            Ok(Err(silence)) => return Evaluated::silent(silence),
            Err(error) => return Evaluated::failed(error),
        };
        let best = rivals.iter().filter_map(|rival| rival.as_ref().ok()?.as_ref().ok().copied()).reduce(f64::min);
        match (rivals, best) {
            ([], _) => self.of(own),
            (_, Some(best)) => self.of(own / best),
            (_, None) => Evaluated::silent(&"no rival has a number"),
        }
    }

    fn of(&self, value: f64) -> Evaluated {
        Evaluated { value: Some(value), margin: Some(self.promise.margin(value)), ..Evaluated::default() }
    }
}

impl Evaluated {
    /// The outcome of a run that failed, with the reason on one line as a corpus has it.
    pub(crate) fn failed(error: &impl ToString) -> Self {
        Self { error: Some(one_line(&error.to_string())), ..Self::default() }
    }

    /// The outcome of a run that says nothing, with the reason on one line.
    pub(crate) fn silent(reason: &impl ToString) -> Self {
        Self { silence: Some(one_line(&reason.to_string())), ..Self::default() }
    }

    /// Whether the property is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.margin.is_some_and(|margin| margin < 0.0)
    }

    /// The margin as an order among all outcomes.
    fn rank(&self) -> f64 {
        match (&self.error, self.margin) {
            (Some(_), _) => f64::NEG_INFINITY,
            (None, margin) => margin.unwrap_or(f64::INFINITY),
        }
    }
}

/// The seed with the smallest margin; one that failed comes first, one that says nothing last.
#[must_use]
pub fn worst(seeds: &[Evaluated]) -> Evaluated {
    seeds.iter().min_by(|a, b| a.rank().total_cmp(&b.rank())).cloned().unwrap_or_default()
}

/// The seed with the largest margin; one that says nothing comes first, one that failed last.
#[must_use]
pub fn mildest(seeds: &[Evaluated]) -> Evaluated {
    seeds.iter().max_by(|a, b| a.rank().total_cmp(&b.rank())).cloned().unwrap_or_default()
}

/// The scenario with another algorithm in the place of the first.
fn with_algorithm(scenario: &Scenario, name: &str) -> Result<Scenario, ScenarioError> {
    let algorithm = toml::Value::String(name.to_string());
    Scenario::read("scenario", &scenario.to_toml(), &[format!("flow.0.algorithm={algorithm}")])
}

/// Keeps the number of a property.
#[derive(Clone, Copy)]
struct Judge<'a> {
    promise: &'a Promise,
    seed: u64,
}

impl Reduce for Judge<'_> {
    type Reduction = Result<f64, String>;

    fn name(&self) -> &'static str {
        "property"
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) -> Result<f64, String> {
        self.promise.number_of(scenario, self.seed, trace)
    }
}

/// Keeps the digest of a run.
#[derive(Clone, Copy)]
struct Digest;

impl Reduce for Digest {
    type Reduction = u64;

    fn name(&self) -> &'static str {
        "digest"
    }

    fn reduce(&self, _scenario: &Scenario, trace: Trace) -> u64 {
        trace.digest
    }
}

/// The most packets that the bottleneck of an evaluation may carry.
pub(crate) const MOST_PACKETS: f64 = 2e6;
/// What a run of an evaluation may use for packets and samples, bytes: about ten times what the largest paths of the profiles need.
const MOST_MEMORY: u64 = 64_000_000;
