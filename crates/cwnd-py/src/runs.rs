//! Runs of one scenario.

use std::path::PathBuf;
use std::sync::Arc;

use cwnd_lab::compare;
use cwnd_parquet::Tables;
use cwnd_report::formats::{Format, write_formats};
use cwnd_report::page::run_html;
use cwnd_report::{json, text};
use cwnd_run::files::to_json;
use cwnd_run::measure::{
    MEASURES, Measure, Subject, Window, flow_delay, flow_loss_rate, goodput, peer_limited_share, retransmission_ratio,
    source_limited_share,
};
use cwnd_run::run::Runs as LabRuns;
use cwnd_trace::{FlowTrace, Trace};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::plot::{Drawn, View};
use crate::scenario::{checked, with_algorithms};
use crate::table::Table;
use crate::work;

/// The runs of a scenario over its seeds.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Runs {
    of: Source,
}

/// Where they are kept: traces are large and never copied.
enum Source {
    Own(Box<LabRuns>),
    Alone(Arc<compare::Compared>, usize),
    Versus(Arc<compare::Compared>, usize),
}

/// Runs every seed of a scenario, given as JSON. Each algorithm from Python comes with the number of the flow group that it drives.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    document: &str,
    outside: Vec<(usize, Bound<'_, PyAny>)>,
    memory: Option<&str>,
) -> Result<Runs, Failure> {
    let memory = work::memory(memory)?;
    let errors = Arc::default();
    let scenario = checked(document)?;
    let scenario = with_algorithms(scenario, &outside, &errors)?;
    let runs = work::runs(py, vec![scenario], memory, &errors)?;
    let runs = runs.into_iter().next().ok_or_else(|| Failure::Unexpected("nothing was run".to_string()))?;
    Ok(Runs::of(runs))
}

/// Name, unit and description of every measure of a run.
#[pyfunction]
pub(crate) fn measures() -> Vec<(&'static str, &'static str, String)> {
    of_runs().map(|measure| (measure.key, measure.scale.base(), measure.described())).collect()
}

/// The measures with one value per run.
pub(crate) fn of_runs() -> impl Iterator<Item = &'static Measure> {
    MEASURES.iter().copied().filter(|measure| measure.subject != Subject::EachFlow)
}

impl Runs {
    /// The runs of a scenario.
    pub(crate) fn of(runs: LabRuns) -> Self {
        Self { of: Source::Own(Box::new(runs)) }
    }

    /// The runs of a row of a comparison.
    pub(crate) fn alone(compared: Arc<compare::Compared>, row: usize) -> Self {
        Self { of: Source::Alone(compared, row) }
    }

    /// The runs of a row together with its opponent; none without one.
    pub(crate) fn versus(compared: Arc<compare::Compared>, row: usize) -> Option<Self> {
        compared.rows[row].versus.is_some().then_some(Self { of: Source::Versus(compared, row) })
    }

    fn runs(&self) -> &LabRuns {
        match &self.of {
            Source::Own(runs) => runs,
            Source::Alone(compared, row) => &compared.rows[*row].alone,
            Source::Versus(compared, row) => {
                &compared.rows[*row].versus.as_ref().expect("made only where there is one").runs
            }
        }
    }

    fn document(&self) -> json::Run {
        json::Run::of(self.runs()).expect("a scenario has at least one seed")
    }
}

#[pymethods]
impl Runs {
    /// The document of `cwnd run --json`.
    fn to_json(&self) -> String {
        to_json(&self.document())
    }

    /// The output of `cwnd run`.
    fn text(&self) -> String {
        text::run(&self.document())
    }

    /// The report of `cwnd run`, with what repeats it.
    fn html(&self, command: &str) -> Result<String, Failure> {
        Ok(run_html(&self.document(), of_seed(self.runs(), None)?, command))
    }

    /// Writes the traces into the directory `traces` of `directory`, in these formats. Those that need every packet run the first seed again.
    fn export(&self, py: Python<'_>, directory: PathBuf, formats: Vec<String>, command: &str) -> Result<(), Failure> {
        let named = |name: &String| name.parse().map_err(|error| Failure::Argument(format!("formats: {error}")));
        let formats: Vec<Format> = formats.iter().map(named).collect::<Result<_, _>>()?;
        let (packets, others): (Vec<_>, Vec<_>) = formats.into_iter().partition(|format| format.needs_packets());
        let failed = |error| Failure::File(format!("directory: cannot write below `{}`: {error}", directory.display()));
        let runs = self.runs();
        py.detach(|| write_formats(&directory, command, &others, runs)).map_err(failed)?;
        if packets.is_empty() {
            return Ok(());
        }
        let scenario = runs.scenario.with_seeds(runs.scenario.document().first_seed, 1).logging_packets();
        let again = work::runs(py, vec![scenario], None, &Arc::default())?;
        let again = again.first().ok_or_else(|| Failure::Unexpected("nothing was run".to_string()))?;
        py.detach(|| write_formats(&directory, command, &packets, again)).map_err(failed)
    }

