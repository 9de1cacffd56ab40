//! `cwnd conform`

use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_conform::baseline::Baseline;
use cwnd_conform::{Check, Conformance, Law, Plan, Subject, Suite, checks, junit, text};
use cwnd_report::page::{conformance_html, names};
use cwnd_run::files::{read_text, to_json, write_named};

use crate::arguments::whole;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;

/// Arguments of `cwnd conform`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd conform reno cubic+hystart++
  cwnd conform cubic --suite rfc9438 --all --html conform.html
  cwnd conform cubic --check 9438-beta --seeds 20
  cwnd conform 'rule:grow=1/w,cut=w*3/4' --law reno --suite rfc5681
The exit code is 1 if a check that the baseline does not name deviates or is unclear, or if one that it names is met.")]
pub(crate) struct Arguments {
    /// Algorithms or stacks; append `+hystart++` to those that leave slow start by RFC 9406
    #[arg(value_name = "SUBJECT", required_unless_present = "list")]
    subjects: Vec<String>,
    /// The law that the subjects claim to follow in congestion avoidance: reno, cubic, bbr or other. Clauses about another law do not apply
    /// [default: from the name, such as `quinn:cubic`; other for a custom rule]
    #[arg(long, value_name = "LAW", value_parser = law)]
    law: Option<Law>,
    /// Check the clauses of this document [default: all]
    #[arg(long, value_name = "SUITE", value_parser = suite)]
    suite: Vec<Suite>,
    /// Run this check [default: all]
    #[arg(long, value_name = "ID", value_parser = check)]
    check: Vec<String>,
    /// Independent runs of each check
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u32>(1..=1000))]
    seeds: u32,
    /// List the checks without running them
    #[arg(long, conflicts_with_all = ["subjects", "law", "seeds", "all", "junit", "html", "baseline", "allow_unclear", "min_checks", "write_baseline", "figure"])]
    list: bool,
    /// Print every verdict, not only deviations and unclear ones
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a page with a plot for each check
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Known deviations: a subject and a check on each line
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Unclear results do not fail the command
    #[arg(long)]
    allow_unclear: bool,
    /// Fail if fewer checks apply to a subject: of each named --suite, or of all together [default: 1, or 0 with --check or
    /// --allow-unclear]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000))]
    min_checks: Option<u32>,
    /// Write the deviations as a baseline
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let plan = Plan {
        suites: arguments.suite.clone(),
        only: arguments.check.clone(),
        seeds: arguments.seeds.into(),
        curves: arguments.html.is_some() || arguments.figure.is_wanted(),
        least: arguments.min_checks,
    };
    distinct(arguments)?;
    let checks: Vec<&Check> = plan.checks().collect();
    if checks.is_empty() {
        return Err(Failure::input(
            "--check: none of these is a clause of the documents that --suite names".to_string(),
        ));
    }
    if arguments.list {
        arguments.figure.check(&[""; 0])?;
        return Ok(if arguments.json { to_json(&checks) } else { text::list(&checks) });
    }
    let subjects = arguments
        .subjects
        .iter()
        .map(|text| Subject::parse(text).map_err(|error| Failure::input(format!("{text}: {error}"))))
        .map(|subject| subject.map(|subject| arguments.law.map_or(subject.clone(), |law| subject.following(law))))
        .map(|subject| subject.map(|subject| if arguments.allow_unclear { subject.allow_unclear() } else { subject }));
    let subjects = once(subjects.collect::<Result<_, _>>()?);
    for subject in subjects.iter().filter(|subject| arguments.law.is_none() && subject.law() == Law::Other) {
        say!(
            "note: the name of `{subject}` says no law: clauses about Reno, CUBIC or BBR do not apply; --law names one"
        );
    }
    let called: Vec<&str> = subjects.iter().map(Subject::name).collect();
    arguments.figure.check(&names::of_checks(&called, checks.iter().map(|check| check.id)))?;
    let known = arguments.baseline.as_deref().map_or_else(|| Ok(Baseline::default()), read)?;
    let results: Vec<Conformance> = subjects.iter().map(|subject| plan.judge(subject)).collect();
    let printed: Vec<String> = results.iter().map(|result| text::conformance(result, arguments.all)).collect();
    let compared = known.compare(&results);
    let ids: Vec<&str> = checks.iter().map(|check| check.id).collect();
    for (subject, check) in known.idle(&results, &ids) {
        say!("warning: --baseline: `{subject} {check}` has no effect: it was not judged");
    }
    if let Some(path) = &arguments.junit {
        write("--junit", path, &junit::document(&results, &known))?;
    }
    if plan.curves {
        let all: Vec<String> = results.iter().map(|result| text::conformance(result, true)).collect();
        let page = conformance_html(&results, &files::command(), &all.join("\n"));
        arguments.html.as_ref().map_or(Ok(()), |path| write("--html", path, &page))?;
        arguments.figure.write(&page)?;
    }
    if let Some(path) = &arguments.write_baseline {
        write("--write-baseline", path, &Baseline::print(&results))?;
    }
    let output = if arguments.json { to_json(&results) } else { printed.join("\n") };
    if compared.passes() {
        return Ok(output);
    }
    crate::print(&output)?;
    let named = |list: &[(String, String)]| {
        list.iter().map(|(subject, id)| format!("{subject} {id}")).collect::<Vec<_>>().join(", ")
    };
    let mut reasons = Vec::new();
    if !compared.new.is_empty() {
        reasons.push(format!("deviates: {}", named(&compared.new)));
    }
    if !compared.fixed.is_empty() {
        reasons.push(format!("meets what the baseline names as deviations: {}", named(&compared.fixed)));
    }
    if !compared.unclear.is_empty() {
        reasons.push(format!("unclear: {} ({})", named(&compared.unclear), text::UNCLEAR));
    }
    if !compared.too_few.is_empty() {
        reasons.push(format!("too few checks apply: {}", compared.too_few.join(", ")));
    }
    Err(Failure::run(reasons.join("; ")))
}

