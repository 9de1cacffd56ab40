//! The files of the papers, without running them.

use std::collections::{BTreeMap, BTreeSet};

use cwnd_run::cells::Cells;
use cwnd_run::execute::Job;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

use super::bench::Bench;
use super::computed::Computed;
use super::files::paper_file;
use super::findings::Findings;
use super::{
    Basis, Experiment, JudgedRow, Kind, PAPERS, PaperRun, Provenance, Published, PublishedResult, PublishedRow,
    Quantity, RecordFile, Recorded, Register, Reproduction, Scale, Selection, Settings, Value, Verdict,
};

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
fn what_the_user_sets_prevails_over_what_quick_sets() {
    let nothing = |_| Ok(Vec::new());
    let key = |setting: &str| setting.split_once('=').expect("key=value").0.to_string();
    let mut both = 0;
    for paper in PAPERS {
        let published = published(paper);
        for assumption in &published.assumption {
            let settings = Settings {
                scale: Scale::Quick,
                assumptions: vec![(assumption.key.clone(), "chosen".to_string())],
                variant: None,
            };
            let bench = Bench::new((&paper.files, &published, &published.result[0]), &settings, &nothing);
            for (scenario, keys) in &assumption.sets {
                let overrides = bench.overrides(scenario);
                for set in keys {
                    let mut of_key = overrides.iter().filter(|setting| key(setting) == *set).rev();
                    assert_eq!(of_key.next(), Some(&format!("{set}=chosen")), "{} {scenario}", paper.id());
                    both += usize::from(of_key.next().is_some());
                }
            }
        }
    }
    assert!(both > 0, "no assumption sets what --quick sets");
}

#[test]
fn what_is_on_record_reads_back() {
    for scale in [Scale::Quick, Scale::Full] {
        let recorded = Recorded::at(scale).unwrap_or_else(|error| panic!("{error}"));
        let again = Recorded::read("again", &recorded.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, recorded);
    }
}

#[test]
fn a_row_that_is_compared_is_not_on_record_as_one_that_cannot_be() {
    for scale in [Scale::Quick, Scale::Full] {
        let recorded = Recorded::at(scale).unwrap_or_else(|error| panic!("{error}"));
        for paper in PAPERS {
            for result in &published(paper).result {
                for row in &result.rows {
                    let Some(entry) = recorded.entry(paper.id(), &result.id, &row.id) else { continue };
                    let cannot = row.kind.unwrap_or(result.kind) == Kind::NotReproducible;
                    let place = format!("{} {}: {}, {scale:?}", paper.id(), result.id, row.id);
                    assert_eq!(entry.verdict == Verdict::NotReproducible, cannot, "{place}");
                }
            }
        }
    }
}

