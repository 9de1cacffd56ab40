//! What commands read: files, and pipes that something writes to. Nothing waits for a writer that does not come.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use super::flags::{COMMANDS, commands, place, run, with};
use super::{Cwnd, wait_until};

/// A new pipe in the folder of the commands, for this user alone.
fn pipe(cwnd: &Cwnd, name: &str) -> String {
    let made = Command::new("mkfifo").args(["-m", "600", name]).current_dir(cwnd.path()).status();
    assert!(made.expect("mkfifo runs").success());
    name.to_owned()
}

/// What the commands of [`COMMANDS`] read of their arguments, which are no flags.
const READ: [&str; 4] = ["short.toml", "ss.txt", "sweep.toml", "nowhere/key"];

/// What `conform` writes into pipes, as a shell does: it waits for a reader, and a signal ends it.
const WRITTEN: [&str; 3] = ["--junit", "--html", "--write-baseline"];

#[test]
fn no_command_waits_for_a_pipe_that_nothing_writes_to() {
    let cwnd = place();
    let mut cases: Vec<Vec<String>> = Vec::new();
    let mut name = 0;
    let mut new = || {
        name += 1;
        pipe(&cwnd, &format!("pipe-{name}"))
    };
    for (command, flags) in commands(&cwnd, "") {
        let Some((_, given)) = COMMANDS.iter().find(|(known, _)| *known == command) else { continue };
        let read = flags.iter().filter(|flag| !WRITTEN.contains(&flag.as_str()));
        cases.extend(read.map(|flag| with(&command, given, flag, &new())));
        for at in (0..given.len()).filter(|at| READ.contains(&given[*at])) {
            let mut arguments: Vec<String> =
                command.split(' ').chain(given.iter().copied()).map(str::to_owned).collect();
            let first = arguments.len() - given.len();
            arguments[first + at] = new();
            cases.push(arguments);
        }
    }
    // Options that are read only beside others, or by a command that gets as far.
    let key = cwnd.succeed(&["key", "own"]);
    let beside: [&[&str]; 5] = [
        &["recv", "127.0.0.1:9", "--server-key", key.trim(), "--key"],
        &["udt", "send", "short.toml", "127.0.0.1:9", "--server-key", key.trim(), "--key"],
        &["serve", ".", "--at", "192.0.2.1:9", "--authorized"],
        &["send", "short.toml", "--at", "192.0.2.1:9", "--authorized"],
        &["send", "-", "--authorized"],
    ];
    cases.extend(beside.map(|words| words.iter().map(ToString::to_string).chain([new()]).collect()));
    let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                while let Some(arguments) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(&cwnd, arguments);
                    assert!(matches!(result.code, Some(0..=7)), "{arguments:?}: {:?} {}", result.code, result.err);
                    refused.fetch_add(
                        usize::from(result.err.contains("a pipe that nothing writes to")),
                        Ordering::Relaxed,
                    );
                }
            });
        }
    });
    // Scenarios, recordings, sweeps, traces, keys and baselines.
    let refused = refused.into_inner();
    assert!(refused >= 12, "{refused} of {}", cases.len());
}

#[test]
fn a_pipe_that_something_writes_to_is_read() {
    let cwnd = place();
    let plain = ["run", "short.toml", "--json", "--seeds", "1"];
    let expected = cwnd.succeed(&plain);
    let script = format!("{} run <(cat short.toml) --json --seeds 1", env!("CARGO_BIN_EXE_cwnd"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(cwnd.path()).output().expect("bash runs");
    let values = |text: &str| -> BTreeMap<String, serde_json::Value> {
        let mut values: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).expect("a document");
        // It names the file.
        values.remove("command");
        values
    };
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(values(&printed), values(&expected));
}

#[test]
fn a_signal_ends_a_command_that_waits_for_a_pipe() {
    let cwnd = place();
    let name = pipe(&cwnd, "pipe");
    for arguments in [
        &["run", &name][..],
        &["overlay", "short.toml", "--kernel", &name],
        &["compare", "reno", "--trace", &name],
        &["serve", ".", "--json", "--authorized", &name],
    ] {
        for (signal, shell) in [("-INT", ""), ("-TERM", ""), ("-INT", "trap '' INT; ")] {
            // Shells have SIGINT ignored in the background.
            let ours = cwnd.command(arguments);
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{shell}exec \"$0\" \"$@\"")]).arg(ours.get_program()).args(ours.get_args());
            command.current_dir(cwnd.path()).env("XDG_CACHE_HOME", cwnd.path());
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it was built");
            // This returns when the command has opened the other end, and writes nothing.
            let writer = File::options().write(true).open(cwnd.path().join(&name)).expect("a pipe");
            sleep(Duration::from_millis(50));
            assert!(child.try_wait().expect("a child").is_none(), "{arguments:?}");
            let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
            assert!(kill.success());
            wait_until("it ends", || child.try_wait().expect("a child").is_some());
            drop(writer);
        }
    }
}
