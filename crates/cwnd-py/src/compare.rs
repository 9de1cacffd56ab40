//! Comparisons.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use cwnd::Span;
use cwnd_lab::compare::{Compared as LabCompared, Comparison, DEFAULT, DEFAULT_OPPONENT, default_base};
use cwnd_report::page::comparison_html;
use cwnd_report::plot::{ComparisonPlots, Shown};
use cwnd_report::{json, text};
use cwnd_run::files::to_json;
use cwnd_run::measure::{Estimate, Reach, Until};
use cwnd_run::run::run_until;
use cwnd_run::scenario::{Document, Dumbbell, ScenarioError, Written, default_warmup};
use cwnd_trace::Trace;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::outside::{all_written, apart, written};
use crate::plot::{Drawn, lines};
use crate::runs::{Runs, of_runs, of_seed};
use crate::table::Table;
use crate::work;

/// Algorithms compared on one path.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Compared {
    compared: Arc<LabCompared>,
}

/// Sets each algorithm on the same path. `settings` are the keys of the path and the runs and their `memory`, as text; `seeds` says how many,
/// by what rule more are added, and at most how many there may be then.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    given_algorithms: Option<Vec<Bound<'_, PyAny>>>,
    versus: Option<Bound<'_, PyAny>>,
    flows: u32,
    seeds: (u32, Option<&str>, u32),
    settings: Settings,
) -> Result<Compared, Failure> {
    let errors = Arc::default();
    let algorithms = match &given_algorithms {
        Some(given) => all_written("algorithms", given, &errors)?,
        None => DEFAULT.map(Written::literal).to_vec(),
    };
    if algorithms.is_empty() {
        return Err(Failure::Argument("algorithms: name at least one".to_string()));
    }
    let versus = match versus {
        Some(given) => {
            let versus = written("versus", &given, &errors)?;
            let opponent = [(&given, &versus)];
            let others = given_algorithms.iter().flatten().zip(&algorithms);
            apart("versus", others.chain(opponent))?;
            Some(versus)
        }
        None => None,
    };
    let versus = versus.or_else(|| has_no_path(&settings).then(|| Written::literal(DEFAULT_OPPONENT)));
    let (seeds, until, most) = seeds;
    let until: Option<Until> = until.map(|rule| parse("until", rule)).transpose()?;
    let comparison = |settings: &Settings| {
        let base = Document { seeds, ..document(settings)? };
        Comparison::new(&base, &algorithms, versus.as_ref(), flows, read(settings, "ecn")?.as_ref())
            .map(|comparison| comparison.naming(|key| Some(format!("{key}="))))
            .map_err(of_arguments)
    };
    let memory = work::memory(settings.get("memory").map(String::as_str))?;
    // Here a failure is an exception.
    let all = |scenarios| work::runs(py, scenarios, memory, &errors).map(|runs| runs.into_iter().map(Ok).collect());
    let auto = settings.get("warmup").is_some_and(|warmup| warmup == "auto");
    let comparison = if auto {
        let with = |warmup: String| {
            [settings.clone(), Settings::from([("warmup".to_string(), warmup)])].into_iter().flatten().collect()
        };
        let found = comparison(&with("0s".to_string()))?.warmup(all)?;
        let found = found.ok_or_else(|| Failure::Argument(UNSETTLED.to_string()))?;
        comparison(&with(Written::from(found).to_string()))?
    } else {
        comparison(&settings)?
    };
    let compared = comparison.run_by(|scenarios| match until {
        Some(until) => run_until(scenarios, until, most, all),
        None => all(scenarios),
    })?;
    Ok(Compared { compared: Arc::new(compared) })
}

#[pymethods]
impl Compared {
    /// The document of `cwnd compare --json`.
    fn to_json(&self) -> String {
        to_json(&self.document())
    }

    /// The output of `cwnd compare`, with `--paired` if `paired`.
    fn text(&self, paired: bool) -> String {
        let document = self.document();
        let differences = if paired { text::differences(&document) } else { String::new() };
        text::comparison(&document) + &differences
    }

    /// The report of `cwnd compare`, with what repeats it.
    fn html(&self, command: &str) -> String {
        let rows = &self.compared.rows;
        let versus = rows.iter().filter_map(|row| row.versus.as_ref().map(|versus| &versus.runs));
        let runs = rows.iter().map(|row| &row.alone).chain(versus);
        let traces: Vec<&Trace> = runs.filter_map(|runs| runs.traces.first()).collect();
        comparison_html(&self.document(), &traces, command)
    }

    /// A row per algorithm and measure.
    fn table(&self) -> Result<Table, Failure> {
        let mut cells = Vec::new();
        for row in &self.compared.rows {
            cells.extend(of_runs().filter_map(|measure| {
                Some((row.algorithm.as_str(), measure.key, measure.scale.base(), measure.of(&row.estimates)?))
            }));
        }
        estimates(&cells, "over independent seeds, in the unit of the row")
    }

    /// How far each algorithm is from the first: a row per algorithm but the first and measure that is compared.
    fn differences(&self) -> Result<Table, Failure> {
        let mut cells = Vec::new();
        for (index, row) in self.compared.rows.iter().enumerate() {
            cells.extend(Reach::Compared.measures().filter_map(|measure| {
                let difference = self.compared.difference(index, measure)?;
                Some((row.algorithm.as_str(), measure.key, measure.scale.base(), difference))
            }));
        }
        estimates(&cells, "of the differences from the first algorithm, seed by seed, in the unit of the row")
    }

