//! How a file or a folder is finished: it appears complete or not at all. And how one is read that somebody wrote.

mod folder;
mod read;
mod unfinished;
mod whole;

use serde::Serialize;

pub use folder::{Folder, FolderError, fresh};
pub use read::{read_limited, read_text};
pub use unfinished::remove_unfinished;
pub use whole::{write_named, write_whole};

/// A document as JSON text, with a newline at its end.
#[must_use]
pub fn to_json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("keys are text and numbers are plain");
    text.push('\n');
    text
}
