//! The files of the papers, carried by the program, so that it works from anywhere.

/// The files of one paper.
#[derive(Debug)]
pub(crate) struct Files {
    /// The directory below `papers/`.
    pub(super) id: &'static str,
    /// `published.toml`.
    pub(super) published: &'static str,
    /// The scenarios in its directory: name without `.toml`, text.
    pub(super) scenarios: &'static [(&'static str, &'static str)],
}

impl Files {
    /// The scenario called `name`: where it lies in the repository, and its text.
    pub(super) fn scenario(&self, name: &str) -> Option<(String, &'static str)> {
        let (name, text) = self.scenarios.iter().find(|(known, _)| *known == name)?;
        Some((self.path(&format!("{name}.toml")), text))
    }

    pub(super) fn path(&self, file: &str) -> String {
        format!("papers/{}/{file}", self.id)
    }
}

/// A file below `papers/`, as text.
macro_rules! paper_file {
    ($($path:literal),+) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/", $($path),+))
    };
}

/// The [`Files`] of a paper by its id and the names of its scenarios.
macro_rules! paper_files {
    ($id:literal: $($scenario:literal),+ $(,)?) => {
        $crate::files::Files {
            id: $id,
            published: $crate::files::paper_file!($id, "/published.toml"),
            scenarios: &[$(($scenario, $crate::files::paper_file!($id, "/", $scenario, ".toml"))),+],
        }
    };
}
pub(crate) use {paper_file, paper_files};
