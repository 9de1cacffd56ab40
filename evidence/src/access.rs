//! Transfer times over access networks next to published bounds: a part of docs/access.md.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Reduce};
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;
use serde::Deserialize;

use crate::provenance::Provenance;
use crate::{Error, page, root};

/// `cases.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Those of the first flow.
    algorithms: Vec<String>,
    /// Seeds of each case.
    seeds: u32,
    case: Vec<Case>,
    experiment: Vec<Experiment>,
}

/// A row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// A file of `scenarios/access`, without its ending.
    scenario: String,
    /// What distinguishes the row from others of its scenario.
    #[serde(default)]
    words: String,
    /// `key=value`, as of `cwnd run --set`.
    #[serde(default)]
    set: Vec<String>,
    /// The algorithm of the second flow.
    against: Option<String>,
    /// Published, by the algorithm of the first flow: seconds within which each of 100 runs ended.
    bounds: BTreeMap<String, f64>,
}

/// A case with one thing changed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    scenario: String,
    /// As in a case.
    #[serde(default)]
    set: Vec<String>,
    against: Option<String>,
    algorithm: String,
    /// `key=value` of the change.
    change: Vec<String>,
    /// The change in words.
    words: String,
}

/// Seconds from the start of the run until the first flow has arrived whole; none if it has not by the end.
#[derive(Clone, Copy)]
struct Finish;

/// The times of all seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    /// Seconds; infinite if a run did not end.
    largest: f64,
    mean: f64,
}

/// Runs all cases and experiments, and rewrites the part of the page.
pub(crate) fn validate(root: &Path) -> Result<(), Error> {
    // Before the runs, during which the sources may change.
    let sources = Provenance::of_record(root)?;
    let list = List::read()?;
    let mut text = list.table()?;
    text.push_str(&list.experiments()?);
    let _ = writeln!(text, "\nWritten by `cargo xtask evidence -- access` at {sources}.");
    page::put_into(root, "docs/access.md", "c4", &text)
}

impl List {
    fn read() -> Result<Self, Error> {
        let path = root().join("evidence/access/cases.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|source| Error::Cases { path, source })
    }

    fn table(&self) -> Result<String, Error> {
        let heads: String = self.algorithms.iter().map(|name| format!(" `{name}` |")).collect();
        let mut text =
            format!("| scenario | bounds |{heads}\n| --- | --- |{}\n", " --- |".repeat(self.algorithms.len()));
        let (mut judged, mut outside) = (0, 0);
        for case in &self.case {
            let (mut words, against) = (case.words.clone(), case.against.as_deref());
            if let Some(other) = against {
                let _ = write!(words, "{}against `{other}`", if words.is_empty() { "" } else { ", " });
            }
            let words = if words.is_empty() { String::new() } else { format!(", {words}") };
            let bounds = case.bounds.iter().map(|(name, bound)| format!("{} {bound}", shown(name)));
            let bounds: Vec<String> = bounds.collect();
            let _ = write!(text, "| {}{words} | {} |", case.scenario, bounds.join(", "));
            for algorithm in &self.algorithms {
                let times = times(&case.scenario, &case.set, algorithm, against, self.seeds)?;
                let bound = case.bounds.get(algorithm);
                judged += usize::from(bound.is_some());
                let late = bound.is_some_and(|bound| times.largest > *bound);
                outside += usize::from(late);
                let _ = write!(text, " {} |", times.text(late));
            }
            println!("{}{words}", case.scenario);
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "\n{judged} cells have a bound of their own algorithm; {outside} of them are later, and bold."
        );
        Ok(text)
    }

    fn experiments(&self) -> Result<String, Error> {
        let mut text =
            "\n| scenario | algorithm | change | before | after |\n| --- | --- | --- | --- | --- |\n".to_string();
        for one in &self.experiment {
            let run = |set: &[String]| times(&one.scenario, set, &one.algorithm, one.against.as_deref(), self.seeds);
            let before = run(&one.set)?;
            let after = run(&[one.set.as_slice(), &one.change].concat())?;
            let Experiment { scenario, algorithm, words, .. } = one;
            let [before, after] = [before, after].map(|times| times.text(false));
            let _ = writeln!(text, "| {scenario} | `{algorithm}` | {words} | {before} | {after} |");
        }
        Ok(text)
    }
}

impl Times {
    /// None without runs.
    fn over(finished: &[Option<f64>]) -> Option<Self> {
        let seconds: Vec<f64> = finished.iter().map(|end| end.unwrap_or(f64::INFINITY)).collect();
        let largest = seconds.iter().copied().reduce(f64::max)?;
        Some(Self { largest, mean: seconds.iter().sum::<f64>() / seconds.len() as f64 })
    }

