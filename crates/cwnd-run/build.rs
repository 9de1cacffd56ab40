//! Passes a hash of what decides the numbers of a run on to the program, so that stored ones are used again only by a program that would
//! compute the same.

#[path = "build/sources.rs"]
mod sources;

use std::path::Path;
use std::process::Command;
use std::{env, io};

use sources::{Workspace, packed};

fn main() -> io::Result<()> {
    println!("cargo::rustc-env=CWND_SOURCES={}", sources()?);
    // A path that does not exist counts as changed: a package, which lies in no workspace, would be compiled again by every build.
    let paths = DECISIVE
        .iter()
        .map(|name| format!("../{name}"))
        .chain(["../../Cargo.lock", "../../Cargo.toml"].map(str::to_owned));
    for path in paths.chain(["build.rs", "src"].map(str::to_owned)).filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
    Ok(())
}

/// A hash of all code that a run passes through, from the scenario to the numbers kept of its trace, and of the compiler's settings.
fn sources() -> io::Result<String> {
    let mut toolchain: Vec<String> = ["TARGET", "CARGO_CFG_TARGET_FEATURE"].map(variable).into();
    toolchain.push(output(&variable("RUSTC"), &["-vV"]).ok_or_else(|| io::Error::other("`rustc -vV` failed"))?);
    // What tests ask for adds functions that no run calls.
    let decides = |name: &String| name.starts_with("CARGO_FEATURE_") && name != "CARGO_FEATURE_TESTING";
    let mut features: Vec<String> = env::vars().map(|(name, _)| name).filter(decides).collect();
    features.sort();
    toolchain.extend(features);
    let workspace = Workspace { root: Path::new("../.."), crates: &DECISIVE };
    workspace.hash(&toolchain)?.map_or_else(|| packed(Path::new("src"), &variable("CARGO_PKG_VERSION"), &toolchain), Ok)
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
}

/// Code that asks for runs, or judges and shows results, does not change them.
const DECISIVE: [&str; 5] = ["cwnd", "cwnd-udt", "cwnd-trace", "cwnd-sim", "cwnd-run"];
