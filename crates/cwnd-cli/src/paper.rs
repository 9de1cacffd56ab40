//! `cwnd paper`

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use cwnd_papers::{
    Ablation, Alternatives, Assumption, Crossing, JudgedRow, Made, PaperError, PaperRun, Provenance, RecordFile,
    Recorded, ResultRun, Scale, Selection, Settings, Value, Variant, Verdict, alternatives, variants,
};
use cwnd_report::page::names;
use cwnd_report::write_papers;
use cwnd_run::files::{read_text, to_json, write_whole};

use crate::clock;
use crate::cross::{self, Crossed};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::outcome;
use crate::progress::TimeProgress;
use crate::store::Store;
use cwnd_report::table::{Table, wrapped};
use cwnd_text::{counted, counted_with, decimal};

/// Which results, and how.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd paper                         the papers, and every table, figure and claim of theirs
  cwnd paper newaimd                 everything of one paper, at reduced length
  cwnd paper newaimd table-1 --full  one result at its published length
  cwnd paper --quick                 everything of all papers
  cwnd paper newaimd --set floor=0   another assumption where the paper is silent
What a paper comes to is printed, or the rows of a RESULT that miss or are undecided, and a page with all rows is written. A verdict is `match` where the whole 95 % interval lies within the tolerance, `miss` where it lies outside, and `undecided` where
it reaches across the edge. `not reproducible` and `illustration` are not counted.")]
pub(crate) struct Arguments {
    /// A paper
    paper: Option<String>,
    /// One of its results
    result: Option<String>,
    /// Reduced length: fewer and shorter runs, some at a lower rate; rows that need what is left out have no value. What it leaves
    /// out is printed at the end [default with a PAPER]
    #[arg(long)]
    quick: bool,
    /// The published durations, and at least 10 seeds
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Replace an assumption: `floor=0`, `queue=droptail:50p`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print a JSON list of rows and nothing else
    #[arg(long, conflicts_with = "check")]
    json: bool,
    /// Print all rows, not only what they come to, or those of a RESULT that miss or are undecided
    #[arg(long, conflicts_with_all = ["json", "check"])]
    all: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// A new folder for index.html, a page per paper, and rows.json [default: out/paper-DATE-NUMBER; none with --json, --check and
    /// --record]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail where a verdict differs from the one on record, and show where
    #[arg(long)]
    check: bool,
    /// Record the verdicts in papers/expected.toml (papers/full.toml with --full), below the current folder
    #[arg(long, conflicts_with = "check")]
    record: bool,
    /// Change one rule of UDT at a time in each of its profiles, and show what the tables and figures of `daimd` come to; some with
    /// RESULT. With --record in papers/daimd/ablation.toml too
    #[arg(long, conflicts_with_all = ["full", "set", "json", "all", "out", "check", "figure"])]
    ablate: bool,
    /// Replace one assumption at a time by each of its alternatives, at reduced length, and show which verdicts change. With --record
    /// in papers/alternatives.toml too
    #[arg(long, requires = "paper", conflicts_with_all = ["full", "set", "json", "all", "out", "check", "ablate", "figure"])]
    alternatives: bool,
    /// Run every algorithm of the five papers on the experiments of all of them, and ask the claims of each of all. With --record in
    /// papers/cross.toml too
    #[arg(long, conflicts_with_all = ["paper", "set", "check", "ablate", "alternatives", "figure"])]
    cross: bool,
    /// Only the profiles of this name
    #[arg(long, requires = "ablate", value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.cross {
        let (crossing, text) = cross::run(&arguments.crossed(), machine())?;
        if arguments.record {
            write_record(Path::new(Crossing::NAME), &crossing.to_toml())?;
            say!("wrote {}", Crossing::NAME);
        }
        return Ok(text);
    }
    let selection = Selection::of(arguments.paper.as_deref(), arguments.result.as_deref())?;
    if arguments.ablate {
        return ablate(arguments);
    }
    if arguments.alternatives {
        return replace(arguments);
    }
    if !arguments.runs() {
        return match arguments.of_runs() {
            None => Ok(list(&selection)),
            Some(option) => {
                Err(Failure::Input(format!("{option}: nothing is run without a PAPER, --quick, --full or --check")))
            }
        };
    }
    let settings = arguments.settings()?;
    selection.check(&settings).map_err(|error| arguments.unknown_assumption(error))?;
    let wanted = !(arguments.json || arguments.check || arguments.record);
    let without = [("--json", arguments.json), ("--check", arguments.check), ("--record", arguments.record)];
    let without = without.into_iter().find(|(_, given)| *given && arguments.out.is_none()).map(|(option, _)| option);
    let results = selection.papers().flat_map(|(_, results)| results.map(|result| result.id.as_str()));
    if without.is_none() && arguments.figure.is_wanted() && arguments.paper.is_none() {
        return Err(Failure::Input("--figure: name the PAPER whose page has the plot".to_string()));
    }
    arguments.figure.check_with(without, &names::of_results(results))?;
    // Listens to Ctrl-C before there is a folder to remove.
    let progress = TimeProgress::start_long(arguments.quiet)?;
    let folder = files::folder(arguments.out.as_deref(), "paper", wanted)?;
    let (runs, wall) = clock::timed(|| selection.run(&settings, &arguments.store.cells(), &progress));
    let runs = runs?;
    drop(progress);
    let times = arguments.store.is_none().then(|| (wall, clock::processor_time()));
    if let Some(folder) = folder {
        let path = files::publish(folder, |path| write_papers(path, &files::command(), &settings, &runs))?;
        if let Some(paper) = &arguments.paper {
            arguments.figure.write_page(&path.join(format!("{paper}.html")))?;
        }
    }
    if arguments.record {
        record(settings.scale, &runs, times)?;
    }
    if arguments.check {
        return check(&settings, &runs);
    }
    let rows: Vec<&JudgedRow> = runs.iter().flat_map(PaperRun::rows).collect();
    let of_papers = arguments.result.is_none() && !arguments.all;
    Ok(match (arguments.json, of_papers) {
        (true, _) => to_json(&rows),
        (_, true) => outcome::print(&runs) + &left_out(&settings, &runs),
        _ => print(&runs, arguments.all) + &left_out(&settings, &runs),
    })
}