/// Each subject, without repetitions.
fn once(named: Vec<Subject>) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = Vec::new();
    for subject in named {
        if subjects.iter().any(|other| other.name() == subject.name()) {
            say!("warning: `{subject}` has no effect: it is named before, and judged once");
        } else {
            subjects.push(subject);
        }
    }
    subjects
}

/// Refuses a file that one option writes and another one reads or writes. A baseline may be written anew.
fn distinct(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { baseline, junit, html, write_baseline, figure, .. } = arguments;
    let files = [
        ("--baseline", baseline.as_ref()),
        ("--junit", junit.as_ref()),
        ("--html", html.as_ref()),
        ("--figure", figure.file()),
        ("--write-baseline", write_baseline.as_ref()),
    ];
    let files: Vec<(&str, &PathBuf)> = files.into_iter().filter_map(|(option, path)| Some((option, path?))).collect();
    for (nth, (option, path)) in files.iter().enumerate() {
        let special = path.metadata().is_ok_and(|found| !found.is_file());
        let renewed = |other: &str| (other, *option) == ("--baseline", "--write-baseline");
        let same = files[..nth].iter().find(|(other, file)| place(file) == place(path) && !renewed(other));
        if let Some((other, _)) = same.filter(|_| !special) {
            let path = path.display();
            return Err(Failure::input(format!("{option}: {path}: {other} names this file too; name another")));
        }
    }
    Ok(())
}

/// A path without `.` and `..`, also of a file that does not exist.
fn place(path: &Path) -> PathBuf {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    path.canonicalize().unwrap_or_else(|_| directory.join(path.file_name().unwrap_or_default()))
}

fn suite(text: &str) -> Result<Suite, String> {
    let names: Vec<_> = Suite::ALL.iter().map(|suite| suite.name()).collect();
    Suite::find(text).ok_or_else(|| format!("accepted are {}", names.join(", ")))
}

fn law(text: &str) -> Result<Law, String> {
    Law::find(text).ok_or_else(|| format!("accepted are {}", Law::ALL.map(Law::name).join(", ")))
}

fn check(text: &str) -> Result<String, String> {
    let found = checks().find(|check| check.id == text);
    found
        .map(|check| check.id.to_string())
        .ok_or_else(|| "no such check; accepted are those of `cwnd conform --list`".to_string())
}

fn read(path: &Path) -> Result<Baseline, Failure> {
    let input = |reason: String| Failure::input(format!("--baseline: {}: {reason}", path.display()));
    let text = read_text(path).map_err(|error| input(error.to_string()))?;
    Baseline::parse(&text).map_err(|error| input(error.to_string()))
}

fn write(option: &str, path: &Path, text: &str) -> Result<(), Failure> {
    write_named(path, text.as_bytes())
        .map_err(|error| Failure::run(format!("{option}: {}: {error}", path.display())))?;
    say!("wrote {}", path.display());
    Ok(())
}
