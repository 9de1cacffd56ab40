//! Evaluations by the criteria of RFC 9743.

use std::path::Path;
use std::sync::Arc;

use cwnd::Spec;
use cwnd_lab::evaluate::{Evaluation, EvaluationScale, Profile, REFERENCES, plan};
use cwnd_report::page::evaluation_html;
use cwnd_report::text;
use cwnd_run::cells::Cells;
use cwnd_run::files::to_json;
use pyo3::prelude::*;

use crate::compare::{HIGH, LOW};
use crate::failure::Failure;
use crate::outside::written;
use crate::table::Table;
use crate::work;

/// An algorithm compared with Reno and CUBIC in its place.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Evaluated {
    evaluation: Evaluation,
    algorithm: Spec,
}

/// Runs the paths of a profile; `scale` is whether to reduce them, and the number of seeds. Cells with an algorithm in Python are never stored.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    algorithm: Bound<'_, PyAny>,
    profile: &str,
    scale: (bool, Option<u32>),
    store: Option<&str>,
    memory: Option<&str>,
) -> Result<Evaluated, Failure> {
    let (quick, seeds) = scale;
    if let Some(seeds) = seeds.filter(|seeds| !(1..=1000).contains(seeds)) {
        return Err(Failure::Argument(format!("seeds: expected 1 to 1000, got {seeds}")));
    }
    let profile = Profile::find(profile).ok_or_else(|| {
        let accepted = Profile::ALL.map(Profile::name).join(", ");
        Failure::Argument(format!("profile: expected one of {accepted}, got `{profile}`"))
    })?;
    let memory = work::memory(memory)?;
    let errors = Arc::default();
    let algorithm = written("algorithm", &algorithm, &errors)?;
    if algorithm.value().is_outside() && REFERENCES.contains(&algorithm.text()) {
        return Err(Failure::Argument(format!(
            "algorithm: `{algorithm}` is also the name of a reference; give it another name"
        )));
    }
    let plan = plan(&algorithm, profile, EvaluationScale::new(quick, seeds))
        .map_err(|error| Failure::Argument(format!("algorithm: {}", error.fault)))?;
    let cells = store.map_or_else(Cells::default, |directory| Cells::stored(Path::new(directory)));
    let evaluation = plan.run_by(|jobs| work::outcomes(py, jobs, &cells, memory, &errors))?;
    Ok(Evaluated { evaluation, algorithm: algorithm.value().clone() })
}

#[pymethods]
impl Evaluated {
    /// The document of `cwnd evaluate --json`.
    fn to_json(&self) -> String {
        to_json(&self.evaluation)
    }

    /// The output of `cwnd evaluate`.
    fn text(&self) -> String {
        text::evaluation(&self.evaluation)
    }

    /// The report, with what repeats it.
    fn html(&self, command: &str) -> String {
        evaluation_html(&self.evaluation, &self.algorithm, command)
    }

    /// A row per heading, setting, measure and algorithm.
    fn table(&self) -> Result<Table, Failure> {
        let names = [self.evaluation.algorithm.as_str(), REFERENCES[0], REFERENCES[1]];
        let rows: Vec<_> = self
            .evaluation
            .sections
            .iter()
            .flat_map(|section| section.rows.iter().map(move |row| (section.number, row)))
            .flat_map(|(number, row)| {
                let found = names.into_iter().zip([row.algorithm, row.reno, row.cubic]).enumerate();
                // A reference that is evaluated itself stands there once.
                let apart = found.filter(|(nth, (name, _))| *nth == 0 || *name != names[0]);
                apart.filter_map(move |(_, (name, estimate))| Some((number, row, name, estimate?)))
            })
            .collect();
        let mut table = cwnd_parquet::Table::default();
        table.text(
            "section",
            "the heading's number in RFC 9743, or the name of the path",
            rows.iter().map(|row| row.0),
        );
        table.text("rate", "of the bottleneck", rows.iter().map(|row| row.1.rate.as_str()));
        table.text("rtt", "round-trip time without queueing", rows.iter().map(|row| row.1.rtt.as_str()));
        table.text("queue", "of the bottleneck", rows.iter().map(|row| row.1.queue.as_str()));
        table.text("traffic", "the flows, and what else is there", rows.iter().map(|row| row.1.traffic.as_str()));
        table.text("measure", "name of the measure", rows.iter().map(|row| row.1.measure));
        table.text("unit", "of the measure; 1 for a plain number", rows.iter().map(|row| row.1.unit));
        table.text("algorithm", "as written", rows.iter().map(|row| row.2));
        table.real("mean", "", "over independent seeds, in the unit of the row", rows.iter().map(|row| row.3.mean));
        let half = rows.iter().map(|row| row.3.ci95.unwrap_or(f64::NAN));
        table.real("ci95", "", "half the width of its 95 % Student t interval", half);
        table.real("low", "", LOW, rows.iter().map(|row| row.3.low));
        table.real("high", "", HIGH, rows.iter().map(|row| row.3.high));
        table.whole("n", "", "runs that had a value", rows.iter().map(|row| row.3.n as u64));
        Table::of(table)
    }
}
