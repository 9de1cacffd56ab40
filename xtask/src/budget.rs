//! The budgets of steps: the table in `CONTRIBUTING.md`, in seconds of processor time.

use std::fs;
use std::time::Duration;

/// The budget of a step; none if it has none.
pub(crate) fn of(step: &str) -> Option<Duration> {
    table(CONTRIBUTING).find(|(name, _)| *name == step).map(|(_, seconds)| Duration::from_secs(seconds))
}

/// Processor time of the programs that this one has started and that have ended, and of those that they started; none where the system
/// does not tell. It hardly depends on what else a machine does.
pub(crate) fn spent() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may have spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(CHILDREN - 3);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 1000 / TICKS_PER_SECOND))
}

/// The rows `| STEP | SECONDS | … |` below the heading of budgets.
fn table(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let lines = text.lines().skip_while(|line| *line != HEADING).skip(1).take_while(|line| !line.starts_with("## "));
    lines.filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.strip_suffix('`')?, cells.next()?.trim_end_matches(" |").parse().ok()?))
    })
}

const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");
const HEADING: &str = "## Processor time";
/// The number of the field of `proc_pid_stat(5)` with the user time of children; the next has their system time.
const CHILDREN: usize = 16;
/// Linux shows every program a hundred.
const TICKS_PER_SECOND: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, suite};

    #[test]
    fn every_step_has_a_budget_and_every_budget_a_step() {
        let steps: Vec<&str> = [check::STEPS, suite::STEPS].concat().iter().map(|step| step.name).collect();
        let budgets: Vec<(&str, u64)> = table(CONTRIBUTING).collect();
        assert_eq!(budgets.iter().map(|(name, _)| *name).collect::<Vec<_>>(), steps);
        let sum: u64 = budgets.iter().map(|(_, seconds)| seconds).sum();
        assert!(CONTRIBUTING.contains(&format!("{sum} s of processor time")), "the sum is {sum} s");
    }

    #[test]
    fn what_a_child_took_is_spent() {
        let before = spent().unwrap();
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert!(spent().unwrap() > before);
    }
}
