//! The scenario of a page as the report that `cwnd run` writes.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use cwnd_engine::{PRESETS, PageError, Preset, read, scenario};
use cwnd_report::json;
use cwnd_report::page::run_html;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Progress, RunError, Threads};
use cwnd_run::run::run_by;
use thiserror::Error;

use crate::clock::Stopwatch;
use crate::shared::{Limits, Shared};

/// Why there is no report.
#[derive(Debug, Error)]
pub(crate) enum ReportError {
    #[error("the form has no scenario")]
    Form,
    #[error(transparent)]
    Refused(#[from] PageError),
    #[error("ended after {} s: take a shorter duration, a slower link, or fewer seeds", limit.as_secs_f64())]
    Time { limit: Duration },
    #[error(transparent)]
    Run(RunError),
}

/// Runs the scenario in a form of the page (`text/plain`, one field `toml`) for a visitor from `address`, and makes a report of it.
pub(crate) fn report(body: &str, address: IpAddr, shared: &Shared) -> Result<String, ReportError> {
    let text = body.strip_prefix("toml=").ok_or(ReportError::Form)?.trim_end();
    let scenario = scenario("live.toml", text, &read(text)?, &[])?;
    let _turn = shared.turn(address, || shared.goes_on());
    let Limits { threads, memory, time, .. } = shared.limits;
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let seeds = scenario.seeds().len().max(1);
    // The traces of all seeds are kept.
    let memory = memory / seeds as u64 * threads.get().min(seeds) as u64;
    let progress = Limited { watch: Stopwatch::start(), memory, time, shared };
    let run = |jobs| Executor::new(&Cells::default(), &progress).on(Threads::Own(threads)).run(jobs);
    let runs = run_by(vec![scenario], run).map_err(|error| match error {
        RunError::Interrupted(_) => ReportError::Time { limit: time },
        error => ReportError::Run(error),
    })?;
    let runs = runs.first().ok_or(ReportError::Form)?;
    let document = json::Run::of(runs).ok_or(ReportError::Form)?;
    let trace = runs.traces.first().ok_or(ReportError::Form)?;
    Ok(run_html(&document, trace, &format!("cwnd run {}", file(document.origin.scenario.title.as_deref()))))
}

/// The name of a downloaded scenario with this title. A preset that was given other algorithms has no title any more.
fn file(title: Option<&str>) -> String {
    let has_title = |preset: &&Preset| {
        let table = toml::from_str::<toml::Table>(preset.text).ok();
        table.as_ref().and_then(|table| table.get("title")?.as_str()) == title
    };
    let preset = PRESETS.iter().find(has_title).filter(|_| title.is_some());
    format!("{}.toml", preset.map_or("live", |preset| preset.id))
}

/// Within the limits of a run.
struct Limited<'a> {
    watch: Stopwatch,
    /// The memory of all threads.
    memory: u64,
    time: Duration,
    shared: &'a Shared,
}

impl Progress for Limited<'_> {
    fn should_continue(&self) -> bool {
        self.shared.goes_on() && self.watch.elapsed() < self.time
    }

    fn memory(&self) -> Option<u64> {
        Some(self.memory)
    }
}
