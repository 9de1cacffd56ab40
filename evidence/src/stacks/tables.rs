//! The tables of the records.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cwnd_report::plot::{Heatmap, document, panels};

use super::record::{Causes, Judged, Share, Verdicts};
use crate::Error;

/// How many checks each meets, each deviation with its cause, and the unclear checks.
pub(super) fn verdicts(judged: &[Verdicts], causes: &Causes) -> String {
    let mut text =
        "| | meets | deviates | unclear | seeds | revision |\n| --- | --: | --: | --: | --: | --- |\n".to_owned();
    for stack in judged {
        let (deviations, unclear) = (stack.of(DEVIATES).count(), stack.of(UNCLEAR).count());
        let _ = writeln!(
            text,
            "| `{}` | {} | {deviations} | {unclear} | {} | {} |",
            stack.subject,
            stack.met.len(),
            stack.seeds,
            stack.sources
        );
    }
    let _ = writeln!(
        text,
        "\n## Deviations\n\n| | check | clause | level | required | measured | cause |\n|{}",
        " --- |".repeat(7)
    );
    for stack in judged {
        for Judged { id, section, level, requirement, measured, value, note, .. } in stack.of(DEVIATES) {
            let (subject, cause) = (&stack.subject, causes.of(&stack.subject, id));
            let value = value.map_or_else(|| note.clone().unwrap_or_default(), |value| value.text(1.0));
            let _ = writeln!(
                text,
                "| `{subject}` | `{id}` | {section} | {level} | {requirement} | {measured}: {value} | {cause} |"
            );
        }
    }
    text.push_str("\n## Unclear\n\n| | checks |\n| --- | --- |\n");
    for stack in judged.iter().filter(|stack| stack.of(UNCLEAR).next().is_some()) {
        let checks: Vec<String> = stack.of(UNCLEAR).map(|check| format!("`{}`", check.id)).collect();
        let _ = writeln!(text, "| `{}` | {} |", stack.subject, checks.join(", "));
    }
    text
}

/// A row for each check that a controller of `COLUMNS` does not meet, and a column for each stack.
pub(super) fn clauses(judged: &[Verdicts]) -> String {
    let columns: Vec<(&str, Vec<&Verdicts>)> = COLUMNS
        .into_iter()
        .map(|stack| (stack, judged.iter().filter(|record| of(&record.subject).0 == stack).collect()))
        .filter(|(_, records): &(_, Vec<_>)| !records.is_empty())
        .collect();
    let shown = || columns.iter().flat_map(|(_, records)| records);
    let mut rows: BTreeMap<(&str, &str), &Judged> = BTreeMap::new();
    for check in shown().flat_map(|record| &record.others) {
        rows.entry((&check.suite, &check.id)).or_insert(check);
    }
    let met: BTreeSet<&String> = shown().flat_map(|record| &record.met).collect();
    let met = met.into_iter().filter(|id| !rows.values().any(|check| check.id == **id)).count();
    let heads: Vec<&str> = columns.iter().map(|(stack, _)| if stack.is_empty() { "cwnd" } else { stack }).collect();
    let mut text = format!("| check | clause | {} |\n|{}\n", heads.join(" | "), " --- |".repeat(heads.len() + 2));
    for check in rows.values() {
        let _ = write!(text, "| `{}` | {} |", check.id, clause(&check.suite, &check.section));
        for (_, records) in &columns {
            let _ = write!(text, " {} |", cell(records, &check.id));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "\nEach of the other {met} checks is met by all controllers to which it applies.");
    text
}

/// The verdicts of the controllers of a stack.
fn cell(records: &[&Verdicts], id: &str) -> String {
    let mut others = Vec::new();
    for record in records {
        for check in record.others.iter().filter(|check| check.id == id) {
            let controller = of(&record.subject).1;
            others.push(match check.value {
                Some(value) if check.verdict == DEVIATES => format!("{controller} {}", rounded(value.mean)),
                None if check.verdict == DEVIATES => format!("{controller} fails"),
                _ => format!("{controller} ?"),
            });
        }
    }
    if others.is_empty() {
        let met = records.iter().any(|record| record.met.iter().any(|met| met == id));
        return if met { "met" } else { "–" }.to_owned();
    }
    others.join(", ")
}

/// The share of a flow against ours, and its utilisation alone.
pub(super) fn shares(shares: &[Share], paths: &[(&[&str], &str)]) -> String {
    let mut text = "| | with |".to_owned();
    for (_, name) in paths {
        let _ = write!(text, " {name} |");
    }
    let _ = writeln!(text, "\n|{}", " --- |".repeat(paths.len() + 2));
    let mut sources: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (subject, ours) in contests(shares) {
        let _ = write!(text, "| `{subject}` | `{ours}` |");
        for (options, _) in paths {
            match find(shares, subject, options) {
                Some(found) => {
                    let _ = write!(text, " {} / {:.0} |", found.share.text(100.0), 100.0 * found.alone.mean);
                    let stacks = sources.entry(format!("{}, {} seeds", found.sources, found.seeds)).or_default();
                    if !stacks.contains(&subject) {
                        stacks.push(subject);
                    }
                }
                None => text.push_str(" – |"),
            }
        }
        text.push('\n');
    }
    text.push_str("\n![The shares of the table as colours: a row for each stack, a column for each path](validation/stacks-shares.svg)\n");
    for (source, stacks) in sources {
        let _ = writeln!(text, "\nSimulated at {source}: {}.", stacks.join(", "));
    }
    text
}

/// The shares as colours.
pub(super) fn picture(shares: &[Share], paths: &[(&[&str], &str)], to: &Path) -> Result<(), Error> {
    let rows: Vec<&str> = contests(shares).into_iter().rev().map(|(subject, _)| subject).collect();
    let percent = |subject: &str, options: &[&str]| Some((100.0 * find(shares, subject, options)?.share.mean).round());
    let map = Heatmap {
        title: "Share of the goodput, %".to_owned(),
        x: "Path: Mbit/s, ms of round trip".to_owned(),
        y: "Stack".to_owned(),
        // The whole names are wider than a column.
        across: paths
            .iter()
            .map(|(options, _)| {
                format!("{}, {}", options[1].trim_end_matches("mbit"), options[3].trim_end_matches("ms"))
            })
            .collect(),
        down: rows.iter().map(|subject| (*subject).to_owned()).collect(),
        values: rows
            .iter()
            .map(|subject| paths.iter().map(|(options, _)| percent(subject, options)).collect())
            .collect(),
        limits: Some([0.0, 100.0]),
    };
    let text = document(panels(&[map.plot("shares")], 1)).to_string();
    let at = |source| Error::File { path: PathBuf::from(to), source };
    std::fs::create_dir_all(to.parent().unwrap_or(to)).map_err(at)?;
    std::fs::write(to, text).map_err(at)
}

/// Each pair once, in the order of the records.
fn contests(shares: &[Share]) -> Vec<(&str, &str)> {
    let mut once: Vec<(&str, &str)> =
        shares.iter().map(|share| (share.subject.as_str(), share.ours.as_str())).collect();
    once.dedup();
    once
}

fn find<'a>(shares: &'a [Share], subject: &str, options: &[&str]) -> Option<&'a Share> {
    let path = options.join(" ");
    shares.iter().find(|share| share.subject == subject && share.path == path)
}

