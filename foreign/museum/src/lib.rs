//! Published faults of transport stacks, each shown where it was and gone where it was mended.
//!
//! `faults.toml` is the table. A program with stacks [`measure`]s those that it has, and one of them makes the page of all lines
//! ([`page`]): no program can link every release.

mod page;
mod searches;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use cwnd::Spec;
use cwnd_conform::{Plan, Subject, Verdict};
use cwnd_run::cells::Cells;
use cwnd_run::run::run_each;
use cwnd_run::scenario::Scenario;
use cwnd_trace::FlowTrace;

pub use page::page;
use table::{Fault, Measure, Museum, Shown};

/// What came of a stack where a fault is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The issue.
    issue: String,
    /// The stack by its name.
    stack: String,
    /// The property of the table holds; none if that is not clear.
    kept: Option<bool>,
    /// The measured quantity, as the page shows it.
    value: String,
}

/// Looks for each fault of the table in those of `stacks` that the table names for it.
///
/// # Panics
/// The table names a check or a scenario that does not exist.
#[must_use]
pub fn measure(stacks: &[Spec]) -> Vec<Line> {
    cwnd_run::stacks::install(stacks.to_vec());
    let mut lines = Vec::new();
    for fault in Museum::read().faults {
        let named: BTreeSet<&String> = fault.broken.iter().chain(&fault.mended).collect();
        for spec in stacks.iter().filter(|spec| named.contains(&spec.label().to_string())) {
            let (kept, value) = fault.look(spec);
            lines.push(Line { issue: fault.issue.clone(), stack: spec.label().to_string(), kept, value });
        }
    }
    lines
}

impl Fault {
    /// Whether a stack keeps the property, and the measured values. A scenario and the check that finds the fault must agree.
    fn look(&self, spec: &Spec) -> (Option<bool>, String) {
        let (scenario, measure, most) = match &self.shown {
            Shown::Check { check } => return judge(spec, check),
            Shown::Scenario { scenario, measure, most } => (scenario, measure, most),
        };
        let (kept, shown) = largest(spec, scenario, *measure, *most);
        let Some(check) = &self.found else { return (kept, shown) };
        let (meets, value) = judge(spec, check);
        (kept.filter(|_| meets == kept), format!("{shown}; check {value}"))
    }
}

/// The verdict of a check over three seeds.
fn judge(spec: &Spec, check: &str) -> (Option<bool>, String) {
    let plan = Plan { only: vec![check.to_string()], ..Plan::default() };
    let result = plan.judge(&Subject::of(spec.label(), spec.clone()));
    let judged = result.checks.first().unwrap_or_else(|| panic!("there is no check `{check}`"));
    let kept = match judged.verdict {
        Verdict::Meets => Some(true),
        Verdict::Deviates => Some(false),
        Verdict::Unclear | Verdict::NotApplicable => None,
    };
    let value = judged.value.as_ref().map(|value| format!("{:.3}", value.mean));
    (kept, value.or_else(|| judged.note.clone()).unwrap_or_else(|| "no number".to_string()))
}

/// The largest value of a quantity over the runs of a scenario, and whether it is at most `most`.
fn largest(spec: &Spec, scenario: &str, measure: Measure, most: f64) -> (Option<bool>, String) {
    let text = table::scenario(scenario);
    let change = [format!("flow.0.algorithm=\"{}\"", spec.label())];
    let read = Scenario::read(scenario, text, &change).unwrap_or_else(|error| panic!("{error}"));
    let runs = run_each(vec![read], &()).expect("nothing interrupts it").pop().expect("one scenario");
    let runs = runs.unwrap_or_else(|error| panic!("{scenario}: {error}"));
    let values: Vec<f64> = runs.traces.iter().map(|trace| measure.of(&trace.flows[0])).collect();
    let broken = values.iter().filter(|value| **value > most).count();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let shown = match measure {
        Measure::Completion if largest.is_infinite() => "unfinished".to_string(),
        Measure::Completion => format!("{largest:.1} s"),
        Measure::Sent | Measure::Window => format!("{largest:.0} packets"),
    };
    (Some(broken == 0), format!("{shown}, {broken} of {} runs broken", values.len()))
}

impl Measure {
    fn of(self, flow: &FlowTrace) -> f64 {
        match self {
            Self::Completion => flow.completed.map_or(f64::INFINITY, |nanos| nanos as f64 * 1e-9),
            Self::Sent => flow.sent.last().map_or(f64::NAN, |packets| *packets as f64),
            Self::Window => flow.window.iter().copied().fold(f64::NAN, f64::max),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = match self.kept {
            Some(true) => "kept",
            Some(false) => "broken",
            None => "unclear",
        };
        write!(out, "{}\t{}\t{kept}\t{}", self.issue, self.stack, self.value)
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let [issue, stack, kept, value] = *text.split('\t').collect::<Vec<_>>() else {
            return Err(format!("`{text}` is no line of a measurement"));
        };
        let kept = match kept {
            "kept" => Some(true),
            "broken" => Some(false),
            "unclear" => None,
            other => return Err(format!("`{other}` is no outcome")),
        };
        Ok(Self { issue: issue.to_string(), stack: stack.to_string(), kept, value: value.to_string() })
    }
}

/// The program `museum` over the stacks of a program: without an argument it prints the [`Line`]s of `stacks`; with `page` it reads
/// those of all programs and prints the page, and the reasons for which it does not say what the table says. With `search` and a group it
/// searches for the faults of the group in the stacks, with `own` in the algorithms of the registry, too; with `searched` it reads the
/// lines of all searches and prints their table. A search starts this program with `worker`, which evaluates.
///
/// # Errors
/// A line cannot be read, or the table says otherwise.
pub fn main(stacks: &[Spec], arguments: &[String]) -> Result<String, String> {
    match arguments {
        [] => Ok(measure(stacks).iter().map(|line| format!("{line}\n")).collect()),
        [word] if word == "page" => {
            let read = std::io::read_to_string(std::io::stdin()).map_err(|error| error.to_string())?;
            page(&read.lines().map(str::parse).collect::<Result<Vec<Line>, String>>()?)
        }
        [word, group] if word == "search" => Ok(searches::search(stacks, group, false)),
        [word, group, own] if word == "search" && own == "own" => Ok(searches::search(stacks, group, true)),
        [word] if word == searches::WORKER => {
            cwnd_run::stacks::install(stacks.to_vec());
            cwnd_falsify::work(&Cells::default()).map_err(|error| error.to_string())?;
            Ok(String::new())
        }
        [word] if word == "searched" => {
            searches::table(&std::io::read_to_string(std::io::stdin()).map_err(|error| error.to_string())?)
        }
        _ => Err("the arguments are `page`, `search GROUP`, `search GROUP own`, `searched` or none".to_string()),
    }
}
