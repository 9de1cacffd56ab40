//! The comparisons with other implementations and with the models: too long for every test run, made anew when one side changes.

use crate::evidence::compare;
use crate::step::Step;
use crate::tool::{CXX, IP, IPERF3, LIBUDT, MAKE, NS2, NS3, PYTHON, RENDERER, SRT, renderer};
use crate::workspace::{Workspace, run};

/// The steps of `cargo xtask validate`.
pub(crate) const STEPS: &[Step] = &[
    Step { name: "htsim", needs: &[&CXX, &MAKE], run: |workspace| compare(workspace, "htsim") },
    Step {
        name: "linux",
        needs: &[&IP, &IPERF3, &PYTHON, &RENDERER],
        run: |workspace| {
            compare(workspace, "linux")?;
            draw(workspace)
        },
    },
    Step { name: "model", needs: &[], run: |workspace| compare(workspace, "model") },
    Step { name: "ns2", needs: &[&CXX, &NS2], run: |workspace| compare(workspace, "ns2") },
    Step {
        name: "ns3",
        needs: &[&CXX, &NS3, &PYTHON, &RENDERER],
        run: |workspace| {
            compare(workspace, "ns3")?;
            draw(workspace)
        },
    },
    Step {
        name: "stacks",
        needs: &[&PYTHON, &RENDERER],
        run: |workspace| {
            compare(workspace, "stacks")?;
            draw(workspace)
        },
    },
    Step {
        name: "udt",
        needs: &[&CXX, &LIBUDT, &IPERF3, &SRT, &IP, &PYTHON, &RENDERER],
        run: |workspace| {
            // One part runs the command from the directory of the program that starts it.
            run(&mut workspace.cargo(&["build", "--release", "--package", "cwnd-transfer"]))?;
            compare(workspace, "udt")?;
            draw(workspace)
        },
    },
    Step { name: "plots", needs: &[&PYTHON, &RENDERER], run: draw },
];

/// Draws the specifications that the comparisons left.
fn draw(workspace: &Workspace) -> Result<(), String> {
    let script = workspace.path("xtask/render.py");
    let [specifications, pictures] = ["out/validation", "docs/validation"].map(|directory| workspace.path(directory));
    run(renderer(workspace).arg(script).arg(specifications).arg(pictures))
}
