//! Kinds of inputs, and the memory that reading them may take.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cwnd_run::files::read_limited;
use cwnd_run::run::Runs;
use cwnd_run::scenario::{Document, Scenario, ScenarioError};
use cwnd_text::{counted, one_line, size};
use cwnd_trace::Trace;
use thiserror::Error;

use super::{
    Content, ImportError, Offset, Part, RecordedFlow, Recording, Sample, Source, import, recognise, stored, unknown,
};

/// An input as it was read.
#[derive(Clone, Debug)]
pub enum Input {
    /// A scenario, to be run with one seed.
    Scenario(Box<Scenario>),
    /// The stored results of a run.
    Stored {
        /// Its traces.
        traces: Vec<Trace>,
        /// Its path in one line, where a summary tells.
        path: Option<String>,
    },
    /// A recording by another program.
    Recorded(Source, Vec<RecordedFlow>),
}

impl Input {
    /// The scenario, where it is to be run.
    #[must_use]
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Self::Scenario(scenario) => Some(scenario),
            Self::Stored { .. } | Self::Recorded(..) => None,
        }
    }
}

/// Lays inputs over each other, each with its label and its offset. `runs` are those of the scenarios, in their order; of each the first
/// seed is taken.
#[must_use]
pub fn lay(inputs: &[Input], labels: &[String], offsets: &[Offset], runs: Vec<Runs>) -> Vec<Part> {
    let mut runs = runs.into_iter();
    let each = || inputs.iter().zip(labels).zip(offsets);
    let simulated = each().map(|((input, label), offset)| {
        let (traces, path) = match input {
            Input::Scenario(scenario) => {
                let traces = runs.next()?.traces.into_iter().take(1).collect();
                (traces, Some(scenario.document().path()))
            }
            Input::Stored { traces, path } => (traces.clone(), path.clone()),
            Input::Recorded(..) => return None,
        };
        Some(Part { path, ..Part::simulated(label, traces, offset.of_run) })
    });
    let simulated: Vec<Option<Part>> = simulated.collect();
    // Samples recorded after the last run have no counterpart.
    let until = simulated.iter().flatten().map(Part::end).max();
    let parts = simulated.into_iter().zip(each()).map(|(part, ((input, label), offset))| match (part, input) {
        (None, Input::Recorded(source, flows)) => Part::recorded(label, *source, flows, offset.of_recording, until),
        (part, _) => part.unwrap_or_else(|| Part::simulated(label, Vec::new(), 0)),
    });
    parts.collect()
}

/// Reads inputs one after the other.
#[derive(Debug)]
pub struct Reader {
    overrides: Vec<String>,
    mss: u32,
    /// Bytes of memory that all may use, and that those read so far take.
    most: u64,
    kept: u64,
    /// Whether a scenario was read, which `overrides` are for.
    has_scenario: bool,
    /// For each input, how many connections were taken and left out.
    left_out: Vec<(usize, usize)>,
    warnings: Vec<String>,
}

impl Reader {
    /// `overrides` (`KEY=VALUE`) change the scenarios. Segments have `mss` payload bytes where a recording has none. All inputs together may
    /// take `most` bytes of memory.
    #[must_use]
    pub fn new(overrides: &[String], mss: u32, most: u64) -> Self {
        let overrides = overrides.to_vec();
        Self { overrides, mss, most, kept: 0, has_scenario: false, left_out: Vec::new(), warnings: Vec::new() }
    }

    /// Whether the overrides have something to change.
    ///
    /// # Errors
    /// There are keys to set and no scenario.
    pub fn all_set(&self) -> Result<(), InputError> {
        match self.overrides.first().filter(|_| !self.has_scenario) {
            Some(item) => Err(InputError::NothingToSet { item: item.clone() }),
            None => Ok(()),
        }
    }

    /// Whether `parts`, which were made of the inputs, fit into the memory together with these.
    ///
    /// # Errors
    /// They take more.
    pub fn fits(&self, parts: &[Part]) -> Result<(), InputError> {
        let needed = self.kept + parts.iter().map(Part::memory).sum::<u64>();
        if needed > self.most { Err(InputError::Memory { needed, most: self.most }) } else { Ok(()) }
    }

