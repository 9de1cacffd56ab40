//! Which sources a record was made from.

use std::fmt;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The sources of a record.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provenance {
    /// The sources of a commit.
    Clean {
        /// The commit.
        revision: String,
        /// The hash of its sources, which stays the same where they move to another commit.
        hash: String,
    },
    /// The record does not say.
    Unknown {
        /// The commit that added the record: the sources are older.
        committed: String,
    },
    /// Sources with changes that are not committed: nothing can be recorded from them.
    #[serde(skip)]
    Uncommitted,
}

/// What runs, so that its files are the sources of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The simulator and this crate.
    Own,
    /// Stacks of others in the simulator, too, with their adapters and lock files.
    Stacks,
}

impl Provenance {
    /// The sources of [`Runs::Own`] in the work tree.
    ///
    /// # Errors
    /// git is missing, or `root` is no repository.
    pub(crate) fn here(root: &Path) -> Result<Self, Error> {
        Self::now(root, Runs::Own)
    }

    fn now(root: &Path, runs: Runs) -> Result<Self, Error> {
        let changed = git(root, &["status", "--porcelain", "--no-renames", "--untracked-files=all"])?;
        if changed.lines().any(|line| line.get(3..).is_some_and(|path| runs.by(path))) {
            return Ok(Self::Uncommitted);
        }
        let revision = git(root, &["rev-parse", "--short=10", "HEAD"])?.trim().to_owned();
        let hash = hash(root, &revision, runs)?;
        Ok(Self::Clean { revision, hash })
    }

    /// The sources of [`Runs::Own`] in the work tree, from which a record is to be made.
    ///
    /// # Errors
    /// They have changes that are not committed, git is missing, or `root` is no repository.
    pub(crate) fn of_record(root: &Path) -> Result<Self, Error> {
        Self::of_record_of(root, Runs::Own)
    }

    /// The sources of what `runs`, from which a record is to be made.
    ///
    /// # Errors
    /// As [`of_record`](Self::of_record).
    pub(crate) fn of_record_of(root: &Path, runs: Runs) -> Result<Self, Error> {
        match Self::now(root, runs)? {
            Self::Uncommitted => Err(Error::Uncommitted),
            sources => Ok(sources),
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean { revision, hash } => write!(out, "revision {revision} (sources {hash})"),
            Self::Unknown { committed } => write!(out, "an unknown revision before {committed}"),
            Self::Uncommitted => out.write_str("a revision with uncommitted changes"),
        }
    }
}

/// A hash over the paths and contents of the sources of a revision.
fn hash(root: &Path, revision: &str, runs: Runs) -> Result<String, Error> {
    let tree = git(root, &["ls-tree", "-r", "--full-tree", revision])?;
    let sources = tree.lines().filter(|line| line.split_once('\t').is_some_and(|(_, path)| runs.by(path)));
    let sources: Vec<&str> = sources.collect();
    Ok(blake3::hash(sources.join("\n").as_bytes()).to_hex()[..16].to_owned())
}

impl Runs {
    /// Whether a file decides what a record says: not the records themselves, nor texts. A revision has this crate in one of two places.
    fn by(self, path: &str) -> bool {
        let within = |directories: &[&str]| directories.iter().any(|directory| path.starts_with(directory));
        // Other commands run the museum and the tests.
        let stacks = || {
            self == Self::Stacks && within(&["foreign/"]) && !within(&["foreign/museum/"]) && !path.contains("/tests/")
        };
        path == "Cargo.lock"
            || (within(&["crates/", "evidence/", "validation/"]) || stacks())
                && ![".json", ".md"].iter().any(|ending| path.ends_with(ending))
    }
}

