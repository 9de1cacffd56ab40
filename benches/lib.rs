//! Benchmarks, and what their results are compared with.
//!
//! `cargo bench -p cwnd-benches --bench table` prints the figures of `docs/performance.md` in a few minutes;
//! `cargo bench -p cwnd-benches --bench simulate` measures each case more often and keeps the results (criterion).

use cwnd::Span;
use cwnd_lab::bench::Case;
use cwnd_run::scenario::Scenario;
use cwnd_sim::{CheckedSetup, Setup, Simulation, Trace};

pub mod yardstick;

/// What a case runs.
///
/// # Panics
/// Never: a test checks every case.
#[must_use]
pub fn setup(case: &Case, seed: u64) -> CheckedSetup {
    Scenario::check(case.document()).expect("every case can be run").setup(seed)
}

/// The setup for another duration, half of which is its warm-up.
///
/// # Panics
/// If the time is zero.
#[must_use]
pub fn lasting(setup: CheckedSetup, duration: Span) -> CheckedSetup {
    Setup { duration, warmup: duration / 2, ..setup.into_setup() }.checked().expect("a time above zero")
}

/// Runs a setup, with all the memory it needs: the packets of a million flows take more than a run may use by default.
///
/// # Panics
/// Never: nothing stops it.
#[must_use]
pub fn run(setup: &CheckedSetup) -> Trace {
    Simulation::of(setup).within(u64::MAX).finish(setup, &mut |_| true).expect("nothing stops it")
}

/// Data packets that reached their receivers.
#[must_use]
pub fn delivered(trace: &Trace) -> u64 {
    let flows = trace.flows.iter().map(|flow| &flow.delivered);
    flows.chain(trace.flow_arrivals.iter().map(|group| &group.delivered)).filter_map(|delivered| delivered.last()).sum()
}
