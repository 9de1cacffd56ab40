//! The workspace `evidence/`: the experiments of the simulator in other implementations.

use std::process::{Command, ExitCode};

use crate::passed::Part;
use crate::workspace::{Workspace, run, run_program};

/// `cargo xtask evidence -- ARGUMENTS`: builds the program, and runs it where the command was given.
pub(crate) fn command(workspace: &Workspace, arguments: &[String]) -> ExitCode {
    let build = workspace.cargo_in(FOLDER, &["build", "--quiet", "--release", "--locked"]);
    run_program(build, Command::new(workspace.target().join("release").join(PROGRAM)).args(arguments))
}

/// `cargo xtask papers CHORE`: what the program records of papers.
pub(crate) fn papers(workspace: &Workspace, arguments: &[String]) -> ExitCode {
    command(workspace, &[&["papers".to_string()], arguments].concat())
}

/// Runs the program optimised, as numbers are recorded and compared.
pub(crate) fn compare(workspace: &Workspace, with: &str) -> Result<(), String> {
    run(&mut workspace.cargo_in(FOLDER, &["run", "--release", "--locked", "--", with]))
}

/// The step of `test`: lints, documentation and tests. The comparisons with records of other programs take longest, and run unless they
/// passed with unchanged inputs.
pub(crate) fn test(workspace: &Workspace) -> Result<(), String> {
    run(&mut workspace.cargo_in(FOLDER, &["clippy", "--locked", "--all-targets", "--", "--deny", "warnings"]))?;
    let mut docs = workspace.cargo_in(FOLDER, &["doc", "--locked", "--no-deps", "--document-private-items"]);
    run(docs.env("RUSTDOCFLAGS", "-D warnings"))?;
    let test = |more: &[&str]| run(workspace.cargo_in(FOLDER, &["test", "--locked", "--"]).args(more));
    PART.run(workspace, |_| test(&[]), |_| test(&["--skip", "agree_with"]))
}

/// The step of `test --long`: whether alternatives of assumptions agree with the records.
pub(crate) fn test_long(workspace: &Workspace) -> Result<(), String> {
    run(&mut workspace.cargo_in(FOLDER, &["test", "--locked", "--release", "papers", "--", "--ignored"]))?;
    run(&mut workspace.cargo_in("evidence/optimisers", &["check", "--locked"]))
}

/// The step of `test` that plays scenarios with libudt.
pub(crate) fn interop(workspace: &Workspace) -> Result<(), String> {
    // One scenario runs the command `udt` from the directory of this program.
    workspace.build()?;
    run(&mut workspace.cargo_in(FOLDER, &["build", "--locked"]))?;
    run(Command::new(workspace.program(PROGRAM)).arg("interop"))
}

/// The inputs of the comparisons: the simulator and the models, the records of other programs, and the code that compares them.
const PART: Part = Part {
    step: "evidence",
    trees: &[&["--workspace", "--manifest-path", "evidence/Cargo.toml"]],
    paths: &["evidence", "rust-toolchain.toml"],
};
/// The directory of the workspace.
const FOLDER: &str = "evidence";
/// The program it builds.
const PROGRAM: &str = "cwnd-evidence";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn packages_and_lints_are_those_of_the_product() {
        let read = |path: &str| fs::read_to_string(Workspace::here().path(path)).unwrap();
        let packages = |lock: &str| -> BTreeSet<String> {
            let packages = lock.split("[[package]]").filter(|package| package.contains("checksum = "));
            packages.map(|package| package.lines().take(3).collect()).collect()
        };
        let [product, own] = ["Cargo.lock", "evidence/Cargo.lock"].map(|path| packages(&read(path)));
        let others: Vec<_> = own.difference(&product).collect();
        assert!(others.is_empty(), "not in Cargo.lock, so compiled for the evidence alone: {others:?}");

        let lints = |path: &str, table: &str| -> Vec<String> {
            let manifest = read(path);
            let lines = manifest.lines().skip_while(|line| *line != table).skip(1);
            lines
                .take_while(|line| !line.starts_with('['))
                .filter(|line| line.contains('='))
                .map(String::from)
                .collect()
        };
        for table in ["rust", "clippy"] {
            let own = lints("evidence/Cargo.toml", &format!("[lints.{table}]"));
            assert!(!own.is_empty());
            assert_eq!(own, lints("Cargo.toml", &format!("[workspace.lints.{table}]")), "{table}");
        }
    }
}
