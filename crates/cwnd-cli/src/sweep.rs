//! `cwnd sweep`

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use cwnd::Span;
use cwnd_lab::sweep::{By, Dataset, DatasetError, PartFormat, Shard, Stopped, Sweep, gather, run_chunks, with_stored};
use cwnd_report::page::names;
use cwnd_report::{text, write_sweep};
use cwnd_run::execute::causes;
use cwnd_run::files::{read_text, to_json};
use cwnd_run::scenario::{Written, apart};

use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::progress::{self, CellProgress};
use crate::signals;
use crate::store::Store;
use cwnd_text::{counted, one_line};

/// Arguments of `cwnd sweep`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  cwnd sweep scenarios/sweep/buffers.toml
  cwnd sweep scenarios/sweep/buffers.toml --set duration=20s --set seeds=2 --out out/buffers
  cwnd sweep scenarios/sweep/buffers.toml --by queue_delay_p99_s
  cwnd sweep buffers.toml --out /shared/buffers --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
  cwnd sweep buffers.toml --scheduler tcp://127.0.0.1:8786
  cwnd sweep status out/buffers

Prints the best algorithm, or point, for each setting; report.html in the directory of results has maps, ranks and every point. \
Finished runs are found in the store, so the same command continues an interrupted sweep. A run that fails is a row with \
its error; then the exit code is 1. docs/sweeps.md describes how to write a sweep and its files, docs/cluster.md how to run one on \
many machines."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Other>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Subcommand)]
enum Other {
    /// Print the progress of the sweep in a directory, and its failures
    Status {
        /// The directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: Store,
    },
}

#[derive(Args, Debug)]
struct Run {
    /// A sweep in TOML; scenarios/sweep/ has an example
    #[arg(value_name = "SWEEP")]
    sweep: Option<PathBuf>,
    /// Change a key of the base scenario: `duration=20s`, `seeds=10`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Rank points by this measure, such as loss_rate or queue_delay_p99_s [default: `by` in the file, or goodput_bps]
    #[arg(long, value_name = "MEASURE")]
    by: Option<By>,
    /// Check the sweep and print its size without running it
    #[arg(long, conflicts_with_all = ["by", "json", "out", "format", "scheduler", "shard", "store", "no_store", "figure"])]
    check: bool,
    /// Run one part of several, such as 3/8
    #[arg(long, value_name = "I/N", help_heading = "Many machines")]
    shard: Option<Shard>,
    /// Run on the Dask cluster of this scheduler, such as tcp://host:8786, through the Python package (docs/cluster.md)
    #[arg(long, value_name = "ADDRESS", help_heading = "Many machines")]
    scheduler: Option<String>,
    /// Work for each file of results, in estimated seconds of one core [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Many machines")]
    chunk: Option<Written<Span>>,
    /// Format of rows: csv, jsonl, or parquet (not in every build) [default: parquet where the build has it, otherwise csv]
    #[arg(long)]
    format: Option<PartFormat>,
    /// Print one JSON document and nothing else; write no files unless --out is given
    #[arg(long)]
    json: bool,
    /// The directory of results: a new one, or one of this sweep [default: out/sweep-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    match (&arguments.command, &arguments.run.sweep) {
        (Some(Other::Status { directory, json, store }), _) => {
            let wrong = |error: DatasetError| match error {
                DatasetError::NoSweep(_) => {
                    Failure::input(format!("DIR: `{}` is not the directory of a sweep", directory.display()))
                }
                error => Failure::input(format!("DIR: {error}")),
            };
            let cells = store.cells();
            let status = Dataset::found(directory).map_err(wrong)?.status(&cells);
            let place = cells.directory().map(|directory| directory.display().to_string());
            Ok(if *json { to_json(&status) } else { text::sweep_status(&status, place.as_deref()) })
        }
        (None, Some(_)) if arguments.run.scheduler.is_some() && progress::memory().is_some() => {
            Err(Failure::input("--memory: the workers of --scheduler take half of their machine's".to_string()))
        }
        (None, Some(_)) if arguments.run.scheduler.is_some() && arguments.run.figure.is_wanted() => {
            Err(Failure::input(
                "--figure: not with --scheduler; the same command without --scheduler draws the stored results"
                    .to_string(),
            ))
        }
        (None, Some(_)) if arguments.run.scheduler.is_some() => Err(in_python()),
        (None, Some(path)) => arguments.run.run(path),
        (None, None) => Err(Failure::input("SWEEP: name the file of a sweep, as `cwnd sweep --help` says".to_string())),
    }
}

