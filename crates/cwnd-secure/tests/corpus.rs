//! The corpus that fuzzing starts from, replayed without a fuzzer.

use std::fs;
use std::path::Path;

#[test]
fn conversations_of_the_corpus_let_nobody_in() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/secure");
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let files: Vec<_> = entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(files.len() >= 12, "{} holds {} conversations", corpus.display(), files.len());
    for file in files {
        assert_eq!(cwnd_secure::conversation(&file), 1, "only the true record is taken");
    }
}
