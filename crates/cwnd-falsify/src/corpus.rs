//! The corpus: a file with the outcomes of a search, from which it continues.
//!
//! The points of a search follow from its settings and from the outcomes before them, so that the file needs the outcomes alone: a head with
//! the settings, and a line for each evaluation. Its words are the evaluation, counted from 1, and the number of the property, `- ` and the
//! reason where the run says nothing, or `error: ` and the reason. The head names the sources, because two trees can have the same version.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use cwnd_run::cells::SOURCES;
use cwnd_run::files::{read_text, write_named};
use cwnd_text::one_line;
use thiserror::Error;

use crate::evaluated::Evaluated;
use crate::refused::short;
use crate::search::Strategy;
use crate::sources::OWN;
use crate::space::Space;

/// The corpus of a search.
#[derive(Clone, Debug)]
pub struct Corpus {
    path: PathBuf,
    head: String,
}

/// Why a corpus cannot be used.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is of other settings or sources.
    #[error("it is the corpus of another search or of other sources: its line {line} is `{found}`, not `{expected}`")]
    Other {
        /// The line, from 1.
        line: usize,
        /// As it is.
        found: String,
        /// As it should be.
        expected: String,
    },
    /// The last line has no end, so that its number may lack digits.
    #[error("line {0} has no end: the file was cut there")]
    Cut(usize),
    /// A line is no outcome.
    #[error("line {line} is no outcome: expected `{evaluation}` and a number, or `-` or `error: ` with a reason")]
    Outcome {
        /// The line, from 1.
        line: usize,
        /// The evaluation that it should have.
        evaluation: usize,
    },
    /// A line is missing, or there twice.
    #[error("line {line} has evaluation {found}, not {evaluation}: lines are missing, double or in another order")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The evaluation that it has.
        found: usize,
        /// The one that it should have.
        evaluation: usize,
    },
}

impl Corpus {
    /// The corpus at `path` of a search with these settings.
    #[must_use]
    pub fn new(path: &Path, space: &Space, strategy: Strategy, seed: u64) -> Self {
        let head = format!(
            "cwnd falsify {OWN:016x} {SOURCES}\nalgorithm {}\nproperty {}\nprofile {}\nsearch {}\nseed {seed}\n",
            one_line(space.algorithm()),
            space.promise(),
            space.profile().name(),
            strategy.name()
        );
        Self { path: path.to_path_buf(), head }
    }

    /// The outcomes in it; none if there is no file, or an empty one.
    ///
    /// # Errors
    /// The file cannot be read, or is no corpus of this search.
    pub fn read(&self, space: &Space) -> Result<Vec<Evaluated>, CorpusError> {
        let text = match read_text(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let mut lines = (1..).zip(text.lines());
        for (nth, expected) in (1..).zip(self.head.lines()) {
            let (line, found) = lines.next().unwrap_or((nth, ""));
            if found != expected {
                let (found, expected) = (short(&one_line(found)), expected.to_string());
                return Err(CorpusError::Other { line, found, expected });
            }
        }
        let outcome = |(evaluation, (line, text)): (usize, (usize, &str))| {
            let no_outcome = || CorpusError::Outcome { line, evaluation };
            let (found, text) = text.split_once(' ').ok_or_else(no_outcome)?;
            let found = found.parse().map_err(|_| no_outcome())?;
            if found != evaluation {
                return Err(CorpusError::Order { line, found, evaluation });
            }
            Evaluated::read(text, space.promise()).ok_or_else(no_outcome)
        };
        let outcomes = (1..).zip(lines).map(outcome).collect::<Result<Vec<Evaluated>, CorpusError>>()?;
        if text.ends_with('\n') { Ok(outcomes) } else { Err(CorpusError::Cut(text.lines().count())) }
    }

    /// Writes the outcomes; the file is there whole or as it was.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, outcomes: &[Evaluated]) -> io::Result<()> {
        let mut text = self.head.clone();
        for (evaluation, outcome) in (1..).zip(outcomes) {
            let _ = writeln!(text, "{evaluation} {}", outcome.words());
        }
        write_named(&self.path, text.as_bytes())
    }
}
