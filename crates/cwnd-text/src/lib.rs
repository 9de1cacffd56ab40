//! Text that others have chosen, as terminals and spreadsheets can show it.
//!
//! Names of files and flows, titles, and messages of another host come from strangers. Written to a terminal as they are, they could move
//! the cursor, begin lines that look like the program's, or reverse what follows; in a spreadsheet they could be formulas.
//! [`Printable`] shows a name, [`one_line`] and [`lines`] show sentences of this program with such names inside, and [`cell()`] is a name
//! in CSV. [`counted`] and [`counted_with`] put a number and its noun together, [`decimal()`] and [`size`] write numbers so that none but zero reads as zero.
//! These functions write for people: documents for programs (JSON) keep names as they are.

mod capitalised;
mod cell;
mod count;
mod decimal;
mod message;
mod printable;

pub use capitalised::capitalised;
pub use cell::cell;
pub use count::{counted, counted_with};
pub use decimal::{decimal, size};
pub use message::{lines, one_line};
pub use printable::Printable;
