//! What can be wrong with a scenario, and where.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use cwnd_sim::SetupError;
use cwnd_text::{counted, exact, one_line};
use thiserror::Error;

use super::quantity::unknown;

/// A scenario cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioError {
    /// Where.
    pub place: Place,
    /// The fault and the accepted values.
    pub fault: Fault,
}

/// Where a scenario is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File(Box<Excerpt>),
    /// In a scenario that was not read from a file: the key.
    Key(String),
    /// In `--set`, with its text.
    Override(String),
}

/// A few characters of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The file's name, as it was given.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the line.
    pub text: String,
    /// How many characters are meant, at least 1.
    pub width: usize,
}

/// A fault of a scenario, with the accepted values.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Fault {
    /// Not TOML, an unknown key, or a value that cannot be read.
    #[error("{0}")]
    Document(String),
    /// A key is missing.
    #[error("`{key}` is missing: {why}")]
    Missing {
        /// The key.
        key: &'static str,
        /// Why it is needed.
        why: &'static str,
    },
    /// There are no flows.
    #[error("no flows: add a `[[flow]]` or `[[arrivals]]` with an `algorithm`")]
    NoFlows,
    /// A run would record more samples than memory holds.
    #[error(
        "{} with {} each are more than {most} samples: take fewer flows, a shorter `duration`, or a longer `sampling`, such as `off`",
        counted(flows, "flow"),
        counted(rows, "sample")
    )]
    Samples {
        /// The flows.
        flows: usize,
        /// The samples of each.
        rows: u64,
        /// The accepted maximum.
        most: u64,
    },
    /// A value outside its range.
    #[error("`{key}` {}", refusal(given, accepted))]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        given: String,
        /// The accepted values, or `none` and where.
        accepted: String,
    },
    /// The simulator refuses the setup that the scenario describes.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A file with a delivery trace cannot be read, or is none.
    #[error("{0}")]
    Trace(String),
    /// No topology, or more than one.
    #[error("{0} topologies: a scenario has exactly one of `[dumbbell]`, `[parking_lot]` and `[[link]]`")]
    Topology(&'static str),
    /// A flow names a node or a link that is not there.
    #[error("{}", unknown(what, name, known))]
    Unknown {
        /// `node` or `link`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = without_middle(one_line(&self.fault.to_string()));
        match &self.place {
            Place::File(excerpt) => {
                let Excerpt { name, line, column, text, width } = &**excerpt;
                let number = line.to_string();
                let margin = " ".repeat(number.len());
                let (text, place) = cut(text, *column);
                let width = (*width).min(text.chars().count().saturating_sub(place - 1)).max(1);
                let before: String = text.chars().take(place - 1).collect();
                let indent = " ".repeat(one_line(&before).chars().count());
                writeln!(out, "{}:{line}:{column}: {fault}", one_line(name))?;
                write!(out, "{margin} |\n{number} | {}\n{margin} | {indent}{}", one_line(&text), "^".repeat(width))
            }
            Place::Key(key) if key.is_empty() => out.write_str(&fault),
            Place::Key(key) => write!(out, "{}: {fault}", one_line(key)),
            Place::Override(text) => write!(out, "--set {}: {fault}", one_line(text)),
        }
    }
}

/// A reason that quotes a long value as its beginning and its end: the value may come from an address of 256 KiB.
fn without_middle(reason: String) -> String {
    let length = reason.chars().count();
    if length <= LONGEST_REASON {
        return reason;
    }
    let half = LONGEST_REASON / 2;
    reason.chars().take(half).chain(" … ".chars()).chain(reason.chars().skip(length - half)).collect()
}

/// A long line as its part around a column, from 1, which is returned with the column's place in that part.
fn cut(line: &str, column: usize) -> (Cow<'_, str>, usize) {
    let length = line.chars().count();
    if length <= MOST_SHOWN {
        return (Cow::Borrowed(line), column);
    }
    let first = (column - 1).saturating_sub(MOST_SHOWN / 2);
    let [before, after] = [first > 0, first + MOST_SHOWN < length].map(|is_cut| if is_cut { "…" } else { "" });
    let part: String = line.chars().skip(first).take(MOST_SHOWN).collect();
    (Cow::Owned(format!("{before}{part}{after}")), column - first + before.chars().count())
}

/// Characters of a number that an error repeats as it was given: more are the digits of a very large or small one.
const LONGEST_NUMBER: usize = 24;
/// Characters of a line that an error shows.
const MOST_SHOWN: usize = 200;
/// Characters of a reason that an error shows.
const LONGEST_REASON: usize = 2000;

impl std::error::Error for ScenarioError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// The sentence about a value that is not accepted, without its key: `cannot be 0: accepted is …`, or `cannot be 2 without …` where no
/// value is.
fn refusal(given: &str, accepted: &str) -> String {
    // Of 1e-308 TOML writes 308 digits.
    let number = given.parse().ok().filter(|_| given.len() > LONGEST_NUMBER).map(exact);
    let given = number.as_deref().unwrap_or(given);
    match accepted.strip_prefix("none ") {
        Some(condition) => format!("cannot be {given} {condition}"),
        None => format!("cannot be {given}: accepted is {accepted}"),
    }
}

