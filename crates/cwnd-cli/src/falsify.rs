//! `cwnd falsify`

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cwnd::Spec;
use cwnd_falsify::answer::{junit, kept, number, read, regress, verdict};
use cwnd_falsify::corpus::Corpus;
use cwnd_falsify::findings::{Finding, Findings, Found, counterexamples, has_counterexample};
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{Search, Strategy};
use cwnd_falsify::space::{Profile, Space};
use cwnd_falsify::{Evaluated, MOST_MEMORY, PATIENCE, Shard, Subject, Workers, reference, work};
use cwnd_report::{json, write_run};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Progress, RunError, Threads};
use cwnd_run::files::{read_text, to_json, write_named, write_whole};
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::{Scenario, Written};
use cwnd_text::{counted, one_line, size};

use crate::arguments::whole;
use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::files;
use crate::progress::{Interrupts, memory};

/// Arguments of `cwnd falsify`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd falsify bbr --property starvation
  cwnd falsify cubic --property 'utilisation > 0.5' --profile mobile --corpus cubic.corpus
  cwnd falsify --regress out/falsify-2026-11-28-1/1/counterexample.toml --junit junit.xml
  cwnd falsify --list
docs/falsify.md explains properties, profiles and answers. The exit code of --regress is 1 unless each property is kept.")]
pub(crate) struct Arguments {
    /// The algorithm under test, such as `bbr` or `aimd:b=1/8`
    #[arg(required_unless_present_any = ["list", "regress", "worker"])]
    algorithm: Option<Written<Spec>>,
    /// A property of --list, or measures with a bound: `starvation`, `steady-loss < 0.2`, `utilisation - 2*loss_rate > 0.4`
    #[arg(long, value_name = "PROPERTY", required_unless_present_any = ["list", "regress", "worker"], allow_hyphen_values = true)]
    property: Option<Promise>,
    /// Paths: home, mobile, datacentre, satellite, anything
    #[arg(long, value_name = "PROFILE", default_value = "home", value_parser = profile)]
    profile: Profile,
    /// Vary the paths closest to a failure (elites), or draw random paths (random)
    #[arg(long, value_name = "SEARCH", default_value = "elites", value_parser = strategy)]
    search: Strategy,
    /// The seed of the search: another one draws other paths
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(0..=u64::MAX))]
    seed: u64,
    /// Stop after this many evaluations [default: 1000, none with --minutes]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000_000))]
    evaluations: Option<u32>,
    /// Stop after this many minutes
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<f64>,
    /// Stop at the first answer
    #[arg(long)]
    first: bool,
    /// Run each answer with this many seeds; it breaks the property with each and, from 2 on, with ten others
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u32>(1..=100))]
    seeds: u32,
    /// Maximum number of answers, which differ in their parts
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u32>(1..=100))]
    answers: u32,
    /// Evaluations in parallel, without effect on results [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Record the outcomes in this file; continue from it if it exists
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Store runs in this directory, and take those that are there
    #[arg(long, value_name = "DIR", conflicts_with = "regress")]
    store: Option<PathBuf>,
    /// Share the runs with other shards, which have the same --store, such as 3/8
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "store", conflicts_with = "regress")]
    shard: Option<Shard>,
    /// Print one JSON document; write no files unless --out is given
    #[arg(long, conflicts_with = "regress")]
    json: bool,
    /// A new directory for the answers and summary.json [default: out/falsify-DATE-NUMBER]
    #[arg(long, value_name = "DIR", conflicts_with = "regress")]
    out: Option<PathBuf>,
    /// Judge counterexamples again; fail while one breaks its property
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = SEARCHING)]
    regress: Vec<PathBuf>,
    /// Write the verdicts of --regress as JUnit XML
    #[arg(long, value_name = "FILE", requires = "regress", conflicts_with_all = SEARCHING)]
    junit: Option<PathBuf>,
    /// List the properties
    #[arg(long, conflicts_with_all = SEARCHING, conflicts_with_all = ["regress", "threads", "junit", "json", "out", "store", "shard"])]
    list: bool,
    /// Evaluate what another process asks for
    #[arg(long, hide = true, conflicts_with_all = SEARCHING, conflicts_with_all = ["regress", "threads", "junit", "json", "out", "shard", "list"])]
    worker: bool,
}

