//! Some results of some papers, read, run and judged.

use std::panic::resume_unwind;
use std::thread;

use super::bench::{Bench, RunLog};
use super::error::{PaperError, Result};
use super::findings::{Figure, Findings};
use super::ns2::InNs2;
use super::published::{Assumption, Published, PublishedResult};
use super::record_file::RecordFile;
use super::recorded::Recorded;
use super::reproduction::Reproduction;
use super::row::JudgedRow;
use super::settings::Settings;
use super::verdict::Counts;
use super::{aiad, bbr3, daimd, exptcp, l4s_tests, newaimd, simd, starvation};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Progress, Queue, RunError};
use cwnd_run::probe::Probe;

/// Every paper, in the order in which they are listed.
pub const PAPERS: [&Reproduction; 8] = [
    &daimd::PAPER,
    &simd::PAPER,
    &exptcp::PAPER,
    &newaimd::PAPER,
    &aiad::PAPER,
    &bbr3::PAPER,
    &starvation::PAPER,
    &l4s_tests::PAPER,
];

/// Some results of some papers, read and ready to run.
#[derive(Debug)]
pub struct Selection {
    papers: Vec<(&'static Reproduction, Published, Vec<usize>)>,
}

/// The results of a paper that were run.
#[derive(Debug)]
pub struct PaperRun {
    /// The paper.
    pub published: Published,
    /// Its results, in the order of `published.toml`.
    pub results: Vec<ResultRun>,
}

/// A result that was run.
#[derive(Debug)]
pub struct ResultRun {
    /// Indexes the results of its paper.
    pub index: usize,
    /// Its rows.
    pub rows: Vec<JudgedRow>,
    /// Its curves.
    pub figures: Vec<Figure>,
    /// The runs it took.
    pub log: RunLog,
}

impl Selection {
    /// All papers, one, or one result of one.
    ///
    /// # Errors
    /// No paper or result has this name, or a file of a paper is wrong.
    pub fn of(paper: Option<&str>, result: Option<&str>) -> Result<Self> {
        let chosen = PAPERS.into_iter().filter(|reproduction| paper.is_none_or(|wanted| wanted == reproduction.id()));
        let chosen: Vec<&Reproduction> = chosen.collect();
        if let Some(name) = paper.filter(|_| chosen.is_empty()) {
            let known = PAPERS.iter().map(|reproduction| reproduction.id().to_string()).collect();
            return Err(PaperError::Unknown { what: "paper", name: name.to_string(), known });
        }
        let mut papers = Vec::new();
        for reproduction in chosen {
            let published = reproduction.published()?;
            let wanted = |index: &usize| result.is_none_or(|wanted| wanted == published.result[*index].id);
            let indices: Vec<usize> = (0..published.result.len()).filter(wanted).collect();
            if let Some(name) = result.filter(|_| indices.is_empty()) {
                let known = published.result.iter().map(|result| result.id.clone()).collect();
                return Err(PaperError::Unknown { what: "result", name: name.to_string(), known });
            }
            papers.push((reproduction, published, indices));
        }
        Ok(Self { papers })
    }

    /// The papers with the results that were chosen.
    pub fn papers(&self) -> impl Iterator<Item = (&Published, impl Iterator<Item = &PublishedResult>)> {
        self.papers
            .iter()
            .map(|(_, published, indices)| (published, indices.iter().map(|index| &published.result[*index])))
    }

    /// Checks that every replaced assumption is one of a chosen result.
    ///
    /// # Errors
    /// A key of `settings.assumptions` is given twice, is an assumption of no chosen result, or one that cannot be replaced; or its value is
    /// none that the assumption accepts.
    pub fn check(&self, settings: &Settings) -> Result {
        let all = || self.papers.iter().flat_map(|(_, published, _)| &published.assumption);
        for (nth, (key, value)) in settings.assumptions.iter().enumerate() {
            let wrong = |reason: String| PaperError::Assumption { key: key.clone(), value: value.clone(), reason };
            let known: Vec<&Assumption> = all().filter(|assumption| assumption.key == *key).collect();
            if known.is_empty() {
                let known = all().map(|assumption| assumption.key.clone()).collect();
                return Err(PaperError::Unknown { what: "assumption", name: key.clone(), known });
            }
            if settings.assumptions[..nth].iter().any(|(earlier, _)| earlier == key) {
                return Err(wrong(format!("`{key}` is given twice")));
            }
            let chosen: Vec<&str> =
                self.papers().flat_map(|(_, results)| results.map(|result| result.id.as_str())).collect();
            let depends = |assumption: &&Assumption| assumption.results.iter().any(|id| chosen.contains(&id.as_str()));
            if !known.iter().any(depends) {
                let results: Vec<&str> = known.iter().flat_map(|one| &one.results).map(String::as_str).collect();
                return Err(wrong(format!(
                    "no chosen result depends on `{key}`; it is assumed in {}",
                    results.join(", ")
                )));
            }
            if let Some(fixed) = known.iter().find(|assumption| assumption.fixed) {
                let reason = fixed.no_alternative.as_deref().unwrap_or("it has no other value");
                return Err(wrong(format!("`{key}` cannot be replaced: {reason}")));
            }
            if let Some(assumption) = known.iter().find(|assumption| !assumption.accepts(value)) {
                return Err(wrong(assumption.expected(settings.scale)));
            }
        }
        Ok(())
    }

