//! Why a setup cannot be run.

use thiserror::Error;

/// A setup contradicts itself.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SetupError {
    /// A field is outside its range.
    #[error("{place}: {reason}")]
    Field {
        /// Which link, flow, cbr, crowd or field.
        place: String,
        /// What is wrong, and what is accepted.
        reason: String,
    },
    /// The caller ended the run.
    #[error("interrupted")]
    Interrupted,
    /// A flow's nodes are not connected.
    #[error("{kind} `{flow}`: no route from `{from}` to `{to}`")]
    Unreachable {
        /// `flow`, `cbr` or `crowd`.
        kind: &'static str,
        /// Its name.
        flow: String,
        /// One end.
        from: String,
        /// The other end.
        to: String,
    },
}

/// An error at `place` unless `holds`.
pub(crate) fn require(holds: bool, place: &str, reason: &str) -> Result<(), SetupError> {
    if holds { Ok(()) } else { Err(SetupError::Field { place: place.to_string(), reason: reason.to_string() }) }
}
