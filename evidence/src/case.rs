//! The cases and tolerances of a comparison, read from the `cases.toml` of a directory.

use std::path::Path;

use cwnd_run::scenario::Scenario;
use serde::Deserialize;

use crate::{Error, Experiment};

/// All cases of a directory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cases {
    pub(crate) tolerance: Tolerance,
    pub(crate) case: Vec<Case>,
    #[serde(default)]
    pub(crate) note: Vec<Note>,
}

/// How far two results may differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tolerance {
    /// Relative difference.
    utilisation: f64,
    /// Relative difference.
    goodput: f64,
    /// The larger over the smaller.
    loss_rate: f64,
}

/// A scenario run with several algorithms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Its file.
    pub(crate) scenario: String,
    pub(crate) algorithms: Vec<Pair>,
    pub(crate) measures: Vec<Measure>,
}

/// An algorithm here and elsewhere.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "Written")]
pub(crate) struct Pair {
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Same(String),
    Different { ours: String, theirs: String },
}

/// Why results differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// Scenarios it is about.
    scenarios: Vec<String>,
    measures: Vec<Measure>,
    /// The algorithms elsewhere.
    pub(crate) theirs: Vec<String>,
    /// In place of the tolerance, for each of the scenarios: from where to where the distance may lie.
    ranges: Vec<[f64; 2]>,
    pub(crate) text: String,
}

/// The compared measure.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    Utilisation,
    LossRate,
    Goodput,
    /// Shown, not judged: where packets wait differs, see the directory's README.
    QueueDelay,
}

impl From<Written> for Pair {
    fn from(written: Written) -> Self {
        match written {
            Written::Same(name) => Self { ours: name.clone(), theirs: name },
            Written::Different { ours, theirs } => Self { ours, theirs },
        }
    }
}

impl Pair {
    /// As the table calls it.
    pub(crate) fn name(&self) -> String {
        if self.ours == self.theirs {
            self.ours.clone()
        } else {
            format!("{} (ns-3) / {} (cwnd)", self.theirs, self.ours)
        }
    }
}

impl Cases {
    /// Reads `cases.toml` in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("cases.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|source| Error::Cases { path, source })
    }

    /// Every algorithm of every case, with its scenario.
    pub(crate) fn experiments(&self, directory: &Path) -> Result<Vec<Experiment<'_>>, Error> {
        let pairs = self.case.iter().flat_map(|case| case.algorithms.iter().map(move |pair| (case, pair)));
        pairs
            .map(|(case, pair)| Ok(Experiment { case, pair, scenario: case.scenario(directory, &pair.ours)? }))
            .collect()
    }
}

impl Note {
    /// Where the distance of this result may lie; none if it is about another.
    pub(crate) fn range(&self, case: &Case, measure: Measure, theirs: &str) -> Option<[f64; 2]> {
        let about = self.measures.contains(&measure) && self.theirs.iter().any(|name| name == theirs);
        let at = self.scenarios.iter().position(|scenario| *scenario == case.scenario).filter(|_| about)?;
        self.ranges.get(at).copied()
    }
}

impl Case {
    /// The name of its scenario.
    pub(crate) fn name(&self) -> &str {
        self.scenario.trim_end_matches(".toml")
    }

    /// Its scenario with an algorithm for all flows.
    fn scenario(&self, directory: &Path, algorithm: &str) -> Result<Scenario, Error> {
        let path = directory.join(&self.scenario);
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        let overrides = [format!("flow.0.algorithm={algorithm}")];
        Scenario::read(&path.display().to_string(), &text, &overrides).map_err(|error| Error::Scenario(Box::new(error)))
    }
}

impl Measure {
    /// Its name in the table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Utilisation => "utilisation",
            Self::LossRate => "loss rate",
            Self::Goodput => "goodput, Mbit/s",
            Self::QueueDelay => "mean queueing delay, ms",
        }
    }

    /// How far apart two values are: a ratio for what spans orders of magnitude, a relative difference for the rest.
    pub(crate) fn distance(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Self::LossRate => (ours / theirs).max(theirs / ours),
            _ => ours / theirs - 1.0,
        }
    }

    /// A distance as people read it.
    pub(crate) fn shown(self, distance: f64) -> String {
        match self {
            Self::LossRate => format!("× {distance:.2}"),
            _ => format!("{:+.1} %", 100.0 * distance),
        }
    }

    /// The tolerance as people read it.
    pub(crate) fn tolerance(self, tolerance: &Tolerance) -> String {
        match self {
            Self::Utilisation => format!("± {:.0} %", 100.0 * tolerance.utilisation),
            Self::Goodput => format!("± {:.0} %", 100.0 * tolerance.goodput),
            Self::LossRate => format!("× {:.1}", tolerance.loss_rate),
            Self::QueueDelay => String::new(),
        }
    }

    /// Whether a distance is tolerated; none where no tolerance was fixed. NaN never is.
    pub(crate) fn agrees(self, distance: f64, tolerance: &Tolerance) -> Option<bool> {
        match self {
            Self::Utilisation => Some(distance.abs() <= tolerance.utilisation),
            Self::Goodput => Some(distance.abs() <= tolerance.goodput),
            Self::LossRate => Some(distance <= tolerance.loss_rate),
            Self::QueueDelay => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance { utilisation: 0.03, goodput: 0.15, loss_rate: 1.5 };

    #[test]
    fn tolerances_hold_in_both_directions() {
        let agree =
            |measure: Measure, ours, theirs| measure.agrees(measure.distance(ours, theirs), &TOLERANCE) == Some(true);
        assert!(agree(Measure::Utilisation, 0.971, 1.0) && !agree(Measure::Utilisation, 0.969, 1.0));
        assert!(agree(Measure::Goodput, 1.149, 1.0) && !agree(Measure::Goodput, 1.151, 1.0));
        assert!(agree(Measure::LossRate, 1.49, 1.0) && agree(Measure::LossRate, 1.0, 1.49));
        assert!(!agree(Measure::LossRate, 1.51, 1.0) && !agree(Measure::LossRate, 1.0, 1.51));
    }

    #[test]
    fn every_scenario_of_a_note_has_a_range() -> Result<(), Error> {
        let cases = Cases::read(&crate::root().join("evidence/ns3"))?;
        for note in &cases.note {
            assert_eq!(note.ranges.len(), note.scenarios.len(), "{:?}", note.scenarios);
            assert!(note.ranges.iter().all(|[low, high]| low < high), "{:?}", note.ranges);
        }
        Ok(())
    }

    #[test]
    fn what_is_no_number_never_agrees() {
        for measure in [Measure::LossRate, Measure::Goodput, Measure::Utilisation] {
            assert_eq!(measure.agrees(measure.distance(0.0, 0.0), &TOLERANCE), Some(false));
        }
    }
}
