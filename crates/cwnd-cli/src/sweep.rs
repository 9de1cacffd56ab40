//! `cwnd sweep`

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use cwnd::Span;
use cwnd_lab::compare::{COLUMNS, Column};
use cwnd_lab::output::digits::cell;
use cwnd_lab::output::table::Table;
use cwnd_lab::output::to_json;
use cwnd_lab::scenario::Written;
use cwnd_lab::sweep::{
    Chunk, Dataset, DatasetError, Interrupted, PartFormat, Progressed, Row, Shard, Sweep, Swept, Watch, gather,
    run_chunk,
};
use rayon::prelude::*;

use crate::failure::Failure;
use crate::progress::CellProgress;
use crate::store::Store;

/// Which sweep, and which part of it.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  cwnd sweep scenarios/sweep/buffers.toml
  cwnd sweep scenarios/sweep/buffers.toml --set duration=20s --set seeds=2 --out out/buffers
  cwnd sweep buffers.toml --out /shared/buffers --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
  cwnd sweep status out/buffers
Runs that were done before are found in the store, so an interrupted sweep goes on with the same command. A run that fails is a row
with its error; then the exit code is 1. docs/sweeps.md says how sweeps are written and what is in the files, docs/cluster.md how
to run one on many machines."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say how far the folder of a sweep is, and what failed
    Status {
        /// The folder
        folder: PathBuf,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
struct Run {
    /// A TOML file; scenarios/sweep/ has one to start from
    #[arg(value_name = "SWEEP")]
    sweep: Option<PathBuf>,
    /// Change a key of the base scenario: `duration=20s`, `seeds=10`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Only check the sweep, and say what it would run
    #[arg(long)]
    check: bool,
    /// Run one part of several, such as 3/8; all parts together are the sweep
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// How much work goes into a file, in seconds of one core by a rule of thumb
    #[arg(long, value_name = "TIME", default_value = "10s")]
    chunk: Written<Span>,
    /// How rows are written: csv, jsonl, or parquet (not in every build) [default: parquet where the build has it, otherwise csv]
    #[arg(long)]
    format: Option<PartFormat>,
    /// Print one JSON document and nothing else; write no files unless --out is given
    #[arg(long)]
    json: bool,
    /// The folder of results: a new one, or that of the same sweep [default: out/sweep-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    store: Store,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    match (&arguments.command, &arguments.run.sweep) {
        (Some(Command::Status { folder, json }), _) => {
            let progressed = Dataset::found(folder)?.progressed();
            Ok(if *json { to_json(&progressed) } else { status(&progressed) })
        }
        (None, Some(path)) => arguments.run.run(path),
        (None, None) => Err(Failure::Input("name the file of a sweep: `cwnd sweep --help`".to_string())),
    }
}

impl Run {
    fn run(&self, path: &Path) -> Result<String, Failure> {
        let sweep = self.read(path)?;
        let seconds = self.chunk.value().as_secs_f64();
        let chunks = sweep.chunks(seconds);
        if self.check {
            let (points, cells) = (sweep.points().len(), sweep.len());
            return Ok(format!(
                "{} is a sweep: {points} points, {cells} cells, {} chunks\n",
                path.display(),
                chunks.len()
            ));
        }
        let folder = self.folder(path);
        let dataset = match &folder {
            Some(folder) => Some(Dataset::open(folder, &sweep, seconds, self.format.unwrap_or(PartFormat::USUAL))?),
            None => None,
        };
        let chunks = self.shard.map_or_else(|| chunks.clone(), |shard| shard.of(&chunks));
        let progress = CellProgress::start(chunks.iter().map(|chunk| chunk.len()).sum())?;
        let rows = self.run_chunks(&sweep, &chunks, dataset.as_ref(), &progress);
        let [computed, stored, failed] = progress.counts();
        drop(progress);
        let rows = rows.map_err(|error| match error {
            Stop::Interrupted => Failure::Stopped(format!(
                "interrupted after {} of {} cells; the same command goes on from there",
                computed + stored,
                chunks.iter().map(|chunk| chunk.len()).sum::<u64>()
            )),
            Stop::Dataset(error) => Failure::Run(error.to_string()),
        })?;

        let swept = gather(&sweep, &rows);
        if let Some(folder) = folder {
            eprintln!(
                "wrote {}: {computed} cells computed, {stored} found in the store, {failed} failed",
                folder.display()
            );
        }
        let text = if self.json { to_json(&swept) } else { print(&sweep, &swept) };
        if failed == 0 {
            return Ok(text);
        }
        crate::print(&text)?;
        let first = swept.errors.first().map_or("", String::as_str);
        Err(Failure::Run(format!("{failed} of {} cells failed, such as: {first}", rows.len())))
    }

