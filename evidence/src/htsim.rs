//! Comparison with htsim: how many packets each simulator delivers in a second of processor time, in the same dumbbells, in turns.
//!
//! Times of one machine are compared only with others of the same minutes, so both sides run one after the other, again and again, and the
//! result is the ratio of each turn.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cwnd_lab::bench::Case;
use cwnd_run::scenario::Scenario;
use cwnd_sim::{QueueLimit, Setup};
use nix::sys::resource::UsageWho;
use serde::{Deserialize, Serialize};

use crate::ns3::output;
use crate::provenance::Provenance;
use crate::usage::processor_seconds;
use crate::{Error, page};

/// One run of a simulator.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// Data packets that arrived.
    packets: u64,
    processor_s: f64,
}

/// One run of each, one after the other.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    htsim: Run,
    /// One per entry of [`SIDES`].
    cwnd: Vec<Run>,
}

/// The turns of a case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    case: String,
    /// The arguments of the driver of htsim.
    arguments: String,
    /// The revision of htsim, and the compiler it was built with.
    htsim: String,
    compiler: String,
    /// The processor, and how many programs wanted one in the minute before.
    processor: String,
    load: f64,
    /// The sources of this project.
    sources: Provenance,
    turns: Vec<Turn>,
}

/// Measures every case, records it and rewrites the tables.
pub(crate) fn validate(root: &Path) -> Result<(), Error> {
    let sources = Provenance::of_record(root)?;
    let program = build(root)?;
    let compiler = output(Command::new("g++").arg("-dumpfullversion"))?.trim().to_owned();
    let mut records = Vec::new();
    for name in CASES {
        let case = Case::find(name).expect("a test looks for every case");
        let arguments = arguments(&setup(case, false));
        let turn = |_| {
            let htsim = theirs(&program, &arguments)?;
            let cwnd = SIDES.iter().map(|(_, modern)| ours(case, *modern)).collect::<Result<_, _>>()?;
            Ok(Turn { htsim, cwnd })
        };
        let load = load();
        let record = Record {
            case: (*name).to_owned(),
            htsim: REVISION.to_owned(),
            compiler: compiler.clone(),
            processor: processor(),
            load,
            sources: sources.clone(),
            turns: (0..TURNS).map(turn).collect::<Result<_, Error>>()?,
            arguments,
        };
        print!("{}", row(&record));
        records.push(record);
    }
    write(root, &records)?;
    rewrite(root)
}

/// Rewrites the tables from the records.
pub(crate) fn rewrite(root: &Path) -> Result<(), Error> {
    page::put_into(root, "docs/performance.md", "htsim", &table(&read(root)?))
}

/// htsim's side of a turn.
fn theirs(program: &Path, arguments: &str) -> Result<Run, Error> {
    let mut command = Command::new(program);
    let text = output(command.args(arguments.split(' ')))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Program { command: "htsim-dumbbell".to_owned(), reason: error.to_string() })
}

/// This side of a turn.
fn ours(case: &Case, modern: bool) -> Result<Run, Error> {
    let setup = setup(case, modern);
    let before = processor_seconds(UsageWho::RUSAGE_THREAD);
    let trace = cwnd_sim::run(&setup, &mut |_| true)
        .map_err(|error| Error::Program { command: case.name.to_owned(), reason: error.to_string() })?;
    let processor_s = processor_seconds(UsageWho::RUSAGE_THREAD) - before;
    Ok(Run { packets: trace.flows.iter().filter_map(|flow| flow.delivered.last()).sum(), processor_s })
}

/// The case as it is run here.
fn setup(case: &Case, modern: bool) -> Setup {
    let case = Case { modern, ..*case };
    Scenario::check(case.document()).expect("a test checks every case").setup(1).into_setup()
}

