//! Inputs of commands: files, and pipes that something writes to. Nothing waits for a writer that does not come.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::Command;

use cwnd_terminal::testing::{ends_while_it_reads, new_pipe, reads_no_empty_pipe};

use super::flags::{COMMANDS, place};

/// The arguments that the commands of [`COMMANDS`] read as files, without a flag.
const READ: [&str; 3] = ["short.toml", "ss.txt", "sweep.toml"];

/// The files that `conform` writes into pipes, as a shell does: it waits for a reader, and a signal ends it.
const WRITTEN: [&str; 3] = ["--junit", "--html", "--write-baseline"];

#[test]
fn no_command_waits_for_a_pipe_that_nothing_writes_to() {
    // Scenarios, recordings, sweeps, traces and baselines.
    let refused = reads_no_empty_pipe(&place(), &COMMANDS, &READ, &WRITTEN, &[]);
    assert!(refused >= 6, "{refused}");
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
    let name = new_pipe(&cwnd, "pipe");
    for arguments in
        [&["run", &name][..], &["overlay", "short.toml", "--kernel", &name], &["compare", "reno", "--trace", &name]]
    {
        ends_while_it_reads(&cwnd, &name, arguments);
    }
}