impl Arguments {
    /// Whether anything is to be run: without any choice the results are listed.
    fn runs(&self) -> bool {
        self.paper.is_some() || self.quick || self.full || self.check || self.record
    }

    /// An option that only runs have.
    fn of_runs(&self) -> Option<&'static str> {
        let given = [
            ("--json", self.json),
            ("--all", self.all),
            ("--quiet", self.quiet),
            ("--out", self.out.is_some()),
            ("--set", !self.set.is_empty()),
            ("--figure", self.figure.is_wanted()),
        ];
        let given = given.into_iter().chain(self.store.given().map(|option| (option, true)));
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    fn crossed(&self) -> Crossed<'_> {
        Crossed {
            scale: if self.full { Scale::Full } else { Scale::Quick },
            json: self.json,
            all: self.all,
            quiet: self.quiet,
            record: self.record,
            out: self.out.as_deref(),
            store: &self.store,
        }
    }

    fn unknown_assumption(&self, error: PaperError) -> Failure {
        let PaperError::Unknown { name, .. } = &error else { return error.into() };
        let given = self.set.iter().find(|item| item.split('=').next().is_some_and(|key| key.trim() == name));
        given.map_or_else(|| Failure::Input(error.to_string()), |item| Failure::Input(format!("--set {item}: {error}")))
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let split = |text: &String| {
            let (key, value) = text.split_once('=').ok_or_else(|| {
                Failure::Input(format!("--set {text}: expected `key=value`, such as `queue=droptail:50p`"))
            })?;
            Ok((key.trim().to_string(), value.trim().to_string()))
        };
        Ok(Settings {
            scale: if self.full { Scale::Full } else { Scale::Quick },
            assumptions: self.set.iter().map(split).collect::<Result<_, Failure>>()?,
            variant: None,
        })
    }
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

