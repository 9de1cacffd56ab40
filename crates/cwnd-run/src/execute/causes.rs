//! Why cells have failed.

use std::collections::BTreeMap;
use std::fmt::Display;

use schemars::JsonSchema;
use serde::Serialize;

/// An error, and how many cells ended with it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// How many cells.
    pub cells: u64,
    /// The error.
    pub error: String,
}

/// The errors of cells, each once: those of most cells first.
#[must_use]
pub fn causes<E: Display>(errors: impl IntoIterator<Item = E>) -> Vec<Cause> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    errors.into_iter().for_each(|error| *counts.entry(error.to_string()).or_default() += 1);
    let mut causes: Vec<Cause> = counts.into_iter().map(|(error, cells)| Cause { cells, error }).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.cells));
    causes
}

/// How many of `cells` failed and why, in one line; none where no cell did.
#[must_use]
pub fn failed(cells: u64, causes: &[Cause]) -> Option<String> {
    let all: u64 = causes.iter().map(|cause| cause.cells).sum();
    let Cause { cells: first, error } = causes.first()?;
    let share = if *first == all { String::new() } else { format!(", {first} of them because") };
    Some(format!("{all} of {} failed{share}: {error}", cwnd_text::counted(cells, "cell")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_cause_is_named_with_its_share() {
        let few = causes(["b", "a", "b"]);
        assert_eq!(failed(8, &few).as_deref(), Some("3 of 8 cells failed, 2 of them because: b"));
        assert_eq!(failed(8, &causes(["a", "a"])).as_deref(), Some("2 of 8 cells failed: a"));
        assert_eq!(failed(8, &causes::<&str>([])), None);
    }
}
