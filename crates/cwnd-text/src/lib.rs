//! Text of others, read within limits and shown safely, and text for people and programs.
//!
//! Names of files and flows, titles, and messages of another host come from strangers. Written to a terminal as they are, they could move
//! the cursor, begin lines that look like the program's, or reverse what follows; in a spreadsheet they could be formulas.
//! [`Printable`] shows a name, [`one_line`] and [`lines`] show sentences of this program with such names inside, and [`cell()`] is a name
//! in CSV. [`counted`] and [`counted_with`] put a number and its noun together, [`decimal()`] and [`size`] write numbers so that none but zero reads as zero.
//! [`exact`] writes a number that is read again.
//! These functions write for people: documents for programs keep names as they are, and [`to_json`] writes them. [`read_limited`] and
//! [`read_text`] read files that people name. [`VERSION`] is that of the programs.

mod capitalised;
mod cell;
mod count;
mod decimal;
mod json;
mod message;
mod printable;
mod read;

pub use capitalised::capitalised;
pub use cell::cell;
pub use count::{counted, counted_with};
pub use decimal::{decimal, exact, size};
pub use json::to_json;
pub use message::{lines, one_line};
pub use printable::Printable;
pub use read::{read_limited, read_text};

/// The version, with the revision of the sources where it was built in a repository.
pub const VERSION: &str = env!("CWND_VERSION");

/// The program that wrote a file, as formats of other tools name it.
pub const PROGRAM: &str = concat!("cwnd ", env!("CWND_VERSION"));
