//! The quick task: what needs no test to run.

use crate::generate;
use crate::links;
use crate::packages;
use crate::prose;
use crate::step::Step;
use crate::tool::{CHECKERS, CLIPPY, CXX, OLDEST_RUST, PYTHON, RUSTFMT, checker};
use crate::workspace::{OPTIONAL, run};

/// The packages of the repository that its workspace does not have.
const OTHER_PACKAGES: &[&str] = &[
    "evidence",
    "evidence/optimisers",
    "examples/noq-copy",
    "examples/own-controller",
    "examples/own-stack",
    "foreign",
    "foreign/boring",
    "foreign/gvisor",
    "foreign/known-bad",
    "foreign/museum",
    "foreign/quic",
    "fuzz",
];

/// The steps of `cargo xtask check`.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        needs: &[&RUSTFMT],
        run: |workspace| {
            run(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
            // Each alone: `--all` also formats what a package depends on by path, here the product.
            OTHER_PACKAGES.iter().try_for_each(|package| {
                run(&mut workspace.cargo(&["fmt", "--check", "--manifest-path", &format!("{package}/Cargo.toml")]))
            })
        },
    },
    Step {
        name: "lints",
        needs: &[&CLIPPY],
        run: |workspace| {
            let command = ["clippy", "--workspace", "--all-targets"];
            run(workspace.cargo(&command).args(OPTIONAL).args(["--", "-D", "warnings"]))
        },
    },
    Step {
        name: "docs",
        needs: &[],
        run: |workspace| {
            // The program `cwnd` would overwrite the documentation of the library of that name: its source is a call of the library `cwnd_cli`.
            // With the features of the steps `lints`, `fuzz` and `evidence`, so that what crates depend on is checked once.
            let documented = ["--workspace", "--lib", "--bin", "udt", "--bin", "xtask"];
            let mut command = workspace.cargo(&["doc", "--no-deps", "--document-private-items"]);
            command.args(documented).args(OPTIONAL).args(["--features", TESTING]);
            run(command.env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Step {
        name: "spelling",
        needs: &[&PYTHON, &CHECKERS],
        run: |workspace| run(checker(workspace, "typos").args(["--format", "brief"])),
    },
    // CWND_BLESS=1 lowers the counts that have fallen.
    Step { name: "prose", needs: &[], run: prose::check },
    Step { name: "links", needs: &[], run: links::check },
    Step {
        name: "dependencies",
        needs: &[&PYTHON, &CHECKERS],
        // The advisories change without a change here, and are fetched from a network that not every machine has.
        run: |workspace| {
            let checked = |directory: &str, lists: &[&str]| {
                let mut deny = checker(workspace, "cargo-deny");
                deny.args(["--locked", "check", "--hide-inclusion-graph"]).args(lists);
                run(deny.current_dir(workspace.path(directory)))
            };
            // The programs with stacks of others have a list of their own: foreign/deny.toml.
            [".", "evidence", "foreign", "foreign/boring", "foreign/gvisor", "foreign/known-bad"]
                .into_iter()
                .try_for_each(|directory| checked(directory, &["bans", "licenses", "sources"]))?;
            // Its optimiser needs generators that the product must not have.
            checked("evidence/optimisers", &["licenses", "sources"])
        },
    },
    Step { name: "packages", needs: &[], run: packages::check },
    Step {
        name: "features",
        needs: &[&PYTHON, &CHECKERS, &OLDEST_RUST],
        // By the oldest Rust that the workspace declares: each published crate alone, with every pair of its features. The step `oldest` compiles
        // the others.
        run: |workspace| {
            let check = ["hack", "check", "--rust-version", "--feature-powerset", "--depth", "2", "--locked"];
            run(checker(workspace, "cargo-hack").args(check).args(["--workspace", "--ignore-private"]))
        },
    },
    Step {
        name: "fuzz",
        needs: &[&CXX],
        // The targets compile on every toolchain; to run them takes a nightly one.
        run: |workspace| {
            let manifest = ["check", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"];
            run(workspace.cargo(&manifest).arg(workspace.target()))
        },
    },
    Step { name: "generated", needs: &[], run: generate::compare },
];

/// The features by which tests and fuzz targets reach inside of crates.
const TESTING: &str =
    "cwnd/testing,cwnd-files/testing,cwnd-run/testing,cwnd-secure/testing,cwnd-terminal/testing,cwnd-udt/testing";

#[cfg(test)]
mod tests {
    use super::OTHER_PACKAGES;
    use crate::workspace::Workspace;
    use std::fs;

    #[test]
    fn every_package_is_formatted() {
        let workspace = Workspace::here();
        let mut found = Vec::new();
        for top in ["evidence", "examples", "foreign", "fuzz"] {
            let below = fs::read_dir(workspace.path(top)).unwrap().map(|entry| entry.unwrap().file_name());
            let below = below.map(|name| format!("{top}/{}", name.to_string_lossy()));
            let with_a_manifest = |name: &String| workspace.path(name).join("Cargo.toml").is_file();
            found.extend(below.chain([top.to_owned()]).filter(with_a_manifest));
        }
        found.sort();
        assert_eq!(found, OTHER_PACKAGES);
    }
}
