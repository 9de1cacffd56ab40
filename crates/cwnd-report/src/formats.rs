//! Traces for other tools.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use cwnd_export::qlog::{self, Dialect};
use cwnd_export::{About, flent, pcapng};
use cwnd_trace::Trace;
use thiserror::Error;

use crate::slug::slug;
use cwnd_run::PROGRAM;
use cwnd_run::run::Runs;
use cwnd_run::scenario::unknown;

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Packets at the senders, with TCP's and UDT's headers: Wireshark.
    Pcapng,
    /// Recovery as QUIC's viewers show it, in today's spelling: qvis and others.
    Qlog,
    /// qlog in the spelling of version 0.3.
    QlogLegacy,
    /// flent's data file.
    Flent,
    /// Tables; only where the program was built with the feature `parquet`.
    Parquet,
}

/// The error for a name that is not a format.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FormatError {
    /// No format has this name.
    #[error("{}", unknown("format", .0, &Format::ALL.map(Format::name)))]
    Unknown(String),
    /// It was left out of this program.
    #[error(
        "this program was built without Parquet; build one that has it: cargo install --path crates/cwnd-cli --features parquet"
    )]
    WithoutParquet,
}

impl Format {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::Pcapng, Self::Qlog, Self::QlogLegacy, Self::Flent, Self::Parquet];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcapng => "pcapng",
            Self::Qlog => "qlog",
            Self::QlogLegacy => "qlog:legacy",
            Self::Flent => "flent",
            Self::Parquet => "parquet",
        }
    }

    /// Whether it wants the packets one by one.
    #[must_use]
    pub const fn needs_packets(self) -> bool {
        matches!(self, Self::Pcapng | Self::Qlog | Self::QlogLegacy)
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        match found {
            Some(Self::Parquet) if !cfg!(feature = "parquet") => Err(FormatError::WithoutParquet),
            Some(format) => Ok(format),
            None => Err(FormatError::Unknown(name.to_string())),
        }
    }
}

/// Writes the traces of one scenario's runs into `directory`, in each of `formats`. `command` repeats them.
///
/// # Errors
/// A file cannot be written.
pub fn write_formats(directory: &Path, command: &str, formats: &[Format], runs: &Runs) -> io::Result<()> {
    let directory = directory.join("traces");
    std::fs::create_dir_all(&directory)?;
    let title = title(runs);
    let seeds: Vec<(u64, &Trace)> = runs.scenario.seeds().zip(&runs.traces).collect();
    let about = |seed| About { title: &title, program: PROGRAM, command, seed };
    let first = || seeds.iter().take(1);
    for format in formats {
        match format {
            Format::Pcapng => {
                for (seed, trace) in first() {
                    save(&directory.join("scenario.pcapng"), |out| pcapng::write(out, trace, &about(*seed)))?;
                }
            }
            Format::Qlog | Format::QlogLegacy => {
                let dialect = if *format == Format::Qlog { Dialect::Draft14 } else { Dialect::Legacy };
                for (seed, trace) in first() {
                    for (flow, number) in trace.flows.iter().zip(1..) {
                        let name = format!("{number}-{}.{}", slug(&flow.name), dialect.ending());
                        save(&directory.join(name), |out| qlog::write(out, trace, flow, dialect, &about(*seed)))?;
                    }
                }
            }
            Format::Flent => {
                for (seed, trace) in &seeds {
                    save(&directory.join(format!("scenario-{seed}.flent")), |out| {
                        flent::write(out, trace, &about(*seed))
                    })?;
                }
            }
            Format::Parquet => write_parquet(&directory, &about(0), &seeds)?,
        }
    }
    Ok(())
}

#[cfg(feature = "parquet")]
fn write_parquet(directory: &Path, about: &About<'_>, runs: &[(u64, &Trace)]) -> io::Result<()> {
    let About { title, program, command, .. } = *about;
    let about = cwnd_parquet::About { title, program, command };
    for table in cwnd_parquet::Tables::ALL {
        let path = directory.join(format!("{}.parquet", table.name()));
        save(&path, |out| table.write(out, runs, &about).map_err(io::Error::other))?;
    }
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Path, _: &About<'_>, _: &[(u64, &Trace)]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, FormatError::WithoutParquet))
}

/// A short title of the runs.
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
