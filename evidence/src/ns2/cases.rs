//! TCP and queues of ns-2 against the eras here: the cases and tolerances of `cases.toml`, and how far both sides agree.

use std::path::Path;

use cwnd_run::measure::{Domain, Estimate, Summary, jain};
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::Scenario;
use serde::Deserialize;

use super::output::Run;
use super::{Experiment, read, scenario};
use crate::Error;
use crate::page::shown;

/// `cases.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cases {
    tolerance: Tolerance,
    pub(crate) case: Vec<Case>,
    #[serde(default)]
    note: Vec<Note>,
}

/// How far means over seeds may differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerance {
    /// Relative difference.
    utilisation: f64,
    /// The larger over the smaller.
    loss_rate: f64,
    /// The larger over the smaller.
    mark_rate: f64,
    /// Relative difference.
    queue_delay: f64,
    /// Absolute difference.
    jain: f64,
}

/// A scenario run with several ways of recovery.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    name: String,
    scenario: String,
    set: Vec<String>,
    sides: Vec<Pair>,
    measures: Vec<Measure>,
}

/// A way of recovery here, and the agent of that kind in ns-2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    recovery: String,
    /// Changes of the scenario that belong to `switches`.
    #[serde(default)]
    set: Vec<String>,
    /// ns-2's switches that are not as in the year of the era: class, name, value.
    #[serde(default)]
    switches: Vec<String>,
}

/// Why results differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    cases: Vec<String>,
    sides: Vec<String>,
    measures: Vec<Measure>,
    text: String,
    /// No attempt explains the difference.
    #[serde(default)]
    open: bool,
}

/// The compared measure, at the bottleneck or of all flows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Measure {
    Utilisation,
    LossRate,
    MarkRate,
    QueueDelay,
    Jain,
}

/// The values of a run on one side.
#[derive(Clone, Copy)]
struct Values {
    utilisation: f64,
    loss_rate: f64,
    mark_rate: f64,
    queue_delay_ms: f64,
    jain: f64,
}

impl Cases {
    /// Reads `cases.toml`.
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        read(&root.join("evidence/ns2/cases.toml"))
    }

    /// All runs of ns-2.
    pub(crate) fn experiments(&self, root: &Path) -> Result<Vec<Experiment<'_>>, Error> {
        let mut all = Vec::new();
        for case in &self.case {
            for pair in &case.sides {
                let scenario = case.scenario(root, pair)?;
                let runs = scenario.seeds().len() as u32;
                all.push(Experiment::new(case.name.clone(), &pair.name(), None, &scenario, &pair.switches, runs)?);
            }
        }
        Ok(all)
    }

    /// The part of the page, after runs on this side; and how many differences have no note.
    pub(crate) fn page(&self, root: &Path, runs: &dyn Fn(&str, &str) -> Vec<Run>) -> Result<(String, usize), Error> {
        let mut text = String::new();
        let (mut judged, mut outside, mut unexplained) = (0, 0, 0);
        for case in &self.case {
            text.push_str(&format!(
                "\n### {}\n\n| recovery | measure | ns-2 | cwnd | difference | tolerance | verdict |\n|{}\n",
                case.name,
                " --- |".repeat(7)
            ));
            let mut notes: Vec<&Note> = Vec::new();
            for pair in &case.sides {
                let scenario = case.scenario(root, pair)?;
                let link = scenario.setup(0).links[scenario.bottleneck()].rate.unwrap_or(0) as f64;
                let theirs: Vec<Values> =
                    runs(&case.name, &pair.name()).iter().map(|run| Values::theirs(run, link)).collect();
                if theirs.is_empty() {
                    text.push_str(&format!("| {} | | not run yet | | | | |\n", pair.name()));
                    continue;
                }
                let ours = run_all(vec![scenario], &())?;
                let ours: Vec<Values> = ours.iter().flat_map(|runs| &runs.summaries).map(Values::ours).collect();
                for measure in &case.measures {
                    let of = |values: &[Values]| {
                        Estimate::over(
                            &values.iter().map(|values| values.of(*measure)).collect::<Vec<_>>(),
                            Domain::POSITIVE,
                        )
                    };
                    let (Some(ours), Some(theirs)) = (of(&ours), of(&theirs)) else { continue };
                    let agrees = measure.agrees(ours.mean, theirs.mean, &self.tolerance);
                    let concerns = |note: &&Note| note.concerns(&case.name, &pair.name(), *measure);
                    let note = self.note.iter().find(concerns).filter(|_| !agrees);
                    judged += 1;
                    outside += usize::from(!agrees);
                    unexplained += usize::from(!agrees && note.is_none_or(|note| note.open));
                    let verdict = match note {
                        _ if agrees => "agrees",
                        None => "**differs**; undecided: no experiment yet",
                        Some(note) => {
                            if !notes.iter().any(|known| std::ptr::eq(*known, note)) {
                                notes.push(note);
                            }
                            "**differs**, see below"
                        }
                    };
                    text.push_str(&format!(
                        "| {} | {} | {} | {} | {} | {} | {verdict} |\n",
                        pair.name(),
                        measure.title(),
                        shown(&theirs),
                        shown(&ours),
                        measure.difference(ours.mean, theirs.mean),
                        measure.tolerance(&self.tolerance)
                    ));
                }
            }
            for note in notes {
                text.push_str(&format!("\n{}: {}\n", note.sides.join("; "), note.text));
            }
        }
        let verdict = format!(
            "{judged} comparisons: {outside} outside the tolerance, {unexplained} of these without an experiment that explains it."
        );
        println!("{verdict}");
        Ok((format!("{verdict}\n{text}"), unexplained))
    }
}

