//! Ctrl-C.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{CommandResult, Cwnd, SHORT, SIGNALS, is_ignored, wait_until};

/// SIGINT in the middle of a long run ends it with code 130, and no file stays.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    let cwnd = Cwnd::new();
    let mut command =
        cwnd.command(&["compare", "reno", "--rate", "10gbit", "--duration", "10h", "--seeds", "2", "--out", "a/b"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    // Ctrl-C is listened to before the directory is made, and the run itself lasts for hours.
    while !cwnd.path().join("a").exists() {
        sleep(Duration::from_millis(10));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    let result = CommandResult::of(&child.wait_with_output().expect("it ends"));
    assert_eq!((result.code, result.err.as_str()), (Some(130), "error: interrupted; nothing was written\n"));
    assert_eq!(result.out, "");
    assert_eq!(cwnd.files(), Vec::<String>::new());
}

/// As GNU `timeout` sends them, to the process and to its group: one request, after which the work keeps its outcomes.
#[cfg(unix)]
#[test]
fn two_signals_at_once_lose_no_outcome() {
    let cwnd = Cwnd::new();
    let search = ["falsify", "reno", "--property", "progress", "--evaluations", "1000000", "--corpus", "corpus"];
    let mut command = cwnd.command(&[&search[..], &["--threads", "1", "--out", "a/b"]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    // A line comes after the first batch.
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    lines.read_line(&mut String::new()).expect("its output is text");
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-TERM", &pid, &pid]).status().expect("kill runs");
    assert!(kill.success());
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("its output is text");
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    assert!(rest.contains("; the same command continues from the corpus\n"), "{rest}");
    assert!(std::fs::read_to_string(cwnd.path().join("corpus")).is_ok_and(|corpus| corpus.lines().count() >= 22));
}

/// Nobody can tidy up after SIGKILL: a search has nothing unfinished until its answers are known.
#[cfg(unix)]
#[test]
fn a_search_that_is_killed_leaves_its_corpus_alone() {
    let cwnd = Cwnd::new();
    let search = ["falsify", "reno", "--property", "progress", "--evaluations", "1000000", "--corpus", "corpus"];
    let mut command = cwnd.command(&[&search[..], &["--threads", "1", "--out", "out"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    // A line comes after the first batch.
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    lines.read_line(&mut String::new()).expect("its output is text");
    wait_until("the corpus is written", || cwnd.path().join("corpus").exists());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(cwnd.files(), ["corpus"]);
    // Its processes have the other end of this pipe, too, and end with it.
    lines.read_to_end(&mut Vec::new()).expect("it is read");
}

/// When the runs are over nothing looks for signals any more: here the command waits for someone to read its results.
#[cfg(unix)]
#[test]
fn a_command_that_is_past_its_runs_ends_at_once() {
    let cwnd = Cwnd::new();
    // Its document is longer than a pipe holds.
    let scenario = cwnd.file("many.toml", &SHORT.replace("count = 2", "count = 300"));
    let mut command = cwnd.command(&["run", &scenario, "--json", "--set", "duration=1s", "--set", "warmup=0s"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary was built");
    let mut begin = [0];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut begin).expect("a document");
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    wait_until("it ends", || child.try_wait().expect("a child").is_some());
    assert_eq!(child.wait().expect("it has ended").code(), Some(143));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_server_of_pages() {
    let cwnd = Cwnd::new();
    for (signal, code) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
        let mut command = cwnd.command(&["live", "--no-open"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("it is piped")).read_line(&mut line).expect("its output is text");
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
        let ended = child.wait().expect("it ends").code();
        assert!(ended == Some(0) || ended == Some(code) || ended.is_none(), "{signal}: {ended:?}");
    }
}

/// Whoever reads neither standard error nor standard output gets the code of the failure.
#[cfg(unix)]
#[test]
fn a_command_that_cannot_say_anything_has_its_code() {
    let cwnd = Cwnd::new();
    let full = || File::options().write(true).open("/dev/full").expect("a device of Linux");
    for arguments in [["compare", "nothing"], ["run", "nothing"]] {
        let output = cwnd.command(&arguments).stderr(full()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    for argument in ["schema", "--help", "--version"] {
        let output = cwnd.command(&[argument]).stdout(full()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{argument}");
    }
}
