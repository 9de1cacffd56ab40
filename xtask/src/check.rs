//! The quick task: what needs no test to run.

use crate::generate;
use crate::links;
use crate::packages;
use crate::prose;
use crate::step::Step;
use crate::tool::{CHECKERS, CLIPPY, CXX, OLDEST_RUST, PYTHON, RUSTFMT, checker};
use crate::workspace::{OPTIONAL, run};

/// The steps of `cargo xtask check`.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        needs: &[&RUSTFMT],
        // Every workspace of the repository.
        run: |workspace| {
            [
                "Cargo.toml",
                "evidence/Cargo.toml",
                "foreign/Cargo.toml",
                "foreign/boring/Cargo.toml",
                "foreign/gvisor/Cargo.toml",
                "foreign/known-bad/Cargo.toml",
                "examples/noq-copy/Cargo.toml",
                "examples/own-controller/Cargo.toml",
                "examples/own-stack/Cargo.toml",
                "fuzz/Cargo.toml",
            ]
            .into_iter()
            .try_for_each(|manifest| {
                run(&mut workspace.cargo(&["fmt", "--all", "--manifest-path", manifest, "--check"]))
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
            // The command and the library have one name, and so one directory of documentation: the library's is made last, and stays.
            let program = ["--package", "cwnd-cli", "--features", "cwnd-cli/figures"];
            let rest = ["--workspace", "--exclude", "cwnd-cli", "--features", "cwnd-net/tokio"];
            for packages in [program.as_slice(), &rest] {
                let mut command = workspace.cargo(&["doc", "--no-deps", "--document-private-items"]);
                run(command.args(packages).env("RUSTDOCFLAGS", "-D warnings"))?;
            }
            Ok(())
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
            let check = ["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
            // The programs with stacks of others have a list of their own: foreign/deny.toml.
            [".", "evidence", "foreign", "foreign/boring", "foreign/gvisor", "foreign/known-bad"]
                .into_iter()
                .try_for_each(|directory| {
                    run(checker(workspace, "cargo-deny").args(check).current_dir(workspace.path(directory)))
                })
        },
    },
    Step { name: "packages", needs: &[], run: packages::check },
    Step {
        name: "features",
        needs: &[&PYTHON, &CHECKERS, &OLDEST_RUST],
        // Every pair of features, compiled by the oldest Rust the workspace declares.
        run: |workspace| {
            let check = ["hack", "check", "--rust-version", "--feature-powerset", "--depth", "2", "--locked"];
            run(checker(workspace, "cargo-hack").args(check).arg("--workspace").args(WITHOUT_ARROW))
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

/// Arrow alone takes as long as all the rest. The steps `parquet` and `python` compile what depends on it, by the current Rust.
const WITHOUT_ARROW: [&str; 6] = ["--exclude", "cwnd-parquet", "--exclude", "cwnd-py", "--exclude-features", "parquet"];
