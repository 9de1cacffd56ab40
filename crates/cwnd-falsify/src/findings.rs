//! The findings of a search: its answers, and the document that the command prints and Python reads.

use std::collections::BTreeSet;

use cwnd_run::execute::Interrupted;
use cwnd_text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, number};
use crate::evaluate::Subject;
use crate::evaluated::Evaluated;
use crate::search::{Search, Tried};
use crate::shrink::{Shrunk, is_broken, seeds_of, shrink};

/// The outcome of a search.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Findings {
    /// The algorithm, as scenarios write it.
    pub algorithm: String,
    /// The property with its bound.
    pub property: String,
    /// The profile of the paths.
    pub profile: &'static str,
    /// How paths were proposed.
    pub search: &'static str,
    /// The seed of the search.
    pub seed: u64,
    /// The number of evaluations.
    pub evaluations: usize,
    /// The evaluations that broke the property.
    pub broken: usize,
    /// The evaluations that failed.
    pub failed: usize,
    /// The number of seeds, from 1 on, with which a counterexample breaks the property.
    pub seeds: u32,
    /// The path with the smallest margin; none if no evaluation says anything.
    pub closest: Option<Finding>,
    /// The counterexamples, the simplest first. Each needs other parts.
    pub counterexamples: Vec<Counterexample>,
    /// The first evaluations that failed, at most ten.
    pub failures: Vec<Finding>,
    /// Why the first evaluation that says nothing does so; none if there is none.
    pub silence: Option<String>,
}

/// A path with its outcome.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Finding {
    /// The evaluation, counted from 1.
    pub evaluation: usize,
    #[serde(flatten)]
    outcome: Outcome,
    /// The scenario, as TOML.
    pub scenario: String,
}

/// A shrunk path that breaks the property with each seed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Counterexample {
    /// The evaluation that found it, counted from 1.
    pub evaluation: usize,
    /// The parts that it needs.
    pub needs: Vec<&'static str>,
    #[serde(flatten)]
    outcome: Outcome,
    /// The outcome without each of its parts.
    pub without: Vec<Without>,
    /// The file: a scenario as TOML, with the property in its first line.
    pub scenario: String,
    /// The fragment of an address that opens it in the page, with the digest of its first seed; none where the page has no such sender.
    pub link: Option<String>,
}

/// The outcome without a part.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Without {
    /// The name of the part.
    pub part: &'static str,
    #[serde(flatten)]
    outcome: Outcome,
    /// The number of seeds that break the property without it.
    pub broken: usize,
}

/// A number of the property.
#[derive(Clone, Debug, JsonSchema, Serialize)]
struct Outcome {
    /// None where the run says nothing.
    value: Option<f64>,
    /// Its distance to the bound in units of the bound; negative if the property is broken.
    margin: Option<f64>,
    /// Why the run failed.
    error: Option<String>,
    /// Why the run says nothing.
    silence: Option<String>,
}

/// A counterexample with its history.
#[derive(Clone, Debug)]
pub struct Found {
    /// The path as it was proposed.
    pub tried: Tried,
    /// The path without what the failure does not need.
    pub shrunk: Shrunk,
    /// The file.
    pub answer: Answer,
}

/// Shrinks the paths that break the property, the simplest first, until there are `most` counterexamples that need different parts. Each breaks
/// the property with [`seeds_of`] `seeds`, and its file has `seeds` of them. `each` sees every one of them.
///
/// # Errors
/// The work was interrupted.
pub fn counterexamples(
    search: &Search<'_>,
    subject: &Subject<'_>,
    seeds: u32,
    most: u32,
    each: &mut dyn FnMut(&Found),
) -> Result<Vec<Found>, Interrupted> {
    let space = search.space();
    let most = most as usize;
    let (mut found, mut tries): (Vec<Found>, usize) = (Vec::new(), 0);
    for tried in search.broken().into_iter().take(CHECKED_PER_ANSWER * most) {
        if found.len() == most || tries == TRIED_PER_ANSWER * most {
            break;
        }
        let Some(shrunk) = shrink(space, subject, &tried.case, seeds)? else { continue };
        tries += 1;
        let digest = match space.read(&shrunk.case, seeds) {
            Ok(scenario) => subject.digest(&scenario)?,
            Err(_) => None,
        };
        let answer = Answer::new(space, &shrunk, seeds, digest, &origin(search, &tried));
        if found.iter().all(|other| other.answer.needs != answer.needs) {
            let one = Found { tried, shrunk, answer };
            each(&one);
            found.push(one);
        }
    }
    Ok(found)
}

/// Whether [`counterexamples`] would have an answer. `luck` remembers the paths that other seeds keep, by their index.
///
/// # Errors
/// The work was interrupted.
pub fn has_counterexample(
    search: &Search<'_>,
    subject: &Subject<'_>,
    seeds: u32,
    luck: &mut BTreeSet<usize>,
) -> Result<bool, Interrupted> {
    for tried in search.broken().into_iter().take(CHECKED_PER_ANSWER) {
        if luck.contains(&tried.index) {
            continue;
        }
        if is_broken(search.space(), subject, &tried.case, seeds)? {
            return Ok(true);
        }
        luck.insert(tried.index);
    }
    Ok(false)
}

