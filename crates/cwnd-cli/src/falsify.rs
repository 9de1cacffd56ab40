//! `cwnd falsify`

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cwnd::Spec;
use cwnd_falsify::answer::{Answer, junit, kept, number, read, regress};
use cwnd_falsify::corpus::Corpus;
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{Search, Strategy, Tried};
use cwnd_falsify::shrink::shrink;
use cwnd_falsify::space::{Profile, Space};
use cwnd_falsify::{Evaluated, Subject, reference};
use cwnd_report::{json, write_run};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Progress, RunError, Threads};
use cwnd_run::files::{read_text, write_named, write_whole};
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::{Scenario, Written};
use cwnd_text::{counted, one_line};

use crate::arguments::whole;
use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::files;
use crate::progress::Interrupts;

/// Arguments of `cwnd falsify`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd falsify bbr --property starvation
  cwnd falsify cubic --property 'utilisation > 0.5' --profile mobile --minutes 10 --corpus cubic.corpus
  cwnd falsify --regress out/falsify-2026-11-28-1/1/counterexample.toml --junit junit.xml
  cwnd falsify --list
docs/falsify.md explains properties, profiles and answers. The exit code of --regress is 1 while a property is broken.")]
pub(crate) struct Arguments {
    /// The algorithm that is held to the property, such as `bbr` or `aimd:b=1/8`
    #[arg(required_unless_present_any = ["list", "regress"])]
    algorithm: Option<Written<Spec>>,
    /// A property of --list, with another bound if given, or a measure with a bound: `starvation`, `steady-loss < 0.2`, `utilisation > 0.5`
    #[arg(long, value_name = "PROPERTY", required_unless_present_any = ["list", "regress"])]
    property: Option<Promise>,
    /// The paths that are plausible: home, mobile, datacentre, satellite or anything
    #[arg(long, value_name = "PROFILE", default_value = "home", value_parser = profile)]
    profile: Profile,
    /// How paths are proposed: elites (variants of the closest ones) or random
    #[arg(long, value_name = "SEARCH", default_value = "elites", value_parser = strategy)]
    search: Strategy,
    /// The seed of the search
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(0..=u64::MAX))]
    seed: u64,
    /// Stop after this many evaluations [default: 1000, or none with --minutes]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000_000))]
    evaluations: Option<u32>,
    /// Stop after this time
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<f64>,
    /// Stop at the first path that breaks the property
    #[arg(long)]
    first: bool,
    /// A counterexample breaks the property with each of this many seeds
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u32>(1..=100))]
    seeds: u32,
    /// The most counterexamples, which differ in the parts that they need
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u32>(1..=100))]
    answers: u32,
    /// Evaluations at a time; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Write the outcomes here, and continue from them where the file exists
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// A new directory for the answers [default: out/falsify-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Judge counterexamples again instead of searching: fails while a property is broken
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = SEARCHING)]
    regress: Vec<PathBuf>,
    /// Write the verdicts of --regress as JUnit XML
    #[arg(long, value_name = "FILE", requires = "regress")]
    junit: Option<PathBuf>,
    /// List the properties
    #[arg(long, conflicts_with_all = SEARCHING, conflicts_with_all = ["regress", "threads", "junit"])]
    list: bool,
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
    let progress = Interrupts::listen()?;
    let cells = Cells::default();
    let executor = Executor::new(&cells, &progress);
    let threads = arguments.threads.and_then(|count| NonZeroUsize::new(count as usize));
    let executor = threads.map_or(executor, |count| executor.on(Threads::Own(count)));
    let (Some(algorithm), Some(promise)) = (&arguments.algorithm, &arguments.property) else {
        return judge_again(arguments, executor);
    };
    let space = Space::new(arguments.profile, algorithm.text(), *promise);
    let subject = Subject { executor, promise };
    let mut search = Search::start(&space, arguments.search, arguments.seed)
        .map_err(|error| Failure::input(format!("{algorithm}: {}", error.fault)))?;
    let corpus = arguments.corpus.as_deref().map(|path| Corpus::new(path, &space, arguments.search, arguments.seed));
    if let Some(corpus) = &corpus {
        search.replay(corpus.read(&space).map_err(|error| at_corpus(arguments, &error))?);
    }
    let directory = files::directory(arguments.out.as_deref(), "falsify", true)?;
    let searched = advance(arguments, &subject, &mut search, corpus.as_ref());
    if let Some(corpus) = &corpus {
        corpus.write(search.outcomes()).map_err(|error| at_corpus(arguments, &error))?;
    }
    searched?;
    let answers = answers(arguments, &space, &subject, &search)?;
    let mut text = told(arguments, &space, &search, answers.len());
    let command = files::command();
    let write = |path: &Path| -> Result<(), Failure> {
        for (nth, answer) in (1..).zip(&answers) {
            write_answer(&path.join(nth.to_string()), answer, &command, &progress)?;
        }
        for (nth, tried) in (1..).zip(search.failures().iter().take(MOST_FAILURES)) {
            write_tried(&path.join(format!("failure-{nth}.toml")), &space, tried)?;
        }
        if let Some(best) = search.best().filter(|_| answers.is_empty()) {
            write_tried(&path.join("closest.toml"), &space, best)?;
        }
        Ok(())
    };
    if let Some(directory) = directory {
        write(directory.path())?;
        let path = files::publish(directory, |_| Ok(()))?;
        for (nth, answer) in (1..).zip(&answers) {
            let place = path.join(nth.to_string()).join(FILE).display().to_string();
            text.push_str(&format!("\n{nth}. {}\n", answer.head.join("\n   ")));
            text.push_str(&format!("   cwnd run {place}\n   cwnd falsify --regress {place}\n   {}\n", answer.link));
        }
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
    let stopped = |search: &Search<'_>| arguments.first && search.best().is_some_and(|best| best.evaluated.is_broken());
    while search.outcomes().len() < most && time.is_none_or(|time| watch.elapsed() < time) && !stopped(search) {
        let left = most - search.outcomes().len();
        search.advance(subject, left).map_err(|_| {
            let kept = if corpus.is_some() { "; the same command continues from the corpus" } else { "" };
            Failure::stopped(format!("interrupted after {}{kept}", evaluations(search)))
        })?;
        batches += 1;
        if let Some(corpus) = corpus.filter(|_| batches % WRITE_EVERY == 0) {
            corpus.write(search.outcomes()).map_err(|error| at_corpus(arguments, &error))?;
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

/// The counterexamples, shrunk, each with other parts.
fn answers(
    arguments: &Arguments,
    space: &Space,
    subject: &Subject<'_>,
    search: &Search<'_>,
) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Answer> = Vec::new();
    for tried in search.broken().iter().take(TRIED_PER_ANSWER * arguments.answers as usize) {
        if answers.len() == arguments.answers as usize {
            break;
        }
        let shrunk = shrink(space, subject, &tried.case, arguments.seeds)
            .map_err(|_| Failure::stopped(format!("interrupted while shrinking after {}", evaluations(search))))?;
        let Some(shrunk) = shrunk else { continue };
        say!("evaluation {}: shrunk in {}", tried.index + 1, counted(shrunk.steps.len(), "step"));
        let origin = format!(
            "found as evaluation {} of: cwnd falsify {} --property {:?} --profile {} --search {} --seed {}",
            tried.index + 1,
            space.algorithm(),
            space.promise().to_string(),
            space.profile().name(),
            arguments.search.name(),
            arguments.seed
        );
        let answer = Answer::new(space, &shrunk, arguments.seeds, &origin);
        if answers.iter().all(|other| other.needs != answer.needs) {
            answers.push(answer);
        }
    }
    Ok(answers)
}

/// The outcome of the search in a few lines.
fn told(arguments: &Arguments, space: &Space, search: &Search<'_>, answers: usize) -> String {
    let head = format!("{}, {}, {}", space.algorithm(), space.promise(), space.profile().name());
    let broken = search.outcomes().iter().filter(|outcome| outcome.is_broken()).count();
    let mut text = match (answers, search.best()) {
        (0, None) => format!("{head}: nothing within {}, none of which says anything\n", evaluations(search)),
        (0, Some(best)) => {
            let lucky = match broken {
                0 => String::new(),
                _ => format!("; {broken} broke it, but none with {}", counted(arguments.seeds as usize, "seed")),
            };
            format!(
                "{head}: nothing within {}{lucky}\nclosest: {} (closest.toml)\n",
                evaluations(search),
                number(&best.evaluated)
            )
        }
        _ => {
            format!("{head}: {} of {} break it: {}\n", broken, evaluations(search), counted(answers, "counterexample"))
        }
    };
    if let Some(first) = search.failures().first() {
        let failed = counted(search.failures().len(), "evaluation");
        text.push_str(&format!("{failed} failed (failure-1.toml): {}\n", number(&first.evaluated)));
    }
    text
}

fn evaluations(search: &Search<'_>) -> String {
    counted(search.outcomes().len(), "evaluation")
}

/// Writes an answer with the report of its runs.
fn write_answer(directory: &Path, answer: &Answer, command: &str, progress: &dyn Progress) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::run(format!("cannot write the answers: {error}"));
    std::fs::create_dir(directory).map_err(failed)?;
    write_whole(&directory.join(FILE), answer.toml.as_bytes()).map_err(failed)?;
    let runs = run_all(vec![Scenario::read(FILE, &answer.toml, &[])?], progress)?;
    let runs = runs.first().expect("one scenario was run");
    let document = json::Run::of(runs).expect("a scenario has at least one seed");
    write_run(directory, command, &document, runs).map_err(failed)
}

fn write_tried(path: &Path, space: &Space, tried: &Tried) -> Result<(), Failure> {
    let scenario = space.scenario(&tried.case, 1);
    let text = format!("# cwnd falsify: {}\n# {}\n{scenario}", space.promise(), one_line(&number(&tried.evaluated)));
    write_whole(path, text.as_bytes()).map_err(|error| Failure::run(format!("cannot write the answers: {error}")))
}

/// Judges the files of `--regress`.
fn judge_again(arguments: &Arguments, executor: Executor<'_>) -> Result<String, Failure> {
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
        let evaluated = regress(&Subject { executor, promise: &promise }, &scenario).map_err(RunError::from)?;
        judged.push((name, promise, evaluated));
    }
    if let Some(path) = &arguments.junit {
        write_named(path, junit(&judged).as_bytes())
            .map_err(|error| Failure::run(format!("--junit: {}: {error}", path.display())))?;
        say!("wrote {}", path.display());
    }
    let line = |(name, promise, evaluated): &(String, Promise, Evaluated)| {
        let verdict = if kept(evaluated) { "kept" } else { "broken" };
        format!("{name}: {promise}: {verdict}: {}\n", number(evaluated))
    };
    let text: String = judged.iter().map(line).collect();
    let broken: Vec<&str> = judged.iter().filter(|(.., one)| !kept(one)).map(|(name, ..)| name.as_str()).collect();
    if broken.is_empty() {
        return Ok(text);
    }
    crate::print(&text)?;
    Err(Failure::run(format!("broken: {}", broken.join(", "))))
}

