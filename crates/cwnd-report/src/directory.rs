//! Directories of results: the report, the document, the traces.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use cwnd::Spec;
use cwnd_run::files::{to_json, write_whole};
use serde::Serialize;

use crate::csv;
use crate::json;
use crate::overlay::Overlay;
use crate::page::{
    PaperPage, claims_html, comparison_html, evaluation_html, index_html, overlay_html, paper_html, run_html,
    sweep_html, tables_html,
};
use crate::slug::{slug, slugs};
use cwnd_lab::compare::Compared;
use cwnd_lab::evaluate::Evaluation;
use cwnd_lab::overlay::Part;
use cwnd_lab::sweep::{Sweep, Swept};
use cwnd_papers::{Crossing, JudgedRow, PaperRun, Plan, Settings};
use cwnd_run::VERSION;
use cwnd_run::run::Runs;
use cwnd_run::scenario::Document;
use cwnd_trace::Trace;

/// Writes the report, `summary.json` and the traces of a comparison into `directory`. `command` repeats it.
///
/// # Errors
/// A file cannot be written.
pub fn write_comparison(
    directory: &Path,
    command: &str,
    summary: &json::Comparison,
    compared: &Compared,
) -> io::Result<()> {
    write_summary(directory, summary)?;
    let versus = compared.rows.iter().filter_map(|row| row.versus.as_ref());
    let runs = compared.rows.iter().map(|row| &row.alone).chain(versus.map(|versus| &versus.runs));
    let traces: Vec<&Trace> = runs.filter_map(|runs| runs.traces.first()).collect();
    std::fs::write(directory.join("report.html"), comparison_html(summary, &traces, command))?;
    let names = slugs(compared.rows.iter().map(|row| row.algorithm.as_str()));
    for (row, name) in compared.rows.iter().zip(names) {
        write_traces(directory, &name, &seeded(&row.alone))?;
        if let Some(versus) = &row.versus {
            write_traces(directory, &format!("{name}-versus-{}", slug(&versus.opponent)), &seeded(&versus.runs))?;
        }
    }
    Ok(())
}

/// Writes the report, `summary.json` and the traces of one scenario into `directory`. `command` repeats it.
///
/// # Errors
/// A file cannot be written.
pub fn write_run(directory: &Path, command: &str, summary: &json::Run, runs: &Runs) -> io::Result<()> {
    write_summary(directory, summary)?;
    if let Some(trace) = runs.traces.first() {
        std::fs::write(directory.join("report.html"), run_html(summary, trace, command))?;
    }
    write_traces(directory, "scenario", &seeded(runs))
}

/// Writes the report, `summary.json` and the traces of runs laid over each other into `directory`. `command` repeats it, `text` is what it
/// printed. `scenario` is that of [`overlay_html`].
///
/// # Errors
/// A file cannot be written.
pub fn write_overlay(
    directory: &Path,
    (command, text): (&str, &str),
    summary: &Overlay,
    parts: &[Part],
    scenario: Option<&Document>,
) -> io::Result<()> {
    write_summary(directory, summary)?;
    std::fs::write(directory.join("report.html"), overlay_html(parts, command, text, scenario))?;
    let traces = parts.iter().flat_map(|part| {
        // A run has one trace; recorded flows have one each.
        part.traces.iter().map(|trace| match part.traces.as_slice() {
            [_] => (part.label.as_str(), trace),
            _ => (trace.flows.first().map_or("", |flow| flow.name.as_str()), trace),
        })
    });
    let (labels, traces): (Vec<&str>, Vec<&Trace>) = traces.unzip();
    slugs(labels).iter().zip(traces).try_for_each(|(name, trace)| write_traces(directory, name, &[(1, trace)]))
}

/// The runs, each with its seed.
fn seeded(runs: &Runs) -> Vec<(u64, &Trace)> {
    runs.scenario.seeds().zip(&runs.traces).collect()
}

/// Writes the report and `summary.json` of results on paper into `directory`.
///
/// # Errors
/// A file cannot be written.
pub fn write_model(directory: &Path, summary: &impl Serialize, report: &str) -> io::Result<()> {
    write_summary(directory, summary)?;
    std::fs::write(directory.join("report.html"), report)
}

/// Writes the report and `summary.json` of an evaluation of `algorithm` into `directory`. `command` repeats it.
///
/// # Errors
/// A file cannot be written.
pub fn write_evaluation(directory: &Path, command: &str, evaluation: &Evaluation, algorithm: &Spec) -> io::Result<()> {
    write_summary(directory, evaluation)?;
    std::fs::write(directory.join("report.html"), evaluation_html(evaluation, algorithm, command))
}

/// Writes the report of a sweep into its directory: whole, or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write_sweep(directory: &Path, sweep: &Sweep, swept: &Swept) -> io::Result<()> {
    write_whole(&directory.join("report.html"), sweep_html(sweep, swept).as_bytes())
}

/// Writes `index.html`, a page per paper and `rows.json` into `directory`. `command` repeats it.
///
/// # Errors
/// A file cannot be written.
pub fn write_papers(directory: &Path, command: &str, settings: &Settings, runs: &[PaperRun]) -> io::Result<()> {
    let page = PaperPage { settings, command, revision: VERSION };
    std::fs::write(directory.join("index.html"), index_html(runs, page))?;
    for run in runs {
        std::fs::write(directory.join(format!("{}.html", run.published.paper.id)), paper_html(run, page))?;
    }
    let rows: Vec<&JudgedRow> = runs.iter().flat_map(PaperRun::rows).collect();
    std::fs::write(directory.join("rows.json"), to_json(&rows))
}

/// Writes `index.html` with the claims, `tables.html` and `crossing.json` into `directory`. `command` repeats it.
///
/// # Errors
/// A file cannot be written.
pub fn write_crossing(directory: &Path, command: &str, plan: &Plan, crossing: &Crossing) -> io::Result<()> {
    std::fs::write(directory.join("index.html"), claims_html(command, crossing))?;
    std::fs::write(directory.join("tables.html"), tables_html(command, plan, crossing))?;
    std::fs::write(directory.join("crossing.json"), to_json(crossing))
}

fn write_summary(directory: &Path, summary: &impl Serialize) -> io::Result<()> {
    std::fs::write(directory.join("summary.json"), to_json(summary))
}

fn write_traces(directory: &Path, name: &str, runs: &[(u64, &Trace)]) -> io::Result<()> {
    let directory = directory.join("traces");
    std::fs::create_dir_all(&directory)?;
    let create = |kind: &str| File::create(directory.join(format!("{name}.{kind}.csv"))).map(BufWriter::new);
    let (mut flows, mut links) = (create("flows")?, create("links")?);
    csv::write_flows(&mut flows, runs)?;
    csv::write_links(&mut links, runs)?;
    flows.flush()?;
    links.flush()
}
