//! A short run: its digest, which is known, and its speed.

use cwnd_report::json::{Bench, Finding, Verdict};
use cwnd_run::execute::{Progress, RunError};
use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, Scenario, Written};

use crate::clock::timed;
use crate::failure::Failure;

/// Runs [`document`] once.
pub(super) fn check(progress: &impl Progress) -> Result<[Finding; 2], Failure> {
    let scenario = Scenario::check(document())?;
    let setup = scenario.setup(scenario.document().first_seed);
    let (trace, wall) = timed(|| cwnd_sim::run_checked(&setup, &mut |_| progress.should_continue()));
    let run = Bench::of(&scenario, &trace.map_err(RunError::from)?, wall.as_secs_f64(), None);
    let means = "packets that the simulator delivers a second on one processor; `cwnd bench sim` measures it longer";
    let speed = format!("{:.1e} packets/s", run.delivered_packets_per_s);
    Ok([digest(&run.digest), Finding::fine("speed", speed, means).number(run.delivered_packets_per_s, "1/s")])
}

/// The finding about the digest of the run.
fn digest(found: &str) -> Finding {
    match found == KNOWN {
        true => Finding::fine("digest", found, "the known digest of a run of 5 s: results are those of other machines"),
        false => {
            Finding::fine("digest", format!("{found}; known is {KNOWN}"), "results are not those of other machines")
                .but(Verdict::Fails, "cargo test -p cwnd-sim --test determinism")
        }
    }
}

/// Four algorithms of different kinds with random loss over one bottleneck, so that the digest depends on most of the simulator.
fn document() -> Document {
    let flows = ["cubic", "bbr3", "simd", "udt"];
    Document {
        duration: Written::literal("5s"),
        warmup: Written::literal("2s"),
        seeds: 1,
        sampling: Written::literal("off"),
        dumbbell: Some(Dumbbell {
            rate: Written::literal("100mbit"),
            rtt: Written::literal("20ms"),
            loss: Written::literal("0.0001"),
            ..Dumbbell::default()
        }),
        flow: flows.map(|name| FlowGroup::new(Written::literal(name), 1)).to_vec(),
        ..Document::default()
    }
}

/// The digest of [`document`] with its first seed. A change of results that is intended changes it, as it does those of the tests.
const KNOWN: &str = "1ffaf3dd7523a40f";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_digest_is_that_of_the_run() {
        let [digest, speed] = check(&()).unwrap();
        assert_eq!(digest.measured, KNOWN);
        assert!(speed.value.is_some_and(|rate| rate > 0.0));
    }

    #[test]
    fn another_digest_fails() {
        assert_eq!(digest("0123").verdict, Verdict::Fails);
    }
}
