//! The directories of results.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_run::files::{Directory, fresh};

use crate::clock;
use crate::failure::Failure;
use cwnd_text::one_line;

/// The options for results.
#[derive(Args, Debug)]
pub(crate) struct Results {
    /// Print one JSON document and nothing else; write no files unless --out is given
    #[arg(long)]
    pub(crate) json: bool,
    /// A new directory for report.html, summary.json and the traces [default: out/COMMAND-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

impl Results {
    /// The option that prevents a page.
    pub(crate) fn without_page(&self) -> Option<&'static str> {
        (self.json && self.out.is_none()).then_some("--json")
    }

    /// Starts the directory of results, if one is wanted. Done before the work, so that it fails early.
    pub(crate) fn directory(&self, command: &str) -> Result<Option<Directory>, Failure> {
        directory(self.out.as_deref(), command, !self.json)
    }
}

/// Starts the directory `out`; where none was given, one below out/ that is named after `command` if files are `wanted`.
pub(crate) fn directory(out: Option<&Path>, command: &str, wanted: bool) -> Result<Option<Directory>, Failure> {
    let path = match out {
        Some(path) => path.to_path_buf(),
        None if wanted => fresh(Path::new("out"), &format!("{command}-{}", clock::today())),
        None => return Ok(None),
    };
    Ok(Some(Directory::start(&path)?))
}

/// The command line that repeats this run.
pub(crate) fn command() -> String {
    words().collect::<Vec<_>>().join(" ")
}

/// The words of [`command`], quoted. Those for the directory of results are left out: it exists by now.
pub(crate) fn words() -> impl Iterator<Item = String> {
    let quoted =
        |argument: String| match argument.contains(|c: char| c.is_whitespace() || "\"'$&|;<>()*?`\\".contains(c)) {
            true => format!("'{}'", argument.replace('\'', r"'\''")),
            false => argument,
        };
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let kept = arguments.scan(false, |names_directory, argument| {
        let (skipped, next) = (*names_directory || argument.starts_with("--out="), argument == "--out");
        *names_directory = next && !skipped;
        Some((!skipped && !next).then_some(argument))
    });
    std::iter::once("cwnd".to_string()).chain(kept.flatten().map(quoted))
}

/// Fills the directory, moves it to its place, and prints the path.
pub(crate) fn publish(directory: Directory, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<PathBuf, Failure> {
    write(directory.path()).map_err(|error| Failure::run(format!("cannot write the results: {error}")))?;
    let path = directory.publish().map_err(|error| Failure::run(error.to_string()))?;
    say!("wrote {}", one_line(&path.display().to_string()));
    Ok(path)
}

/// The failure of a named file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot read `{}`: {error}", one_line(&path.display().to_string())))
}
