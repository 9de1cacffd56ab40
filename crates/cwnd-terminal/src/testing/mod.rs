//! Tests of the real programs, from their arguments to their output, exit codes and files: with the feature `testing`.

mod flags;
mod pages;
mod pipes;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use std::{fs, io};

use tempfile::TempDir;

pub use flags::{broken_at_the_width, commands, refuses_nonsense, run, with};
pub use pages::accepts_commands_of_pages;
pub use pipes::{ends_while_it_reads, new_pipe, reads_no_empty_pipe};

/// The signals that end a command, and its exit codes.
pub const SIGNALS: [(&str, i32); 3] = [("-HUP", 129), ("-INT", 130), ("-TERM", 143)];

/// Whether commands ignore a signal of [`SIGNALS`], as these tests do: `nohup` has them ignore SIGHUP.
#[must_use]
pub fn is_ignored(signal: &str) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    signal == "-HUP" && ignored.is_some_and(|ignored| ignored & 1 == 1)
}

/// A program in a directory of its own.
#[derive(Debug)]
pub struct Place {
    program: &'static str,
    directory: TempDir,
}

/// The output and the exit code of a command.
#[derive(Debug)]
pub struct CommandResult {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Place {
    /// An empty directory for the program of this path.
    ///
    /// # Panics
    /// There is no room for temporary files.
    #[must_use]
    pub fn new(program: &'static str) -> Self {
        Self { program, directory: TempDir::new().expect("a temporary directory") }
    }

    /// The path of the program.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, and returns its name.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path().join(name), text).expect("the directory is writable");
        name.to_string()
    }

    /// The program with these arguments.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        // Nothing a test runs may be taken from, or left in, the user's caches.
        command.args(arguments).current_dir(self.path()).env("XDG_CACHE_HOME", self.path().join("caches"));
        // Both ends of transfers have this code, and keys lie where nothing is the user's.
        command.env("CWND_CODE", CODE).env("XDG_CONFIG_HOME", self.path().join("configuration"));
        command
    }

    /// Runs the program until it ends.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(&self, arguments: &[&str]) -> CommandResult {
        CommandResult::of(&self.command(arguments).output().expect("the binary was built"))
    }

    /// Runs a command that must succeed, and returns its standard output.
    ///
    /// # Panics
    /// It fails.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let result = self.run(arguments);
        assert_eq!(result.code, Some(0), "{arguments:?}: {}", result.err);
        result.out
    }

    /// Runs a command that must be refused: exit code 2, one error with this beginning, no output, and no file written.
    ///
    /// # Panics
    /// It is not refused like that.
    pub fn refuses(&self, arguments: &[&str], expected: &str) {
        let before = self.files();
        let result = self.run(arguments);
        assert_eq!(result.code, Some(2), "{arguments:?}\n{}", result.err);
        assert!(result.err.starts_with(expected), "{arguments:?}\nexpected {expected}\nfound    {}", result.err);
        assert_eq!(result.err.matches("error: ").count(), 1, "one error: {}", result.err);
        assert_eq!(result.out, "", "{arguments:?}");
        assert_eq!(self.files(), before, "{arguments:?}");
    }

    /// Runs a program that can write no file longer than half a KiB, to see its errors on a full disk. The signal of that limit has its
    /// default action, as in any shell.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn run_on_a_full_disk(&self, arguments: &[&str]) -> CommandResult {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", self.program]).args(arguments);
        command.current_dir(self.path()).env("XDG_CACHE_HOME", self.path().join("caches")).env("CWND_CODE", CODE);
        CommandResult::of(&command.output().expect("a shell"))
    }

    /// Everything in the directory, hidden or not, by relative path.
    ///
    /// # Panics
    /// A directory cannot be read.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut directories = vec![self.path().to_path_buf()];
        while let Some(directory) = directories.pop() {
            let entries = match fs::read_dir(&directory) {
                // A command that still runs has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.expect("a directory"),
            };
            for entry in entries {
                let path = entry.expect("an entry").path();
                found.push(path.strip_prefix(self.path()).expect("below it").display().to_string());
                if path.is_dir() {
                    directories.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

impl CommandResult {
    /// The result of a command that has ended.
    ///
    /// # Panics
    /// Its output is not text.
    #[must_use]
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Waits until `is_so` holds. A loaded machine may take long.
///
/// # Panics
/// It does not hold after a minute.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{what}: not so after a minute");
}

/// Sets a flag when it is dropped, in a panic too: a thread of a scope that goes on until then would keep a failed test from ending.
#[derive(Debug)]
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A code with its checksum.
pub const CODE: &str = "ehm6-a833-dxj6-a83f-crg7-8sbk-ekms";

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
