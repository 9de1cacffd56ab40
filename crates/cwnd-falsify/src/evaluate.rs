//! Evaluations: scenarios that are run and judged by a property.

use std::sync::Arc;

use cwnd_run::cells::{CellKey, Cells, StoreError};
use cwnd_run::execute::{Executor, Interrupted, Job, Outcome, Reduce};
use cwnd_run::probe::Reduction;
use cwnd_run::scenario::{Scenario, ScenarioError};
use cwnd_text::one_line;
use cwnd_trace::Trace;

use crate::evaluated::Evaluated;
use crate::property::Promise;
use crate::sources::OWN;
use crate::workers::{Elsewhere, Request, Workers};

/// The algorithm that is judged, and the property.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// How runs are executed.
    executor: Executor<'a>,
    /// The property with its bound.
    pub(crate) promise: &'a Promise,
    /// Where.
    place: Place<'a>,
    /// Which evaluations come first.
    shard: Shard,
}

/// Where evaluations run.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    /// On the threads of this process.
    Here,
    Processes(&'a Workers),
    Elsewhere(&'a dyn Elsewhere),
}

/// One of several machines with the same search and a common store. Each makes all evaluations, its own first, and finds those
/// of the others in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    index: u32,
    count: u32,
}

impl Shard {
    /// The shard with an index from 1 to `count`; none outside.
    #[must_use]
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (1..=count).contains(&index).then(|| Self { index: index - 1, count })
    }

    /// Whether the evaluation at a place is its own.
    fn has(self, place: usize) -> bool {
        place % self.count as usize == self.index as usize
    }
}

impl<'a> Subject<'a> {
    /// Judges runs of `executor` by a property, on its threads.
    #[must_use]
    pub fn new(executor: Executor<'a>, promise: &'a Promise) -> Self {
        Self { executor, promise, place: Place::Here, shard: Shard { index: 0, count: 1 } }
    }

    /// Runs in processes, as many as the executor has threads, with stores of their own. A run that never returns or ends its process has
    /// failed then. The algorithms and the property need to be known by their texts.
    #[must_use]
    pub fn in_processes(self, workers: &'a Workers) -> Self {
        Self { place: Place::Processes(workers), ..self }
    }

    /// Evaluates elsewhere. The algorithms and the property need to be known there by their texts.
    #[must_use]
    pub fn elsewhere(self, elsewhere: &'a dyn Elsewhere) -> Self {
        Self { place: Place::Elsewhere(elsewhere), ..self }
    }

    /// Begins with the evaluations of a shard.
    #[must_use]
    pub fn beginning_with(self, shard: Shard) -> Self {
        Self { shard, ..self }
    }

    /// Runs every scenario with all of its seeds, and judges each seed.
    ///
    /// # Errors
    /// The work was interrupted.
    pub fn judge_all(&self, scenarios: &[Scenario]) -> Result<Vec<Vec<Evaluated>>, Interrupted> {
        match self.place {
            Place::Here => self.judge_here(scenarios),
            Place::Processes(workers) => self.judge_by(scenarios, |requests| {
                let executor = self.executor.with_memory_of_each(MOST_MEMORY);
                workers.judge(self.promise, requests, executor.width(), &|| executor.should_continue())
            }),
            Place::Elsewhere(elsewhere) => self.judge_by(scenarios, |requests| {
                let answers = elsewhere.answers(requests.iter().map(Request::to_string).collect())?;
                let unread = |answer: &str| Evaluated::failed(&format!("a worker answered `{answer}`"));
                let read = |answer: &String| Evaluated::read(answer, self.promise).unwrap_or_else(|| unread(answer));
                Ok(answers.iter().map(read).collect())
            }),
        }
    }

