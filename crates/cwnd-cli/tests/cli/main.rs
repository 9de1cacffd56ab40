//! The real binary, from its arguments to its output, exit code and files.

mod attacks;
mod doctor;
mod documents;
mod endings;
mod errors;
mod figures;
mod finished;
mod first;
mod flags;
mod inputs;
mod interrupt;
mod meet;
mod models;
mod names;
mod obeyed;
mod papers;
mod results;
mod secure;
mod sweeps;
mod traces;
mod transfer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// The signals that end a command, and its exit codes.
const SIGNALS: [(&str, i32); 3] = [("-HUP", 129), ("-INT", 130), ("-TERM", 143)];

/// Whether commands ignore a signal of [`SIGNALS`], as these tests do: `nohup` has them ignore SIGHUP.
fn is_ignored(signal: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    signal == "-HUP" && ignored.is_some_and(|ignored| ignored & 1 == 1)
}

/// `cwnd` in a directory of its own.
struct Cwnd {
    directory: TempDir,
}

/// What a command result and how it ended.
struct CommandResult {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Cwnd {
    fn new() -> Self {
        Self { directory: TempDir::new().expect("a temporary directory") }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path().join(name), text).expect("the directory is writable");
        name.to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
        // Nothing a test runs may be taken from, or left in, the user's caches.
        command.args(arguments).current_dir(self.path()).env("XDG_CACHE_HOME", self.path().join("caches"));
        // Both ends of transfers have this code, and keys lie where nothing is the user's.
        command.env("CWND_CODE", CODE).env("XDG_CONFIG_HOME", self.path().join("configuration"));
        command
    }

    fn run(&self, arguments: &[&str]) -> CommandResult {
        CommandResult::of(&self.command(arguments).output().expect("the binary was built"))
    }

    /// Runs what must succeed.
    fn succeed(&self, arguments: &[&str]) -> String {
        let result = self.run(arguments);
        assert_eq!(result.code, Some(0), "{arguments:?}: {}", result.err);
        result.out
    }

    /// Everything in the directory, hidden or not, by relative path.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                // A command that still runs has removed it.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                entries => entries.expect("a directory"),
            };
            for entry in entries {
                let path = entry.expect("an entry").path();
                found.push(path.strip_prefix(self.path()).expect("below it").display().to_string());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// The files of the store `cells`, and how many cells each has.
    fn stored(&self) -> BTreeMap<String, usize> {
        let files =
            self.files().into_iter().filter(|file| file.starts_with("cells/") && file.matches('/').count() == 2);
        let cells = |file: &str| std::fs::read_to_string(self.path().join(file)).expect("text").lines().skip(1).count();
        files.map(|file| (file.clone(), cells(&file))).collect()
    }
}

impl CommandResult {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Waits until something is so. A loaded machine may take long for it: after a minute it counts as wrong.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{what}: not so after a minute");
}

/// Sets a flag when it is dropped, in a panic too: a thread of a scope that goes on until then would keep a failed test from ending.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A code with its checksum.
const CODE: &str = "ehm6-a833-dxj6-a83f-crg7-8sbk-ekms";

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A path short enough for a test.
const SHORT: &str = "title = \"short\"\nduration = \"3s\"\nwarmup = \"1s\"\nseeds = 2\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                     [[flow]]\nalgorithm = \"reno\"\ncount = 2\n";
