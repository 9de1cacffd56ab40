//! The quick chore: what needs no test to run.

use crate::generate;
use crate::step::Step;
use crate::tool::{CLIPPY, RUSTFMT};
use crate::workspace::run;

/// The steps of `cargo xtask check`.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        needs: &[&RUSTFMT],
        run: |workspace| run(&mut workspace.cargo(&["fmt", "--all", "--check"])),
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
            // The command and the library have one name, and so one folder of documentation: the library's is made last, and stays.
            let rest = [["--workspace", "--exclude", "cwnd-cli"].as_slice(), &OPTIONAL].concat();
            for packages in [["--package", "cwnd-cli"].as_slice(), &rest] {
                let mut command = workspace.cargo(&["doc", "--no-deps", "--document-private-items"]);
                run(command.args(packages).env("RUSTDOCFLAGS", "-D warnings"))?;
            }
            Ok(())
        },
    },
    Step { name: "generated", needs: &[], run: generate::compare },
];

/// What no other crate of the workspace turns on, and is to be looked at all the same.
pub(crate) const OPTIONAL: [&str; 2] = ["--features", "cwnd-net/tokio"];
