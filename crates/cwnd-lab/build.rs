//! Passes the revision of the sources on to the program, so that results can name it.

use std::process::Command;

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    // Outside a repository there is no revision to name.
    let revision = git(&["describe", "--always", "--dirty", "--exclude=*"]);
    let named = revision.map_or_else(|| version.to_string(), |revision| format!("{version} ({revision})"));
    println!("cargo::rustc-env=CWND_VERSION={named}");
    // A change in any crate makes the sources differ from the revision.
    println!("cargo::rerun-if-changed=..");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
}
