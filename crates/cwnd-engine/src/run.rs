//! Runs that were asked for: every seed of a scenario, the curves of the first, and measures whose intervals narrow while seeds arrive.
//!
//! The first seed is run by itself and shown, in parts if it takes long; the others follow it. Several engines share them: each helper runs
//! one seed after the other, and the engine that began the run joins their measures to its own.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwnd_model::response::{Law, PathParameters};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job, Progress, Reduce, RunError, Threads};
use cwnd_run::run::Runs;
use cwnd_run::scenario::Scenario;
use cwnd_sim::SetupError;
use cwnd_trace::Trace;
use serde_json::{Value, json};

use crate::columns::{describe, operating_points, rows};
use crate::host::Host;
use crate::measures::{Measured, estimates};
use crate::message::Frame;
use crate::scenario::{POINTS, Prepared};
use crate::take;

/// A run that was asked for, and its seeds that are done.
pub struct Begun {
    id: u32,
    prepared: Prepared,
    /// For each scenario, the measures of the seeds that are done, by the place of the seed.
    measured: Vec<Mutex<BTreeMap<usize, Measured>>>,
    /// Another engine began the run, and takes the measures.
    helps: bool,
    /// The part used of the time that a run may take.
    used: Duration,
}

impl Begun {
    /// Announces a run to `host`; nothing is simulated yet.
    pub fn new(host: &dyn Host, id: u32, prepared: Prepared) -> Self {
        let Prepared { toml, apart, scenarios } = &prepared;
        let labels: Vec<&str> = scenarios.iter().map(|(label, _)| label.as_str()).collect();
        host.send(&Frame::from(json!({
            "kind": "started", "id": id, "runs": labels, "seeds": seeds(scenarios), "toml": toml, "command": take::command(scenarios),
            "address": take::address(toml, *apart),
        })));
        Self { helps: false, ..Self::helping(id, prepared) }
    }

    /// A run that another engine has announced, which takes the measures of the seeds that are run here.
    #[must_use]
    pub fn helping(id: u32, prepared: Prepared) -> Self {
        let measured = prepared.scenarios.iter().map(|_| Mutex::default()).collect();
        Self { id, prepared, measured, helps: true, used: Duration::ZERO }
    }

    /// The number that the page gave the run.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Runs the first seed of each scenario. Their curves are shown, so no other seed takes time from them. Returns whether all are done:
    /// otherwise `host` has the reason, or has cancelled the run.
    pub fn first(&mut self, host: &dyn Host) -> bool {
        self.seeds(host, &[0], 1)
    }

    /// Runs the seeds that are not done, and tells `host` when all are done.
    pub fn rest(&mut self, host: &dyn Host) {
        let missing: Vec<usize> = (0..seeds(&self.prepared.scenarios)).filter(|nth| !self.has(*nth)).collect();
        if self.seeds(host, &missing, 1) {
            self.complete_all(host);
        }
    }

    /// Runs the seed at a place within its share of the memory, one of `engines` equal ones. A helper sends its measures as they are; the engine
    /// that began the run tells `host` if it was the last.
    pub fn seed(&mut self, host: &dyn Host, nth: usize, engines: NonZeroUsize) {
        let is_done = nth >= seeds(&self.prepared.scenarios) || self.seeds(host, &[nth], engines.get());
        if is_done && !self.helps {
            self.complete_all(host);
        }
    }

    /// Takes the measures of the seed at a place from a helper, which are of the scenario at `run`, and tells `host` if they were the last.
    ///
    /// # Errors
    /// They are no measures of this version, or of no scenario of this run.
    pub fn join(&self, host: &dyn Host, run: usize, nth: usize, values: &str) -> Result<(), serde_json::Error> {
        let own = Measured::from_text(values)?;
        if nth < seeds(&self.prepared.scenarios) && run < self.measured.len() {
            self.keep(host, run, nth, own, None);
            self.complete_all(host);
        }
        Ok(())
    }