    /// A plot of the run of a seed, or of the first: its numbers, and its Vega-Lite.
    fn plot(&self, seed: Option<u64>, view: View) -> Result<Drawn, Failure> {
        let runs = self.runs();
        view.of(of_seed(runs, seed)?, runs.scenario.bottleneck())
    }

    /// A table by its name.
    fn table(&self, name: &str) -> PyResult<Table> {
        let runs = self.runs();
        let seeds: Vec<(u64, &Trace)> = runs.scenario.seeds().zip(&runs.traces).collect();
        let table = match name {
            "summary" => summary(runs),
            "flows" => flows(&seeds),
            "trace" => Tables::FlowSamples.of(&seeds),
            "links" => Tables::Links.of(&seeds),
            "link_trace" => Tables::LinkSamples.of(&seeds),
            _ => return Err(PyKeyError::new_err(name.to_string())),
        };
        Ok(Table::of(table)?)
    }
}

/// The run of a seed, or of the first.
pub(crate) fn of_seed(runs: &LabRuns, seed: Option<u64>) -> Result<&Trace, Failure> {
    let index = seed.map_or(Some(0), |seed| runs.scenario.seeds().position(|known| known == seed));
    index.and_then(|index| runs.traces.get(index)).ok_or_else(|| {
        let known = runs.scenario.seeds().map(|seed| seed.to_string()).collect::<Vec<_>>().join(", ");
        Failure::Argument(format!("seed: {} was not run, expected one of {known}", seed.unwrap_or_default()))
    })
}

/// Every flow, and its results after the warm-up.
fn flows(seeds: &[(u64, &Trace)]) -> cwnd_parquet::Table {
    let mut table = Tables::Flows.of(seeds);
    for (name, unit, description, of) in FLOW_MEASURES {
        let values = seeds.iter().flat_map(|(_, trace)| {
            let window = Window::measured(trace);
            trace.flows.iter().map(move |flow| of(trace, flow, window).unwrap_or(f64::NAN))
        });
        table.real(name, unit, description, values);
    }
    table
}

/// All measures, a row per seed.
fn summary(runs: &LabRuns) -> cwnd_parquet::Table {
    let mut table = cwnd_parquet::Table::default();
    table.whole("seed", "", "the seed of the run", runs.scenario.seeds());
    for measure in of_runs() {
        let values = runs.summaries.iter().map(|run| measure.of(run).unwrap_or(f64::NAN));
        table.real(measure.key, measure.scale.base(), &measure.described(), values);
    }
    let digests: Vec<String> = runs.traces.iter().map(|trace| format!("{:016x}", trace.digest)).collect();
    table.text(
        "digest",
        "of everything the run delivered: equal digests are equal runs",
        digests.iter().map(String::as_str),
    );
    table
}

type FlowMeasure = (&'static str, &'static str, &'static str, fn(&Trace, &FlowTrace, Window) -> Option<f64>);

const FLOW_MEASURES: [FlowMeasure; 7] = [
    ("goodput_bps", "bit/s", "payload that arrived for the first time, over its life after the warm-up", goodput),
    ("loss_rate", "", "packets the sender found lost as a share of those whose fate it learnt", flow_loss_rate),
    ("retransmission_ratio", "", "retransmissions as a share of the data packets sent", |trace, flow, window| {
        retransmission_ratio(trace, std::slice::from_ref(flow), window)
    }),
    ("delay_mean_s", "s", "smoothed round-trip time above the base one, mean over samples", |trace, flow, window| {
        Some(flow_delay(trace, flow, window)?.mean)
    }),
    ("delay_p99_s", "s", "99th percentile of that delay over samples", |trace, flow, window| {
        Some(flow_delay(trace, flow, window)?.p99)
    }),
    ("source_limited_share", "", "share of its life without data to send", source_limited_share),
    ("peer_limited_share", "", "share of its life held by the receiver's window", peer_limited_share),
];
