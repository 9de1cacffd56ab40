//! The directory of a sweep: `sweep.toml` and `sweep.json` describe it, `cells/` has a file of rows per chunk, `failed/` a file per
//! chunk in which something failed.
//!
//! Any number of processes may fill it. A file appears complete, with contents that do not depend on the process that writes it.

use std::fmt::{self, Write};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, json};
use thiserror::Error;

#[cfg(feature = "parquet")]
use super::table::arrow;
use super::table::{Column, Values, columns};
use super::{Chunk, FinishedCell, Pending, Sweep};
use cwnd_run::cells::Cells;
use cwnd_run::files::to_json;
use cwnd_run::files::write_whole;
use cwnd_run::scenario::{ScenarioError, unknown};
use cwnd_text::cell;

/// The directory of a sweep.
#[derive(Clone, Debug)]
pub struct Dataset {
    directory: PathBuf,
    manifest: Manifest,
    sweep: Sweep,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartFormat {
    /// Comma-separated values (RFC 4180); lists have spaces between their numbers.
    Csv,
    /// A JSON object per line.
    JsonLines,
    /// Parquet; only where the program was built with the feature `parquet`.
    Parquet,
}

/// The error for a name that is not a format of rows.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PartFormatError {
    /// No format has this name.
    #[error("{}", unknown("format", .0, &PartFormat::ALL.map(PartFormat::ending)))]
    Unknown(String),
    /// It was left out of this program.
    #[error(
        "this program was built without Parquet; build one that has it: cargo install --path crates/cwnd-cli --features parquet"
    )]
    WithoutParquet,
}

/// A directory cannot be that of a sweep.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// It is something else.
    #[error("`{0}` holds something else than a sweep: name a new directory, or that of a sweep")]
    NoSweep(PathBuf),
    /// It is the directory of another sweep.
    #[error("`{0}` holds another sweep, or one of another program, format or chunk size: name a new directory")]
    Other(PathBuf),
    /// Its sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] Box<ScenarioError>),
    /// It cannot be written.
    #[error("cannot write `{path}`: {error}")]
    Unwritable {
        /// The file that could not be written.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// How far a sweep's directory is: `cwnd sweep status --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SweepStatus {
    /// Identifies the sweep.
    pub id: String,
    /// The runs of the sweep.
    pub cells: u64,
    /// The runs in the directory, failed ones among them.
    pub present_cells: u64,
    /// The failed runs among those in the directory.
    pub failed_cells: u64,
    /// The runs that are in the store and not in the directory yet: the next attempt finds them there.
    pub stored_cells: u64,
    /// The files of rows that there will be.
    pub chunks: u64,
    /// The files of rows that there are.
    pub present_chunks: u64,
    /// Failed runs, at most twenty.
    pub failures: Vec<Unfinished>,
}

/// A run that failed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// Its place in the sweep, from 0.
    pub cell: u64,
    /// Its seed.
    pub seed: u64,
    /// The settings of the sweep, `key=value`.
    pub set: Vec<String>,
    /// Why.
    pub error: String,
}

/// The data that must be equal for two processes to fill one directory.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Manifest {
    id: String,
    cells: u64,
    chunk_seconds: f64,
    format: String,
}

