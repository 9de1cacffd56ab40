//! Searches of `cwnd falsify` for published faults: the list of them, what came of each, and the table of that.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use cwnd::Spec;
use cwnd_falsify::findings::counterexamples;
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{Search, Strategy};
use cwnd_falsify::space::{Profile, Space};
use cwnd_falsify::{PATIENCE, Subject, Workers};
use cwnd_run::cells::Cells;
use cwnd_run::execute::Executor;
use serde::Deserialize;

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Searches {
    /// The tree of the sources of the search with which the group `untouched` runs. `cargo xtask museum` compares it.
    #[serde(rename = "settings")]
    _settings: String,
    evaluations: usize,
    seeds: Vec<u64>,
    #[serde(rename = "search")]
    all: Vec<Wanted>,
}

/// A fault that is searched for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    group: String,
    source: String,
    before: String,
    after: Option<String>,
    property: String,
    profile: String,
    /// Parts of which an answer needs one; any answer counts if there are none.
    #[serde(default)]
    cause: Vec<String>,
    /// Words in the message of a run that fails.
    failure: Option<String>,
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Searched {
    name: String,
    subject: String,
    search: String,
    seed: u64,
    /// The evaluation that found the fault, from 1.
    found: Option<usize>,
    evaluations: usize,
    /// The parts that the answer needs, or the message of the failure.
    what: String,
}

impl Searches {
    fn read() -> Self {
        toml::from_str(include_str!("../searches.toml")).unwrap_or_else(|error| panic!("searches.toml: {error}"))
    }
}

/// Searches for the faults of a group in `stacks`, and in the algorithms of the registry if `own`: a line for each search.
///
/// # Panics
/// The list names a property, a profile or a stack that does not exist.
pub(crate) fn search(stacks: &[Spec], group: &str, own: bool) -> String {
    cwnd_run::stacks::install(stacks.to_vec());
    let searches = Searches::read();
    let is_here = |subject: &str| match subject.contains(':') {
        true => stacks.iter().any(|spec| spec.label() == subject),
        false => own,
    };
    let mut lines = String::new();
    for wanted in searches.all.iter().filter(|wanted| wanted.group == group) {
        let after = wanted.after.iter().map(|subject| (subject, [Strategy::Elites].as_slice()));
        for (subject, strategies) in std::iter::once((&wanted.before, Strategy::ALL.as_slice())).chain(after) {
            for strategy in strategies.iter().filter(|_| is_here(subject)) {
                for seed in &searches.seeds {
                    let searched = wanted.search(subject, *strategy, *seed, searches.evaluations);
                    eprintln!("{searched}");
                    let _ = writeln!(lines, "{searched}");
                }
            }
        }
    }
    lines
}

impl Wanted {
    fn search(&self, subject: &str, strategy: Strategy, seed: u64, evaluations: usize) -> Searched {
        let promise: Promise = self.property.parse().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let profile = Profile::find(&self.profile).unwrap_or_else(|| panic!("there is no profile `{}`", self.profile));
        let algorithm = subject.parse().unwrap_or_else(|error| panic!("{subject}: {error}"));
        let space = Space::new(profile, algorithm, promise);
        let cells = Cells::default();
        let program = std::env::current_exe().expect("this program has a path");
        let workers = Workers::new(vec![program.into_os_string(), WORKER.into()], PATIENCE);
        let judge = Subject::new(Executor::new(&cells, &()), space.promise()).in_processes(&workers);
        let mut search = Search::start(&space, strategy, seed).unwrap_or_else(|error| panic!("{subject}: {error}"));
        let mut found = None;
        while search.outcomes().len() < evaluations && found.is_none() {
            search.advance(&judge, evaluations - search.outcomes().len()).expect("nothing interrupts it");
            found = self.failure(&search);
            // Any answer counts, so that the first ends the search.
            if found.is_none() && self.cause.is_empty() && search.has_broken() {
                found = self.answer(&search, &judge);
            }
        }
        if found.is_none() && !self.cause.is_empty() {
            found = self.answer(&search, &judge);
        }
        let (found, what) = found.unzip();
        let what = what.unwrap_or_default();
        let (name, subject, search, evaluations) =
            (self.name.clone(), subject.to_string(), strategy.name().to_string(), search.outcomes().len());
        Searched { name, subject, search, seed, found, evaluations, what }
    }

