//! `cwnd trace`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use cwnd_lab::diff::{Bands, Compared, Reference, Series, diff, flow};
use cwnd_lab::overlay::{Input, Reader};
use cwnd_report::formats::{Format, write_formats};
use cwnd_report::table::Table;
use cwnd_report::{json, write_run};
use cwnd_run::files::read_limited;
use cwnd_run::run::run as run_all;
use cwnd_text::{counted, one_line};

use crate::arguments::whole;
use crate::failure::Failure;
use crate::files;
use crate::overlay::may_use;
use crate::progress::TimeProgress;

/// Work on traces.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find where two traces differ by more than bands accept
    Diff(Arguments),
    /// List the reference traces, or write some: scenario, qlog, CSV and bands
    Reference(ReferenceArguments),
}

/// Two traces.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd trace diff scenario.toml stack.sqlog
  cwnd trace diff out/before/traces/scenario.flows.csv out/after/traces/scenario.flows.csv --flow cubic
  cwnd trace diff scenario.toml stack.qlog --band bands.toml
  cwnd trace diff reference:cubic-1 stack.qlog       with its bands; `cwnd trace reference` lists all
Bands are a TOML file, the first that holds counts; without one a tenth is accepted, and 100 ms of time:
  [[band]]
  quantity = \"window\"   # window, rate, rtt or state
  relative = 0.1        # of the value in THEIRS
  absolute = 2          # packets, Mbit/s or ms; the larger of both counts
  within = \"50ms\"       # time by which THEIRS may be earlier or later
  from = \"1s\"           # since the first packet; and to = \"5s\"
  reason = \"rounding to whole packets\"
The exit code is 1 where the traces differ.")]
pub(crate) struct Arguments {
    /// A scenario (TOML) or `reference:NAME`, which is run with one seed, results of `cwnd run` or a file of their traces (CSV), qlog of
    /// any stack, or another recording that `cwnd overlay` reads
    ours: PathBuf,
    /// The other trace
    theirs: PathBuf,
    /// The accepted differences [default: those of the reference, or a tenth, and 100 ms]
    #[arg(long, value_name = "FILE")]
    band: Option<PathBuf>,
    /// The flow, where a trace has several
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Payload bytes of a segment, where a recording has none
    #[arg(long, value_name = "BYTES", default_value_t = 1448, value_parser = whole::<u32>(1..=65_535))]
    mss: u32,
}

/// What to write, and where.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd trace reference
  cwnd trace reference cubic-1 bbr-10
  cwnd trace reference --out references               all of them
Run scenario.toml in your stack, write qlog at the sender, and compare:
  cwnd trace diff reference:cubic-1 stack.qlog")]
pub(crate) struct ReferenceArguments {
    /// Names; without names and --out all are listed
    #[arg(value_parser = reference)]
    names: Vec<Reference>,
    /// A new directory for results, with a directory for each name [default: out/reference-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Diff(arguments) => compare(arguments),
        Command::Reference(arguments) => references(arguments),
    }
}

fn references(arguments: &ReferenceArguments) -> Result<String, Failure> {
    if arguments.names.is_empty() && arguments.out.is_none() {
        return Ok(listed(&Reference::all()));
    }
    let chosen = if arguments.names.is_empty() { Reference::all() } else { arguments.names.clone() };
    let logging = |reference: &Reference| Ok(reference.scenario(&[])?.logging_packets());
    let scenarios = chosen.iter().map(logging).collect::<Result<Vec<_>, Failure>>()?;
    let directory = files::directory(arguments.out.as_deref(), "reference", true)?.expect("it is wanted");
    let progress = TimeProgress::start()?;
    let all = run_all(scenarios, &progress)?;
    drop(progress);
    files::publish(directory, |path| {
        for (reference, runs) in chosen.iter().zip(&all) {
            let path = path.join(reference.name);
            let command = format!("cwnd trace reference {}", reference.name);
            std::fs::create_dir_all(&path)?;
            std::fs::write(path.join("scenario.toml"), reference.scenario)?;
            std::fs::write(path.join("bands.toml"), &reference.bands)?;
            write_run(&path, &command, &json::Run::of(runs).expect("a reference has a seed"), runs)?;
            write_formats(&path, &command, &[Format::Qlog], runs)?;
        }
        Ok(())
    })?;
    Ok(format!("{}: scenario.toml, bands.toml and traces of each\n", counted(chosen.len(), "reference")))
}

/// A table of `references`.
fn listed(references: &[Reference]) -> String {
    let mut table = Table::left();
    table.row(["name", "document", "shows"]);
    for reference in references {
        table.row([reference.name.to_string(), reference.document.clone(), reference.shows.clone()]);
    }
    table.folded().to_string()
}

