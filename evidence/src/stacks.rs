//! Tables of released stacks of others, by `cargo xtask foreign`: for docs/foreign.md and evidence/stacks/results.md.

mod record;
mod tables;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use cwnd_report::plot::Axis;
use serde::Deserialize;

use crate::plot::{self, Panel, Series};
use crate::provenance::{Provenance, Runs};
use crate::{Error, page};
use record::{Causes, Estimate, Judged, Recorded, Share, Verdicts};

/// The used part of the document of `cwnd compare --json`.
#[derive(Deserialize)]
struct Comparison {
    algorithms: Vec<Compared>,
}

#[derive(Deserialize)]
struct Compared {
    algorithm: String,
    utilisation: Estimate,
    goodput_bps: Estimate,
    jain: Estimate,
    loss_rate: Estimate,
    queue_delay_mean_s: Estimate,
}

/// The used part of the document of `cwnd compare --versus --json`.
#[derive(Deserialize)]
struct Contest {
    algorithms: Vec<Contestant>,
}

#[derive(Deserialize)]
struct Contestant {
    utilisation: Estimate,
    versus: Versus,
}

#[derive(Deserialize)]
struct Versus {
    share: Estimate,
}

/// The used part of the document of `cwnd conform --json`, for each subject.
#[derive(Deserialize)]
struct Judgement {
    checks: Vec<Judged>,
}

/// Runs the stacks whose names begin with a word of `only` (all if it is empty, `figures` for two flows of each), or none with `recorded`, and
/// rewrites the tables. Each stack is recorded before the next one runs.
pub(crate) fn validate(root: &Path, only: &[String], seeds: Option<u32>, recorded: bool) -> Result<(), Error> {
    let mut record = Recorded::read(root)?;
    if !recorded {
        let sources = Provenance::of_record_of(root, Runs::Stacks)?;
        let asked = |name: &str| only.is_empty() || only.iter().any(|word| name.starts_with(word.as_str()));
        if asked("figures") {
            figures(root, &sources)?;
        }
        for subject in SUBJECTS.into_iter().filter(|subject| asked(subject)) {
            judge(root, &mut record, subject, &sources, seeds.unwrap_or(3))?;
        }
        for (subject, ours) in CONTESTS.into_iter().filter(|(subject, _)| asked(subject)) {
            contest(root, &mut record, [subject, ours], &sources, seeds.unwrap_or(5))?;
        }
    }
    let causes = Causes::read(root)?;
    page::put_into(root, "evidence/stacks/results.md", "clauses", &tables::clauses(&record.verdicts))?;
    page::put_into(root, "evidence/stacks/results.md", "conformance", &tables::verdicts(&record.verdicts, &causes))?;
    page::put_into(root, "docs/foreign.md", "shares", &tables::shares(&record.shares, &SHARED))?;
    tables::picture(&record.shares, &SHARED, &root.join("out/validation/stacks-shares.vl.json"))
}

/// Records the verdicts of `cwnd conform`.
fn judge(root: &Path, record: &mut Recorded, subject: &str, sources: &Provenance, seeds: u32) -> Result<(), Error> {
    let judged: Vec<Judgement> = foreign(root, &["conform", subject, "--seeds", &seeds.to_string(), "--json"])?;
    for Judgement { checks } in judged {
        record.judged(Verdicts::new(subject, sources, seeds, checks));
    }
    record.write(root, &SUBJECTS)
}

/// Records the shares of a stack's flow on all paths, each with a flow of ours.
fn contest(
    root: &Path,
    record: &mut Recorded,
    [subject, ours]: [&str; 2],
    sources: &Provenance,
    seeds: u32,
) -> Result<(), Error> {
    let runs = ["--flows", "1", "--duration", "30s", "--seeds", &seeds.to_string(), "--json"];
    for (path, _) in SHARED {
        let arguments = [["compare", subject, "--versus", ours].as_slice(), &runs, path].concat();
        let contest: Contest = foreign(root, &arguments)?;
        for Contestant { utilisation, versus } in contest.algorithms {
            record.shared(Share {
                subject: subject.to_owned(),
                ours: ours.to_owned(),
                path: path.join(" "),
                sources: sources.clone(),
                seeds,
                alone: utilisation,
                share: versus.share,
            });
        }
    }
    record.write(root, &SUBJECTS)
}