    /// Runs every chosen result. What comes out does not depend on the number of threads.
    ///
    /// # Errors
    /// A scenario is wrong, the simulator refuses it, a cell cannot be stored, or the work was interrupted.
    pub fn run(self, settings: &Settings, cells: &Cells, progress: &dyn Progress) -> Result<Vec<PaperRun>> {
        self.check(settings)?;
        let all: Vec<(usize, usize)> = self
            .papers
            .iter()
            .enumerate()
            .flat_map(|(paper, (.., indices))| indices.iter().map(move |index| (paper, *index)))
            .collect();
        // Runners wait on their own threads for their runs, so that nearly all runs are known from the start.
        let ask = |queue: &Queue<'_, Probe>| {
            thread::scope(|scope| {
                let runner = |(paper, index): &(usize, usize)| {
                    let (reproduction, published, _) = &self.papers[*paper];
                    let index = *index;
                    scope.spawn(move || {
                        let found = result(reproduction, published, index, (settings, queue));
                        match &found {
                            Ok(_) => progress.completed(&format!(
                                "{} {}",
                                published.paper.id,
                                published.result[index].place()
                            )),
                            Err(_) => queue.close(),
                        }
                        found
                    })
                };
                let runners: Vec<_> = all.iter().map(runner).collect();
                runners.into_iter().map(|runner| runner.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
            })
        };
        let results: Vec<Result<ResultRun>> = Executor::new(cells, progress).remembering().serve(ask);
        let (mut runs, mut errors) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(run) => runs.push(run),
                Err(error) => errors.push(error),
            }
        }
        // The error of one runner interrupts the others.
        let interrupted = |error: &PaperError| matches!(error, PaperError::Run(RunError::Interrupted(_)));
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
    pub fn rows(&self) -> impl Iterator<Item = &JudgedRow> {
        self.results.iter().flat_map(|result| &result.rows)
    }

    /// How many of them have which basis and verdict.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.rows().map(|row| (row.basis, row.verdict)))
    }
}

fn result(
    reproduction: &Reproduction,
    published: &Published,
    index: usize,
    (settings, queue): (&Settings, &Queue<'_, Probe>),
) -> Result<ResultRun> {
    let result = &published.result[index];
    let id = &published.paper.id;
    let simulate = |jobs: Vec<Job<Probe>>| Ok(queue.ask(jobs)?);
    let bench = Bench::new((&reproduction.files, published, result), settings, &simulate);
    let mut findings = Findings::default();
    if let Some(runner) = reproduction.runner(&result.id) {
        runner(&bench, &mut findings)?;
    }
    let listed = |row: &str| result.rows.iter().filter(|listed| listed.id == row).count();
    let given = |row: &str| findings.values.iter().filter(|(given, _)| given == row).count();
    if let Some((row, _)) = findings.values.iter().find(|(row, _)| listed(row) != 1 || given(row) != 1) {
        return Err(PaperError::Unlisted { place: format!("{id} {}", result.id), row: row.clone() });
    }
    let in_ns2 = (*id == daimd::PAPER.id()).then(InNs2::recorded).transpose()?;
    let changed =
        settings.changed().map(|with| Ok::<_, PaperError>((with, Recorded::at(settings.scale)?))).transpose()?;
    let judged = result.rows.iter().map(|listed| {
        let ours = findings.values.iter().find(|(row, _)| *row == listed.id).map(|(_, ours)| ours);
        let ns2 = in_ns2.as_ref().and_then(|recorded| recorded.entry(&result.id, &listed.id)).map(str::to_string);
        let row = JudgedRow { ns2, ..JudgedRow::judged(id, result, listed, ours) };
        match &changed {
            None => row,
            Some((with, recorded)) => row.changed(listed, with, recorded.entry(id, &result.id, &listed.id)),
        }
    });
    let extra = findings.extra.iter().map(|(row, unit, value)| JudgedRow::extra(id, result, row, unit, value));
    let mut rows: Vec<JudgedRow> = judged.chain(extra).collect();
    for row in &mut rows {
        row.name = published.row_name(result, &row.row);
    }
    if rows.is_empty() {
        rows.push(JudgedRow::whole(id, result));
    }
    Ok(ResultRun { index, rows, figures: findings.figures, log: bench.into_log() })
}