    /// The first failure with the words of this fault.
    fn failure(&self, search: &Search<'_>) -> Option<(usize, String)> {
        let words = self.failure.as_ref()?;
        let error = |tried: &cwnd_falsify::search::Tried| {
            let error = tried.evaluated.error.clone().filter(|error| error.contains(words.as_str()))?;
            Some((tried.index + 1, error))
        };
        search.failures().iter().find_map(error)
    }

    /// The first evaluation with an answer that counts.
    fn answer(&self, search: &Search<'_>, judge: &Subject<'_>) -> Option<(usize, String)> {
        let most = if self.cause.is_empty() { 1 } else { ANSWERS };
        let found = counterexamples(search, judge, SEEDS, most, &mut |_| ()).expect("nothing interrupts it");
        let counts = |needs: &str| {
            self.cause.is_empty() || needs.split(", ").any(|part| self.cause.iter().any(|one| one == part))
        };
        let answers = found.iter().filter(|found| counts(&found.answer.needs));
        answers.map(|found| (found.tried.index + 1, found.answer.needs.clone())).min()
    }
}

/// The table of the lines of all searches.
///
/// # Errors
/// A line cannot be read.
pub(crate) fn table(lines: &str) -> Result<String, String> {
    let searched = read(lines)?;
    let mut text = "| fault | property | subject | MAP-Elites | random | without the fault |\n| --- | --- | --- | --- | --- | --- |\n".to_string();
    let searches = Searches::read();
    for wanted in &searches.all {
        let of = |subject: &str, search: Strategy| {
            let lines: Vec<String> = wanted
                .lines(&searched, subject, search)
                .map(|line| line.found.map_or_else(|| "none".to_string(), |nth| nth.to_string()))
                .collect();
            if lines.is_empty() { "not run".to_string() } else { lines.join(", ") }
        };
        let (name, source) = (&wanted.name, &wanted.source);
        let fault = match source.starts_with("https://") {
            true => format!("[{name}]({source})"),
            false => format!("{name} ({source})"),
        };
        let mark = if wanted.group == "untouched" { " *" } else { "" };
        let [elites, random] = Strategy::ALL.map(|search| of(&wanted.before, search));
        let after = wanted.after.as_ref();
        let after =
            after.map_or_else(|| "–".to_string(), |after| format!("`{after}`: {}", of(after, Strategy::Elites)));
        let _ = writeln!(
            text,
            "| {fault}{mark} | `{}`, {} | `{}` | {elites} | {random} | {after} |",
            wanted.property, wanted.profile, wanted.before
        );
    }
    let found = |group: &str| {
        let all: Vec<&Wanted> =
            searches.all.iter().filter(|wanted| group.is_empty() || wanted.group == group).collect();
        let found = all.iter().filter(|wanted| wanted.is_found(&searched)).count();
        format!("{found} of {}", all.len())
    };
    let _ = write!(text, "\nFound with each seed: {}; of the untouched faults {}.\n", found(""), found("untouched"));
    Ok(text)
}

/// What the search found of an issue: with how many of the seeds, or none if nobody searched for it.
pub(crate) fn found(lines: &[Searched], issue: &str) -> Option<String> {
    let searches = Searches::read();
    let wanted = searches.all.iter().find(|wanted| wanted.name == issue)?;
    let own: Vec<&Searched> = wanted.lines(lines, &wanted.before, Strategy::Elites).collect();
    let found = own.iter().filter(|line| line.found.is_some()).count();
    (!own.is_empty()).then(|| format!("`{}`: {found} of {} seeds", wanted.property, own.len()))
}

