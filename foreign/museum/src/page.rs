//! The page of the museum.

use std::fmt::Write as _;

use cwnd_conform::{Check, checks};

use crate::Line;
use crate::searches;
use crate::table::{Fault, Museum, Shown};

/// The page of the measured lines.
///
/// # Errors
/// A stack of the table was not measured, or a release before keeps the property, or one after breaks it.
pub fn page(lines: &[Line]) -> Result<String, String> {
    let museum = Museum::read();
    let searched = searches::read(include_str!("../searched.txt"))?;
    let mut wrong = Vec::new();
    let (mut outcomes, mut means) = (String::new(), String::new());
    for fault in &museum.faults {
        let broken = stacks(fault, &fault.broken, false, lines, &mut wrong);
        let mended = stacks(fault, &fault.mended, true, lines, &mut wrong);
        let shown = match &fault.shown {
            Shown::Check { check } => described(check),
            Shown::Scenario { scenario, .. } => {
                let found =
                    fault.found.as_ref().map_or_else(|| "no check finds it".to_string(), |check| described(check));
                format!("[{scenario}](../foreign/museum/{scenario}); {found}")
            }
        };
        let falsified = searches::found(&searched, &fault.issue).unwrap_or_else(|| "not tried".to_string());
        let Fault { issue, link, wrong, property, state, .. } = fault;
        let _ = writeln!(outcomes, "| [{issue}]({link}) | {wrong} | {broken} | {mended} | {state} |");
        let _ = writeln!(means, "| {issue} | {property} | {shown} | {falsified} |");
    }
    let mut text = format!("{HEAD}{outcomes}{MEANS}{means}");
    text.push_str(MISSING);
    for missing in &museum.missing {
        let _ = writeln!(text, "| [{}]({}) | {} |", missing.issue, missing.link, missing.reason);
    }
    if wrong.is_empty() { Ok(text) } else { Err(wrong.join("\n")) }
}

/// A check with its measured quantity and the accepted range, which give the numbers of a row their meaning.
fn described(check: &str) -> String {
    let Some(Check { measured, accepted, .. }) = checks().find(|one| one.id == check) else {
        panic!("there is no check `{check}`")
    };
    format!("`{check}`: {measured}; accepted: {accepted}")
}

/// The stacks of a cell with their measured values. Outcomes other than those of the table are added to `wrong`.
fn stacks(fault: &Fault, names: &[String], kept: bool, lines: &[Line], wrong: &mut Vec<String>) -> String {
    let cells: Vec<String> = names
        .iter()
        .map(|name| {
            let line = lines.iter().find(|line| line.issue == fault.issue && line.stack == *name);
            match line {
                Some(line) if line.kept == Some(kept) => {}
                Some(line) => {
                    wrong.push(format!("{}: {name} has {}, which is not what the table says", fault.issue, line.value))
                }
                None => wrong.push(format!("{}: {name} was not measured", fault.issue)),
            }
            format!("`{name}`: {}", line.map_or("", |line| &line.value))
        })
        .collect();
    if cells.is_empty() { "–".to_string() } else { cells.join("; ") }
}

const HEAD: &str = "\
# Museum of published faults

Each row is a fault of congestion control in a released stack, reproduced with that release in the simulator. It is published there or, in the rows
without a number, [drafted here](upstream/README.md). `cargo xtask museum` runs
all rows, writes this page, and fails unless each release *before* the fix breaks the property and each one *after* keeps it. The data are in
[faults.toml](../foreign/museum/faults.toml), and [foreign.md](foreign.md) lists the stacks. [The second table](#how-each-shows) explains the numbers.

| issue | fault | before | after | state |
| --- | --- | --- | --- | --- |
";

const MEANS: &str = "
## How each shows

A check of [`conform`](conform.md) or a scenario measures the property. A number without a unit in the first table is that of the check here.
The last column has the outcome of a search with [`falsify`](falsify.md#published-faults).

| issue | property | check or scenario | found by `falsify` |
| --- | --- | --- | --- |
";

const MISSING: &str = "
## Not shown

| issue | reason |
| --- | --- |
";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(broken: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for fault in Museum::read().faults {
            let line = |stack: &String, kept| Line {
                issue: fault.issue.clone(),
                stack: stack.clone(),
                kept: Some(kept),
                value: "1.000".to_string(),
            };
            lines.extend(fault.broken.iter().map(|stack| line(stack, !broken)));
            lines.extend(fault.mended.iter().map(|stack| line(stack, true)));
        }
        lines
    }

    #[test]
    fn the_page_has_a_row_for_each_fault() {
        let page = page(&lines(true)).expect("as the table has it");
        let museum = Museum::read();
        for issue in
            museum.faults.iter().map(|fault| &fault.issue).chain(museum.missing.iter().map(|fault| &fault.issue))
        {
            assert_eq!(page.matches(&format!("| [{issue}](")).count(), 1, "{issue}");
        }
        assert!(page.contains("| `9438-increment`: growth between 8 and 13 s"), "{page}");
    }

    #[test]
    fn a_fault_that_does_not_show_is_an_error() {
        let error = page(&lines(false)).expect_err("every property is kept");
        assert_eq!(error.lines().count(), Museum::read().faults.iter().map(|fault| fault.broken.len()).sum::<usize>());
        assert!(page(&[]).expect_err("nothing is measured").contains("was not measured"));
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        for line in lines(true) {
            assert_eq!(line.to_string().parse(), Ok(line));
        }
    }
}
