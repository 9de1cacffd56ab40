//! Runs the same experiments here and elsewhere, and writes down how far they agree.
//!
//! `cargo xtask validate` starts it. Elsewhere is ns-3, ns-2 ([`ns2`]), htsim ([`htsim`], for its speed alone), or the response functions
//! of `cwnd-model` ([`response`]), or real sockets ([`udt`]). The cases and their tolerances are data in the directory of the other side
//! (`evidence/ns3/cases.toml`). What the other side gave is kept there too (`recorded.json`): the pages `evidence/*/results.md` are made
//! from it, and a test compares this side with it without the other.

mod access;
mod case;
mod here;
mod htsim;
mod interop;
mod linux;
mod ns2;
mod ns3;
mod outcome;
mod page;
mod papers;
mod plot;
mod ports;
mod provenance;
mod record;
mod response;
mod stacks;
mod udt;
mod usage;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cwnd_run::scenario::Scenario;
use thiserror::Error;

use case::{Case, Cases, Pair};
use outcome::Outcome;
use plot::Series;
use provenance::Provenance;
use record::{Record, Records};

/// An algorithm in a case, on both sides.
pub(crate) struct Experiment<'a> {
    pub(crate) case: &'a Case,
    pub(crate) pair: &'a Pair,
    pub(crate) scenario: Scenario,
}

/// The values of both sides.
pub(crate) struct Compared<'a> {
    pub(crate) experiment: &'a Experiment<'a>,
    pub(crate) ours: Side,
    pub(crate) theirs: &'a Record,
}

/// The runs of this side.
pub(crate) struct Side {
    /// One per seed.
    pub(crate) outcomes: Vec<Outcome>,
    /// The window of the first flow of the first seed.
    pub(crate) window: Series,
}

/// Why a validation could not be carried out.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("case `{case}` has what ns-2 is not set up for here: {reason}")]
    BeyondNs2 { case: String, reason: String },
    #[error("{}: {source}", path.display())]
    Cases { path: PathBuf, source: toml::de::Error },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Interop(#[from] interop::Error),
    #[error("not recorded, because the link was late: {0}")]
    Late(String),
    #[error("under load: {0}")]
    Load(Box<dyn std::error::Error + Send + Sync>),
    #[error("{}: no markers of the part `{part}`", path.display())]
    NoPart { path: PathBuf, part: String },
    #[error(transparent)]
    Paper(#[from] cwnd_papers::PaperError),
    #[error("`{command}`: {reason}")]
    Program { command: String, reason: String },
    #[error("{}: {source}", path.display())]
    Records { path: PathBuf, source: serde_json::Error },
    #[error(transparent)]
    Relay(#[from] cwnd_link::RelayError),
    #[error("{0}")]
    Scenario(Box<cwnd_run::scenario::ScenarioError>),
    #[error("{0}")]
    Run(#[from] cwnd_run::execute::RunError),
    #[error("the sources have uncommitted changes: commit them first, so that the record can name a revision")]
    Uncommitted,
    #[error("{0}")]
    Chore(String),
    #[error("case `{0}` is not one that ns-3 is set up for: a dumbbell with a queue in packets and bulk flows")]
    Unlike(String),
    #[error("nothing recorded for `{algorithm}` in case `{case}` as it is now: run `cargo xtask validate ns3`")]
    Unrecorded { case: String, algorithm: String },
}

/// Runs the same experiments in other implementations and compares.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compares transfer times over access networks with published bounds, and rewrites a part of docs/access.md
    Access,
    /// Measures the speed of the simulator and of htsim, and rewrites a part of docs/performance.md
    Htsim {
        /// Measures nothing, and rewrites the page from the records
        #[arg(long)]
        recorded: bool,
    },
    /// Plays scenarios between this project's UDT and libudt
    Interop {
        /// The scenarios whose names begin with this [default: all]
        scenario: Vec<String>,
    },
    /// Compares with the TCP of this host's kernel, and rewrites evidence/linux/results.md
    Linux {
        /// Compares with the records: the kernel runs nothing
        #[arg(long, conflicts_with_all = ["only", "repeats"])]
        recorded: bool,
        /// Runs the cases whose names begin so, as far as they lack repetitions; all if none is given
        #[arg(long)]
        only: Vec<String>,
        /// The number of repetitions, instead of those of the list
        #[arg(long)]
        repeats: Option<u32>,
    },
    /// Compares the packet simulator with the response functions, and rewrites evidence/model/results.md
    Model,
    /// Runs the author's agents of UDT and TCP in ns-2, and rewrites evidence/ns2/results.md
    Ns2 {
        /// The cases that ns-2 runs anew, by how their names begin; if none is given, those without a record of their settings
        case: Vec<String>,
    },
    /// Compares with ns-3, and rewrites evidence/ns3/results.md
    Ns3 {
        /// Compares with the records: ns-3 runs no case
        #[arg(long, conflicts_with = "case")]
        recorded: bool,
        /// The cases that ns-3 runs anew; all if none is given
        case: Vec<String>,
    },
    /// Records the results of papers, of the rules of UDT and of alternative assumptions, in files of papers/
    Papers {
        #[command(subcommand)]
        chore: papers::Chore,
    },
    /// One end of a transfer on this project's sockets
    #[command(hide = true)]
    Partner {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Compares and judges released stacks of others, and rewrites parts of docs/foreign.md
    Stacks {
        /// Rewrites the pages from the records: no stack runs
        #[arg(long, conflicts_with = "only")]
        recorded: bool,
        /// Judges the stacks whose names begin so, and keeps the records of the others; all if none is given. `figures` are those of two flows of
        /// each
        #[arg(long)]
        only: Vec<String>,
        /// Seeds of each check and of each share, where the default of three and five takes too long
        #[arg(long)]
        seeds: Option<u32>,
    },
    /// One end of a transfer over TCP
    #[command(hide = true)]
    Tcp {
        #[command(subcommand)]
        end: udt::files::tcp::End,
    },
    /// Measures UDT on sockets, and rewrites the tables of docs/udt.md and of docs/files.md
    Udt {
        /// Takes minutes and writes no records: shows that everything works
        #[arg(long)]
        quick: bool,
        /// Measures nothing, and rewrites these tables from the records
        #[arg(long, conflicts_with_all = ["quick", "part", "repeats"])]
        recorded: bool,
        /// The number of repetitions, of everything but files and paths, instead of the three or five of a full measurement
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=9), conflicts_with = "quick")]
        repeats: Option<u8>,
        /// The parts to measure; all if none is given
        part: Vec<udt::Part>,
    },
}

