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

/// A search that was stopped has the answer of one that was not. Two signals at once are one request, as GNU `timeout` sends them to the process and to its
/// group. SIGKILL leaves no time to tidy up: nothing is unfinished then but evaluations.
#[cfg(unix)]
#[test]
fn a_search_that_is_stopped_continues_to_the_answer_of_a_whole_one() {
    let cwnd = Cwnd::new();
    let search = ["falsify", "reno", "--property", "backlog-utilisation", "--seeds", "1", "--answers", "1"];
    let corpus = |name: &str| std::fs::read_to_string(cwnd.path().join(name)).expect("it was written");
    let signals = [("-INT", Some(130)), ("-TERM", Some(143)), ("-KILL", None)];
    let stopped = signals.map(|(signal, code)| {
        let file = format!("corpus{signal}");
        let endless = ["--threads", "1", "--evaluations", "1000000", "--corpus", &file, "--out", "a/b"];
        let mut command = cwnd.command(&[&search[..], &endless].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        // A line comes after the first batch, before the first writing of the corpus: a request leaves time for one.
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
        lines.read_line(&mut String::new()).expect("its output is text");
        if code.is_none() {
            wait_until("the corpus is written", || cwnd.path().join(&file).exists());
        }
        let pid = child.id().to_string();
        let kill = Command::new("kill").args([signal, &pid, &pid]).status().expect("kill runs");
        assert!(kill.success());
        // Its processes have the other end of this pipe, too, and end with it.
        let mut error = String::new();
        lines.read_to_string(&mut error).expect("its output is text");
        assert_eq!(child.wait().expect("it ends").code(), code, "{signal}: {error}");
        let kept = error.ends_with("; the same command continues from the corpus\n");
        assert!(kept || code.is_none(), "{signal}: {error}");
        corpus(&file)
    });
    let mut files = cwnd.files();
    files.sort();
    assert_eq!(files, ["corpus-INT", "corpus-KILL", "corpus-TERM"]);

    let outcomes = |text: &String| text.lines().skip_while(|line| !line.starts_with("1 ")).count();
    assert!(stopped.iter().all(|text| outcomes(text) >= 16), "{stopped:?}");
    // Half a batch more than the longest, so that each has something left.
    let budget = (stopped.iter().map(outcomes).max().expect("three") + 8).to_string();
    let to_the_end = |name: &str| {
        let rest = ["--json", "--evaluations", &budget, "--corpus", name];
        cwnd.succeed(&[&search[..], &rest].concat())
    };
    let whole = to_the_end("whole");
    for ((signal, _), text) in signals.into_iter().zip(&stopped) {
        assert!(corpus("whole").starts_with(text), "{signal}");
        let file = format!("corpus{signal}");
        assert_eq!(to_the_end(&file), whole, "{signal}");
        assert!(corpus(&file) == corpus("whole"), "{signal}");
    }
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
