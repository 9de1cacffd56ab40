//! What an input of `cwnd overlay` is, and how much of the memory reading it may take.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cwnd_lab::overlay::{Content, RecordedFlow, Recording, Sample, Source, import, recognise, stored, unknown};
use cwnd_run::files::read_limited;
use cwnd_run::scenario::{Document, Scenario};
use cwnd_sim::Trace;
use cwnd_text::{counted, one_line};

use crate::failure::Failure;
use crate::files;

/// An input as it was read.
pub(super) enum Input {
    /// To be run.
    Scenario(Box<Scenario>),
    /// Traces that a run left.
    Stored(Vec<Trace>),
    /// What others recorded.
    Recorded(Source, Vec<RecordedFlow>),
}

impl Input {
    pub(super) fn scenario(&self) -> Option<&Scenario> {
        match self {
            Self::Scenario(scenario) => Some(scenario),
            Self::Stored(_) | Self::Recorded(..) => None,
        }
    }
}

/// Reads inputs one after the other.
pub(super) struct Reader<'a> {
    overrides: &'a [String],
    mss: u32,
    /// Bytes of memory that all may use, and that those read so far take.
    most: u64,
    kept: u64,
    /// Whether a scenario was read, which `overrides` are for.
    has_scenario: bool,
    /// For each input, how many connections were taken and left out.
    left_out: Vec<(usize, usize)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(overrides: &'a [String], mss: u32, most: u64) -> Self {
        Self { overrides, mss, most, kept: 0, has_scenario: false, left_out: Vec::new() }
    }

    /// Bytes of memory that what was read takes.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    /// Fails where there are keys to set and no scenario.
    pub(super) fn all_set(&self) -> Result<(), Failure> {
        match self.overrides.first().filter(|_| !self.has_scenario) {
            Some(item) => Err(Failure::Input(format!("--set {item}: none of the inputs is a scenario or a run"))),
            None => Ok(()),
        }
    }

    /// What was left out of the inputs with these labels.
    pub(super) fn notes(&self, labels: &[String]) -> String {
        let some = labels.iter().zip(&self.left_out).filter(|(_, (_, fewer))| *fewer > 0);
        let note = |(label, (taken, fewer)): (&String, &(usize, usize))| {
            let (label, taken) = (one_line(label), counted(taken, "connection"));
            format!("{label}: the busiest {taken} are taken, and {fewer} with fewer bytes left out\n")
        };
        some.map(note).collect()
    }

    pub(super) fn read(&mut self, path: &Path) -> Result<Input, Failure> {
        let mut left_out = (0, 0);
        let input = if path.is_dir() { self.folder(path)? } else { self.file(path, &mut left_out)? };
        self.left_out.push(left_out);
        self.kept += match &input {
            Input::Scenario(_) => 0,
            Input::Stored(traces) => traces.iter().map(|trace| 8 * trace.at.len() * trace.flows.len() * COLUMNS).sum(),
            Input::Recorded(_, flows) => flows.iter().map(|flow| flow.samples.len() * size_of::<Sample>()).sum(),
        } as u64;
        Ok(input)
    }

    fn file(&mut self, path: &Path, left_out: &mut (usize, usize)) -> Result<Input, Failure> {
        let name = path.display().to_string();
        let failure = |error: &dyn std::error::Error| Failure::Input(one_line(&error.to_string()));
        let bytes = self.bytes(path)?;
        match recognise(&bytes) {
            Some(Content::Scenario) => {
                let text = String::from_utf8_lossy(&bytes);
                self.scenario(&name, &text)
            }
            Some(Content::Stored) => {
                let flows = String::from_utf8_lossy(&bytes).into_owned();
                drop(bytes);
                self.table(path, &flows).map(|trace| Input::Stored(vec![trace]))
            }
            Some(Content::Recorded(source)) => {
                let Recording { flows, left_out: fewer, cut } =
                    import(&name, &bytes, self.mss).map_err(|error| failure(&error))?;
                if let Some(line) = cut {
                    say!(
                        "warning: {}, line {line}: the file ends within a record; what is before it is read",
                        one_line(&name)
                    );
                }
                *left_out = (flows.len(), fewer);
                Ok(Input::Recorded(source, flows))
            }
            None => Err(failure(&unknown(&name))),
        }
    }

    /// The traces of a folder of results, or its scenario where it has none or where keys are to be set.
    fn folder(&mut self, path: &Path) -> Result<Input, Failure> {
        let summary = path.join("summary.json");
        let wrong = |reason: String| {
            Failure::Input(one_line(&format!("`{}` is no summary of a run: {reason}", summary.display())))
        };
        if !summary.exists() {
            let fault = format!("`{}` is no folder of results: it has no summary.json", path.display());
            return Err(Failure::Input(one_line(&fault)));
        }
        let mut document: serde_json::Value =
            serde_json::from_slice(&self.bytes(&summary)?).map_err(|error| wrong(error.to_string()))?;
        let files = if self.overrides.is_empty() { tables(path) } else { Vec::new() };
        if files.is_empty() {
            let scenario = document["scenario"].take();
            if scenario["flow"].as_array().is_none_or(Vec::is_empty) {
                let fault = match self.overrides.first() {
                    Some(item) => format!(
                        "--set {item}: `{}` is no folder of `cwnd run`, which alone is run again",
                        path.display()
                    ),
                    None => format!(
                        "`{}` has no traces, and is no folder of `cwnd run`, which could be run again",
                        path.display()
                    ),
                };
                return Err(Failure::Input(one_line(&fault)));
            }
            let document: Document = serde_json::from_value(scenario).map_err(|error| wrong(error.to_string()))?;
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
        traces.collect::<Result<_, _>>().map(Input::Stored)
    }

    /// One seed of a scenario.
    fn scenario(&mut self, name: &str, text: &str) -> Result<Input, Failure> {
        self.has_scenario = true;
        let one_seed = std::iter::once("seeds=1".to_string());
        let overrides: Vec<String> = self.overrides.iter().cloned().chain(one_seed).collect();
        Ok(Input::Scenario(Box::new(Scenario::read(name, text, &overrides)?)))
    }

    /// The trace in a file of flows and the file of links in the same folder.
    fn table(&self, path: &Path, flows: &str) -> Result<Trace, Failure> {
        let stem = path.to_str().and_then(|name| name.strip_suffix(FLOWS));
        let links = stem.map(|stem| PathBuf::from(format!("{stem}{LINKS}"))).filter(|links| links.is_file());
        let links = links.map(|links| self.bytes(&links)).transpose()?;
        let links = links.as_deref().map(String::from_utf8_lossy);
        stored(&path.display().to_string(), flows, links.as_deref())
            .map_err(|error| Failure::Input(one_line(&error.to_string())))
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        let most = MOST_RECORDED.min(self.most.saturating_sub(self.kept) / PER_BYTE);
        read_limited(path, most).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge if most < MOST_RECORDED => {
                files::unreadable(path, &io::Error::new(error.kind(), format!("{error} (--memory)")))
            }
            _ => files::unreadable(path, &error),
        })
    }
}

/// The files of flows in a folder of results, by name; of a comparison those of each algorithm alone.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("traces")).into_iter().flatten().flatten();
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
/// Bytes of memory for each of a file: its text, and what it is read as.
const PER_BYTE: u64 = 4;
/// Bytes of a file: an hour of a busy flow's acknowledgements.
const MOST_RECORDED: u64 = 1 << 30;
