//! Ctrl-C.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{CommandResult, Cwnd, SHORT, wait_until};

/// SIGINT in the middle of a long run ends it with code 130, and no file stays.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    let cwnd = Cwnd::new();
    let mut command =
        cwnd.command(&["compare", "reno", "--rate", "10gbit", "--duration", "10h", "--seeds", "2", "--out", "a/b"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    // Ctrl-C is listened to before the folder is made, and the run itself lasts for hours.
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
