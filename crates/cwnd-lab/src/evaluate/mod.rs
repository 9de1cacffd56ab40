//! Evaluates an algorithm by the criteria of a document, or on the paths of access networks.
//!
//! RFC 9743 asks for evidence and gives its criteria in words, without thresholds. The results are therefore numbers: those of the
//! algorithm, and of Reno and CUBIC put in its place in the same cells. Criteria that the simulator cannot answer are listed as not
//! covered. [`plan`] makes the cells, which run as those of sweeps do, through the store.

mod access;
mod measure;
mod rfc9743;

use std::collections::BTreeSet;
use std::sync::Arc;

use cwnd::{Span, Spec};
use schemars::JsonSchema;
use serde::Serialize;

use cwnd_run::VERSION;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Cause, Executor, Interrupted, Job, Outcome, Progress, causes};
use cwnd_run::measure::Estimate;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Document, FlowGroup, Scenario, ScenarioError, Source, Written};

use cwnd_text::counted;

use measure::Measure;

/// The algorithms that an evaluated one is compared with.
pub const REFERENCES: [&str; 2] = ["reno", "cubic"];

/// The paths, opponents and measures of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Specifying New Congestion Control Algorithms (BCP 133).
    Rfc9743,
    /// Wi-Fi, LTE, satellites, DSL, cable and a policer: the scenarios of `scenarios/access`.
    Access,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Rfc9743, Self::Access];

    /// Its name in commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc9743 => "rfc9743",
            Self::Access => "access",
        }
    }

    /// Its question, after the name of an algorithm.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Rfc9743 => "by the criteria of RFC 9743",
            Self::Access => "on access networks",
        }
    }

    /// The profile called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// The length and the number of runs of each cell, and the number of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationScale {
    /// A few settings at reduced length.
    pub quick: bool,
    /// Independent runs of each cell.
    pub seeds: u32,
}

/// An evaluation: `cwnd evaluate --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Evaluation {
    /// Always `simulated`: the kind of the numbers.
    pub kind: &'static str,
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The algorithm as it was written.
    pub algorithm: String,
    /// The paths and opponents of the evaluation: `rfc9743` or `access`.
    pub profile: &'static str,
    /// Whether settings and lengths were reduced.
    pub quick: bool,
    /// Independent runs of each cell.
    pub seeds: u32,
    /// The length of each run, seconds; null where each path has its own.
    pub duration_s: Option<f64>,
    /// Measuring starts after this time, seconds; null where each path has its own.
    pub warmup_s: Option<f64>,
    /// The number of runs, each counted once for each number that needs it.
    pub cells: u64,
    /// Failed cells; no number includes them.
    pub failed_cells: u64,
    /// The errors of failed cells, each once: those of most cells first.
    pub failures: Vec<Cause>,
    /// Questions that the algorithm cannot answer, with the reasons.
    pub left_out: Vec<LeftOut>,
    /// The parameters of the algorithm that none of the runs depends on.
    pub warnings: Vec<String>,
    /// The headings, in the order of the document.
    pub sections: Vec<Section>,
}

/// A question that was left out.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The number of its heading in the document.
    pub section: &'static str,
    /// The flows and the other traffic of the question.
    pub traffic: String,
    /// Why the algorithm cannot do it.
    pub reason: String,
}

/// A heading.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Section {
    /// Its number in the document.
    pub number: &'static str,
    /// Its title there.
    pub title: &'static str,
    /// The criterion in the sense in which it is measured here, or why it is not covered.
    pub reading: &'static str,
    /// Whether there are numbers.
    pub covered: bool,
    /// The numbers.
    pub rows: Vec<EvaluationRow>,
}

/// A number of the algorithm, next to those of the references in its place.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct EvaluationRow {
    /// The rate of the bottleneck.
    pub rate: String,
    /// The round-trip time without queueing.
    pub rtt: String,
    /// The queue of the bottleneck.
    pub queue: String,
    /// The flows and other traffic.
    pub traffic: String,
    /// The measure.
    pub measure: &'static str,
    /// Its unit; 1 for plain numbers, and for shares, of 1.
    pub unit: &'static str,
    /// Its form in tables for people.
    #[serde(skip)]
    pub shown: Shown,
    /// The first of the runs that the value of the algorithm comes from.
    #[serde(skip)]
    pub scenario: Option<Arc<Scenario>>,
    /// The digest of its first seed, unless that failed.
    #[serde(skip)]
    pub digest: Option<u64>,
    /// The value of the algorithm.
    pub algorithm: Option<Estimate>,
    /// The value with Reno in its place.
    pub reno: Option<Estimate>,
    /// The value with CUBIC in its place.
    pub cubic: Option<Estimate>,
}

/// The form of a measure in a table for people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// The factor by which the value is multiplied.
    pub scale: f64,
    /// The unit after scaling; empty for a plain number.
    pub unit: &'static str,
}

