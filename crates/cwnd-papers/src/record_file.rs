//! Files of the repository that `cargo xtask papers record` writes, and that are compiled in.

use serde::Serialize;
use serde::de::DeserializeOwned;

use cwnd_run::scenario::{ScenarioError, Source};

/// The content of one of the files.
pub trait RecordFile: DeserializeOwned + Serialize {
    /// Where it lies in the repository.
    const NAME: &'static str;
    /// The text of the file when this program was built.
    const TEXT: &'static str;
    /// The comment that it begins with.
    const HEAD: &'static str;

    /// The records.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn recorded() -> Result<Self, ScenarioError> {
        Self::read(Self::NAME, Self::TEXT)
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// `text` is no TOML, or a key or value is none that is recorded: the first place, with its line.
    fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        Source::read(name, text, &[])?.document()
    }

    /// The file as text.
    fn to_toml(&self) -> String {
        format!("{}\n{}", Self::HEAD, toml::to_string(self).expect("words and numbers"))
    }
}
