//! The five papers: what they printed, what comes out here, and whether that is the same.
//!
//! `papers/ID/published.toml` has every table, figure and checkable claim of a paper as rows with a tolerance fixed beforehand
//! ([`Published`]), and the gaps in its description as assumptions. Scenarios lie beside it. A [`Runner`] computes
//! the values of a result at a [`Bench`]; [`Selection::run`] joins them to the listed rows and judges them.
//!
//! To add a result: list its rows in `published.toml`, put its scenario beside it, write a function from [`Bench`] to
//! [`Findings`], and name it in the `runners` of its paper.

mod aiad;
mod bench;
mod daimd;
mod error;
mod exptcp;
mod files;
mod newaimd;
mod ours;
mod published;
mod recorded;
mod simd;
#[cfg(test)]
mod tests;
mod tolerance;
mod verdict;
mod work;
mod worst;

use std::panic::resume_unwind;
use std::thread;

use cwnd_sim::SetupError;

pub use bench::{Bench, Figure, Findings, Line, Progress, Ran, Scale, Settings};
pub use error::PaperError;
pub use files::{Files, Runner};
pub use ours::{Ours, Reading};
pub use published::{
    Assumption, Basis, Confidence, Kind, Paper, Published, PublishedResult, PublishedRow, PublishedValue,
};
pub use recorded::{Difference, Entry, Recorded};
pub use tolerance::Tolerance;
pub use verdict::{Counts, Row, Value, Verdict};

use self::work::{Closing, Work};
use cwnd_run::cells::Cells;
use cwnd_run::scenario::Scenario;

/// Every paper, in the order in which they are listed.
pub const PAPERS: [&Files; 5] = [&daimd::FILES, &simd::FILES, &exptcp::FILES, &newaimd::FILES, &aiad::FILES];

/// Some results of some papers, read and ready to run.
#[derive(Debug)]
pub struct Selection {
    papers: Vec<(&'static Files, Published, Vec<usize>)>,
}

/// What came of the results of a paper.
#[derive(Debug)]
pub struct PaperRun {
    /// The paper.
    pub published: Published,
    /// Its results, in the order of `published.toml`.
    pub results: Vec<ResultRun>,
}

/// What came of a result.
#[derive(Debug)]
pub struct ResultRun {
    /// Indexes the results of its paper.
    pub index: usize,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its curves.
    pub figures: Vec<Figure>,
    /// What it took.
    pub ran: Ran,
}

impl Selection {
    /// All papers, one, or one result of one.
    ///
    /// # Errors
    /// Nothing is called so, or a file of a paper is wrong.
    pub fn of(paper: Option<&str>, result: Option<&str>) -> Result<Self, PaperError> {
        let chosen: Vec<&Files> =
            PAPERS.into_iter().filter(|files| paper.is_none_or(|wanted| wanted == files.id)).collect();
        if let Some(name) = paper.filter(|_| chosen.is_empty()) {
            let known = PAPERS.iter().map(|files| files.id.to_string()).collect();
            return Err(PaperError::Unknown { what: "paper", name: name.to_string(), known });
        }
        let mut papers = Vec::new();
        for files in chosen {
            let published = Published::read(&files.path("published.toml"), files.published)?;
            let wanted = |index: &usize| result.is_none_or(|wanted| wanted == published.result[*index].id);
            let indices: Vec<usize> = (0..published.result.len()).filter(wanted).collect();
            if let Some(name) = result.filter(|_| indices.is_empty()) {
                let known = published.result.iter().map(|result| result.id.clone()).collect();
                return Err(PaperError::Unknown { what: "result", name: name.to_string(), known });
            }
            papers.push((files, published, indices));
        }
        Ok(Self { papers })
    }

    /// The papers with the results that were chosen.
    pub fn papers(&self) -> impl Iterator<Item = (&Published, impl Iterator<Item = &PublishedResult>)> {
        self.papers
            .iter()
            .map(|(_, published, indices)| (published, indices.iter().map(|index| &published.result[*index])))
    }

