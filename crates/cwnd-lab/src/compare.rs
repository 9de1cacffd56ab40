//! Compares algorithms: each alone with equal flows on the same path, and each against one other.

mod default;
mod versus;

use cwnd::registry::Basis;
use cwnd::{Span, Spec};

use crate::stationary::Stationarity;
use cwnd_run::execute::{Interrupted, Progress};
use cwnd_run::measure::{Better, Domain, Estimate, Estimates, Measure, Until, paired};
use cwnd_run::run::{FailedRun, Runs, run_each, run_until};
use cwnd_run::scenario::{Document, Ecn, FlowGroup, Scenario, ScenarioError, Written};
use cwnd_text::{counted, decimal};
use thiserror::Error;

pub use default::{DEFAULT, DEFAULT_OPPONENT, default_base};
pub use versus::{Versus, group_shares, group_sizes, recovery};

/// A comparison to run.
#[derive(Clone, Debug)]
pub struct Comparison {
    alone: Vec<Scenario>,
    versus: Vec<Scenario>,
}

/// The outcome.
#[derive(Clone, Debug)]
pub struct Compared {
    /// One row per algorithm, in the order requested.
    pub rows: Vec<ComparedAlgorithm>,
    /// The first requested algorithm, from which [differences](Self::difference) are taken.
    pub reference: String,
    /// The failures, in the order of the runs. An algorithm whose flows alone failed has no row; one that failed against the opponent has a
    /// row without [`versus`](ComparedAlgorithm::versus).
    pub failures: Vec<FailedComparison>,
    /// The precision required of the goodput of each row; none where the number of seeds was given.
    pub until: Option<Until>,
}

/// Runs of a comparison that failed.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{algorithm}{}: {failed}", .opponent.as_ref().map_or(String::new(), |opponent| format!(" against {opponent}")))]
pub struct FailedComparison {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// The algorithm it runs against; none where all flows are its own.
    pub opponent: Option<String>,
    /// The first failure among the seeds.
    pub failed: FailedRun,
}

/// One algorithm.
#[derive(Clone, Debug)]
pub struct ComparedAlgorithm {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Its runs, all flows its own.
    pub alone: Runs,
    /// The measures of these runs.
    pub estimates: Estimates,
    /// Seconds from the last rise of the bottleneck's rate until 90 % of it is used for 200 ms. None where the rate never rises, or rises
    /// again and again. Runs in which the bottleneck is never used to 90 % are left out.
    pub recovery_time_s: Option<Estimate>,
    /// Whether they were measured in a stationary window.
    pub stationarity: Stationarity,
    /// Its runs together with its opponent.
    pub versus: Option<Versus>,
}

impl Comparison {
    /// Sets each of `algorithms` on the path of `base` with `flows` flows, and, if there is an opponent, with as many of its flows.
    /// With `ecn` their packets can be marked, except those whose senders do not [answer](cwnd::registry::Entry::answers_marks) marks:
    /// UDT, TFRC and BBR of version 1 among them. Where it is `l4s`, algorithms that do not follow the share of marks have `latch`: RFC 9331
    /// section 4 reserves ECT(1) for scalable senders.
    ///
    /// # Errors
    /// A value of the path is out of range, or there are no flows or more than a scenario may have.
    pub fn new(
        base: &Document,
        algorithms: &[Written<Spec>],
        opponent: Option<&Written<Spec>>,
        flows: u32,
        ecn: Option<&Ecn>,
    ) -> Result<Self, ScenarioError> {
        let with = |groups| Scenario::check(Document { flow: groups, ..base.clone() });
        let group = |algorithm: &Written<Spec>| {
            let scalable = algorithm.value().entry().basis == Basis::MarkedShare;
            let classic = |echo: &Ecn| echo.value().is_scalable() && !scalable;
            let ecn = ecn.map(|echo| if classic(echo) { echo.value().classic().into() } else { echo.clone() });
            FlowGroup { ecn, ..FlowGroup::new(algorithm.clone(), flows) }
        };
        let alone = algorithms.iter().map(|algorithm| with(vec![group(algorithm)])).collect::<Result<_, _>>()?;
        let against = |opponent| algorithms.iter().map(move |algorithm| with(vec![group(algorithm), group(opponent)]));
        let versus = opponent.into_iter().flat_map(against).collect::<Result<_, _>>()?;
        Ok(Self { alone, versus })
    }

