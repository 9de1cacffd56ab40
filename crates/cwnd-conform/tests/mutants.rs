//! The checks find the mistakes of `cwnd::mutants`.
//!
//! `mutants.txt` has each mistake with the checks that depart for it. `CWND_BLESS=1 cargo test -p cwnd-conform --test mutants -- --ignored`
//! records it anew; the diff then shows what changed. The ordinary test repeats the first check of each line.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use cwnd::mutants::{Mutant, select};
use cwnd_conform::{Plan, Subject, Suite, Verdict};

/// Whom a mistake concerns: the name of the mistake begins so.
const SUBJECTS: [(&str, &str); 3] = [("Cubic", "cubic"), ("HyStart", "reno+hystart++"), ("", "reno")];

/// What is selected is so for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn subject(mutant: Mutant) -> Subject {
    let name = format!("{mutant:?}");
    let found = SUBJECTS.iter().find(|(begin, _)| name.starts_with(begin)).expect("the last is for all");
    Subject::parse(found.1).expect("registered")
}

/// The checks of `plan` that depart for `mutant`.
fn departures(mutant: Mutant, plan: &Plan) -> Vec<&'static str> {
    let _held = ONE_AT_A_TIME.lock().expect("nobody panicked");
    select(Some(mutant));
    let result = plan.judge(&subject(mutant));
    select(None);
    result.checks.iter().filter(|judged| judged.verdict == Verdict::Departs).map(|judged| judged.id).collect()
}

fn recorded() -> String {
    std::fs::read_to_string(path()).unwrap_or_default()
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutants.txt")
}

#[test]
fn the_first_check_of_each_line_still_finds_its_mistake() {
    let recorded = recorded();
    for mutant in Mutant::ALL {
        let name = format!("{mutant:?}:");
        let line = recorded
            .lines()
            .find(|line| line.starts_with(&name))
            .unwrap_or_else(|| panic!("{mutant:?} is not on record"));
        let first = line[name.len()..].split_whitespace().next();
        let first = first.unwrap_or_else(|| panic!("no check finds {mutant:?}"));
        // Two seeds that differ give a wide interval.
        let found = |seeds| departures(mutant, &Plan { only: vec![first.to_string()], seeds, ..Plan::default() });
        assert!([2, 6].map(found).contains(&vec![first]), "{mutant:?} is not found by {first}");
    }
}

#[test]
#[ignore = "all checks for all mistakes take minutes: cargo xtask test --long"]
fn all_checks_that_find_a_mistake_are_on_record() {
    let suites = Suite::ALL.into_iter().filter(|suite| *suite != Suite::Bbr).collect();
    let plan = Plan { suites, seeds: 2, ..Plan::default() };
    let mut table = "Deliberate mistakes, and the checks that depart for them over two seeds.\n\n".to_string();
    for mutant in Mutant::ALL {
        let found = departures(mutant, &plan);
        let found = found.iter().fold(String::new(), |text, id| text + " " + id);
        writeln!(table, "{mutant:?}:{found}").expect("text");
    }
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(path(), &table).expect("writable");
    }
    assert_eq!(table, recorded(), "mutants.txt has changed: see the top of this file");
}
