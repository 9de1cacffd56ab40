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
        run: |workspace| run(&mut workspace.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    },
    Step {
        name: "docs",
        needs: &[],
        run: |workspace| {
            // The command and the library have one name, and so one folder of documentation: the library's is made last, and stays.
            for packages in [["--package", "cwnd-cli"].as_slice(), &["--workspace", "--exclude", "cwnd-cli"]] {
                let mut command = workspace.cargo(&["doc", "--no-deps", "--document-private-items"]);
                run(command.args(packages).env("RUSTDOCFLAGS", "-D warnings"))?;
            }
            Ok(())
        },
    },
    Step { name: "generated", needs: &[], run: generate::compare },
];
