//! The corpus that fuzzing left behind, replayed without a fuzzer.

use std::fs;
use std::path::Path;

use cwnd::testing::{Case, check};

use crate::host;

#[test]
fn every_algorithm_keeps_its_contract_on_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/signals");
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 24, "{} holds {} cases", corpus.display(), files.len());
    for file in files {
        let case = Case::decode(&fs::read(&file).unwrap());
        cwnd::ALGORITHMS.iter().for_each(|entry| check(&host::parse(entry.name), &case));
    }
}