/// The search that found a path: the command, unless the property has no text.
fn origin(search: &Search<'_>, tried: &Tried) -> String {
    let space = search.space();
    let (algorithm, promise) = (space.algorithm(), space.promise());
    let [profile, strategy] = [space.profile().name(), search.strategy().name()];
    let (nth, seed) = (tried.index + 1, search.seed());
    if promise.is_own() {
        return format!("found as evaluation {nth} on paths of {profile}, search {strategy}, seed {seed}");
    }
    let (algorithm, promise) = (quoted(algorithm), promise.to_string());
    format!(
        "found as evaluation {nth} of: cwnd falsify {algorithm} --property {promise:?} --profile {profile} --search {strategy} --seed {seed}"
    )
}

impl Findings {
    /// The findings of a search with these counterexamples.
    #[must_use]
    pub fn of(search: &Search<'_>, seeds: u32, found: &[Found]) -> Self {
        let space = search.space();
        let finding = |tried: &Tried| Finding {
            evaluation: tried.index + 1,
            outcome: Outcome::of(&tried.evaluated),
            scenario: space.scenario(&tried.case, 1),
        };
        let counterexample = |found: &Found| Counterexample {
            evaluation: found.tried.index + 1,
            needs: found.shrunk.case.parts().map(crate::space::Part::name).collect(),
            outcome: Outcome::of(&found.shrunk.evaluated),
            without: (found.shrunk.without.iter())
                .map(|one| Without { part: one.part.name(), outcome: Outcome::of(&one.evaluated), broken: one.broken })
                .collect(),
            scenario: found.answer.toml.clone(),
            link: found.answer.link.clone(),
        };
        Self {
            algorithm: space.algorithm().to_string(),
            property: space.promise().to_string(),
            profile: space.profile().name(),
            search: search.strategy().name(),
            seed: search.seed(),
            evaluations: search.outcomes().len(),
            broken: search.outcomes().iter().filter(|outcome| outcome.is_broken()).count(),
            failed: search.failures().len(),
            seeds: seeds_of(seeds),
            closest: search.best().map(finding),
            counterexamples: found.iter().map(counterexample).collect(),
            failures: search.failures().iter().take(MOST_FAILURES).map(finding).collect(),
            silence: search.outcomes().iter().find_map(|outcome| outcome.silence.clone()),
        }
    }

    /// The findings in a few lines.
    #[must_use]
    pub fn text(&self) -> String {
        let head = format!("{}, {}, {}", self.algorithm, self.property, self.profile);
        let evaluations = counted(self.evaluations, "evaluation");
        let mut text = match (self.counterexamples.len(), &self.closest) {
            (0, None) if self.evaluations == 0 => format!("{head}: no evaluation was made\n"),
            (0, None) => {
                let reason = self.silence.as_deref().map_or_else(String::new, |silence| format!(": {silence}"));
                format!("{head}: nothing within {evaluations}, none of which says anything{reason}\n")
            }
            (0, Some(best)) => {
                let lucky = match self.broken {
                    0 => String::new(),
                    broken => format!("; {broken} broke it, but none with {}", counted(self.seeds as usize, "seed")),
                };
                format!("{head}: nothing within {evaluations}{lucky}\nclosest: {}\n", best.outcome.words())
            }
            (count, _) => {
                let broken = self.broken;
                format!("{head}: {broken} of {evaluations} break it: {}\n", counted(count, "counterexample"))
            }
        };
        if let Some(first) = self.failures.first() {
            let error = first.outcome.error.as_deref().unwrap_or_default();
            text.push_str(&format!("{} failed, the first with: {error}\n", counted(self.failed, "evaluation")));
        }
        text
    }
}

impl Finding {
    /// The outcome in words: the number and its margin, or why there is none.
    #[must_use]
    pub fn words(&self) -> String {
        self.outcome.words()
    }
}

impl Outcome {
    fn of(evaluated: &Evaluated) -> Self {
        let Evaluated { value, margin, error, silence } = evaluated.clone();
        Self { value, margin, error, silence }
    }

    fn words(&self) -> String {
        let Self { value, margin, error, silence } = self.clone();
        number(&Evaluated { value, margin, error, silence })
    }
}

/// A word of a command line, in quotes where a shell would take it apart.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ":=.,-_/+".contains(letter);
    if word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Paths that are run with all seeds at most, for each answer: luck takes few runs to see.
const CHECKED_PER_ANSWER: usize = 16;
/// Paths that are shrunk at most, for each answer.
const TRIED_PER_ANSWER: usize = 4;
/// Failures that the document has.
const MOST_FAILURES: usize = 10;