/// Runs every variant of UDT.
fn ablate(arguments: &Arguments) -> Result<String, Failure> {
    let results = match &arguments.result {
        Some(result) => ABLATED.iter().filter(|known| *known == result).copied().collect(),
        None => ABLATED.to_vec(),
    };
    if arguments.paper.as_deref() != Some("daimd") || results.is_empty() {
        let reason = format!("--ablate: expected `daimd`, and none or one of {}", ABLATED.join(", "));
        return Err(Failure::Input(reason));
    }
    let wanted = |variant: &Variant| arguments.profile.as_ref().is_none_or(|profile| *profile == variant.profile);
    let path = Path::new("papers/daimd/ablation.toml");
    let mut found = Ablation::default();
    let progress = TimeProgress::start_long(arguments.quiet)?;
    for mut variant in variants().into_iter().filter(wanted) {
        for result in &results {
            variant.run(result, &arguments.store.cells(), &progress)?;
        }
        found.put(variant.clone());
        // Kept after each, since all of them take long.
        if arguments.record {
            let name = path.display().to_string();
            let mut recorded = Ablation::read(&name, &to_record(path)?).map_err(PaperError::from)?;
            recorded.put(variant);
            write_record(path, &recorded.to_toml())?;
        }
    }
    if found.variant.is_empty() {
        return Err(Failure::Input(
            "--profile: expected `paper`, `ns2-1.1`, `ns2-2.0`, `ns2-2.2` or `daimd-fitted`".to_string(),
        ));
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
    Ok(format!("{}match/miss/undecided of the printed numbers, and their mean distance from ours\n", table.folded()))
}

/// Runs the alternatives of every assumption.
fn replace(arguments: &Arguments) -> Result<String, Failure> {
    let path = Path::new("papers/alternatives.toml");
    // The verdicts in the folder may be newer than those compiled into this program.
    let as_assumed = if arguments.record {
        recorded_at(Scale::Quick)?.1
    } else {
        Recorded::at(Scale::Quick).map_err(PaperError::from)?
    };
    let mut found = Alternatives::default();
    let progress = TimeProgress::start_long(arguments.quiet)?;
    let of_paper = alternatives()?.into_iter().filter(|(one, _)| arguments.paper.as_ref() == Some(&one.paper));
    for (mut alternative, results) in of_paper {
        for result in results.iter().filter(|result| arguments.result.as_ref().is_none_or(|wanted| wanted == *result)) {
            alternative.run(result, &as_assumed, &arguments.store.cells(), &progress)?;
        }
        if alternative.result.is_empty() {
            continue;
        }
        found.put(alternative.clone())?;
        // Kept after each, since all of them take long.
        if arguments.record {
            let name = path.display().to_string();
            let mut recorded = Alternatives::read(&name, &to_record(path)?).map_err(PaperError::from)?;
            recorded.put(alternative)?;
            write_record(path, &recorded.to_toml())?;
        }
    }
    drop(progress);
    if found.alternative.is_empty() {
        return Err(Failure::Input("--alternatives: no assumption that matters to this has any".to_string()));
    }
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
    Ok(format!("{}match/miss/undecided of the rows that are compared\n", table.folded()))
}

/// A file of the record as it lies below the current folder.
fn to_record(path: &Path) -> Result<String, Failure> {
    read_text(path).map_err(|error| {
        Failure::Input(format!("--record: {}: {error}; run it in the root of the repository", path.display()))
    })
}

/// The verdicts on record below the current folder, and the file they lie in.
fn recorded_at(scale: Scale) -> Result<(&'static Path, Recorded), Failure> {
    let path = Path::new(match scale {
        Scale::Quick => "papers/expected.toml",
        Scale::Full => "papers/full.toml",
    });
    let recorded = Recorded::read(&path.display().to_string(), &to_record(path)?).map_err(PaperError::from)?;
    Ok((path, recorded))
}

fn write_record(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text.as_bytes()).map_err(|error| Failure::Run(format!("{}: {error}", path.display())))
}

/// Compares the verdicts with those on record.
fn check(settings: &Settings, runs: &[PaperRun]) -> Result<String, Failure> {
    let differences = Recorded::at(settings.scale).map_err(PaperError::from)?.differences(runs);
    let unexplained = runs.iter().flat_map(PaperRun::rows).filter(|row| row.unexplained());
    let unexplained =
        unexplained.map(|row| format!("{} {}, {}: a miss without a `reason`", row.paper, row.result, row.row));
    let faults: Vec<String> = differences.iter().map(ToString::to_string).chain(unexplained).collect();
    if faults.is_empty() {
        return Ok(counts(runs) + &left_out(settings, runs));
    }
    Err(Failure::Run(format!(
        "{} from the record:\n  {}\nA verdict changes together with its record: `cwnd paper --record`",
        counted_with(faults.len(), "row", ["differs", "differ"]),
        faults.join("\n  ")
    )))
}

/// Writes the verdicts of what was run over those on record, and what they were made with; `times` are the wall and the processor time
/// that it took.
fn record(scale: Scale, runs: &[PaperRun], times: Option<(Duration, Option<Duration>)>) -> Result<(), Failure> {
    let (path, mut recorded) = recorded_at(scale)?;
    recorded.update(runs);
    let made_path = Path::new("papers/provenance.toml");
    let made_name = made_path.display().to_string();
    let mut made = Provenance::read(&made_name, &to_record(made_path)?).map_err(PaperError::from)?;
    let of_all = Made {
        revision: cwnd_run::VERSION.to_string(),
        sources: cwnd_run::cells::SOURCES.to_string(),
        date: clock::today(),
        machine: machine(),
        wall_s: times.map(|(wall, _)| wall.as_secs_f64().round()),
        processor_s: times.and_then(|(_, processor)| Some(processor?.as_secs_f64().round())),
        ..Made::default()
    };
    made.update(scale, runs, &of_all);
    write_record(path, &recorded.to_toml())?;
    write_record(made_path, &made.to_toml())?;
    say!("wrote {} and {made_name}", path.display());
    Ok(())
}

/// The processor, and how many of it can be used.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{model}, {}", counted(available_parallelism().map_or(1, usize::from), "core"))
}

