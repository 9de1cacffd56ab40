//! Inputs of commands: no command waits for a writer that does not come.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use super::{Place, commands, run, wait_until, with};

/// Makes a pipe of this name in the directory of the commands, for this user alone, and returns the name.
///
/// # Panics
/// There is one already.
pub fn new_pipe(place: &Place, name: &str) -> String {
    let made = Command::new("mkfifo").args(["-m", "600", name]).current_dir(place.path()).status();
    assert!(made.expect("mkfifo runs").success());
    name.to_owned()
}

/// Gives every flag of every command in `known` a pipe that nothing writes to, and so each word of their arguments that is in `read`, and
/// whatever comes after the words of `beside`. `written` are flags with files that commands write. Returns how many were refused for it.
///
/// # Panics
/// A command waits for a writer, or ends by a signal.
#[must_use]
pub fn reads_no_empty_pipe(
    place: &Place,
    known: &[(&str, &[&str])],
    read: &[&str],
    written: &[&str],
    beside: &[&[&str]],
) -> usize {
    let mut cases: Vec<Vec<String>> = Vec::new();
    let mut name = 0;
    let mut new = || {
        name += 1;
        new_pipe(place, &format!("pipe-{name}"))
    };
    for (command, flags) in commands(place, "") {
        let Some((_, given)) = known.iter().find(|(known, _)| *known == command) else { continue };
        let flags = flags.iter().filter(|flag| !written.contains(&flag.as_str()));
        cases.extend(flags.map(|flag| with(&command, given, flag, &new())));
        for at in (0..given.len()).filter(|at| read.contains(&given[*at])) {
            let mut arguments: Vec<String> =
                command.split(' ').chain(given.iter().copied()).map(str::to_owned).collect();
            let first = arguments.len() - given.len();
            arguments[first + at] = new();
            cases.push(arguments);
        }
    }
    cases.extend(beside.iter().map(|words| words.iter().map(ToString::to_string).chain([new()]).collect()));
    let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                while let Some(arguments) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(place, arguments);
                    assert!(matches!(result.code, Some(0..=7)), "{arguments:?}: {:?} {}", result.code, result.err);
                    refused.fetch_add(
                        usize::from(result.err.contains("a pipe that nothing writes to")),
                        Ordering::Relaxed,
                    );
                }
            });
        }
    });
    refused.into_inner()
}

/// Sends signals to a command while it waits for data of the pipe `name`: each ends it.
///
/// # Panics
/// It continues, or does not wait.
pub fn ends_while_it_reads(place: &Place, name: &str, arguments: &[&str]) {
    for (signal, shell) in [("-INT", ""), ("-TERM", ""), ("-INT", "trap '' INT; ")] {
        // Shells have SIGINT ignored in the background.
        let ours = place.command(arguments);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell}exec \"$0\" \"$@\"")]).arg(ours.get_program()).args(ours.get_args());
        command.current_dir(place.path()).env("XDG_CACHE_HOME", place.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it was built");
        // This returns when the command has opened the other end, and writes nothing.
        let writer = File::options().write(true).open(place.path().join(name)).expect("a pipe");
        sleep(Duration::from_millis(50));
        assert!(child.try_wait().expect("a child").is_none(), "{arguments:?}");
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
        wait_until("it ends", || child.try_wait().expect("a child").is_some());
        drop(writer);
    }
}
