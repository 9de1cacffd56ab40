//! The records of papers: verdicts, and their dependence on single assumptions and rules. Files of `papers/`, compiled into `cwnd`.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Args, Subcommand};
use cwnd_papers::{
    Ablation, Alternative, Alternatives, Crossing, Made, PaperError, PaperRun, Plan, Provenance, RecordFile, Recorded,
    Scale, Selection, Settings, Variant, alternatives, cross, variants,
};
use cwnd_report::table::Table;
use cwnd_run::cells::Cells;
use cwnd_run::execute::Progress;
use cwnd_run::files::{read_text, write_whole};
use cwnd_terminal::clock;
use cwnd_text::{counted, decimal};
use nix::sys::resource::UsageWho;

use crate::Error;
use crate::usage::processor_seconds;

/// The kinds of records.
#[derive(Debug, Subcommand)]
pub(crate) enum Chore {
    /// Records the verdicts in papers/expected.toml, or papers/full.toml, and their origin in papers/provenance.toml
    Record {
        /// A paper; all if none is given
        paper: Option<String>,
        /// One of its results
        result: Option<String>,
        /// The published durations, and at least 10 seeds, instead of reduced length
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        store: Store,
    },
    /// Changes one rule of UDT at a time in each of its profiles, and shows what the tables and figures of `daimd` come to
    Ablate {
        /// A result; all in which rules show if none is given
        result: Option<String>,
        /// Only the profiles of this name
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Records the result in papers/daimd/ablation.toml, after each variant
        #[arg(long)]
        record: bool,
        #[command(flatten)]
        store: Store,
    },
    /// Runs every algorithm of the papers on the experiments of all at reduced length, and records it in papers/cross.toml
    Cross {
        #[command(flatten)]
        store: Store,
    },
    /// Replaces one assumption at a time by each of its alternatives, at reduced length, and shows which verdicts change
    Alternatives {
        /// A paper
        paper: String,
        /// One of its results
        result: Option<String>,
        /// Only the alternatives of this assumption
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// Records the result in papers/alternatives.toml, after each alternative
        #[arg(long)]
        record: bool,
        #[command(flatten)]
        store: Store,
    },
}

/// Where single runs are stored.
#[derive(Args, Debug)]
pub(crate) struct Store {
    /// Where runs are stored [default: cwnd/cells in the user's directory for caches]
    #[arg(long, value_name = "DIR", conflicts_with = "no_store")]
    store: Option<PathBuf>,
    /// Stores nothing, and uses nothing stored
    #[arg(long)]
    no_store: bool,
}

impl Store {
    fn cells(&self) -> Cells {
        match (&self.store, self.no_store) {
            (_, true) => Cells::default(),
            (Some(directory), false) => Cells::stored(directory),
            (None, false) => Cells::of_user(),
        }
    }
}

/// Does a chore in the repository at `root`.
///
/// # Errors
/// The paper or result is unknown, a run fails, or a file of the record cannot be read or written.
pub(crate) fn run(root: &Path, chore: &Chore) -> Result<(), Error> {
    match chore {
        Chore::Record { paper, result, full, store } => {
            let scale = if *full { Scale::Full } else { Scale::Quick };
            record(root, Selection::of(paper.as_deref(), result.as_deref())?, scale, store)
        }
        Chore::Ablate { result, profile, record, store } => {
            let path = record.then(|| root.join(Ablation::NAME));
            ablate(path.as_deref(), result.as_deref(), profile.as_deref(), &store.cells())
        }
        Chore::Cross { store } => {
            let plan = Plan::written()?;
            let (crossing, wall) = clock::timed(|| cross(&plan, Scale::Quick, &store.cells(), &Completed));
            let mut crossing = crossing?;
            let Made { runs, length_s, seeds, .. } = crossing.made;
            crossing.made = Made { runs, length_s, seeds, ..made_now(store, wall) };
            write(&root.join(Crossing::NAME), &crossing.to_toml())
        }
        Chore::Alternatives { paper, result, key, record, store } => {
            Selection::of(Some(paper), result.as_deref())?;
            let chosen = chosen(paper, result.as_deref(), key.as_deref())?;
            replace(record.then_some(root), chosen, &store.cells())
        }
    }
}

/// Writes the verdicts of a selection over the recorded ones, with their origin.
fn record(root: &Path, selection: Selection, scale: Scale, store: &Store) -> Result<(), Error> {
    let (path, mut recorded) = recorded_at(root, scale)?;
    let made_path = root.join(Provenance::NAME);
    let mut made: Provenance = on_record(&made_path)?;
    let settings = Settings { scale, assumptions: Vec::new(), variant: None };
    let (runs, wall) = clock::timed(|| selection.run(&settings, &store.cells(), &Completed));
    let runs: Vec<PaperRun> = runs?;
    recorded.update(&runs);
    made.update(scale, &runs, &made_now(store, wall));
    write(&path, &recorded.to_toml())?;
    write(&made_path, &made.to_toml())
}

