//! Results of a sweep: estimates per point.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FinishedCell, Quantity, Ranking, Standing, Sweep};
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
    /// The title of the sweep.
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
    /// Warnings to read before the numbers: settings without effect.
    pub warnings: Vec<String>,
    /// The measure that the points are ranked by.
    pub by: &'static str,
    /// Which values of it come first: `higher` or `lower` ones.
    pub better: &'static str,
    /// The key whose values are compared at each setting of the other keys: that of an algorithm. None where all points are compared with
    /// one another.
    pub contender: Option<String>,
    /// How often each value of that key is the best, those that are most often first.
    pub standings: Vec<Standing>,
    /// Every point of which this part has runs, in the order of the sweep.
    pub points: Vec<PointResult>,
}

/// A point of a sweep.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PointResult {
    /// Indexes [`Sweep::points`].
    #[serde(skip)]
    pub point: usize,
    /// The settings of the sweep there.
    pub set: Vec<Setting>,
    /// The digest of its first seed, where this part has run it.
    #[serde(skip)]
    pub digest: Option<u64>,
    /// Its runs that failed; no measure has them.
    pub failed: u64,
    /// Its place at its setting, 1 for the best: one more than the points that are better by more than chance, so that points whose intervals
    /// overlap may share a place. None without the measure, and where nothing else was run at the setting.
    pub rank: Option<u64>,
    /// Whether it shares the first place.
    pub tied: bool,
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
    /// The number that it is, where all values of the key are quantities of one kind.
    pub number: Option<f64>,
    /// The unit of the number; empty for a plain one.
    pub unit: &'static str,
}

/// Estimates per point from the rows of any chunks, in the order of the cells, ranked by [`Sweep::by`].
#[must_use]
pub fn gather(sweep: &Sweep, rows: &[FinishedCell]) -> Swept {
    let causes = causes(rows.iter().filter_map(|row| row.outcome.as_ref().err()));
    let failed_cells = causes.iter().map(|cause| cause.cells).sum();
    let errors = causes.into_iter().map(|cause| cause.error).collect();
    let quantities: Vec<Option<Quantity>> = (0..sweep.keys().len()).map(|key| sweep.quantity(key)).collect();
    let points = rows.chunk_by(|a, b| a.cell.point == b.cell.point).map(|rows| {
        let summaries: Vec<Summary> = rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(summary_of).collect();
        let point = rows[0].cell.point;
        let set = sweep.keys().iter().zip(&quantities).zip(&sweep.points()[point].values);
        let set = set.filter_map(|((key, quantity), value)| {
            let value = value.as_ref()?;
            let number = quantity.as_ref().and_then(|quantity| quantity.number(value));
            let unit = quantity.as_ref().map_or("", |quantity| quantity.unit().name());
            Some(Setting { key: key.clone(), value: value.text.clone(), number, unit })
        });
        PointResult {
            point,
            set: set.collect(),
            digest: rows
                .first()
                .filter(|row| row.cell.index == sweep.points()[point].cells.start)
                .and_then(|row| row.outcome.as_ref().ok()?.digest()),
            failed: (rows.len() - summaries.len()) as u64,
            rank: None,
            tied: false,
            measures: Estimates::over(&summaries),
        }
    });
    let mut points: Vec<PointResult> = points.collect();
    let ranking = Ranking::of(sweep, &points);
    for ranked in ranking.settings.iter().flat_map(|setting| &setting.ranked) {
        (points[ranked.point].rank, points[ranked.point].tied) = (ranked.rank, ranked.tied);
    }
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
        by: ranking.by.measure().key,
        better: ranking.by.direction(),
        contender: ranking.contender.map(|key| sweep.keys()[key].clone()),
        standings: ranking.standings,
        points,
        errors,
    }
}
