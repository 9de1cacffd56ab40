//! A paper with the functions that compute its results.

use super::bench::Bench;
use super::error::Result;
use super::files::Files;
use super::findings::Findings;
use super::published::Published;
use cwnd_run::scenario::ScenarioError;

/// The files of one paper, and the runners of its results.
#[derive(Debug)]
pub struct Reproduction {
    pub(crate) files: Files,
    /// The function that computes a result, by its id. A result without one is shown as it is listed.
    pub(crate) runners: &'static [(&'static str, Runner)],
}

/// Computes the rows of a result.
pub(crate) type Runner = fn(&Bench<'_>, &mut Findings) -> Result;

impl Reproduction {
    /// The paper's id, which is its directory below `papers/`.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.files.id
    }

    /// The published tables of the paper.
    ///
    /// # Errors
    /// `published.toml` is no TOML, has an unknown key, or a row contradicts itself: the first place.
    pub fn published(&self) -> Result<Published, ScenarioError> {
        Published::read(&self.files.path("published.toml"), self.files.published)
    }

    /// The scenario called `name`: where it lies in the repository, and its text.
    #[must_use]
    pub fn scenario(&self, name: &str) -> Option<(String, &'static str)> {
        self.files.scenario(name)
    }

    /// The runner of the result `id`.
    pub(crate) fn runner(&self, id: &str) -> Option<Runner> {
        self.runners.iter().find(|(known, _)| *known == id).map(|(_, runner)| *runner)
    }
}
