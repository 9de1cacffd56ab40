//! The tools of a runner: its paper's scenarios, assumptions and printed numbers, and its runs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::error::{PaperError, Result};
use super::files::Files;
use super::published::{Assumption, Published, PublishedResult};
use super::settings::{Scale, Settings};
use cwnd_run::execute::Job;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Document, Place, Scenario, ScenarioError, Source};

/// The tools of a runner.
pub(crate) struct Bench<'a> {
    files: &'a Files,
    published: &'a Published,
    result: &'a PublishedResult,
    settings: &'a Settings,
    simulate: Simulate<'a>,
    log: RefCell<RunLog>,
}

/// Simulates each job, and returns the values kept of each, in the order of the jobs.
pub(super) type Simulate<'a> = &'a dyn Fn(Vec<Job<Probe>>) -> Result<Vec<Reduction>>;

/// Which runs a result took.
#[derive(Clone, Debug, Default)]
pub struct RunLog {
    /// How many.
    pub cells: usize,
    /// The seeds of all of them.
    pub seeds: BTreeSet<u64>,
    /// Simulated time of the shortest and of the longest, seconds.
    pub length_s: Option<[f64; 2]>,
    /// The scenarios by name, before what the runner varies.
    pub scenarios: Vec<(String, String)>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        (files, published, result): (&'a Files, &'a Published, &'a PublishedResult),
        settings: &'a Settings,
        simulate: Simulate<'a>,
    ) -> Self {
        Self { files, published, result, settings, simulate, log: RefCell::default() }
    }

    /// The length and number of runs. Scenarios are shortened already; this is for other work.
    pub(crate) fn scale(&self) -> Scale {
        self.settings.scale
    }

    /// One of two values, by the scale.
    pub(crate) fn by_scale<T>(&self, quick: T, full: T) -> T {
        match self.settings.scale {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// The algorithm in place of a paper's own.
    pub(crate) fn variant(&self) -> Option<&'a str> {
        self.settings.variant.as_deref()
    }

    /// The scenario `papers/ID/NAME.toml` with the assumptions, the scale, and then what `change` does to it.
    ///
    /// # Errors
    /// There is no such file, the changed scenario is wrong, or `change` failed.
    pub(crate) fn scenario(&self, name: &str, change: impl FnOnce(&mut Document) -> Result) -> Result<Scenario> {
        let mut document = self.document(name)?;
        change(&mut document)?;
        Ok(Scenario::check(document)?)
    }

    fn document(&self, name: &str) -> Result<Document> {
        let (file, text) = self.files.scenario(name).ok_or_else(|| self.missing("scenario", name))?;
        let overrides = self.overrides(name);
        let document = Source::read(&file, text, &overrides).and_then(|source| Document::of(&source));
        let document = document.map_err(|error| self.at_assumption(name, error))?;
        let mut log = self.log.borrow_mut();
        if log.scenarios.iter().all(|(known, _)| known != name) {
            log.scenarios.push((name.to_string(), document.to_toml()));
        }
        Ok(document)
    }

    /// Runs every seed of a scenario, and returns what `probe` keeps of each.
    ///
    /// # Errors
    /// As [`run_all`](Self::run_all).
    pub(crate) fn run(&self, scenario: Scenario, probe: Probe) -> Result<Vec<Reduction>> {
        Ok(self.run_all([Ok(scenario)], probe)?.concat())
    }

    /// Runs every seed of every scenario, and returns the values that `probe` keeps of each: one list per scenario, one entry per seed.
    /// Earlier runs are taken from the store. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// A scenario is wrong, the simulator refuses a setup or panics, the store cannot be written, or the work was interrupted.
    pub(crate) fn run_all(
        &self,
        scenarios: impl IntoIterator<Item = Result<Scenario>>,
        probe: Probe,
    ) -> Result<Vec<Vec<Reduction>>> {
        self.run_checked(&scenarios.into_iter().collect::<Result<Vec<_>>>()?, probe)
    }

    fn run_checked(&self, scenarios: &[Scenario], probe: Probe) -> Result<Vec<Vec<Reduction>>> {
        let jobs = scenarios.iter().flat_map(|scenario| {
            let shared = Arc::new(scenario.clone());
            scenario.seeds().map(move |seed| Job { scenario: Arc::clone(&shared), seed, keep: probe })
        });
        let jobs: Vec<Job<Probe>> = jobs.collect();
        {
            let mut log = self.log.borrow_mut();
            log.cells += jobs.len();
            log.seeds.extend(jobs.iter().map(|job| job.seed));
            for length in scenarios.iter().map(|scenario| scenario.duration().as_secs_f64()) {
                let [shortest, longest] = log.length_s.unwrap_or([length; 2]);
                log.length_s = Some([shortest.min(length), longest.max(length)]);
            }
        }
        let mut kept = (self.simulate)(jobs)?.into_iter();
        Ok(scenarios.iter().map(|scenario| kept.by_ref().take(scenario.seeds().len()).collect()).collect())
    }

    /// An assumption as text, such as `1460B`.
    ///
    /// # Errors
    /// There is no such assumption.
    pub(crate) fn assumed(&self, key: &str) -> Result<String> {
        let replaced = self.settings.assumptions.iter().rev().find(|(replaced, _)| replaced == key);
        match replaced {
            Some((_, value)) => Ok(value.clone()),
            None => Ok(self.assumption(key)?.text(self.settings.scale)),
        }
    }

    /// An assumption of another type: a number, a list.
    ///
    /// # Errors
    /// There is no such assumption, or it has another type.
    pub(crate) fn assumed_as<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let text = self.assumed(key)?;
        let value = toml::de::ValueDeserializer::parse(&text);
        value.and_then(T::deserialize).map_err(|_| PaperError::Assumption {
            key: key.to_string(),
            value: text,
            reason: self
                .assumption(key)
                .map_or_else(|error| error.to_string(), |one| one.expected(self.settings.scale)),
        })
    }