/// The options of the driver for a dumbbell.
fn arguments(setup: &Setup) -> String {
    let [there, back] = setup.links.as_slice() else { unreachable!("a dumbbell has two links") };
    let (QueueLimit::Packets(limit), Some(rate)) = (there.queue, there.rate) else {
        unreachable!("the cases have a rate, and queues in packets")
    };
    let (flows, access) = (setup.flows.len(), setup.flows[0].access_rtt.as_secs_f64());
    let rtt = access + (there.delay + back.delay).as_secs_f64();
    // A flow's share of the path and half of the queue.
    let path = rate as f64 * rtt / setup.flows[0].packet.bits();
    let threshold = ((path + f64::from(limit) / 2.0) / flows as f64).round();
    format!(
        "--flows={flows} --rate={rate} --access={access} --delay={} --spread={} --limit={limit} --threshold={threshold} \
         --duration={} --seed={}",
        there.delay.as_secs_f64(),
        setup.variation.rtt,
        setup.duration.as_secs_f64(),
        setup.seed
    )
}

/// Builds htsim as its own Makefile does, and the driver on it.
fn build(root: &Path) -> Result<PathBuf, Error> {
    let directory = std::env::current_exe().unwrap_or_default().with_file_name("htsim");
    let git = |words: &[&str]| output(Command::new("git").arg("-C").arg(&directory).args(words));
    if !directory.join(".git").exists() {
        let from = std::env::var_os("CWND_HTSIM").unwrap_or_else(|| REPOSITORY.into());
        output(Command::new("git").args(["clone", "--quiet", "--no-checkout"]).arg(from).arg(&directory))?;
    }
    git(&["checkout", "--quiet", REVISION, "--", "sim"])?;
    let simulator = directory.join("sim");
    output(Command::new("make").args(["--silent", "--jobs=2", "libhtsim.a"]).current_dir(&simulator))?;
    let program = directory.join("dumbbell");
    let mut command = Command::new("g++");
    command.args(["-O3", "-std=c++17", "-I"]).arg(&simulator).arg(root.join("evidence/htsim/dumbbell.cc"));
    output(command.arg(simulator.join("libhtsim.a")).arg("-o").arg(&program))?;
    Ok(program)
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

fn path(root: &Path) -> PathBuf {
    root.join("evidence/htsim/recorded.json")
}

/// The records; nothing if there is no file yet.
fn read(root: &Path) -> Result<Vec<Record>, Error> {
    let path = path(root);
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path, source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::File { path, source }),
    }
}

/// One record a line.
fn write(root: &Path, records: &[Record]) -> Result<(), Error> {
    let path = path(root);
    let lines: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|source| Error::Records { path: path.clone(), source })?;
    std::fs::write(&path, format!("[\n{}\n]\n", lines.join(",\n"))).map_err(|source| Error::File { path, source })
}

fn table(records: &[Record]) -> String {
    let mut text = String::new();
    if let Some(record) = records.first() {
        let load = records.iter().map(|record| record.load).fold(f64::NAN, f64::max);
        let _ = writeln!(
            text,
            "Written by `cargo xtask validate htsim` at {}, with htsim {} built by g++ {}, on {} at a load of up to {load:.1}: \
             {} turns of each case. Each cell is the median of all turns and, in parentheses, the least and the most.\n",
            record.sources,
            &record.htsim[..7],
            record.compiler,
            record.processor,
            record.turns.len()
        );
    }
    text.push_str("| case | htsim, million packets/s |");
    for (name, _) in SIDES {
        let _ = write!(text, " {name}, million packets/s | times htsim |");
    }
    let _ = writeln!(text, "\n| --- | --- |{}", " --- | --- |".repeat(SIDES.len()));
    records.iter().for_each(|record| text.push_str(&row(record)));
    text
}

