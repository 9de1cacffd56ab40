//! Every command that writes: what ends before it is done leaves nothing half-written.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{CommandResult, Cwnd, SHORT, SIGNALS, is_ignored, root};

/// Commands with a little to do, each with the directory or file it writes as `out`.
const SHORT_WORK: [&[&str]; 8] = [
    &["run", "short.toml"],
    &["run", "short.toml", "--trace", "flent"],
    &["compare", "reno", "cubic", "--duration", "2s", "--warmup", "1s", "--seeds", "1"],
    &["model", "response", "reno", "simd"],
    &["model", "convergence", "reno"],
    &["model", "rounds", "reno", "--start", "10,90"],
    &["model", "udt"],
    &["overlay", "short.toml", "--kernel", "ss.txt"],
];

/// Commands that work for a long time.
const LONG_WORK: [&[&str]; 6] = [
    &["run", "short.toml", "--set", "duration=100h", "--set", "sampling=10s"],
    &["compare", "reno", "--rate", "10gbit", "--duration", "10h", "--seeds", "2"],
    &["overlay", "short.toml", "--kernel", "ss.txt", "--set", "duration=100h", "--set", "sampling=10s"],
    &["evaluate", "reno", "--no-store"],
    &["paper", "daimd", "--no-store"],
    &[
        "model",
        "rounds",
        "reno",
        "cubic",
        "--start",
        "1,1",
        "--capacity",
        "1e6",
        "--rounds",
        "1000000",
        "--steps",
        "4096",
    ],
];

/// The files that the commands read.
const READ: [&str; 3] = ["short.toml", "ss.txt", "sweep.toml"];

/// Visible and hidden files, but for what belongs to a store.
fn left(cwnd: &Cwnd) -> Vec<String> {
    let mut files = cwnd.files();
    files.retain(|file| !file.starts_with("caches") && !READ.contains(&file.as_str()));
    files
}

fn place() -> Cwnd {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("sweep.toml", "scenario = \"short.toml\"\n[grid]\n\"dumbbell.rtt\" = [\"20ms\", \"40ms\"]\n");
    let recorded = root().join("crates/cwnd-lab/tests/kernel/ss.txt");
    std::fs::copy(recorded, cwnd.path().join("ss.txt")).expect("it is in the repository");
    cwnd
}

/// Starts a command and sends it a signal once it has made the directory `a`, which it does when it listens to signals.
fn interrupted(cwnd: &Cwnd, arguments: &[&str], signal: &str) -> CommandResult {
    let mut command = cwnd.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    while !cwnd.path().join("a").exists() {
        assert!(child.try_wait().expect("a child").is_none(), "{arguments:?} has ended");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(50));
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    CommandResult::of(&child.wait_with_output().expect("it ends"))
}

#[test]
fn a_full_disk_leaves_nothing() {
    for work in SHORT_WORK {
        let work = [work, &["--out", "a/out"]].concat();
        place().succeed(&work);
        let cwnd = place();
        let result = cwnd.run_on_a_full_disk(&work);
        assert_eq!(result.code, Some(1), "{work:?}: {:?} {}", result.code, result.err);
        assert_eq!(result.err.matches("error: ").count(), 1, "{work:?}: {}", result.err);
        assert_eq!(left(&cwnd), Vec::<String>::new(), "{work:?}: {}", result.err);
    }
}

#[test]
fn a_signal_leaves_nothing() {
    for work in LONG_WORK {
        for (signal, code) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
            let cwnd = place();
            let work = [work, &["--out", "a/out"]].concat();
            let result = interrupted(&cwnd, &work, signal);
            assert_eq!(result.code, Some(code), "{work:?} {signal}: {}", result.err);
            assert_eq!(left(&cwnd), Vec::<String>::new(), "{work:?} {signal}");
        }
    }
}

/// The directory of a sweep stays, and has whole files alone, so that the same command goes on from there.
#[test]
fn an_unfinished_sweep_has_whole_files_alone() {
    let began = ["a", "a/out", "a/out/sweep.json", "a/out/sweep.toml"];
    let work = ["sweep", "sweep.toml", "--out", "a/out", "--no-store", "--format", "csv"];
    let cwnd = place();
    let result = cwnd.run_on_a_full_disk(&work);
    assert_eq!((result.code, result.err.matches("error: ").count()), (Some(1), 1), "{}", result.err);
    assert_eq!(left(&cwnd), began);
    cwnd.succeed(&work);
    let whole = place();
    whole.succeed(&work);
    let part = "a/out/cells/part-00000000-00000003.csv";
    let [resumed, whole] = [cwnd, whole].map(|cwnd| std::fs::read(cwnd.path().join(part)).expect("a part"));
    assert_eq!(resumed, whole);
    for (signal, code) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
        let cwnd = place();
        let result = interrupted(&cwnd, &[&work[..], &["--set", "duration=100h"]].concat(), signal);
        assert_eq!(result.code, Some(code), "{signal}: {}", result.err);
        assert_eq!(left(&cwnd), began, "{signal}");
    }
}

/// Inputs that once had no bound: each ends at once, with one error that names the part.
#[test]
fn what_did_not_end_says_why() {
    let cwnd = place();
    let mut endless = String::from("duration = \"60s\"\nwarmup = \"0s\"\n[variation]\nrtt = 0.0\n");
    for (from, to) in [("a", "b"), ("b", "a")] {
        endless.push_str(&format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"10ms\"\n"));
    }
    endless.push_str("[[flow]]\nname = \"greedy\"\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"b\"\n");
    let endless = cwnd.file("endless.toml", &endless);
    let result = cwnd.run(&["run", &endless, "--seeds", "1", "--memory", "50MB", "--json"]);
    assert_eq!(result.code, Some(1), "{}", result.err);
    assert!(
        result.err.contains("memory") && result.err.contains("--memory") && result.err.contains('`'),
        "{}",
        result.err
    );
    let result = cwnd.run(&["run", "/dev/zero"]);
    assert_eq!(result.code, Some(2));
    assert!(result.err.contains("`/dev/zero`: it is a device"), "{}", result.err);
}