impl Evaluation {
    /// The question of its profile, after the name of an algorithm.
    #[must_use]
    pub fn question(&self) -> &'static str {
        Profile::find(self.profile).map_or("", Profile::question)
    }

    /// The number of runs of each cell, and their times where all have them in common.
    #[must_use]
    pub fn runs(&self) -> String {
        let seeds = counted(self.seeds as usize, "seed");
        match self.duration_s.zip(self.warmup_s) {
            Some((duration, warmup)) => format!("{seeds} of {duration} s, warm-up {warmup} s"),
            None => format!("{seeds}, each path with its own times"),
        }
    }
}

impl EvaluationRow {
    /// The measure with the unit in which tables have it.
    #[must_use]
    pub fn heading(&self) -> String {
        if self.shown.unit.is_empty() {
            self.measure.to_string()
        } else {
            format!("{}, {}", self.measure, self.shown.unit)
        }
    }
}

/// The runs of an evaluation.
#[derive(Clone, Debug)]
pub struct Plan {
    algorithm: Written<Spec>,
    profile: Profile,
    scale: EvaluationScale,
    parts: Vec<Part>,
    left_out: Vec<LeftOut>,
    /// Each is run with every seed.
    runs: Vec<(Arc<Scenario>, Probe)>,
}

/// The flows that share the path in a run, and the results that are kept of it.
struct Traffic {
    flows: Vec<FlowGroup>,
    probe: Probe,
}

/// A heading with its questions.
#[derive(Clone, Debug)]
struct Part {
    number: &'static str,
    title: &'static str,
    reading: &'static str,
    asked: Vec<Asked>,
}

/// A question with its runs for each contender.
#[derive(Clone, Debug)]
struct Asked {
    path: Bottleneck,
    traffic: String,
    measures: Vec<Measure>,
    runs: [Vec<usize>; 3],
}

/// The bottleneck.
#[derive(Clone, Debug, Default)]
struct Bottleneck {
    rate: String,
    rtt: String,
    queue: String,
    /// Further settings, `key=value`.
    also: Vec<String>,
}

/// The plan of evaluating `algorithm` on paths with ordinary routers: an algorithm that needs routers of its own (XCP) gets none. Questions
/// that it cannot answer at all, such as transfers of a size where nothing is sent twice, are left out.
///
/// # Errors
/// A scenario of the plan is not valid with the algorithm, Reno or CUBIC in its place.
pub fn plan(algorithm: &Written<Spec>, profile: Profile, scale: EvaluationScale) -> Result<Plan, ScenarioError> {
    let algorithm = algorithm.clone();
    let mut plan = Plan { algorithm, profile, scale, parts: Vec::new(), left_out: Vec::new(), runs: Vec::new() };
    match profile {
        Profile::Rfc9743 => rfc9743::sections(&mut plan)?,
        Profile::Access => access::sections(&mut plan)?,
    }
    Ok(plan)
}