    /// Checks that every replaced assumption is one of a chosen paper.
    ///
    /// # Errors
    /// One is not.
    pub fn check(&self, settings: &Settings) -> Result<(), PaperError> {
        let known = || self.papers.iter().flat_map(|(_, published, _)| &published.assumption);
        match settings.assumptions.iter().find(|(key, _)| known().all(|assumption| assumption.key != *key)) {
            Some((key, _)) => Err(PaperError::Unknown {
                what: "assumption",
                name: key.clone(),
                known: known().map(|assumption| assumption.key.clone()).collect(),
            }),
            None => Ok(()),
        }
    }

    /// Runs every chosen result. What comes out does not depend on the number of threads.
    ///
    /// # Errors
    /// A scenario is wrong, the simulator refuses it, a cell cannot be stored, or the work was interrupted.
    pub fn run(self, settings: &Settings, cells: &Cells, progress: &dyn Progress) -> Result<Vec<PaperRun>, PaperError> {
        self.check(settings)?;
        let all: Vec<(usize, usize)> = self
            .papers
            .iter()
            .enumerate()
            .flat_map(|(paper, (.., indices))| indices.iter().map(move |index| (paper, *index)))
            .collect();
        let work = Work::new(cells, progress);
        let results: Vec<Result<ResultRun, PaperError>> = thread::scope(|scope| {
            let _closing = Closing(&work);
            (0..rayon::current_num_threads()).for_each(|_| drop(scope.spawn(|| work.work())));
            let runner = |(paper, index): &(usize, usize)| {
                let (files, published, _) = &self.papers[*paper];
                let (index, settings, work) = (*index, settings, &work);
                scope.spawn(move || {
                    let found = result(files, published, index, (settings, work));
                    if found.is_err() {
                        work.close();
                    }
                    found
                })
            };
            let runners: Vec<_> = all.iter().map(runner).collect();
            runners.into_iter().map(|runner| runner.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let (mut runs, mut errors) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(run) => runs.push(run),
                Err(error) => errors.push(error),
            }
        }
        // What one runner met, the others take for an interruption.
        let interrupted = |error: &PaperError| matches!(error, PaperError::Setup(SetupError::Interrupted));
        if let Some(error) = errors.into_iter().min_by_key(interrupted) {
            return Err(error);
        }
        let mut results = runs.into_iter();
        let runs = self.papers.into_iter().map(|(_, published, indices)| {
            let results = results.by_ref().take(indices.len()).collect();
            PaperRun { published, results }
        });
        Ok(runs.collect())
    }
}

impl PaperRun {
    /// Its rows, result by result.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.results.iter().flat_map(|result| &result.rows)
    }

    /// How many of them have which verdict.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.rows().map(|row| row.verdict))
    }
}

fn result(
    files: &'static Files,
    published: &Published,
    index: usize,
    (settings, work): (&Settings, &Work<'_>),
) -> Result<ResultRun, PaperError> {
    let result = &published.result[index];
    let id = &published.paper.id;
    let ask = |runs: &[(&Scenario, u64)], probe| work.ask(runs, probe);
    let bench = Bench::new((files, published, result), settings, &ask);
    let findings = match files.runner(&result.id) {
        Some(runner) => runner(&bench)?,
        None => Findings::default(),
    };
    let listed = |row: &str| result.rows.iter().filter(|listed| listed.id == row).count();
    let given = |row: &str| findings.values.iter().filter(|(given, _)| given == row).count();
    if let Some((row, _)) = findings.values.iter().find(|(row, _)| listed(row) != 1 || given(row) != 1) {
        return Err(PaperError::Stray { place: format!("{id} {}", result.id), row: row.clone() });
    }
    let judged = result.rows.iter().map(|listed| {
        let ours = findings.values.iter().find(|(row, _)| *row == listed.id).map(|(_, ours)| ours);
        Row::judged(id, result, listed, ours)
    });
    let beside = findings.beside.iter().map(|(row, unit, ours)| Row::beside(id, result, row, unit, ours));
    let mut rows: Vec<Row> = judged.chain(beside).collect();
    if rows.is_empty() {
        rows.push(Row::whole(id, result));
    }
    Ok(ResultRun { index, rows, figures: findings.figures, ran: bench.into_ran() })
}
