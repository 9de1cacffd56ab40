//! Parts shared by the programs of this workspace: `cwnd`, the laboratory, and `udt`, which moves data.
//!
//! A command is a function from its arguments to the text for standard output. Progress, warnings and errors go to standard error.
//! [`program`] reads the words of the command line and ends the process; [`failure`] has the exit codes.

#![deny(clippy::print_stderr, reason = "`say!` does not panic where nobody can read what it says")]

#[macro_use]
pub mod output;

pub mod arguments;
pub mod clock;
pub mod failure;
pub mod impairments;
pub mod program;
pub mod signals;
mod synonyms;
#[cfg(feature = "testing")]
pub mod testing;
pub mod version;