fn at_corpus(arguments: &Arguments, error: &dyn std::fmt::Display) -> Failure {
    let path = arguments.corpus.as_deref().unwrap_or(Path::new("")).display();
    Failure::input(format!("--corpus: {path}: {error}"))
}

fn profile(text: &str) -> Result<Profile, String> {
    let found = Profile::ALL.into_iter().find(|profile| profile.name() == text);
    found.ok_or_else(|| format!("accepted are {}", Profile::ALL.map(Profile::name).join(", ")))
}

fn strategy(text: &str) -> Result<Strategy, String> {
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == text);
    found.ok_or_else(|| format!("accepted are {}", Strategy::ALL.map(Strategy::name).join(", ")))
}

fn minutes(text: &str) -> Result<f64, String> {
    let accepted = "expected a number of minutes above 0 and at most 10000";
    text.parse().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 1e4).ok_or_else(|| accepted.to_string())
}

const DEFAULT_EVALUATIONS: usize = 1000;
/// Batches between two writings of the corpus.
const WRITE_EVERY: usize = 8;
/// Paths that are shrunk at most for each answer: some turn out to need the same parts, or luck.
const TRIED_PER_ANSWER: usize = 4;
const MOST_FAILURES: usize = 3;
const FILE: &str = "counterexample.toml";
