//! The Python package: built as a wheel, installed where nothing else is, and tested as people get it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::licences::{Licences, PYTHON};
use crate::workspace::{Workspace, output, run};

/// Builds the wheel, installs it into a fresh virtual environment, and runs linter, type checkers, tests and examples there; the
/// documentation is tested and built, which runs the notebooks and draws the gallery.
pub(crate) fn test(workspace: &Workspace) -> Result<(), String> {
    let scratch = workspace.scratch().join("python");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let environment = Environment { directory: scratch.join("venv"), beside: scratch.clone() };
    let sources = workspace.path("python");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment.directory))?;
    environment.pip(&["install", MATURIN])?;
    // Every wheel and source distribution takes it.
    let licences = sources.join("LICENSE-THIRD-PARTY");
    let text = Licences::of(workspace, PYTHON)?.text;
    fs::write(&licences, text).map_err(|error| format!("{}: {error}", licences.display()))?;
    let wheel = environment.wheel(workspace, &scratch.join("wheels"))?;
    environment.check_sources(workspace, &scratch.join("sources"))?;
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
        self.packed(workspace, &["build", "--profile", "dev", "--locked", "--features", "tested"], directory)
    }

    /// Whether the source distribution has all files of the repository that the wheel was compiled from, by the list that cargo leaves
    /// next to the library.
    fn check_sources(&self, workspace: &Workspace, directory: &Path) -> Result<(), String> {
        let archive = self.packed(workspace, &["sdist"], directory)?;
        let packed = output(Command::new("tar").arg("--list").arg("--file").arg(&archive))?;
        let list = workspace.target().join("debug/lib_native.d");
        let compiled = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        let root = workspace.path(".").canonicalize().map_err(|error| error.to_string())?;
        let mut missing = missing(&compiled, &root, &packed);
        missing.extend(without_licences(&packed));
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("{} lacks {}: name them in python/pyproject.toml", archive.display(), missing.join(", ")))
    }

    /// What maturin leaves in `directory`, which is empty before.
    fn packed(&self, workspace: &Workspace, words: &[&str], directory: &Path) -> Result<PathBuf, String> {
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        }
        let mut pack = self.command("maturin");
        run(pack.current_dir(workspace.path("python")).args(words).arg("--out").arg(directory))?;
        let mut left = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let file = left.next().and_then(Result::ok).map(|entry| entry.path());
        file.ok_or_else(|| format!("{}: maturin left nothing", directory.display()))
    }
}

/// The files below `root` in a list of cargo's (`library: file file …`) that are not among those of an archive, which are in one directory.
/// Those of `.git` do not count: a build script watches them for the revision, and builds without them.
fn missing(compiled: &str, root: &Path, packed: &str) -> Vec<String> {
    let packed: Vec<&str> = packed.lines().filter_map(|path| Some(path.split_once('/')?.1)).collect();
    let files = compiled.lines().filter_map(|line| line.split_once(": ")).flat_map(|(_, files)| files.split(' '));
    let below = files.filter_map(|file| {
        let path = Path::new(file).canonicalize().ok().filter(|path| path.is_file())?;
        path.strip_prefix(root).ok().filter(|path| !path.starts_with(".git")).map(|path| path.display().to_string())
    });
    let mut missing: Vec<String> = below.filter(|path| !packed.contains(&path.as_str())).collect();
    missing.sort();
    missing.dedup();
    missing
}

/// The file with the licences of crates, if an archive lacks it.
fn without_licences(packed: &str) -> Option<String> {
    let has = packed.lines().any(|path| path.ends_with("/LICENSE-THIRD-PARTY"));
    (!has).then(|| "python/LICENSE-THIRD-PARTY".to_owned())
}

/// Builds wheels of Rust; pyproject.toml asks for the same.
const MATURIN: &str = "maturin>=1.9,<2";

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with a source, a file that it includes, and a repository.
    fn repository() -> PathBuf {
        let directory = std::env::temp_dir().join(format!("xtask-sources-{}", std::process::id()));
        for file in ["src/lib.rs", "bands.toml", ".git/HEAD"] {
            let path = directory.join(file);
            fs::create_dir_all(path.parent().expect("a directory"))
                .and_then(|()| fs::write(&path, ""))
                .expect("writable");
        }
        directory.canonicalize().expect("it was made")
    }

    #[test]
    fn a_file_that_is_compiled_must_be_packed() {
        let root = repository();
        let at = root.display();
        let compiled =
            format!("/lib.so: {at}/src/../bands.toml {at}/src/lib.rs {at}/src {at}/.git/HEAD /etc/hostname\n");
        let packed = "cwnd-0.1.0/src/lib.rs\ncwnd-0.1.0/PKG-INFO\n";
        assert_eq!(missing(&compiled, &root, packed), ["bands.toml"]);
        assert!(missing(&compiled, &root, &format!("{packed}cwnd-0.1.0/bands.toml\n")).is_empty());
        assert_eq!(without_licences(packed).as_deref(), Some("python/LICENSE-THIRD-PARTY"));
        assert_eq!(without_licences("cwnd-0.1.0/LICENSE-THIRD-PARTY\n"), None);
        fs::remove_dir_all(root).expect("it is ours");
    }
}