    /// Whether the seed at a place is done in each scenario.
    fn has(&self, nth: usize) -> bool {
        self.shown().all(|measured| lock(measured).contains_key(&nth))
    }

    /// The measures of the scenarios that are run.
    fn shown(&self) -> impl Iterator<Item = &Mutex<BTreeMap<usize, Measured>>> {
        self.measured.iter().take(MAX_RUNS)
    }

    /// Tells `host` that no more seeds come, if all are done.
    fn complete_all(&self, host: &dyn Host) {
        let all = seeds(&self.prepared.scenarios);
        if self.shown().all(|measured| lock(measured).len() == all) {
            self.complete(host, all);
        }
    }

    /// Keeps the measures of a seed, and sends the estimates over those that are there, in the order of the seeds.
    fn keep(&self, host: &dyn Host, run: usize, nth: usize, own: Measured, warnings: Option<Vec<String>>) {
        let mut measured = lock(&self.measured[run]);
        measured.insert(nth, own);
        let mut header = estimates(&self.prepared.scenarios[run].1, measured.values());
        header["kind"] = json!("measures");
        header["id"] = json!(self.id);
        header["run"] = json!(run);
        header["seeds"] = json!(measured.len());
        if let Some(warnings) = warnings {
            header["warnings"] = json!(warnings);
        }
        // Sent with the lock, so that a page never sees fewer seeds than before.
        host.send(&Frame::from(header));
    }

    /// Tells `host` how many seeds there are, and that no more come.
    pub fn complete(&self, host: &dyn Host, seeds: usize) {
        let ms = self.used.as_secs_f64() * 1e3;
        host.send(&Frame::from(json!({ "kind": "complete", "id": self.id, "seeds": seeds, "ms": ms })));
    }

    /// Runs the seeds at some places with one of `parts` equal parts of the memory.
    fn seeds(&mut self, host: &dyn Host, which: &[usize], parts: usize) -> bool {
        let limits = host.limits();
        let from = host.now();
        let sink = Sink { host, begun: self, from, shown: Mutex::default() };
        let sink = &sink;
        let jobs = which.iter().flat_map(|&nth| {
            self.prepared.scenarios.iter().take(MAX_RUNS).enumerate().filter_map(move |(run, (_, scenario))| {
                let seed = scenario.seeds().nth(nth)?;
                Some(Job { scenario: Arc::clone(scenario), seed, keep: Streamed { sink, run, nth } })
            })
        });
        let jobs: Vec<_> = jobs.collect();
        // The share of a thread, even if there is but one job: no seed has more than another.
        let memory =
            limits.memory / parts as u64 / limits.threads.get() as u64 * limits.threads.get().min(jobs.len()) as u64;
        let progress = Wanted { host, from, before: self.used, memory, time: limits.time };
        let threads = if limits.threads == NonZeroUsize::MIN { Threads::Calling } else { Threads::Own(limits.threads) };
        let outcome = Executor::new(&Cells::default(), &progress).on(threads).run(jobs);
        let message = match outcome {
            Ok(_) => {
                self.used += host.now().saturating_sub(from);
                return true;
            }
            Err(RunError::Interrupted(_)) if !host.wanted() => return false,
            Err(RunError::Interrupted(_)) => {
                let limit = limits.time.as_secs_f64();
                format!("ended after {limit} s: take a shorter duration, a slower link, or fewer seeds")
            }
            Err(RunError::Setup(error @ SetupError::Memory { .. })) => {
                format!("{error}{}", limits.more_memory)
            }
            Err(error) => error.to_string(),
        };
        let mut header = json!({ "kind": "error", "id": self.id, "message": message });
        if parts > 1 {
            header["part"] = json!(true);
        }
        host.send(&Frame::from(header));
        false
    }
}

