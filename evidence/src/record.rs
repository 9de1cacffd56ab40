//! The results of the other side, kept: a page can be made, and a test can compare, without it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::outcome::Outcome;
use crate::plot::Series;
use crate::provenance::Provenance;

/// The values of the other side for an algorithm in a case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) case: String,
    pub(crate) algorithm: String,
    /// Its arguments, without the seed: a record of other arguments is of another experiment.
    pub(crate) arguments: String,
    /// Its version.
    pub(crate) version: String,
    /// The sources of this project, among them the program that drives it.
    pub(crate) sources: Provenance,
    /// One per seed.
    pub(crate) outcomes: Vec<Outcome>,
    /// The window of the first flow of the first seed.
    pub(crate) window: Series,
}

/// All records of a directory.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    records: Vec<Record>,
}

impl Records {
    /// Reads those of `directory`; none if there is no file yet.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("recorded.json");
        let records = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path: path.clone(), source })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::File { path, source }),
        };
        Ok(Self { path, records })
    }

    /// The record of an experiment.
    pub(crate) fn find(&self, case: &str, algorithm: &str, arguments: &str) -> Option<&Record> {
        let of = |record: &&Record| record.case == case && record.algorithm == algorithm;
        self.records.iter().find(of).filter(|record| record.arguments == arguments)
    }

    /// Takes in a record in place of an older one.
    pub(crate) fn put(&mut self, record: Record) {
        self.records.retain(|old| (&old.case, &old.algorithm) != (&record.case, &record.algorithm));
        self.records.push(record);
    }

    /// Drops what no experiment asks for any more, and writes the rest, one record a line.
    pub(crate) fn write(&mut self, wanted: impl Fn(&Record) -> bool) -> Result<(), Error> {
        self.records.retain(wanted);
        self.records.sort_by(|a, b| (&a.case, &a.algorithm).cmp(&(&b.case, &b.algorithm)));
        let lines: Result<Vec<String>, _> = self.records.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|source| Error::Records { path: self.path.clone(), source })?;
        std::fs::write(&self.path, format!("[\n{}\n]\n", lines.join(",\n")))
            .map_err(|source| Error::File { path: self.path.clone(), source })
    }
}
