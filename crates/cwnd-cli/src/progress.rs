//! A progress bar on a terminal, and Ctrl-C.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use cwnd::Span;
use cwnd_run::execute::{Found, Progress};
use cwnd_run::files::remove_unfinished;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::progress_lines::ProgressLines;
use crate::signals;

/// Progress in simulated time on standard error: a bar if that is a terminal, else lines if they are wanted.
pub(crate) struct TimeProgress {
    bar: ProgressBar,
    lines: Option<ProgressLines>,
    _looking: Looking,
}

impl TimeProgress {
    /// Starts a bar whose length grows as work is announced; from now on Ctrl-C interrupts.
    pub(crate) fn start() -> Result<Self, Failure> {
        Self::drawn(ProgressDrawTarget::stderr(), None)
    }

    /// Starts a bar, or lines where no terminal shows it, for work of minutes; neither if `quiet`.
    pub(crate) fn start_long(quiet: bool) -> Result<Self, Failure> {
        match quiet {
            true => Self::drawn(ProgressDrawTarget::hidden(), None),
            false => Self::drawn(ProgressDrawTarget::stderr(), ProgressLines::start()),
        }
    }

    fn drawn(target: ProgressDrawTarget, lines: Option<ProgressLines>) -> Result<Self, Failure> {
        let looking = listen()?;
        let bar = ProgressBar::with_draw_target(Some(0), target);
        bar.set_style(
            ProgressStyle::with_template("{bar:30} {simulated} simulated, {speed} times real time, {eta} left")
                .expect("the template is well-formed")
                .with_key("simulated", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{:.0} of {:.0} s", seconds(state.pos()), state.len().map_or(0.0, seconds));
                })
                .with_key("speed", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{:.0}", state.per_sec() * 1e-9);
                }),
        );
        Ok(Self { bar, lines, _looking: looking })
    }
}

impl Progress for TimeProgress {
    fn should_continue(&self) -> bool {
        !signals::interrupted()
    }

    fn memory(&self) -> Option<u64> {
        memory()
    }

    fn announce(&self, time: Span) {
        self.bar.inc_length(time.as_nanos());
        self.lines.iter().for_each(|lines| lines.announce(time));
    }

    fn advance(&self, time: Span) {
        self.bar.inc(time.as_nanos());
        self.lines.iter().for_each(|lines| lines.advance(time));
    }

    fn done(&self, _: Found) {
        self.lines.iter().for_each(ProgressLines::done);
    }

    fn completed(&self, what: &str) {
        self.lines.iter().for_each(|lines| lines.completed(what));
    }
}

/// Ctrl-C, for work that shows no progress.
pub(crate) struct Interrupts(Looking);

impl Interrupts {
    /// Listens to Ctrl-C from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        listen().map(Self)
    }
}

impl Progress for Interrupts {
    fn should_continue(&self) -> bool {
        !signals::interrupted()
    }

    fn memory(&self) -> Option<u64> {
        memory()
    }
}

/// Progress of a sweep in cells.
pub(crate) struct CellProgress {
    bar: ProgressBar,
    computed: AtomicU64,
    equal: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
    _looking: Looking,
}

impl CellProgress {
    /// Starts a bar over `cells` cells, and listens to Ctrl-C from now on.
    pub(crate) fn start(cells: u64) -> Result<Self, Failure> {
        let looking = listen()?;
        let bar = ProgressBar::with_draw_target(Some(cells), ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{bar:30} {pos} of {len} cells, {rate}/s, {eta} left{msg}")
                .expect("the template is well-formed")
                .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{:.1}", state.per_sec());
                }),
        );
        let [computed, equal, stored, failed] = [0; 4].map(AtomicU64::new);
        Ok(Self { bar, computed, equal, stored, failed, _looking: looking })
    }

    /// How many cells were computed, computed for equal ones, found in the store, and failed.
    pub(crate) fn counts(&self) -> [u64; 4] {
        [&self.computed, &self.equal, &self.stored, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Progress for CellProgress {
    fn should_continue(&self) -> bool {
        !signals::interrupted()
    }

    fn memory(&self) -> Option<u64> {
        memory()
    }

    fn done(&self, found: Found) {
        self.bar.inc(1);
        let count = match found {
            Found::Computed => &self.computed,
            Found::Equal => &self.equal,
            Found::Stored => &self.stored,
            Found::Failed => &self.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if found == Found::Failed {
            self.bar.set_message(format!(", {} failed", self.failed.load(Ordering::Relaxed)));
        }
    }
}

impl Drop for CellProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for TimeProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// While one of these lives, work looks at [`signals::interrupted`] and ends by itself.
struct Looking;

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// While the returned value lives, a signal interrupts the work.
fn listen() -> Result<Looking, Failure> {
    end_when_interrupted()?;
    LOOKING.fetch_add(1, Ordering::SeqCst);
    Ok(Looking)
}

/// From now on a signal ends the process with the exit code of an interrupted command, except while work looks for it itself.
/// A second signal ends it in any case, if it comes later: GNU `timeout` sends each signal to the process and to its group. Unfinished
/// results are removed.
pub(crate) fn end_when_interrupted() -> Result<(), Failure> {
    signals::listen(|| {
        INTERRUPTED.store(true, Ordering::Relaxed);
        let again = FIRST.get_or_init(Stopwatch::start).elapsed() > ONE_REQUEST;
        if again || LOOKING.load(Ordering::SeqCst) == 0 {
            remove_unfinished();
            say!("error: interrupted; unfinished results are removed");
            std::process::exit(cwnd_terminal::failure::Failure::Interrupted.code().into());
        }
    })?;
    Ok(())
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

/// Whether somebody has asked what runs may use.
pub(crate) fn bounds_memory() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Sets the memory that runs may use, from `--memory`.
pub(crate) fn allow(memory: Option<u64>) {
    if let Some(memory) = memory {
        MEMORY.get_or_init(|| memory);
    }
}

/// The memory that runs may use, if it was given.
pub(crate) fn memory() -> Option<u64> {
    ASKED.store(true, Ordering::Relaxed);
    MEMORY.get().copied()
}

static MEMORY: OnceLock<u64> = OnceLock::new();
static ASKED: AtomicBool = AtomicBool::new(false);
/// Signals within this time are one request.
const ONE_REQUEST: Duration = Duration::from_millis(500);
static FIRST: OnceLock<Stopwatch> = OnceLock::new();
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LOOKING: AtomicUsize = AtomicUsize::new(0);