    fn read(&self, path: &Path) -> Result<Sweep, Failure> {
        let name = path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|error| Failure::Input(format!("cannot read `{name}`: {error}")))?;
        Ok(Sweep::read(&name, &text, path.parent().unwrap_or(Path::new("")), &self.set)?)
    }

    fn folder(&self, path: &Path) -> Option<PathBuf> {
        let usual = || {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Path::new("out").join(format!("sweep-{name}"))
        };
        self.out.clone().or_else(|| (!self.json).then(usual))
    }

    /// Chunks side by side, so that no core waits for the last cell of one.
    fn run_chunks(
        &self,
        sweep: &Sweep,
        chunks: &[Chunk],
        dataset: Option<&Dataset>,
        watch: &dyn Watch,
    ) -> Result<Vec<Row>, Stop> {
        let cells = self.store.cells();
        let run = |chunk: &Chunk| {
            let rows = run_chunk(sweep, *chunk, &cells, watch)?;
            if let Some(dataset) = dataset {
                dataset.write(*chunk, &rows)?;
            }
            Ok(rows)
        };
        let rows = chunks.par_iter().with_max_len(1).map(run).collect::<Result<Vec<_>, Stop>>()?;
        Ok(rows.into_iter().flatten().collect())
    }
}

/// Why the chunks were not all run.
enum Stop {
    Interrupted,
    Dataset(DatasetError),
}

fn print(sweep: &Sweep, swept: &Swept) -> String {
    let mut text = swept.title.as_ref().map_or_else(String::new, |title| format!("{title}\n"));
    let Swept { cells, done_cells, points, .. } = swept;
    text.push_str(&format!("{done_cells} of {cells} cells; mean ± half the 95 % confidence interval\n\n"));
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.in_table).collect();
    let mut table = Table::default();
    let short = |key: &String| key.rsplit('.').next().unwrap_or_default().to_string();
    let keys = sweep.keys();
    table.row(keys.iter().map(short).chain(columns.iter().map(|column| column.heading.to_string())));
    table.row(keys.iter().map(|_| "").chain(columns.iter().map(|column| column.unit)));
    for point in points.iter().take(MAX_ROWS) {
        let set = keys.iter().map(|key| {
            let found = point.set.iter().find(|setting| setting.key == *key);
            found.map_or("–".to_string(), |setting| setting.value.clone())
        });
        table.row(set.chain(columns.iter().map(|column| cell((column.of)(&point.measures), column.scale))));
    }
    text.push_str(&table.print());
    if points.len() > MAX_ROWS {
        text.push_str(&format!("and {} more points: see the files, or --json\n", points.len() - MAX_ROWS));
    }
    text
}

fn status(progressed: &Progressed) -> String {
    let Progressed { cells, present_cells, failed_cells, chunks, present_chunks, failures, .. } = progressed;
    let mut text =
        format!("{present_cells} of {cells} cells, {present_chunks} of {chunks} files, {failed_cells} cells failed\n");
    for failure in failures {
        text.push_str(&format!(
            "  cell {}, seed {}, {}: {}\n",
            failure.cell,
            failure.seed,
            failure.set.join(" "),
            failure.error
        ));
    }
    text
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<DatasetError> for Stop {
    fn from(error: DatasetError) -> Self {
        Self::Dataset(error)
    }
}

impl From<DatasetError> for Failure {
    fn from(error: DatasetError) -> Self {
        Self::Input(format!("--out: {error}"))
    }
}

/// Two screens; more rows are no table to judge.
const MAX_ROWS: usize = 60;
