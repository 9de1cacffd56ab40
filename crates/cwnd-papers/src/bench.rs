//! Where a runner works: its paper's scenarios, assumptions and published numbers, and the runs it asks for.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cwnd::Span;
use serde::de::DeserializeOwned;

use super::error::PaperError;
use super::files::Files;
use super::ours::Ours;
use super::published::{Assumption, Published, PublishedResult};
use cwnd_run::probe::{Kept, Probe};
use cwnd_run::scenario::{Scenario, ScenarioError};

/// How long and how often to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Everything, at reduced length.
    Quick,
    /// The published durations, at least 10 seeds.
    Full,
}

/// Hears of work: so much simulated time was asked for, and so much has passed. Says whether to go on.
pub trait Progress: Sync {
    /// So much simulated time will be needed besides what was announced before.
    fn announce(&self, time: Span);
    /// So much simulated time has passed, or was found in the store; says whether to go on.
    fn advance(&self, time: Span) -> bool;
}

/// What a runner has to work with, and what it leaves for the report.
pub struct Bench<'a> {
    files: &'a Files,
    published: &'a Published,
    result: &'a PublishedResult,
    settings: &'a Settings,
    ask: Ask<'a>,
    ran: RefCell<Ran>,
}

/// Answers with what a probe keeps of runs, in their order.
pub(super) type Ask<'a> = &'a dyn Fn(&[(&Scenario, u64)], Probe) -> Result<Vec<Kept>, PaperError>;

/// How to run papers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long and how often.
    pub scale: Scale,
    /// Assumptions that are replaced: key and value.
    pub assumptions: Vec<(String, String)>,
}

/// What a result took.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// How many runs.
    pub cells: usize,
    /// The seeds of all of them.
    pub seeds: BTreeSet<u64>,
    /// The scenarios as they were run, by name, before what the runner varies.
    pub scenarios: Vec<(String, String)>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        (files, published, result): (&'a Files, &'a Published, &'a PublishedResult),
        settings: &'a Settings,
        ask: Ask<'a>,
    ) -> Self {
        Self { files, published, result, settings, ask, ran: RefCell::default() }
    }

    /// How long and how often to run. Scenarios know already; this is for what has none.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.settings.scale
    }

    /// One of two values, by the scale.
    #[must_use]
    pub fn by_scale<T>(&self, quick: T, full: T) -> T {
        match self.settings.scale {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// The scenario `papers/ID/NAME.toml` with the assumptions, the scale, and then `changes` (`key.key=value`) laid over it.
    ///
    /// # Errors
    /// There is no such file, or what comes out is no scenario.
    pub fn scenario(&self, name: &str, changes: &[String]) -> Result<Scenario, PaperError> {
        let (file, text) = self.files.scenario(name).ok_or_else(|| self.lacks("a scenario", name))?;
        let mut overrides = self.overrides(name);
        let base = || Scenario::read(&file, text, &self.overrides(name)).map(|scenario| scenario.to_toml());
        {
            let mut ran = self.ran.borrow_mut();
            if ran.scenarios.iter().all(|(known, _)| known != name) {
                // A template that only the changes make whole is shown as it is written.
                ran.scenarios.push((name.to_string(), base().unwrap_or_else(|_| text.to_string())));
            }
        }
        overrides.extend_from_slice(changes);
        Ok(Scenario::read(&file, text, &overrides)?)
    }

    /// Runs every seed of every scenario, and gives what `probe` keeps of each: one list per scenario, one entry per seed. What
    /// was run before is taken from the store. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// The simulator refuses a setup, the store cannot be written, or the work was interrupted.
    pub fn run(&self, scenarios: &[Scenario], probe: Probe) -> Result<Vec<Vec<Kept>>, PaperError> {
        let runs: Vec<(&Scenario, u64)> =
            scenarios.iter().flat_map(|scenario| scenario.seeds().map(move |seed| (scenario, seed))).collect();
        {
            let mut ran = self.ran.borrow_mut();
            ran.cells += runs.len();
            ran.seeds.extend(runs.iter().map(|(_, seed)| *seed));
        }
        let mut kept = (self.ask)(&runs, probe)?.into_iter();
        Ok(scenarios.iter().map(|scenario| kept.by_ref().take(scenario.seeds().len()).collect()).collect())
    }

    /// An assumption as text, such as `1460B`.
    ///
    /// # Errors
    /// There is no such assumption.
    pub fn assumed(&self, key: &str) -> Result<String, PaperError> {
        let replaced = self.settings.assumptions.iter().rev().find(|(replaced, _)| replaced == key);
        match replaced {
            Some((_, value)) => Ok(value.clone()),
            None => Ok(self.assumption(key)?.text(self.settings.scale)),
        }
    }

    /// An assumption of another type: a number, a list.
    ///
    /// # Errors
    /// There is no such assumption, or it is something else.
    pub fn assumed_as<T: DeserializeOwned>(&self, key: &str) -> Result<T, PaperError> {
        let text = self.assumed(key)?;
        let value = toml::de::ValueDeserializer::parse(&text);
        value.and_then(T::deserialize).map_err(|error| PaperError::Assumption {
            key: key.to_string(),
            value: text,
            reason: error.message().to_string(),
        })
    }

    /// Printed numbers of this result, or of the whole paper, that are no rows of their own.
    ///
    /// # Errors
    /// There are none under this name, or they have another shape.
    pub fn data<T: DeserializeOwned>(&self, name: &str) -> Result<T, PaperError> {
        let value = self
            .result
            .data
            .get(name)
            .or_else(|| self.published.data.get(name))
            .ok_or_else(|| self.lacks("data", name))?;
        T::deserialize(value.clone()).map_err(|error| PaperError::Data {
            place: format!("{} {}", self.published.paper.id, self.result.id),
            name: name.to_string(),
            reason: error.message().to_string(),
        })
    }

    /// The published number of a row of this result.
    ///
    /// # Errors
    /// There is no such row, or it has no number.
    pub fn published(&self, row: &str) -> Result<f64, PaperError> {
        let listed = self.result.rows.iter().find(|listed| listed.id == row);
        let number = listed.and_then(|listed| listed.published.as_ref()?.number());
        number.ok_or_else(|| self.lacks("a published number", row))
    }

    pub(super) fn into_ran(self) -> Ran {
        self.ran.into_inner()
    }

    fn overrides(&self, scenario: &str) -> Vec<String> {
        let assumed = self.published.assumption.iter().flat_map(|assumption| {
            let keys = assumption.sets.get(scenario).map_or(&[][..], Vec::as_slice);
            let value = self.assumed(&assumption.key).unwrap_or_else(|_| assumption.text(self.settings.scale));
            keys.iter().map(move |key| format!("{key}={value}"))
        });
        let quick = self.published.quick.get(scenario).filter(|_| self.settings.scale == Scale::Quick);
        assumed.chain(quick.into_iter().flatten().cloned()).collect()
    }

    fn assumption(&self, key: &str) -> Result<&'a Assumption, PaperError> {
        let found = self.published.assumption.iter().find(|assumption| assumption.key == key);
        found.ok_or_else(|| self.lacks("an assumption", key))
    }

    fn lacks(&self, what: &'static str, name: &str) -> PaperError {
        let place = format!("{} {}", self.published.paper.id, self.result.id);
        PaperError::Lacks { place, what, name: name.to_string() }
    }
}

