//! `docs/cross.md`: what is on record of every algorithm on every experiment, and of the claims.

use std::fmt::Write;

use cwnd_papers::{Asked, CrossAlgorithm, CrossExperiment, Crossing, PaperError, Plan, RecordFile, Verdict};

use cwnd_text::counted;

/// The page.
///
/// # Errors
/// The plan or the record is wrong.
pub fn page() -> Result<String, PaperError> {
    let (plan, crossing) = (Plan::written()?, Crossing::recorded()?);
    let mut text = format!(
        "{HEAD}\n{} in {} of {}, {} of reduced length (revision {}, {}; sources `{}`).\n\n## Tables\n\n{TABLES}\n",
        counted(plan.algorithm.len(), "algorithm"),
        counted(plan.experiment.len(), "experiment"),
        "five papers",
        counted(crossing.made.runs, "run"),
        crossing.made.revision,
        crossing.made.date,
        crossing.made.sources.get(..12).unwrap_or(&crossing.made.sources),
    );
    let names = plan.algorithm.iter().map(|algorithm| algorithm.name.replace("New AIMD", "NA"));
    let _ = writeln!(text, "| experiment | {} |", names.collect::<Vec<_>>().join(" | "));
    let _ = writeln!(text, "|---|{}", "--:|".repeat(plan.algorithm.len()));
    for experiment in &plan.experiment {
        let Some(measure) = experiment.measures.first() else { continue };
        let cells = plan.algorithm.iter().map(|algorithm| cell(experiment, algorithm, &crossing));
        let cells = cells.collect::<Vec<_>>().join("|");
        let _ = writeln!(text, "|`{}` {}|{cells}|", experiment.id, measure.heading());
    }
    let _ =
        writeln!(text, "\n## Claims\n\n{CLAIMS}\n\n| claim | in | holds on | not on | open |\n|---|---|---|---|---|");
    for asked in &crossing.claim {
        let _ = writeln!(text, "{}", claim(asked));
    }
    let _ = writeln!(text, "\n## Experiments\n");
    let list = plan.experiment.iter().map(|one| format!("`{}` {} {}: {}", one.id, one.paper, one.place, one.what));
    let _ = writeln!(text, "{}.", list.collect::<Vec<_>>().join("; "));
    Ok(text)
}

/// A value, the best in bold and that of the paper's own algorithm in italics.
fn cell(experiment: &CrossExperiment, algorithm: &CrossAlgorithm, crossing: &Crossing) -> String {
    let table = experiment.measures.first().and_then(|measure| crossing.table(&experiment.id, *measure));
    let Some((table, score)) = table.and_then(|table| Some((table, table.score.get(&algorithm.name)?))) else {
        return "–".to_string();
    };
    let own = if experiment.is_own(algorithm) { "_" } else { "" };
    let best = if table.best == algorithm.name { "**" } else { "" };
    format!("{best}{own}{}{own}{best}", score.short())
}

fn claim(asked: &Asked) -> String {
    let on = |verdict| {
        let all = asked.with(verdict).map(|answer| answer.experiment.as_str());
        let all = all.collect::<Vec<_>>();
        if all.is_empty() { String::new() } else { format!("{}: {}", all.len(), all.join(", ")) }
    };
    let cells = [Verdict::Match, Verdict::Miss, Verdict::Undecided].map(on);
    format!("|{}|{}|{}|", asked.claim, asked.source, cells.join("|"))
}

const HEAD: &str = "\
# The papers crossed

What none of the papers has: `cwnd paper --cross` runs every algorithm on the experiments of all five, and asks each of their claims of all
experiments where it can be asked. Algorithms, experiments, measures, claims and tolerances stand in `papers/claims.toml`, before the first
run; `papers/cross.toml` has the record with intervals, and `--all` prints it.
";
const TABLES: &str = "\
The measure that the paper has; the best in bold, the paper's own in italics. NA is New AIMD. Friendliness, goodput over that of TCP, is
best at 1.
";
const CLAIMS: &str = "\
A claim holds where the whole 95 % interval lies within its tolerance, and does not where it lies outside; between, it is open. Of two
algorithms that both do not converge in time neither is faster.";
