//! The Python package: built as a wheel, installed where nothing else is, and tested as people get it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::workspace::{Workspace, run};

/// Builds the wheel, installs it into a fresh virtual environment, and runs linter, type checkers, tests and examples there; the
/// documentation is tested and built, which runs the notebooks and draws the gallery.
pub(crate) fn test(workspace: &Workspace) -> Result<(), String> {
    let scratch = workspace.scratch().join("python");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let environment = Environment { directory: scratch.join("venv"), beside: scratch.clone() };
    let sources = workspace.path("python");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment.directory))?;
    environment.pip(&["install", MATURIN])?;
    let wheel = environment.wheel(workspace, &scratch.join("wheels"))?;
    // Most dependencies of the tests are never imported.
    environment.pip(&["install", "--no-compile", &format!("{}[test]", wheel.display())])?;

    // Some tests compare with the command.
    workspace.build()?;
    // Each of both uses one processor, and they take about as long.
    thread::scope(|scope| {
        let checks = scope
            .spawn(|| environment.document(&sources, &scratch.join("docs")).and(environment.check_stubs(&sources)));
        let tests = environment.test(&sources, &workspace.program("cwnd")).and(environment.lint(&sources));
        checks.join().map_err(|_| "the checks of Python panicked".to_owned())?.and(tests)
    })
}

/// Builds the pages into `directory` with the environment that `cargo xtask test python` leaves; false where there is none.
pub(crate) fn pages(workspace: &Workspace, directory: &Path) -> Result<bool, String> {
    let scratch = workspace.scratch().join("python");
    let environment = Environment { directory: scratch.join("venv"), beside: scratch };
    if !environment.directory.join("bin/sphinx-build").is_file() {
        return Ok(false);
    }
    environment.document(&workspace.path("python"), directory)?;
    Ok(true)
}

/// A virtual environment. Its programs run outside of the source directory, where they would import the sources instead of the wheel.
struct Environment {
    directory: PathBuf,
    beside: PathBuf,
}

impl Environment {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.directory.join("bin").join(program));
        command.current_dir(&self.beside);
        command
    }

    /// Linter, formatter and types.
    fn lint(&self, sources: &Path) -> Result<(), String> {
        run(self.command("ruff").arg("check").arg(sources))?;
        run(self.command("ruff").args(["format", "--check"]).arg(sources))?;
        let settings = sources.join("pyproject.toml");
        let checked = ["tests", "examples", "benchmarks"].map(|directory| sources.join(directory));
        run(self.command("mypy").arg("--config-file").arg(&settings))?;
        run(self.command("mypy").arg("--config-file").arg(&settings).args(checked))
    }

    /// Whether the types of what Rust provides are those that the stubs say.
    fn check_stubs(&self, sources: &Path) -> Result<(), String> {
        run(self.command("stubtest").arg("cwnd").arg("--mypy-config-file").arg(sources.join("pyproject.toml")))
    }

    /// Writes the pages, which runs the notebooks and draws the gallery.
    fn document(&self, sources: &Path, pages: &Path) -> Result<(), String> {
        let mut build = self.command("sphinx-build");
        build.args(["--quiet", "--fail-on-warning", "--fresh-env"]).arg(sources.join("docs"));
        run(build.arg(pages))
    }

    /// The tests, some of which compare with the command `cwnd`.
    fn test(&self, sources: &Path, cwnd: &Path) -> Result<(), String> {
        let mut tests = self.command("pytest");
        tests.env("CWND_COMMAND", cwnd).env("MPLBACKEND", "Agg");
        tests.arg("--config-file").arg(sources.join("pyproject.toml"));
        tests.arg("--doctest-modules").args(["tests", "README.md", "docs"].map(|beside| sources.join(beside)));
        run(tests.args(["--pyargs", "cwnd"]))
    }

    fn pip(&self, arguments: &[&str]) -> Result<(), String> {
        run(self.command("pip").args(["--quiet", "--disable-pip-version-check"]).args(arguments))
    }

    /// The wheel in `directory`, built anew. The profile is that of all tests: optimised enough, with overflow checks, and most of it
    /// is built by then.
    fn wheel(&self, workspace: &Workspace, directory: &Path) -> Result<PathBuf, String> {
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        }
        let mut build = self.command("maturin");
        build
            .current_dir(workspace.path("python"))
            .args(["build", "--profile", "dev", "--locked", "--out"])
            .arg(directory);
        run(&mut build)?;
        let mut built = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let wheel = built.next().and_then(Result::ok).map(|entry| entry.path());
        wheel.ok_or_else(|| format!("{}: maturin left no wheel", directory.display()))
    }
}

/// Builds wheels of Rust; pyproject.toml asks for the same.
const MATURIN: &str = "maturin>=1.9,<2";