    /// The comparison with a function that returns the text in front of the value of an unused setting, from the last name in its key.
    #[must_use]
    pub fn naming(self, naming: impl Fn(&str) -> Option<String>) -> Self {
        let name = |scenarios: Vec<Scenario>| scenarios.into_iter().map(|one| one.naming(&naming)).collect();
        Self { alone: name(self.alone), versus: name(self.versus) }
    }

    /// The comparison with a function that returns how the unused setting of a dotted key was [typed](Scenario::typed).
    #[must_use]
    pub fn typed(self, typed: impl Fn(&str) -> Option<String>) -> Self {
        let name = |scenarios: Vec<Scenario>| scenarios.into_iter().map(|one| one.typed(&typed)).collect();
        Self { alone: name(self.alone), versus: name(self.versus) }
    }

    /// Every scenario that will be run.
    pub fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        self.alone.iter().chain(&self.versus)
    }

    /// Runs everything. Failures are in [`Compared::failures`], and the other runs continue.
    ///
    /// # Errors
    /// `progress` ended the work.
    pub fn run(self, progress: &dyn Progress) -> Result<Compared, Interrupted> {
        self.run_by(|scenarios| run_each(scenarios, progress))
    }

    /// Runs everything, and adds seeds until the goodput of every row is known precisely enough, or there are `most`. Failures are in
    /// [`Compared::failures`], and the other runs continue.
    ///
    /// # Errors
    /// `progress` ended the work.
    pub fn run_until(self, until: Until, most: u32, progress: &dyn Progress) -> Result<Compared, Interrupted> {
        let compared = self.run_by(|scenarios| run_until(scenarios, until, most, |more| run_each(more, progress)))?;
        Ok(Compared { until: Some(until), ..compared })
    }

    /// The time after which the initial transients of all scenarios are over, found in runs by `runner`; none where one of them is not over
    /// by half of its duration. Failed runs are ignored.
    ///
    /// # Errors
    /// `runner` fails, whose error is passed on.
    pub fn warmup<E>(
        &self,
        runner: impl FnOnce(Vec<Scenario>) -> Result<Vec<Result<Runs, FailedRun>>, E>,
    ) -> Result<Option<Span>, E> {
        let runs = runner(self.scenarios().cloned().collect())?;
        let times: Option<Vec<Span>> = runs.iter().flatten().map(Runs::settled).collect();
        Ok(times.map(|times| times.into_iter().max().unwrap_or(Span::ZERO)))
    }

    /// Lets `runner` run everything. Returns one result per scenario, in their order.
    ///
    /// # Errors
    /// `runner` fails, whose error is passed on.
    pub fn run_by<E>(
        self,
        runner: impl FnOnce(Vec<Scenario>) -> Result<Vec<Result<Runs, FailedRun>>, E>,
    ) -> Result<Compared, E> {
        let algorithms = self.alone.len();
        let named = |scenario: &Scenario| {
            let mut groups = scenario.document().flow.iter().map(|group| group.algorithm.text().to_string());
            (groups.next().unwrap_or_default(), groups.next())
        };
        let names: Vec<_> = self.scenarios().map(named).collect();
        let reference = names.first().map(|(algorithm, _)| algorithm.clone()).unwrap_or_default();
        let outcomes = runner(self.alone.into_iter().chain(self.versus).collect())?;
        let mut failures = Vec::new();
        let found = outcomes.into_iter().zip(names).map(|(outcome, (algorithm, opponent))| {
            let failure = |failed| failures.push(FailedComparison { algorithm, opponent, failed });
            outcome.map_err(failure).ok()
        });
        let mut alone: Vec<Option<Runs>> = found.collect();
        let versus = alone.split_off(algorithms).into_iter().chain(std::iter::repeat_with(|| None));
        let rows =
            alone.into_iter().zip(versus).filter_map(|(alone, versus)| Some(ComparedAlgorithm::of(alone?, versus)));
        Ok(Compared { rows: rows.collect(), reference, failures, until: None })
    }
}

impl ComparedAlgorithm {
    fn of(alone: Runs, versus: Option<Runs>) -> Self {
        let recoveries = alone.traces.iter().filter_map(|trace| recovery(&alone.scenario, trace));
        Self {
            algorithm: alone.scenario.document().flow[0].algorithm.text().to_string(),
            estimates: alone.estimates(),
            recovery_time_s: Estimate::over(&recoveries.collect::<Vec<_>>(), Domain::POSITIVE),
            stationarity: Stationarity::of(&alone),
            alone,
            versus: versus.map(Versus::of),
        }
    }
}

