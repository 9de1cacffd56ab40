//! Progress where no terminal shows a bar: a line on standard error every few seconds.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cwnd::Span;
use cwnd_text::counted;

use crate::clock::Stopwatch;

/// The number of finished runs, printed from time to time.
pub(crate) struct ProgressLines {
    since: Stopwatch,
    state: Mutex<State>,
}

/// The number of finished runs, and the time of the last print.
#[derive(Debug, Default)]
struct State {
    announced: Duration,
    advanced: Duration,
    runs: usize,
    /// The experiments that are done and not told yet.
    completed: Vec<String>,
    told: Duration,
}

impl ProgressLines {
    /// None where standard error is a terminal.
    pub(crate) fn start() -> Option<Self> {
        (!stderr().is_terminal()).then(|| Self { since: Stopwatch::start(), state: Mutex::default() })
    }

    pub(crate) fn announce(&self, time: Span) {
        self.change(|state| state.announced += Duration::from_nanos(time.as_nanos()));
    }

    pub(crate) fn advance(&self, time: Span) {
        self.change(|state| state.advanced += Duration::from_nanos(time.as_nanos()));
    }

    pub(crate) fn done(&self) {
        self.change(|state| state.runs += 1);
    }

    pub(crate) fn completed(&self, what: &str) {
        self.change(|state| state.completed.push(what.to_string()));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if let Some(line) = state.line(self.since.elapsed()) {
            say!("{line}");
        }
    }
}

impl State {
    /// The line that is due after so long.
    fn line(&mut self, now: Duration) -> Option<String> {
        if now < self.told + INTERVAL {
            return None;
        }
        self.told = now;
        let experiments = match self.completed.as_slice() {
            [] => String::new(),
            [one] => format!("{one}: done; "),
            [others @ .., last] => format!("{last} and {} more: done; ", others.len()),
        };
        self.completed.clear();
        let [advanced, announced] = [self.advanced, self.announced].map(|time| time.as_secs());
        Some(format!("{experiments}{} done, {advanced} of {announced} s simulated", counted(self.runs, "run")))
    }
}

/// Between two lines.
const INTERVAL: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_every_few_seconds() {
        let at = Duration::from_millis;
        let mut state = State { announced: at(90_000), advanced: at(30_000), runs: 3, ..State::default() };
        assert_eq!(state.line(at(4_999)), None);
        assert_eq!(state.line(at(5_000)).as_deref(), Some("3 runs done, 30 of 90 s simulated"));
        state.completed = ["simd Fig. 1", "simd Table 3"].map(str::to_string).into();
        assert_eq!(state.line(at(9_999)), None);
        let line = state.line(at(10_000));
        assert_eq!(line.as_deref(), Some("simd Table 3 and 1 more: done; 3 runs done, 30 of 90 s simulated"));
        state.completed.push("simd Fig. 2".to_string());
        let line = state.line(at(15_000));
        assert_eq!(line.as_deref(), Some("simd Fig. 2: done; 3 runs done, 30 of 90 s simulated"));
    }
}
