//! The corpus that fuzzing left behind, replayed without a fuzzer.

use std::fs;
use std::path::Path;

#[test]
fn datagrams_of_the_corpus_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/datagrams");
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 20, "{} holds {} datagrams", corpus.display(), files.len());
    for file in files {
        cwnd_udt::testing::check_datagram(&fs::read(&file).unwrap());
    }
}
