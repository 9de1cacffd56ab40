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
            let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
            run(workspace.cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Step { name: "generated", needs: &[], run: generate::compare },
];