/// The stack and the controller of a name.
fn of(subject: &str) -> (&str, &str) {
    subject.split_once(':').unwrap_or(("", subject))
}

/// The document and section of a check; a section may name its document itself.
fn clause(suite: &str, section: &str) -> String {
    match suite.strip_prefix("rfc") {
        Some(number) if !section.starts_with("RFC") => format!("RFC {number} section {section}"),
        None if suite == "bbr" => format!("BBR draft {section}"),
        _ => section.to_owned(),
    }
}

/// Three digits.
fn rounded(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 3.0) };
    let text = format!("{value:.*}", places as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The names of verdicts in the document of `cwnd conform --json`.
const DEVIATES: &str = "departs";
const UNCLEAR: &str = "unclear";

/// The stacks of the columns; ours have no prefix.
const COLUMNS: [&str; 8] = ["quinn", "noq", "quiche", "tquic", "gvisor", "smoltcp", "s2n", ""];

#[cfg(test)]
mod tests {
    use crate::provenance::Provenance;

    use super::*;

    fn record(subject: &str, checks: &str) -> Verdicts {
        let checks = checks.split_whitespace().map(|check| {
            let [id, verdict, mean] = check.split('=').collect::<Vec<_>>()[..] else { panic!("{check}") };
            let text = format!(
                "{{\"id\":\"{id}\",\"suite\":\"rfc9438\",\"section\":\"4\",\"level\":\"must\",\"requirement\":\"r\",\
                 \"verdict\":\"{verdict}\",\"measured\":\"m\",\"value\":{{\"mean\":{mean},\"ci95\":null}},\"note\":null}}"
            );
            serde_json::from_str(&text).expect("a verdict")
        });
        let sources = Provenance::Unknown { committed: "c".to_owned() };
        Verdicts::new(subject, &sources, 3, checks.collect())
    }

    #[test]
    fn the_table_of_clauses_has_a_row_for_each_deviation_and_counts_the_rest() {
        let judged = [
            record("quinn:cubic", "a=departs=116.4 b=meets=1 c=meets=1 d=not_applicable=0"),
            record("quinn:reno", "b=unclear=0.5 c=meets=1"),
            record("tquic:cubic", "a=meets=2 b=meets=1"),
            record("cubic", "b=departs=7"),
        ];
        let text = clauses(&judged);
        assert!(text.contains("| check | clause | quinn | tquic | cwnd |"), "{text}");
        assert!(text.contains("| `a` | RFC 9438 section 4 | cubic 116 | met | – |"), "{text}");
        assert!(text.contains("| `b` | RFC 9438 section 4 | reno ? | met | cubic 7 |"), "{text}");
        assert!(!text.contains("| `c` |"), "each controller meets it: {text}");
        assert!(text.contains("Each of the other 1 checks"), "{text}");
    }

    #[test]
    fn a_record_does_not_count_checks_that_do_not_apply() {
        let record = record("quinn:cubic", "a=departs=116.4 b=meets=1 c=unclear=1 d=not_applicable=0");
        let counts = (record.met.len(), record.of(DEVIATES).count(), record.of(UNCLEAR).count());
        assert_eq!((counts, record.others.len()), ((1, 1, 1), 2));
    }

    #[test]
    fn a_clause_names_its_document_once() {
        let clauses = [
            ("rfc5681", "3.1"),
            ("rfc5681", "RFC 6675 section 5"),
            ("bbr", "appendix A"),
            ("situations", "RFC 2914 section 3"),
        ]
        .map(|(suite, section)| clause(suite, section));
        assert_eq!(
            clauses,
            ["RFC 5681 section 3.1", "RFC 6675 section 5", "BBR draft appendix A", "RFC 2914 section 3"]
        );
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([1432.4, 116.04, 0.8111, 0.0, 2.0].map(rounded), ["1432", "116", "0.811", "0", "2"]);
    }
}
