//! How a file or a directory is finished: it appears complete or not at all.

mod directory;
mod unfinished;
mod whole;

pub use cwnd_text::{read_limited, read_text, to_json};
pub use directory::{Directory, DirectoryError, fresh};
pub use unfinished::remove_unfinished;
pub use whole::{write_named, write_whole};
