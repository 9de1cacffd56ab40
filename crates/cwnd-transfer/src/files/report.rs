//! The report of a transfer: a bar and lines for people, or a JSON object per line.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cwnd::host::Spent;
use cwnd::{Limit, Span};
use cwnd_files::{Event, Outcome};
use cwnd_net::{Stats, UdtBundle, UdtStream, limit_in_words};
use cwnd_text::{counted, decimal};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::clock::Stopwatch;
use crate::output;

/// The report of one transfer, over all connections it takes.
pub(super) struct Report(Arc<Mutex<State>>);

/// Shows progress while it lives, also while nothing happens: the last written data may wait for the path for a long time.
pub(super) struct Following {
    thread: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

struct State {
    json: bool,
    /// The congestion control of this end, if this end sends.
    algorithm: Option<String>,
    bar: ProgressBar,
    /// Since the first connection on which files were counted.
    clock: Stopwatch,
    begun: bool,
    /// When progress was last shown, and when it was last printed as a line where there is no terminal.
    shown_at: Duration,
    printed_at: Duration,
    /// Bytes transferred, and bytes that need not be transferred any more.
    moved: u64,
    finished: u64,
    total: u64,
    /// The bytes that were last shown.
    shown: u64,
    /// The limits of the connection's sender until progress was last shown.
    limited: Spent,
    /// On this connection.
    counts: Counts,
}

/// Files and links; of `failed` also directories.
#[derive(Clone, Copy, Default)]
struct Counts {
    completed: u64,
    unchanged: u64,
    linked: u64,
    skipped: u64,
    failed: u64,
}

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    /// The other side was found at a meeting place.
    Met { peer: SocketAddr, relayed: bool },
    /// The totals of the sender.
    Total { files: u64, bytes: u64 },
    /// The transfer of a file begins, at byte `from`.
    Started { name: &'a str, bytes: u64, from: u64 },
    /// At most twice a second.
    Progress {
        bytes: u64,
        of: u64,
        bits_per_second: f64,
        seconds_left: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        algorithm: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        limited_by: Option<&'static str>,
    },
    /// A file has arrived.
    Completed { name: &'a str, bytes: u64, blake3: String },
    /// A file was there before.
    Unchanged { name: &'a str, bytes: u64 },
    /// A file was not transferred.
    Failed { name: &'a str, reason: String },
    /// A symbolic link is there as a link.
    Linked { name: &'a str },
    /// A symbolic link was left out.
    Skipped { name: &'a str, reason: String },
    /// The connection is lost, and tried again.
    Retry { seconds: f64, error: &'a str },
    /// The connection is lost, and the other side is waited for.
    Lost { error: &'a str },
    /// All is done.
    Ended {
        completed: u64,
        unchanged: u64,
        linked: u64,
        skipped: u64,
        failed: u64,
        bytes: u64,
        seconds: f64,
        bits_per_second: f64,
    },
}

impl Report {
    pub(super) fn new(json: bool, algorithm: Option<String>) -> Self {
        Self(Arc::new(Mutex::new(State::new(json, algorithm))))
    }

    /// Handles an event on this connection.
    pub(super) fn handle(&self, event: &Event<'_>, stream: &UdtBundle) {
        self.state().handle(event, stream);
    }

    /// Shows the progress on this connection from time to time.
    pub(super) fn follow(&self, stream: &UdtBundle) -> Following {
        let (stop, stopped) = mpsc::channel();
        let (state, stream) = (Arc::clone(&self.0), stream.clone());
        let show = move || {
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                lock(&state).show_progress(&stream);
            }
        };
        // Without the thread progress is shown with events alone.
        Following { thread: thread::Builder::new().spawn(show).ok().map(|thread| (stop, thread)) }
    }

    /// The other side was found at a meeting place: where it is, or where the relay is that everything passes through.
    pub(super) fn met(&self, peer: SocketAddr, relayed: bool) {
        let way = if relayed { "through the meeting place at" } else { "directly to" };
        self.state().print(&Line::Met { peer, relayed }, || Some(format!("connected {way} {peer}")));
    }

    /// The connection was lost, and another one is tried after `wait`.
    pub(super) fn retry(&self, wait: Duration, error: &str) {
        let seconds = wait.as_secs_f64();
        let text = || Some(format!("{error}; trying again in {seconds:.0} s"));
        self.state().print(&Line::Retry { seconds, error }, text);
    }

    /// The connection was lost, and another one is waited for.
    pub(super) fn lost(&self, why: &str) {
        self.state().print(&Line::Lost { error: why }, || Some(why.to_owned()));
    }

    /// The last line.
    pub(super) fn end(&self, outcome: &Outcome) -> String {
        let Outcome { completed, unchanged, linked, skipped, failed, .. } = *outcome;
        self.state().end(Counts { completed, unchanged, linked, skipped, failed })
    }

    /// The last line of a transfer that ends since a file cannot be written here, which is one more that has failed.
    pub(super) fn end_early(&self) -> String {
        let state = self.state();
        state.end(Counts { failed: state.counts.failed + 1, ..state.counts })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _panicked = thread.join();
        }
    }
}

impl State {
    fn new(json: bool, algorithm: Option<String>) -> Self {
        let target = if json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        bar.set_style(
            ProgressStyle::with_template("{bar:25} {bytes} of {total_bytes}, {msg}")
                .expect("the template is well-formed"),
        );
        let clock = Stopwatch::start();
        let (shown_at, printed_at) = (Duration::ZERO, Duration::ZERO);
        Self {
            json,
            algorithm,
            bar,
            clock,
            begun: false,
            shown_at,
            printed_at,
            moved: 0,
            finished: 0,
            total: 0,
            shown: 0,
            limited: Spent::default(),
            counts: Counts::default(),
        }
    }

    fn handle(&mut self, event: &Event<'_>, stream: &UdtBundle) {
        match event {
            Event::Total { files, bytes } => {
                if !self.begun {
                    // The other side may have come long after this was started.
                    self.begun = true;
                    self.clock = Stopwatch::start();
                    (self.shown_at, self.printed_at) = (Duration::ZERO, Duration::ZERO);
                }
                (self.total, self.finished, self.shown, self.counts) = (*bytes, 0, 0, Counts::default());
                self.bar.set_length(*bytes);
                self.print(&Line::Total { files: *files, bytes: *bytes }, || None);
            }
            Event::Started { name, size, from } => {
                self.finished += from;
                let resumed = || (*from > 0).then(|| format!("{name}: resumed after {}", HumanBytes(*from)));
                self.print(&Line::Started { name: &name.to_string(), bytes: *size, from: *from }, resumed);
            }
            Event::Transferred(bytes) => {
                self.moved += bytes;
                self.finished += bytes;
                self.show_progress(stream);
            }
            Event::Completed { name, size, hash } => {
                self.counts.completed += 1;
                let blake3 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
                self.print(&Line::Completed { name: &name.to_string(), bytes: *size, blake3 }, || None);
            }
            Event::Unchanged { name, size } => {
                self.counts.unchanged += 1;
                self.finished += size;
                self.print(&Line::Unchanged { name: &name.to_string(), bytes: *size }, || None);
            }
            Event::Failed { name, reason } => {
                self.counts.failed += 1;
                self.print(&Line::Failed { name, reason: reason.to_string() }, || Some(format!("{name}: {reason}")));
            }
            Event::Linked { name } => {
                self.counts.linked += 1;
                self.print(&Line::Linked { name: &name.to_string() }, || None);
            }
            Event::Skipped { name, reason } => {
                self.counts.skipped += 1;
                let text = || Some(format!("{name}: {reason}, left out"));
                self.print(&Line::Skipped { name, reason: reason.to_string() }, text);
            }
            _ => {}
        }
    }

    fn end(&self, counts: Counts) -> String {
        self.bar.finish_and_clear();
        let Counts { completed, unchanged, linked, skipped, failed } = counts;
        let (seconds, bytes) = (self.clock.elapsed().as_secs_f64(), self.moved);
        let bits_per_second = rate(bytes, seconds);
        if self.json {
            return line(&Line::Ended {
                completed,
                unchanged,
                linked,
                skipped,
                failed,
                bytes,
                seconds,
                bits_per_second,
            });
        }
        let mut text = format!(
            "{}, {}, in {} s, {} Mbit/s",
            counted(completed, "file"),
            HumanBytes(bytes),
            decimal(seconds, 2),
            decimal(bits_per_second * 1e-6, 1)
        );
        if unchanged > 0 {
            text += &format!("; {} there before", counted(unchanged, "file"));
        }
        if linked > 0 {
            text += &format!("; {} kept", counted(linked, "link"));
        }
        if skipped > 0 {
            text += &format!("; {} left out", counted(skipped, "link"));
        }
        if failed > 0 {
            text += &format!("; {failed} failed");
        }
        text + "\n"
    }

    fn show_progress(&mut self, stream: &UdtBundle) {
        let now = self.clock.elapsed();
        if now.saturating_sub(self.shown_at) < PERIOD || self.total == 0 {
            return;
        }
        self.shown_at = now;
        let stats: Vec<_> = stream.streams().iter().filter_map(UdtStream::stats).collect();
        // Data that waits here for the path is no progress.
        let waiting = stats.iter().map(|stats| stats.udt.undelivered).sum();
        let (moved, finished) = (self.moved.saturating_sub(waiting), self.finished.saturating_sub(waiting));
        // The last written data may not be counted as waiting yet, but the number shown for a connection never decreases.
        self.shown = self.shown.max(finished);
        let finished = self.shown;
        let bits_per_second = rate(moved, now.as_secs_f64());
        let left = self.total.saturating_sub(finished) as f64 * 8.0;
        let seconds_left = (bits_per_second > 0.0).then(|| left / bits_per_second);
        // A receiver sends next to nothing: its limit is not known here.
        let limited_by = self.algorithm.is_some().then(|| self.limited_by(&stats)).flatten();
        if self.json {
            let (bytes, of) = (finished, self.total);
            let algorithm = self.algorithm.as_deref();
            print_text(&line(&Line::Progress { bytes, of, bits_per_second, seconds_left, algorithm, limited_by }));
            return;
        }
        let limit = limited_by.map_or(String::new(), |limit| format!(", limited by {limit}"));
        let left = seconds_left.map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
        let algorithm = self.algorithm.as_ref().map_or(String::new(), |algorithm| format!(" with {algorithm}"));
        let message = format!("{} Mbit/s{algorithm}{left}{limit}", decimal(bits_per_second * 1e-6, 1));
        if self.bar.is_hidden() && now.saturating_sub(self.printed_at) >= LINE_PERIOD {
            self.printed_at = now;
            print_line(&format!("{} of {}, {message}", HumanBytes(finished), HumanBytes(self.total)));
        }
        self.bar.set_message(message);
        self.bar.set_position(finished);
    }

    /// The cause that has limited this end for most of the time since progress was last shown, on all connections together.
    fn limited_by(&mut self, stats: &[Stats]) -> Option<&'static str> {
        let spent = stats.iter().fold(Spent::default(), |sum, stats| {
            let Spent { window, rate, source, peer } = stats.udt.limited;
            Spent {
                window: sum.window + window,
                rate: sum.rate + rate,
                source: sum.source + source,
                peer: sum.peer + peer,
            }
        });
        let before = std::mem::replace(&mut self.limited, spent);
        let since = [
            (Limit::Window, spent.window - before.window),
            (Limit::Rate, spent.rate - before.rate),
            (Limit::Source, spent.source - before.source),
            (Limit::Peer, spent.peer - before.peer),
        ];
        let most = since.into_iter().max_by_key(|(_, span)| *span).filter(|(_, span)| *span > Span::ZERO);
        most.map(|(limit, _)| limit).or_else(|| stats.first().map(|stats| stats.udt.limit)).map(limit_in_words)
    }

    /// A line for programs, or one for people where there is any.
    fn print(&self, json: &Line<'_>, text: impl FnOnce() -> Option<String>) {
        if self.json {
            print_text(&line(json));
        } else if let Some(text) = text() {
            self.bar.suspend(|| print_line(&text));
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints text on standard output. That nobody reads it any more ends the transfer, which looks for that.
pub(super) fn print_text(text: &str) {
    let _ = output::write(text);
}

/// Prints a line on standard error, and ignores a failure likewise.
pub(super) fn print_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn line(value: &Line<'_>) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Often enough to watch.
const PERIOD: Duration = Duration::from_millis(500);
/// Often enough to see in a log that something moves.
const LINE_PERIOD: Duration = Duration::from_secs(3);