/// The output of git.
fn git(root: &Path, arguments: &[&str]) -> Result<String, Error> {
    let failed = |reason: String| Error::Program { command: format!("git {}", arguments.join(" ")), reason };
    let output = Command::new("git").current_dir(root).args(arguments).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;
    use crate::root;

    /// Whether this is a repository with its whole history.
    fn has_history() -> bool {
        git(root(), &["rev-parse", "--is-shallow-repository"]).is_ok_and(|shallow| shallow.trim() == "false")
    }

    #[test]
    fn every_recorded_revision_exists_and_has_the_recorded_sources() -> Result<(), Error> {
        if !has_history() {
            println!("skipped: there is no git history");
            return Ok(());
        }
        for file in [
            "htsim/recorded.json",
            "linux/recorded.json",
            "ns2/recorded.json",
            "ns3/recorded.json",
            "stacks/shares.json",
            "stacks/verdicts.json",
            "udt/recorded.json",
            "udt/load.json",
            "udt/files.json",
        ] {
            let path = root().join("evidence").join(file);
            let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
            let records: Vec<Value> =
                serde_json::from_str(&text).map_err(|source| Error::Records { path: path.clone(), source })?;
            assert!(!records.is_empty(), "{file}");
            for record in records {
                let sources = serde_json::from_value(record["sources"].clone())
                    .map_err(|source| Error::Records { path: path.clone(), source })?;
                match sources {
                    Provenance::Clean { revision, hash: recorded } => {
                        git(root(), &["merge-base", "--is-ancestor", &revision, "HEAD"])?;
                        let runs = if file.starts_with("stacks/") { Runs::Stacks } else { Runs::Own };
                        assert_eq!(hash(root(), &revision, runs)?, recorded, "{file}: {revision}");
                    }
                    Provenance::Unknown { committed } => {
                        git(root(), &["rev-parse", "--verify", &format!("{committed}^{{commit}}")])?;
                    }
                    Provenance::Uncommitted => unreachable!("it cannot be read"),
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_ns2_gave_is_of_the_network_and_the_agents_surroundings_as_they_are() -> Result<(), Error> {
        if !has_history() {
            println!("skipped: there is no git history");
            return Ok(());
        }
        let path = root().join("evidence/ns2/recorded.json");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        let records: Vec<Value> = serde_json::from_str(&text).map_err(|source| Error::Records { path, source })?;
        let revisions: BTreeSet<&str> =
            records.iter().filter_map(|record| record["sources"]["clean"]["revision"].as_str()).collect();
        assert!(!revisions.is_empty(), "no record names a revision");
        for file in ["network.tcl", "agent.cc"] {
            let now = git(root(), &["hash-object", &format!("evidence/ns2/{file}")])?;
            for revision in &revisions {
                let at = |directory| git(root(), &["rev-parse", &format!("{revision}:{directory}/ns2/{file}")]);
                let then = at("evidence").or_else(|_| at("validation"))?;
                assert_eq!(
                    then, now,
                    "{file} has changed since {revision}: `cargo xtask validate ns2` with `[]` in recorded.json"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn every_revision_that_is_named_is_in_the_history() -> Result<(), Error> {
        if !has_history() {
            println!("skipped: there is no git history");
            return Ok(());
        }
        let pages = ["bbr", "files", "performance", "udt", "validation"].map(|page| format!("docs/{page}.md"));
        let results =
            ["linux", "model", "ns2", "ns3", "stacks"].map(|directory| format!("evidence/{directory}/results.md"));
        let records = ["papers/alternatives.toml", "papers/changes.toml", "papers/provenance.toml"].map(String::from);
        let mut named = BTreeMap::new();
        for file in pages
            .into_iter()
            .chain(results)
            .chain(records)
            .chain(["papers/page.md".to_owned(), "SECURITY.md".to_owned()])
        {
            let path = root().join(&file);
            let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path, source })?;
            for before in ["revision ", "\ncommit = \"", "0.1.0 ("] {
                let words = text.split(before).skip(1).map(|rest| rest.chars().take_while(char::is_ascii_hexdigit));
                let revisions = words.map(Iterator::collect::<String>).filter(|word| word.len() >= 7);
                named.extend(revisions.map(|revision| (revision, file.clone())));
            }
        }
        assert!(named.len() > 10, "{named:?}");
        let head = git(root(), &["rev-parse", "HEAD"])?;
        // One that another branch has, or none, is found by its name, but nobody else has it.
        named.retain(|revision, _| git(root(), &["merge-base", "--is-ancestor", revision, head.trim()]).is_err());
        assert!(named.is_empty(), "not in the history of HEAD: {named:?}");
        Ok(())
    }

    #[test]
    fn uncommitted_sources_are_not_recorded() {
        assert!(serde_json::to_string(&Provenance::Uncommitted).is_err());
    }

    #[test]
    fn records_and_texts_are_no_sources() {
        for (path, source) in [
            ("Cargo.lock", true),
            ("crates/cwnd/src/lib.rs", true),
            ("evidence/Cargo.lock", true),
            ("evidence/ns3/dumbbell.cc", true),
            ("validation/ns3/dumbbell.cc", true),
            ("evidence/ns3/recorded.json", false),
            ("evidence/ns3/README.md", false),
            ("docs/udt.md", false),
        ] {
            assert_eq!([Runs::Own, Runs::Stacks].map(|runs| runs.by(path)), [source; 2], "{path}");
        }
    }

    #[test]
    fn adapters_and_lock_files_are_sources_of_records_of_stacks_alone() {
        for (path, source) in [
            ("foreign/Cargo.lock", true),
            ("foreign/gvisor/netstack/go.sum", true),
            ("foreign/boring/src/quiche.rs", true),
            ("foreign/museum/src/lib.rs", false),
            ("foreign/tests/digests.txt", false),
            ("foreign/gvisor/tests/stacks.rs", false),
            ("foreign/quic/README.md", false),
        ] {
            assert_eq!([Runs::Own, Runs::Stacks].map(|runs| runs.by(path)), [false, source], "{path}");
        }
    }
}