/// The lines of a record. The group and the settings that `cargo xtask museum` writes in front of them are passed over.
pub(crate) fn read(lines: &str) -> Result<Vec<Searched>, String> {
    lines.lines().filter(|line| !line.starts_with('#')).map(str::parse).collect()
}

impl Wanted {
    fn lines<'a>(&self, lines: &'a [Searched], subject: &str, search: Strategy) -> impl Iterator<Item = &'a Searched> {
        let is_own =
            move |line: &&Searched| line.name == self.name && line.subject == subject && line.search == search.name();
        lines.iter().filter(is_own)
    }

    fn is_found(&self, lines: &[Searched]) -> bool {
        let mut own = self.lines(lines, &self.before, Strategy::Elites).peekable();
        own.peek().is_some() && own.all(|line| line.found.is_some())
    }
}

impl fmt::Display for Searched {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, subject, search, seed, found, evaluations, what } = self;
        let found = found.map_or_else(|| "-".to_string(), |nth| nth.to_string());
        write!(out, "{name}\t{subject}\t{search}\t{seed}\t{found}\t{evaluations}\t{what}")
    }
}

impl FromStr for Searched {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no line of a search");
        let [name, subject, search, seed, found, evaluations, what] = *text.split('\t').collect::<Vec<_>>() else {
            return Err(wrong());
        };
        let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
        let found = if found == "-" { None } else { Some(number(found)?) };
        let [name, subject, search, what] = [name, subject, search, what].map(String::from);
        let (seed, evaluations) = (seed.parse().map_err(|_| wrong())?, number(evaluations)?);
        Ok(Self { name, subject, search, seed, found, evaluations, what })
    }
}

/// The argument with which a program of the museum evaluates for a search.
pub(crate) const WORKER: &str = "worker";
/// Seeds of an answer: as many as the command has if none are given.
const SEEDS: u32 = 3;
/// Answers among which one has to have the cause.
const ANSWERS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Museum;

    #[test]
    fn half_of_the_list_is_for_development() {
        let searches = Searches::read();
        let of = |group: &str| searches.all.iter().filter(|wanted| wanted.group == group).count();
        assert_eq!([of("development"), of("untouched")], [5, 5]);
        let museum = Museum::read();
        for wanted in &searches.all {
            wanted.property.parse::<Promise>().unwrap_or_else(|error| panic!("{}: {error}", wanted.name));
            assert!(Profile::find(&wanted.profile).is_some(), "{}", wanted.profile);
            let fault = museum.faults.iter().find(|fault| fault.issue == wanted.name);
            assert_eq!(fault.is_some(), wanted.name.contains('#'), "{}", wanted.name);
            assert!(fault.is_none_or(|fault| fault.broken.contains(&wanted.before)), "{}", wanted.before);
        }
    }

    #[test]
    fn the_record_is_read_as_it_is_written() {
        for (found, what) in [(None, ""), (Some(17), "acks, jitter")] {
            let (name, subject) = ("smoltcp#1154".to_string(), "smoltcp-0.12.0:reno".to_string());
            let line =
                Searched { name, subject, search: "elites".into(), seed: 1, found, evaluations: 32, what: what.into() };
            assert_eq!(line.to_string().parse(), Ok(line.clone()));
            let table = table(&format!("# a note\n{line}\n")).expect("it can be read");
            let cell = found.map_or_else(|| "none".to_string(), |nth| nth.to_string());
            assert!(
                table.contains(&format!("`smoltcp-0.12.0:reno` | {cell} | not run | `smoltcp:reno`: not run |")),
                "{table}"
            );
            let seeds = usize::from(found.is_some());
            assert!(
                table.ends_with(&format!("\nFound with each seed: {seeds} of 10; of the untouched faults 0 of 5.\n")),
                "{table}"
            );
            assert_eq!(super::found(&[line], "smoltcp#1154"), Some(format!("`steady-loss < 0.1`: {seeds} of 1 seeds")));
        }
        assert!(table("nothing").is_err());
    }
}
