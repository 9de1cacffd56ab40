//! Benchmarks, and what their results are compared with.
//!
//! `cargo bench -p cwnd-benches --bench table` prints the figures of `docs/performance.md` in a few minutes;
//! `cargo bench -p cwnd-benches --bench simulate` measures each case more often and keeps the results (criterion).

use cwnd_lab::bench::Case;
use cwnd_run::scenario::Scenario;
use cwnd_sim::{Setup, Trace};

pub mod yardstick;

/// What a case runs.
///
/// # Panics
/// Never: a test checks every case.
#[must_use]
pub fn setup(case: &Case, seed: u64) -> Setup {
    Scenario::check(case.document()).expect("every case can be run").setup(seed).into_setup()
}

/// Runs a setup.
///
/// # Panics
/// If the setup contradicts itself.
#[must_use]
pub fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// Data packets that reached their receivers.
#[must_use]
pub fn delivered(trace: &Trace) -> u64 {
    trace.flows.iter().filter_map(|flow| flow.delivered.last()).sum()
}
