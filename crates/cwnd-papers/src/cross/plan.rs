//! The crossed experiments and their claims: `papers/claims.toml`.

use serde::Deserialize;

use super::measure::CrossMeasure;
use crate::error::{PaperError, Result};
use crate::files::paper_file;
use crate::quantity::Quantity;
use crate::selection::PAPERS;
use crate::settings::Scale;
use crate::tolerance::Tolerance;
use cwnd_run::scenario::{Document, Scenario, Source};

/// Algorithms, experiments and claims, written down before the first run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The columns of every table.
    pub algorithm: Vec<CrossAlgorithm>,
    /// A table each, by paper.
    pub experiment: Vec<CrossExperiment>,
    /// By paper.
    pub claim: Vec<CrossClaim>,
}

/// An algorithm of a paper, or a baseline of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossAlgorithm {
    /// Its name in the paper.
    pub name: String,
    /// As a scenario names it: `simd:beta=1/16`.
    pub spec: String,
    /// The id of the paper whose own it is; none for a baseline.
    pub own: Option<String>,
}

/// A simulated experiment of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossExperiment {
    /// A short name, unique.
    pub id: String,
    /// The paper's id.
    pub paper: String,
    /// The scenario's name in the directory of the paper.
    pub scenario: String,
    /// Where the paper has it: `Fig. 10`.
    pub place: String,
    /// A few words.
    pub what: String,
    /// The number of measured flows, from the first.
    pub flows: usize,
    /// The number of groups of flows that run the algorithm, from the first.
    pub groups: usize,
    /// Its measures, that of the paper first.
    pub measures: Vec<CrossMeasure>,
    /// The conditions of claims that it meets.
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    quick: Vec<String>,
    #[serde(default)]
    full: Vec<String>,
    settle: Option<[f64; 2]>,
    quick_settle: Option<[f64; 2]>,
}

/// A sentence of a paper that can be asked of other experiments too.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossClaim {
    /// The sentence.
    pub text: String,
    /// The paper's id, and where it stands.
    pub source: String,
    /// Whose value is asked for.
    pub algorithm: String,
    /// With which it is compared.
    #[serde(default)]
    pub than: Vec<String>,
    /// The measure.
    pub measure: CrossMeasure,
    /// How.
    pub compare: Compare,
    quantity: Quantity,
    /// Asked only of experiments with one of these tags; of all where there is none.
    #[serde(default)]
    pub on: Vec<String>,
}

/// The comparison of a claim.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// The value of the algorithm alone.
    Value,
    /// It less the value of the other.
    Difference,
    /// It over the value of the other.
    Ratio,
    /// How much the best of it and the others is above it.
    BestLess,
}

impl Plan {
    /// The plan that the program carries.
    ///
    /// # Errors
    /// `papers/claims.toml` is no TOML, has an unknown key, or names what does not exist: the first place.
    pub fn written() -> Result<Self> {
        let plan: Self = Source::read(NAME, TEXT, &[])?.document()?;
        plan.check()?;
        Ok(plan)
    }

    /// The index of the algorithm called `name`.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<usize> {
        self.algorithm.iter().position(|algorithm| algorithm.name == name)
    }

    fn check(&self) -> Result {
        let unsettled = |one: &&CrossExperiment| {
            one.settle.is_none() && one.measures.iter().any(|measure| measure.needs_settling())
        };
        if let Some(experiment) = self.experiment.iter().find(unsettled) {
            let place = format!("{NAME}, `{}`", experiment.id);
            return Err(PaperError::Missing { place, what: "time", name: "settle".to_string() });
        }
        for claim in &self.claim {
            let missing = |what, name: &str| PaperError::Missing {
                place: format!("{NAME}, \"{}\"", claim.text),
                what,
                name: name.to_string(),
            };
            let unknown = std::iter::once(&claim.algorithm).chain(&claim.than).find(|name| self.index(name).is_none());
            if let Some(name) = unknown {
                return Err(missing("algorithm", name));
            }
            if claim.tolerance().is_none() || claim.than.is_empty() != (claim.compare == Compare::Value) {
                return Err(missing("comparison", "of this kind"));
            }
            if !self.experiment.iter().any(|experiment| claim.asks(experiment)) {
                return Err(missing("experiment with the measure", &claim.measure.to_string()));
            }
        }
        Ok(())
    }
}

