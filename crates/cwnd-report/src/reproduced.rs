//! The page on papers: tables of the record of each paper, in the hand-written text of `papers/page.md`.

use std::collections::BTreeSet;
use std::fmt::Write;

use cwnd_papers::{
    Ablation, Alternatives, Basis, Counts, InNs2, PAPERS, PaperError, Profile, Provenance, Published, PublishedResult,
    PublishedRow, RecordFile, Recorded, RecordedRow, Register, Scale, Verdict, sentence,
};

use crate::made;

/// The whole page: the text of `papers/page.md` with its tables.
///
/// # Errors
/// A file of a paper, or a record, is wrong.
pub fn papers() -> Result<String, PaperError> {
    let records = [Recorded::at(Scale::Full)?, Recorded::at(Scale::Quick)?];
    let mut page = PAGE.to_string();
    let mut summary = format!("\n| on record |{}", header(1));
    let mut sentences = String::new();
    for paper in PAPERS {
        let published = paper.published()?;
        count(&mut summary, &published, &records);
        let _ = writeln!(sentences, "- **{}**: {}", paper.id(), in_a_sentence(&published, &records));
        let is_daimd = paper.id() == "daimd";
        let in_ns2 = if is_daimd { InNs2::recorded()? } else { InNs2::default() };
        page = replaced(&page, paper.id(), &tables(&published, &records, &in_ns2));
        if let Some(result) = published.result("fig-14").filter(|_| is_daimd) {
            page = replaced(&page, "fig-14", &over_queues(&published.paper.id, result, &records));
        }
    }
    let _ = writeln!(
        summary,
        "\nWhere each paper comes out again, and where it does not; in brackets the rows that match, of those compared:\n\n{sentences}"
    );
    page = replaced(&page, "profile", &Profile::written()?.table());
    page = replaced(&page, "ablation", &ablation(&Ablation::recorded()?));
    page = replaced(&page, "alternatives", &made::alternatives(&Alternatives::recorded()?));
    page = replaced(&page, "register", &made::register(&Register::recorded()?));
    page = replaced(&page, "provenance", &made::provenance(&Provenance::recorded()?));
    Ok(replaced(&page, "all", &summary))
}

/// The page with what stands between the markers called `id` replaced.
fn replaced(page: &str, id: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- tables of {id} -->\n"), format!("<!-- end of {id} -->"));
    let parts = page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    match parts {
        Some((before, after)) => format!("{before}{begin}{table}{end}{after}"),
        None => format!("{page}\n{begin}{table}{end}\n"),
    }
}

/// The rows of a paper with what they belong to.
fn rows(published: &Published) -> impl Iterator<Item = (&PublishedResult, &PublishedRow)> {
    published.result.iter().flat_map(|result| result.rows.iter().map(move |row| (result, row)))
}

/// The records of a paper, in a sentence.
fn in_a_sentence(published: &Published, records: &[Recorded; 2]) -> String {
    let paper = &published.paper.id;
    let verdict = |(result, row): (_, &PublishedRow)| {
        let result: &PublishedResult = result;
        Some((result.place(), row.basis(), entry(records, paper, &result.id, &row.id)?.verdict))
    };
    sentence(rows(published).filter_map(verdict))
}

/// The counts of a paper at each length that is on record.
fn count(out: &mut String, published: &Published, records: &[Recorded; 2]) {
    let paper = &published.paper.id;
    for (recorded, length) in records.iter().zip(["--full", "--quick"]) {
        let verdict = |(result, row): (&PublishedResult, &PublishedRow)| {
            Some((row.basis(), recorded.entry(paper, &result.id, &row.id)?.verdict))
        };
        let counts = Counts::of(rows(published).filter_map(verdict));
        if counts != Counts::default() {
            let _ = writeln!(out, "| `cwnd paper {paper} {length}` |{}", cells(counts));
        }
    }
}

/// The counts of each result, then every row that is not a match.
fn tables(published: &Published, records: &[Recorded; 2], in_ns2: &InNs2) -> String {
    let paper = &published.paper.id;
    let mut text = format!("\n| result | what |{}", header(2));
    for result in &published.result {
        let verdict = |row: &PublishedRow| Some((row.basis(), entry(records, paper, &result.id, &row.id)?.verdict));
        let counts = Counts::of(result.rows.iter().filter_map(verdict));
        let _ = writeln!(text, "| {} (`{}`) | {} |{}", result.place(), result.id, result.title, cells(counts));
    }
    let mut exceptions = String::new();
    for (result, row) in rows(published) {
        let entry = entry(records, paper, &result.id, &row.id);
        if let Some(entry) = entry.filter(|entry| matches!(entry.verdict, Verdict::Miss | Verdict::Undecided)) {
            exception(&mut exceptions, (published, result, row), (entry, in_ns2));
        }
    }
    if !exceptions.is_empty() {
        let column = if in_ns2.rows().next().is_some() { " in ns-2 |" } else { "" };
        let _ = write!(
            text,
            "\nRows that do not match:\n\n| result | row | published |{column} ours | tolerance | verdict | reason |\n|{}\n{exceptions}",
            "---|".repeat(7 + usize::from(!column.is_empty()))
        );
    }
    text.push('\n');
    text
}

