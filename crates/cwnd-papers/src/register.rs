//! Changes that were made after a result was known: `papers/changes.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::files::paper_file;
use super::verdict::Verdict;
use cwnd_run::scenario::{ScenarioError, Source};

/// All such changes, in the order they were registered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Them.
    pub change: Vec<Change>,
}

/// A change made after a result was known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Such as `2026-11-24`, UTC.
    pub date: String,
    /// The commit, where it was known when the change was registered.
    #[serde(default)]
    pub commit: Option<String>,
    /// The rows it concerns: `PAPER RESULT: ROW`, `PAPER RESULT` or `PAPER`.
    pub rows: Vec<String>,
    /// The change.
    pub what: String,
    /// Why.
    pub reason: String,
    /// The results of these rows before.
    pub before: String,
    /// The results of these rows after.
    pub after: String,
    /// The values with which rows are compared from then on.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Hashes of what algorithms are from then on.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
    /// The recorded verdicts before and after, of each row whose verdict changed: `quick` or `full`.
    #[serde(default)]
    pub verdicts: BTreeMap<String, BTreeMap<String, [Verdict; 2]>>,
}

impl Register {
    /// The register as it was when this program was built.
    ///
    /// # Errors
    /// The file is no TOML, or has an unknown key: the first place.
    pub fn recorded() -> Result<Self, ScenarioError> {
        Source::read("papers/changes.toml", paper_file!("changes.toml"), &[])?.document()
    }
}
