//! Runs that were asked for: every seed of a scenario, the curves of the first, and measures whose intervals narrow while seeds arrive.

use std::sync::{Arc, Mutex, PoisonError};

use cwnd_model::response::{Law, PathParameters};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Keep, Progress, RunError, Threads};
use cwnd_run::measure::{Estimates, Summary, summarise};
use cwnd_run::run::Runs;
use cwnd_run::scenario::{Place, Scenario, ScenarioError};
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use serde_json::{Value, json};
use thiserror::Error;

use crate::clock::Stopwatch;
use crate::columns::{describe, operating_points, rows};
use crate::message::Frame;
use crate::rule::{self, RuleError};
use crate::server::Shared;
use crate::session::Visitor;
use crate::take;

/// Why a scenario of a page is not run.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    #[error("this scenario is not TOML: {0}")]
    Document(String),
    #[error("a scenario in the browser reads no files: take `trace` out of it, and run it with `cwnd run`")]
    Files,
    #[error("{given} flows are too many for the browser: accepted is at most {MAX_FLOWS}; `cwnd run` takes more")]
    Flows { given: u64 },
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// A document that was checked, and what is run of it.
pub(crate) struct Prepared {
    /// The document as TOML.
    pub(crate) toml: String,
    /// The scenarios with their labels: one, or one for each group of flows.
    pub(crate) scenarios: Vec<(String, Arc<Scenario>)>,
}

impl Refusal {
    /// The answer that says so.
    pub(crate) fn frame(&self, id: u32) -> Frame {
        let mut header = json!({ "kind": "error", "id": id, "message": self.to_string() });
        if let Self::Scenario(error) = self {
            header["message"] = json!(error.fault.to_string());
            if let Place::File(at) = &error.place {
                header["place"] = json!({ "line": at.line, "column": at.column, "width": at.width, "text": at.text });
            }
        }
        header.into()
    }
}

impl Prepared {
    /// Reads and checks a document of a page. Each group of flows is alone if `apart`; the state is recorded often enough for the page.
    pub(crate) fn of(document: &Value, apart: bool, most_seeds: Option<u32>) -> Result<Self, Refusal> {
        let toml = to_toml(document)?;
        let whole = scenario(NAME, &toml, document, &[])?;
        let (interval, seeds) = (sampling(&whole), whole.document().seeds.min(most_seeds.unwrap_or(u32::MAX)).max(1));
        let overrides = [format!("sampling={interval}ns"), format!("seeds={seeds}")];
        let groups = &whole.document().flow;
        if !apart || groups.len() < 2 {
            let scenario = scenario(NAME, &toml, document, &overrides)?;
            return Ok(Self { toml, scenarios: vec![(String::new(), Arc::new(scenario))] });
        }
        let alone = groups.iter().enumerate().map(|(index, group)| {
            let mut document = document.clone();
            if let Some(flows) = document["flow"].as_array_mut() {
                *flows = vec![flows[index].take()];
            }
            let scenario = scenario(NAME, &to_toml(&document)?, &document, &overrides)?;
            let label = group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string());
            Ok((label, Arc::new(scenario)))
        });
        let scenarios = alone.collect::<Result<_, Refusal>>()?;
        Ok(Self { toml, scenarios })
    }
}

/// A document as TOML.
pub(crate) fn to_toml(document: &Value) -> Result<String, Refusal> {
    let refused = |error: &dyn std::fmt::Display| Refusal::Document(error.to_string());
    let table: toml::Value = serde_json::from_value(document.clone()).map_err(|error| refused(&error))?;
    toml::to_string(&table).map_err(|error| refused(&error))
}

/// The scenario in `text`, which is `document` as TOML: checked, and with the rules of one's own in the place of algorithms.
pub(crate) fn scenario(name: &str, text: &str, document: &Value, overrides: &[String]) -> Result<Scenario, Refusal> {
    check_size(document)?;
    let groups = document["flow"].as_array().into_iter().flatten();
    let rule = |group: &Value| group["algorithm"].as_str().and_then(rule::read);
    let rules: Vec<_> = groups.enumerate().filter_map(|(index, group)| Some((index, rule(group)?))).collect();
    // The rest is checked with what every scenario may name in the place of a rule.
    let places = rules.iter().map(|(index, _)| format!("flow.{index}.algorithm=reno"));
    let overrides: Vec<String> = overrides.iter().cloned().chain(places).collect();
    let scenario = Scenario::read(name, text, &overrides)?;
    if rules.is_empty() {
        return Ok(scenario);
    }
    let mut document = scenario.document().clone();
    for (index, rule) in rules {
        if let Some(group) = document.flow.get_mut(index) {
            group.algorithm = rule?.into();
        }
    }
    Ok(Scenario::check(document)?)
}

/// What a browser may not ask for, before anything is made of it: the program's own limits are those of the machine.
fn check_size(document: &Value) -> Result<(), Refusal> {
    let links = document["link"].as_array().into_iter().flatten();
    if links.chain([&document["dumbbell"]]).any(|link| link.get("trace").is_some()) {
        return Err(Refusal::Files);
    }
    let groups = ["flow", "cbr"].into_iter().flat_map(|key| document[key].as_array().into_iter().flatten());
    let given = groups.fold(0_u64, |sum, group| sum.saturating_add(group["count"].as_u64().unwrap_or(1)));
    if given > MAX_FLOWS { Err(Refusal::Flows { given }) } else { Ok(()) }
}

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

/// How often the state is recorded, nanoseconds: a point for every second pixel of a wide screen, and often enough for the measures.
pub(crate) fn sampling(scenario: &Scenario) -> u64 {
    (scenario.duration().as_nanos() / POINTS).clamp(1_000_000, 200_000_000)
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

/// The name of a page's scenario in errors.
const NAME: &str = "live.toml";
const POINTS: u64 = 800;
/// Each takes two kilobytes before its first packet.
const MAX_FLOWS: u64 = 1000;
const MAX_RUNS: usize = 8;
const LIVE: [&str; MAX_RUNS] = ["live 0", "live 1", "live 2", "live 3", "live 4", "live 5", "live 6", "live 7"];
