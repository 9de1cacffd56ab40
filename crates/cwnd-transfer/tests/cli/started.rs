//! Commands that go on after they have said where they are.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::Udt;

/// A command that has printed its first line of JSON.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) out: BufReader<ChildStdout>,
    pub(super) ready: Value,
}

impl Started {
    pub(super) fn new(udt: &Udt, arguments: &[&str]) -> Self {
        Self::of(udt.command(arguments))
    }

    pub(super) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary was built");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("its output is text");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        Self { child, out, ready }
    }

    pub(super) fn says(&self, key: &str) -> &str {
        self.ready[key].as_str().unwrap_or_else(|| panic!("{key} of {}", self.ready))
    }

    pub(super) fn address(&self) -> &str {
        self.says("address")
    }

    pub(super) fn read_until(&mut self, event: &str) {
        let mut line = String::new();
        while !line.contains(&format!("\"event\":\"{event}\"")) {
            line.clear();
            assert!(self.out.read_line(&mut line).expect("its output is text") > 0, "no {event}");
        }
    }

    pub(super) fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
    }

    /// Waits until the process ends. Returns its exit code and the output it has printed since.
    pub(super) fn ends(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("its output is text");
        (self.child.wait().expect("it ends").code(), text)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