    /// Lets `judge` have requests: the evaluations of the shard first, and of these the longest.
    fn judge_by(
        &self,
        scenarios: &[Scenario],
        judge: impl Fn(&[Request]) -> Result<Vec<Evaluated>, Interrupted>,
    ) -> Result<Vec<Vec<Evaluated>>, Interrupted> {
        let promise = self.promise.to_string();
        let texts: Vec<String> = scenarios.iter().map(Scenario::to_toml).collect();
        let each = scenarios.iter().zip(&texts).flat_map(|(scenario, text)| {
            let request = |seed| Request { promise: promise.clone(), scenario: text.clone(), seed };
            scenario.seeds().map(move |seed| (scenario.packets(), request(seed)))
        });
        let mut requests: Vec<(usize, (f64, Request))> = each.enumerate().collect();
        requests.sort_by(|(a, (of_a, _)), (b, (of_b, _))| {
            let own = self.shard.has(*b).cmp(&self.shard.has(*a));
            own.then(of_b.total_cmp(of_a)).then(a.cmp(b))
        });
        let (places, requests): (Vec<usize>, Vec<Request>) =
            requests.into_iter().map(|(place, (_, request))| (place, request)).unzip();
        let judged = judge(&requests)?;
        let mut judged: Vec<(usize, Evaluated)> = places.into_iter().zip(judged).collect();
        judged.sort_by_key(|(place, _)| *place);
        let mut judged = judged.into_iter().map(|(_, evaluated)| evaluated);
        Ok(scenarios.iter().map(|scenario| judged.by_ref().take(scenario.seeds().len()).collect()).collect())
    }

    fn judge_here(&self, scenarios: &[Scenario]) -> Result<Vec<Vec<Evaluated>>, Interrupted> {
        let name = format!("{} {OWN:016x}", self.promise);
        let mut jobs = Vec::new();
        let mut refused = Vec::new();
        for scenario in scenarios {
            let own = self.variants(scenario);
            refused.push(own.as_ref().err().cloned());
            for (scenario, seed) in own.into_iter().flatten() {
                jobs.push(Job { scenario, seed, keep: Judge { promise: self.promise, name: &name, seed } });
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
            ([], _) => Evaluated::of(own, self.promise),
            (_, Some(best)) => Evaluated::of(own / best, self.promise),
            (_, None) => Evaluated::silent(&"no rival has a number"),
        }
    }
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
    /// The property, and the sources that judge by it.
    name: &'a str,
    seed: u64,
}

impl Reduce for Judge<'_> {
    type Reduction = Result<f64, String>;

    fn name(&self) -> &str {
        self.name
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) -> Result<f64, String> {
        self.promise.number_of(scenario, self.seed, trace)
    }

    fn find(&self, cells: &Cells, key: CellKey) -> Option<Result<f64, String>> {
        let kept = cells.find(key)?;
        let silence = || kept.iter().find_map(|(name, _)| name.strip_prefix(SILENCE)).map(str::to_string);
        kept.one(NUMBER).map(Ok).or_else(|| Some(Err(silence()?)))
    }

    fn store(&self, cells: &Cells, key: CellKey, kept: &Result<f64, String>) -> Result<(), StoreError> {
        let mut reduction = Reduction::default();
        match kept {
            Ok(number) => reduction.keep(NUMBER, [*number]),
            Err(silence) => reduction.keep(format!("{SILENCE}{}", one_line(silence)), []),
        }
        cells.keep(key, &reduction)
    }
}

/// Keeps the digest of a run.
#[derive(Clone, Copy)]
struct Digest;

impl Reduce for Digest {
    type Reduction = u64;

    fn name(&self) -> &str {
        "digest"
    }

    fn reduce(&self, _scenario: &Scenario, trace: Trace) -> u64 {
        trace.digest
    }
}

/// The most packets that the bottleneck of an evaluation may carry.
pub(crate) const MOST_PACKETS: f64 = 2e6;
/// What a run of an evaluation may use for packets and samples, bytes: about ten times what the largest paths of the profiles need.
pub const MOST_MEMORY: u64 = 64_000_000;
/// The names of a stored outcome.
const NUMBER: &str = "number";
const SILENCE: &str = "silence: ";