fn list(selection: &Selection) -> String {
    let mut text = String::new();
    for (published, results) in selection.papers() {
        let paper = &published.paper;
        let heading = format!("{}: {} ({}; {})", paper.id, paper.title, paper.authors.join(", "), paper.venue);
        text.push_str(&wrapped(&heading));
        let mut table = Table::left();
        for result in results {
            table.row([format!("  {}", result.id), result.title.clone()]);
        }
        text.push_str(&table.folded());
        text.push('\n');
    }
    text.push_str(
        "`cwnd paper PAPER` runs one, `cwnd paper PAPER RESULT` a result, `cwnd paper --quick` all of them.\n",
    );
    text
}

/// The rows that miss or are undecided, or all of them; then the counts.
fn print(runs: &[PaperRun], all: bool) -> String {
    let mut text = String::new();
    for run in runs {
        for result in &run.results {
            let open = |row: &&JudgedRow| all || matches!(row.verdict, Verdict::Miss | Verdict::Undecided);
            let rows: Vec<&JudgedRow> = result.rows.iter().filter(open).collect();
            if rows.is_empty() {
                continue;
            }
            let published = &run.published.result[result.index];
            let (paper, place) = (&run.published.paper.id, &published.source);
            text.push_str(&wrapped(&format!("{paper}, {place}: {}", published.title)));
            text.push('\n');
            text.push_str(&table(&rows));
            text.push('\n');
        }
    }
    text.push_str(&counts(runs));
    text
}

/// The verdicts of each paper, counted.
fn counts(runs: &[PaperRun]) -> String {
    runs.iter().map(|run| wrapped(&format!("{}: {}", run.published.paper.id, run.counts()))).collect()
}

/// What `--quick` leaves out of what was run: rows without a value, and what it sets where the user sets nothing.
fn left_out(settings: &Settings, runs: &[PaperRun]) -> String {
    if settings.scale != Scale::Quick {
        return String::new();
    }
    let mut text = String::new();
    for run in runs {
        let id = &run.published.paper.id;
        let empty = |value: &Value| matches!(value, Value::Text(text) if text.is_empty());
        let without = |row: &&JudgedRow| row.verdict == Verdict::Undecided && row.ours.as_ref().is_none_or(empty);
        let rows = run.rows().filter(without).count();
        if rows > 0 {
            text.push_str(&wrapped(&format!("{id}: {} without a value at this length", counted(rows, "row"))));
        }
        let is_set = |key: &str| settings.assumptions.iter().any(|(set, _)| set == key);
        let matters = |assumption: &&Assumption| {
            let was_run = |result: &ResultRun| assumption.results.contains(&run.published.result[result.index].id);
            !is_set(&assumption.key) && run.results.iter().any(was_run)
        };
        let values = run.published.assumption.iter().filter(matters).filter_map(|assumption| {
            let value = assumption.quick.as_ref()?;
            Some(format!("{}={value} for {}", assumption.key, assumption.value))
        });
        let ran = |scenario: &str| {
            run.results.iter().any(|result| result.log.scenarios.iter().any(|(name, _)| name == scenario))
        };
        let scenarios = run.published.quick.iter().filter(|(scenario, _)| ran(scenario));
        let scenarios = scenarios.map(|(scenario, set)| format!("{scenario}: {}", set.join(", ")));
        let shortened: Vec<String> = values.chain(scenarios).collect();
        if !shortened.is_empty() {
            text.push_str(&wrapped(&format!("{id}: --quick sets {}", shortened.join("; "))));
        }
    }
    text
}

/// Rows, each with its reason below. Rows next to each other share it, and later ones refer to it.
fn table(rows: &[&JudgedRow]) -> String {
    let mut table = Table::left();
    table.row(["row", "published", "ours", "tolerance", "verdict"]);
    let mut given: Vec<(Verdict, &str, &str)> = Vec::new();
    for alike in rows.chunk_by(|one, next| (one.verdict, &one.reason) == (next.verdict, &next.reason)) {
        for row in alike {
            table.row([
                row.name.clone(),
                row.published_text(),
                row.ours_text(),
                row.tolerance.clone().unwrap_or_default(),
                row.verdict.to_string(),
            ]);
        }
        let (Some(first), Some(reason)) = (alike.first(), alike.first().and_then(|row| row.reason.as_deref())) else {
            continue;
        };
        match given.iter().find(|(verdict, known, _)| *verdict == first.verdict && *known == reason) {
            Some((.., row)) => table.line(&format!("as `{row}`")),
            None => {
                table.line(reason);
                given.push((first.verdict, reason, &first.name));
            }
        }
    }
    table.folded()
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Run(error) => error.into(),
            PaperError::Store(_) => Self::Run(error.to_string()),
            other => Self::Input(other.to_string()),
        }
    }
}