    /// Warnings to read before the numbers, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many connections were left out of the inputs with these labels, a sentence for each input.
    #[must_use]
    pub fn left_out(&self, labels: &[String]) -> Vec<String> {
        let some = labels.iter().zip(&self.left_out).filter(|(_, (_, fewer))| *fewer > 0);
        let note = |(label, (taken, fewer)): (&String, &(usize, usize))| {
            let (label, taken) = (one_line(label), counted(taken, "connection"));
            format!("{label}: the busiest {taken} are taken, and {fewer} with fewer bytes left out")
        };
        some.map(note).collect()
    }

    /// Reads a directory of results or a file, which is recognised by its content.
    ///
    /// # Errors
    /// It cannot be read or is not recognised, needs more than the memory that is left, or its scenario cannot be run.
    pub fn read(&mut self, path: &Path) -> Result<Input, InputError> {
        let mut left_out = (0, 0);
        let input = if path.is_dir() { self.directory(path)? } else { self.file(path, &mut left_out)? };
        self.left_out.push(left_out);
        self.kept += match &input {
            Input::Scenario(_) => 0,
            Input::Stored { traces, .. } => {
                traces.iter().map(|trace| 8 * trace.at.len() * trace.flows.len() * COLUMNS).sum()
            }
            Input::Recorded(_, flows) => flows.iter().map(|flow| flow.samples.len() * size_of::<Sample>()).sum(),
        } as u64;
        Ok(input)
    }

    fn file(&mut self, path: &Path, left_out: &mut (usize, usize)) -> Result<Input, InputError> {
        let name = path.display().to_string();
        let bytes = self.bytes(path)?;
        match recognise(&bytes) {
            Some(Content::Scenario) => {
                let text = String::from_utf8_lossy(&bytes);
                self.scenario(&name, &text)
            }
            Some(Content::Stored) => {
                let flows = String::from_utf8_lossy(&bytes).into_owned();
                drop(bytes);
                self.table(path, &flows).map(|trace| Input::Stored { traces: vec![trace], path: None })
            }
            Some(Content::Recorded(source)) => {
                let Recording { flows, left_out: fewer, cut } = import(&name, &bytes, self.mss)?;
                self.warnings.extend(cut.map(|line| {
                    let name = one_line(&name);
                    format!("{name}, line {line}: the file ends within a record; the records before it are read")
                }));
                *left_out = (flows.len(), fewer);
                Ok(Input::Recorded(source, flows))
            }
            None => Err(unknown(&name).into()),
        }
    }

    /// The traces of a directory of results, or its scenario where it has none or where keys are to be set.
    fn directory(&mut self, path: &Path) -> Result<Input, InputError> {
        let summary = path.join("summary.json");
        if !summary.exists() {
            return Err(InputError::NoResults { directory: path.to_path_buf() });
        }
        let wrong = |reason| InputError::NoSummary { file: summary.clone(), reason };
        let mut document: serde_json::Value = serde_json::from_slice(&self.bytes(&summary)?).map_err(wrong)?;
        let files = if self.overrides.is_empty() { tables(path) } else { Vec::new() };
        if files.is_empty() {
            let scenario = document["scenario"].take();
            if scenario["flow"].as_array().is_none_or(Vec::is_empty) {
                let directory = path.to_path_buf();
                return Err(match self.overrides.first() {
                    Some(item) => InputError::NotRunAgain { item: item.clone(), directory },
                    None => InputError::NoTraces { directory },
                });
            }
            let document: Document = serde_json::from_value(scenario).map_err(wrong)?;
            let text = Scenario::check(document)?.to_toml();
            return self.scenario(&path.display().to_string(), &text);
        }
        let warmup = document["warmup_s"].as_f64().filter(|seconds| *seconds > 0.0).unwrap_or(0.0);
        let traces = files.iter().map(|file| {
            let bytes = self.bytes(file)?;
            let mut trace = self.table(file, &String::from_utf8_lossy(&bytes))?;
            trace.warmup = ((warmup * 1e9) as u64).min(trace.end);
            Ok(trace)
        });
        let path = document["path"].as_str().map(one_line);
        traces.collect::<Result<_, _>>().map(|traces| Input::Stored { traces, path })
    }

