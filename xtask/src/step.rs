//! Steps and their outcomes.

use std::fmt;
use std::time::{Duration, Instant};

use crate::budget;
use crate::machine::Machine;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// One thing that passes or fails.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Its name on the command line and in the summary.
    pub(crate) name: &'static str,
    /// The tools that it requires.
    pub(crate) needs: &'static [&'static Tool],
    /// Runs it; the error is the reason of the failure, in one line.
    pub(crate) run: fn(&Workspace) -> Result<(), String>,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The outcomes of all steps.
pub(crate) struct Summary {
    records: Vec<Record>,
    /// A skipped step counts as failed.
    strict: bool,
}

/// A step that has run, and what it took.
struct Record {
    name: &'static str,
    outcome: Outcome,
    wall: Duration,
    /// The processor time of all its programs; none where the system does not report it.
    processor: Option<Duration>,
}

/// Installs the tools of `steps`; the reasons for those that could not be installed.
pub(crate) fn install(steps: &[Step], machine: &Machine, workspace: &Workspace) -> Vec<String> {
    let tools = distinct(steps.iter().flat_map(|step| step.needs.iter().copied()));
    let failures = tools.iter().filter_map(|tool| {
        let reason = tool.install(machine, workspace).err()?;
        Some(format!("{}: {reason}", tool.name))
    });
    failures.collect()
}

/// Names the missing tools of `steps` and the command that installs them; nothing if none is missing.
pub(crate) fn missing(steps: &[Step], workspace: &Workspace) -> Option<String> {
    let lacking: Vec<_> = steps.iter().map(|step| (step.name, step.missing(workspace))).collect();
    let lacking: Vec<_> = lacking.into_iter().filter(|(_, tools)| !tools.is_empty()).collect();
    if lacking.is_empty() {
        return None;
    }
    let tools = distinct(lacking.iter().flat_map(|(_, tools)| tools.iter().copied()));
    let tools: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    let steps: Vec<_> = lacking.iter().map(|(step, _)| *step).collect();
    Some(format!(
        "missing: {}\nskipped without: {}\n`cargo xtask setup {}` installs them.",
        tools.join(", "),
        steps.join(", "),
        steps.join(" ")
    ))
}

fn distinct(tools: impl Iterator<Item = &'static Tool>) -> Vec<&'static Tool> {
    let mut distinct: Vec<&'static Tool> = Vec::new();
    for tool in tools {
        if !distinct.iter().any(|known| known.name == tool.name) {
            distinct.push(tool);
        }
    }
    distinct
}

/// Runs every step, whatever became of the ones before it.
pub(crate) fn run(steps: &[Step], machine: &Machine, workspace: &Workspace) -> Summary {
    let mut records = Vec::new();
    for step in steps {
        println!("\n=== {}", step.name);
        let before = budget::spent();
        let (outcome, wall) = timed(|| step.attempt(workspace));
        let processor = budget::spent().zip(before).map(|(after, before)| after.saturating_sub(before));
        match &outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => println!("failed: {reason}"),
            Outcome::Skipped(reason) => println!("skipped: {reason}"),
        }
        records.push(Record { name: step.name, outcome, wall, processor });
    }
    Summary { records, strict: machine.ci }
}

