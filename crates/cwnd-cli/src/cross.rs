//! `cwnd paper --cross`

use std::path::Path;

use cwnd_papers::{CrossExperiment, CrossMeasure, Crossing, Plan, Scale, Score, cross};
use cwnd_report::table::{Table, wrapped};
use cwnd_report::write_crossing;
use cwnd_run::files::to_json;
use cwnd_text::counted;

use crate::failure::Failure;
use crate::files;
use crate::progress::TimeProgress;
use crate::store::Store;

/// How to cross the papers.
#[derive(Debug)]
pub(crate) struct Crossed<'a> {
    pub(crate) scale: Scale,
    pub(crate) json: bool,
    pub(crate) all: bool,
    pub(crate) quiet: bool,
    pub(crate) out: Option<&'a Path>,
    pub(crate) store: &'a Store,
}

/// Runs every algorithm in every experiment, and asks the claims.
pub(crate) fn run(options: &Crossed<'_>) -> Result<String, Failure> {
    let plan = Plan::written()?;
    let progress = TimeProgress::start_long(options.quiet)?;
    let directory = files::directory(options.out, "cross", !options.json)?;
    let crossing = cross(&plan, options.scale, &options.store.cells(), &progress)?;
    drop(progress);
    if let Some(directory) = directory {
        files::publish(directory, |path| write_crossing(path, &files::command(), &plan, &crossing))?;
    }
    Ok(if options.json { to_json(&crossing) } else { print(&plan, &crossing, options.all) })
}

/// The claims with what came of them; all tables before and their experiments behind with `all`.
fn print(plan: &Plan, crossing: &Crossing, all: bool) -> String {
    let mut text = String::new();
    if all {
        for experiment in &plan.experiment {
            text.push_str(&tables(plan, experiment, crossing));
        }
    }
    let mut table = Table::left();
    table.row(["claim", "outcome"]);
    for asked in &crossing.claim {
        table.row([asked.claim.clone(), asked.outcome()]);
        for answer in asked.answer.iter().filter(|_| all) {
            let score = answer.score.as_ref().map_or_else(String::new, Score::text);
            table.row([format!("  {}", answer.experiment), format!("{}, {score}", answer.verdict)]);
        }
    }
    text.push_str(&table.folded());
    let size =
        format!("{}, {}", counted(plan.algorithm.len(), "algorithm"), counted(plan.experiment.len(), "experiment"));
    text.push_str(&wrapped(&format!("{size}, {}. `--all` prints the tables.", counted(crossing.made.runs, "run"))));
    text
}

/// The measures of an experiment, a row for each algorithm; its paper's own and the best of a measure are marked.
fn tables(plan: &Plan, experiment: &CrossExperiment, crossing: &Crossing) -> String {
    let mut table = Table::left();
    table.row(std::iter::once(String::new()).chain(experiment.measures.iter().map(|measure| measure.heading())));
    for algorithm in &plan.algorithm {
        let own = if experiment.is_own(algorithm) { " (own)" } else { "" };
        let cell = |measure: &CrossMeasure| {
            let found = crossing.table(&experiment.id, *measure)?;
            let best = if found.best == algorithm.name { " best" } else { "" };
            Some(format!("{}{best}", found.score.get(&algorithm.name)?.text()))
        };
        let cells = experiment.measures.iter().map(|measure| cell(measure).unwrap_or_else(|| "—".to_string()));
        table.row(std::iter::once(format!("{}{own}", algorithm.name)).chain(cells));
    }
    let title = format!("{}: {}, {}: {}", experiment.id, experiment.paper, experiment.place, experiment.what);
    format!("{}\n{}\n", wrapped(&title), table.folded())
}
