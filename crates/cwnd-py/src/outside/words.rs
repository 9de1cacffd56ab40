//! Python's names of the values of enumerations.

use cwnd::{Cause, Limit};

pub(super) fn held_by(limit: Limit) -> &'static str {
    match limit {
        Limit::Window => "window",
        Limit::Rate => "rate",
        Limit::Source => "source",
        Limit::Peer => "peer",
    }
}

pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Mark => "mark",
        Cause::Delay => "delay",
        Cause::Timeout => "timeout",
    }
}
