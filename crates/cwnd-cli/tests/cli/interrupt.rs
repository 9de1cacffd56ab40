//! Ctrl-C.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{CommandResult, Cwnd};

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
