//! The results of crossed experiments and claims, and the file of their records: `papers/cross.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::CrossMeasure;
use crate::files::paper_file;
use crate::provenance::Made;
use crate::record_file::RecordFile;
use crate::verdict::Verdict;

/// The results of all experiments and claims.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    /// How it was made.
    pub made: Made,
    /// A table for each measure of each experiment.
    #[serde(default)]
    pub table: Vec<CrossTable>,
    /// The claims.
    #[serde(default)]
    pub claim: Vec<Asked>,
}

/// A measure of an experiment.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CrossTable {
    /// The experiment's id.
    pub experiment: String,
    /// The measure.
    pub measure: CrossMeasure,
    /// The algorithm with the best mean.
    pub best: String,
    /// By algorithm; one without a value is absent.
    pub score: BTreeMap<String, Score>,
}

/// A value of an algorithm: the mean and half the width of its 95 % interval, or the mean alone of a single run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Score(pub Vec<f64>);

/// A claim, and what came of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The sentence.
    pub claim: String,
    /// The paper's id, and where it stands.
    pub source: String,
    /// The values for which the claim holds.
    pub tolerance: String,
    /// By experiment, in their order.
    pub answer: Vec<Answer>,
}

/// The result of a claim in an experiment.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Its id.
    pub experiment: String,
    /// `match` where it holds, `miss` where it does not.
    pub verdict: Verdict,
    /// The number that was compared with the tolerance; null where there is no value.
    pub score: Option<Score>,
}

impl Crossing {
    /// The table of a measure of an experiment.
    #[must_use]
    pub fn table(&self, experiment: &str, measure: CrossMeasure) -> Option<&CrossTable> {
        self.table.iter().find(|table| table.experiment == experiment && table.measure == measure)
    }
}

impl Asked {
    /// The experiments in which it has this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Answer> {
        self.answer.iter().filter(move |answer| answer.verdict == verdict)
    }

    /// Such as `holds on 4 of 5, open on 1`.
    #[must_use]
    pub fn outcome(&self) -> String {
        let [holds, open] = [Verdict::Match, Verdict::Undecided].map(|verdict| self.with(verdict).count());
        let open = if open > 0 { format!(", open on {open}") } else { String::new() };
        format!("holds on {holds} of {}{open}", self.answer.len())
    }
}

impl Score {
    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    /// With the digits that its interval leaves: `0.95 ± 0.02`.
    #[must_use]
    pub fn text(&self) -> String {
        cwnd_run::measure::digits::with_half(self.mean(), self.0.get(1).copied())
    }

    /// The mean alone: `0.95`, `12`.
    #[must_use]
    pub fn short(&self) -> String {
        let mean = self.mean();
        if mean.abs() < 10.0 { format!("{mean:.2}") } else { format!("{mean:.0}") }
    }
}

impl RecordFile for Crossing {
    const NAME: &'static str = "papers/cross.toml";
    const TEXT: &'static str = paper_file!("cross.toml");
    const HEAD: &'static str = "\
# Every algorithm of the five papers on the experiments of all five, and their claims, at reduced length: means with half of the 95 %
# interval. Written by `cargo xtask papers cross`; claims.toml has the experiments and claims.
";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_counts_what_holds_and_what_is_open() {
        let answer = |verdict| Answer { experiment: "tree".to_string(), verdict, score: None };
        let mut asked = Asked {
            claim: "UDT is fair".to_string(),
            source: "daimd, section V".to_string(),
            tolerance: "≥ 0.95".to_string(),
            answer: vec![answer(Verdict::Match), answer(Verdict::Miss)],
        };
        assert_eq!(asked.outcome(), "holds on 1 of 2");
        asked.answer.push(answer(Verdict::Undecided));
        assert_eq!(asked.outcome(), "holds on 1 of 3, open on 1");
    }

    #[test]
    fn what_is_on_record_reads_back() {
        let recorded = Crossing::recorded().unwrap_or_else(|error| panic!("{error}"));
        let again = Crossing::read("again", &recorded.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, recorded);
    }
}
