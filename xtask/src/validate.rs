//! The comparisons with other implementations: too long for every test run, made anew when one side changes.

use crate::step::Step;
use crate::tool::{CXX, NS3};
use crate::workspace::run;

/// The steps of `cargo xtask validate`.
pub(crate) const STEPS: &[Step] = &[Step {
    name: "ns3",
    needs: &[&CXX, &NS3],
    run: |workspace| run(&mut workspace.cargo(&["run", "--release", "--package", "cwnd-validation", "--", "ns3"])),
}];