    /// One seed of a scenario.
    fn scenario(&mut self, name: &str, text: &str) -> Result<Input, InputError> {
        self.has_scenario = true;
        let one_seed = std::iter::once("seeds=1".to_string());
        let overrides: Vec<String> = self.overrides.iter().cloned().chain(one_seed).collect();
        Ok(Input::Scenario(Box::new(Scenario::read(name, text, &overrides)?)))
    }

    /// The trace in a file of flows and the file of links in the same directory.
    fn table(&self, path: &Path, flows: &str) -> Result<Trace, InputError> {
        let stem = path.to_str().and_then(|name| name.strip_suffix(FLOWS));
        let links = stem.map(|stem| PathBuf::from(format!("{stem}{LINKS}"))).filter(|links| links.is_file());
        let links = links.map(|links| self.bytes(&links)).transpose()?;
        let links = links.as_deref().map(String::from_utf8_lossy);
        Ok(stored(&path.display().to_string(), flows, links.as_deref())?)
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, InputError> {
        let most = MOST_RECORDED.min(self.most.saturating_sub(self.kept) / PER_BYTE);
        read_limited(path, most).map_err(|error| {
            let path = path.to_path_buf();
            match error.kind() {
                ErrorKind::FileTooLarge if most < MOST_RECORDED => InputError::TooLong { path, error },
                _ => InputError::Unreadable { path, error },
            }
        })
    }
}

/// An input cannot be read, or not all of them together be laid over each other.
#[derive(Debug, Error)]
pub enum InputError {
    /// A file cannot be read in its recognised format.
    #[error("{}", one_line(&.0.to_string()))]
    Import(#[from] ImportError),
    /// All inputs together need too much memory.
    #[error("the overlay needs {}, more than {}", size(*.needed), size(*.most))]
    Memory {
        /// Bytes.
        needed: u64,
        /// Bytes.
        most: u64,
    },
    /// A directory without a summary.
    #[error("`{}` is not a directory of results: it has no summary.json", shown(.directory))]
    NoResults {
        /// Which.
        directory: PathBuf,
    },
    /// A summary that is none.
    #[error("`{}` is no summary of a run: {}", shown(.file), one_line(&.reason.to_string()))]
    NoSummary {
        /// Which.
        file: PathBuf,
        /// The fault.
        reason: serde_json::Error,
    },
    /// A directory of results from which no trace comes.
    #[error("`{}` has no traces and is not a directory of `cwnd run`, which could be run again", shown(.directory))]
    NoTraces {
        /// Which.
        directory: PathBuf,
    },
    /// A directory of results in which nothing can be changed.
    #[error("{item}: `{}` is not a directory of `cwnd run`; only those can be run again", shown(.directory))]
    NotRunAgain {
        /// The change, `KEY=VALUE`.
        item: String,
        /// Which.
        directory: PathBuf,
    },
    /// No input is a scenario.
    #[error("{item}: none of the inputs is a scenario or a run")]
    NothingToSet {
        /// The change, `KEY=VALUE`.
        item: String,
    },
    /// A scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A file is longer than the remaining memory allows.
    #[error("cannot read `{}`: {error}", shown(.path))]
    TooLong {
        /// Which.
        path: PathBuf,
        /// How long it may be.
        error: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", shown(.path))]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// A path in one line.
fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// The files of flows in a directory of results, by name; of a comparison those of each algorithm alone.
fn tables(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join("traces")).into_iter().flatten().flatten();
    let is_table = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.ends_with(FLOWS) && !name.contains("-versus-")
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_table).collect();
    files.sort();
    files
}

const FLOWS: &str = ".flows.csv";
const LINKS: &str = ".links.csv";
/// Columns of a stored flow.
const COLUMNS: usize = 13;
/// Bytes of memory for each byte of a file: its text, and the values read from it.
const PER_BYTE: u64 = 4;
/// Bytes of a file: an hour of a busy flow's acknowledgements.
const MOST_RECORDED: u64 = 1 << 30;