impl Dataset {
    /// The directory of `sweep`, cut into chunks of some `chunk_s` seconds: a new one, or one that holds the same.
    ///
    /// # Errors
    /// The directory holds another sweep or other files, or cannot be written.
    pub fn open(directory: &Path, sweep: &Sweep, chunk_s: f64, format: PartFormat) -> Result<Self, DatasetError> {
        let manifest = Manifest {
            id: sweep.id(),
            cells: sweep.len(),
            chunk_seconds: chunk_s,
            format: format.ending().to_string(),
        };
        let dataset = Self { directory: directory.to_path_buf(), manifest, sweep: sweep.clone() };
        match read_manifest(directory) {
            Some(found) if found == dataset.manifest => return Ok(dataset),
            Some(_) => return Err(DatasetError::Other(directory.to_path_buf())),
            // An empty directory may have been made for this.
            None if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) => {
                // Another process may just be making it: the first file written is the sweep.
                if fs::read_to_string(directory.join(SWEEP)).is_ok_and(|text| text == sweep.to_toml()) {
                    dataset.put(MANIFEST, to_json(&dataset.manifest).as_bytes())?;
                    return Ok(dataset);
                }
                return Err(DatasetError::NoSweep(directory.to_path_buf()));
            }
            None => {}
        }
        dataset.put(SWEEP, sweep.to_toml().as_bytes())?;
        dataset.put(MANIFEST, to_json(&dataset.manifest).as_bytes())?;
        Ok(dataset)
    }

    /// The directory of a sweep as it was left.
    ///
    /// # Errors
    /// The directory holds no sweep, or that of a program whose sources differ in what a run computes.
    pub fn found(directory: &Path) -> Result<Self, DatasetError> {
        let none = || DatasetError::NoSweep(directory.to_path_buf());
        let manifest = read_manifest(directory).ok_or_else(none)?;
        let path = directory.join(SWEEP);
        let text = fs::read_to_string(&path).map_err(|_| none())?;
        let sweep = Sweep::read(&path.display().to_string(), &text, directory, &[]).map_err(Box::new)?;
        if sweep.id() != manifest.id {
            return Err(DatasetError::Other(directory.to_path_buf()));
        }
        Ok(Self { directory: directory.to_path_buf(), manifest, sweep })
    }

    /// Its chunks.
    #[must_use]
    pub fn chunks(&self) -> Vec<Chunk> {
        self.sweep.chunks(self.manifest.chunk_seconds)
    }

    /// Writes the rows of a chunk, and what failed among them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, chunk: Chunk, rows: &[FinishedCell]) -> Result<(), DatasetError> {
        let format = self.format();
        let part = format.bytes(&self.sweep, rows).map_err(|error| self.unwritable(&self.part(chunk), error))?;
        let failures: Vec<Unfinished> = rows.iter().filter_map(|row| self.failure(row)).collect();
        let failed = format!("{FAILED}/{}.jsonl", chunk.name());
        if failures.is_empty() {
            // Cells that failed in an earlier attempt have not failed now.
            match fs::remove_file(self.directory.join(&failed)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.unwritable(&failed, error)),
                _ => {}
            }
        } else {
            let lines = failures.iter().map(|failure| json!(failure).to_string() + "\n");
            self.put(&failed, lines.collect::<String>().as_bytes())?;
        }
        self.put(&self.part(chunk), &part)
    }

    /// How far it is, with the runs that a store has of the chunks that are not in the directory.
    #[must_use]
    pub fn status(&self, cells: &Cells) -> SweepStatus {
        let chunks = self.chunks();
        let (present, missing): (Vec<&Chunk>, Vec<&Chunk>) =
            chunks.iter().partition(|chunk| self.directory.join(self.part(**chunk)).exists());
        let found = |chunk: &&Chunk| Pending::of(&self.sweep, **chunk, cells).found() as u64;
        let failed = |chunk: &Chunk| fs::read_to_string(self.directory.join(FAILED).join(chunk.name() + ".jsonl"));
        let lines: String = present.iter().filter_map(|chunk| failed(chunk).ok()).collect();
        let failures: Vec<Unfinished> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        SweepStatus {
            id: self.manifest.id.clone(),
            cells: self.sweep.len(),
            present_cells: present.iter().map(|chunk| chunk.len()).sum(),
            failed_cells: failures.len() as u64,
            stored_cells: missing.iter().map(found).sum(),
            chunks: chunks.len() as u64,
            present_chunks: present.len() as u64,
            failures: failures.into_iter().take(SHOWN).collect(),
        }
    }

    fn format(&self) -> PartFormat {
        let named = PartFormat::ALL.into_iter().find(|format| format.ending() == self.manifest.format);
        named.unwrap_or(PartFormat::Csv)
    }

    fn part(&self, chunk: Chunk) -> String {
        format!("{CELLS}/{}.{}", chunk.name(), self.manifest.format)
    }

    fn failure(&self, row: &FinishedCell) -> Option<Unfinished> {
        let error = row.outcome.as_ref().err()?.to_string();
        let values = &self.sweep.points()[row.cell.point].values;
        let set = self.sweep.keys().iter().zip(values);
        let set = set.filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)));
        Some(Unfinished { cell: row.cell.index, seed: row.cell.seed, set: set.collect(), error })
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        write_whole(&self.directory.join(name), bytes).map_err(|error| self.unwritable(name, error))
    }

    fn unwritable(&self, name: &str, error: io::Error) -> DatasetError {
        DatasetError::Unwritable { path: self.directory.join(name), error }
    }
}

