//! Runs the same experiments here and elsewhere, and writes down how far they agree.
//!
//! `cargo xtask validate ns3` starts it. The cases and their tolerances are data in the folder of the other side
//! (`validation/ns3/cases.toml`); the page it writes is `docs/validation.md`.

mod case;
mod here;
mod ns3;
mod outcome;
mod page;
mod plot;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use thiserror::Error;

use case::{Case, Cases, Pair};
use outcome::Outcome;
use plot::Series;

/// A pair of algorithms in a case, with what both sides gave.
pub(crate) struct Result {
    pub(crate) case: usize,
    pub(crate) pair: Pair,
    pub(crate) ours: Side,
    pub(crate) theirs: Side,
}

/// The runs of one side.
pub(crate) struct Side {
    /// One per seed.
    pub(crate) outcomes: Vec<Outcome>,
    /// The windows of the first seed over time.
    pub(crate) windows: Series,
}

/// Why a validation could not be carried out.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("{}: {source}", path.display())]
    Cases { path: PathBuf, source: toml::de::Error },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{command}`: {reason}")]
    Program { command: String, reason: String },
    #[error("{0}")]
    Scenario(Box<cwnd_lab::scenario::ScenarioError>),
    #[error("{0}")]
    Setup(#[from] cwnd_sim::SetupError),
    #[error(
        "the scenario of case `{0}` is not one that ns-3 is set up for: a dumbbell with a queue in packets and bulk flows"
    )]
    Unlike(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["ns3"] {
        eprintln!("usage: cargo xtask validate ns3");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies directly in the repository");
    match validate(root) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything and writes the page; whether every difference is within its tolerance or explained.
fn validate(root: &Path) -> std::result::Result<bool, Error> {
    let folder = root.join("validation/ns3");
    let cases = Cases::read(&folder)?;
    let jobs: Vec<(usize, &Case, &Pair)> = (0..)
        .zip(&cases.case)
        .flat_map(|(index, case)| case.algorithms.iter().map(move |pair| (index, case, pair)))
        .collect();

    let mut scenarios = Vec::new();
    for (_, case, pair) in &jobs {
        scenarios.push(case.scenario(&folder, &pair.ours)?);
    }
    let ours = here::run(&scenarios)?;
    println!("ran {} scenarios here", scenarios.len());
    let program = ns3::build(&folder)?;
    let theirs = ns3::run(&program, &jobs, &scenarios)?;

    let results: Vec<Result> = jobs
        .iter()
        .zip(ours.into_iter().zip(theirs))
        .map(|((case, _, pair), (ours, theirs))| Result { case: *case, pair: (*pair).clone(), ours, theirs })
        .collect();
    page::write(root, &cases, &results)
}
