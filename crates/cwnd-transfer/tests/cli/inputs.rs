//! Inputs of commands: files, and pipes that something writes to. Nothing waits for a writer that does not come.

use cwnd_terminal::testing::{ends_while_it_reads, new_pipe, reads_no_empty_pipe};

use super::Udt;
use super::flags::COMMANDS;

#[test]
fn no_command_waits_for_a_pipe_that_nothing_writes_to() {
    let udt = Udt::new();
    // Options that are read only together with others, or late in a command.
    let key = udt.succeed(&["key", "own"]);
    udt.file("short.txt", "short");
    let beside: [&[&str]; 5] = [
        &["recv", "127.0.0.1:9", "--server-key", key.trim(), "--key"],
        &["send", "short.txt", "--to", "127.0.0.1:9", "--server-key", key.trim(), "--key"],
        &["serve", ".", "--at", "192.0.2.1:9", "--authorized"],
        &["send", "short.txt", "--at", "192.0.2.1:9", "--authorized"],
        &["send", "-", "--authorized"],
    ];
    // Keys and traces.
    let refused = reads_no_empty_pipe(&udt, &COMMANDS, &["nowhere/key"], &[], &beside);
    assert!(refused >= 6, "{refused}");
}

#[test]
fn a_signal_ends_a_command_that_waits_for_a_pipe() {
    let udt = Udt::new();
    let name = new_pipe(&udt, "pipe");
    ends_while_it_reads(&udt, &name, &["serve", ".", "--json", "--authorized", &name]);
}