    /// The largest, and the mean in brackets.
    fn text(self, bold: bool) -> String {
        let Self { largest, mean } = self;
        match (largest.is_finite(), bold) {
            (false, _) => "never".into(),
            (true, true) => format!("**{largest:.2}** ({mean:.2})"),
            (true, false) => format!("{largest:.2} ({mean:.2})"),
        }
    }
}

impl Reduce for Finish {
    type Reduction = Option<f64>;

    fn name(&self) -> &'static str {
        "finish"
    }

    fn reduce(&self, _scenario: &Scenario, trace: Trace) -> Option<f64> {
        let flow = trace.flows.first()?;
        flow.completed.map(|after| (flow.start + flow.late + after) as f64 / 1e9)
    }
}

/// Runs all seeds of a scenario with an algorithm, and another one against it.
fn times(name: &str, set: &[String], algorithm: &str, against: Option<&str>, seeds: u32) -> Result<Times, Error> {
    let path = root().join("scenarios/access").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    let mut overrides = vec![format!("flow.0.algorithm={algorithm}"), format!("seeds={seeds}")];
    overrides.extend(against.map(|other| format!("flow.1.algorithm={other}")));
    overrides.extend_from_slice(set);
    let scenario = Scenario::read(&path.display().to_string(), &text, &overrides)
        .map_err(|error| Error::Scenario(Box::new(error)))?;
    let scenario = Arc::new(scenario);
    let job = |seed| Job { scenario: Arc::clone(&scenario), seed, keep: Finish };
    let finished = Executor::new(&Cells::default(), &()).run(scenario.seeds().map(job).collect())?;
    Ok(Times::over(&finished).expect("a scenario has at least one seed"))
}

/// The name of an algorithm in a list of bounds: C4 is none of this project.
fn shown(name: &str) -> String {
    if name == "c4" { "C4".into() } else { format!("`{name}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_time_counts_and_a_run_without_end_is_later_than_all() {
        let over = |finished: &[Option<f64>]| Times::over(finished).map(|times| times.text(false));
        assert_eq!(over(&[Some(4.0), Some(5.0)]).as_deref(), Some("5.00 (4.50)"));
        assert_eq!(over(&[Some(4.0), None]).as_deref(), Some("never"));
        assert_eq!(over(&[]), None);
    }

    /// The time counts from the start of the run: 1.5 RTT, 20 ms of the last packet's way, and 6850 packets of 0.6 ms at least.
    #[test]
    fn a_transfer_ends_after_its_handshake_and_its_packets() {
        let least = 0.12 + 0.04 + (10e6_f64 / 1460.0).ceil() * 1500.0 * 8.0 / 20e6;
        let found = times("c4-alone", &[], "cubic", None, 1).unwrap();
        assert!((least..5.0).contains(&found.largest), "{found:?}, at least {least}");
    }

    /// Every scenario of C4 is in the list, and every one of the list is there. The satellite starts from a saved window, which only window
    /// algorithms take: docs/access.md has it by itself.
    #[test]
    fn the_list_has_all_scenarios_of_c4() {
        let list = List::read().unwrap();
        let mut listed: Vec<String> = list.case.iter().map(|case| format!("{}.toml", case.scenario)).collect();
        listed.sort();
        listed.dedup();
        let entries = std::fs::read_dir(root().join("scenarios/access")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> =
            names.filter(|name| name.starts_with("c4-") && name != "c4-satellite.toml").collect();
        files.sort();
        assert_eq!(listed, files);
    }
}