/// A row for each variant of UDT that is on record, a column for each result.
fn ablation(recorded: &Ablation) -> String {
    let results: BTreeSet<&String> = recorded.variant.iter().flat_map(|variant| variant.counts.keys()).collect();
    let names: String = results.iter().map(|result| format!(" `{result}` |")).collect();
    let mut text = format!("\n| profile | change |{names}\n|{}\n", "---|".repeat(results.len() + 2));
    for variant in &recorded.variant {
        let change = if variant.change.is_empty() { String::new() } else { format!("`{}`", variant.change) };
        let cell = |result: &&String| match (variant.counts.get(*result), variant.distance.get(*result)) {
            (Some([matches, misses, undecided]), distance) => {
                let distance =
                    distance.map_or_else(String::new, |one| format!(", {} %", cwnd_text::decimal(one * 100.0, 1)));
                format!(" {matches} / {misses} / {undecided}{distance} |")
            }
            (None, _) => " not run |".to_string(),
        };
        let cells: String = results.iter().map(cell).collect();
        let _ = writeln!(text, "| `{}` | {change} |{cells}", variant.profile);
    }
    text.push_str(
        "\nPrinted numbers that profile `paper` misses there, and the changes of one rule by which they match:\n\n",
    );
    text.push_str("| result | row | matches with |\n|---|---|---|\n");
    for (result, row, changes) in recorded.turned("paper") {
        let changes: Vec<String> = changes.iter().map(|change| format!("`{change}`")).collect();
        let changes = if changes.is_empty() { "no change of one rule".to_string() } else { changes.join(", ") };
        let _ = writeln!(text, "| `{result}` | {row} | {changes} |");
    }
    text.push('\n');
    text
}

/// The ratios of Fig. 14 over the size of the queue, as a table: rows whose names end with it.
fn over_queues(paper: &str, result: &PublishedResult, records: &[Recorded; 2]) -> String {
    let mut queues: Vec<&str> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for (column, queue) in result.rows.iter().filter_map(|row| row.id.split_once(", queue of ")) {
        if !queues.contains(&queue) {
            queues.push(queue);
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let mut text = format!("\n| queue | {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len() + 1));
    for queue in queues {
        let cells = columns.iter().map(|column| {
            let row = format!("{column}, queue of {queue}");
            entry(records, paper, &result.id, &row).map_or("", |entry| &*entry.ours)
        });
        let _ = writeln!(text, "| {queue} | {} |", cells.collect::<Vec<&str>>().join(" | "));
    }
    text.push('\n');
    text
}

/// The names of the columns of [`cells`], and the line below the names of these and the `columns` before them.
fn header(columns: usize) -> String {
    let names = Basis::ALL.map(|basis| format!(" {} |", basis.plural()));
    format!("{} not reproducible |\n|{}\n", names.concat(), "---|".repeat(columns + names.len() + 1))
}

/// A cell for each basis: match, miss, undecided. Nothing instead of zero.
fn cells(counts: Counts) -> String {
    let verdicts = |basis| {
        let parts = [Verdict::Match, Verdict::Miss, Verdict::Undecided].map(|verdict| counts.get(basis, verdict));
        if parts == [0; 3] { "  |".to_string() } else { format!(" {} / {} / {} |", parts[0], parts[1], parts[2]) }
    };
    let left = match counts.all(Verdict::NotReproducible) {
        0 => "  |".to_string(),
        count => format!(" {count} |"),
    };
    format!("{}{left}", Basis::ALL.map(verdicts).concat())
}

fn exception(
    out: &mut String,
    (published, result, row): (&Published, &PublishedResult, &PublishedRow),
    (entry, in_ns2): (&RecordedRow, &InNs2),
) {
    let name = published.row_name(result, &row.id);
    let published = row.published_text();
    let tolerance = row.tolerance.as_ref().map(ToString::to_string).unwrap_or_default();
    let reason = row.reason_text();
    let reason = match (reason.as_deref(), entry.verdict) {
        (Some(reason), _) => reason,
        (None, Verdict::Miss) => "",
        (None, _) => "the interval reaches across the edge",
    };
    let RecordedRow { verdict, ours } = entry;
    let verdict = verdict.to_string();
    let mut cells = vec![result.place(), &*name, &*published, &**ours, &*tolerance, &*verdict, reason];
    if in_ns2.rows().next().is_some() {
        cells.insert(3, in_ns2.entry(&result.id, &row.id).unwrap_or_default());
    }
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// The record at full length, or else at reduced length.
fn entry<'a>(records: &'a [Recorded; 2], paper: &str, result: &str, row: &str) -> Option<&'a RecordedRow> {
    records.iter().find_map(|recorded| recorded.entry(paper, result, row))
}

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/page.md"));
