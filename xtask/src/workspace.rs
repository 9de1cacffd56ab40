//! The repository, and running programs in it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The repository this program was built from.
    pub(crate) fn here() -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: own.parent().expect("xtask lies directly in the repository").to_owned() }
    }

    /// A path in the repository.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The folder for what tasks leave behind.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.target().join("xtask")
    }

    /// A program of the workspace, where cargo leaves it when tests are built.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.target().join("debug").join(name)
    }

    /// The folder cargo builds in.
    pub(crate) fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), PathBuf::from)
    }

    /// Builds the programs unoptimised, with the features that the tests turn on, so that a whole run compiles each crate once: what tests
    /// depend on counts where examples are built.
    pub(crate) fn build(&self) -> Result<(), String> {
        run(self.cargo(&["build", "--bins", "--examples"]).args(TESTED))
    }

    /// A cargo command in the repository, of the toolchain that runs this program.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(arguments);
        command
    }
}

/// What the step `tests` compiles: all but benchmarks, and what brings Arrow, which steps of their own compile.
pub(crate) const TESTED: [&str; 9] = [
    "--workspace",
    "--exclude",
    "cwnd-benches",
    "--exclude",
    "cwnd-parquet",
    "--exclude",
    "cwnd-py",
    OPTIONAL[0],
    OPTIONAL[1],
];

/// What no other crate of the workspace turns on, and is to be looked at all the same.
pub(crate) const OPTIONAL: [&str; 2] = ["--features", "cwnd-net/tokio"];

/// Shows a command and runs it.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    println!("$ {}", shown(command));
    let status = command.status().map_err(|error| format!("`{}` did not start: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", shown(command))) }
}

/// A command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