impl Step {
    fn missing(&self, workspace: &Workspace) -> Vec<&'static Tool> {
        self.needs.iter().copied().filter(|tool| !(tool.present)(workspace)).collect()
    }

    fn attempt(&self, workspace: &Workspace) -> Outcome {
        let missing: Vec<_> = self.missing(workspace).iter().map(|tool| tool.name).collect();
        if !missing.is_empty() {
            return Outcome::Skipped(format!("{} missing", missing.join(", ")));
        }
        match (self.run)(workspace) {
            Ok(()) => Outcome::Passed,
            Err(reason) => Outcome::Failed(reason),
        }
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
    pub(crate) fn passed(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_))) == 0
            && !(self.strict && self.count(|outcome| matches!(outcome, Outcome::Skipped(_))) > 0)
    }

    fn count(&self, wanted: fn(&Outcome) -> bool) -> usize {
        self.records.iter().filter(|record| wanted(&record.outcome)).count()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.records.iter().map(|record| record.name.len()).max().unwrap_or(0);
        for Record { name, outcome, wall, processor } in &self.records {
            let (word, reason) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(reason) => ("FAILED", reason.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let processor = processor.map_or(String::new(), |took| {
                let budget = budget::of(name).map_or(String::new(), |budget| format!(" of {}", budget.as_secs()));
                format!("{:6.1}{budget} s of processors", took.as_secs_f64())
            });
            let line = format!("{name:width$}  {word:7}  {:6.1} s  {processor:28}  {reason}", wall.as_secs_f64());
            writeln!(out, "{}", line.trim_end())?;
        }
        let processor: Option<Duration> = self.records.iter().map(|record| record.processor).sum();
        if let Some(processor) = processor {
            let budgets: Vec<Duration> = self.records.iter().filter_map(|record| budget::of(record.name)).collect();
            write!(out, "\n{:.0} s of processor time", processor.as_secs_f64())?;
            // The steps of `--long` have none.
            if !budgets.is_empty() {
                write!(out, "; the budget is {} s", budgets.iter().sum::<Duration>().as_secs())?;
            }
            writeln!(out)?;
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

    static ABSENT: Tool = Tool { name: "unobtainium", present: |_| false, source: Source::Debian(&["unobtainium"]) };
    static PRESENT: Tool = Tool { name: "air", present: |_| true, source: Source::Debian(&["air"]) };

    fn summary(steps: &[Step], ci: bool) -> Summary {
        run(steps, &Machine::bare(ci), &Workspace::here())
    }

    const PASSES: Step = Step { name: "passes", needs: &[&PRESENT], run: |_| Ok(()) };
    const FAILS: Step = Step { name: "fails", needs: &[], run: |_| Err("it broke".to_owned()) };
    const LACKS: Step =
        Step { name: "lacks", needs: &[&PRESENT, &ABSENT], run: |_| panic!("must not run without what it needs") };

    #[test]
    fn a_skip_passes_at_a_desk_and_fails_in_ci() {
        assert!(summary(&[PASSES, LACKS], false).passed());
        assert!(!summary(&[PASSES, LACKS], true).passed());
        assert!(summary(&[PASSES], true).passed());
    }

    #[test]
    fn a_failure_fails_and_does_not_stop_the_rest() {
        let summary = summary(&[FAILS, PASSES], false);
        assert!(!summary.passed());
        assert_eq!(summary.records[1].outcome, Outcome::Passed);
    }

    #[test]
    fn the_last_line_counts_and_every_reason_is_shown() {
        let text = summary(&[PASSES, FAILS, LACKS, PASSES], false).to_string();
        assert_eq!(text.lines().last(), Some("2 passed, 1 failed, 1 skipped"));
        assert!(text.contains("it broke"), "{text}");
        assert!(text.contains("unobtainium missing"), "{text}");
    }

    #[test]
    fn what_is_missing_is_named_with_the_command_that_installs_it() {
        let again = Step { name: "again", ..LACKS };
        let text = missing(&[PASSES, LACKS, again], &Workspace::here()).expect("something is missing");
        assert!(text.starts_with("missing: unobtainium\n"), "{text}");
        assert!(text.contains("`cargo xtask setup lacks again`"), "{text}");
        assert_eq!(missing(&[PASSES], &Workspace::here()), None);
    }

    #[test]
    fn without_root_an_installation_says_what_to_install() {
        let failures = install(&[PASSES, LACKS], &Machine::bare(false), &Workspace::here());
        assert_eq!(failures, ["unobtainium: as root, apt-get install unobtainium"]);
    }
}
