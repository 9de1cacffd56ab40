//! Runs that were asked for: every seed of a scenario, the curves of the first, and measures whose intervals narrow while seeds arrive.
//!
//! The first seed is run by itself and shown, in parts if it takes long; the others follow it.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cwnd_model::response::{Law, PathParameters};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Keep, Progress, RunError, Threads};
use cwnd_run::run::Runs;
use cwnd_run::scenario::Scenario;
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use serde_json::{Value, json};

use crate::clock::Stopwatch;
use crate::columns::{describe, operating_points, rows};
use crate::measures::{Measured, estimates};
use crate::message::Frame;
use crate::scenario::{POINTS, Prepared};
use crate::shared::Shared;
use crate::take;
use crate::visitor::Visitor;

/// A run whose first seeds are there.
pub(crate) struct Begun {
    pub(crate) generation: u64,
    pub(crate) id: u32,
    prepared: Prepared,
    /// For each scenario, those of the seeds that are done.
    measured: Vec<Mutex<Vec<Measured>>>,
    /// What it has taken of the time that a run may take.
    used: Duration,
}

/// Runs the first seed of each scenario for a visitor, unless something else is asked for meanwhile. Their curves are what is shown: no other
/// seed takes time from them.
pub(crate) fn begin(
    visitor: &Visitor,
    shared: &Shared,
    generation: u64,
    (id, prepared): (u32, Prepared),
) -> Option<Begun> {
    let Prepared { toml, scenarios } = &prepared;
    let labels: Vec<&str> = scenarios.iter().map(|(label, _)| label.as_str()).collect();
    visitor.send(&Frame::from(json!({
        "kind": "started", "id": id, "runs": labels, "seeds": seeds(scenarios), "toml": toml, "command": take::command(scenarios),
    })));
    let measured = scenarios.iter().map(|_| Mutex::default()).collect();
    let mut begun = Begun { generation, id, prepared, measured, used: Duration::ZERO };
    begun.seeds(visitor, shared, 0..1).then_some(begun)
}

/// Runs the seeds after the first.
pub(crate) fn finish(visitor: &Visitor, shared: &Shared, mut begun: Begun) {
    let all = seeds(&begun.prepared.scenarios);
    if begun.seeds(visitor, shared, 1..all) {
        begun.complete(visitor, all);
    }
}

impl Begun {
    /// Tells how many seeds there are, and that no more come.
    pub(crate) fn complete(&self, visitor: &Visitor, seeds: usize) {
        let ms = self.used.as_secs_f64() * 1e3;
        visitor.send(&Frame::from(json!({ "kind": "complete", "id": self.id, "seeds": seeds, "ms": ms })));
    }

    /// Runs some of the seeds of each scenario. Whether all are done: if they are not, the visitor has been told, or wants them no more.
    fn seeds(&mut self, visitor: &Visitor, shared: &Shared, which: Range<usize>) -> bool {
        let wanted = || visitor.wants(self.generation) && shared.goes_on();
        let Some(_turn) = shared.turn(visitor.address, wanted) else { return false };
        let threads = NonZeroUsize::new(shared.limits.threads).unwrap_or(NonZeroUsize::MIN);
        let watch = Stopwatch::start();
        let sink = Sink { visitor, begun: self, watch, shown: Mutex::default() };
        let sink = &sink;
        let jobs = which.flat_map(|nth| {
            self.prepared.scenarios.iter().take(MAX_RUNS).enumerate().filter_map(move |(run, (_, scenario))| {
                let seed = scenario.seeds().nth(nth)?;
                Some(Job { scenario: Arc::clone(scenario), seed, keep: Streamed { sink, run, first: nth == 0 } })
            })
        });
        let jobs: Vec<_> = jobs.collect();
        // The share of a thread, even if there is but one job: no seed has more than another.
        let memory = shared.limits.memory / threads.get() as u64 * threads.get().min(jobs.len()) as u64;
        let progress = Wanted { wanted: &wanted, watch, before: self.used, memory, time: shared.limits.time };
        let outcome = Executor::new(&Cells::default(), &progress).on(Threads::Own(threads)).run(jobs);
        let message = match outcome {
            Ok(_) => {
                self.used += watch.elapsed();
                return true;
            }
            Err(RunError::Interrupted(_)) if !wanted() => return false,
            Err(RunError::Interrupted(_)) => {
                let limit = shared.limits.time.as_secs_f64();
                format!("ended after {limit} s: take a shorter duration, a slower link, or fewer seeds")
            }
            Err(RunError::Setup(error @ SetupError::Memory { .. })) => {
                format!("{error} (or start with a larger `--memory`)")
            }
            Err(error) => error.to_string(),
        };
        visitor.send(&Frame::from(json!({ "kind": "error", "id": self.id, "message": message })));
        false
    }
}

/// How many seeds each scenario is run with.
fn seeds(scenarios: &[(String, Arc<Scenario>)]) -> usize {
    scenarios.first().map_or(0, |(_, scenario)| scenario.seeds().len())
}