impl Run {
    fn run(&self, path: &Path) -> Result<String, Failure> {
        let sweep = self.read(path)?;
        let without = (self.json && self.out.is_none()).then_some("--json");
        self.figure.check_with(without, names::OF_SWEEPS)?;
        let seconds = self.chunk.as_ref().map_or(CHUNK_S, |chunk| chunk.value().as_secs_f64());
        let chunks = sweep.chunks(seconds);
        if self.check {
            sweep.warnings().iter().for_each(|warning| say!("warning: {}", one_line(&warning.to_string())));
            return Ok(format!(
                "{}: valid sweep, {}, {}, {}\n",
                path.display(),
                counted(sweep.points().len(), "point"),
                counted(sweep.len(), "cell"),
                counted(chunks.len(), "chunk")
            ));
        }
        let shard = self.shard.map_or_else(|| chunks.clone(), |shard| shard.of(&chunks));
        // Ctrl-C is listened to before anything is written.
        let progress = CellProgress::start(shard.iter().map(|chunk| chunk.len()).sum())?;
        let directory = self.directory(path);
        let of_files = [("--format", self.format.is_some()), ("--chunk", self.chunk.is_some() && self.shard.is_none())];
        if let Some((option, _)) = of_files.into_iter().find(|(_, given)| *given && directory.is_none()) {
            return Err(Failure::input(format!(
                "{option} is about files: with --json, name their directory with --out"
            )));
        }
        let dataset = match &directory {
            Some(directory) => {
                Some(Dataset::open(directory, &sweep, seconds, self.format.unwrap_or(PartFormat::USUAL))?)
            }
            None => None,
        };
        let cells = self.store.cells();
        let rows = run_chunks(&sweep, &shard, &cells, dataset.as_ref(), &progress);
        let [computed, equal, stored, failed] = progress.counts();
        drop(progress);
        let rows = rows.map_err(|error| match error {
            Stopped::Interrupted(_) => Failure::stopped(format!(
                "interrupted after {} of {}; repeat the command to continue",
                computed + equal + stored,
                counted(shard.iter().map(|chunk| chunk.len()).sum::<u64>(), "cell")
            )),
            Stopped::Dataset(error) => Failure::run(error.to_string()),
        })?;

        let sweep = match self.by {
            Some(by) => sweep.ranked_by(by),
            None => sweep,
        };
        let swept = gather(&sweep, &rows);
        if let Some(directory) = &directory {
            let known = gather(&sweep, &with_stored(&sweep, &rows, &cells));
            write_sweep(directory, &sweep, &known).map_err(|error| {
                Failure::run(format!("cannot write `{}`: {error}", directory.join("report.html").display()))
            })?;
            self.figure.write_from(directory)?;
            let shared = if equal == 0 { String::new() } else { format!(" ({equal} of them for an equal cell)") };
            say!(
                "wrote {}: {} computed{shared}, {stored} found in the store, {failed} failed",
                directory.display(),
                counted(computed + equal, "cell")
            );
        }
        let text = if self.json { to_json(&swept) } else { text::sweep(&sweep, &swept, directory.as_deref()) };
        let causes = causes(rows.iter().filter_map(|row| row.outcome.as_ref().err()));
        match cwnd_run::execute::failed(rows.len() as u64, &causes) {
            None => Ok(text),
            Some(why) => {
                crate::print(&text)?;
                Err(Failure::run(why))
            }
        }
    }

    fn read(&self, path: &Path) -> Result<Sweep, Failure> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| files::unreadable(path, &error))?;
        apart(&self.set)?;
        Ok(Sweep::read(&name, &text, path.parent().unwrap_or(Path::new("")), &self.set)?)
    }

    fn directory(&self, path: &Path) -> Option<PathBuf> {
        let usual = || {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Path::new("out").join(format!("sweep-{name}"))
        };
        self.out.clone().or_else(|| (!self.json).then(usual))
    }
}

/// Replaces this process by the Python package with the same arguments: only Python has an interface to Dask. Returns if that is
/// impossible.
fn in_python() -> Failure {
    let needed = "the Python package with Dask: `pip install './python[dask]'` in the repository, and `CWND_PYTHON` names \
                  an interpreter other than `python3`";
    let python = match python_with_dask() {
        Ok(python) => python,
        Err(why) => return Failure::input(format!("--scheduler: {why}; it needs {needed}")),
    };
    let mut command = Command::new(&python);
    command.args(["-m", "cwnd"]).args(env::args_os().skip(1));
    let error = signals::replaced_by(command);
    Failure::input(format!("--scheduler: cannot run `{}`: {error}", python.display()))
}

/// The Python interpreter that has the packages of `--scheduler`.
///
/// # Errors
/// It does not run, or lacks a package; the text says which.
pub(crate) fn python_with_dask() -> Result<OsString, String> {
    let python = env::var_os("CWND_PYTHON").unwrap_or_else(|| "python3".into());
    let shown = python.display();
    match signals::unblocked(|| Command::new(&python).args(["-c", FINDS_PACKAGE]).status()) {
        Err(error) => Err(format!("cannot run `{shown}`: {error}")),
        Ok(status) if !status.success() => Err(format!("`{shown}` finds no package `cwnd` with `distributed`")),
        Ok(_) => Ok(python),
    }
}

impl From<DatasetError> for Failure {
    fn from(error: DatasetError) -> Self {
        Self::input(format!("--out: {error}"))
    }
}

/// The work for each file, seconds of one core.
const CHUNK_S: f64 = 10.0;

/// Succeeds if Python has the packages that `--scheduler` needs. Looking for packages takes a tenth of the time of importing them.
const FINDS_PACKAGE: &str =
    "import importlib.util as u, sys; sys.exit(not (u.find_spec('cwnd') and u.find_spec('distributed')))";
