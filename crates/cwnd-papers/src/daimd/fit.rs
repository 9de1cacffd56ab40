//! A profile of UDT fitted to the tables: the candidates, and how well one chosen on a half of the tables does on the other.
//!
//! `papers/daimd/fitting.toml` has the halves and the candidates, registered before the search; `ablation.toml` and `fitted.toml` have what
//! each gives at reduced length. The search is the ignored test at the end.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::ablation::{Ablation, Variant};
use crate::files::paper_file;
use crate::record_file::RecordFile;
use cwnd_run::scenario::ScenarioError;

/// `papers/daimd/fitting.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fitting {
    halves: [Vec<String>; 2],
    unused: Vec<String>,
    candidates: Vec<Candidate>,
}

/// A profile with more than one rule changed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    profile: String,
    change: String,
}

/// `papers/daimd/fitted.toml`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Fitted {
    #[serde(default)]
    variant: Vec<Variant>,
}

impl RecordFile for Fitted {
    const NAME: &'static str = "papers/daimd/fitted.toml";
    const TEXT: &'static str = paper_file!("daimd/fitted.toml");
    const HEAD: &'static str = "\
# What the candidates of fitting.toml with more than one change give, at reduced length. Written by the test `search` of
# crates/cwnd-papers/src/daimd/fit.rs. As in ablation.toml identities were taken out on 28 November 2026: the indices of one flow, and from table-1-flows the rates of
# the flow that is alone, which are the aggregates of table-1. The mean distances of table-1-flows, which cannot be had without them, are left out.
";
}

/// The score of a candidate on some tables.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Score {
    /// Printed numbers that match, miss, and are undecided.
    counts: [usize; 3],
    /// Mean relative distance from the printed numbers, each table alike.
    distance: f64,
}

impl Score {
    /// None if the candidate was not run on one of `results`.
    fn of(variant: &Variant, results: &[String]) -> Option<Self> {
        let mut counts = [0; 3];
        let mut distances = Vec::new();
        for result in results {
            let of_result = variant.counts.get(result)?;
            counts.iter_mut().zip(of_result).for_each(|(sum, count)| *sum += count);
            distances.push(*variant.distance.get(result)?);
        }
        Some(Self { counts, distance: distances.iter().sum::<f64>() / distances.len().max(1) as f64 })
    }

    /// The better first.
    fn order(&self, other: &Self) -> Ordering {
        let net = |score: &Self| score.counts[0] as i64 - score.counts[1] as i64;
        net(other).cmp(&net(self)).then(self.distance.total_cmp(&other.distance))
    }

    /// The part of the decided numbers that match, per cent.
    fn share(counts: [usize; 3]) -> f64 {
        100.0 * counts[0] as f64 / (counts[0] + counts[1]).max(1) as f64
    }
}

/// The candidates with their known results: those of one change, then those of more. `paper`, the text of the paper, is none of them, and
/// neither is what the search led to.
fn candidates(ablation: Ablation, fitted: Fitted) -> Vec<Variant> {
    let searched = |variant: &Variant| !["paper", "daimd-fitted"].contains(&variant.profile.as_str());
    let single = ablation.variant.into_iter().filter(searched);
    single.chain(fitted.variant).collect()
}

/// The best on `results`.
fn best<'a>(candidates: &'a [Variant], results: &[String]) -> Option<(&'a Variant, Score)> {
    let scored = candidates.iter().filter_map(|variant| Some((variant, Score::of(variant, results)?)));
    scored.min_by(|(_, one), (_, other)| one.order(other))
}

/// The table of the cross-validation, as `papers/page.md` has it.
fn table(fitting: &Fitting, candidates: &[Variant]) -> Option<String> {
    let mut text = String::from(
        "| chosen on | best candidate | there | on the other half | match there |\n|---|---|---|---|---|\n",
    );
    let shown = |counts: [usize; 3]| format!("{} / {} / {}", counts[0], counts[1], counts[2]);
    let mut outside = [0; 3];
    for (at, half) in fitting.halves.iter().enumerate() {
        let (winner, inside) = best(candidates, half)?;
        let tested = Score::of(winner, &fitting.halves[1 - at])?.counts;
        outside.iter_mut().zip(tested).for_each(|(sum, count)| *sum += count);
        text.push_str(&format!(
            "| {} | `{}` | {} | {} | {:.1} % |\n",
            half.iter().map(|result| format!("`{result}`")).collect::<Vec<_>>().join(", "),
            winner.algorithm(),
            shown(inside.counts),
            shown(tested),
            Score::share(tested),
        ));
    }
    text.push_str(&format!("| both, exchanged | | | {} | {:.1} % |\n", shown(outside), Score::share(outside)));
    let all = fitting.halves.concat();
    let (winner, counts) = best(candidates, &all).map(|(winner, score)| (winner, score.counts))?;
    text.push_str(&format!(
        "| all | `{}` | {} ({:.1} %) | | |\n",
        winner.algorithm(),
        shown(counts),
        Score::share(counts)
    ));
    Some(text)
}

fn fitting() -> Result<Fitting, ScenarioError> {
    cwnd_run::scenario::Source::read("papers/daimd/fitting.toml", paper_file!("daimd/fitting.toml"), &[])?.document()
}

#[test]
fn the_cross_validation_that_is_printed_is_that_of_the_record() {
    let text = || -> Result<String, ScenarioError> {
        let candidates = candidates(Ablation::recorded()?, Fitted::recorded()?);
        Ok(table(&fitting()?, &candidates).unwrap_or_default())
    };
    let table = text().unwrap_or_else(|error| panic!("{error}"));
    println!("{table}");
    assert!(!table.is_empty());
    let page = include_str!("../../../../papers/page.md");
    assert!(page.contains(&table), "papers/page.md has another table than\n{table}");
}

#[test]
fn what_was_searched_is_what_was_registered() {
    let fitting = fitting().unwrap_or_else(|error| panic!("{error}"));
    let fitted = Fitted::recorded().unwrap_or_else(|error| panic!("{error}"));
    for variant in &fitted.variant {
        let registered = |one: &Candidate| (&one.profile, &one.change) == (&variant.profile, &variant.change);
        assert!(fitting.candidates.iter().any(registered), "{} is not registered", variant.algorithm());
        let known = [fitting.halves.concat(), fitting.unused.clone()].concat();
        assert!(variant.counts.keys().all(|result| known.contains(result)), "{:?}", variant.counts);
    }
}

/// Runs the candidates that have no record yet, and records each as it is done: some minutes each.
#[test]
#[ignore = "takes minutes for each candidate"]
fn search() {
    use cwnd_run::cells::Cells;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/daimd/fitted.toml");
    let fitting = fitting().unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let mut fitted = Fitted::read(path, &text).unwrap_or_else(|error| panic!("{error}"));
    for Candidate { profile, change } in fitting.candidates {
        if fitted.variant.iter().any(|known| (&known.profile, &known.change) == (&profile, &change)) {
            continue;
        }
        let mut variant = Variant::named(&profile, change);
        for result in [fitting.halves.concat(), fitting.unused.clone()].concat() {
            variant.run(&result, &Cells::of_user(), &()).unwrap_or_else(|error| panic!("{result}: {error}"));
            println!("{} {result} {:?}", variant.algorithm(), variant.counts[&result]);
        }
        fitted.variant.push(variant);
        std::fs::write(path, fitted.to_toml()).unwrap_or_else(|error| panic!("{error}"));
    }
}
