//! Runs of the Linux kernel beside simulated ones.
//!
//! [`import`] reads what the kernel says of its connections: the trace point `tcp:tcp_probe`, as ftrace, trace-cmd and perf print
//! it, or repeated outputs of `ss -ti`. [`overlay`] puts those flows into the trace of a simulated run, so that everything that
//! shows or measures a trace does so with both. What the kernel does not report stays unknown.

mod merge;
mod probe;
mod sockets;

use thiserror::Error;

pub use merge::{memory, overlay};

/// A connection of a kernel, seen at its sender.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelFlow {
    /// Its two addresses with ports.
    pub name: String,
    /// Its congestion control, where the source reports it.
    pub algorithm: Option<String>,
    /// Payload bytes of a segment.
    pub mss: u32,
    /// What was seen, by time.
    pub samples: Vec<Sample>,
}

/// A connection at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Nanoseconds on the clock of the source.
    pub at: u64,
    /// The congestion window, segments.
    pub window: f64,
    /// The slow-start threshold, segments; not a number while there is none.
    pub threshold: f64,
    /// Smoothed round-trip time, seconds.
    pub srtt: f64,
    /// Payload bytes acknowledged since the first sample.
    pub acked: u64,
    /// Segments sent and not acknowledged.
    pub in_flight: u64,
    /// Segments sent again so far, where the source reports it.
    pub retransmitted: Option<u64>,
    /// Bits per second it is paced at; not a number where unknown.
    pub pacing: f64,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Its connections, at most [`MOST_FLOWS`].
    pub flows: Vec<KernelFlow>,
    /// How many connections with fewer bytes than those are left out.
    pub left_out: usize,
}

/// A file cannot be read as what a kernel says.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}{}: {fault}", .line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct ImportError {
    /// Its name.
    pub file: String,
    /// Where, from 1; none for the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub fault: ImportFault,
}

/// What is wrong with it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ImportFault {
    /// No connection sent anything.
    #[error("no connection in it has data acknowledged")]
    Empty,
    /// A field that every line of its kind has.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field that is no number, or too large a one.
    #[error("`{field}` cannot be `{given}`")]
    Number {
        /// Its name.
        field: &'static str,
        /// What stands there.
        given: String,
    },
    /// A time that cannot be read.
    #[error("`{0}` is no time: seconds with a decimal point are expected")]
    Time(String),
    /// A socket without a time.
    #[error("a socket before any time; write one in front of each output, as in `date +%s.%N; ss -tin`")]
    Undated,
    /// Something else.
    #[error("neither events of tcp:tcp_probe nor outputs of `ss -ti` are in it")]
    Unknown,
}

/// Reads the flows of a file called `file`; segments have `mss` bytes where the source does not report it.
///
/// Connections with less than 1 % of the bytes of the busiest one are dropped: they are receivers, or only control. Of the
/// others the [`MOST_FLOWS`] with the most bytes are taken, because a trace has a value of every flow at every instant.
///
/// # Errors
/// `text` has neither of the known formats, a line has a field that cannot be read, or no connection has samples.
pub fn import(file: &str, text: &str, mss: u32) -> Result<Recording, ImportError> {
    let error = |(line, fault)| ImportError { file: file.to_string(), line, fault };
    let numbered = text.lines().zip(1..);
    let (first_probe, first_socket) = (text.find(probe::MARK), text.find(sockets::MARK));
    let flows = match (first_probe, first_socket) {
        (Some(_), _) => probe::read(numbered, mss),
        (None, Some(_)) => sockets::read(numbered, mss),
        (None, None) => return Err(error((None, ImportFault::Unknown))),
    };
    let mut flows = flows.map_err(|(line, fault)| error((Some(line), fault)))?;
    let acked = |flow: &KernelFlow| flow.samples.last().map_or(0, |sample| sample.acked);
    let busiest = flows.iter().map(acked).max().unwrap_or(0);
    flows.retain(|flow| acked(flow) > busiest / LITTLE);
    let left_out = flows.len().saturating_sub(MOST_FLOWS);
    if left_out > 0 {
        let mut busy: Vec<u64> = flows.iter().map(acked).collect();
        let (_, least, _) = busy.select_nth_unstable(left_out);
        let least = *least;
        // Of those with as many bytes as the least busy one, the first.
        let mut ties = MOST_FLOWS - flows.iter().filter(|flow| acked(flow) > least).count();
        flows.retain(|flow| acked(flow) > least || acked(flow) == least && take_one(&mut ties));
    }
    if flows.is_empty() { Err(error((None, ImportFault::Empty))) } else { Ok(Recording { flows, left_out }) }
}

/// Takes one of what is left, if there is one.
fn take_one(left: &mut usize) -> bool {
    let some = *left > 0;
    *left -= usize::from(some);
    some
}

/// A fault with its line.
type Located = (usize, ImportFault);

/// Seconds with a decimal point, as nanoseconds; digits beyond are cut.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let nine: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nine.parse().ok()?)
}

/// The share of the busiest connection's bytes below which another one is not worth a curve.
const LITTLE: u64 = 100;

/// The connections that are taken of a file: more than a plot can tell apart.
pub const MOST_FLOWS: usize = 64;

#[cfg(test)]
mod tests;
