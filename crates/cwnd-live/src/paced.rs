//! A run that follows the clock, and whose bottleneck changes while it runs.
//!
//! It is an ordinary run of an ordinary scenario: what is pulled becomes a step in the schedule of the bottleneck at the simulated time at
//! which it was pulled. A link knows when a packet leaves as soon as it arrives, so that a rate cannot be changed behind its back; instead
//! the run is done again up to the present with the step in its schedule, which is quick, and goes on from there. The scenario that comes
//! of it can be taken away, and gives the same run.

use std::time::Duration;

use cwnd::Time;
use cwnd::quantity::bit_rate;
use cwnd_sim::{CheckedSetup, SetupError, Simulation};
use serde_json::{Value, json};

use crate::clock::Stopwatch;
use crate::columns::{describe, rows};
use crate::message::Frame;
use crate::scenario::{Refusal, scenario, to_toml};
use crate::shared::Shared;
use crate::visitor::Visitor;

/// Runs a scenario by the clock until the visitor asks for something else, or for [`LONGEST`] seconds.
pub(crate) fn run(visitor: &Visitor, shared: &Shared, generation: u64, (id, document, speed): (u32, &Value, f64)) {
    let ended = follow(visitor, shared, generation, (id, document, speed));
    let frame = match ended {
        Ok(()) => Frame::from(json!({ "kind": "held", "id": id })),
        Err(Ended::Superseded) => return,
        Err(Ended::Refused(refusal)) => refusal.frame(id),
        Err(Ended::Failed(message)) => Frame::from(json!({ "kind": "error", "id": id, "message": message })),
    };
    visitor.send(&frame);
}

/// Why a paced run has ended before its time.
enum Ended {
    Superseded,
    Refused(Refusal),
    Failed(String),
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn follow(
    visitor: &Visitor,
    shared: &Shared,
    generation: u64,
    (id, document, speed): (u32, &Value, f64),
) -> Result<(), Ended> {
    let wanted = || visitor.wants(generation) && shared.goes_on();
    let full = || Ended::Failed(format!("{} runs follow the clock already: try again later", shared.limits.clocked));
    let _place = shared.clocked().ok_or_else(full)?;
    let mut document = document.clone();
    document["duration"] = json!(format!("{LONGEST}s"));
    document["warmup"] = json!("0s");
    let mut run = Paced::new(&document, shared)?;
    let mut speed = accepted(speed);
    let mut watch = Stopwatch::start();
    // Where the clock was last set: the simulated time then.
    let mut base = 0.0;
    let mut sent = 0;
    loop {
        let pulled = visitor.pulled();
        if let Some(new) = pulled.speed {
            (base, watch, speed) = (run.seconds(), Stopwatch::start(), accepted(new));
        }
        if let Some(rate) = pulled.rate.filter(|rate| bit_rate(rate).is_ok()) {
            pull(&mut document, run.seconds(), &rate);
            let _turn = shared.turn(visitor.address, wanted).ok_or(Ended::Superseded)?;
            let until = run.now;
            run = Paced::new(&document, shared)?;
            run.advance(until, shared, &wanted)?;
            (base, watch) = (run.seconds(), Stopwatch::start());
            let toml = to_toml(&document)?;
            visitor.send(&Frame::from(json!({ "kind": "pulled", "id": id, "at": run.seconds(), "toml": toml })));
        }
        let target = base + watch.elapsed().as_secs_f64() * speed;
        {
            let _turn = shared.turn(visitor.address, wanted).ok_or(Ended::Superseded)?;
            // A host too slow for the speed falls behind it, and does not try to make up for that.
            let step = target.min(run.seconds() + speed * SLICE.as_secs_f64() * 2.0);
            run.advance(time(step), shared, &wanted)?;
        }
        if target > run.seconds() + speed {
            (base, watch) = (run.seconds(), Stopwatch::start());
        }
        let trace = run.simulation.recorded();
        if trace.at.len() > sent {
            let mut header = describe(trace, run.bottleneck);
            header["kind"] = json!("more");
            header["id"] = json!(id);
            header["from"] = json!(sent);
            header["rows"] = json!(trace.at.len() - sent);
            visitor.send(&Frame { header, columns: rows(trace, run.bottleneck, sent) });
            sent = trace.at.len();
        }
        if run.seconds() >= LONGEST {
            return Ok(());
        }
        visitor.wait(SLICE);
        if !wanted() {
            return Err(Ended::Superseded);
        }
    }
}

/// A simulation that has come to some time.
struct Paced {
    setup: CheckedSetup,
    simulation: Simulation,
    bottleneck: usize,
    now: Time,
}

impl Paced {
    fn new(document: &Value, shared: &Shared) -> Result<Self, Ended> {
        let mut document = document.clone();
        document["sampling"] = json!(SAMPLING);
        let scenario = scenario("live.toml", &to_toml(&document)?, &document, &[])?;
        let setup = scenario.setup(scenario.document().first_seed);
        let simulation = Simulation::of(&setup).within(shared.limits.clocked_memory);
        Ok(Self { setup, simulation, bottleneck: scenario.bottleneck(), now: Time::ZERO })
    }

    fn seconds(&self) -> f64 {
        self.now.as_secs_f64()
    }

    fn advance(&mut self, until: Time, shared: &Shared, wanted: &dyn Fn() -> bool) -> Result<(), Ended> {
        let watch = Stopwatch::start();
        let mut goes_on = |_| wanted() && watch.elapsed() < shared.limits.time;
        self.now = until.max(self.now).min(self.simulation.end());
        self.simulation.proceed(self.now, &self.setup, &mut goes_on).map_err(|error| match error {
            SetupError::Interrupted if !wanted() => Ended::Superseded,
            SetupError::Interrupted => Ended::Failed("this machine is too slow for this run".to_string()),
            error => Ended::Failed(error.to_string()),
        })
    }
}

/// Adds a step to the schedule of the bottleneck: the rate from `at` seconds on.
fn pull(document: &mut Value, at: f64, rate: &str) {
    let schedule = &mut document["dumbbell"]["schedule"];
    if schedule.is_null() {
        *schedule = json!({ "steps": [] });
    }
    let Some(steps) = schedule["steps"].as_array_mut() else { return };
    let at = format!("{:.0}ms", at * 1e3);
    if steps.last().is_some_and(|last| last["at"] == at.as_str()) {
        steps.pop();
    }
    steps.push(json!({ "at": at, "rate": rate }));
}

fn accepted(speed: f64) -> f64 {
    if speed > 0.0 { speed.clamp(SLOWEST, FASTEST) } else { 0.0 }
}

fn time(seconds: f64) -> Time {
    Time::from_nanos((seconds.clamp(0.0, LONGEST) * 1e9) as u64)
}

/// Simulated seconds: what is simulated anew after a pull takes a second or two of these at the most.
const LONGEST: f64 = 600.0;
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 1000.0;
/// Between two answers: 25 pictures a second.
const SLICE: Duration = Duration::from_millis(40);
const SAMPLING: &str = "20ms";