/// The number of seeds of each scenario.
fn seeds(scenarios: &[(String, Arc<Scenario>)]) -> usize {
    scenarios.first().map_or(0, |(_, scenario)| scenario.seeds().len())
}

/// Whether to go on with a run.
struct Wanted<'a> {
    host: &'a dyn Host,
    /// When these seeds began, on the clock of the host.
    from: Duration,
    /// The time that the run has taken before.
    before: Duration,
    /// Of all threads.
    memory: u64,
    time: Duration,
}

impl Progress for Wanted<'_> {
    fn should_continue(&self) -> bool {
        self.host.wanted() && self.before + self.host.now().saturating_sub(self.from) < self.time
    }

    fn memory(&self) -> Option<u64> {
        Some(self.memory)
    }
}

/// Where results go as they come.
struct Sink<'a> {
    host: &'a dyn Host,
    begun: &'a Begun,
    /// When these seeds began, on the clock of the host.
    from: Duration,
    /// When a part of a run was last sent.
    shown: Mutex<Duration>,
}

/// Sends what a seed gives, and keeps its measures.
#[derive(Clone, Copy)]
struct Streamed<'a> {
    sink: &'a Sink<'a>,
    run: usize,
    /// The place of the seed.
    nth: usize,
}

impl Streamed<'_> {
    fn send_curves(&self, scenario: &Scenario, trace: &Trace, is_whole: bool) {
        let Sink { host, begun, .. } = self.sink;
        let bottleneck = scenario.bottleneck();
        let mut header = describe(trace, bottleneck);
        header["kind"] = json!("curves");
        header["id"] = json!(begun.id);
        header["run"] = json!(self.run);
        header["rows"] = json!(trace.at.len());
        header["whole"] = json!(is_whole);
        if is_whole {
            header["digest"] = json!(format!("{:016x}", trace.digest));
            header["operating"] = operating_points(trace);
            header["responses"] = responses(scenario);
        }
        host.send(&Frame { header, columns: rows(trace, bottleneck, 0) });
    }
}

impl Reduce for Streamed<'_> {
    type Reduction = ();

    fn name(&self) -> &str {
        // Runs of equal scenarios are two lines on the page.
        LIVE[self.run % MAX_RUNS]
    }

    fn observations(&self) -> u32 {
        if self.nth == 0 { LOOKS } else { 0 }
    }

    fn observe(&self, scenario: &Scenario, recorded: &Trace) {
        let mut shown = lock(&self.sink.shown);
        let now = self.sink.host.now().saturating_sub(self.sink.from);
        let due = if shown.is_zero() { FIRST_PART } else { *shown + NEXT_PART };
        if now < due {
            return;
        }
        *shown = now;
        drop(shown);
        self.send_curves(scenario, recorded, false);
    }

    fn reduce(&self, scenario: &Scenario, trace: Trace) {
        let Self { sink: Sink { host, begun, .. }, run, nth } = *self;
        let first = nth == 0;
        if !host.wanted() {
            return;
        }
        if first {
            self.send_curves(scenario, &trace, true);
        }
        let own = Measured::of(scenario, &trace);
        if begun.helps {
            let values = own.to_text();
            return host.send(&Frame::from(
                json!({ "kind": "measured", "id": begun.id, "run": run, "nth": nth, "values": values }),
            ));
        }
        let warnings = first.then(|| {
            let (scenario, summaries) = (scenario.clone(), vec![own.summary().clone()]);
            Runs { scenario, traces: vec![trace], summaries }.warnings()
        });
        begun.keep(*host, run, nth, own, warnings);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
/// The interval between checks whether a part of a run is to be sent: at every point of the curves.
const LOOKS: u32 = POINTS as u32 - 1;
/// A run that takes longer than this is shown in parts.
const FIRST_PART: Duration = Duration::from_millis(40);
/// Between two parts: each has all that was before it.
const NEXT_PART: Duration = Duration::from_millis(100);
