//! Runs laid over each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwnd::Span;
use cwnd_lab::overlay::{Input, InputError, Offset, Part, Reader, labels as labels_of, lay};
use cwnd_parquet::Tables;
use cwnd_report::overlay::{OverlaidFlow, Overlay};
use cwnd_report::page::overlay_html;
use cwnd_run::execute::default_memory;
use cwnd_run::files::to_json;
use cwnd_run::scenario::Written;
use cwnd_trace::Trace;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::table::Table;
use crate::work;

/// Inputs on a common time.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Overlaid {
    parts: Vec<Part>,
    document: Overlay,
    warnings: Vec<String>,
}

/// Lays files and directories over each other, as `cwnd overlay` does. `named` are the labels of the first inputs; offsets, which are quantities, one
/// or one for each input; and what `--set` has. `mss` is the payload of a segment in bytes where a recording has none.
#[pyfunction]
pub(crate) fn overlay(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    named: (Vec<String>, Vec<String>, Vec<String>),
    mss: u32,
    memory: Option<&str>,
) -> Result<Overlaid, Failure> {
    let memory = work::memory(memory)?;
    let (labels, offsets, set) = named;
    let names = names(&paths, labels)?;
    let given = offsets.iter().map(|offset| nanoseconds(offset)).collect::<Result<Vec<u64>, _>>()?;
    let offsets = Offset::each(&given, paths.len()).ok_or_else(|| {
        let (given, paths) = (given.len(), paths.len());
        Failure::Argument(format!("offsets: expected one, or {paths}, one for each path, got {given}"))
    })?;
    // A file may be long, or a pipe that nobody writes to: reading does not look whether to go on.
    let (reader, inputs) = work::left_behind(py, memory, move |_| {
        let mut reader = Reader::new(&set, mss, memory.unwrap_or_else(default_memory));
        let inputs = paths.iter().map(|path| reader.read(path)).collect::<Result<Vec<_>, _>>()?;
        reader.all_set()?;
        Ok((reader, inputs))
    })?;
    let scenarios = inputs.iter().filter_map(Input::scenario).cloned().collect();
    let runs = work::runs(py, scenarios, memory, &Arc::default())?;
    py.detach(|| {
        let parts = lay(&inputs, &names, &offsets, runs);
        reader.fits(&parts)?;
        let idle = Offset::idle(&given, &inputs).map(|idle| format!("offsets: {idle}"));
        let warnings = [reader.warnings().to_vec(), idle.into_iter().collect(), reader.left_out(&names)].concat();
        Ok(Overlaid { document: Overlay::of(&parts), parts, warnings })
    })
}

#[pymethods]
impl Overlaid {
    /// The `summary.json` of `cwnd overlay`.
    fn to_json(&self) -> String {
        to_json(&self.document)
    }

    /// The output of `cwnd overlay`.
    fn text(&self) -> String {
        self.document.print()
    }

    /// Warnings to read before the numbers, a sentence each.
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The report of `cwnd overlay`, with what repeats it.
    fn html(&self, command: &str) -> String {
        overlay_html(&self.parts, command, &self.document.print(), None)
    }

    /// A table by its name: `flows`, a row each; or `trace`, their course over time.
    fn table(&self, name: &str) -> Result<Table, Failure> {
        match name {
            "flows" => flows(&self.document.flows),
            "trace" => {
                let traces: Vec<(u64, &Trace)> =
                    self.parts.iter().flat_map(|part| &part.traces).map(|trace| (1, trace)).collect();
                Ok(Table::of(Tables::FlowSamples.of(&traces))?.without("seed"))
            }
            unknown => Err(Failure::Unexpected(format!("no table is called `{unknown}`"))),
        }
    }
}

/// A length of time in nanoseconds.
fn nanoseconds(offset: &str) -> Result<u64, Failure> {
    let span: Written<Span> = offset.parse().map_err(|error| Failure::Argument(format!("offsets: {error}")))?;
    Ok(span.value().as_nanos())
}

/// The labels of all inputs, of which some are given.
fn names(paths: &[PathBuf], given: Vec<String>) -> Result<Vec<String>, Failure> {
    if paths.is_empty() {
        return Err(Failure::Argument("paths: name at least one".to_string()));
    }
    if given.len() > paths.len() {
        let (given, paths) = (given.len(), paths.len());
        return Err(Failure::Argument(format!("labels: expected at most {paths}, one for each path, got {given}")));
    }
    let mut names = labels_of(&paths.iter().map(PathBuf::as_path).collect::<Vec<&Path>>());
    names.iter_mut().zip(given).for_each(|(name, given)| *name = given);
    match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        Some((_, name)) => Err(Failure::Argument(format!("labels: two inputs cannot both be `{name}`"))),
        None => Ok(names),
    }
}

/// The columns of [`OverlaidFlow`].
fn flows(flows: &[OverlaidFlow]) -> Result<Table, Failure> {
    let mut table = cwnd_parquet::Table::default();
    table.text("flow", "the label of its input, and its name there", flows.iter().map(|flow| flow.flow.as_str()));
    table.text("input", "the label of its input", flows.iter().map(|flow| flow.input.as_str()));
    let source = "where its numbers come from: simulated, kernel, qlog or capture";
    table.text("source", source, flows.iter().map(|flow| flow.source));
    table.text("algorithm", "as its input names it, or unknown", flows.iter().map(|flow| flow.algorithm.as_str()));
    let mut real = |name: &str, unit: &str, description: &str, of: &dyn Fn(&OverlaidFlow) -> Option<f64>| {
        table.real(name, unit, description, flows.iter().map(|flow| of(flow).unwrap_or(f64::NAN)));
    };
    real("from_s", "s", "where its samples begin on the common time", &|flow| Some(flow.from_s));
    real("to_s", "s", "where they end", &|flow| Some(flow.to_s));
    let goodput = "payload delivered for the first time; null where its input does not tell, or nothing of it lies after the warm-up";
    real("goodput_bps", "bit/s", goodput, &|flow| flow.goodput_bps);
    let window = "mean window over time; null where its input does not tell";
    real("window_packets", "packets", window, &|flow| flow.window_packets);
    let in_flight = "mean number of packets sent and not acknowledged, over time";
    real("in_flight_packets", "packets", in_flight, &|flow| flow.in_flight_packets);
    real("srtt_s", "s", "mean smoothed round-trip time, over time", &|flow| flow.srtt_s);
    let retransmitted = "packets sent again after the warm-up; null where its input does not tell";
    real("retransmitted_packets", "packets", retransmitted, &|flow| {
        flow.retransmitted_packets.map(|packets| packets as f64)
    });
    Table::of(table)
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Scenario(error) => Self::Scenario(error),
            InputError::Memory { .. } => Self::Argument(format!("paths: {error} (`memory`): take fewer files")),
            InputError::NotRunAgain { .. } | InputError::NothingToSet { .. } => Self::Argument(format!("set: {error}")),
            InputError::TooLong { .. } => Self::File(format!("paths: {error} (`memory`)")),
            _ => Self::File(format!("paths: {error}")),
        }
    }
}