/// This program, machine and day, with the time that the command took.
fn made_now(store: &Store, wall: Duration) -> Made {
    Made {
        revision: cwnd_run::VERSION.to_string(),
        sources: cwnd_run::cells::SOURCES.to_string(),
        date: clock::today(),
        machine: machine(),
        wall_s: Some(wall.as_secs_f64().round()),
        processor_s: Some(processor_seconds(UsageWho::RUSAGE_SELF).round()),
        stored: !store.no_store,
        ..Made::default()
    }
}

/// Runs every variant of UDT.
fn ablate(record: Option<&Path>, result: Option<&str>, profile: Option<&str>, cells: &Cells) -> Result<(), Error> {
    let results: Vec<&str> = ABLATED.into_iter().filter(|known| result.is_none_or(|result| result == *known)).collect();
    if results.is_empty() {
        return Err(Error::Chore(format!("expected none or one of {}", ABLATED.join(", "))));
    }
    let wanted = |variant: &Variant| profile.is_none_or(|profile| profile == variant.profile);
    let mut found = Ablation::default();
    for mut variant in variants().into_iter().filter(wanted) {
        for result in &results {
            variant.run(result, cells, &Completed)?;
        }
        found.put(variant.clone());
        // Kept after each, since all of them take long.
        if let Some(path) = record {
            let mut recorded: Ablation = on_record(path)?;
            recorded.put(variant);
            write(path, &recorded.to_toml())?;
        }
    }
    if found.variant.is_empty() {
        let mut profiles: Vec<String> =
            variants().into_iter().map(|variant| format!("`{}`", variant.profile)).collect();
        profiles.dedup();
        return Err(Error::Chore(format!("--profile: expected one of {}", profiles.join(", "))));
    }
    let mut table = Table::left();
    table.row(["profile", "change"].into_iter().chain(results.iter().copied()));
    for variant in &found.variant {
        let cell = |result: &&str| {
            let [matches, misses, undecided] = variant.counts.get(*result).copied().unwrap_or_default();
            let distance =
                variant.distance.get(*result).map_or(String::new(), |one| format!(", {} %", decimal(one * 100.0, 1)));
            format!("{matches}/{misses}/{undecided}{distance}")
        };
        let names = [variant.profile.clone(), variant.change.clone()];
        table.row(names.into_iter().chain(results.iter().map(cell)));
    }
    println!("{}match/miss/undecided of the printed numbers, and their mean distance from ours", table.folded());
    Ok(())
}

/// Runs alternatives of assumptions, each with these results, and records them in the repository at `record`.
fn replace(record: Option<&Path>, chosen: Vec<Chosen>, cells: &Cells) -> Result<(), Error> {
    let found = replaced(record, chosen, cells)?;
    let mut table = Table::left();
    table.row(["assumption", "result", "as assumed", "with it", "row that changes", "verdict, ours"]);
    let counts = |[matches, misses, undecided]: [usize; 3]| format!("{matches}/{misses}/{undecided}");
    for alternative in &found.alternative {
        for (result, outcome) in &alternative.result {
            let cells = [alternative.set.clone(), result.clone(), counts(outcome.assumed), counts(outcome.counts)];
            table.row(cells.into_iter().chain([String::new(), String::new()]));
            for (row, now) in &outcome.changed {
                table.row(["", "", "", "", row, now]);
            }
        }
    }
    println!("{}match/miss/undecided of the rows that are compared", table.folded());
    Ok(())
}

fn replaced(record: Option<&Path>, chosen: Vec<Chosen>, cells: &Cells) -> Result<Alternatives, Error> {
    // The verdicts in the repository may be newer than those compiled into this program.
    let as_assumed = match record {
        Some(root) => recorded_at(root, Scale::Quick)?.1,
        None => Recorded::at(Scale::Quick).map_err(PaperError::from)?,
    };
    let mut found = Alternatives::default();
    for (mut alternative, results) in chosen {
        for result in &results {
            alternative.run(result, &as_assumed, cells, &Completed)?;
        }
        found.put(alternative.clone())?;
        // Kept after each, since all of them take long.
        if let Some(root) = record {
            let path = root.join(Alternatives::NAME);
            let mut recorded: Alternatives = on_record(&path)?;
            recorded.put(alternative)?;
            write(&path, &recorded.to_toml())?;
        }
    }
    Ok(found)
}

/// An alternative with the results that it is run for.
type Chosen = (Alternative, Vec<String>);