impl Plan {
    /// The number of cells, each counted as often as it is needed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.len() as u64 * u64::from(self.scale.seeds)
    }

    /// Whether there is nothing to run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs the plan on all cores.
    ///
    /// # Errors
    /// `progress` ended the work. Cells computed by then are in the store.
    pub fn run(&self, cells: &Cells, progress: &dyn Progress) -> Result<Evaluation, Interrupted> {
        self.run_by(|jobs| Executor::new(cells, progress).run_each(jobs))
    }

    /// Lets `runner` run it. Returns the results of each job or the reason why there are none, in the order of the jobs.
    ///
    /// # Errors
    /// `runner` fails, whose error is passed on.
    pub fn run_by<E>(
        &self,
        runner: impl FnOnce(Vec<Job<Probe>>) -> Result<Vec<Outcome<Reduction>>, E>,
    ) -> Result<Evaluation, E> {
        let jobs = self.runs.iter().flat_map(|(scenario, probe)| {
            scenario.seeds().map(|seed| Job { scenario: Arc::clone(scenario), seed, keep: *probe })
        });
        let outcomes = runner(jobs.collect())?;
        let sections = self.parts.iter().map(|part| Section {
            number: part.number,
            title: part.title,
            reading: part.reading,
            covered: !part.asked.is_empty(),
            rows: part.asked.iter().flat_map(|asked| self.rows(asked, &outcomes)).collect(),
        });
        let common = (self.profile == Profile::Rfc9743).then(|| self.scale.times());
        Ok(Evaluation {
            kind: "simulated",
            version: VERSION,
            algorithm: self.algorithm.text().to_string(),
            profile: self.profile.name(),
            quick: self.scale.quick,
            seeds: self.scale.seeds,
            duration_s: common.map(|(duration, _)| duration.as_secs_f64()),
            warmup_s: common.map(|(_, warmup)| warmup.as_secs_f64()),
            cells: self.len(),
            left_out: self.left_out.clone(),
            warnings: self.warnings(),
            failures: causes(outcomes.iter().filter_map(|outcome| outcome.as_ref().err())),
            failed_cells: outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64,
            sections: sections.collect(),
        })
    }

    /// The parameters of the algorithm that change nothing in any of its runs: some paths have marks, and others do not.
    fn warnings(&self) -> Vec<String> {
        let asked = self.parts.iter().flat_map(|part| &part.asked).flat_map(|asked| &asked.runs[0]);
        let named = |run: &usize| {
            let scenario = self.runs[*run].0.as_ref().clone().naming(|_| None);
            let flows = &scenario.document().flow;
            let own = |group: &FlowGroup| group.algorithm.text() == self.algorithm.text();
            let of_own = |key: &str| {
                let index =
                    key.strip_prefix("flow.").and_then(|rest| rest.strip_suffix(".algorithm")?.parse::<usize>().ok());
                index.and_then(|index| flows.get(index)).is_some_and(own)
            };
            let said = scenario.unused().iter().filter(|one| of_own(&one.key)).map(ToString::to_string);
            // In some runs the references are alone.
            flows.iter().any(own).then(|| said.collect::<BTreeSet<_>>())
        };
        let everywhere = asked.filter_map(named).reduce(|all, own| &all & &own);
        everywhere.unwrap_or_default().into_iter().collect()
    }

    fn rows(&self, asked: &Asked, outcomes: &[Outcome<Reduction>]) -> Vec<EvaluationRow> {
        let seeds = self.scale.seeds as usize;
        let estimate = |measure: &Measure, runs: &[usize]| {
            let values: Vec<f64> = (0..seeds)
                .filter_map(|seed| {
                    let runs: Option<Vec<&Reduction>> =
                        runs.iter().map(|run| outcomes[run * seeds + seed].as_ref().ok()).collect();
                    measure.of(&runs?)
                })
                .collect();
            let groups =
                runs.first().map(|run| self.runs[*run].0.document().flow.iter().map(|group| group.count as usize));
            let flows = groups.map_or(0, Iterator::sum);
            Estimate::over(&values, measure.domain(flows))
        };
        let row = |measure: &Measure| {
            let [algorithm, reno, cubic] = asked.runs.each_ref().map(|runs| estimate(measure, runs));
            EvaluationRow {
                rate: asked.path.rate.clone(),
                rtt: asked.path.rtt.clone(),
                queue: asked.path.queue.clone(),
                traffic: asked.traffic.clone(),
                measure: measure.name(),
                unit: measure.unit(),
                shown: measure.shown(),
                scenario: asked.runs[0].first().map(|run| Arc::clone(&self.runs[*run].0)),
                digest: asked.runs[0].first().and_then(|run| outcomes[run * seeds].as_ref().ok()?.digest()),
                algorithm,
                reno,
                cubic,
            }
        };
        asked.measures.iter().map(row).collect()
    }

    fn section(&mut self, number: &'static str, title: &'static str, reading: &'static str) {
        self.parts.push(Part { number, title, reading, asked: Vec::new() });
    }

    /// Asks in the last section: `runs` says what runs it takes for a contender.
    fn ask(
        &mut self,
        path: Bottleneck,
        traffic: impl Into<String>,
        measures: &[Measure],
        runs: impl Fn(&Written<Spec>) -> Vec<Traffic>,
    ) -> Result<(), ScenarioError> {
        let on = path.clone();
        self.ask_of(path, traffic.into(), measures, |plan, contender| {
            let runs = runs(contender).into_iter();
            runs.map(|Traffic { flows, probe }| Ok((plan.scenario(&on, flows)?, probe))).collect()
        })
    }

    /// Asks in the last section: `runs` makes the scenarios that it takes for a contender.
    fn ask_of(
        &mut self,
        path: Bottleneck,
        traffic: String,
        measures: &[Measure],
        runs: impl Fn(&Self, &Written<Spec>) -> Result<Vec<(Scenario, Probe)>, ScenarioError>,
    ) -> Result<(), ScenarioError> {
        let contenders = [self.algorithm.clone(), Written::literal(REFERENCES[0]), Written::literal(REFERENCES[1])];
        let scenarios = |contender| -> Result<Vec<(Arc<Scenario>, Probe)>, ScenarioError> {
            let runs = runs(self, contender)?.into_iter();
            Ok(runs.map(|(scenario, probe)| (Arc::new(scenario), probe)).collect())
        };
        let [own, reno, cubic] = contenders.each_ref().map(scenarios);
        let references = [reno?, cubic?];
        let own = match own {
            Ok(own) => own,
            Err(error) => {
                let section = self.parts.last().expect("a section was begun").number;
                let reason =
                    error.at_argument().map_or_else(|| error.fault.to_string(), |(key, why)| format!("`{key}` {why}"));
                self.left_out.push(LeftOut { section, traffic, reason });
                return Ok(());
            }
        };
        let mut asked = [const { Vec::new() }; 3];
        for (scenarios, asked) in std::iter::once(own).chain(references).zip(&mut asked) {
            asked.extend((0..scenarios.len()).map(|nth| self.runs.len() + nth));
            self.runs.extend(scenarios);
        }
        let asked = Asked { path, traffic, measures: measures.to_vec(), runs: asked };
        self.parts.last_mut().expect("a section was begun").asked.push(asked);
        Ok(())
    }

    fn scenario(&self, path: &Bottleneck, flows: Vec<FlowGroup>) -> Result<Scenario, ScenarioError> {
        let (duration, warmup) = self.scale.times();
        let mut items = vec![
            format!("dumbbell.rate={}", path.rate),
            format!("dumbbell.rtt={}", path.rtt),
            format!("dumbbell.queue={}", path.queue),
        ];
        items.extend(path.also.iter().cloned());
        let base = Document::of(&Source::read("evaluation", "", &items)?)?;
        let seeds = self.scale.seeds;
        Scenario::check(Document { duration: duration.into(), warmup: warmup.into(), seeds, flow: flows, ..base })
    }
}

