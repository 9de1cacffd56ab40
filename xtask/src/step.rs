//! Steps, and what comes of running them.

use std::fmt;
use std::time::{Duration, Instant};

use crate::machine::Machine;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// One thing that passes or fails.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// What it is called on the command line and in the summary.
    pub(crate) name: &'static str,
    /// What must be on the machine.
    pub(crate) needs: &'static [&'static Tool],
    /// Does it; the error is the reason of the failure, in one line.
    pub(crate) run: fn(&Workspace) -> Result<(), String>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// What came of all steps.
pub(crate) struct Summary {
    records: Vec<(&'static str, Outcome, Duration)>,
    /// A skipped step counts as failed.
    strict: bool,
}

/// Runs every step, whatever became of the ones before it.
pub(crate) fn run(steps: &[Step], machine: &Machine, workspace: &Workspace) -> Summary {
    let mut records = Vec::new();
    for step in steps {
        println!("\n=== {}", step.name);
        let (outcome, took) = timed(|| attempt(step, machine, workspace));
        match &outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => println!("failed: {reason}"),
            Outcome::Skipped(reason) => println!("skipped: {reason}"),
        }
        records.push((step.name, outcome, took));
    }
    Summary { records, strict: machine.ci }
}

fn attempt(step: &Step, machine: &Machine, workspace: &Workspace) -> Outcome {
    let mut lacking = Vec::new();
    for tool in step.needs {
        if let Err(reason) = tool.provide(machine, workspace) {
            lacking.push(reason);
        }
    }
    if !lacking.is_empty() {
        return Outcome::Skipped(lacking.join("; "));
    }
    match (step.run)(workspace) {
        Ok(()) => Outcome::Passed,
        Err(reason) => Outcome::Failed(reason),
    }
}

#[expect(clippy::disallowed_methods, reason = "the summary tells people where the time of a test run goes")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

impl Summary {
    /// Whether the run as a whole passed.
    pub(crate) fn good(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_))) == 0
            && !(self.strict && self.count(|outcome| matches!(outcome, Outcome::Skipped(_))) > 0)
    }

    fn count(&self, wanted: fn(&Outcome) -> bool) -> usize {
        self.records.iter().filter(|(_, outcome, _)| wanted(outcome)).count()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.records.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        for (name, outcome, took) in &self.records {
            let (word, reason) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(reason) => ("FAILED", reason.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let line = format!("{name:width$}  {word:7}  {:6.1} s  {reason}", took.as_secs_f64());
            writeln!(out, "{}", line.trim_end())?;
        }
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        if skipped > 0 && self.strict {
            writeln!(out, "\nCI=true: a skipped step counts as failed.")?;
        }
        writeln!(
            out,
            "\n{} passed, {} failed, {skipped} skipped",
            self.count(|outcome| *outcome == Outcome::Passed),
            self.count(|outcome| matches!(outcome, Outcome::Failed(_))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Source;

    static ABSENT: Tool = Tool { name: "unobtainium", present: |_| false, source: Source::Named("mine some") };
    static PRESENT: Tool = Tool { name: "air", present: |_| true, source: Source::Named("breathe in") };

    fn summary(steps: &[Step], ci: bool) -> Summary {
        run(steps, &Machine::bare(ci), &Workspace::here())
    }

    const PASSES: Step = Step { name: "passes", needs: &[&PRESENT], run: |_| Ok(()) };
    const FAILS: Step = Step { name: "fails", needs: &[], run: |_| Err("it broke".to_owned()) };
    const LACKS: Step =
        Step { name: "lacks", needs: &[&PRESENT, &ABSENT], run: |_| panic!("must not run without what it needs") };

    #[test]
    fn a_skip_passes_at_a_desk_and_fails_in_ci() {
        assert!(summary(&[PASSES, LACKS], false).good());
        assert!(!summary(&[PASSES, LACKS], true).good());
        assert!(summary(&[PASSES], true).good());
    }

    #[test]
    fn a_failure_fails_and_does_not_stop_the_rest() {
        let summary = summary(&[FAILS, PASSES], false);
        assert!(!summary.good());
        assert_eq!(summary.records[1].1, Outcome::Passed);
    }

    #[test]
    fn the_last_line_counts_and_every_reason_is_shown() {
        let text = summary(&[PASSES, FAILS, LACKS, PASSES], false).to_string();
        assert_eq!(text.lines().last(), Some("2 passed, 1 failed, 1 skipped"));
        assert!(text.contains("it broke"), "{text}");
        assert!(text.contains("unobtainium is missing: mine some"), "{text}");
    }
}
