//! The results of ns-2, stored: a page can be made, and a test can compare, without ns-2.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Experiment;
use super::output::Run;
use crate::Error;
use crate::provenance::Provenance;

/// The runs of an experiment.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) case: String,
    /// The release of the agent, or the kind of ns-2's TCP.
    pub(crate) side: String,
    /// The commit of the agent.
    pub(crate) commit: Option<String>,
    /// The script of ns-2, without the seed: a record of another script is of another experiment.
    pub(crate) script: String,
    /// ns-2, as Debian names it.
    pub(crate) ns2: String,
    /// Ours, which made the script.
    pub(crate) sources: Provenance,
    pub(crate) date: String,
    pub(crate) runs: Vec<Run>,
}

/// All records.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    pub(crate) records: Vec<Record>,
}

impl Records {
    /// Reads `evidence/ns2/recorded.json`; none if there is no file yet.
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join("evidence/ns2/recorded.json");
        let records = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path: path.clone(), source })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::File { path, source }),
        };
        Ok(Self { path, records })
    }

    /// The record of an experiment as it is now.
    pub(crate) fn of(&self, experiment: &Experiment<'_>) -> Option<&Record> {
        let same =
            |record: &&Record| record.script == experiment.script && record.runs.len() == experiment.runs as usize;
        self.records.iter().find(|record| experiment.is_of(record)).filter(same)
    }

    /// Replaces an older record, drops those that are no longer `wanted`, and writes all, one a line.
    pub(crate) fn put(&mut self, record: Record, wanted: &[Experiment<'_>]) -> Result<(), Error> {
        self.records.retain(|old| (&old.case, &old.side) != (&record.case, &record.side));
        self.records.push(record);
        let place = |record: &Record| wanted.iter().position(|experiment| experiment.is_of(record));
        self.records.retain(|record| place(record).is_some());
        self.records.sort_by_key(place);
        let lines: Result<Vec<String>, _> = self.records.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|source| Error::Records { path: self.path.clone(), source })?;
        std::fs::write(&self.path, format!("[\n{}\n]\n", lines.join(",\n")))
            .map_err(|source| Error::File { path: self.path.clone(), source })
    }
}