impl EvaluationScale {
    /// The default extent: `seeds` runs of each cell; without a number 5, or 2 if `quick`.
    #[must_use]
    pub fn new(quick: bool, seeds: Option<u32>) -> Self {
        Self { quick, seeds: seeds.unwrap_or(if quick { 2 } else { 5 }) }
    }

    /// The length of a run, and of its warm-up.
    fn times(self) -> (Span, Span) {
        if self.quick { (Span::from_secs(20), Span::from_secs(5)) } else { (Span::from_secs(60), Span::from_secs(20)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(algorithm: &str) -> (Vec<LeftOut>, u64) {
        let scale = EvaluationScale { quick: true, seeds: 1 };
        let plan = plan(&Written::literal(algorithm), Profile::Rfc9743, scale)
            .unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        let cells = plan.len();
        (plan.left_out, cells)
    }

    #[test]
    fn parameters_that_no_run_depends_on_are_named() {
        let warnings = |algorithm: &str| {
            let scale = EvaluationScale { quick: true, seeds: 1 };
            plan(&Written::literal(algorithm), Profile::Rfc9743, scale).expect("valid").warnings()
        };
        let [idle] = &warnings("udt:lambda=1/2")[..] else { panic!("{:?}", warnings("udt:lambda=1/2")) };
        assert!(
            idle.starts_with("udt:lambda=1/2: `lambda=1/2` has no effect: the other parameters leave it out"),
            "{idle}"
        );
        for algorithm in ["udt", "aimd:b=1/8"] {
            assert_eq!(warnings(algorithm), [""; 0]);
        }
    }

    /// Algorithms that send nothing twice complete no transfers; everything else is run.
    #[test]
    fn what_an_algorithm_cannot_do_is_left_out() {
        let (nothing, all) = left_out("simd");
        assert_eq!(nothing, []);
        for algorithm in ["tfrc", "tear", "lda"] {
            let (left_out, cells) = left_out(algorithm);
            let [short] = &left_out[..] else { panic!("{algorithm}: {left_out:?}") };
            assert_eq!((short.section, short.traffic.as_str()), ("5.1.5", "1 long and 10 short flows"));
            assert!(short.reason.starts_with("`size` cannot be 70p for"), "{}", short.reason);
            // One run each of the algorithm, Reno and CUBIC.
            assert_eq!(all - cells, 3);
        }
    }

    /// A file of its directory that the profile does not have is a scenario of the tests of C4, or listed here with the reason.
    #[test]
    fn the_profile_has_the_paths_of_its_directory() {
        // The table is the other one, and a profile reads no traces; graphs of links without one bottleneck that a row could name; Wi-Fi has a
        // row already; a video is not a path.
        let apart = ["leo-table", "cellular-pair", "wifi-microwave", "modem-behind-router", "wifi-channel", "video"];
        let directory =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/access")).expect("it is there");
        for file in directory {
            let path = file.expect("it can be read").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("in ASCII").to_string();
            let is_path = path.extension().is_some_and(|extension| extension == "toml");
            let expected = is_path && !name.starts_with("c4-") && !apart.contains(&name.as_str());
            assert_eq!(access::PATHS.iter().any(|(known, ..)| *known == name), expected, "{name}");
        }
        let plan = plan(&Written::literal("bbr3"), Profile::Access, EvaluationScale { quick: true, seeds: 1 });
        assert_eq!(plan.expect("valid").len(), 3 * access::PATHS.len() as u64);
    }
}
