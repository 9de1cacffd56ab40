//! The corpora that fuzzing left behind, replayed without a fuzzer.

use std::fs;
use std::path::Path;

/// Calls `check` with every file of the corpus of `target`, which has at least 20.
fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let files: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    assert!(files.len() >= 20, "{} holds {} files", corpus.display(), files.len());
    for file in files {
        check(&fs::read(&file).expect("a file"));
    }
}

#[test]
fn datagrams_of_the_corpus_are_read_or_refused() {
    replay("datagrams", cwnd_udt::testing::check_datagram);
}

#[test]
fn messages_of_the_corpus_are_delivered_or_dropped() {
    replay("messages", cwnd_udt::testing::check_messages);
}

#[test]
fn servers_of_the_corpus_keep_their_bounds() {
    replay("server", cwnd_udt::testing::check_server);
}