impl CrossExperiment {
    /// The experiment with `spec` in its groups of flows.
    pub(super) fn scenario(&self, spec: &str, scale: Scale) -> Result<Scenario> {
        let missing = || PaperError::Missing {
            place: format!("{NAME}, `{}`", self.id),
            what: "scenario",
            name: format!("{}/{}", self.paper, self.scenario),
        };
        let paper = PAPERS.into_iter().find(|paper| paper.id() == self.paper).ok_or_else(missing)?;
        let (file, text) = paper.scenario(&self.scenario).ok_or_else(missing)?;
        let at_length = if scale == Scale::Quick { &self.quick } else { &self.full };
        let overrides = [self.set.clone(), at_length.clone()].concat();
        let mut document = Document::of(&Source::read(&file, text, &overrides)?)?;
        let tested = document.flow.get_mut(..self.groups).ok_or_else(missing)?;
        crate::change::set_algorithm(tested, spec)?;
        Ok(Scenario::check(document)?)
    }

    /// From when to when convergence or response is looked for, seconds.
    pub(super) fn settle(&self, scale: Scale) -> Option<[f64; 2]> {
        self.quick_settle.filter(|_| scale == Scale::Quick).or(self.settle)
    }

    /// Whether the algorithm is the own one of its paper.
    #[must_use]
    pub fn is_own(&self, algorithm: &CrossAlgorithm) -> bool {
        algorithm.own.as_ref() == Some(&self.paper)
    }
}

impl CrossClaim {
    /// Whether it can be asked of an experiment.
    #[must_use]
    pub fn asks(&self, experiment: &CrossExperiment) -> bool {
        experiment.measures.contains(&self.measure)
            && (self.on.is_empty() || self.on.iter().any(|tag| experiment.tags.contains(tag)))
    }

    /// The values for which the claim holds, by its kind of quantity.
    pub(super) fn tolerance(&self) -> Option<Tolerance> {
        self.quantity.tolerance(None, "")
    }
}

const NAME: &str = "papers/claims.toml";
const TEXT: &str = paper_file!("claims.toml");

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_algorithm_runs_in_every_experiment_at_both_lengths() {
        let plan = Plan::written().unwrap_or_else(|error| panic!("{error}"));
        let ids: BTreeSet<&String> = plan.experiment.iter().map(|experiment| &experiment.id).collect();
        assert_eq!(ids.len(), plan.experiment.len());
        for experiment in &plan.experiment {
            for (algorithm, scale) in
                plan.algorithm.iter().flat_map(|one| [Scale::Quick, Scale::Full].map(|scale| (one, scale)))
            {
                let scenario = experiment.scenario(&algorithm.spec, scale);
                let scenario = scenario.unwrap_or_else(|error| panic!("{} {}: {error}", experiment.id, algorithm.name));
                if let Some([from, to]) = experiment.settle(scale) {
                    assert!(from < to && to <= scenario.duration().as_secs_f64(), "{}", experiment.id);
                }
            }
            assert!(plan.algorithm.iter().any(|algorithm| experiment.is_own(algorithm)), "{}", experiment.id);
            let tested = experiment.measures.iter().any(|measure| measure.needs_settling());
            assert_eq!(tested, experiment.settle.is_some(), "{}", experiment.id);
        }
    }

    #[test]
    fn tags_of_claims_are_those_of_experiments() {
        let plan = Plan::written().unwrap_or_else(|error| panic!("{error}"));
        let tags: BTreeSet<&String> = plan.experiment.iter().flat_map(|experiment| &experiment.tags).collect();
        for claim in &plan.claim {
            assert!(claim.on.iter().all(|tag| tags.contains(tag)), "{}", claim.text);
        }
    }
}
