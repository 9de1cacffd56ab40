//! Tables of released stacks of others, by `cargo xtask foreign`: for docs/foreign.md.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::provenance::Provenance;
use crate::{Error, page};

/// What is used of the document of `cwnd compare --json`.
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

/// What is used of the document of `cwnd conform --json`, for each subject.
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
    let _ = writeln!(figures, "\nSimulated at {sources}.");
    page::put_into(root, "docs/foreign.md", "figures", &figures)?;

    let mut judged: Vec<Conformance> = Vec::new();
    for subjects in [&[STACKS.as_slice(), &CONTROLLERS, &OURS].concat(), KNOWN_BAD.as_slice()] {
        judged.extend(foreign::<Vec<Conformance>>(root, &[&["conform", "--json"], subjects].concat())?);
    }
    page::put_into(root, "docs/foreign.md", "conformance", &conformance(&judged, &sources))
}

/// How many checks each meets, and what departs.
fn conformance(judged: &[Conformance], sources: &Provenance) -> String {
    let mut text = "| | meets | departs | unclear | not applicable |\n| --- | --: | --: | --: | --: |\n".to_owned();
    for stack in judged {
        let _ = write!(text, "| `{}` |", stack.subject);
        for verdict in ["meets", "departs", "unclear", "not_applicable"] {
            let count = stack.checks.iter().filter(|check| check.verdict == verdict).count();
            let _ = write!(text, " {count} |");
        }
        text.push('\n');
    }
    text.push_str("\nWhat departs:\n\n| | check | clause | level | required | measured |\n|");
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

/// What the command prints with these arguments. It may end with 1, which says that something departs.
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
