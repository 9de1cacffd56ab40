//! Traces for other tools.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use cwnd_export::{About, pcapng};
use cwnd_trace::Trace;
use thiserror::Error;

use crate::run::Runs;
use crate::scenario::unknown;

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Packets at the senders, with TCP's and UDT's headers: Wireshark.
    Pcapng,
}

/// Not a format.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FormatError {
    /// There is none of this name.
    #[error("{}", unknown("format", .0, &Format::ALL.map(Format::name)))]
    Unknown(String),
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Pcapng];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcapng => "pcapng",
        }
    }

    /// Whether it wants the packets one by one.
    #[must_use]
    pub const fn needs_packets(self) -> bool {
        matches!(self, Self::Pcapng)
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| FormatError::Unknown(name.to_string()))
    }
}

/// Writes the traces of one scenario's runs into `folder`, in each of `formats`. `command` repeats them.
///
/// # Errors
/// A file cannot be written.
pub fn write_formats(folder: &Path, command: &str, formats: &[Format], runs: &Runs) -> io::Result<()> {
    let folder = folder.join("traces");
    std::fs::create_dir_all(&folder)?;
    let title = title(runs);
    let seeds: Vec<(u64, &Trace)> = runs.scenario.seeds().zip(&runs.traces).collect();
    let about = |seed| About { title: &title, program: PROGRAM, command, seed };
    for format in formats {
        match format {
            Format::Pcapng => {
                for (seed, trace) in seeds.iter().take(1) {
                    save(&folder.join("scenario.pcapng"), |out| pcapng::write(out, trace, &about(*seed)))?;
                }
            }
        }
    }
    Ok(())
}

/// What was run, in a few words.
fn title(runs: &Runs) -> String {
    let document = runs.scenario.document();
    let algorithms =
        || document.flow.iter().map(|group| group.algorithm.text().trim()).collect::<Vec<_>>().join(" and ");
    document.title.clone().unwrap_or_else(algorithms)
}

fn save(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.flush()
}

const PROGRAM: &str = concat!("cwnd ", env!("CWND_VERSION"));
