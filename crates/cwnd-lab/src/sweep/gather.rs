//! What a sweep shows: estimates per point.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FinishedCell, Sweep};
use cwnd_run::VERSION;
use cwnd_run::execute::causes;
use cwnd_run::measure::{Estimates, Summary};
use cwnd_run::probe::summary_of;

/// The results of a sweep, or of a part of it: `cwnd sweep --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Swept {
    /// Always `simulated`: what kind of numbers these are.
    pub kind: &'static str,
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// What the sweep shows.
    pub title: Option<String>,
    /// The path of its base in one line; its points set some of it.
    pub path: String,
    /// Identifies the sweep.
    pub id: String,
    /// The runs of the whole sweep.
    pub cells: u64,
    /// The runs of this part that have measures.
    pub done_cells: u64,
    /// The runs of this part that failed.
    pub failed_cells: u64,
    /// The errors of failed runs, each once: those of most runs first.
    pub errors: Vec<String>,
    /// What to look at before believing the numbers: settings that change nothing.
    pub warnings: Vec<String>,
    /// Every point of which this part has runs, in the order of the sweep.
    pub points: Vec<PointResult>,
}

/// A point of a sweep.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PointResult {
    /// What the sweep sets there.
    pub set: Vec<Setting>,
    /// Its runs that failed; no measure has them.
    pub failed: u64,
    /// Estimates over its runs.
    #[serde(flatten)]
    pub measures: Estimates,
}

/// A key of the scenario and its value.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// The value as it was written.
    pub value: String,
}

/// Estimates per point from the rows of any chunks, in the order of the cells.
#[must_use]
pub fn gather(sweep: &Sweep, rows: &[FinishedCell]) -> Swept {
    let causes = causes(rows.iter().filter_map(|row| row.outcome.as_ref().err()));
    let failed_cells = causes.iter().map(|cause| cause.cells).sum();
    let errors = causes.into_iter().map(|cause| cause.error).collect();
    let points = rows.chunk_by(|a, b| a.cell.point == b.cell.point).map(|rows| {
        let summaries: Vec<Summary> = rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(summary_of).collect();
        let values = &sweep.points()[rows[0].cell.point].values;
        let set = sweep
            .keys()
            .iter()
            .zip(values)
            .filter_map(|(key, value)| Some(Setting { key: key.clone(), value: value.as_ref()?.text.clone() }));
        PointResult {
            set: set.collect(),
            failed: (rows.len() - summaries.len()) as u64,
            measures: Estimates::over(&summaries),
        }
    });
    let points: Vec<PointResult> = points.collect();
    let unmeasured = points.iter().filter(|point| point.failed == 0 && point.measures.utilisation.is_none()).count();
    let unmeasured = (unmeasured > 0).then(|| {
        format!(
            "at {unmeasured} of {} nothing is measured: less than a round trip and a packet of the slowest traffic is left after the \
             warm-up, or the bottleneck has no rate",
            cwnd_text::counted(points.len(), "point")
        )
    });
    Swept {
        kind: "simulated",
        version: VERSION,
        title: sweep.title().map(str::to_string),
        path: sweep.path(),
        id: sweep.id(),
        cells: sweep.len(),
        done_cells: rows.len() as u64 - failed_cells,
        failed_cells,
        warnings: sweep.warnings().into_iter().chain(unmeasured).collect(),
        points,
        errors,
    }
}
