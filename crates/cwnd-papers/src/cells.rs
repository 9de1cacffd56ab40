//! The scenarios that results run, without a run.

use std::cell::RefCell;
use std::sync::Arc;

use cwnd_run::execute::{Interrupted, Job, RunError};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

use super::bench::Bench;
use super::error::Result;
use super::findings::Findings;
use super::published::{Published, PublishedResult};
use super::reproduction::Reproduction;
use super::selection::PAPERS;
use super::settings::{Scale, Settings};

/// The scenarios of a result.
#[derive(Clone, Debug)]
pub struct ResultCells {
    /// The result with its published rows.
    pub result: PublishedResult,
    /// The files of its scenarios with their comments: the experiments, and where to look. Results share files, so the comments come without the
    /// places of the paper that they begin with.
    pub notes: Vec<(String, String)>,
    /// The scenarios that its runner asks for, each once, in the order of asking; at most [`MOST`].
    pub scenarios: Vec<Arc<Scenario>>,
}

/// The most scenarios of a result: a runner that asks for more ends there.
pub const MOST: usize = 100;

/// Each paper with its results that run scenarios, at the published lengths. Nothing is run: runs that a runner asks for have no values, and
/// it ends where it cannot go on without them.
///
/// # Errors
/// A file of a paper is wrong, or a runner fails before it asks for runs.
pub fn cells() -> Result<Vec<(Published, Vec<ResultCells>)>> {
    PAPERS.iter().map(|reproduction| of_paper(reproduction)).collect()
}

fn of_paper(reproduction: &Reproduction) -> Result<(Published, Vec<ResultCells>)> {
    let published = reproduction.published()?;
    let simulated = published.result.iter().filter(|result| !result.scenarios.is_empty());
    let results = simulated.map(|result| of_result(reproduction, &published, result)).collect::<Result<_>>()?;
    Ok((published, results))
}

fn of_result(reproduction: &Reproduction, published: &Published, result: &PublishedResult) -> Result<ResultCells> {
    let settings = Settings { scale: Scale::Full, assumptions: Vec::new(), variant: None };
    let asked = RefCell::new(Vec::<Arc<Scenario>>::new());
    let end = |jobs: Vec<Job<Probe>>| -> Result<Vec<Reduction>> {
        let mut asked = asked.borrow_mut();
        let kept = vec![Reduction::default(); jobs.len()];
        for Job { scenario, .. } in jobs {
            if asked.len() == MOST {
                return Err(RunError::from(Interrupted).into());
            }
            if asked.iter().all(|known| known.runs() != scenario.runs()) {
                asked.push(scenario);
            }
        }
        Ok(kept)
    };
    if let Some(runner) = reproduction.runner(&result.id) {
        let bench = Bench::new((&reproduction.files, published, result), &settings, &end);
        match runner(&bench, &mut Findings::default()) {
            Err(error) if asked.borrow().is_empty() => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    let files = result.scenarios.iter().filter_map(|name| reproduction.scenario(name));
    let notes = files.map(|(file, text)| (file, comment(text))).collect();
    Ok(ResultCells { result: result.clone(), notes, scenarios: asked.into_inner() })
}

/// The comment that a file begins with, as one paragraph, without the figures or tables of the experiment.
fn comment(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.starts_with("#:"));
    let text = lines.map_while(|line| line.strip_prefix('#')).map(str::trim).collect::<Vec<_>>().join(" ");
    match text.split_once(": ") {
        Some((places, rest)) if PLACES.iter().any(|place| places.starts_with(place)) => rest.to_string(),
        _ => text,
    }
}

/// How the places of a paper begin.
const PLACES: [&str; 5] = ["Environments ", "Fig", "Section", "Table", "\""];

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn a_comment_of_a_shared_file_names_no_other_result() {
        let of = |text: &str| comment(&format!("#:schema x\n# {text}\n# Watch it.\n\n# Not this.\n"));
        assert_eq!(of("Fig. 5: a single flow: alone."), "a single flow: alone. Watch it.");
        assert_eq!(of("Section III and Fig. 3: rate control."), "rate control. Watch it.");
        assert_eq!(of("\"Promises\", its abstract: two flows."), "two flows. Watch it.");
        assert_eq!(of("One flow. Is it: slow?"), "One flow. Is it: slow? Watch it.");
        for (published, results) in super::cells().unwrap_or_else(|error| panic!("{error}")) {
            for (file, note) in results.iter().flat_map(|cells| &cells.notes) {
                let begins = note.split_whitespace().next().unwrap_or_default();
                let is_place = ["Fig.", "Figs.", "Table", "Tables", "Section", "Sections"].contains(&begins);
                assert!(!is_place && !note.contains(" the same with "), "{} {file}: {note}", published.paper.id);
            }
        }
    }
}
