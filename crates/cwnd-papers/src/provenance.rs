//! The origin of the recorded verdicts: `papers/provenance.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::paper_file;
use super::record_file::RecordFile;
use super::selection::PaperRun;
use super::settings::Scale;

/// The origin of each recorded result: by length, paper and result.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    #[serde(default)]
    quick: Papers,
    #[serde(default)]
    full: Papers,
}

type Papers = BTreeMap<String, BTreeMap<String, Made>>;

/// The origin of a result.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The version with the revision it was built from, `-dirty` where changes were not committed; or the commit that put it on
    /// record, where the revision is not known and older.
    pub revision: String,
    /// The hash of the sources that decide what a run gives; empty where it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sources: String,
    /// Such as `2026-11-24`, UTC.
    pub date: String,
    /// The processor, and how many of it.
    pub machine: String,
    /// The number of runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs: usize,
    /// Simulated time of the shortest and of the longest of them, seconds; 0 without runs.
    #[serde(default, skip_serializing_if = "no_length")]
    pub length_s: [f64; 2],
    /// The first and the last seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<[u64; 2]>,
    /// Wall time of the command, seconds, with the results it made together; none where it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// Processor time of the command, all threads together, seconds; none as for the wall time, which other work on the machine
    /// makes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_s: Option<f64>,
    /// Whether runs of earlier commands could be taken from a store: then all of them take at least these times.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stored: bool,
    /// The number of results of the command.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub together: usize,
}

impl RecordFile for Provenance {
    const NAME: &'static str = "papers/provenance.toml";
    const TEXT: &'static str = paper_file!("provenance.toml");
    const HEAD: &'static str = "\
# What the verdicts of expected.toml (`quick`) and full.toml (`full`) were made with, written by `cargo xtask papers record`.
";
}

impl Provenance {
    /// The origin of a result; none if it is not on record.
    #[must_use]
    pub fn of(&self, scale: Scale, paper: &str, result: &str) -> Option<&Made> {
        self.at(scale).get(paper)?.get(result)
    }

    /// All results of a paper.
    pub fn results(&self, scale: Scale, paper: &str) -> impl Iterator<Item = (&String, &Made)> {
        self.at(scale).get(paper).into_iter().flatten()
    }

    /// Replaces the known origin of the results of `runs`: `of_all` describes all of them.
    pub fn update(&mut self, scale: Scale, runs: &[PaperRun], of_all: &Made) {
        let papers = match scale {
            Scale::Quick => &mut self.quick,
            Scale::Full => &mut self.full,
        };
        let together = runs.iter().map(|run| run.results.len()).sum();
        for run in runs {
            let results = papers.entry(run.published.paper.id.clone()).or_default();
            for result in &run.results {
                let seeds = result.log.seeds.first().zip(result.log.seeds.last()).map(|(first, last)| [*first, *last]);
                let made = Made {
                    runs: result.log.cells,
                    length_s: result.log.length_s.unwrap_or_default(),
                    seeds,
                    together,
                    ..of_all.clone()
                };
                results.insert(run.published.result[result.index].id.clone(), made);
            }
        }
    }

    fn at(&self, scale: Scale) -> &Papers {
        match scale {
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn no_length(length: &[f64; 2]) -> bool {
    *length == [0.0; 2]
}