fn row(record: &Record) -> String {
    let of = |number: &dyn Fn(&Turn) -> f64| {
        let mut numbers: Vec<f64> = record.turns.iter().map(number).collect();
        numbers.sort_by(f64::total_cmp);
        let (first, last) = (numbers.first().copied().unwrap_or(f64::NAN), numbers.last().copied().unwrap_or(f64::NAN));
        format!("{:.2} ({first:.2} to {last:.2})", numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN))
    };
    let mut text = format!("| {} | {} |", record.case, of(&|turn| turn.htsim.rate() / 1e6));
    for side in 0..SIDES.len() {
        let rate = of(&|turn| turn.cwnd[side].rate() / 1e6);
        let _ = write!(text, " {rate} | {} |", of(&|turn| turn.cwnd[side].rate() / turn.htsim.rate()));
    }
    text.push('\n');
    text
}

impl Run {
    /// Packets per second of processor time.
    fn rate(&self) -> f64 {
        self.packets as f64 / self.processor_s
    }
}

/// The measured cases, by their names among the benchmarks.
const CASES: &[&str] = &["classic", "dozens", "thousand"];

/// How the flows here recover, and whether that is as the era `modern` does.
const SIDES: &[(&str, bool)] = &[("`sack`", false), ("`modern`", true)];

const TURNS: usize = 5;

const REPOSITORY: &str = "https://github.com/Broadcom/csg-htsim";

/// The one that is compared with.
const REVISION: &str = "841d9e7be46bb968eece766aa4b6c044c7799f67";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn the_driver_is_told_what_is_run_here() {
        let told: Vec<String> = CASES
            .iter()
            .map(|name| arguments(&setup(Case::find(name).expect("one of the benchmarks"), false)))
            .collect();
        assert_eq!(
            told[0],
            "--flows=16 --rate=1000000000 --access=0.025 --delay=0.0125 --spread=0.05 --limit=4167 --threshold=391 \
             --duration=20 --seed=1"
        );
        let common = "--spread=0.05 --limit=16667 --threshold=391 --duration=5 --seed=1";
        assert_eq!(told[1], format!("--flows=64 --rate=10000000000 --access=0.01 --delay=0.005 {common}"));
        assert!(told[2].starts_with("--flows=1000 --rate=10000000000 --access=0.025 --delay=0.0125"), "{}", told[2]);
    }

    #[test]
    fn what_is_recorded_is_of_the_cases_as_they_are() -> Result<(), Error> {
        let records = read(root())?;
        assert!(records.is_empty() || records.len() == CASES.len());
        for (record, name) in records.iter().zip(CASES) {
            assert_eq!((record.case.as_str(), record.htsim.as_str()), (*name, REVISION));
            let case = Case::find(name).expect("one of the benchmarks");
            assert_eq!(record.arguments, arguments(&setup(case, false)));
            for turn in &record.turns {
                // Both sides fill the link: the work that is compared is the same.
                let share = turn.cwnd[0].packets as f64 / turn.htsim.packets as f64;
                assert!((0.9..1.1).contains(&share) && turn.cwnd.len() == SIDES.len(), "{name}: {share}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_row_has_the_median_and_the_extremes_of_each_turn() {
        let turn = |theirs: u64, ours: u64| Turn {
            htsim: Run { packets: theirs, processor_s: 1.0 },
            cwnd: vec![Run { packets: ours, processor_s: 1.0 }, Run { packets: ours / 2, processor_s: 1.0 }],
        };
        let record = Record {
            case: "classic".to_owned(),
            arguments: String::new(),
            htsim: REVISION.to_owned(),
            compiler: String::new(),
            processor: String::new(),
            load: 0.0,
            sources: Provenance::Unknown { committed: String::new() },
            turns: vec![turn(1_000_000, 4_000_000), turn(2_000_000, 12_000_000), turn(1_000_000, 5_000_000)],
        };
        assert_eq!(
            row(&record),
            "| classic | 1.00 (1.00 to 2.00) | 5.00 (4.00 to 12.00) | 5.00 (4.00 to 6.00) \
             | 2.50 (2.00 to 6.00) | 2.50 (2.00 to 3.00) |\n"
        );
    }
}
