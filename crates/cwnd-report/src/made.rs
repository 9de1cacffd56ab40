//! The origin of the records of the papers, and the assumptions that their verdicts depend on: tables of the page on papers.

use std::collections::BTreeMap;
use std::fmt::Write;

use cwnd_papers::{Alternatives, Made, PAPERS, Provenance, Register, Scale, Verdict};

/// A row for each alternative and result, with the rows of the result that change.
pub(crate) fn alternatives(recorded: &Alternatives) -> String {
    let mut text = "\n| paper | with | result | as assumed | with it | rows that change |\n|---|---|---|---|---|---|\n"
        .to_string();
    let counts = |[matches, misses, undecided]: [usize; 3]| format!("{matches} / {misses} / {undecided}");
    for one in &recorded.alternative {
        for (result, outcome) in &one.result {
            let rows: Vec<String> = outcome.changed.iter().map(|(row, now)| format!("{row}: {now}")).collect();
            let _ = writeln!(
                text,
                "| {} | `{}` | `{result}` | {} | {} | {} |",
                one.paper,
                one.set,
                counts(outcome.assumed),
                counts(outcome.counts),
                rows.join("; ").replace('|', "\\|"),
            );
        }
    }
    text.push('\n');
    text
}

/// A row for each verdict that a registered change of what rows are compared with has changed.
pub(crate) fn register(register: &Register) -> String {
    let mut text = "\n| date | row | compared with | `--full` | `--quick` |\n|---|---|---|---|---|\n".to_string();
    for change in &register.change {
        for (row, verdicts) in &change.verdicts {
            let with = change.values.get(row).map_or("", |with| with.trim_end_matches(", Compared"));
            let of = |length: &str| {
                let changed = |[before, after]: &[Verdict; 2]| format!("{before} → {after}");
                verdicts.get(length).map(changed).unwrap_or_default()
            };
            let cells = [&*change.date, row, with, &of("full"), &of("quick")].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text.push('\n');
    text
}

/// A row for each command that recorded results of a paper.
pub(crate) fn provenance(recorded: &Provenance) -> String {
    let mut text =
        "\n| on record | revision | date | machine | seeds | lengths | wall time | processor time | results |\n|---|---|---|---|---|---|---|---|---|\n"
            .to_string();
    for paper in PAPERS {
        for (scale, length) in [(Scale::Full, "--full"), (Scale::Quick, "--quick")] {
            let mut commands: BTreeMap<(&str, &str), Vec<(&String, &Made)>> = BTreeMap::new();
            for (result, made) in recorded.results(scale, paper.id()) {
                commands.entry((&made.date, &made.revision)).or_default().push((result, made));
            }
            for ((date, revision), results) in commands {
                let made = results.iter().map(|(_, made)| *made);
                let names: Vec<String> = results.iter().map(|(result, _)| format!("`{result}`")).collect();
                let _ = writeln!(
                    text,
                    "| `cwnd paper {} {length}` | {revision} | {date} | {} | {} | {} | {} | {} | {} |",
                    paper.id(),
                    results[0].1.machine,
                    range(made.clone().filter_map(|made| made.seeds).flatten().map(|seed| seed as f64), ""),
                    range(made.clone().flat_map(|made| made.length_s).filter(|seconds| *seconds > 0.0), " s"),
                    time(made.clone(), |made| made.wall_s),
                    time(made, |made| made.processor_s),
                    names.join(", "),
                );
            }
        }
    }
    text.push('\n');
    text
}

/// A time that commands took; at least so long where runs could come from a store.
fn time<'a>(made: impl Iterator<Item = &'a Made> + Clone, of: fn(&Made) -> Option<f64>) -> String {
    let stored = made.clone().any(|made| made.stored && of(made).is_some());
    let times = range(made.filter_map(of), " s");
    if stored { format!("at least {times}") } else { times }
}

/// The least and the largest; nothing of none.
fn range(values: impl Iterator<Item = f64>, unit: &str) -> String {
    let values: Vec<f64> = values.collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.len() {
        0 => "not recorded".to_string(),
        _ if least == largest => format!("{least}{unit}"),
        _ => format!("{least} to {largest}{unit}"),
    }
}