/// What only a search has.
const SEARCHING: [&str; 11] = [
    "algorithm",
    "property",
    "profile",
    "search",
    "seed",
    "evaluations",
    "minutes",
    "first",
    "seeds",
    "answers",
    "corpus",
];

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.list {
        return Ok(reference::list());
    }
    let cells = arguments.store.as_deref().map_or_else(Cells::default, Cells::stored);
    if arguments.worker {
        work(&cells).map_err(|error| Failure::run(format!("--worker: {error}")))?;
        return Ok(String::new());
    }
    let progress = Interrupts::listen()?;
    if memory().is_some_and(|bytes| bytes < MOST_MEMORY) {
        return Err(Failure::input(format!(
            "--memory: an evaluation may use {}: expected that or more",
            size(MOST_MEMORY)
        )));
    }
    let workers = workers(arguments)?;
    let executor = Executor::new(&cells, &progress);
    let threads = arguments.threads.and_then(|count| NonZeroUsize::new(count as usize));
    let executor = threads.map_or(executor, |count| executor.on(Threads::Own(count)));
    let (Some(algorithm), Some(promise)) = (&arguments.algorithm, &arguments.property) else {
        return judge_again(arguments, executor, &workers);
    };
    let space = Space::new(arguments.profile, algorithm.clone(), promise.clone());
    let subject = Subject::new(executor, promise).in_processes(&workers);
    let subject = arguments.shard.map_or(subject, |shard| subject.beginning_with(shard));
    let mut search = Search::start(&space, arguments.search, arguments.seed)
        .map_err(|error| Failure::input(format!("{algorithm}: {error}")))?;
    let corpus = arguments.corpus.as_deref().map(|path| Corpus::new(path, &space, arguments.search, arguments.seed));
    exists_around("--corpus", arguments.corpus.as_deref())?;
    if let Some(corpus) = &corpus {
        let recorded = corpus.read(&space).map_err(|error| at_corpus(arguments, &error))?;
        if let Some(most) = arguments.evaluations.filter(|most| (*most as usize) < recorded.len()) {
            let has = counted(recorded.len(), "evaluation");
            return Err(Failure::input(format!("--evaluations: {most} is below the {has} of the corpus")));
        }
        search.replay(recorded);
    }
    // A search of hours that is killed leaves no unfinished directory: it begins once the answers are known.
    drop(files::directory(arguments.out.as_deref(), "falsify", !arguments.json)?);
    let searched = advance(arguments, &subject, &mut search, corpus.as_ref());
    if let Some(corpus) = &corpus {
        corpus.write(search.outcomes()).map_err(|error| at_corpus(arguments, &error))?;
    }
    searched?;
    let told = |found: &Found| {
        say!("evaluation {}: shrunk in {}", found.tried.index + 1, counted(found.shrunk.steps.len(), "step"));
    };
    let found = counterexamples(&search, &subject, arguments.seeds, arguments.answers, &mut { told })
        .map_err(|_| Failure::stopped(format!("interrupted while shrinking after {}", evaluations(&search))))?;
    let findings = Findings::of(&search, arguments.seeds, &found);
    let mut text = findings.text();
    if let Some(directory) = files::directory(arguments.out.as_deref(), "falsify", !arguments.json)? {
        write_findings(directory.path(), &findings, &found, &progress)?;
        let path = files::publish(directory, |_| Ok(()))?;
        let place = |file: &str| one_line(&path.join(file).display().to_string());
        for (nth, Found { answer, .. }) in (1..).zip(&found) {
            let place = place(&format!("{nth}/{FILE}"));
            text.push_str(&format!("\n{nth}. {}\n", answer.head.join("\n   ")));
            text.push_str(&format!("   cwnd run {place}\n   cwnd falsify --regress {place}\n"));
            if let Some(link) = &answer.link {
                text.push_str(&format!("   cwnd run '{link}'\n"));
            }
        }
        if found.is_empty() && findings.closest.is_some() {
            text.push_str(&format!("   cwnd run {}\n", place(CLOSEST)));
        }
    }
    let text = if arguments.json { to_json(&findings) } else { text };
    if findings.failed > 0 && findings.failed == findings.evaluations {
        crate::print(&text)?;
        return Err(Failure::run("every evaluation failed".to_string()));
    }
    // A bound that no run is compared with is not kept.
    if findings.evaluations > 0 && findings.closest.is_none() {
        crate::print(&text)?;
        return Err(Failure::run("no evaluation says anything about the property".to_string()));
    }
    Ok(text)
}

