//! Passes the revision of the sources on to the program, so that results can name it, and a hash of what decides the numbers of
//! a run, so that stored ones are used again only by a program that would compute the same.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

fn main() -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    // Outside a repository there is no revision to name.
    let revision = git(&["describe", "--always", "--dirty", "--exclude=*"]);
    let named = revision.map_or_else(|| version.to_string(), |revision| format!("{version} ({revision})"));
    println!("cargo::rustc-env=CWND_VERSION={named}");
    println!("cargo::rustc-env=CWND_SOURCES={}", sources()?);
    // A change in any crate makes the sources differ from the revision.
    println!("cargo::rerun-if-changed=..");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    Ok(())
}

/// A hash of every source file that a run of the simulator goes through, from the scenario to what is kept of its trace.
fn sources() -> io::Result<String> {
    let mut files = Vec::new();
    for folder in DECISIVE {
        gather(&Path::new("..").join(folder), &mut files)?;
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&fs::read(&file)?);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
}

/// What is asked of runs, and how results are judged and shown, does not change them.
const DECISIVE: [&str; 5] = ["cwnd/src", "cwnd-udt/src", "cwnd-trace/src", "cwnd-sim/src", "cwnd-run/src"];
