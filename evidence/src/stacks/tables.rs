//! The tables of the records.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cwnd_report::plot::{Heatmap, document, panels};

use super::record::{Causes, Conformance, Judged, Share};
use crate::Error;

/// How many checks each meets, and what deviates.
pub(super) fn verdicts(judged: &[Conformance], causes: &Causes) -> String {
    let mut text =
        "| | meets | deviates | unclear | seeds | revision |\n| --- | --: | --: | --: | --: | --- |\n".to_owned();
    for stack in judged {
        let _ = write!(text, "| `{}` |", stack.subject);
        for verdict in ["meets", "departs", "unclear"] {
            let count = stack.checks.iter().filter(|check| check.verdict == verdict).count();
            let _ = write!(text, " {count} |");
        }
        let _ = writeln!(text, " {} | {} |", stack.seeds, stack.sources);
    }
    text.push_str("\nWhat deviates:\n\n| | check | clause | level | required | measured | cause |\n|");
    text.push_str(&" --- |".repeat(7));
    text.push('\n');
    for stack in judged {
        for check in stack.checks.iter().filter(|check| check.verdict == "departs") {
            let Judged { id, section, level, requirement, measured, value, .. } = check;
            let value = value.map_or("-".to_owned(), |value| value.text(1.0));
            let (subject, cause) = (&stack.subject, causes.of(&stack.subject, id));
            let _ = writeln!(
                text,
                "| `{subject}` | `{id}` | {section} | {level} | {requirement} | {measured}: {value} | {cause} |"
            );
        }
    }
    text
}

/// A row for each check from which a stack deviates, or of which that is unclear, and a column for each stack.
pub(super) fn clauses(judged: &[Conformance]) -> String {
    let columns: Vec<&str> = COLUMNS.into_iter().filter(|stack| of_column(judged, stack).next().is_some()).collect();
    let mut checks: Vec<&Judged> = Vec::new();
    for check in columns.iter().flat_map(|stack| of_column(judged, stack)).flat_map(|record| &record.checks) {
        if !checks.iter().any(|other| other.id == check.id) {
            checks.push(check);
        }
    }
    let all = checks.len();
    checks.retain(|check| {
        let of_stacks = columns.iter().flat_map(|stack| of_column(judged, stack)).flat_map(|record| &record.checks);
        of_stacks.filter(|other| other.id == check.id).any(|other| other.verdict != "meets")
    });
    checks.sort_by(|a, b| (&a.suite, &a.id).cmp(&(&b.suite, &b.id)));
    let mut text = format!("| check | clause | {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len() + 2));
    for check in &checks {
        let _ = write!(text, "| `{}` | {} {} |", check.id, document_of(&check.suite), check.section);
        for stack in &columns {
            let _ = write!(text, " {} |", cell(of_column(judged, stack), &check.id));
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "\nA number is a deviation, **?** an unclear verdict, *met* the verdict of all controllers of the stack to which the check applies, and – \
         none of these. The stacks meet each of the other {} checks that apply to one of them.",
        all - checks.len()
    );
    text
}

/// The records of the controllers of a stack.
fn of_column<'a>(judged: &'a [Conformance], stack: &'a str) -> impl Iterator<Item = &'a Conformance> {
    judged.iter().filter(move |record| of(&record.subject).0 == stack)
}

/// The verdicts of the controllers of a stack.
fn cell<'a>(records: impl Iterator<Item = &'a Conformance>, id: &str) -> String {
    let (mut others, mut met) = (Vec::new(), false);
    for record in records {
        for check in record.checks.iter().filter(|check| check.id == id) {
            let controller = of(&record.subject).1;
            match (check.verdict.as_str(), check.value) {
                ("meets", _) => met = true,
                ("departs", Some(value)) => others.push(format!("{controller} {}", rounded(value.mean))),
                ("departs", None) => others.push(format!("{controller} no")),
                _ => others.push(format!("{controller} **?**")),
            }
        }
    }
    match (others.is_empty(), met) {
        (false, _) => others.join(", "),
        (true, true) => "*met*".to_owned(),
        (true, false) => "–".to_owned(),
    }
}

/// The share of a flow against ours, and its utilisation alone.
pub(super) fn shares(shares: &[Share], paths: &[(&[&str], &str)]) -> String {
    let mut text = "| | against |".to_owned();
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
        x: "Path".to_owned(),
        y: "Stack".to_owned(),
        across: paths.iter().map(|(_, name)| (*name).to_owned()).collect(),
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

/// The document of a suite as people write it.
fn document_of(suite: &str) -> String {
    match suite.strip_prefix("rfc") {
        Some(number) => format!("RFC {number}"),
        None if suite == "situations" => String::new(),
        None => suite.to_owned(),
    }
}

/// Three digits.
fn rounded(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 3.0) };
    let text = format!("{value:.*}", places as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The stacks of the columns, as far as they are recorded.
const COLUMNS: [&str; 7] = ["quinn", "noq", "quiche", "tquic", "gvisor", "smoltcp", "s2n"];

#[cfg(test)]
mod tests {
    use super::*;

    fn record(subject: &str, checks: &str) -> Conformance {
        let checks: Vec<String> = checks
            .split_whitespace()
            .map(|check| {
                let [id, verdict, mean] = check.split('=').collect::<Vec<_>>()[..] else { panic!("{check}") };
                format!(
                    "{{\"id\":\"{id}\",\"suite\":\"rfc9438\",\"section\":\"4\",\"level\":\"must\",\"requirement\":\"r\",\
                     \"verdict\":\"{verdict}\",\"measured\":\"m\",\"value\":{{\"mean\":{mean},\"ci95\":null}}}}"
                )
            })
            .collect();
        let text = format!(
            "{{\"subject\":\"{subject}\",\"sources\":{{\"unknown\":{{\"committed\":\"c\"}}}},\"seeds\":3,\"checks\":[{}]}}",
            checks.join(",")
        );
        serde_json::from_str(&text).expect("a record")
    }

    #[test]
    fn the_table_of_clauses_has_a_row_for_each_deviation_and_counts_the_rest() {
        let judged = [
            record("quinn:cubic", "a=departs=116.4 b=meets=1 c=meets=1"),
            record("quinn:reno", "b=unclear=0.5 c=meets=1"),
            record("tquic:cubic", "a=meets=2 b=meets=1"),
            record("cubic", "c=departs=7"),
        ];
        let text = clauses(&judged);
        assert!(text.contains("| `a` | RFC 9438 4 | cubic 116 | *met* |"), "{text}");
        assert!(text.contains("| `b` | RFC 9438 4 | reno **?** | *met* |"), "{text}");
        assert!(!text.contains("| `c` |"), "ours are no column: {text}");
        assert!(text.contains("each of the other 1 checks"), "{text}");
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([1432.4, 116.04, 0.8111, 0.0, 2.0].map(rounded), ["1432", "116", "0.811", "0", "2"]);
    }
}
