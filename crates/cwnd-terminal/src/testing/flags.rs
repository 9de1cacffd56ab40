//! Every flag of every command, with meaningless values.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use super::{CommandResult, Place};

/// The commands that the help lists, with the long flags of each: made from the same definitions as the parser.
///
/// # Panics
/// The help lists no commands.
#[must_use]
pub fn commands(place: &Place, above: &str) -> Vec<(String, Vec<String>)> {
    let help = place.succeed(&above.split_whitespace().chain(["--help"]).collect::<Vec<_>>());
    // Under whichever heading they stand.
    let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let flags = options.filter_map(|line| {
        let flag = line.split([' ', ',', '[', ']']).find(|word| word.starts_with("--"))?;
        Some(flag.trim_end_matches('.').to_string())
    });
    // Each command has those of the whole program, which are tried once.
    let flags: Vec<String> = flags
        .filter(|flag| !["--help", "--version"].contains(&&**flag) && (above == "run" || flag != "--memory"))
        .collect();
    let below = below(&help, above);
    let own = [(above.to_string(), flags)].into_iter().filter(|(_, flags)| !flags.is_empty());
    let below = below.iter().flat_map(|name| commands(place, format!("{above} {name}").trim_start()));
    own.chain(below).collect()
}

/// The commands that a help lists: that of the program, where `above` is empty, under headings, and that of a command under one.
fn below(help: &str, above: &str) -> Vec<String> {
    let listed = match above {
        "" => help.split("\nOptions:\n").next(),
        _ => help.split_once("Commands:\n").and_then(|(_, rest)| rest.split("\n\n").next()),
    };
    let lines = listed.unwrap_or_default().lines();
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_string).collect()
}

/// Checks that the help of each command breaks prose where a line of 100 columns is full, and nowhere else. Returns how many have examples.
///
/// # Panics
/// A check fails.
#[must_use]
pub fn broken_at_the_width(place: &Place) -> usize {
    let mut waiting = vec![String::new()];
    let mut seen = 0;
    while let Some(command) = waiting.pop() {
        let help = place.succeed(&command.split_whitespace().chain(["--help"]).collect::<Vec<_>>());
        waiting.extend(below(&help, &command).iter().map(|name| format!("{command} {name}")));
        let Some((_, after)) = help.split_once("Examples:\n") else { continue };
        seen += 1;
        let lines: Vec<&str> = after.lines().collect();
        let prose = |line: &&str| !line.is_empty() && !line.starts_with(' ');
        for pair in lines.windows(2).filter(|pair| pair.iter().all(prose) && !pair[1].ends_with(':')) {
            let next = pair[1].split(' ').next().unwrap_or_default();
            let fits = pair[0].chars().count() + 1 + next.chars().count() <= 100;
            assert!(!fits && pair[0].chars().count() <= 100, "{command}: broken after: {}", pair[0]);
        }
    }
    seen
}

/// The arguments of a command with another value for a flag, which may be given once.
#[must_use]
pub fn with(command: &str, given: &[&str], flag: &str, value: &str) -> Vec<String> {
    let mut arguments: Vec<String> = given.iter().map(ToString::to_string).collect();
    if let Some(at) = arguments.iter().position(|word| word == flag) {
        let alone = arguments.get(at + 1).is_none_or(|next| next.starts_with("--")) || flag == "--tun";
        arguments.drain(at..at + if alone { 1 } else { 2 });
    }
    let words = command.split(' ').map(str::to_string);
    words.chain([format!("{flag}={value}")]).chain(arguments).collect()
}

/// Runs a command that must end by itself.
///
/// # Panics
/// It has not ended after 30 s.
#[must_use]
pub fn run(place: &Place, arguments: &[String]) -> CommandResult {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, err) = (tempfile::tempfile().expect("a file"), tempfile::NamedTempFile::new().expect("a file"));
    let mut command = place.command(&arguments);
    let mut child =
        command.stdout(out).stderr(err.reopen().expect("it is there")).spawn().expect("the binary was built");
    for _ in 0..15_000 {
        if let Some(status) = child.try_wait().expect("a child") {
            let err = fs::read_to_string(err.path()).expect("text");
            return CommandResult { code: status.code(), out: String::new(), err };
        }
        sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    panic!("{arguments:?} has not ended after 30 s");
}

/// A value for a flag, and the output of the command without it.
struct Case {
    place: Arc<Place>,
    flag: String,
    value: &'static str,
    arguments: Vec<String>,
    without: Arc<str>,
}

impl Case {
    fn check(&self) {
        let Self { place, flag, value, arguments, without } = self;
        let CommandResult { code, err, .. } = run(place, arguments);
        assert!(matches!(code, Some(0..=7)), "{arguments:?}: {code:?} {err}");
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
        if code != Some(0) {
            assert_eq!(err.matches("error: ").count(), 1, "{arguments:?}: {err}");
        }
        if code == Some(2) {
            let named = err.contains(flag.as_str()) || err.contains(&format!("`{value}`"));
            assert!(named || err == **without, "{arguments:?}: {err}");
        }
    }
}

/// Gives each flag of each command meaningless values, in a new `place` for each command. No command panics or hangs, and a refusal is one
/// error that names the flag. `known` has arguments with which each command ends soon, and `long` the flags that prevent that. Returns the
/// number of command lines.
///
/// Every flag meets every value only if `thorough`: that takes thousands of starts of the program. Otherwise a flag meets three values, and
/// the next flag the three after them.
///
/// # Panics
/// A check fails, or a command is not in `known`.
#[must_use]
pub fn refuses_nonsense(
    place: impl Fn() -> Place,
    known: &[(&str, &[&str])],
    long: &[(&str, &str)],
    thorough: bool,
) -> usize {
    let mut cases = Vec::new();
    let mut values = NONSENSE.into_iter().cycle();
    let each = if thorough { NONSENSE.len() } else { 3 };
    for (command, flags) in commands(&place(), "") {
        let Some((_, given)) = known.iter().find(|(name, _)| *name == command) else {
            // Only commands below it.
            assert!(flags.iter().all(|flag| flag == "--memory"), "how does `{command}` end soon?");
            continue;
        };
        // One command makes directories that another would find.
        let place = Arc::new(place());
        let plain: Vec<String> = command.split(' ').chain(given.iter().copied()).map(str::to_string).collect();
        let without: Arc<str> = run(&place, &plain).err.into();
        for flag in flags.into_iter().filter(|flag| !long.contains(&(command.as_str(), flag.as_str()))) {
            cases.extend(values.by_ref().take(each).map(|value| {
                let arguments = with(&command, given, &flag, value);
                Case { place: Arc::clone(&place), flag: flag.clone(), value, arguments, without: Arc::clone(&without) }
            }));
        }
    }
    let next = AtomicUsize::new(0);
    // Some wait for an answer that does not come.
    scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    case.check();
                }
            });
        }
    });
    cases.len()
}

const NONSENSE: [&str; 10] = ["", "-1", "0", "1e30", "nan", "é", "18446744073709551616", "1/0", "0ms", "reno:a=1,a=2"];
