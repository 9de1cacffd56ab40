//! The examples, as their users run them.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A program that is killed at the end of the test.
struct Running(Child);

impl Running {
    /// Starts a server on any port, and returns its address. What it prints next is in the reader.
    fn listening(mut command: Command) -> (Self, String, BufReader<ChildStdout>) {
        let mut running = Self(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut says = BufReader::new(running.0.stdout.take().unwrap());
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        (running, address, says)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An example, which `cargo test` builds with the tests.
fn example(name: &str, arguments: &[&str]) -> Command {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().with_file_name("examples").join(name);
    assert!(path.exists(), "{} is built by `cargo test`, unless targets are named", path.display());
    let mut command = Command::new(path);
    command.args(arguments);
    command
}

#[test]
fn both_echoes_answer_both_clients() {
    for server in ["echo", "echo_async"] {
        // The pipe stays open: the server prints a line for every client.
        let (_running, address, _says) = Running::listening(example(server, &["serve", "127.0.0.1:0"]));
        for client in ["echo", "echo_async"] {
            let said = example(client, &[&address, "over UDT"]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), "over UDT\n", "{client} at {server}: {said:?}");
        }
    }
}

#[test]
fn both_copies_copy() {
    let directory = std::env::temp_dir().join(format!("cwnd-net-copies-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let here = directory.join("here").to_str().unwrap().to_owned();
    let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(&here, &content).unwrap();
    for (receiver, sender) in [("copy", "copy_async"), ("copy_async", "copy")] {
        let there = directory.join(receiver).to_str().unwrap().to_owned();
        let (mut running, address, _says) = Running::listening(example(receiver, &["receive", &there, "127.0.0.1:0"]));
        assert!(example(sender, &["send", &here, &address]).status().unwrap().success());
        assert!(running.0.wait().unwrap().success());
        assert!(std::fs::read(&there).unwrap() == content, "{sender} to {receiver}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
