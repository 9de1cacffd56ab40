//! `docs/cross.md`: the records of every algorithm on every experiment, and of the claims.

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
        let best = best(experiment, &crossing);
        let cells = plan.algorithm.iter().map(|algorithm| cell(experiment, algorithm, &crossing, best.as_deref()));
        let cells = cells.collect::<Vec<_>>().join("|");
        let _ = writeln!(
            text,
            "|`{}` ({} {}) {}|{cells}|",
            experiment.id,
            experiment.paper,
            experiment.place,
            measure.heading()
        );
    }
    let _ =
        writeln!(text, "\n## Claims\n\n{CLAIMS}\n\n| claim | in | holds on | not on | open |\n|---|---|---|---|---|");
    for asked in &crossing.claim {
        let _ = writeln!(text, "{}", claim(asked));
    }
    Ok(text)
}

/// The best value as it is printed; none where more than a third of the algorithms print it.
fn best(experiment: &CrossExperiment, crossing: &Crossing) -> Option<String> {
    let table = crossing.table(&experiment.id, *experiment.measures.first()?)?;
    let best = table.score.get(&table.best)?.short();
    let alike = table.score.values().filter(|score| score.short() == best).count();
    (3 * alike <= table.score.len()).then_some(best)
}

/// A value, in bold if it is the best, in italics if it is of the paper's own algorithm.
fn cell(experiment: &CrossExperiment, algorithm: &CrossAlgorithm, crossing: &Crossing, best: Option<&str>) -> String {
    let table = experiment.measures.first().and_then(|measure| crossing.table(&experiment.id, *measure));
    let Some(score) = table.and_then(|table| table.score.get(&algorithm.name)) else { return "–".to_string() };
    let text = score.short();
    let own = if experiment.is_own(algorithm) { "_" } else { "" };
    let bold = if best == Some(&*text) { "**" } else { "" };
    format!("{bold}{own}{text}{own}{bold}")
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
run; `papers/cross.toml` has the record with intervals, and `--all` prints it. UDT is `udt:profile=paper`. Runs of reduced length are not only shorter:
`quick` of an experiment may lower its rate and its queue too, as for `testbed`, which runs at 50 Mbit/s instead of 1 Gbit/s. So a value here differs from
that of the experiment on the page of papers.
";
const TABLES: &str = "\
The measure that the paper has; the best in bold, unless a third share it, and the paper's own in italics. NA is New AIMD. Friendliness,
goodput over that of TCP, is best at 1; goodput above 1 is taken from other traffic.
";
const CLAIMS: &str = "\
A claim holds where the whole 95 % interval lies within its tolerance, and does not where it lies outside; between, it is open. Of two
algorithms that both do not converge in time neither is faster. One rule was corrected after the first record: an algorithm without a value
is not the best of a claim where more is better. The record is by the corrected rule.";