/// With `CWND_BLESS` set the verdicts are written anew, without a run, and what changed is printed for the register.
#[test]
fn verdicts_on_record_follow_from_the_numbers_on_record() {
    let mut faults = Vec::new();
    for (scale, name) in [(Scale::Quick, "expected"), (Scale::Full, "full")] {
        let mut recorded = Recorded::at(scale).unwrap_or_else(|error| panic!("{error}"));
        for paper in PAPERS {
            let changed = recorded.judge_anew(&published(paper));
            faults.extend(
                changed.iter().map(|(row, before, after)| format!("\"{row}\" = \"{name}: {before} became {after}\"")),
            );
        }
        if std::env::var_os("CWND_BLESS").is_some() {
            let path = format!("{}/../../papers/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(path, recorded.to_toml()).expect("writable");
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A reason that no experiment shows is none.
#[test]
fn every_miss_on_record_has_an_experiment_or_is_open() {
    let mut faults = Vec::new();
    for (scale, paper) in [Scale::Quick, Scale::Full].into_iter().flat_map(|scale| PAPERS.map(|paper| (scale, paper))) {
        let recorded = Recorded::at(scale).unwrap_or_else(|error| panic!("{error}"));
        for result in published(paper).result {
            for row in &result.rows {
                let missed =
                    recorded.entry(paper.id(), &result.id, &row.id).is_some_and(|one| one.verdict == Verdict::Miss);
                if missed && row.experiment.is_none() && row.open.is_none() {
                    faults.push(format!("{} {}: {}, {scale:?}", paper.id(), result.id, row.id));
                }
            }
        }
    }
    assert!(faults.is_empty(), "misses without an `experiment`, and not `open`:\n{}", faults.join("\n"));
}

/// An experiment at full length that changes nothing is a miss of reduced length alone.
#[test]
fn what_explains_a_row_is_of_one_that_does_not_match_everywhere_on_record() {
    let mut faults = Vec::new();
    let [quick, full] =
        [Scale::Quick, Scale::Full].map(|scale| Recorded::at(scale).unwrap_or_else(|error| panic!("{error}")));
    for paper in PAPERS {
        for result in published(paper).result {
            for row in &result.rows {
                let matches = [&quick, &full].map(|recorded| {
                    recorded.entry(paper.id(), &result.id, &row.id).is_some_and(|one| one.verdict == Verdict::Match)
                });
                let place = format!("{} {}: {}", paper.id(), result.id, row.id);
                if matches == [true; 2] && row.reason_text().is_some() {
                    faults.push(format!("{place} matches, and has a reason"));
                }
                if row.experiment.as_ref().is_some_and(|one| one.set.is_none() && one.full) && !matches[1] {
                    faults.push(format!("{place} does not match at full length"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_reason_is_said_to_be_of_the_default_run_where_an_assumption_is_replaced() {
    let reason = |assumptions: Vec<(String, String)>| {
        let settings = Settings { scale: Scale::Quick, assumptions, variant: None };
        let runs = Selection::of(Some("simd"), Some("text-sqrt"))
            .and_then(|selection| selection.run(&settings, &Cells::default(), &()))
            .unwrap_or_else(|error| panic!("{error}"));
        runs.iter().flat_map(PaperRun::rows).find_map(|row| row.reason.clone()).expect("one misses")
    };
    let default = reason(Vec::new());
    let replaced = reason(vec![("sqrt-b".to_string(), "2/3".to_string())]);
    assert_eq!(replaced, format!("of the default run: {default}"));
}

#[test]
fn a_miss_of_a_replaced_assumption_names_it_and_the_verdict_without_it() {
    let paper = published(&super::newaimd::PAPER);
    let result = paper.result("example").expect("it is listed");
    let listed = result.rows.iter().find(|row| row.id == "k1").expect("it is listed");
    let row = JudgedRow::judged("newaimd", result, listed, Some(&Computed::Exact(1.0)));
    assert!(row.unexplained(), "{row:?}");
    let recorded = Recorded::at(Scale::Quick).unwrap_or_else(|error| panic!("{error}"));
    let changed = row.changed(listed, "floor=9", recorded.entry("newaimd", "example", "k1"));
    assert_eq!(changed.reason.as_deref(), Some("a miss with floor=9; on record without it: match, 225.0 RTT"));
}

/// An assumption stands for an unknown: all rows that depend on it are compared.
#[test]
fn a_row_is_not_left_out_for_what_is_assumed() {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 4);
        words.map(|word| word.trim_end_matches('s').to_lowercase()).collect()
    };
    let mut faults = Vec::new();
    for paper in PAPERS {
        let published = published(paper);
        for result in &published.result {
            for row in result.rows.iter().filter(|row| row.published.is_some()) {
                let why = row.why.as_deref().unwrap_or_default();
                let Some(unknown) = why.split([',', ';']).find_map(|part| part.strip_suffix(" is unknown")) else {
                    continue;
                };
                let of_result = published.assumption.iter().filter(|one| one.results.contains(&result.id));
                let assumed = of_result.filter(|one| !words(&one.missing).is_disjoint(&words(unknown)));
                let assumed: Vec<&str> = assumed.map(|one| one.key.as_str()).collect();
                if !assumed.is_empty() {
                    faults.push(format!("{} {}: {}: {why}, but {assumed:?}", paper.id(), result.id, row.id));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two rows that have the same published number and, in every run, the same number of ours compare one thing: one of them is a repeat. A row that
/// is exactly the published one, over runs that differ elsewhere, compares nothing: it is a check.
#[test]
fn an_identity_is_no_printed_number() {
    let full = Recorded::at(Scale::Full).unwrap_or_else(|error| panic!("{error}"));
    let mut faults = Vec::new();
    for paper in PAPERS {
        let published = published(paper);
        let mut known: Vec<(String, f64, String)> = Vec::new();
        for (result, row) in published.result.iter().flat_map(|one| one.rows.iter().map(move |row| (one, row))) {
            let (profile, subject) = published.paper.of_profile(&row.id);
            // Rows of another profile repeat the number of the first, where flows starve.
            let first = published.paper.profiles.first();
            let of_first = match (profile, first) {
                (Some(profile), Some(first)) if profile != first.as_str() => {
                    let id = format!("{first}: {subject}");
                    result.rows.iter().find(|row| row.id == id)
                }
                _ => Some(row),
            };
            let Some(number) = of_first
                .filter(|row| row.basis() == Basis::Printed && row.quantity.is_some())
                .and_then(|row| row.published.as_ref()?.number())
            else {
                continue;
            };
            let Some(entry) = full.entry(paper.id(), &result.id, &row.id) else { continue };
            let place = format!("{} {}: {}", paper.id(), result.id, row.id);
            let [value, half] = match entry.ours.split(' ').collect::<Vec<_>>()[..] {
                [value, "±", half, ..] => [value, half].map(|text| text.parse().unwrap_or(f64::NAN)),
                _ => continue,
            };
            if half == 0.0 && value == number && row.quantity == Some(Quantity::Index) {
                faults.push(format!("{place} is {} whatever happens", entry.ours));
            }
            let same = |(_, other, ours): &&(String, f64, String)| *other == number && *ours == entry.ours;
            if let Some((other, ..)) = known.iter().find(same).filter(|_| half > 0.0) {
                faults.push(format!("{place} and {other} are both {number}, and {}", entry.ours));
            }
            known.push((place, number, entry.ours.clone()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn rows_match_by_the_experiment_that_their_reason_names() {
    rows_match_by_experiments(|experiment| !experiment.slow && !experiment.full);
}

/// `cargo xtask test --long experiments` runs it.
#[test]
#[ignore = "takes a quarter of an hour of processor time"]
fn rows_match_by_the_slow_experiment_that_their_reason_names() {
    rows_match_by_experiments(|experiment| experiment.slow && !experiment.full);
}

/// `cargo xtask test --long experiments` runs it.
#[test]
#[ignore = "takes hours of processor time"]
fn rows_match_by_the_experiment_of_full_length_that_their_reason_names() {
    rows_match_by_experiments(|experiment| experiment.full);
}

/// Runs the experiments that are `chosen`, those of a result with one change together.
fn rows_match_by_experiments(chosen: fn(&Experiment) -> bool) {
    let (mut faults, mut tried) = (Vec::new(), 0);
    for paper in PAPERS {
        for result in published(paper).result {
            let mut by_change: BTreeMap<(Option<&str>, bool), Vec<&PublishedRow>> = BTreeMap::new();
            for row in &result.rows {
                if let Some(experiment) = row.experiment.as_ref().filter(|experiment| chosen(experiment)) {
                    by_change.entry((experiment.set.as_deref(), experiment.full)).or_default().push(row);
                }
            }
            for ((set, full), rows) in by_change {
                let scale = if full { Scale::Full } else { Scale::Quick };
                let assumptions = set.and_then(|set| set.split_once('='));
                let assumptions = assumptions.map(|(key, value)| (key.to_string(), value.to_string()));
                let settings = Settings { scale, assumptions: assumptions.into_iter().collect(), variant: None };
                let runs = Selection::of(Some(paper.id()), Some(&result.id))
                    .and_then(|selection| selection.run(&settings, &Cells::default(), &()))
                    .unwrap_or_else(|error| panic!("{error}"));
                for row in rows {
                    let found = runs.iter().flat_map(PaperRun::rows).find(|found| found.row == row.id);
                    let ours = found.map(JudgedRow::ours_text).unwrap_or_default();
                    let place = format!("{} {}: {}, {scale:?}, {set:?}: {ours}", paper.id(), result.id, row.id);
                    println!("{place}");
                    tried += 1;
                    let reason = row.reason.as_deref().unwrap_or_default();
                    if found.is_none_or(|found| found.verdict != Verdict::Match) {
                        faults.push(format!("{place} does not match"));
                    } else if set.is_some() && !reason.contains(&ours) {
                        faults.push(format!("{place} is not quoted: {reason}"));
                    }
                }
            }
        }
    }
    assert!(tried > 0 && faults.is_empty(), "{}", faults.join("\n"));
}

/// Rows of two algorithms, `paper: AC, y = 1` and `ns2-2.2: AC, y = 1`, compare one printed number.
#[test]
fn a_printed_number_counts_once() {
    let mut faults = Vec::new();
    for paper in PAPERS {
        for result in published(paper).result {
            let mut known = BTreeSet::new();
            for row in result.rows.iter().filter(|row| row.basis() == Basis::Printed && row.quantity.is_some()) {
                let cell =
                    row.id.strip_prefix("paper: ").or_else(|| row.id.strip_prefix("ns2-2.2: ")).unwrap_or(&row.id);
                if !known.insert(cell.to_string()) {
                    faults.push(format!("{} {}: {}", paper.id(), result.id, row.id));
                }
                if row.published.as_ref().and_then(Value::number) == Some(0.0) && row.id.contains("error") {
                    faults.push(format!("{} {}: {} is an error, which no paper prints", paper.id(), result.id, row.id));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_result_on_record_says_what_it_was_made_with() {
    let made = Provenance::recorded().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Provenance::read("again", &made.to_toml()).unwrap_or_else(|error| panic!("{error}")), made);
    for (scale, text) in [(Scale::Quick, paper_file!("expected.toml")), (Scale::Full, paper_file!("full.toml"))] {
        let recorded: BTreeMap<String, BTreeMap<String, toml::Value>> = toml::from_str(text).expect("it reads back");
        for (paper, results) in &recorded {
            for result in results.keys() {
                let of = made.of(scale, paper, result);
                let of = of.unwrap_or_else(|| panic!("papers/provenance.toml lacks {paper} {result}, {scale:?}"));
                assert!(!of.revision.is_empty() && !of.machine.is_empty(), "{paper} {result}: {of:?}");
                assert_eq!(of.date.len(), "2026-11-24".len(), "{paper} {result}: {of:?}");
            }
        }
    }
}

/// Runs are not simulated: each keeps nothing. For which rows a runner has values does not depend on what runs keep.
#[test]
fn every_runner_has_one_value_for_each_listed_row_and_none_for_others() {
    let nothing = |jobs: Vec<Job<Probe>>| Ok(vec![Reduction::default(); jobs.len()]);
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

/// The comparison of a row, in one line.
fn compared_with(result: &PublishedResult, row: &PublishedRow) -> String {
    let published = row.published.as_ref().map_or_else(|| "nothing".to_string(), ToString::to_string);
    let tolerance = row.tolerance.as_ref().map_or_else(|| "no tolerance".to_string(), ToString::to_string);
    let kind = row.kind.unwrap_or(result.kind);
    let basis = row.basis.map(|basis| format!(", {basis:?}")).unwrap_or_default();
    format!("{published} {}: {tolerance}, {kind:?}{basis}", row.unit)
}

/// With `CWND_BLESS` set this lists rows that are new. It never changes a row that is listed.
#[test]
fn what_rows_are_compared_with_changes_only_with_an_entry_in_the_register() {
    let changes = Register::recorded().unwrap_or_else(|error| panic!("{error}"));
    let mut listed: BTreeMap<String, String> =
        toml::from_str(paper_file!("listed.toml")).unwrap_or_else(|error| panic!("{error}"));
    let (mut now, mut faults, mut results) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for paper in PAPERS {
        let published = published(paper);
        for result in &published.result {
            results.insert(format!("{} {}", paper.id(), result.id));
            let rows = result.rows.iter();
            now.extend(
                rows.map(|row| (format!("{} {}: {}", paper.id(), result.id, row.id), compared_with(result, row))),
            );
        }
    }
    if std::env::var_os("CWND_BLESS").is_some() {
        for (row, with) in &now {
            listed.entry(row.clone()).or_insert_with(|| with.clone());
        }
        let head =
            "# The comparison of every row when it was first listed; `papers/changes.toml` has the later changes.\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/listed.toml");
        std::fs::write(path, format!("{head}{}", toml::to_string(&listed).expect("text"))).expect("writable");
    }
    for (row, with) in &now {
        let registered =
            changes.change.iter().rev().find_map(|change| change.values.get(row)).or_else(|| listed.get(row));
        match registered {
            Some(registered) if registered == with => {}
            Some(registered) => faults.push(format!("{row}: {registered} became {with}")),
            None => faults.push(format!("{row}: is not listed; CWND_BLESS=1 lists it")),
        }
    }
    assert!(faults.is_empty(), "without an entry in papers/changes.toml:\n{}", faults.join("\n"));
    for change in &changes.change {
        let words = [&change.date, &change.what, &change.reason, &change.before, &change.after];
        assert!(words.iter().all(|words| !words.is_empty()) && !change.rows.is_empty(), "{change:?}");
        assert!(change.commit.as_ref().is_none_or(|commit| commit.len() >= 7), "{change:?}");
        for named in change.rows.iter().chain(change.values.keys()).chain(change.verdicts.keys()) {
            let known = now
                .keys()
                .any(|row| row.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':'])));
            assert!(known || results.contains(named), "papers/changes.toml names `{named}`, which is not listed");
        }
    }
}

#[test]
fn documents_say_how_many_papers_there_are() {
    let words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let right = format!("{} papers", words[PAPERS.len()]);
    let wrong: Vec<String> =
        words[6..].iter().map(|word| format!("{word} papers")).filter(|text| *text != right).collect();
    for (name, text) in [
        ("README.md", include_str!("../../../README.md")),
        ("papers/page.md", include_str!("../../../papers/page.md")),
        ("cwnd-cli", include_str!("../../cwnd-cli/src/lib.rs")),
        ("python/docs/project.md", include_str!("../../../python/docs/project.md")),
    ] {
        assert!(text.contains(&right), "{name} does not say `{right}`");
        assert!(!wrong.iter().any(|wrong| text.contains(wrong)), "{name} says another number than `{right}`");
    }
}
