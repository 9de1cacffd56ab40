//! The files of the papers, without running them.

use std::collections::BTreeSet;

use cwnd_run::execute::Job;
use cwnd_run::probe::{Kept, Probe};
use cwnd_run::scenario::Scenario;

use super::bench::Bench;
use super::findings::Findings;
use super::{Kind, PAPERS, Published, Recorded, Reproduction, Scale, Settings};

fn published(paper: &Reproduction) -> Published {
    paper.published().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_compared_result_has_a_runner_and_every_runner_a_result() {
    for paper in PAPERS {
        let published = published(paper);
        assert_eq!(published.paper.id, paper.id());
        for result in &published.result {
            let runs = paper.runner(&result.id).is_some();
            assert!(runs || result.kind != Kind::Compared, "{} {} has no runner", paper.id(), result.id);
        }
        for (id, _) in paper.runners {
            assert!(published.result(id).is_some(), "{} {id} is not listed", paper.id());
        }
    }
}

#[test]
fn scenarios_say_what_is_assumed_and_quick_shortens_them() {
    for paper in PAPERS {
        let published = published(paper);
        let known: BTreeSet<&str> = paper.files.scenarios.iter().map(|(name, _)| *name).collect();
        let named = published.result.iter().flat_map(|result| &result.scenarios).map(String::as_str);
        let set = published.assumption.iter().flat_map(|assumption| assumption.sets.keys()).map(String::as_str);
        for name in named.chain(set).chain(published.quick.keys().map(String::as_str)) {
            assert!(known.contains(name), "{}: there is no scenario `{name}`", paper.id());
        }
        for (name, text) in paper.files.scenarios {
            let read = |overrides: &[String]| {
                Scenario::read(&paper.files.path(&format!("{name}.toml")), text, overrides)
                    .unwrap_or_else(|error| panic!("{error}"))
            };
            let assumed: Vec<String> = published
                .assumption
                .iter()
                .flat_map(|assumption| {
                    let keys = assumption.sets.get(*name).cloned().unwrap_or_default();
                    keys.into_iter().map(|key| format!("{key}={}", assumption.text(Scale::Full)))
                })
                .collect();
            assert_eq!(read(&[]).to_toml(), read(&assumed).to_toml(), "{} {name} says something else", paper.id());
            let quick = [assumed, published.quick.get(*name).cloned().unwrap_or_default()].concat();
            let length = |scenario: &Scenario| scenario.duration().as_nanos() * scenario.seeds().len() as u64;
            assert!(length(&read(&quick)) <= length(&read(&[])), "{} {name}: --quick takes longer", paper.id());
        }
    }
}

#[test]
fn what_is_on_record_reads_back() {
    for scale in [Scale::Quick, Scale::Full] {
        let recorded = Recorded::at(scale).unwrap_or_else(|error| panic!("{error}"));
        let again = Recorded::read("again", &recorded.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, recorded);
    }
}

/// Runs are not simulated: each keeps nothing. For which rows a runner has values does not depend on what runs keep.
#[test]
fn every_runner_has_one_value_for_each_listed_row_and_none_for_others() {
    let nothing = |jobs: Vec<Job<Probe>>| Ok(vec![Kept::default(); jobs.len()]);
    let mut faults = Vec::new();
    for (paper, scale) in PAPERS.into_iter().flat_map(|paper| [(paper, Scale::Quick), (paper, Scale::Full)]) {
        let published = published(paper);
        let settings = Settings { scale, assumptions: Vec::new(), variant: None };
        for result in &published.result {
            let Some(runner) = paper.runner(&result.id) else { continue };
            // Closed forms take long at full length, and have the same rows.
            if scale == Scale::Full && result.scenarios.is_empty() {
                continue;
            }
            let bench = Bench::new((&paper.files, &published, result), &settings, &nothing);
            let mut findings = Findings::default();
            runner(&bench, &mut findings).unwrap_or_else(|error| panic!("{} {}: {error}", paper.id(), result.id));
            let place = format!("{} {}, {scale:?}", paper.id(), result.id);
            for row in &result.rows {
                let given = findings.values.iter().filter(|(given, _)| *given == row.id).count();
                let compared = row.kind.unwrap_or(result.kind) == Kind::Compared;
                if given > 1 || given == 0 && compared {
                    faults.push(format!("{place}: {given} values for `{}`", row.id));
                }
            }
            let unlisted = |row: &String| result.rows.iter().all(|listed| listed.id != *row);
            let unlisted = findings.values.iter().filter(|(row, _)| unlisted(row));
            faults.extend(unlisted.map(|(row, _)| format!("{place}: `{row}` is not listed")));
            let mut run: Vec<String> = bench.into_log().scenarios.into_iter().map(|(name, _)| name).collect();
            let mut named = result.scenarios.clone();
            run.sort();
            named.sort();
            if run != named {
                faults.push(format!("{place}: runs {run:?} and names {named:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
