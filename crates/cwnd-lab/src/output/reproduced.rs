//! The tables of `docs/papers.md`: what is on record of each paper. The words around them are written by hand.

use std::fmt::Write;

use crate::paper::{Entry, Files, PAPERS, PaperError, Published, PublishedResult, Recorded, Scale, Verdict};

/// `docs/papers.md` with its tables made anew.
///
/// # Errors
/// A file of a paper, or a record, is wrong.
pub fn papers() -> Result<String, PaperError> {
    let records = [Recorded::at(Scale::Full)?, Recorded::at(Scale::Quick)?];
    let mut page = PAGE.to_string();
    for files in PAPERS {
        let published = Published::read(&files.path("published.toml"), files.published)?;
        page = replaced(&page, files, &tables(&published, &records));
    }
    Ok(page)
}

/// The page with what stands between the markers of a paper replaced.
fn replaced(page: &str, files: &Files, table: &str) -> String {
    let (begin, end) = (format!("<!-- tables of {} -->\n", files.id), format!("<!-- end of {} -->", files.id));
    let parts = page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    match parts {
        Some((before, after)) => format!("{before}{begin}{table}{end}{after}"),
        None => format!("{page}\n{begin}{table}{end}\n"),
    }
}

/// The counts of each result, then every row that is not a match.
fn tables(published: &Published, records: &[Recorded; 2]) -> String {
    let paper = &published.paper.id;
    let mut text =
        String::from("\n| result | what | match | miss | undecided | not reproducible |\n|---|---|---|---|---|---|\n");
    let mut exceptions = String::new();
    for result in &published.result {
        let mut counts = [0; 4];
        for row in &result.rows {
            let Some(entry) = entry(records, paper, &result.id, &row.id) else { continue };
            let Some(at) = Verdict::ALL.iter().position(|verdict| *verdict == entry.verdict) else { continue };
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
            if matches!(entry.verdict, Verdict::Miss | Verdict::Undecided) {
                exception(&mut exceptions, result, &row.id, entry);
            }
        }
        let cells: Vec<String> =
            counts.iter().map(|count| if *count == 0 { String::new() } else { count.to_string() }).collect();
        let _ = writeln!(text, "| `{}` | {} | {} |", result.id, result.title, cells.join(" | "));
    }
    if !exceptions.is_empty() {
        let _ = write!(
            text,
            "\nRows that are no match:\n\n| result | row | published | ours | tolerance | verdict | reason |\n|---|---|---|---|---|---|---|\n{exceptions}"
        );
    }
    text.push('\n');
    text
}

fn exception(out: &mut String, result: &PublishedResult, id: &str, entry: &Entry) {
    let Some(row) = result.rows.iter().find(|row| row.id == id) else { return };
    let published = row.published.as_ref().map_or_else(|| "–".to_string(), ToString::to_string);
    let tolerance = row.tolerance.as_ref().map(ToString::to_string).unwrap_or_default();
    let reason = match entry.verdict {
        Verdict::Miss => row.reason.as_deref().unwrap_or_default(),
        _ => "the interval reaches across the edge",
    };
    let Entry { verdict, ours } = entry;
    let cells = [&result.id, id, &published, ours, &tolerance, &verdict.to_string(), reason];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// What is on record at full length, or else at reduced length.
fn entry<'a>(records: &'a [Recorded; 2], paper: &str, result: &str, row: &str) -> Option<&'a Entry> {
    records.iter().find_map(|recorded| recorded.entry(paper, result, row))
}

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers.md"));
