//! The real binary, from its arguments to its output, exit code and files.

mod attacks;
mod doctor;
mod documents;
mod endings;
mod errors;
mod flags;
mod inputs;
mod meet;
mod secure;
mod started;
mod transfer;

use std::ops::Deref;

use cwnd_terminal::testing::{CODE, CommandResult, Place, SIGNALS, SetOnDrop, is_ignored, root, wait_until};

/// `udt` in a directory of its own.
struct Udt(Place);

impl Udt {
    fn new() -> Self {
        Self(Place::new(env!("CARGO_BIN_EXE_udt")))
    }
}

impl Deref for Udt {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}