impl Compared {
    /// The row that is best by a measure: its shown interval or range overlaps no other's. None unless every row with a value was measured
    /// in a stationary window over at least [`FEWEST_FOR_BEST`] seeds: a value that may not last can be neither the best nor beaten.
    #[must_use]
    pub fn best(&self, measure: &Measure) -> Option<usize> {
        self.best_of(measure.better?, |row| measure.of(&row.estimates))
    }

    /// The row that is best, by the rules of [`best`](Self::best), in [`ComparedAlgorithm::recovery_time_s`].
    #[must_use]
    pub fn best_recovery(&self) -> Option<usize> {
        self.best_of(Better::Lower, |row| row.recovery_time_s)
    }

    fn best_of(&self, better: Better, of: impl Fn(&ComparedAlgorithm) -> Option<Estimate>) -> Option<usize> {
        let rows = self.rows.iter().enumerate();
        let values: Vec<(usize, Estimate)> = rows.filter_map(|(index, row)| Some((index, of(row)?))).collect();
        let comparable = |(index, value): &(usize, Estimate)| {
            value.n >= FEWEST_FOR_BEST && self.rows[*index].stationarity.stationary
        };
        if !values.iter().all(comparable) {
            return None;
        }
        let ahead = |a: f64, b: f64| if better == Better::Higher { a > b } else { a < b };
        let (index, best) = values.iter().copied().reduce(|a, b| if ahead(b.1.mean, a.1.mean) { b } else { a })?;
        let alone = values.iter().all(|(other, value)| *other == index || !value.overlaps(&best));
        (alone && values.len() > 1).then_some(index)
    }

    /// The difference of a row from the [reference](Self::reference) by a measure: the mean over seeds of the difference in each. None for
    /// the reference itself, and where it failed.
    #[must_use]
    pub fn difference(&self, row: usize, measure: &Measure) -> Option<Estimate> {
        let each = |row: &ComparedAlgorithm| -> Vec<Option<f64>> {
            row.alone.summaries.iter().map(|run| measure.of(run)).collect()
        };
        let first = self.rows.first().filter(|first| first.algorithm == self.reference)?;
        let other = self.rows.get(row).filter(|_| row > 0)?;
        paired(&each(other), &each(first))
    }

    /// Warnings to read before the numbers.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let runs = self.rows.iter().flat_map(|row| {
            let versus = row
                .versus
                .as_ref()
                .map(|versus| (format!("{} against {}", row.algorithm, versus.opponent), &versus.runs));
            std::iter::once((row.algorithm.clone(), &row.alone)).chain(versus)
        });
        let runs: Vec<(String, Vec<String>)> = runs.map(|(what, runs)| (what, runs.warnings())).collect();
        let mut warnings: Vec<(&str, Vec<&str>)> = Vec::new();
        for (what, own) in &runs {
            for warning in own {
                match warnings.iter_mut().find(|(known, _)| known == warning) {
                    Some((_, of)) if of.contains(&what.as_str()) => {}
                    Some((_, of)) => of.push(what),
                    None => warnings.push((warning, vec![what])),
                }
            }
        }
        let shown = |(warning, of): (&str, Vec<&str>)| match of.len() {
            // An algorithm that is named by its own text.
            1 if warning.strip_prefix(of[0]).is_some_and(|rest| rest.starts_with(": ")) => warning.to_string(),
            1 => format!("{}: {warning}", of[0]),
            count if count == runs.len() => warning.to_string(),
            _ => format!("{}: {warning}", of.join(", ")),
        };
        warnings.into_iter().map(shown).chain(self.uncertain()).collect()
    }

    /// The rows of which the goodput is not known as well as it was to be, when there were no more seeds to add.
    fn uncertain(&self) -> impl Iterator<Item = String> + '_ {
        let missed = |row: &ComparedAlgorithm| {
            let (until, goodput) = (self.until?, row.estimates.goodput_bps?);
            let half = goodput.ci95.filter(|_| !until.met(&goodput))?;
            let share = decimal(100.0 * half / goodput.mean.abs(), 2);
            let algorithm = &row.algorithm;
            Some(format!(
                "{algorithm}: `{until}` was not reached with {}: its goodput is known to {share} %",
                counted(goodput.n, "seed")
            ))
        };
        self.rows.iter().filter_map(missed)
    }
}

/// The minimum number of seeds for calling a row the best. Of two algorithms that do not differ, one has all of three values below all of
/// the other's in one of twenty draws, and all of two in one of six.
pub const FEWEST_FOR_BEST: usize = 3;