/// The alternatives of a paper, or of one assumption of it, that matter to a result, or to any.
fn chosen(paper: &str, result: Option<&str>, key: Option<&str>) -> Result<Vec<Chosen>, Error> {
    let is_wanted = |one: &Alternative| {
        one.paper == paper && key.is_none_or(|key| one.set.split_once('=').is_some_and(|(known, _)| known == key))
    };
    let mut chosen: Vec<Chosen> = alternatives()?.into_iter().filter(|(one, _)| is_wanted(one)).collect();
    chosen.iter_mut().for_each(|(_, results)| results.retain(|known| result.is_none_or(|wanted| wanted == known)));
    chosen.retain(|(_, results)| !results.is_empty());
    match chosen.is_empty() {
        true => Err(Error::Chore("no assumption that matters to this has any alternative".to_string())),
        false => Ok(chosen),
    }
}

/// Names each result that is complete.
struct Completed;

impl Progress for Completed {
    fn should_continue(&self) -> bool {
        true
    }

    fn completed(&self, what: &str) {
        eprintln!("{what}");
    }
}

/// A file of the record as it lies in the repository.
fn on_record<F: RecordFile>(path: &Path) -> Result<F, Error> {
    Ok(F::read(&path.display().to_string(), &text(path)?).map_err(PaperError::from)?)
}

/// The verdicts on record in the repository, and the file they lie in.
fn recorded_at(root: &Path, scale: Scale) -> Result<(PathBuf, Recorded), Error> {
    let path = root.join(match scale {
        Scale::Quick => "papers/expected.toml",
        Scale::Full => "papers/full.toml",
    });
    let recorded = Recorded::read(&path.display().to_string(), &text(&path)?).map_err(PaperError::from)?;
    Ok((path, recorded))
}

fn text(path: &Path) -> Result<String, Error> {
    read_text(path).map_err(|error| Error::Chore(format!("{}: {error}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    write_whole(path, text.as_bytes()).map_err(|error| Error::Chore(format!("{}: {error}", path.display())))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The processor, and how many of it can be used.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{model}, {}", counted(available_parallelism().map_or(1, usize::from), "core"))
}

/// The results that rules of UDT show in; `text-testbed` and `fig-7` are of the runs of `table-1`.
const ABLATED: [&str; 10] = [
    "table-1",
    "text-testbed",
    "fig-7",
    "table-2",
    "fig-10",
    "table-3",
    "fig-14",
    "table-4",
    "table-5",
    "text-capacity-error",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumptions_are_replaced_where_they_matter() {
        let chosen = |result| chosen("aiad", Some(result), None).unwrap();
        let fig_2 = chosen("fig-2");
        assert!(fig_2.iter().all(|(_, results)| *results == ["fig-2"]));
        let sets: Vec<&str> = fig_2.iter().map(|(alternative, _)| alternative.set.as_str()).collect();
        for wanted in ["era=ns2-2001-precise", "droptail=droptail:0.5bdp", "droptail=droptail:0.1bdp"] {
            assert!(sets.contains(&wanted), "{wanted}: {sets:?}");
        }
        assert!(sets.iter().all(|set| !set.starts_with("red=")), "RED is none of its routers: {sets:?}");
        let none = super::chosen("newaimd", Some("example"), None).unwrap_err();
        assert_eq!(none.to_string(), "no assumption that matters to this has any alternative");
        let hold = super::chosen("simd", None, Some("hold")).unwrap();
        assert_eq!(hold.iter().map(|(one, _)| one.set.as_str()).collect::<Vec<_>>(), ["hold=1", "hold=30"]);
        assert!(super::chosen("simd", None, Some("holds")).is_err());
    }

    #[test]
    #[ignore = "runs each: minutes; `cargo xtask test --long` has it"]
    fn what_comes_of_an_alternative_is_on_record() {
        let recorded = Alternatives::recorded().unwrap();
        let found = replaced(None, chosen("aiad", Some("fig-2"), None).unwrap(), &Cells::default()).unwrap();
        for alternative in &found.alternative {
            let known = recorded.alternative.iter().find(|known| known.set == alternative.set).unwrap();
            assert_eq!(known.result["fig-2"].counts, alternative.result["fig-2"].counts, "{}", alternative.set);
        }
    }

    #[test]
    fn files_of_the_record_are_written_as_they_are() {
        let root = crate::root();
        for (path, again) in [
            (Ablation::NAME, on_record::<Ablation>(&root.join(Ablation::NAME)).unwrap().to_toml()),
            (Alternatives::NAME, on_record::<Alternatives>(&root.join(Alternatives::NAME)).unwrap().to_toml()),
            (Provenance::NAME, on_record::<Provenance>(&root.join(Provenance::NAME)).unwrap().to_toml()),
        ] {
            assert!(text(&root.join(path)).unwrap() == again, "{path}");
        }
    }
}
