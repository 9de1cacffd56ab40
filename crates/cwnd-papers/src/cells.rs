//! The scenarios that results run, without a run.

use std::cell::RefCell;
use std::sync::Arc;

use cwnd_run::execute::{Interrupted, Job, RunError};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

use super::bench::Bench;
use super::error::{PaperError, Result};
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
    /// The scenarios that its runner asks for first, each once.
    pub scenarios: Vec<Arc<Scenario>>,
}

/// Each paper with its results that run scenarios, at the published lengths. Nothing is run: a runner ends where it asks for its first runs.
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
        for Job { scenario, .. } in jobs {
            if asked.iter().all(|known| known.runs() != scenario.runs()) {
                asked.push(scenario);
            }
        }
        Err(RunError::from(Interrupted).into())
    };
    if let Some(runner) = reproduction.runner(&result.id) {
        let bench = Bench::new((&reproduction.files, published, result), &settings, &end);
        match runner(&bench, &mut Findings::default()) {
            Ok(()) | Err(PaperError::Run(RunError::Interrupted(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ResultCells { result: result.clone(), scenarios: asked.into_inner() })
}
