//! Passes the revision of the sources on to the programs, so that results can name it.

use std::process::Command;
use std::{env, fs};

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo::rerun-if-env-changed={REVISION}");
    // Outside a repository there is no revision to name.
    let revision = env::var(REVISION).ok().filter(|revision| !revision.is_empty()).or_else(|| {
        // A package lies in a directory of many, and a repository around that is not ours.
        fs::read_to_string(PACKED).map_or_else(|_| revision(), |packed| packed_revision(&packed))
    });
    let named = revision.map_or_else(|| version.to_string(), |revision| format!("{version} ({revision})"));
    println!("cargo::rustc-env=CWND_VERSION={named}");
}

/// The revision that `cargo package` recorded: the commit, in as many digits as git prints.
fn packed_revision(record: &str) -> Option<String> {
    println!("cargo::rerun-if-changed={PACKED}");
    let (_, commit) = record.split_once("\"sha1\": \"")?;
    commit.get(..8).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())).map(str::to_owned)
}

/// The revision of the checkout. A commit, or a change in any crate, runs this script again, and with it the build of this crate
/// and of those that use it.
fn revision() -> Option<String> {
    println!("cargo::rerun-if-changed=..");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["describe", "--always", "--dirty", "--exclude=*"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
}

/// Names the revision in place of the repository: for packages built without one, and for builds while one works, which then
/// compile again only the crates that changed.
const REVISION: &str = "CWND_REVISION";

/// The file that `cargo package` adds.
const PACKED: &str = ".cargo_vcs_info.json";