impl Case {
    fn scenario(&self, root: &Path, pair: &Pair) -> Result<Scenario, Error> {
        let recovery = format!("recovery={}", pair.recovery);
        scenario(root, &self.scenario, &[self.set.as_slice(), &[recovery], &pair.set].concat())
    }
}

impl Pair {
    /// As tables and records call it.
    fn name(&self) -> String {
        let changes = self.switches.iter().map(|switch| format!("ns-2: {switch}"));
        let changes = changes.chain(self.set.iter().map(|set| format!("both: {set}")));
        [self.recovery.clone()].into_iter().chain(changes).collect::<Vec<_>>().join(", ")
    }
}

impl Note {
    fn concerns(&self, case: &str, side: &str, measure: Measure) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|known| known == name);
        has(&self.cases, case) && has(&self.sides, side) && self.measures.contains(&measure)
    }
}

impl Values {
    /// `rate` is that of the bottleneck, bit/s.
    fn theirs(run: &Run, rate: f64) -> Self {
        Self {
            utilisation: run.bottleneck.bits_per_s / rate,
            loss_rate: run.bottleneck.loss_rate,
            mark_rate: run.bottleneck.mark_rate,
            queue_delay_ms: 1e3 * run.bottleneck.queue_delay_s,
            jain: jain(&run.packets_per_s).unwrap_or(f64::NAN),
        }
    }

    fn ours(summary: &Summary) -> Self {
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Self {
            utilisation: or_nan(summary.utilisation),
            loss_rate: or_nan(summary.loss_rate),
            mark_rate: or_nan(summary.mark_rate),
            queue_delay_ms: 1e3 * or_nan(summary.queue_delay_mean_s),
            jain: or_nan(summary.jain),
        }
    }

    fn of(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Utilisation => self.utilisation,
            Measure::LossRate => self.loss_rate,
            Measure::MarkRate => self.mark_rate,
            Measure::QueueDelay => self.queue_delay_ms,
            Measure::Jain => self.jain,
        }
    }
}

impl Measure {
    fn title(self) -> &'static str {
        match self {
            Self::Utilisation => "utilisation",
            Self::LossRate => "loss rate",
            Self::MarkRate => "mark rate",
            Self::QueueDelay => "mean queueing delay, ms",
            Self::Jain => "Jain index",
        }
    }

    /// Whether two means are within the tolerance; NaN never is. Two rates of zero are equal.
    fn agrees(self, ours: f64, theirs: f64, tolerance: &Tolerance) -> bool {
        let ratio = |most| ours == theirs || (ours / theirs).max(theirs / ours) <= most;
        match self {
            Self::Utilisation => (ours / theirs - 1.0).abs() <= tolerance.utilisation,
            Self::LossRate => ratio(tolerance.loss_rate),
            Self::MarkRate => ratio(tolerance.mark_rate),
            Self::QueueDelay => (ours / theirs - 1.0).abs() <= tolerance.queue_delay,
            Self::Jain => (ours - theirs).abs() <= tolerance.jain,
        }
    }

    /// How far apart two means are, as people read it.
    fn difference(self, ours: f64, theirs: f64) -> String {
        match self {
            Self::LossRate | Self::MarkRate if ours == theirs => "none".to_owned(),
            Self::LossRate | Self::MarkRate => format!("× {:.2}", (ours / theirs).max(theirs / ours)),
            Self::Jain => format!("{:+.3}", ours - theirs),
            Self::Utilisation | Self::QueueDelay => format!("{:+.1} %", 100.0 * (ours / theirs - 1.0)),
        }
    }

    fn tolerance(self, tolerance: &Tolerance) -> String {
        match self {
            Self::Utilisation => format!("± {:.0} %", 100.0 * tolerance.utilisation),
            Self::LossRate => format!("× {:.1}", tolerance.loss_rate),
            Self::MarkRate => format!("× {:.1}", tolerance.mark_rate),
            Self::QueueDelay => format!("± {:.0} %", 100.0 * tolerance.queue_delay),
            Self::Jain => format!("± {}", tolerance.jain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    const TOLERANCE: Tolerance =
        Tolerance { utilisation: 0.03, loss_rate: 1.5, mark_rate: 1.5, queue_delay: 0.15, jain: 0.05 };

    #[test]
    fn tolerances_hold_in_both_directions() {
        let edges = [
            (Measure::Utilisation, 1.0, [0.971, 1.029], [0.969, 1.031]),
            (Measure::LossRate, 1.0, [0.667, 1.499], [0.666, 1.501]),
            (Measure::MarkRate, 0.0, [0.0, 0.0], [0.001, f64::NAN]),
            (Measure::QueueDelay, 10.0, [8.51, 11.49], [8.49, 11.51]),
            (Measure::Jain, 0.9, [0.851, 0.949], [0.849, 0.951]),
        ];
        for (measure, theirs, inside, beyond) in edges {
            for ours in inside {
                assert!(measure.agrees(ours, theirs, &TOLERANCE), "{measure:?}: {ours}, {theirs}");
            }
            for ours in beyond {
                assert!(!measure.agrees(ours, theirs, &TOLERANCE), "{measure:?}: {ours}, {theirs}");
            }
        }
    }

    #[test]
    fn notes_are_about_what_is_compared() -> Result<(), Error> {
        let cases = Cases::read(root())?;
        for note in &cases.note {
            for name in &note.cases {
                let case = cases.case.iter().find(|case| case.name == *name);
                let case = case.unwrap_or_else(|| panic!("no case `{name}`"));
                assert!(note.measures.iter().all(|measure| case.measures.contains(measure)), "{name}");
                for side in &note.sides {
                    assert!(case.sides.iter().any(|pair| pair.name() == *side), "{name}: {side}");
                }
            }
        }
        Ok(())
    }
}
