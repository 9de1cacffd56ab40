//! Known deviations, so that they fail no build, and fixed ones ask to be struck out; and checks that may be unclear.

use std::fmt::Write as _;

use thiserror::Error;

use crate::judge::{Conformance, Verdict};

/// Known deviations, and checks that may be unclear: each a subject and a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    deviations: Vec<(String, String)>,
    unclear: Vec<(String, String)>,
}

/// A run compared with a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Deviations that it does not name: subject and check.
    pub new: Vec<(String, String)>,
    /// Checks that it names and that are met: their lines should be removed.
    pub fixed: Vec<(String, String)>,
    /// Unclear checks that are neither named nor [allowed](crate::Subject::allow_unclear) to be unclear.
    pub unclear: Vec<(String, String)>,
    /// Suites of which too few checks applied ([`Conformance::too_few`]).
    pub too_few: Vec<String>,
}

/// A line that is not a subject and a check.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "line {line}: expected a subject and the id of a check, and `unclear` behind them where it may be that, found `{text}`"
)]
pub struct BaselineError {
    /// The line number, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl Baseline {
    /// Reads a baseline: on each line a subject and the id of a check, with the word `unclear` behind them where the check may be unclear as
    /// well as met; `#` begins a comment.
    ///
    /// ```
    /// let known = cwnd_conform::baseline::Baseline::parse("gentle 5681-halve # by design")?;
    /// assert_eq!(known.compare(&[]).new, []);
    /// # Ok::<(), cwnd_conform::baseline::BaselineError>(())
    /// ```
    ///
    /// # Errors
    /// A line has a single word, or `unclear` behind a single one.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for (line, text) in (1..).zip(text.lines()) {
            let mut words: Vec<&str> = text.split('#').next().unwrap_or_default().split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let known = match words.pop_if(|last| *last == UNCLEAR) {
                Some(_) => &mut baseline.unclear,
                None => &mut baseline.deviations,
            };
            match words.split_last() {
                // The name of a subject may have spaces.
                Some((check, subject)) if !subject.is_empty() => known.push((subject.join(" "), (*check).to_string())),
                _ => return Err(BaselineError { line, text: text.to_string() }),
            }
        }
        Ok(baseline)
    }

    /// The deviations and unclear checks of `results`, as text that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn print(results: &[Conformance]) -> String {
        let mut text =
            "# Known deviations: a subject and a check on each line. `cwnd conform --baseline` compares.\n".to_string();
        for (verdict, behind) in [(Verdict::Deviates, String::new()), (Verdict::Unclear, format!(" {UNCLEAR}"))] {
            for (subject, check) in verdicts(results, verdict) {
                let _ = writeln!(text, "{subject} {check}{behind}");
            }
        }
        text
    }

    /// The lines about none of `results`, or about none of the checks `ids`: they decide nothing.
    #[must_use]
    pub fn idle(&self, results: &[Conformance], ids: &[&str]) -> Vec<&(String, String)> {
        let judged = |(subject, check): &&(String, String)| {
            results.iter().any(|result| result.subject == *subject) && ids.contains(&check.as_str())
        };
        self.deviations.iter().chain(&self.unclear).filter(|line| !judged(line)).collect()
    }

    /// Compares `results` with it. A check that was not judged is neither new nor fixed. Nor is an unclear one that is named, for whichever
    /// reason.
    #[must_use]
    pub fn compare(&self, results: &[Conformance]) -> Compared {
        let new = verdicts(results, Verdict::Deviates).filter(|found| !self.deviations.contains(found)).collect();
        let fixed = verdicts(results, Verdict::Meets).filter(|found| self.deviations.contains(found)).collect();
        let strict = results.iter().filter(|result| !result.allow_unclear);
        let named = |found: &(String, String)| self.deviations.contains(found) || self.unclear.contains(found);
        let unclear = verdicts(strict, Verdict::Unclear).filter(|found| !named(found)).collect();
        let too_few = results.iter().flat_map(|result| result.too_few.iter().cloned()).collect();
        Compared { new, fixed, unclear, too_few }
    }
}

impl Compared {
    /// Whether nothing fails.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.new.is_empty() && self.fixed.is_empty() && self.unclear.is_empty() && self.too_few.is_empty()
    }
}

/// Behind a check that may be unclear.
const UNCLEAR: &str = "unclear";

fn verdicts<'a>(
    results: impl IntoIterator<Item = &'a Conformance>,
    verdict: Verdict,
) -> impl Iterator<Item = (String, String)> {
    results.into_iter().flat_map(move |result| {
        let checks = result.checks.iter().filter(move |judged| judged.verdict == verdict);
        checks.map(|judged| (result.subject.clone(), judged.id.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Subject};

    #[test]
    fn a_deviation_is_new_once_and_a_mended_one_is_named() {
        let only = |id: &str| Plan { only: vec![id.to_string()], seeds: 1, ..Plan::default() };
        // AIMD that takes a quarter away, judged as Reno.
        let spec = cwnd::Spec::parse("aimd:a=1,b=1/4").expect("registered");
        let results = [only("5681-halve").judge(&Subject::new("quarter", crate::Law::Reno, spec))];
        let found = ("quarter".to_string(), "5681-halve".to_string());
        assert_eq!(Baseline::default().compare(&results).new, [found]);
        let known = Baseline::parse(&Baseline::print(&results)).expect("its own text");
        assert_eq!(known.compare(&results), Compared::default());
        let reno = Subject::new("quarter", crate::Law::Reno, cwnd::Spec::parse("reno").expect("registered"));
        assert_eq!(known.compare(&[only("5681-halve").judge(&reno)]).fixed.len(), 1);
        assert_eq!(Baseline::parse("\nalone unclear").map_err(|error| error.line), Err(2));
    }

    #[test]
    fn a_check_that_may_be_unclear_may_be_met() {
        let judged = |verdict| {
            let plan = Plan { only: vec!["5681-initial".to_string()], seeds: 1, ..Plan::default() };
            let mut result = plan.judge(&Subject::parse("reno").expect("registered"));
            (result.subject, result.checks[0].verdict) = ("my reno".to_string(), verdict);
            [result]
        };
        let unclear = judged(Verdict::Unclear);
        assert!(!Baseline::default().compare(&unclear).passes());
        let text = Baseline::print(&unclear);
        assert!(text.ends_with("my reno 5681-initial unclear\n"), "{text}");
        let known = Baseline::parse(&text).expect("its own text");
        assert!(known.compare(&unclear).passes() && known.compare(&judged(Verdict::Meets)).passes());
        assert!(!known.compare(&judged(Verdict::Deviates)).passes());
    }
}