/// What a runner found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub(super) values: Vec<(String, Ours)>,
    pub(super) beside: Vec<(String, &'static str, Ours)>,
    /// Curves to draw.
    pub figures: Vec<Figure>,
}

/// Curves on common axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// A few words.
    pub title: &'static str,
    /// What it shows and how it was made.
    pub caption: String,
    /// The horizontal axis with its unit.
    pub x: &'static str,
    /// The vertical axis with its unit.
    pub y: &'static str,
    /// Whether the axes are logarithmic.
    pub log: (bool, bool),
    /// The curves.
    pub curves: Vec<Line>,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is of.
    pub name: String,
    /// Printed in the paper, or ours.
    pub published: bool,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

impl Findings {
    /// A value for a row that `published.toml` lists.
    pub fn value(&mut self, row: impl Into<String>, ours: Ours) {
        self.values.push((row.into(), ours));
    }

    /// The values of an ordering that `published.toml` lists.
    pub fn order<N: Into<String>>(&mut self, row: impl Into<String>, parts: impl IntoIterator<Item = (N, Ours)>) {
        let parts = parts.into_iter().map(|(name, value)| (name.into(), value)).collect();
        self.value(row, Ours::Ordered(parts));
    }

    /// A value that the paper has nothing for.
    pub fn beside(&mut self, row: impl Into<String>, unit: &'static str, ours: Ours) {
        self.beside.push((row.into(), unit, ours));
    }

    /// A figure for the page.
    pub fn figure(&mut self, figure: Figure) {
        self.figures.push(figure);
    }
}

impl core::fmt::Debug for dyn Progress + '_ {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("Progress")
    }
}

impl From<ScenarioError> for PaperError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}
