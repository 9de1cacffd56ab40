//! `cwnd paper`

use std::path::PathBuf;

use clap::Args;
use cwnd_papers::{
    Assumption, JudgedRow, PaperError, PaperRun, Recorded, ResultRun, Scale, Selection, Settings, Value, Verdict,
};
use cwnd_report::page::names;
use cwnd_report::write_papers;
use cwnd_run::files::to_json;

use crate::cross::{self, Crossed};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::outcome;
use crate::progress::TimeProgress;
use crate::store::Store;
use cwnd_report::table::{Table, wrapped};
use cwnd_text::{counted, counted_with};

/// Arguments of `cwnd paper`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd paper                         the papers with their tables, figures and claims
  cwnd paper newaimd                 everything of one paper, at reduced length
  cwnd paper newaimd table-1 --full  one result at its published length
  cwnd paper --quick                 everything of all papers
  cwnd paper newaimd --set floor=0   another assumption for what the paper leaves open
Prints the counts of a paper, or the rows of a RESULT that miss or are undecided, and writes a page with all rows. A verdict is `match` if the whole 95 % interval lies within the tolerance, `miss` if it lies outside, and `undecided` if
it crosses an edge. `not reproducible` and `illustration` are not counted.")]
pub(crate) struct Arguments {
    /// A paper
    paper: Option<String>,
    /// One of its results
    result: Option<String>,
    /// Reduced length: fewer and shorter runs, some at a lower rate; rows that need the omitted runs have no value. The omissions are
    /// printed at the end [default with a PAPER]
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
    /// Print all rows, not only the counts, or the rows of a RESULT that miss or are undecided
    #[arg(long, conflicts_with_all = ["json", "check"])]
    all: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// A new directory for index.html, a page per paper, and rows.json [default: out/paper-DATE-NUMBER; none with --json and
    /// --check]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail if a verdict differs from the recorded one, and show where
    #[arg(long, help_heading = "Checks of the record")]
    check: bool,
    /// Run every algorithm of the five papers on the experiments of all papers, and test every claim on all of them
    #[arg(long, conflicts_with_all = ["paper", "set", "check", "figure"], help_heading = "Checks of the record")]
    cross: bool,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.cross {
        return cross::run(&arguments.crossed());
    }
    let selection = Selection::of(arguments.paper.as_deref(), arguments.result.as_deref())?;
    if !arguments.runs() {
        return match arguments.of_runs() {
            None => Ok(list(&selection)),
            Some(option) => {
                Err(Failure::input(format!("{option}: nothing is run without a PAPER, --quick, --full or --check")))
            }
        };
    }
    let settings = arguments.settings()?;
    if arguments.check && !arguments.set.is_empty() {
        return Err(Failure::input("--check: the record has no verdicts under --set".to_string()));
    }
    selection.check(&settings).map_err(|error| arguments.unknown_assumption(error))?;
    let wanted = !(arguments.json || arguments.check);
    let without = [("--json", arguments.json), ("--check", arguments.check)];
    let without = without.into_iter().find(|(_, given)| *given && arguments.out.is_none()).map(|(option, _)| option);
    let results = selection.papers().flat_map(|(_, results)| results.map(|result| result.id.as_str()));
    if without.is_none() && arguments.figure.is_wanted() && arguments.paper.is_none() {
        return Err(Failure::input("--figure: name the PAPER whose page has the plot".to_string()));
    }
    arguments.figure.check_with(without, &names::of_results(results))?;
    // Listens to Ctrl-C before there is a directory to remove.
    let progress = TimeProgress::start_long(arguments.quiet)?;
    let directory = files::directory(arguments.out.as_deref(), "paper", wanted)?;
    let runs = selection.run(&settings, &arguments.store.cells(), &progress)?;
    drop(progress);
    if let Some(directory) = directory {
        let path = files::publish(directory, |path| write_papers(path, &files::command(), &settings, &runs))?;
        if let Some(paper) = &arguments.paper {
            arguments.figure.write_page(&path.join(format!("{paper}.html")))?;
        }
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
    /// Whether anything will run: without any choice the results are listed.
    fn runs(&self) -> bool {
        self.paper.is_some() || self.quick || self.full || self.check
    }

    /// An option that applies to runs only.
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
            out: self.out.as_deref(),
            store: &self.store,
        }
    }

    fn unknown_assumption(&self, error: PaperError) -> Failure {
        let PaperError::Unknown { name, .. } = &error else { return error.into() };
        let given = self.set.iter().find(|item| item.split('=').next().is_some_and(|key| key.trim() == name));
        given.map_or_else(|| Failure::input(error.to_string()), |item| Failure::input(format!("--set {item}: {error}")))
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let split = |text: &String| {
            let (key, value) = text.split_once('=').ok_or_else(|| {
                Failure::input(format!("--set {text}: expected `key=value`, such as `queue=droptail:50p`"))
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

/// Compares the verdicts with the recorded ones.
fn check(settings: &Settings, runs: &[PaperRun]) -> Result<String, Failure> {
    let differences = Recorded::at(settings.scale).map_err(PaperError::from)?.differences(runs);
    let unexplained = runs.iter().flat_map(PaperRun::rows).filter(|row| row.unexplained());
    let unexplained =
        unexplained.map(|row| format!("{} {}, {}: a miss without a `reason`", row.paper, row.result, row.row));
    let faults: Vec<String> = differences.iter().map(ToString::to_string).chain(unexplained).collect();
    if faults.is_empty() {
        return Ok(counts(runs) + &left_out(settings, runs));
    }
    Err(Failure::run(format!(
        "{} from the record:\n  {}\nA verdict changes together with its record: `cargo xtask papers record`",
        counted_with(faults.len(), "row", ["differs", "differ"]),
        faults.join("\n  ")
    )))
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

/// The omissions of `--quick` in `runs`: rows without a value, and the settings that it uses unless the user sets them.
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

/// Rows, each with its reason below. Adjacent rows share it, and later ones refer to it.
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
            PaperError::Store(_) => Self::run(error.to_string()),
            other => Self::input(other.to_string()),
        }
    }
}
