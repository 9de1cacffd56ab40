//! Our `reno` and `cubic`, each with and without `HyStart++`, meet every check that applies to them.

use cwnd_conform::{Plan, Subject, Verdict, text};

/// Judges the four over so many seeds.
fn no_false_alarm(seeds: u64) {
    for name in ["reno", "cubic", "reno+hystart++", "cubic+hystart++"] {
        let subject = Subject::parse(name).expect("registered");
        let result = Plan { seeds, ..Plan::default() }.judge(&subject);
        let text = text::conformance(&result, std::env::var_os("CWND_SHOW").is_some());
        println!("{text}");
        assert_eq!((result.count(Verdict::Departs), result.count(Verdict::Unclear)), (0, 0), "{text}");
    }
}

#[test]
fn ours_meet_what_applies() {
    no_false_alarm(3);
}

#[test]
#[ignore = "twenty seeds take minutes: cargo xtask test --long"]
fn ours_meet_what_applies_over_twenty_seeds() {
    no_false_alarm(20);
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = cwnd_conform::checks().map(|check| check.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count >= 55, "{count} checks");
}
