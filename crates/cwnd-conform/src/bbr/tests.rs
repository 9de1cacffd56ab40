//! The cases and figures of `bbr3`, compared with the records.

use std::fmt::Write as _;
use std::path::Path;

use cwnd::Spec;

use super::cases::{CASES, Condition};
use super::figures::FIGURES;
use super::rules::MISSES;

#[test]
fn the_cases_of_the_draft() {
    let own = Spec::parse("bbr3").expect("registered");
    let mut table = "The test cases of draft-ietf-ccwg-bbr appendix A.\n".to_string();
    for (number, case) in (1..).zip(CASES) {
        let conditions = (case.conditions)(&own);
        let met = conditions.iter().filter(|condition| condition.met).count();
        writeln!(table, "\n{number}. {}: {met} of {}", case.title, conditions.len()).expect("text");
        show(&mut table, &conditions);
    }
    compare("cases.txt", &table);
}

#[test]
fn the_figures() {
    let mut table = "What bbr3 is for, in figures.\n".to_string();
    let own = Spec::parse("bbr3").expect("registered");
    for figure in FIGURES {
        writeln!(table, "\n{}", figure.title).expect("text");
        show(&mut table, &(figure.conditions)(&own));
    }
    compare("figures.txt", &table);
}

/// The missed conditions, with one rule of the draft left out at a time.
#[test]
fn the_rules_that_misses_come_from() {
    let mut table = "What bbr3 misses, without one rule of the draft at a time.\n".to_string();
    for miss in MISSES {
        writeln!(table, "\n{}", miss.title).expect("text");
        for rule in ["nothing"].iter().chain(miss.rules) {
            let own = Spec::parse(&format!("bbr3:without={rule}")).expect("a rule");
            let what = if *rule == "nothing" { "all rules" } else { &format!("without {rule}") };
            writeln!(table, "  {what}").expect("text");
            show(&mut table, &(miss.conditions)(&own));
        }
    }
    compare("rules.txt", &table);
}

fn show(table: &mut String, conditions: &[Condition]) {
    for Condition { text, met, found } in conditions {
        let found = if found.is_empty() { String::new() } else { format!(" [{found}]") };
        writeln!(table, "   {} {text}{found}", if *met { "met   " } else { "MISSED" }).expect("text");
    }
}

fn compare(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/bbr/{name}"));
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(&path, table).expect("writable");
    }
    let known = std::fs::read_to_string(&path).expect("recorded");
    assert_eq!(table, known, "{name} has changed: see the top of mod.rs");
}
