//! A progress bar on a terminal, and Ctrl-C.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cwnd::Span;
use cwnd_lab::sweep::{Found, Watch};
use cwnd_run::scenario::Scenario;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::failure::Failure;

/// Progress of some scenarios in simulated time. Drawn on standard error if that is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts a bar over all runs of `scenarios`, and listens to Ctrl-C from now on.
    pub(crate) fn start<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> Result<Self, Failure> {
        let total: u64 = scenarios.map(|scenario| scenario.duration().as_nanos() * scenario.seeds().len() as u64).sum();
        let progress = Self::open()?;
        progress.bar.inc_length(total);
        Ok(progress)
    }

    /// Starts a bar that learns of its length as work is announced, and listens to Ctrl-C from now on.
    pub(crate) fn open() -> Result<Self, Failure> {
        listen()?;
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
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
        Ok(Self { bar })
    }

    /// So much simulated time has passed; says whether to go on.
    pub(crate) fn advance(&self, passed: Span) -> bool {
        self.bar.inc(passed.as_nanos());
        !INTERRUPTED.load(Ordering::Relaxed)
    }
}

/// Progress of a sweep in cells.
pub(crate) struct CellProgress {
    bar: ProgressBar,
    computed: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
}

impl CellProgress {
    /// Starts a bar over so many cells, and listens to Ctrl-C from now on.
    pub(crate) fn start(cells: u64) -> Result<Self, Failure> {
        listen()?;
        let bar = ProgressBar::with_draw_target(Some(cells), ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{bar:30} {pos} of {len} cells, {rate}/s, {eta} left{msg}")
                .expect("the template is well-formed")
                .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{:.1}", state.per_sec());
                }),
        );
        Ok(Self { bar, computed: AtomicU64::new(0), stored: AtomicU64::new(0), failed: AtomicU64::new(0) })
    }

    /// How many cells were computed, found in the store, and failed.
    pub(crate) fn counts(&self) -> [u64; 3] {
        [&self.computed, &self.stored, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Watch for CellProgress {
    fn goes_on(&self) -> bool {
        !INTERRUPTED.load(Ordering::Relaxed)
    }

    fn done(&self, found: Found) {
        self.bar.inc(1);
        let count = match found {
            Found::Computed => &self.computed,
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

impl cwnd_papers::Progress for Progress {
    fn announce(&self, time: Span) {
        self.bar.inc_length(time.as_nanos());
    }

    fn advance(&self, time: Span) -> bool {
        Self::advance(self, time)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Run(format!("cannot listen to Ctrl-C: {error}")))
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
