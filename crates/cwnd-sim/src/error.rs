//! Why a setup cannot be run.

use std::fmt;

use cwnd::Span;
use thiserror::Error;

/// A setup contradicts itself.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SetupError {
    /// Fields contradict each other, or one is outside its range.
    #[error("{part}: {reason}")]
    Field {
        /// The part that has these fields.
        part: SetupPart,
        /// The fault and the accepted values.
        reason: String,
    },
    /// The packets or samples of a run need more memory than it may use.
    #[error("{part}: {}{what} need more than the {} of memory a run may use: {remedy}, or allow more memory", into(*at), size(*most))]
    Memory {
        /// The part with most of them.
        part: SetupPart,
        /// Which of its things those are.
        what: &'static str,
        /// Simulated time, seconds.
        at: f64,
        /// The bound of a run, bytes.
        most: u64,
        /// The remedy.
        remedy: &'static str,
    },
    /// The caller ended the run.
    #[error("interrupted")]
    Interrupted,
    /// A field is outside its range.
    #[error("{part}: `{field}` must be {accepted}")]
    Range {
        /// The part that has this field.
        part: SetupPart,
        /// Its name; with those of the fields around it where it is deeper.
        field: &'static str,
        /// The accepted values.
        accepted: String,
    },
    /// A whole stack has panicked.
    #[error(transparent)]
    Stack(#[from] Box<StackPanic>),
    /// Events follow one another at one instant without end.
    #[error(
        "{part}: time stands still {at:.9} s into the run: {events} events at one instant; give a link on the way a rate or a delay"
    )]
    Stalled {
        /// The flow or link whose event was next.
        part: SetupPart,
        /// Simulated time, seconds.
        at: f64,
        /// The number of events.
        events: u64,
    },
    /// The access lines of a flow are too short for round-trip times that vary: the variation is taken from them.
    #[error(
        "{part}: {access} of its round-trip time of {base_rtt} lie on its access lines: `variation.rtt` takes up to {variation} of all"
    )]
    Access {
        /// The flow or group of arriving flows.
        part: SetupPart,
        /// The round-trip time of its access lines.
        access: Span,
        /// Its round-trip time without queueing.
        base_rtt: Span,
        /// The largest variation, as a share of the round-trip time.
        variation: f64,
    },
    /// A flow's nodes are not connected.
    #[error("{part}: no route from `{from}` to `{to}`")]
    Unreachable {
        /// Which entry of `[[flow]]`, `[[cbr]]` or `[[arrivals]]`.
        part: SetupPart,
        /// One end.
        from: String,
        /// The other end.
        to: String,
    },
}

/// A panic of a whole stack, which ends the run.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{part}: the stack `{stack}` panicked {at:.9} s into the run with seed {seed}: {message}")]
pub struct StackPanic {
    /// The flow.
    pub part: SetupPart,
    /// The name of the stack.
    pub stack: String,
    /// Simulated time, seconds.
    pub at: f64,
    /// The seed of the run, which repeats it.
    pub seed: u64,
    /// The message of the panic.
    pub message: String,
}

/// The part of a setup that an error is about, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupPart {
    /// Traffic without congestion control.
    Cbr(String),
    /// A group of short flows.
    FlowArrivals(String),
    /// A field of the setup itself.
    Field(&'static str),
    /// A flow.
    Flow(String),
    /// A link.
    Link(String),
    /// The setup as a whole.
    Setup,
}

/// When in a run something happened, before what happened; nothing for its beginning.
fn into(at: f64) -> String {
    if at > 0.0 { format!("{at:.3} s into the run ") } else { String::new() }
}

/// An amount of memory: MiB, or bytes where it is not a whole number of them.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

impl fmt::Display for SetupPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cbr(name) => write!(out, "cbr `{name}`"),
            Self::FlowArrivals(name) => write!(out, "arrivals `{name}`"),
            Self::Field(name) => out.write_str(name),
            Self::Flow(name) => write!(out, "flow `{name}`"),
            Self::Link(name) => write!(out, "link `{name}`"),
            Self::Setup => out.write_str("setup"),
        }
    }
}

/// An error about a field of `part` unless `holds`. The accepted values are formatted only for the error, since each flow has a dozen of these checks.
#[inline]
pub(crate) fn in_range(
    holds: bool,
    part: &SetupPart,
    field: &'static str,
    accepted: impl fmt::Display,
) -> Result<(), SetupError> {
    if holds { Ok(()) } else { Err(SetupError::Range { part: part.clone(), field, accepted: accepted.to_string() }) }
}

/// An error about `part` unless `holds`.
pub(crate) fn require(holds: bool, part: &SetupPart, reason: &str) -> Result<(), SetupError> {
    if holds { Ok(()) } else { Err(SetupError::Field { part: part.clone(), reason: reason.to_string() }) }
}
