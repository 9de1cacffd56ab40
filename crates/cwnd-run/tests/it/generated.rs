//! Scenarios that nobody wrote: none may panic, hang, or be refused when it was accepted.

use std::fs;
use std::path::Path;

use cwnd::{CongestionControl, Spec, Start, quantity};
use cwnd_run::scenario::Scenario;
use cwnd_run::testing::{Driven, document, drive};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Drives `cases` generated documents: how many of them had each outcome.
fn drive_many(cases: u32) -> [u32; 4] {
    let counts = std::cell::Cell::new([0; 4]);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()));
    let outcome = runner.run(&vec(any::<u8>(), 0..400), |bytes| {
        let driven = drive(&document(&bytes));
        let mut found = counts.get();
        found[driven as usize] += 1;
        counts.set(found);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    counts.get()
}

fn check(cases: u32) {
    let [refused, ran, bounded, long] = drive_many(cases);
    println!("{cases} scenarios: {refused} refused, {ran} ran, {bounded} bounded, {long} long");
    // Otherwise the generator tests the reader alone.
    assert!(ran + bounded + long > cases / 5, "{refused} of {cases} were refused");
    assert!(refused > cases / 10, "{refused} of {cases} were refused");
}

#[test]
fn five_hundred_scenarios_run_or_are_refused() {
    check(500);
}

#[test]
#[ignore = "minutes: `cargo xtask test --long`"]
fn ten_thousand_scenarios_run_or_are_refused() {
    check(10_000);
}

#[test]
fn scenarios_of_the_corpus_run_or_are_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scenarios");
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 10, "{} holds {} scenarios", corpus.display(), files.len());
    let driven: Vec<Driven> = files.iter().map(|file| drive(&document(&fs::read(file).unwrap()))).collect();
    assert!(driven.contains(&Driven::Ran) && driven.contains(&Driven::Refused), "{driven:?}");
}

/// Runs that never ended, or needed all memory.
#[test]
fn what_did_not_end_ends() {
    let flow = "[[flow]]\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"b\"\n";
    let link = |rest: &str| {
        format!(
            "warmup = \"0s\"\nduration = \"60s\"\n[variation]\nrtt = 0.0\n[[link]]\nfrom = \"a\"\nto = \"b\"\n{rest}\n{flow}"
        )
    };
    let bell = |rest: &str| format!("[dumbbell]\n{rest}\n[[flow]]\nalgorithm = \"reno\"\n");
    for text in
        [link("delay = \"10ms\""), link("delay = \"0s\""), bell("rate = \"100tbit\"\nqueue = \"droptail:unlimited\"")]
    {
        assert!(matches!(drive(&text), Driven::Bounded | Driven::Long), "{text}");
    }
    let group = format!("{}[[arrivals]]\nalgorithm = \"reno\"\ngap = \"1ns\"\nsize = \"8p\"\n", bell(""));
    assert!(Scenario::read("crowd", &group, &[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Any text is an algorithm that starts, or is refused.
    #[test]
    fn algorithms_are_read_or_refused(
        name in proptest::sample::select(cwnd::ALGORITHMS),
        key in "[a-z_]{0,8}|[a-z]=",
        value in "[-+0-9a-z/.@^:=,]{0,12}|1e400|nan|-inf|1/0|9{40}",
        parameter in any::<prop::sample::Index>(),
        known in any::<bool>(),
    ) {
        let names: Vec<&str> = name.parameters.iter().map(|parameter| parameter.name).collect();
        let key = if known && !names.is_empty() { names[parameter.index(names.len())] } else { &key };
        if let Ok(spec) = Spec::parse(&format!("{}:{key}={value}", name.name)) {
            let control = spec.start(&Start::default()).control();
            prop_assert!(control.window.0 >= 1.0);
        }
    }

    /// So it is with quantities.
    #[test]
    fn quantities_are_read_or_refused(text in "[-+0-9.eE/]{0,10}[a-zA-Z/]{0,5}|.{0,20}") {
        if let Ok(rate) = quantity::bit_rate(&text) {
            prop_assert!(rate.0.is_finite() && rate.0 >= 0.0);
        }
        if let Ok(number) = quantity::number(&text) {
            prop_assert!(number.is_finite());
        }
        if let Ok(size) = quantity::memory(&text) {
            prop_assert!(size > 0);
        }
        let _ = (quantity::span(&text), quantity::bytes(&text));
        for key in ["queue", "loss", "rate", "rtt"] {
            let document = format!("[dumbbell]\n{key} = {}\n[[flow]]\nalgorithm = \"reno\"\n", toml_text(&text));
            let _ = Scenario::read("quantity", &document, &[]);
        }
    }
}

fn toml_text(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}
