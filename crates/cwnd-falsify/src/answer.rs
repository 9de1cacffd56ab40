//! Answers: a counterexample as a scenario file with its property in front, which is judged again later.

use std::fmt::Write as _;

use cwnd::Spec;
use cwnd_run::address::Linked;
use cwnd_run::scenario::{FlowGroup, Scenario, ScenarioError};
use cwnd_text::{counted, decimal, one_line};
use thiserror::Error;

use crate::evaluate::Subject;
use crate::evaluated::{Evaluated, worst};
use crate::observed::COMPETITOR;
use crate::property::{Promise, PropertyError};
use crate::search::says;
use crate::shrink::{Shrunk, Without, seeds_of};
use crate::space::Space;

/// A counterexample.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The parts that it needs, in words.
    pub needs: String,
    /// The scenario file.
    pub toml: String,
    /// The fragment of an address that opens it, with the digest of its first seed. None where the page has no such sender.
    pub link: Option<String>,
    /// The lines of its head, for people.
    pub head: Vec<String>,
}

/// Why a file cannot be judged again.
#[derive(Debug, Error)]
pub enum RegressError {
    /// It names no property.
    #[error("it names no property: expected a line `{HEAD}PROPERTY` above the scenario, as `cwnd falsify` writes it")]
    NoProperty,
    /// It names two.
    #[error("line {0} names a second property: expected one, so that each has a file")]
    SecondProperty(usize),
    /// The property is unknown.
    #[error("line {line}: {error}")]
    Property {
        /// The line, from 1.
        line: usize,
        /// Why.
        error: PropertyError,
    },
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl Answer {
    /// The answer of a shrunk path, which `origin` describes. `digest` is that of the run with its first seed.
    #[must_use]
    pub fn new(space: &Space, shrunk: &Shrunk, seeds: u32, digest: Option<u64>, origin: &str) -> Self {
        let needs: Vec<&str> = shrunk.case.parts().map(crate::space::Part::name).collect();
        let needs = if needs.is_empty() { "no impairment".to_string() } else { needs.join(", ") };
        let mut head = vec![
            format!(
                "{} breaks it with {}; {} with the mildest",
                space.algorithm(),
                counted(seeds_of(seeds) as usize, "seed"),
                number(&shrunk.evaluated)
            ),
            format!("needs: {needs}"),
        ];
        for Without { part, evaluated, broken } in &shrunk.without {
            let still = match broken {
                0 => String::new(),
                broken => format!("; {broken} of {} break it", counted(seeds_of(seeds) as usize, "seed")),
            };
            head.push(format!("without {} ({}): {}{still}", part.name(), part.title(), number(evaluated)));
        }
        head.push(origin.to_string());
        let title = toml::Value::String(format!("{}: {}", space.algorithm(), space.promise()));
        let body = format!("title = {title}\n{}", space.scenario(&shrunk.case, seeds));
        // No text can name a property of the caller's own, so that the file is not judged again.
        let first = if space.promise().is_own() { OWN_HEAD } else { HEAD };
        let mut toml = format!("{first}{}\n", one_line(&space.promise().to_string()));
        for line in &head {
            let _ = writeln!(toml, "# {}", one_line(line));
        }
        toml.push_str(&body);
        let of_registry = !space.subject().is_outside() && Spec::parse(space.algorithm()).is_ok();
        let link = of_registry.then(|| Linked { toml: body, digest, ..Linked::default() }.fragment());
        Self { needs, toml, link, head }
    }
}

/// The property and the scenario of a file that [`Answer`] made.
///
/// # Errors
/// It names no property, or its scenario is wrong.
pub fn read(name: &str, text: &str) -> Result<(Promise, Scenario), RegressError> {
    // A scenario may begin with a byte order mark, too.
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    // Later lines may be in strings.
    let comments = (1..).zip(lines).take_while(|(_, text)| text.starts_with('#') || text.trim().is_empty());
    let mut named = comments.filter_map(|(line, text)| Some((line, text.strip_prefix(HEAD)?)));
    let (line, property) = named.next().ok_or(RegressError::NoProperty)?;
    if let Some((line, _)) = named.next() {
        return Err(RegressError::SecondProperty(line));
    }
    let promise = property.trim().parse().map_err(|error| RegressError::Property { line, error })?;
    Ok((promise, Scenario::read(name, text, &[])?))
}

/// Judges a scenario again, by its worst seed. A property that says nothing about the algorithm of a subject says nothing about the runs.
///
/// # Errors
/// The work was interrupted.
pub fn regress(subject: &Subject<'_>, scenario: &Scenario) -> Result<Evaluated, cwnd_run::execute::Interrupted> {
    let flows = scenario.document().flow.iter();
    let mut subjects =
        flows.take_while(|group| !group.name.as_deref().is_some_and(|name| name.starts_with(COMPETITOR)));
    let refused = |group: &FlowGroup| says(subject.promise, group.algorithm.value()).err();
    if let Some(reason) = subjects.find_map(refused) {
        return Ok(Evaluated::silent(&reason));
    }
    let judged = subject.judge_all(std::slice::from_ref(scenario))?;
    Ok(judged.first().map(|seeds| worst(seeds)).unwrap_or_default())
}

/// The verdicts on files as JUnit's XML: a case for each, a failure where the property is broken or nothing can be said.
#[must_use]
pub fn junit(judged: &[(String, Promise, Evaluated)]) -> String {
    let count = |of: &str| judged.iter().filter(|(.., evaluated)| verdict(evaluated) == of).count();
    let (failures, errors) = (count(BROKEN), count(UNJUDGED));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cwnd falsify\">\n  <testsuite name=\"counterexamples\" \
         tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">\n",
        judged.len()
    );
    for (name, promise, evaluated) in judged {
        let _ = write!(xml, "    <testcase classname=\"{}\" name=\"{}\"", escaped(&promise.to_string()), escaped(name));
        let number = escaped(&number(evaluated));
        let _ = match verdict(evaluated) {
            KEPT => writeln!(xml, "/>"),
            BROKEN => writeln!(xml, "><failure message=\"{BROKEN}\">{number}</failure></testcase>"),
            other => writeln!(xml, "><error message=\"{other}\">{number}</error></testcase>"),
        };
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// Whether an outcome shows that the property is kept.
#[must_use]
pub fn kept(evaluated: &Evaluated) -> bool {
    evaluated.margin.is_some_and(|margin| margin >= 0.0)
}

/// The verdict on a file: `kept`, `broken`, or `not judged` where its runs fail or say nothing.
#[must_use]
pub fn verdict(evaluated: &Evaluated) -> &'static str {
    match evaluated.margin {
        Some(margin) if margin >= 0.0 => KEPT,
        Some(_) => BROKEN,
        None => UNJUDGED,
    }
}

/// An outcome in words: the number and its margin, or why there is none.
#[must_use]
pub fn number(evaluated: &Evaluated) -> String {
    match evaluated {
        Evaluated { error: Some(error), .. } => format!("failed: {error}"),
        Evaluated { value: Some(value), margin: Some(margin), .. } => {
            format!("{}, margin {margin:.3}", decimal(*value, 4))
        }
        Evaluated { silence: Some(silence), .. } => format!("the run says nothing: {silence}"),
        Evaluated { .. } => "the run says nothing".to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const KEPT: &str = "kept";
const BROKEN: &str = "broken";
const UNJUDGED: &str = "not judged";
const HEAD: &str = "# cwnd falsify: ";
const OWN_HEAD: &str = "# cwnd.falsify: ";