fn main() -> ExitCode {
    let agrees = match Arguments::parse().command {
        Command::Access => access::validate(root()).map(|()| true),
        Command::Htsim { recorded: true } => htsim::rewrite(root()).map(|()| true),
        Command::Htsim { recorded: false } => htsim::validate(root()).map(|()| true),
        Command::Interop { scenario } => return interop::runner::run(&scenario),
        Command::Model => response::validate(),
        Command::Ns2 { case } => ns2::validate(root(), &case),
        Command::Ns3 { recorded, case } => validate(root(), (!recorded).then_some(&case)),
        Command::Papers { chore } => papers::run(root(), &chore).map(|()| true),
        Command::Partner { arguments } => Ok(interop::ours::play(&arguments)),
        Command::Stacks { recorded, only, seeds } => stacks::validate(root(), &only, seeds, recorded).map(|()| true),
        Command::Tcp { end } => udt::files::tcp::run(&end).map(|()| true),
        Command::Linux { recorded, only, repeats } => linux::validate(root(), &only, repeats, recorded),
        Command::Udt { recorded: true, .. } => udt::rewrite(root()).map(|()| true),
        Command::Udt { quick, part, repeats, .. } => {
            udt::validate(root(), &part, quick, repeats.map(usize::from)).map(|()| true)
        }
    };
    match agrees {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Records the `chosen` cases anew, all if none is named, and writes the page; whether every difference is within its tolerance
/// or explained.
fn validate(root: &Path, chosen: Option<&Vec<String>>) -> Result<bool, Error> {
    // Before the runs, during which the sources may change.
    let sources = Provenance::of_record(root)?;
    let directory = root.join("evidence/ns3");
    let cases = Cases::read(&directory)?;
    let experiments = cases.experiments(&directory)?;
    let mut records = Records::read(&directory)?;

    if let Some(chosen) = chosen {
        let mut anew: Vec<&Experiment<'_>> = Vec::new();
        for experiment in &experiments {
            let asked = chosen.is_empty() || chosen.iter().any(|name| name == experiment.case.name());
            if asked && !anew.iter().any(|known| known.is_of(experiment.case.name(), &experiment.pair.theirs)) {
                anew.push(experiment);
            }
        }
        let program = ns3::build(&directory)?;
        ns3::run(&program, &anew, &sources)?.into_iter().for_each(|record| records.put(record));
        records
            .write(|record| experiments.iter().any(|experiment| experiment.is_of(&record.case, &record.algorithm)))?;
    }
    let compared = compare(&experiments, &records)?;
    page::write(root, &cases, &compared, &sources)
}

/// Runs this side and sets it against the records.
fn compare<'a>(experiments: &'a [Experiment<'a>], records: &'a Records) -> Result<Vec<Compared<'a>>, Error> {
    let ours = here::run(experiments)?;
    let both = experiments.iter().zip(ours).map(|(experiment, ours)| {
        let arguments = ns3::arguments(experiment)?;
        let (case, algorithm) = (experiment.case.name(), &experiment.pair.theirs);
        let theirs = records
            .find(case, algorithm, &arguments)
            .ok_or_else(|| Error::Unrecorded { case: case.to_owned(), algorithm: algorithm.clone() })?;
        Ok(Compared { experiment, ours, theirs })
    });
    both.collect()
}

impl Experiment<'_> {
    fn is_of(&self, case: &str, algorithm: &str) -> bool {
        case == self.case.name() && algorithm == self.pair.theirs
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies directly in the repository")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_agree_with_those_recorded_elsewhere() -> Result<(), Error> {
        let directory = root().join("evidence/ns3");
        let cases = Cases::read(&directory)?;
        let experiments = cases.experiments(&directory)?;
        let records = Records::read(&directory)?;
        for compared in compare(&experiments, &records)? {
            for judged in compared.judge(&cases) {
                let place = format!("{} {}", compared.experiment.case.name(), compared.experiment.pair.name());
                assert!(
                    judged.holds(),
                    "{place}: {:?} {} here, {} there",
                    judged.measure,
                    judged.ours.mean,
                    judged.theirs.mean
                );
            }
        }
        Ok(())
    }
}