    /// Printed numbers of this result, or of the whole paper, that are no rows of their own.
    ///
    /// # Errors
    /// There are none under this name, or they have another type.
    pub(crate) fn data<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let value = self
            .result
            .data
            .get(name)
            .or_else(|| self.published.data.get(name))
            .ok_or_else(|| self.missing("data", name))?;
        T::deserialize(value.clone()).map_err(|error| PaperError::Data {
            place: format!("{} {}", self.published.paper.id, self.result.id),
            name: name.to_string(),
            reason: error.message().to_string(),
        })
    }

    /// The number that the paper has for a row of one of its results; none where it is a statement.
    pub(crate) fn printed(&self, result: &str, row: &str) -> Option<f64> {
        let listed = self.published.result(result)?.rows.iter().find(|listed| listed.id == row)?;
        listed.published.as_ref()?.number()
    }

    pub(super) fn into_log(self) -> RunLog {
        self.log.into_inner()
    }

    /// The error, attributed to the assumption that caused it.
    fn at_assumption(&self, scenario: &str, error: ScenarioError) -> PaperError {
        let Place::Override(item) = &error.place else { return error.into() };
        let set = |(key, value): &&(String, String)| {
            let assumption = self.published.assumption.iter().find(|assumption| assumption.key == *key);
            let keys = assumption.and_then(|assumption| assumption.sets.get(scenario)).into_iter().flatten();
            keys.map(|set| format!("{set}={value}")).any(|set| set == *item)
        };
        match self.settings.assumptions.iter().find(set) {
            Some((key, value)) => {
                PaperError::Assumption { key: key.clone(), value: value.clone(), reason: error.fault.to_string() }
            }
            None => error.into(),
        }
    }

    /// The settings of a scenario by assumptions and the scale. What the user has replaced comes last, since --quick may set the same key.
    pub(super) fn overrides(&self, scenario: &str) -> Vec<String> {
        let is_replaced = |key: &String| self.settings.assumptions.iter().any(|(replaced, _)| replaced == key);
        let (replaced, assumed): (Vec<_>, Vec<_>) =
            self.published.assumption.iter().partition(|assumption| is_replaced(&assumption.key));
        let sets = |assumptions: Vec<&Assumption>| {
            let sets = assumptions.into_iter().flat_map(|assumption| {
                let keys = assumption.sets.get(scenario).map_or(&[][..], Vec::as_slice);
                let value = self.assumed(&assumption.key).unwrap_or_else(|_| assumption.text(self.settings.scale));
                keys.iter().map(move |key| format!("{key}={value}"))
            });
            sets.collect::<Vec<_>>()
        };
        let quick = self.published.quick.get(scenario).filter(|_| self.settings.scale == Scale::Quick);
        [sets(assumed), quick.cloned().unwrap_or_default(), sets(replaced)].concat()
    }

    fn assumption(&self, key: &str) -> Result<&'a Assumption> {
        let found = self.published.assumption.iter().find(|assumption| assumption.key == key);
        found.ok_or_else(|| self.missing("assumption", key))
    }

    fn missing(&self, what: &'static str, name: &str) -> PaperError {
        let place = format!("{} {}", self.published.paper.id, self.result.id);
        PaperError::Missing { place, what, name: name.to_string() }
    }
}
