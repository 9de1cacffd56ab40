//! The files of the papers, carried by the program, so that it works from anywhere.

use super::bench::{Bench, Findings};
use super::error::PaperError;

/// The files of one paper, and the runners of its results.
#[derive(Debug)]
pub struct Files {
    /// The paper's id, which is its folder below `papers/`.
    pub id: &'static str,
    /// `published.toml`.
    pub published: &'static str,
    /// The scenarios beside it: name without `.toml`, text.
    pub scenarios: &'static [(&'static str, &'static str)],
    /// What computes a result, by its id. A result without is shown as it is listed.
    pub runners: &'static [(&'static str, Runner)],
}

/// Computes the rows of a result.
pub type Runner = fn(&Bench<'_>) -> Result<Findings, PaperError>;

impl Files {
    /// Where a file of this paper lies in the repository.
    #[must_use]
    pub fn path(&self, file: &str) -> String {
        format!("papers/{}/{file}", self.id)
    }

    /// The scenario called `name`: where it lies, and its text.
    #[must_use]
    pub fn scenario(&self, name: &str) -> Option<(String, &'static str)> {
        let (name, text) = self.scenarios.iter().find(|(known, _)| *known == name)?;
        Some((self.path(&format!("{name}.toml")), text))
    }

    /// The runner of the result `id`.
    #[must_use]
    pub fn runner(&self, id: &str) -> Option<Runner> {
        self.runners.iter().find(|(known, _)| *known == id).map(|(_, runner)| *runner)
    }
}

/// A file below `papers/`, as text.
macro_rules! paper_file {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/", $path))
    };
}
pub(super) use paper_file;