impl ScenarioError {
    /// For a scenario that was made of arguments: the key that the fault is at, and a sentence about its value that does not name it.
    /// None where it is at none of the keys.
    #[must_use]
    pub fn at_argument(&self) -> Option<(&str, String)> {
        let Place::Key(key) = &self.place else { return None };
        let key = key.rsplit('.').next().filter(|key| !key.is_empty() && key.parse::<u32>().is_err())?;
        let reason = match &self.fault {
            Fault::Range { given, accepted, .. } => refusal(given, accepted),
            Fault::Samples { flows, rows, most } => format!(
                "{} with {} each are more than {most} samples: take fewer flows or a shorter duration",
                counted(flows, "flow"),
                counted(rows, "sample")
            ),
            fault => fault.to_string(),
        };
        Some((key, reason))
    }
}

impl Place {
    /// The place of a range of bytes in a file.
    pub(super) fn in_file(name: &str, content: &str, span: Range<usize>) -> Self {
        let start = boundary(content, span.start);
        let line_start = content[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &content[line_start..];
        let text = rest.lines().next().unwrap_or_default().replace('\t', " ");
        let end = boundary(content, span.end.clamp(start, (line_start + text.len()).max(start)));
        Self::File(Box::new(Excerpt {
            name: name.to_string(),
            line: content[..line_start].matches('\n').count() + 1,
            column: content[line_start..start].chars().count() + 1,
            width: content[start..end].chars().count().max(1),
            text,
        }))
    }
}

/// A fault with the dotted key it is at.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) key: String,
    pub(super) fault: Fault,
}

impl Located {
    pub(super) fn at(key: &str, fault: Fault) -> Self {
        Self { key: key.to_string(), fault }
    }
}

/// A value of `key` in the table `table` that is out of range.
pub(super) fn range(table: &str, key: &'static str, given: &dyn fmt::Display, accepted: &str) -> Located {
    let path = if table.is_empty() { key.to_string() } else { format!("{table}.{key}") };
    Located { key: path, fault: Fault::Range { key, given: given.to_string(), accepted: accepted.to_string() } }
}

/// The last boundary of a character at or before `at`.
fn boundary(content: &str, at: usize) -> usize {
    (0..=at.min(content.len())).rev().find(|at| content.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let content = "a = 1\nü = \"π\"\n";
        let at = content.find('π').expect("it is there");
        let place = Place::in_file("x.toml", content, at - 1..at + 3);
        let expected = Excerpt { name: "x.toml".into(), line: 2, column: 5, text: "ü = \"π\"".into(), width: 3 };
        assert_eq!(place, Place::File(Box::new(expected)));
    }

    #[test]
    fn a_place_past_the_end_is_the_end() {
        let place = Place::in_file("x.toml", "a", 7..9);
        let expected = Excerpt { name: "x.toml".into(), line: 1, column: 2, text: "a".into(), width: 1 };
        assert_eq!(place, Place::File(Box::new(expected)));
    }

    #[test]
    fn a_number_of_many_digits_is_written_as_a_power_of_ten() {
        let text = "[dumbbell]\nrate = \"1mbit\"\n[[flow]]\nalgorithm = \"reno\"\nmax_window = 1e-308\n";
        let shown = crate::scenario::Scenario::read("x.toml", text, &[]).expect_err("no window").to_string();
        assert!(shown.contains("`max_window` cannot be 1e-308: accepted is"), "{shown}");
        assert_eq!(refusal("0.25", "1"), "cannot be 0.25: accepted is 1");
    }

    #[test]
    fn a_long_value_is_quoted_without_its_middle() {
        let text =
            format!("[dumbbell]\nrate = \"1mbit\"\n[[flow]]\nalgorithm = \"rule:grow={}\"\n", "(".repeat(60_000));
        let shown = crate::scenario::Scenario::read("x.toml", &text, &[]).expect_err("no expression").to_string();
        assert!(
            shown.len() < 3000 && shown.contains("rule: cannot take `((") && shown.contains("((` for `grow`"),
            "{shown}"
        );
    }

    #[test]
    fn a_long_line_is_shown_around_its_place() {
        let content = format!("x = {}!{}", "[".repeat(100_000), "]".repeat(100_000));
        let at = content.find('!').expect("it is there");
        let error = ScenarioError { place: Place::in_file("x.toml", &content, at..at + 9), fault: Fault::NoFlows };
        let shown = error.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("x.toml:1:100005: no flows") && shown.len() < 800, "{shown}");
        assert!(lines[2].starts_with("1 | …[[") && lines[2].ends_with("]]…"), "{shown}");
        let column = |line: &str, sign| line.chars().position(|other| other == sign);
        assert_eq!(column(lines[3], '^'), column(lines[2], '!'), "{shown}");
    }
}
