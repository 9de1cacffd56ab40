//! Every way to be wrong, by kind, with the check of its clause for each sender that it is tried with.

mod growth;
mod loss;
mod timing;
mod unused;

use super::rules::{Base, Rules};
use growth::{CURVE, EPOCH, FRIENDLY, GROWTH, LIMITED, START};
use loss::{CUT, FLOOR, MARKS, RECOVERY, THRESHOLD, UNDO};
use timing::{HYSTART, PACING, RESTART, TIMEOUT};
use unused::UNUSED;

/// A wrong sender is the right one with this change.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The senders, each with the check that must deviate.
    pub(crate) checks: &'static [(Base, &'static str)],
    pub(crate) change: fn(&mut Rules),
}

/// The kinds.
pub(crate) const KINDS: &[(&str, &[Fault])] = &[
    ("start", START),
    ("growth", GROWTH),
    ("curve", CURVE),
    ("epoch", EPOCH),
    ("friendly", FRIENDLY),
    ("cut", CUT),
    ("recovery", RECOVERY),
    ("threshold", THRESHOLD),
    ("floor", FLOOR),
    ("timeout", TIMEOUT),
    ("restart", RESTART),
    ("undo", UNDO),
    ("limited", LIMITED),
    ("unused", UNUSED),
    ("marks", MARKS),
    ("pacing", PACING),
    ("hystart", HYSTART),
];

const fn fault(name: &'static str, checks: &'static [(Base, &'static str)], change: fn(&mut Rules)) -> Fault {
    Fault { name, checks, change }
}
