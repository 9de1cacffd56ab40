//! The scenario of a page as the report that `cwnd run` writes.

use cwnd_report::json;
use cwnd_report::page::run_html;
use cwnd_run::execute::{Progress, RunError};
use cwnd_run::run::run;
use thiserror::Error;

use crate::clock::Stopwatch;
use crate::scenario::{Refusal, read, scenario};
use crate::shared::Shared;

/// Why there is no report.
#[derive(Debug, Error)]
pub(crate) enum ReportError {
    #[error("the form has no scenario")]
    Form,
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs the scenario in a form of the page (`text/plain`, one field `toml`), and makes a report of it.
pub(crate) fn report(body: &str, shared: &Shared) -> Result<String, ReportError> {
    let text = body.strip_prefix("toml=").ok_or(ReportError::Form)?.trim_end();
    let scenario = scenario("live.toml", text, &read(text)?, &[])?;
    let _turn = shared.turn(|| shared.goes_on());
    let progress = Limited { watch: Stopwatch::start(), shared };
    let runs = run(vec![scenario], &progress)?;
    let runs = runs.first().ok_or(ReportError::Form)?;
    let document = json::Run::of(runs).ok_or(ReportError::Form)?;
    let trace = runs.traces.first().ok_or(ReportError::Form)?;
    Ok(run_html(&document, trace, "cwnd run live.toml"))
}

/// Within the limits of a run.
struct Limited<'a> {
    watch: Stopwatch,
    shared: &'a Shared,
}

impl Progress for Limited<'_> {
    fn should_continue(&self) -> bool {
        self.shared.goes_on() && self.watch.elapsed() < self.shared.limits.time
    }

    fn memory(&self) -> Option<u64> {
        Some(self.shared.limits.memory)
    }
}
