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

/// FNV-1a of 64 bits.
#[cfg(test)]
pub(super) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `papers/registered.txt` has a line for each entry, in their order. With `CWND_BLESS` set this adds those of new entries at the end; it never
    /// changes a line.
    #[test]
    fn an_entry_of_the_register_stays_as_it_was_registered() {
        let now: Vec<String> = paper_file!("changes.toml")
            .split("\n[[change]]\n")
            .skip(1)
            .map(|entry| format!("{:016x}", fnv1a(entry.trim_end())))
            .collect();
        assert_eq!(now.len(), Register::recorded().unwrap_or_else(|error| panic!("{error}")).change.len());
        let mut registered: Vec<&str> =
            paper_file!("registered.txt").lines().filter(|line| !line.starts_with('#')).collect();
        if std::env::var_os("CWND_BLESS").is_some() {
            registered.extend(now.iter().skip(registered.len()).map(String::as_str));
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/registered.txt");
            std::fs::write(path, format!("{HEAD}{}\n", registered.join("\n"))).expect("writable");
        }
        for (nth, (now, registered)) in now.iter().zip(&registered).enumerate() {
            assert_eq!(now, registered, "entry {} of papers/changes.toml was changed after it was registered", nth + 1);
        }
        assert_eq!(
            now.len(),
            registered.len(),
            "CWND_BLESS=1 adds new entries of papers/changes.toml to papers/registered.txt"
        );
    }

    const HEAD: &str = "\
# A hash of each entry of changes.toml, in their order: the register is only added to.
";
}
