//! Runs that were asked for: every seed of a scenario, the curves of the first, and measures whose intervals narrow while seeds arrive.

use std::sync::{Arc, Mutex, PoisonError};

use cwnd_model::response::{Law, PathParameters};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Keep, Progress, RunError, Threads};
use cwnd_run::measure::{Estimates, Summary, summarise};
use cwnd_run::run::Runs;
use cwnd_run::scenario::Scenario;
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use serde_json::{Value, json};

use crate::clock::Stopwatch;
use crate::columns::{describe, operating_points, rows};
use crate::message::Frame;
use crate::scenario::Prepared;
use crate::shared::Shared;
use crate::take;
use crate::visitor::Visitor;

/// Runs all of it for a visitor, unless something else is asked for meanwhile.
pub(crate) fn run(visitor: &Visitor, shared: &Shared, generation: u64, id: u32, prepared: &Prepared) {
    let wanted = || visitor.wants(generation) && shared.goes_on();
    let Some(_turn) = shared.turn(wanted) else { return };
    let watch = Stopwatch::start();
    let Prepared { toml, scenarios } = prepared;
    let labels: Vec<&str> = scenarios.iter().map(|(label, _)| label.as_str()).collect();
    let seeds = scenarios.first().map_or(0, |(_, scenario)| scenario.seeds().len());
    visitor.send(&Frame::from(json!({
        "kind": "started", "id": id, "runs": labels, "seeds": seeds, "toml": toml,
        "command": take::command(scenarios), "responses": responses(scenarios),
    })));
    let sink = Sink { visitor, generation, id, summaries: scenarios.iter().map(|_| Mutex::default()).collect() };
    // The first seed of each first: what is on the screen is theirs.
    let jobs = (0..seeds).flat_map(|nth| {
        let sink = &sink;
        scenarios.iter().take(MAX_RUNS).enumerate().filter_map(move |(run, (_, scenario))| {
            let seed = scenario.seeds().nth(nth)?;
            Some(Job { scenario: Arc::clone(scenario), seed, keep: Streamed { sink, run, first: nth == 0 } })
        })
    });
    let progress = Wanted { wanted: &wanted, watch, shared };
    let threads = std::num::NonZeroUsize::new(shared.limits.threads).unwrap_or(std::num::NonZeroUsize::MIN);
    let outcome = Executor::new(&Cells::default(), &progress).on(Threads::Own(threads)).run(jobs.collect());
    let answer = match outcome {
        Ok(_) => json!({ "kind": "complete", "id": id, "ms": watch.elapsed().as_secs_f64() * 1e3 }),
        Err(RunError::Interrupted(_)) if !wanted() => return,
        Err(RunError::Interrupted(_)) => {
            let limit = shared.limits.time.as_secs();
            let message = format!("ended after {limit} s: take a shorter duration, a slower link, or fewer seeds");
            json!({ "kind": "error", "id": id, "message": message })
        }
        Err(RunError::Setup(error @ SetupError::Memory { .. })) => {
            json!({ "kind": "error", "id": id, "message": format!("{error} (or start with a larger `--memory`)") })
        }
        Err(error) => json!({ "kind": "error", "id": id, "message": error.to_string() }),
    };
    visitor.send(&Frame::from(answer));
}

/// Whether to go on with a run.
struct Wanted<'a, F> {
    wanted: &'a F,
    watch: Stopwatch,
    shared: &'a Shared,
}

impl<F: Fn() -> bool + Sync> Progress for Wanted<'_, F> {
    fn should_continue(&self) -> bool {
        (self.wanted)() && self.watch.elapsed() < self.shared.limits.time
    }

    fn memory(&self) -> Option<u64> {
        Some(self.shared.limits.memory)
    }
}

/// Where results go as they come.
struct Sink<'a> {
    visitor: &'a Visitor,
    generation: u64,
    id: u32,
    /// For each scenario, those of the seeds that are done.
    summaries: Vec<Mutex<Vec<Summary>>>,
}

/// Sends what a seed gives, and keeps its measures.
#[derive(Clone, Copy)]
struct Streamed<'a> {
    sink: &'a Sink<'a>,
    run: usize,
    first: bool,
}

impl Keep for Streamed<'_> {
    type Kept = ();

    fn name(&self) -> &'static str {
        // Runs of equal scenarios are two lines on the page.
        LIVE[self.run % MAX_RUNS]
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) {
        let Self { sink: Sink { visitor, generation, id, summaries }, run, first } = *self;
        if !visitor.wants(*generation) {
            return;
        }
        let bottleneck = scenario.bottleneck();
        if first {
            let mut header = describe(&trace, bottleneck);
            header["kind"] = json!("curves");
            header["id"] = json!(id);
            header["run"] = json!(run);
            header["rows"] = json!(trace.at.len());
            header["operating"] = operating_points(&trace);
            visitor.send(&Frame { header, columns: rows(&trace, bottleneck, 0) });
        }
        let summary = summarise(&trace, bottleneck);
        let warnings = first.then(|| {
            let (scenario, summaries) = (scenario.clone(), vec![summary.clone()]);
            Runs { scenario, traces: vec![trace], summaries }.warnings()
        });
        let mut summaries = summaries[run].lock().unwrap_or_else(PoisonError::into_inner);
        summaries.push(summary);
        let measures = Estimates::over(&summaries);
        let mut header = json!({
            "kind": "measures", "id": id, "run": run, "seeds": summaries.len(), "measures": measures,
        });
        if let Some(warnings) = warnings {
            header["warnings"] = json!(warnings);
        }
        // Sent with the lock, so that a page never sees fewer seeds than before.
        visitor.send(&Frame::from(header));
    }
}

/// Windows against loss of the algorithms that have a response in closed form.
fn responses(scenarios: &[(String, Arc<Scenario>)]) -> Value {
    let mut curves: Vec<Value> = Vec::new();
    for (_, scenario) in scenarios {
        let document = scenario.document();
        let rtt = document.dumbbell.as_ref().map(|dumbbell| &dumbbell.rtt);
        let rtt =
            rtt.or(document.parking_lot.as_ref().map(|lot| &lot.rtt)).map_or(0.1, |rtt| rtt.value().as_secs_f64());
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
                "algorithm": name, "light": colour.light, "dark": colour.dark,
                "points": points.collect::<Vec<_>>(),
            }));
        }
    }
    curves.into()
}

const MAX_RUNS: usize = 8;
const LIVE: [&str; MAX_RUNS] = ["live 0", "live 1", "live 2", "live 3", "live 4", "live 5", "live 6", "live 7"];