/// The tables of two flows of each stack.
fn figures(root: &Path, sources: &Provenance) -> Result<(), Error> {
    let mut figures = String::new();
    for (path, words) in PATHS {
        let mut arguments = vec!["compare"];
        arguments.extend(STACKS.iter().chain(&OURS));
        arguments.extend(["--duration", "30s", "--seeds", "5", "--json"]);
        arguments.extend(path);
        let compared: Comparison = foreign(root, &arguments)?;
        let _ = writeln!(figures, "\nWith `{}` ({words}):\n\n{HEADER}", path.join(" "));
        for row in &compared.algorithms {
            let columns = [
                (row.utilisation, 100.0),
                (row.goodput_bps, 1e-6),
                (row.jain, 1.0),
                (row.loss_rate, 100.0),
                (row.queue_delay_mean_s, 1e3),
            ];
            let _ = write!(figures, "| `{}` |", row.algorithm);
            for (estimate, scale) in columns {
                let _ = write!(figures, " {} |", estimate.text(scale));
            }
            figures.push('\n');
        }
    }
    windows(root)?;
    let _ = writeln!(figures, "\n{PICTURE}\n\nSimulated at {sources}.");
    page::put_into(root, "docs/foreign.md", "figures", &figures)
}

/// One flow of each alone: the windows over time of a stack and of our algorithm of that name, a panel for each stack.
fn windows(root: &Path) -> Result<(), Error> {
    let out = root.join("out/validation/stacks");
    if let Err(source) = fs::remove_dir_all(&out)
        && source.kind() != io::ErrorKind::NotFound
    {
        return Err(Error::File { path: out, source });
    }
    let directory = out.to_string_lossy().into_owned();
    let names: Vec<&str> = PAIRS.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    let options =
        ["--flows", "1", "--rate", "20mbit", "--duration", "30s", "--seeds", "1", "--json", "--out", &directory];
    let _: Comparison = foreign(root, &[&["compare"], distinct(&names).as_slice(), &options].concat())?;
    let series = |name: &str| window(&out.join("traces").join(format!("{}.flows.csv", name.replace(':', "-"))));
    let mut both = Vec::new();
    for (theirs, ours) in PAIRS {
        both.push((theirs, ours, series(theirs)?, series(ours)?));
    }
    let panels: Vec<Panel<'_>> = both
        .iter()
        .map(|(name, own, theirs, ours)| Panel {
            title: format!("{name} and {own}"),
            axis: Axis::new("window_packets", "Window (packets)"),
            ours,
            theirs,
        })
        .collect();
    plot::write(&root.join("out/validation/stacks.vl.json"), ["stack", "cwnd"], &panels)
}

/// Each name once, in the order in which they come.
fn distinct<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(name) {
            once.push(name);
        }
    }
    once
}

/// The window of the flow in a trace, packets.
fn window(path: &Path) -> Result<Series, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let column = |name: &str| header.iter().position(|found| *found == name);
    let (Some(time), Some(window)) = (column("time_s"), column("window_packets")) else {
        let source = io::Error::new(io::ErrorKind::InvalidData, "it has no column time_s or window_packets");
        return Err(Error::File { path: path.to_owned(), source });
    };
    let number = |line: &[&str], at: usize| line.get(at).and_then(|cell| cell.parse::<f64>().ok());
    Ok(Series::plotted(lines.filter_map(|line| number(&line, time).zip(number(&line, window))), 0.0))
}