    /// The Vega-Lite of `trade_off` or `shares`, or the numbers and the Vega-Lite of the distribution of a column in the runs of a
    /// seed, or of the first.
    fn plot(&self, kind: &str, column: &str, seed: Option<u64>) -> Result<Drawn, Failure> {
        let rows = &self.compared.rows;
        let shown: Vec<Shown<'_>> = rows
            .iter()
            .map(|row| {
                let trace = of_seed(&row.alone, seed)?;
                Ok(Shown { label: row.algorithm.clone(), measures: &row.estimates, trace })
            })
            .collect::<Result<_, Failure>>()?;
        let first = &rows.first().expect("at least one algorithm was asked for").alone;
        let plots = ComparisonPlots::new(&shown, first.scenario.bottleneck(), first.traces.len());
        let plot = match kind {
            "cdf" => return Ok(lines(&plots.cdf(column)?, kind)),
            "trade_off" => plots.trade_off(),
            _ => plots.shares(),
        };
        let plot = plot.ok_or_else(|| Failure::Argument("nothing was measured that can be drawn".to_string()))?;
        Ok(("null".to_string(), to_json(&plot.specification())))
    }

    /// The runs of a row, all flows its own.
    fn alone(&self, row: usize) -> PyResult<Runs> {
        self.check(row).map(|()| Runs::alone(Arc::clone(&self.compared), row))
    }

    /// The runs of a row together with its opponent.
    fn versus(&self, row: usize) -> PyResult<Option<Runs>> {
        self.check(row).map(|()| Runs::versus(Arc::clone(&self.compared), row))
    }
}

impl Compared {
    fn document(&self) -> json::Comparison {
        json::Comparison::of(&self.compared).expect("at least one algorithm was asked for")
    }

    fn check(&self, row: usize) -> PyResult<()> {
        if row < self.compared.rows.len() { Ok(()) } else { Err(PyIndexError::new_err(row)) }
    }
}

/// A row per algorithm and measure, with its unit.
fn estimates(cells: &[(&str, &str, &str, Estimate)], mean: &str) -> Result<Table, Failure> {
    let mut table = cwnd_parquet::Table::default();
    table.text("algorithm", "as written", cells.iter().map(|cell| cell.0));
    table.text("measure", "name of the measure", cells.iter().map(|cell| cell.1));
    table.text("unit", "of the measure; empty for a plain number", cells.iter().map(|cell| cell.2));
    table.real("mean", "", mean, cells.iter().map(|cell| cell.3.mean));
    let half = cells.iter().map(|cell| cell.3.ci95.unwrap_or(f64::NAN));
    table.real("ci95", "", "half the width of its 95 % Student t interval", half);
    table.real("low", "", LOW, cells.iter().map(|cell| cell.3.low));
    table.real("high", "", HIGH, cells.iter().map(|cell| cell.3.high));
    table.whole("n", "", "runs that had a value", cells.iter().map(|cell| cell.3.n as u64));
    Table::of(table)
}

/// The column of [`Estimate::low`].
pub(crate) const LOW: &str = "smallest value below five runs; from five on the lower end of the 95 % interval, but no value that the measure cannot have";
/// The column of [`Estimate::high`].
pub(crate) const HIGH: &str = "the upper end, likewise";

type Settings = BTreeMap<String, String>;

/// Whether nothing describes the path, or who uses it how.
fn has_no_path(settings: &Settings) -> bool {
    let path = ["rate", "rtt", "queue", "loss", "dumbbell", "ecn", "era", "recovery", "host", "slow_start"];
    path.iter().all(|key| !settings.contains_key(*key))
}

fn document(settings: &Settings) -> Result<Document, Failure> {
    let base = Document::default();
    let path = settings
        .get("dumbbell")
        .map(|keys| serde_json::from_str(keys).map_err(|error| Failure::Argument(format!("dumbbell: {error}"))));
    let path: Dumbbell = path.transpose()?.unwrap_or_default();
    let duration: Written<Span> = read(settings, "duration")?.unwrap_or(base.duration);
    let warmup = read(settings, "warmup")?;
    if has_no_path(settings) {
        return Ok(default_base(duration, warmup));
    }
    Ok(Document {
        warmup: warmup.unwrap_or_else(|| default_warmup(*duration.value())),
        duration,
        era: read(settings, "era")?.unwrap_or(base.era),
        recovery: read(settings, "recovery")?,
        host: read(settings, "host")?,
        slow_start: read(settings, "slow_start")?,
        dumbbell: Some(Dumbbell {
            rate: read(settings, "rate")?.unwrap_or(path.rate),
            rtt: read(settings, "rtt")?.unwrap_or(path.rtt),
            queue: read(settings, "queue")?.unwrap_or(path.queue),
            loss: read(settings, "loss")?.unwrap_or(path.loss),
            ..path
        }),
        ..base
    })
}

fn read<T: FromStr<Err: Display>>(settings: &Settings, key: &str) -> Result<Option<T>, Failure> {
    settings.get(key).map(|text| parse(key, text)).transpose()
}

fn parse<T: FromStr<Err: Display>>(argument: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::Argument(format!("{argument}: {error}")))
}

/// A fault in a scenario that was made from arguments, which are named after its keys.
fn of_arguments(error: ScenarioError) -> Failure {
    match error.at_argument() {
        // Keys that a scenario names differently, or has in addition to those that the arguments set.
        Some(("count" | "sampling", reason)) => Failure::Argument(format!("flows: {reason}")),
        Some((key, reason)) => Failure::Argument(format!("{key}: {reason}")),
        None => Failure::Scenario(error),
    }
}

const UNSETTLED: &str = "warmup: auto finds that an algorithm does not settle in the first half of the duration: give a longer `duration`, or a time";