/// Searches until the budget is spent.
fn advance(
    arguments: &Arguments,
    subject: &Subject<'_>,
    search: &mut Search<'_>,
    corpus: Option<&Corpus>,
) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let time = arguments.minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0));
    let most = match (arguments.evaluations, time) {
        (Some(most), _) => most as usize,
        (None, Some(_)) => usize::MAX,
        (None, None) => DEFAULT_EVALUATIONS,
    };
    let from = search.outcomes().len();
    let mut best = f64::INFINITY;
    let mut batches = 0;
    let mut written = Stopwatch::start();
    let in_time = || time.is_none_or(|time| watch.elapsed() < time);
    let stopped = |search: &Search<'_>| {
        let kept = if corpus.is_some() { "; the same command continues from the corpus" } else { "" };
        Failure::stopped(format!("interrupted after {}{kept}", evaluations(search)))
    };
    let mut luck = BTreeSet::new();
    while search.outcomes().len() < most && in_time() {
        if arguments.first
            && has_counterexample(search, subject, arguments.seeds, &mut luck).map_err(|_| stopped(search))?
        {
            break;
        }
        let left = most - search.outcomes().len();
        search.advance(subject, left).map_err(|_| stopped(search))?;
        batches += 1;
        let due = batches % WRITE_EVERY == 0 || written.elapsed() >= WRITE_WITHIN;
        if let Some(corpus) = corpus.filter(|_| due) {
            corpus.write(search.outcomes()).map_err(|error| at_corpus(arguments, &error))?;
            written = Stopwatch::start();
        }
        if let Some(found) = search.best().and_then(|best| best.evaluated.margin).filter(|margin| *margin < best) {
            best = found;
            say!("{}: best margin {best:.3}", evaluations(search));
        }
    }
    let done = search.outcomes().len() - from;
    let seconds = watch.elapsed().as_secs_f64();
    if done > 0 && seconds > 0.0 {
        say!("{}: {:.0} per second", evaluations(search), done as f64 / seconds);
    }
    Ok(())
}

fn evaluations(search: &Search<'_>) -> String {
    counted(search.outcomes().len(), "evaluation")
}

/// Writes the document, each counterexample with the report of its runs, the failures, and the closest path where nothing was found.
fn write_findings(
    directory: &Path,
    findings: &Findings,
    found: &[Found],
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::run(format!("cannot write the answers: {error}"));
    let write = |name: &str, text: &str| write_whole(&directory.join(name), text.as_bytes()).map_err(failed);
    write("summary.json", &to_json(findings))?;
    for (nth, Found { answer, .. }) in (1..).zip(found) {
        let path = directory.join(nth.to_string());
        std::fs::create_dir(&path).map_err(failed)?;
        write(&format!("{nth}/{FILE}"), &answer.toml)?;
        let runs = run_all(vec![Scenario::read(FILE, &answer.toml, &[])?], progress)?;
        let runs = runs.first().expect("one scenario was run");
        let document = json::Run::of(runs).expect("a scenario has at least one seed");
        write_run(&path, &files::command(), &document, runs).map_err(failed)?;
    }
    let headed = |one: &Finding| {
        format!("# cwnd falsify: {}\n# {}\n{}", findings.property, one_line(&one.words()), one.scenario)
    };
    for (nth, one) in (1..).zip(&findings.failures) {
        write(&format!("failure-{nth}.toml"), &headed(one))?;
    }
    match &findings.closest {
        Some(closest) if found.is_empty() => write(CLOSEST, &headed(closest)),
        _ => Ok(()),
    }
}

