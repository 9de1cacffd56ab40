//! The corpus that fuzzing starts from, replayed without a fuzzer.

use std::fs;
use std::path::Path;

#[test]
fn conversations_of_the_corpus_are_understood_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/frames");
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let files: Vec<_> = entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(files.len() >= 30, "{} holds {} conversations", corpus.display(), files.len());
    let understood: usize = files.iter().map(|bytes| cwnd_files::frames_in(bytes)).sum();
    assert!(understood >= files.len(), "{understood} frames of {} files", files.len());
}