impl PartFormat {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Csv, Self::JsonLines, Self::Parquet];
    /// The default format: Parquet where this program has it.
    pub const USUAL: Self = if cfg!(feature = "parquet") { Self::Parquet } else { Self::Csv };

    /// Its name, which its files end in.
    #[must_use]
    pub(crate) const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    /// The rows in this format.
    ///
    /// # Errors
    /// The format is Parquet and this program was built without it, or Arrow cannot write the rows.
    pub fn bytes(self, sweep: &Sweep, rows: &[FinishedCell]) -> io::Result<Vec<u8>> {
        let columns = columns(sweep, rows);
        match self {
            Self::Csv => Ok(csv(&columns, rows.len()).into_bytes()),
            Self::JsonLines => Ok(json_lines(&columns, rows.len()).into_bytes()),
            Self::Parquet => parquet(sweep, &columns),
        }
    }
}

impl FromStr for PartFormat {
    type Err = PartFormatError;

    fn from_str(name: &str) -> Result<Self, PartFormatError> {
        match Self::ALL.into_iter().find(|format| format.ending() == name) {
            Some(Self::Parquet) if !cfg!(feature = "parquet") => Err(PartFormatError::WithoutParquet),
            Some(format) => Ok(format),
            None => Err(PartFormatError::Unknown(name.to_string())),
        }
    }
}

fn read_manifest(directory: &Path) -> Option<Manifest> {
    serde_json::from_str(&fs::read_to_string(directory.join(MANIFEST)).ok()?).ok()
}

fn csv(columns: &[Column], rows: usize) -> String {
    let mut text = columns.iter().map(|column| cell(&column.name)).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..rows {
        for (nth, column) in columns.iter().enumerate() {
            let _ = if nth > 0 { text.write_char(',') } else { Ok(()) };
            let _ = match &column.values {
                Values::Whole(values) => write!(text, "{}", values[row]),
                Values::Real(values) if values[row].is_nan() => Ok(()),
                Values::Real(values) => write!(text, "{}", values[row]),
                Values::Text(values) => text.write_str(&cell(values[row].as_deref().unwrap_or_default())),
                Values::Lists(values) => write_list(&mut text, &values[row]),
            };
        }
        text.push('\n');
    }
    text
}

fn write_list(text: &mut String, values: &[f64]) -> fmt::Result {
    values.iter().enumerate().try_for_each(|(nth, value)| write!(text, "{}{value}", if nth > 0 { " " } else { "" }))
}

/// Values that JSON has no number for become null.
fn json_lines(columns: &[Column], rows: usize) -> String {
    let number = |value: f64| Number::from_f64(value).map_or(serde_json::Value::Null, Into::into);
    let line = |row: usize| {
        let cells = columns.iter().map(|column| {
            let value = match &column.values {
                Values::Whole(values) => json!(values[row]),
                Values::Real(values) => number(values[row]),
                Values::Text(values) => json!(values[row]),
                Values::Lists(values) => values[row].iter().copied().map(number).collect(),
            };
            (column.name.clone(), value)
        });
        serde_json::Value::from(cells.collect::<Map<_, _>>()).to_string() + "\n"
    };
    (0..rows).map(line).collect()
}

#[cfg(feature = "parquet")]
fn parquet(sweep: &Sweep, columns: &[Column]) -> io::Result<Vec<u8>> {
    let title = sweep.title().unwrap_or("a sweep");
    let about = cwnd_parquet::About { title, program: cwnd_run::PROGRAM, command: "cwnd sweep" };
    let mut bytes = Vec::new();
    arrow(columns).write(&mut bytes, &about).map_err(io::Error::other)?;
    Ok(bytes)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Sweep, _: &[Column]) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, PartFormatError::WithoutParquet))
}

const SWEEP: &str = "sweep.toml";
const MANIFEST: &str = "sweep.json";
const CELLS: &str = "cells";
const FAILED: &str = "failed";
/// A screenful of failures; the files have all.
const SHOWN: usize = 20;