/// The output of the command with these arguments. It may end with exit code 1, which reports a deviation.
fn foreign<T: for<'a> Deserialize<'a>>(root: &Path, arguments: &[&str]) -> Result<T, Error> {
    let command = format!("cargo xtask foreign -- {}", arguments.join(" "));
    println!("{command}");
    let output = Command::new("cargo").args(["xtask", "foreign", "--"]).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| Error::Program { command: command.clone(), reason: error.to_string() })?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        Error::Program { command, reason: format!("{error}: {}", errors.lines().last().unwrap_or_default()) }
    })
}

const HEADER: &str = "\
| | utilisation, % | goodput, Mbit/s | Jain index | loss, % | queueing delay, ms |
| --- | --- | --- | --- | --- | --- |";

const PICTURE: &str = "\
One flow of each alone on 20 Mbit/s and 50 ms, its window over time next to that of our algorithm of the same name:

![Windows over 30 s, a panel for each stack: quinn's CUBIC and Reno, noq's CUBIC and BBRv3, and ours on the same axes](validation/stacks.svg)";

/// The drawn pairs: a stack, and our algorithm for comparison.
const PAIRS: [(&str, &str); 4] =
    [("quinn:cubic", "cubic"), ("noq:cubic", "cubic"), ("quinn:reno", "reno"), ("noq:bbr3", "bbr3")];

/// The options of a path, and what the others are.
const PATHS: [(&[&str], &str); 2] = [
    (&["--rate", "20mbit"], "50 ms, a queue of one bandwidth-delay product"),
    (&["--rate", "10mbit", "--rtt", "100ms", "--queue", "droptail:2bdp"], "two bandwidth-delay products"),
];

/// The stacks of the figures.
const STACKS: [&str; 7] =
    ["quinn:cubic", "quinn:reno", "quinn:bbr", "noq:cubic", "noq:bbr3", "smoltcp:cubic", "smoltcp:reno"];
const OURS: [&str; 3] = ["cubic", "reno", "bbr3"];

/// The judged stacks, in the order of the tables.
const SUBJECTS: [&str; 21] = [
    "quinn:cubic",
    "quinn:reno",
    "quinn:bbr",
    "noq:cubic",
    "noq:bbr3",
    "quiche:cubic",
    "quiche:reno",
    "quiche:bbr2",
    "tquic:cubic",
    "tquic:bbr",
    "tquic:bbr3",
    "tquic:copa",
    "gvisor:cubic",
    "gvisor:reno",
    "smoltcp:cubic",
    "smoltcp:reno",
    "s2n:cubic",
    "s2n:bbr2",
    "cubic",
    "reno",
    "bbr3",
];

/// The CUBIC and BBR of each stack, and our algorithm that it shares a path with.
const CONTESTS: [(&str, &str); 13] = [
    ("quinn:cubic", "cubic"),
    ("quinn:bbr", "bbr3"),
    ("noq:cubic", "cubic"),
    ("noq:bbr3", "bbr3"),
    ("quiche:cubic", "cubic"),
    ("quiche:bbr2", "bbr3"),
    ("tquic:cubic", "cubic"),
    ("tquic:bbr", "bbr3"),
    ("tquic:bbr3", "bbr3"),
    ("gvisor:cubic", "cubic"),
    ("smoltcp:cubic", "cubic"),
    ("s2n:cubic", "cubic"),
    ("s2n:bbr2", "bbr3"),
];

/// The paths of the shares: their options, and a name.
const SHARED: [(&[&str], &str); 4] = [
    (&["--rate", "10mbit", "--rtt", "20ms", "--queue", "droptail:20p"], "10 Mbit/s, 20 ms, 20 packets"),
    (&["--rate", "20mbit", "--rtt", "50ms", "--queue", "droptail:1bdp"], "20 Mbit/s, 50 ms, 1 BDP"),
    (&["--rate", "10mbit", "--rtt", "100ms", "--queue", "droptail:2bdp"], "10 Mbit/s, 100 ms, 2 BDP"),
    (&["--rate", "50mbit", "--rtt", "40ms", "--queue", "droptail:0.5bdp"], "50 Mbit/s, 40 ms, 0.5 BDP"),
];
