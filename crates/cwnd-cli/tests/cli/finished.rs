//! Every command that writes: what ends before it is done leaves nothing half-written.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{CommandResult, Cwnd, SHORT};

/// Commands with a little to do, each with the folder or file it writes as `out`.
const SHORT_WORK: [&[&str]; 7] = [
    &["run", "short.toml"],
    &["run", "short.toml", "--trace", "flent"],
    &["compare", "reno", "cubic", "--duration", "2s", "--warmup", "1s", "--seeds", "1"],
    &["model", "response", "reno", "simd"],
    &["model", "convergence", "reno"],
    &["model", "rounds", "reno", "--start", "10,90"],
    &["model", "udt"],
];

/// Commands that work for a long time.
const LONG_WORK: [&[&str]; 5] = [
    &["run", "short.toml", "--set", "duration=100h", "--set", "sampling=10s"],
    &["compare", "reno", "--rate", "10gbit", "--duration", "10h", "--seeds", "2"],
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

/// Visible and hidden files, but for what belongs to a store.
fn left(cwnd: &Cwnd) -> Vec<String> {
    let mut files = cwnd.files();
    files.retain(|file| !file.starts_with("caches") && file != "short.toml");
    files
}

fn place() -> Cwnd {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd
}

/// No file may be longer than half a KiB: what a full disk says, without one.
#[test]
fn a_full_disk_leaves_nothing() {
    for work in SHORT_WORK {
        place().succeed(&[work, &["--out", "a/out"]].concat());
        let cwnd = place();
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cwnd")]).args(work);
        command.args(["--out", "a/out"]).current_dir(cwnd.path()).env("XDG_CACHE_HOME", cwnd.path().join("caches"));
        let result = CommandResult::of(&command.output().expect("a shell"));
        assert_eq!(result.code, Some(1), "{work:?}: {:?} {}", result.code, result.err);
        assert_eq!(result.err.matches("error: ").count(), 1, "{work:?}: {}", result.err);
        assert_eq!(left(&cwnd), Vec::<String>::new(), "{work:?}: {}", result.err);
    }
}

#[test]
fn a_signal_leaves_nothing() {
    for work in LONG_WORK {
        for signal in ["-INT", "-TERM"] {
            let cwnd = place();
            let mut arguments = work.to_vec();
            arguments.extend(["--out", "a/out"]);
            let mut command = cwnd.command(&arguments);
            let mut child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
            // Signals are listened to before the folder is made.
            while !cwnd.path().join("a").exists() {
                assert!(child.try_wait().expect("a child").is_none(), "{arguments:?} has ended");
                sleep(Duration::from_millis(5));
            }
            sleep(Duration::from_millis(50));
            let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
            assert!(kill.success());
            let result = CommandResult::of(&child.wait_with_output().expect("it ends"));
            assert_eq!(result.code, Some(130), "{arguments:?} {signal}: {}", result.err);
            assert_eq!(left(&cwnd), Vec::<String>::new(), "{arguments:?} {signal}");
        }
    }
}

/// What had no bound: each ends at once, with one error that names the part.
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
    assert!(result.err.contains("longer than 16 MiB"), "{}", result.err);
}
