//! Overlays of runs: simulated ones, stored ones, and recordings by other programs.
//!
//! [`recognise`] determines the format of a file from its content. [`import`] reads recordings: the connections of the Linux kernel (the
//! trace point `tcp:tcp_probe` as ftrace, trace-cmd and perf print it, or repeated outputs of `ss -ti`), qlog of any stack, and captures at
//! a sender. [`stored()`] reads traces that this program wrote. A [`Reader`] reads files and directories of any kind, and [`lay`] makes a
//! [`Part`] of each, on the common time and with a [`Trace`] for everything that shares its instants. Values that a source does not report
//! stay unknown.

mod capture;
mod connection;
mod input;
mod offset;
mod part;
mod probe;
mod qlog;
mod sockets;
mod stored;

use cwnd_trace::Trace;
use thiserror::Error;

pub use input::{Input, InputError, Reader, lay};
pub use offset::Offset;
pub use part::{Part, labels};
pub use stored::stored;

/// A connection as it was recorded at its sender.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFlow {
    /// Its two addresses with ports, or the name that the recording has for it.
    pub name: String,
    /// Its congestion control, where the source reports it.
    pub algorithm: Option<String>,
    /// Payload bytes of a segment.
    pub mss: u32,
    /// The samples, by time.
    pub samples: Vec<Sample>,
}

/// A connection at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Nanoseconds on the clock of the source.
    pub at: u64,
    /// The congestion window, segments; not a number where the source does not report it.
    pub window: f64,
    /// The slow-start threshold, segments; not a number while there is none.
    pub threshold: f64,
    /// Smoothed round-trip time, seconds.
    pub srtt: f64,
    /// Payload bytes acknowledged since the first sample.
    pub acked: u64,
    /// Segments sent and not acknowledged.
    pub in_flight: u64,
    /// Segments sent again so far, or found lost, where the source reports it.
    pub retransmitted: Option<u64>,
    /// Bits per second it is paced at; not a number where unknown.
    pub pacing: f64,
}

/// The content of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Its connections, at most [`MOST_FLOWS`].
    pub flows: Vec<RecordedFlow>,
    /// How many connections with fewer bytes than those are left out.
    pub left_out: usize,
    /// The line, from 1, within which the file ends; the lines before it were read.
    pub cut: Option<usize>,
}

/// Where numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A run of the simulator.
    Simulated,
    /// The connections that a kernel reports.
    Kernel,
    /// A log of a stack's events.
    Qlog,
    /// Packets captured at a sender.
    Capture,
}

impl Source {
    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Kernel => "kernel",
            Self::Qlog => "qlog",
            Self::Capture => "capture",
        }
    }
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A scenario, to be run.
    Scenario,
    /// The traces of flows that a run left: `traces/NAME.flows.csv`.
    Stored,
    /// A recording, for [`import`].
    Recorded(Source),
}

/// Determines the kind of a file from its content; none if no overlay can contain it.
#[must_use]
pub fn recognise(bytes: &[u8]) -> Option<Content> {
    if capture::is_capture(bytes) {
        return Some(Content::Recorded(Source::Capture));
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if bytes.starts_with(stored::MARK.as_bytes()) {
        return Some(Content::Stored);
    }
    let begins_json = matches!(head.trim_ascii_start().first(), Some(b'{' | &qlog::SEPARATOR));
    if begins_json && qlog::MARKS.iter().any(|mark| contains(head, mark)) {
        return Some(Content::Recorded(Source::Qlog));
    }
    if contains(bytes, probe::MARK) || contains(bytes, sockets::MARK) {
        return Some(Content::Recorded(Source::Kernel));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let has_table = text.lines().any(|line| line.trim_start().starts_with("[[") || line.trim() == "[dumbbell]");
    (has_table || toml::from_str::<toml::Table>(text).is_ok_and(|table| !table.is_empty())).then_some(Content::Scenario)
}

fn contains(bytes: &[u8], mark: &str) -> bool {
    bytes.windows(mark.len()).any(|part| part == mark.as_bytes())
}

/// A file cannot be read in its recognised format.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{file}{}: {fault}", .line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct ImportError {
    /// Its name.
    pub file: String,
    /// Where, from 1; none for the file as a whole.
    pub line: Option<usize>,
    /// The fault.
    pub fault: ImportFault,
}

/// The fault of a file.
#[derive(Clone, Debug, Error, PartialEq)]
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
        /// The text in the file.
        given: String,
    },
    /// A number that no connection can have.
    #[error("{what} of {given} at {at_s} s of `{flow}`: accepted is 0 to {most:e}")]
    Range {
        /// The kind of number.
        what: &'static str,
        /// The number in the file.
        given: f64,
        /// When, seconds on the clock of the source.
        at_s: f64,
        /// The name of the connection.
        flow: String,
        /// The largest that is accepted.
        most: f64,
    },
    /// A time that cannot be read.
    #[error("`{0}` is no time: seconds with a decimal point are expected")]
    Time(String),
    /// A socket without a time.
    #[error("a socket before any time; write one in front of each output, as in `date +%s.%N; ss -tin`")]
    Undated,
    /// A record of qlog that is no JSON of its kind.
    #[error("no event of qlog 0.3 or later: {0}")]
    Json(String),
    /// A capture that ends within its head.
    #[error("the capture ends within its head")]
    Truncated,
    /// A block of pcapng with an impossible length.
    #[error("the block at byte {at} cannot have {length} bytes")]
    Block {
        /// Where it begins.
        at: usize,
        /// The length in the file.
        length: u32,
    },
    /// Something else.
    #[error("{RECOGNISED}")]
    Unknown,
}