/// Judges the files of `--regress`.
fn judge_again(arguments: &Arguments, executor: Executor<'_>, workers: &Workers) -> Result<String, Failure> {
    exists_around("--junit", arguments.junit.as_deref())?;
    if let Some(junit) = arguments.junit.as_deref().and_then(|path| path.canonicalize().ok())
        && arguments.regress.iter().any(|path| path.canonicalize().is_ok_and(|path| path == junit))
    {
        return Err(Failure::input(
            "--junit: it is a file of --regress, and would be lost: expected another".to_string(),
        ));
    }
    let read = |path: &PathBuf| -> Result<(String, Promise, Scenario), Failure> {
        let name = one_line(&path.display().to_string());
        let text = read_text(path).map_err(|error| files::unreadable(path, &error))?;
        let (promise, scenario) = read(&name, &text).map_err(|error| match error {
            cwnd_falsify::answer::RegressError::Scenario(error) => error.into(),
            error => Failure::input(format!("{name}: {error}")),
        })?;
        Ok((name, promise, scenario))
    };
    let files: Vec<(String, Promise, Scenario)> = arguments.regress.iter().map(read).collect::<Result<_, _>>()?;
    let mut judged: Vec<(String, Promise, Evaluated)> = Vec::new();
    for (name, promise, scenario) in files {
        let subject = Subject::new(executor, &promise).in_processes(workers);
        let evaluated = regress(&subject, &scenario).map_err(RunError::from)?;
        judged.push((name, promise, evaluated));
    }
    if let Some(path) = &arguments.junit {
        write_named(path, junit(&judged).as_bytes())
            .map_err(|error| Failure::run(format!("--junit: {}: {error}", path.display())))?;
        say!("wrote {}", path.display());
    }
    let line = |(name, promise, evaluated): &(String, Promise, Evaluated)| {
        let (verdict, number) = (verdict(evaluated), number(evaluated));
        format!("{name}: {promise}: {verdict}: {number} with the worst seed\n")
    };
    let text: String = judged.iter().map(line).collect();
    let (unjudged, broken): (Vec<_>, Vec<_>) =
        judged.iter().filter(|(.., one)| !kept(one)).partition(|(.., one)| one.margin.is_none());
    let named = |words: &str, files: &[&(String, Promise, Evaluated)]| {
        let names: Vec<&str> = files.iter().map(|(name, ..)| name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{words} in {}", names.join(", ")))
    };
    let faults = [named("a property is broken", &broken), named("a property cannot be judged", &unjudged)];
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    if faults.is_empty() {
        return Ok(text);
    }
    crate::print(&text)?;
    Err(Failure::run(faults.join("; ")))
}

/// Processes of this program that evaluate.
fn workers(arguments: &Arguments) -> Result<Workers, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::run(format!("this program has no path: {error}")))?;
    let mut command = vec![program.into_os_string()];
    command.extend(["falsify", "--worker"].map(OsString::from));
    if let Some(directory) = &arguments.store {
        command.extend([OsString::from("--store"), directory.clone().into_os_string()]);
    }
    Ok(Workers::new(command, PATIENCE))
}

/// Refuses a file to be written whose directory is not there.
fn exists_around(flag: &str, path: Option<&Path>) -> Result<(), Failure> {
    let directory = path.and_then(Path::parent).filter(|directory| !directory.as_os_str().is_empty());
    match directory.filter(|directory| !directory.is_dir()) {
        Some(missing) => {
            let missing = one_line(&missing.display().to_string());
            Err(Failure::input(format!("{flag}: there is no directory `{missing}`")))
        }
        None => Ok(()),
    }
}

fn at_corpus(arguments: &Arguments, error: &dyn std::fmt::Display) -> Failure {
    let path = arguments.corpus.as_deref().unwrap_or(Path::new("")).display();
    Failure::input(format!("--corpus: {path}: {error}"))
}

fn profile(text: &str) -> Result<Profile, String> {
    Profile::find(text).ok_or_else(|| format!("accepted are {}", Profile::ALL.map(Profile::name).join(", ")))
}

fn strategy(text: &str) -> Result<Strategy, String> {
    Strategy::find(text).ok_or_else(|| format!("accepted are {}", Strategy::ALL.map(Strategy::name).join(", ")))
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = |(index, count): (&str, &str)| Shard::new(index.parse().ok()?, count.parse().ok()?);
    let shard = text.split_once('/').and_then(read);
    shard.ok_or_else(|| "expected a shard and how many there are, such as `1/8`, from `1/8` to `8/8`".to_string())
}

fn minutes(text: &str) -> Result<f64, String> {
    let accepted = "expected a number of minutes above 0 and at most 10000";
    text.parse().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 1e4).ok_or_else(|| accepted.to_string())
}

const DEFAULT_EVALUATIONS: usize = 1000;
/// Batches between two writings of the corpus,
const WRITE_EVERY: usize = 8;
/// unless these take longer: a process that is killed loses the evaluations of that time.
const WRITE_WITHIN: Duration = Duration::from_secs(5);
const FILE: &str = "counterexample.toml";
const CLOSEST: &str = "closest.toml";