fn reference(name: &str) -> Result<Reference, String> {
    Reference::named(name).ok_or_else(|| {
        let all = Reference::all();
        let meant = cwnd::nearest(name, all.iter().map(|known| known.name));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        format!("unknown reference `{}`{meant} (`cwnd trace reference` lists all)", one_line(name))
    })
}

/// The reference that a path names, if it is one.
fn referred(path: &Path) -> Option<Result<Reference, Failure>> {
    let name = path.to_str()?.strip_prefix("reference:")?;
    Some(reference(name).map_err(|fault| refused(path, &fault)))
}

fn compare(arguments: &Arguments) -> Result<String, Failure> {
    let paths = [arguments.ours.as_path(), &arguments.theirs];
    let [ours, theirs] = paths.map(|path| referred(path).transpose());
    let references = [ours?, theirs?];
    let default = || references.iter().flatten().next().map_or_else(Bands::default, Reference::bands);
    let bands = arguments.band.as_deref().map_or_else(|| Ok(default()), bands)?;
    let mut reader = Reader::new(&[], arguments.mss, may_use());
    let read = |(path, reference): (&&Path, &Option<Reference>)| match reference {
        Some(reference) => Ok(Input::Scenario(Box::new(reference.scenario(&[])?))),
        None => Ok::<_, Failure>(reader.read(path)?),
    };
    let inputs = paths.iter().zip(&references).map(read).collect::<Result<Vec<_>, _>>()?;
    reader.warnings().iter().for_each(|warning| say!("warning: {warning}"));
    let progress = TimeProgress::start()?;
    let mut runs = run_all(inputs.iter().filter_map(Input::scenario).cloned().collect(), &progress)?.into_iter();
    drop(progress);
    let each = inputs.iter().zip(paths).map(|(input, path)| {
        let run = input.scenario().and_then(|_| runs.next()).and_then(|runs| runs.traces.into_iter().next());
        flow(input, run.as_ref(), arguments.flow.as_deref()).map_err(|error| refused(path, &error.to_string()))
    });
    let series = each.collect::<Result<Vec<_>, _>>()?;
    let [ours, theirs] = series.as_slice() else { unreachable!("there are two paths") };
    let compared = diff(ours, theirs, &bands);
    if compared.iter().all(|one| one.instants == 0) {
        let fault = "no quantity of a band is known in both at the same time";
        return Err(refused(&arguments.theirs, fault));
    }
    let text = heads(&[(&arguments.ours, ours), (&arguments.theirs, theirs)]) + &table(&compared);
    let first = compared.iter().filter_map(|one| one.first.as_ref().map(|first| (one.quantity, first)));
    let Some((quantity, first)) = first.min_by_key(|(_, first)| first.at) else { return Ok(text) };
    crate::print(&text)?;
    let (low, high) = first.theirs;
    let theirs = match low < high {
        true => format!("{} to {}", quantity.shown(low), quantity.shown(high)),
        false => quantity.shown(low),
    };
    Err(Failure::run(format!(
        "first difference: {} at {} s: {}, theirs {theirs}, accepted {}",
        quantity.name(),
        seconds(first.at),
        quantity.shown(first.ours),
        first.band.shown()
    )))
}

/// The bands of a file.
fn bands(path: &Path) -> Result<Bands, Failure> {
    let wrong = |fault: String| Failure::input(one_line(&format!("--band {}: {fault}", path.display())));
    let bytes = read_limited(path, MOST_BANDS).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is no text in UTF-8".to_string()))?;
    Bands::read(&text).map_err(|error| wrong(error.to_string()))
}

fn refused(path: &Path, fault: &str) -> Failure {
    Failure::input(one_line(&format!("{}: {fault}", path.display())))
}

/// A line for each trace.
fn heads(traces: &[(&PathBuf, &Series)]) -> String {
    traces.iter().fold(String::new(), |mut text, (path, series)| {
        let algorithm = series.algorithm.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        let line = format!(
            "{}: flow {}{algorithm}, {} s from its first packet at {} s",
            path.display(),
            series.name,
            seconds(series.end()),
            seconds(series.start)
        );
        let _ = writeln!(text, "{}", one_line(&line));
        text
    })
}

fn table(compared: &[Compared]) -> String {
    let mut table = Table::left();
    table.row(["quantity", "instants", "outside", "largest difference over the accepted one"]);
    for one in compared {
        let largest =
            if one.instants > 0 { format!("{:.2}", one.largest) } else { "unknown in one of them".to_string() };
        table.row([one.quantity.name().to_string(), one.instants.to_string(), one.outside.to_string(), largest]);
    }
    let outside = compared.iter().filter(|one| one.outside > 0).count();
    format!("{}outside of a band: {outside} of {}\n", table.folded(), compared.len())
}

fn seconds(nanoseconds: u64) -> String {
    format!("{:.3}", nanoseconds as f64 * 1e-9)
}

/// Bytes of a file of bands.
const MOST_BANDS: u64 = 1 << 20;
