//! `cwnd run`

use std::path::PathBuf;

use clap::Args;
use cwnd_report::formats::{Format, write_formats};
use cwnd_report::page::names;
use cwnd_report::{json, text, write_run};
use cwnd_run::address::{Linked, is_address};
use cwnd_run::files::{read_text, to_json};
use cwnd_run::run::{Runs, run as run_all};
use cwnd_run::scenario::{MAX_SEEDS, Scenario, apart};

use crate::arguments::whole;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::progress::TimeProgress;
use cwnd_text::{counted, one_line};

/// Arguments of `cwnd run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd run scenarios/dumbbell.toml
  cwnd run scenarios/dumbbell.toml --set dumbbell.rate=1gbit --set flow.0.algorithm=simd
  cwnd run scenarios/dumbbell.toml --check
  cwnd run scenarios/recovery.toml --trace pcapng,qlog
  cwnd run 'https://example.org/cwnd/#s=1.…'       runs the scenario of a page
`cwnd schema` prints the JSON Schema of scenario files, with every key explained; editors complete with it.")]
pub(crate) struct Arguments {
    /// A scenario in TOML, or the address of a page with a scenario; the directory scenarios/ has examples
    scenario: PathBuf,
    /// Change a key: `dumbbell.rate=1gbit`, `flow.0.algorithm=simd`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Number of independent runs, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MAX_SEEDS))]
    seeds: Option<u32>,
    /// Check the scenario without running it
    #[arg(long, conflicts_with_all = ["json", "out", "trace", "figure"])]
    check: bool,
    /// Also write the traces for other tools: pcapng (Wireshark), qlog or qlog:legacy (qvis), flent, parquet (tables; not in every build);
    /// separated by commas
    ///
    /// pcapng and qlog have every packet at the senders in the first seed. docs/traces.md describes the files and how to
    /// open them.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    trace: Vec<Format>,
    #[command(flatten)]
    files: files::Results,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let name = arguments.scenario.display().to_string();
    let (name, source, promised) = match address(&name).transpose()? {
        Some(linked) => ("the address".to_string(), linked.toml, linked.digest),
        None => {
            let text = read_text(&arguments.scenario);
            (name, text.map_err(|error| files::unreadable(&arguments.scenario, &error))?, None)
        }
    };
    let of_seeds = |item: &&String| item.split_once('=').is_some_and(|(key, _)| key.trim() == "seeds");
    if let Some(item) = arguments.set.iter().find(of_seeds).filter(|_| arguments.seeds.is_some()) {
        return Err(Failure::input(format!("--seeds: `--set {item}` sets the same")));
    }
    arguments.figure.check_with(arguments.files.without_page(), names::OF_RUNS)?;
    apart(&arguments.set)?;
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seeds.map(|seeds| format!("seeds={seeds}")));
    let scenario = Scenario::read(&name, &source, &overrides)?;
    if arguments.check {
        scenario.unused().iter().for_each(|unused| say!("warning: {}", one_line(&unused.to_string())));
        return Ok(format!("{name}: valid scenario\n"));
    }
    let wants_packets = arguments.trace.iter().any(|format| format.needs_packets());
    let scenario = if wants_packets { scenario.logging_packets() } else { scenario };
    let progress = TimeProgress::start()?;
    let directory = arguments.files.directory("run")?;
    if directory.is_none() && !arguments.trace.is_empty() {
        return Err(Failure::input("--trace writes files: with --json, name their directory with --out".to_string()));
    }
    let runs = run_all(vec![scenario], &progress)?;
    drop(progress);

    let runs = runs.first().expect("one scenario was run");
    let document = json::Run::of(runs).expect("a scenario has at least one seed");
    // With another key it is another run.
    if arguments.set.is_empty() {
        warn_of_other_numbers(runs, promised);
    }
    if let Some(directory) = directory {
        let command = files::command();
        let path = files::publish(directory, |path| {
            write_run(path, &command, &document, runs)?;
            write_formats(path, &command, &arguments.trace, runs)
        })?;
        warn_of_full_logs(runs);
        arguments.figure.write_from(&path)?;
    }
    Ok(if arguments.files.json { to_json(&document) } else { text::run(&document) })
}

/// The scenario in `text`, if that is the address of a page.
fn address(text: &str) -> Option<Result<Linked, Failure>> {
    is_address(text).then(|| match Linked::read(text) {
        Ok(Linked { apart: true, .. }) => Err(Failure::input(EACH_ALONE.to_string())),
        Ok(linked) => Ok(linked),
        Err(error) => Err(Failure::input(error.to_string())),
    })
}

const EACH_ALONE: &str = "the page of this address has each group of flows alone on the path: `cwnd run` has them together, \
                          `cwnd compare` has each alone";

/// Warns where the version that made an address had another run.
fn warn_of_other_numbers(runs: &Runs, promised: Option<u64>) {
    let found = runs.traces.first().map(|trace| trace.digest);
    if let (Some(promised), Some(found)) = (promised, found)
        && promised != found
    {
        say!(
            "warning: another version made this address, and its numbers were others: there its first seed has the digest {promised:016x}, \
             here {found:016x}"
        );
    }
}

/// Warns of a log that ends early, so that it does not look like the end of a flow.
fn warn_of_full_logs(runs: &Runs) {
    let flows = || runs.traces.iter().flat_map(|trace| &trace.flows);
    if let Some(first) = flows().filter_map(|flow| flow.log.full).min() {
        let count = flows().filter(|flow| flow.log.full.is_some()).count();
        say!(
            "warning: the packets of {} are not all written: the first of them ends at {:.3} s",
            counted(count, "flow"),
            first as f64 * 1e-9
        );
    }
}
