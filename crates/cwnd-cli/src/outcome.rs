//! The outcome of papers, in about twenty lines each.

use std::fmt::Write as _;

use cwnd_papers::{JudgedRow, PaperRun, ResultRun, Verdict};
use cwnd_report::table::{Table, wrapped};
use cwnd_text::counted;

/// The outcome of each paper, with a row of each result that misses.
pub(crate) fn print(runs: &[PaperRun]) -> String {
    runs.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(run: &PaperRun) -> String {
    let paper = &run.published.paper;
    let mut text = format!("{}\n", wrapped(&format!("{}: {}", paper.id, paper.title)));
    // A line for each kind of row.
    for part in run.counts().to_string().split("; ") {
        let _ = writeln!(text, "  {part}");
    }
    text.push('\n');
    text.push_str(&wrapped(&run.sentence()));
    text.push_str(&misses(run));
    let more = format!(
        "All rows: `cwnd paper {} --all`; one result: `cwnd paper {0} RESULT`, which `cwnd paper` lists.",
        paper.id
    );
    text.push_str(&format!("\n{}", wrapped(&more)));
    text
}

/// A line for each place with misses: how many, and the first of them.
fn misses(run: &PaperRun) -> String {
    let missed = |result: &ResultRun| -> Vec<&JudgedRow> {
        let rows = run.results.iter().filter(|other| run.published.result[other.index].place() == place(run, result));
        rows.flat_map(|result| &result.rows).filter(|row| row.verdict == Verdict::Miss).collect()
    };
    let mut places: Vec<(&str, Vec<&JudgedRow>)> = Vec::new();
    for result in &run.results {
        let place = place(run, result);
        if places.iter().all(|(known, _)| *known != place) {
            places.push((place, missed(result)));
        }
    }
    places.retain(|(_, rows)| !rows.is_empty());
    // The most misses first; the rest in the order of the paper.
    places.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    if places.is_empty() {
        return String::new();
    }
    let mut table = Table::left();
    table.row(["misses", "such as", "published", "ours"]);
    for (place, rows) in places.iter().take(MOST) {
        let [first, ..] = rows.as_slice() else { continue };
        let count = format!("{} in {place}", rows.len());
        table.row([count, shortened(&first.name), shortened(&first.published_text()), shortened(&first.ours_text())]);
    }
    let mut text = format!("\n{}", table.folded());
    let rest: usize = places.iter().skip(MOST).map(|(_, rows)| rows.len()).sum();
    if rest > 0 {
        let _ = writeln!(text, "{rest} in {}", counted(places.len() - MOST, "other place"));
    }
    text
}

fn place<'a>(run: &'a PaperRun, result: &ResultRun) -> &'a str {
    run.published.result[result.index].place()
}

/// A cell of a line; longer text is cut at its end.
fn shortened(text: &str) -> String {
    if text.chars().count() <= CELL { text.to_string() } else { text.chars().take(CELL - 1).chain(['…']).collect() }
}

const CELL: usize = 30;
/// Places with misses that have a line.
const MOST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_a_width() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"x".repeat(40)).chars().count(), CELL);
    }
}