/// Whether to go on with a run.
struct Wanted<'a, F> {
    wanted: &'a F,
    watch: Stopwatch,
    /// What the run has taken before.
    before: Duration,
    /// Of all threads.
    memory: u64,
    time: Duration,
}

impl<F: Fn() -> bool + Sync> Progress for Wanted<'_, F> {
    fn should_continue(&self) -> bool {
        (self.wanted)() && self.before + self.watch.elapsed() < self.time
    }

    fn memory(&self) -> Option<u64> {
        Some(self.memory)
    }
}

/// Where results go as they come.
struct Sink<'a> {
    visitor: &'a Visitor,
    begun: &'a Begun,
    watch: Stopwatch,
    /// When a part of a run was last sent.
    shown: Mutex<Duration>,
}

/// Sends what a seed gives, and keeps its measures.
#[derive(Clone, Copy)]
struct Streamed<'a> {
    sink: &'a Sink<'a>,
    run: usize,
    first: bool,
}

impl Streamed<'_> {
    fn send_curves(&self, scenario: &Scenario, trace: &Trace, is_whole: bool) {
        let Sink { visitor, begun, .. } = self.sink;
        let bottleneck = scenario.bottleneck();
        let mut header = describe(trace, bottleneck);
        header["kind"] = json!("curves");
        header["id"] = json!(begun.id);
        header["run"] = json!(self.run);
        header["rows"] = json!(trace.at.len());
        header["whole"] = json!(is_whole);
        if is_whole {
            header["operating"] = operating_points(trace);
            header["responses"] = responses(scenario);
        }
        visitor.send(&Frame { header, columns: rows(trace, bottleneck, 0) });
    }
}

impl Keep for Streamed<'_> {
    type Kept = ();

    fn name(&self) -> &'static str {
        // Runs of equal scenarios are two lines on the page.
        LIVE[self.run % MAX_RUNS]
    }

    fn looks(&self) -> u32 {
        if self.first { LOOKS } else { 0 }
    }

    fn look(&self, scenario: &Scenario, recorded: &Trace) {
        let mut shown = self.sink.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.sink.watch.elapsed();
        let due = if shown.is_zero() { FIRST_PART } else { *shown + NEXT_PART };
        if now < due {
            return;
        }
        *shown = now;
        drop(shown);
        self.send_curves(scenario, recorded, false);
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) {
        let Self { sink: Sink { visitor, begun, .. }, run, first } = *self;
        if !visitor.wants(begun.generation) {
            return;
        }
        if first {
            self.send_curves(scenario, &trace, true);
        }
        let own = Measured::of(scenario, &trace);
        let warnings = first.then(|| {
            let (scenario, summaries) = (scenario.clone(), vec![own.summary().clone()]);
            Runs { scenario, traces: vec![trace], summaries }.warnings()
        });
        let mut measured = begun.measured[run].lock().unwrap_or_else(PoisonError::into_inner);
        measured.push(own);
        let mut header = estimates(scenario, &measured);
        header["kind"] = json!("measures");
        header["id"] = json!(begun.id);
        header["run"] = json!(run);
        header["seeds"] = json!(measured.len());
        if let Some(warnings) = warnings {
            header["warnings"] = json!(warnings);
        }
        // Sent with the lock, so that a page never sees fewer seeds than before.
        visitor.send(&Frame::from(header));
    }
}

/// Windows against loss of the algorithms of a scenario that have a response in closed form.
fn responses(scenario: &Scenario) -> Value {
    let mut curves: Vec<Value> = Vec::new();
    let document = scenario.document();
    let rtt = document.dumbbell.as_ref().map(|dumbbell| &dumbbell.rtt);
    let rtt = rtt.or(document.parking_lot.as_ref().map(|lot| &lot.rtt)).map_or(0.1, |rtt| rtt.value().as_secs_f64());
    let path = PathParameters { rtt, packet: *document.packet.value() };
    for group in &document.flow {
        let name = group.algorithm.text();
        if curves.iter().any(|curve| curve["algorithm"] == name) {
            continue;
        }
        let Some(law) = Law::of(group.algorithm.value()) else { continue };
        let points = (0..=60).map(|step| 10_f64.powf(-6.5 + 0.1 * f64::from(step)));
        let points = points.filter_map(|p| law.response(p, path).map(|response| [p, response.mean]));
        let colour = cwnd_report::plot::colour::of(name);
        curves.push(json!({
            "algorithm": name, "light": colour.light, "dark": colour.dark, "points": points.collect::<Vec<_>>(),
        }));
    }
    curves.into()
}

const MAX_RUNS: usize = 8;
const LIVE: [&str; MAX_RUNS] = ["live 0", "live 1", "live 2", "live 3", "live 4", "live 5", "live 6", "live 7"];
/// How often it is asked whether a part of a run is to be sent: at every point of the curves.
const LOOKS: u32 = POINTS as u32 - 1;
/// A run that takes longer than this is shown in parts.
const FIRST_PART: Duration = Duration::from_millis(40);
/// Between two parts: each has all that was before it.
const NEXT_PART: Duration = Duration::from_millis(100);
