//! Papers: printed and reproduced values.

use std::path::Path;

use cwnd_papers::{JudgedRow, PaperError, PaperRun, Scale, Selection, Settings};
use cwnd_run::cells::Cells;
use cwnd_run::files::to_json;
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::Failure;
use crate::work;

/// The papers and their results.
#[pyfunction]
pub(crate) fn papers() -> Result<String, Failure> {
    let selection = Selection::of(None, None)?;
    let papers = selection.papers().map(|(published, results)| {
        let paper = &published.paper;
        let results: Vec<_> =
            results.map(|result| json!({ "name": result.id, "title": result.title, "source": result.source })).collect();
        json!({ "name": paper.id, "title": paper.title, "authors": paper.authors, "venue": paper.venue, "results": results })
    });
    Ok(to_json(&papers.collect::<Vec<_>>()))
}

/// Runs a paper, or one of its results, as `of` names them; gives the rows of `cwnd paper --json`.
#[pyfunction]
pub(crate) fn paper(
    py: Python<'_>,
    of: (Option<&str>, Option<&str>),
    full: bool,
    assumptions: Vec<(String, String)>,
    store: Option<&str>,
    memory: Option<&str>,
) -> Result<String, Failure> {
    let memory = work::memory(memory)?;
    let (paper, result) = of;
    let selection = Selection::of(paper, result)?;
    let settings = Settings { scale: if full { Scale::Full } else { Scale::Quick }, assumptions, variant: None };
    selection.check(&settings)?;
    let cells = store.map_or_else(Cells::default, |directory| Cells::stored(Path::new(directory)));
    // Its computations on paper do not look whether to go on.
    let runs = work::left_behind(py, memory, move |progress| Ok(selection.run(&settings, &cells, progress)?))?;
    Ok(to_json(&runs.iter().flat_map(PaperRun::rows).collect::<Vec<&JudgedRow>>()))
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Run(error) => error.into(),
            PaperError::Scenario(error) => (*error).into(),
            PaperError::Store(error) => Self::Store(error),
            PaperError::Assumption { key, value, reason } => {
                Self::Argument(format!("assumptions: `{key}` cannot be `{value}`: {reason}"))
            }
            PaperError::Unknown { what, .. } => {
                let argument = match what {
                    "paper" => "name",
                    "result" => "result",
                    _ => "assumptions",
                };
                Self::Argument(format!("{argument}: {error}"))
            }
            other => Self::Argument(other.to_string()),
        }
    }
}
