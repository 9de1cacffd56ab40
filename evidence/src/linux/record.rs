//! The results of the kernel, run by run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cases::{Experiment, PathCase};
use crate::Error;
use crate::plot::Series;
use crate::provenance::Provenance;

/// A run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) case: String,
    /// As it was then: a record of another path is not used.
    pub(super) path: PathCase,
    pub(super) sources: Provenance,
    pub(super) measured: Measured,
}

/// The measurements, between the end of the warm-up and the end.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measured {
    pub(super) kernel: String,
    pub(super) date: String,
    /// The seed of random loss.
    pub(super) seed: u64,
    pub(super) goodput_bps: f64,
    /// The mean over samples of what waits, at the rate of the line.
    pub(super) queue_delay_s: f64,
    /// Segments sent again, as a share of all that were sent.
    pub(super) retransmitted: f64,
    /// How late the link was at most for 99 in 100 packets, in each direction.
    pub(super) late_p99_s: [f64; 2],
    pub(super) late_max_s: [f64; 2],
    /// The features that the network of the sender has switched on, and the parameters of CUBIC.
    pub(super) settings: BTreeMap<String, String>,
    /// The window of the first flow, by `ss -ti`.
    pub(super) window: Series,
}

/// All records.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    all: Vec<Record>,
}

impl Measured {
    pub(super) fn lateness(&self) -> String {
        let late = self.late_p99_s[0].max(self.late_p99_s[1]);
        format!("link late by at most {:.0} us (99 %)", late * 1e6)
    }
}

impl Records {
    /// Reads `evidence/linux/recorded.json`; none if there is no file yet.
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join("evidence/linux/recorded.json");
        let all = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path: path.clone(), source })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::File { path, source }),
        };
        Ok(Self { path, all })
    }

    /// The runs of an experiment on its path as it is now.
    pub(super) fn of<'a>(&'a self, experiment: &Experiment<'_>) -> impl Iterator<Item = &'a Measured> {
        let path = serde_json::to_value(&experiment.path).ok();
        let same = move |record: &&Record| serde_json::to_value(&record.path).ok() == path;
        let name = experiment.name.clone();
        self.all.iter().filter(move |record| record.case == name).filter(same).map(|record| &record.measured)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The sources that recorded.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Provenance> {
        self.all.iter().map(|record| &record.sources)
    }

    /// Adds a record and writes all, one a line.
    pub(super) fn put(&mut self, record: Record) -> Result<(), Error> {
        self.all.push(record);
        let lines: Result<Vec<String>, _> = self.all.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|source| Error::Records { path: self.path.clone(), source })?;
        std::fs::write(&self.path, format!("[\n{}\n]\n", lines.join(",\n")))
            .map_err(|source| Error::File { path: self.path.clone(), source })
    }
}
