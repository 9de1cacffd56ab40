//! Tables of released stacks of others, by `cargo xtask foreign`: for docs/foreign.md.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use cwnd_report::plot::Axis;
use serde::Deserialize;

use crate::plot::{self, Panel, Series};
use crate::provenance::Provenance;
use crate::{Error, page};

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

#[derive(Clone, Copy, Deserialize)]
struct Estimate {
    mean: f64,
    ci95: Option<f64>,
}

/// The used part of the document of `cwnd conform --json`, for each subject.
#[derive(Deserialize)]
struct Conformance {
    subject: String,
    checks: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    id: String,
    section: String,
    level: String,
    requirement: String,
    verdict: String,
    measured: String,
    value: Option<Estimate>,
}

/// Compares and judges all stacks, and rewrites both parts of the page.
pub(crate) fn validate(root: &Path) -> Result<(), Error> {
    let sources = Provenance::of_record(root)?;
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
    page::put_into(root, "docs/foreign.md", "figures", &figures)?;

    let mut judged: Vec<Conformance> = Vec::new();
    for subjects in [&[STACKS.as_slice(), &CONTROLLERS, &OURS].concat(), KNOWN_BAD.as_slice()] {
        judged.extend(foreign::<Vec<Conformance>>(root, &[&["conform", "--json"], subjects].concat())?);
    }
    page::put_into(root, "evidence/stacks/results.md", "conformance", &conformance(&judged, &sources))
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

/// How many checks each meets, and what deviates.
fn conformance(judged: &[Conformance], sources: &Provenance) -> String {
    let mut text = "| | meets | deviates | unclear | not applicable |\n| --- | --: | --: | --: | --: |\n".to_owned();
    for stack in judged {
        let _ = write!(text, "| `{}` |", stack.subject);
        for verdict in ["meets", "departs", "unclear", "not_applicable"] {
            let count = stack.checks.iter().filter(|check| check.verdict == verdict).count();
            let _ = write!(text, " {count} |");
        }
        text.push('\n');
    }
    text.push_str("\nWhat deviates:\n\n| | check | clause | level | required | measured |\n|");
    text.push_str(&" --- |".repeat(6));
    text.push('\n');
    for stack in judged {
        for check in stack.checks.iter().filter(|check| check.verdict == "departs") {
            let Judged { id, section, level, requirement, measured, value, .. } = check;
            let value = value.map_or("-".to_owned(), |value| value.text(1.0));
            let subject = &stack.subject;
            let _ =
                writeln!(text, "| `{subject}` | `{id}` | {section} | {level} | {requirement} | {measured}: {value} |");
        }
    }
    let _ = writeln!(text, "\nSimulated at {sources}.");
    text
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

impl Estimate {
    /// With as many digits as the interval leaves.
    fn text(self, scale: f64) -> String {
        let (mean, half) = (self.mean * scale, self.ci95.map_or(0.0, |half| half * scale));
        let digits = if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 4.0) as usize } else { 3 };
        format!("{mean:.digits$} ± {half:.digits$}")
    }
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

/// The releases that are built.
const STACKS: [&str; 7] =
    ["quinn:cubic", "quinn:reno", "quinn:bbr", "noq:cubic", "noq:bbr3", "smoltcp:cubic", "smoltcp:reno"];
const CONTROLLERS: [&str; 2] = ["s2n:cubic", "s2n:bbr2"];
const OURS: [&str; 3] = ["cubic", "reno", "bbr3"];
const KNOWN_BAD: [&str; 3] = ["quinn-0.11.14:cubic", "noq-1.1.0:bbr3", "smoltcp-0.12.0:reno"];
