//! Results name the revision of these sources, and never that of a repository around them.

#[path = "../build/revision.rs"]
mod build;

use std::fs;
use std::path::Path;
use std::process::Command;

use build::{PLACE, packed, revision};

/// A repository with one commit, and the package at `place` in it.
fn repository(place: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(root.path().join(place)).expect("writable");
    fs::write(root.path().join(place).join("build.rs"), "").expect("writable");
    let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    for words in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message=a"]] {
        let git = Command::new("git").current_dir(root.path()).args(who).args(words).status();
        assert!(git.is_ok_and(|status| status.success()), "{words:?}");
    }
    root
}

fn at(root: &Path, place: &str) -> Option<String> {
    revision(&root.join(place)).map(|(revision, _)| revision)
}

#[test]
fn a_checkout_has_its_commit_and_says_whether_files_differ() {
    let ours = repository(PLACE);
    let commit = at(ours.path(), PLACE).expect("a commit");
    assert!(commit.len() >= 7 && commit.bytes().all(|digit| digit.is_ascii_hexdigit()), "{commit}");
    fs::write(ours.path().join(PLACE).join("build.rs"), "fn main() {}").expect("writable");
    assert_eq!(at(ours.path(), PLACE), Some(format!("{commit}-dirty")));
}

#[test]
fn sources_unpacked_in_another_repository_do_not_have_its_commit() {
    let place = format!("cwnd-0.1.0/{PLACE}");
    let other = repository(&place);
    assert_eq!(at(other.path(), &place), None);
}

#[test]
fn a_package_has_the_commit_that_it_was_packed_from() {
    let record =
        "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef\"\n  },\n  \"path_in_vcs\": \"crates/cwnd-text\"\n}";
    assert_eq!(packed(record).as_deref(), Some("01234567"));
    let differed = record.replace("cdef\"", "cdef\",\n    \"dirty\": true");
    assert_eq!(packed(&differed).as_deref(), Some("01234567-dirty"));
    assert_eq!(packed("{}"), None);
}
