//! Passes the revision of the sources on to the programs, so that results can name it.

#[path = "build/revision.rs"]
mod revision;

use std::path::Path;
use std::{env, fs};

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo::rerun-if-env-changed={REVISION}");
    // Outside a repository there is no revision to name.
    let revision = env::var(REVISION).ok().filter(|revision| !revision.is_empty()).or_else(|| {
        // A package lies in a directory of many, and a repository around that is not ours.
        fs::read_to_string(PACKED).map_or_else(
            |_| checked_out(),
            |packed| {
                println!("cargo::rerun-if-changed={PACKED}");
                revision::packed(&packed)
            },
        )
    });
    let named = revision.map_or_else(|| version.to_string(), |revision| format!("{version} ({revision})"));
    println!("cargo::rustc-env=CWND_VERSION={named}");
}

/// The revision of the checkout. A commit, or a change in any crate, runs this script again, and with it the build of this crate
/// and of those that use it.
fn checked_out() -> Option<String> {
    println!("cargo::rerun-if-changed=..");
    let (revision, files) = revision::revision(Path::new("."))?;
    files.iter().for_each(|file| println!("cargo::rerun-if-changed={file}"));
    Some(revision)
}

/// Names the revision in place of the repository: for packages built without one, and for builds while one works, which then
/// compile again only the crates that changed.
const REVISION: &str = "CWND_REVISION";

/// The file that `cargo package` adds.
const PACKED: &str = ".cargo_vcs_info.json";
