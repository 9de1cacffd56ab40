//! The files of the papers, without running them.

use std::collections::BTreeSet;

use cwnd_papers::{Kind, PAPERS, Published, Recorded, Scale};
use cwnd_run::scenario::Scenario;

fn published(files: &cwnd_papers::Files) -> Published {
    Published::read(&files.path("published.toml"), files.published).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_compared_result_has_a_runner_and_every_runner_a_result() {
    for files in PAPERS {
        let published = published(files);
        assert_eq!(published.paper.id, files.id);
        for result in &published.result {
            let runs = files.runner(&result.id).is_some();
            assert!(runs || result.kind != Kind::Compared, "{} {} has no runner", files.id, result.id);
        }
        for (id, _) in files.runners {
            assert!(published.result(id).is_some(), "{} {id} is not listed", files.id);
        }
    }
}

#[test]
fn scenarios_say_what_is_assumed_and_quick_shortens_them() {
    for files in PAPERS {
        let published = published(files);
        let known: BTreeSet<&str> = files.scenarios.iter().map(|(name, _)| *name).collect();
        let named = published.result.iter().flat_map(|result| &result.scenarios).map(String::as_str);
        let set = published.assumption.iter().flat_map(|assumption| assumption.sets.keys()).map(String::as_str);
        for name in named.chain(set).chain(published.quick.keys().map(String::as_str)) {
            assert!(known.contains(name), "{}: there is no scenario `{name}`", files.id);
        }
        for (name, text) in files.scenarios {
            let read = |overrides: &[String]| {
                Scenario::read(&files.path(&format!("{name}.toml")), text, overrides)
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
            assert_eq!(read(&[]).to_toml(), read(&assumed).to_toml(), "{} {name} says something else", files.id);
            let quick = [assumed, published.quick.get(*name).cloned().unwrap_or_default()].concat();
            let length = |scenario: &Scenario| scenario.duration().as_nanos() * scenario.seeds().len() as u64;
            assert!(length(&read(&quick)) <= length(&read(&[])), "{} {name}: --quick takes longer", files.id);
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
