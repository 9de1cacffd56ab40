//! Verdicts as text.

use std::fmt::Write as _;

use cwnd_run::measure::Estimate;
use cwnd_run::measure::digits::{cell, number};
use cwnd_text::counted;

use crate::check::{Check, Suite};
use crate::judge::{Conformance, Judged, Verdict, span};

/// The verdicts on a terminal: deviations and unclear checks in full, the rest counted.
#[must_use]
pub fn conformance(result: &Conformance, all: bool) -> String {
    let with = |verdict| result.count(verdict);
    let mut text = format!(
        "{}: {} meets, {} deviates, {} unclear, {} not applicable ({})\n",
        result.subject,
        with(Verdict::Meets),
        with(Verdict::Deviates),
        with(Verdict::Unclear),
        with(Verdict::NotApplicable),
        counted(result.seeds.len(), "seed")
    );
    for warning in &result.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    for (suite, applied, of) in result.applied() {
        let _ = writeln!(text, "{}: {applied} of {} applied", suite.name(), counted(of, "check"));
    }
    for few in &result.too_few {
        let _ = writeln!(text, "too few: {few}");
    }
    for suite in Suite::ALL {
        let shown = |judged: &&Judged| all || matches!(judged.verdict, Verdict::Deviates | Verdict::Unclear);
        let of_suite: Vec<&Judged> =
            result.checks.iter().filter(|judged| judged.suite == suite).filter(shown).collect();
        if of_suite.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", suite.title());
        for judged in of_suite {
            let _ = writeln!(text, "  {:15} {}", judged.verdict.name(), line(judged));
            if matches!(judged.verdict, Verdict::Deviates | Verdict::Unclear) {
                if let Some(causes) = causes(judged) {
                    let _ = writeln!(text, "  {:15} {causes}", "");
                }
                let _ = writeln!(text, "  {:15} {}", "", judged.repeat);
                if let Some(link) = &judged.link {
                    let _ = writeln!(text, "  {:15} cwnd run '{link}'", "");
                }
            }
        }
    }
    text
}

/// Advice about unclear checks.
pub const UNCLEAR: &str = "unclear fails as a deviation does. Where the interval lies across an end, more seeds (`--seeds 20`) decide; \
where the path did not raise the question, the note says why. To accept one, name it in the baseline; to accept all, \
`--allow-unclear`, or `Subject::allow_unclear` in tests.";

/// A number over seeds with its [`span`] where that is wider than a number of five digits.
#[must_use]
pub fn found(value: &Estimate) -> String {
    let (low, high) = span(value);
    if low < high {
        return cell(Some(Estimate { low, high, ..*value }), 1.0);
    }
    let text = number(Some(value.mean));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// A verdict in a line: the requirement, the finding, the accepted range.
#[must_use]
pub fn line(judged: &Judged) -> String {
    let Judged { id, section, level, requirement, measured, accepted, .. } = judged;
    let mut text = format!("{id} ({}, {}): {requirement}", place(judged.suite, section), level.name());
    match (&judged.value, &judged.note) {
        (Some(value), note) => {
            let _ = write!(text, ": {measured}: {}, accepted {accepted}", found(value));
            if let Some(note) = note {
                let _ = write!(text, "; {note}");
            }
        }
        (None, Some(note)) => {
            let _ = write!(text, ": {note}");
            if judged.verdict != Verdict::NotApplicable {
                let _ = write!(text, "; no number for {measured}, accepted {accepted}");
            }
        }
        (None, None) => {}
    }
    text
}

/// The most likely causes as a line: `likely causes: …; or …`.
#[must_use]
pub fn causes(judged: &Judged) -> Option<String> {
    (!judged.causes.is_empty()).then(|| format!("likely causes: {}", judged.causes.join("; or ")))
}

/// The document and the section of a clause.
#[must_use]
pub fn place(suite: Suite, section: &str) -> String {
    let document = match suite {
        _ if section.starts_with("RFC") => return section.to_string(),
        Suite::Bbr => "draft-ietf-ccwg-bbr".to_string(),
        _ => suite.name().replace("rfc", "RFC "),
    };
    if suite == Suite::Bbr { format!("{document} {section}") } else { format!("{document} section {section}") }
}

/// Checks without a subject, as `cwnd conform --list` prints them.
#[must_use]
pub fn list(checks: &[&Check]) -> String {
    let mut text = String::new();
    for suite in Suite::ALL {
        let of_suite: Vec<_> = checks.iter().filter(|check| check.suite == suite).collect();
        if of_suite.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}: {}", suite.name(), suite.title());
        for check in of_suite {
            let place = place(suite, check.section);
            let _ = writeln!(
                text,
                "  {:28} {:11} {:6} {} ({place}); {}: {}",
                check.id,
                check.level.name(),
                check.looks.name(),
                check.requirement,
                check.measured,
                check.accepted
            );
        }
        text.push('\n');
    }
    text
}
