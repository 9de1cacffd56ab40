//! The stored measurements.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::run::Outcome;
use crate::Error;
use crate::provenance::Provenance;

/// A part of the measurements.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured<O = Outcome> {
    pub(crate) part: String,
    pub(crate) sources: Provenance,
    /// The kernel.
    pub(crate) system: String,
    /// Cores of the machine, and how many programs wanted one in the minute before.
    pub(crate) cores: usize,
    pub(crate) load: f64,
    pub(crate) rows: Vec<Repetitions<O>>,
}

/// The outcomes of one competitor, repetition by repetition.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repetitions<O = Outcome> {
    pub(crate) who: String,
    pub(crate) outcomes: Vec<O>,
}

/// All parts.
pub(crate) struct Records<O = Outcome> {
    path: PathBuf,
    pub(crate) parts: Vec<Measured<O>>,
}

impl<O> Measured<O> {
    /// A part without rows, measured now by a program of these sources.
    pub(crate) fn new(part: &str, sources: &Provenance) -> Self {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            part: part.to_owned(),
            sources: sources.clone(),
            system: printed("uname", &["-srm"]),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            load: load.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN),
            rows: Vec::new(),
        }
    }

    /// Adds an outcome to the row of `who`.
    pub(crate) fn put(&mut self, who: &str, outcome: O) {
        match self.rows.iter_mut().find(|row| row.who == who) {
            Some(row) => row.outcomes.push(outcome),
            None => self.rows.push(Repetitions { who: who.to_owned(), outcomes: vec![outcome] }),
        }
    }

    /// The row of `who`.
    pub(crate) fn row(&self, who: &str) -> Option<&Repetitions<O>> {
        self.rows.iter().find(|row| row.who == who)
    }
}

impl<O> Repetitions<O> {
    /// The median of a number; not a number if no outcome has it.
    pub(crate) fn median(&self, of: impl Fn(&O) -> Option<f64>) -> f64 {
        let mut values: Vec<f64> = self.outcomes.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => f64::NAN,
            n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
        }
    }
}

impl Repetitions {
    /// The median goodput, bit/s.
    pub(crate) fn goodput(&self) -> f64 {
        self.median(|outcome| Some(outcome.goodput_bps))
    }
}

impl<O: DeserializeOwned + Serialize> Records<O> {
    /// The records in a file; none if there is no file yet.
    pub(crate) fn read(path: PathBuf) -> Result<Self, Error> {
        let parts = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path: path.clone(), source })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::File { path, source }),
        };
        Ok(Self { path, parts })
    }

    /// Takes in a part in place of an older one.
    pub(crate) fn put(&mut self, measured: Measured<O>) {
        self.parts.retain(|old| old.part != measured.part);
        self.parts.push(measured);
    }

    /// The part of this name.
    pub(crate) fn part(&self, name: &str) -> Option<&Measured<O>> {
        self.parts.iter().find(|part| part.part == name)
    }

    pub(crate) fn write(&self) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(&self.parts)
            .map_err(|source| Error::Records { path: self.path.clone(), source })?;
        std::fs::write(&self.path, text + "\n").map_err(|source| Error::File { path: self.path.clone(), source })
    }
}

/// The output of a program; nothing if it fails.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let outcome = |goodput_bps| Outcome { goodput_bps, ..Outcome::default() };
        let row = |values: &[f64]| Repetitions {
            who: String::new(),
            outcomes: values.iter().copied().map(outcome).collect(),
        };
        assert_eq!(row(&[3.0, 1.0, 50.0]).goodput(), 3.0);
        assert_eq!(row(&[4.0, 1.0]).goodput(), 2.5);
        assert!(row(&[1.0]).median(|outcome| outcome.retransmitted).is_nan());
    }
}