/// The message about the kinds of files that [`recognise`] knows.
const RECOGNISED: &str = "it is none of what can be laid over a run: a scenario (TOML), the traces of flows of `cwnd run` (CSV that \
                          begins with `seed,time_s,flow,algorithm`), events of tcp:tcp_probe, outputs of `ss -ti`, qlog, pcap or pcapng";

/// Reads the flows of a recording called `file`; segments have `mss` bytes where the source does not report it.
///
/// Connections with less than 1 % of the bytes of the busiest one are dropped: they are receivers, or only control. Of the
/// others the [`MOST_FLOWS`] with the most bytes are taken. Some stacks write no acknowledgements into their qlog: where no connection of a
/// log has any, those with a window are taken.
///
/// # Errors
/// `bytes` is no recording, a line has a field that cannot be read, a number is out of its range, or no connection has samples.
pub fn import(file: &str, bytes: &[u8], mss: u32) -> Result<Recording, ImportError> {
    let error = |(line, fault)| ImportError { file: file.to_string(), line, fault };
    let Some(Content::Recorded(source)) = recognise(bytes) else { return Err(error((None, ImportFault::Unknown))) };
    let whole = |flows: Vec<RecordedFlow>| (flows, None);
    let read = match source {
        Source::Capture => capture::read(bytes, mss).map(whole).map_err(|fault| error((None, fault))),
        Source::Qlog => qlog::read(bytes, mss).map_err(|(line, fault)| error((Some(line), fault))),
        Source::Kernel | Source::Simulated => {
            // Names of processes may be anything; the fields that are read are ASCII.
            let text = String::from_utf8_lossy(bytes);
            let numbered = text.lines().zip(1..);
            let read = match text.contains(probe::MARK) {
                true => probe::read(numbered, mss),
                false => sockets::read(numbered, mss),
            };
            read.map(whole).map_err(|(line, fault)| error((Some(line), fault)))
        }
    };
    let (mut flows, cut) = read?;
    flows.iter_mut().try_for_each(in_order).map_err(|fault| error((None, fault)))?;
    let acked = |flow: &RecordedFlow| flow.samples.last().map_or(0, |sample| sample.acked);
    let busiest = flows.iter().map(acked).max().unwrap_or(0);
    let has_window = |flow: &RecordedFlow| flow.samples.iter().any(|sample| sample.window.is_finite());
    if source == Source::Qlog && busiest == 0 {
        flows.retain(has_window);
    } else {
        flows.retain(|flow| acked(flow) > busiest / LITTLE);
    }
    let left_out = flows.len().saturating_sub(MOST_FLOWS);
    if left_out > 0 {
        let mut busy: Vec<u64> = flows.iter().map(acked).collect();
        let (_, least, _) = busy.select_nth_unstable(left_out);
        let least = *least;
        // Of those with as many bytes as the least busy one, the first.
        let mut ties = MOST_FLOWS - flows.iter().filter(|flow| acked(flow) > least).count();
        flows.retain(|flow| acked(flow) > least || acked(flow) == least && take_one(&mut ties));
    }
    if flows.is_empty() { Err(error((None, ImportFault::Empty))) } else { Ok(Recording { flows, left_out, cut }) }
}

/// Puts samples in the order of time, in which counts only rise, and refuses numbers that no connection can have.
fn in_order(flow: &mut RecordedFlow) -> Result<(), ImportFault> {
    flow.samples.sort_by_key(|sample| sample.at);
    let (mut acked, mut retransmitted) = (0, None);
    for sample in &mut flow.samples {
        acked = sample.acked.max(acked);
        retransmitted = sample.retransmitted.max(retransmitted);
        (sample.acked, sample.retransmitted) = (acked, sample.retransmitted.and(retransmitted));
        // Kernels have the largest number there is for no threshold.
        if sample.threshold > MOST_PACKETS {
            sample.threshold = f64::NAN;
        }
        let numbers = [
            ("a window in packets", sample.window, MOST_PACKETS),
            ("a threshold in packets", sample.threshold, MOST_PACKETS),
            ("a flight in packets", sample.in_flight as f64, MOST_PACKETS),
            ("a round-trip time in seconds", sample.srtt, MOST_SECONDS),
            ("a rate in bit/s", sample.pacing, MOST_RATE),
            ("a sum of bytes", sample.acked as f64, MOST_BYTES),
        ];
        let wrong = |(_, number, most): &(&str, f64, f64)| !number.is_nan() && !(0.0..=*most).contains(number);
        if let Some((what, given, most)) = numbers.into_iter().find(wrong) {
            let (at_s, flow) = (sample.at as f64 * 1e-9, flow.name.clone());
            return Err(ImportFault::Range { what, given, at_s, flow, most });
        }
    }
    Ok(())
}

/// The error for a file that is not recognised.
#[must_use]
pub fn unknown(file: &str) -> ImportError {
    ImportError { file: file.to_string(), line: None, fault: ImportFault::Unknown }
}

/// Takes one of the remaining units, if there is one.
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

/// The last instant that a trace has something of, nanoseconds.
fn end(trace: &Trace) -> u64 {
    trace.at.last().copied().unwrap_or(0)
}

/// The share of the busiest connection's bytes below which another one is not worth a curve.
const LITTLE: u64 = 100;

/// The connections that are taken of a file: more than a plot can tell apart.
pub const MOST_FLOWS: usize = 64;

/// Beyond every path: the accepted numbers of recordings.
const MOST_PACKETS: f64 = 1e9;
const MOST_SECONDS: f64 = 1e5;
const MOST_RATE: f64 = 1e15;
const MOST_BYTES: f64 = 1e18;

/// Bytes among which the marks of qlog lie.
const HEAD: usize = 4096;

#[cfg(test)]
mod tests;
