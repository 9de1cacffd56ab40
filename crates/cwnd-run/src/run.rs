//! Runs of scenarios with their traces: one simulation per seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cwnd::registry::Basis;
use cwnd::window::{RateLimited, SlowStart};
use cwnd::{CongestionControl, Span, Spec, Start};
use cwnd_sim::{AckEcho, Discipline, FlowSetup};
use cwnd_trace::{FlowTrace, Trace};
use thiserror::Error;

use crate::cells::Cells;
use crate::execute::{Executor, Interrupted, Job, Outcome, Progress, RunError, WholeTrace};
use crate::measure::{
    Estimates, SHORT_INTERVAL, Summary, Until, Window, goodput_series, grew_on, life_of_arrivals, mser5,
    peer_limited_share, seconds_of_cbr, source_limited_share,
};
use crate::scenario::{Scenario, is_drawn, may_assume_marks};

/// A scenario with the traces of its runs.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The scenario of the runs.
    pub scenario: Scenario,
    /// One trace per seed, in the order of the seeds.
    pub traces: Vec<Trace>,
    /// The measures of each trace.
    pub summaries: Vec<Summary>,
}

/// A run that failed.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("seed {seed}: {error}")]
pub struct FailedRun {
    /// Its seed.
    pub seed: u64,
    /// Why.
    pub error: RunError,
}

/// Runs every seed of every scenario on all cores. The result does not depend on the number of threads.
///
/// # Errors
/// The simulator refuses a setup or panics, or `progress` ended the work.
pub fn run(scenarios: Vec<Scenario>, progress: &dyn Progress) -> Result<Vec<Runs>, RunError> {
    run_by(scenarios, |jobs| Executor::new(&Cells::default(), progress).run(jobs))
}

/// Lets `runner` run every seed of every scenario, and returns the kept values of each job in their order.
///
/// # Errors
/// `runner` fails, whose error is passed on.
pub fn run_by<E>(
    scenarios: Vec<Scenario>,
    runner: impl FnOnce(Vec<Job<WholeTrace>>) -> Result<Vec<(Trace, Summary)>, E>,
) -> Result<Vec<Runs>, E> {
    let scenarios: Vec<Arc<Scenario>> = scenarios.into_iter().map(Arc::new).collect();
    let mut results = runner(jobs(&scenarios))?.into_iter();
    let gathered = scenarios.into_iter().map(|scenario| {
        let (traces, summaries) = results.by_ref().take(scenario.seeds().len()).unzip();
        Runs { scenario: Arc::unwrap_or_clone(scenario), traces, summaries }
    });
    Ok(gathered.collect())
}

/// As [`run`], where a scenario of which a run fails keeps no other from running: it has the first failure among its seeds instead of runs.
///
/// # Errors
/// `progress` ended the work.
pub fn run_each(
    scenarios: Vec<Scenario>,
    progress: &dyn Progress,
) -> Result<Vec<Result<Runs, FailedRun>>, Interrupted> {
    let scenarios: Vec<Arc<Scenario>> = scenarios.into_iter().map(Arc::new).collect();
    let mut outcomes = Executor::new(&Cells::default(), progress).run_each(jobs(&scenarios))?.into_iter();
    let gathered = scenarios.into_iter().map(|scenario| {
        let of_seed = |(outcome, seed): (Outcome<_>, u64)| outcome.map_err(|error| FailedRun { seed, error });
        // All outcomes of a scenario are taken, whatever the first of them are.
        let own: Vec<_> = outcomes.by_ref().take(scenario.seeds().len()).collect();
        let kept: Result<Vec<(Trace, Summary)>, FailedRun> =
            own.into_iter().zip(scenario.seeds()).map(of_seed).collect();
        kept.map(|kept| {
            let (traces, summaries) = kept.into_iter().unzip();
            Runs { scenario: Arc::unwrap_or_clone(scenario), traces, summaries }
        })
    });
    Ok(gathered.collect())
}

/// A job for every seed of every scenario.
fn jobs(scenarios: &[Arc<Scenario>]) -> Vec<Job<WholeTrace>> {
    let of = |scenario: &Arc<Scenario>| {
        let scenario = Arc::clone(scenario);
        scenario.seeds().map(move |seed| Job { scenario: Arc::clone(&scenario), seed, keep: WholeTrace })
    };
    scenarios.iter().flat_map(of).collect()
}

/// Has `runner` run every seed of every scenario, then adds seeds to all of them until the goodput of each is known well enough, or
/// there are `most` of them. One that fails is run no further. See [`Until`] for what that does to the intervals.
///
/// # Errors
/// `runner` fails, whose error is passed on.
pub fn run_until<E>(
    scenarios: Vec<Scenario>,
    until: Until,
    most: u32,
    mut runner: impl FnMut(Vec<Scenario>) -> Result<Vec<Result<Runs, FailedRun>>, E>,
) -> Result<Vec<Result<Runs, FailedRun>>, E> {
    let mut all = runner(scenarios)?;
    loop {
        let good = || all.iter().filter_map(|runs| runs.as_ref().ok());
        let seeds = good().map(|runs| runs.traces.len() as u32).max().unwrap_or(most);
        let known = |runs: &Runs| runs.estimates().goodput_bps.is_none_or(|goodput| until.met(&goodput));
        if seeds >= most || good().all(known) {
            return Ok(all);
        }
        let more = Until::more(seeds).min(most - seeds);
        let first = |runs: &Runs| runs.scenario.document().first_seed;
        let next = |runs: &Runs| runs.scenario.with_seeds(first(runs).wrapping_add(u64::from(seeds)), more);
        let mut added = runner(good().map(next).collect())?.into_iter();
        for one in &mut all {
            let Ok(runs) = one else { continue };
            match added.next() {
                Some(Ok(added)) => {
                    runs.scenario = runs.scenario.with_seeds(first(runs), seeds + more);
                    runs.traces.extend(added.traces);
                    runs.summaries.extend(added.summaries);
                }
                Some(Err(failed)) => *one = Err(failed),
                None => {}
            }
        }
    }
}

impl Runs {
    /// What to look at before believing the numbers: a setting that changes nothing; seeds that do not differ; a flow held back by
    /// something else than its algorithm, where the scenario does not say so itself; an algorithm that needs marks and received none.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let windows: Vec<Window> = self.traces.iter().map(Window::measured).collect();
        let worst = |of: fn(&Trace, &FlowTrace, Window) -> Option<f64>, concerned: &[bool]| {
            let shares = self.traces.iter().zip(&windows).flat_map(|(trace, window)| {
                let flows = trace.flows.iter().zip(concerned).filter(|(_, concerned)| **concerned);
                flows.filter_map(|(flow, _)| of(trace, flow, *window))
            });
            shares.fold(0.0, f64::max)
        };
        let endless: Vec<bool> = self.scenario.endless().collect();
        let limits = [
            ("receiver", worst(peer_limited_share, &vec![true; endless.len()])),
            ("source", worst(source_limited_share, &endless)),
        ];
        let held = limits.into_iter().filter(|(_, share)| *share > HELD_SHARE);
        let held = held.map(|(what, share)| format!("a flow was {what}-limited {:.0} % of the time", share * 100.0));
        let setup = self.scenario.setup(self.scenario.document().first_seed);
        let grew = |(index, flow): (usize, &FlowSetup)| {
            let of_run = |(trace, window): (&Trace, &Window)| {
                trace.flows.get(index).is_some_and(|flow| grew_on(trace, flow, *window))
            };
            grows_on(flow) && self.traces.iter().zip(&windows).any(of_run)
        };
        let grows: Vec<bool> = setup.flows.iter().enumerate().map(grew).collect();
        let unused = worst(source_limited_share, &grows).max(worst(peer_limited_share, &grows));
        let grew = (unused > HELD_SHARE).then(|| {
            format!(
                "a flow was limited by its source or receiver {:.0} % of the time and grew its unused window, as the \
                 reproduced sources do (`rate_limited = \"none\"`, as in eras of ns-2, or a profile of `udt` other than `udt4`)",
                unused * 100.0
            )
        });
        let links = || self.traces.iter().flat_map(|trace| &trace.links);
        let arrived = self.traces.iter().flat_map(|trace| trace.flows.iter().map(|flow| &flow.marked));
        let unmarked =
            links().map(|link| &link.marked).chain(arrived).all(|marked| marked.last().is_none_or(|count| *count == 0));
        let specs = self.scenario.document().flow.iter().map(|group| group.algorithm.value());
        let needs = |flow: &&FlowSetup| needs_marks(&flow.algorithm) && !may_assume_marks(flow, setup.links.iter());
        let needing = setup.flows.iter().filter(|flow| unmarked && needs(flow));
        let named: BTreeSet<&str> = needing.map(|flow| flow.algorithm.entry().name).collect();
        let marks = named.into_iter().map(|name| {
            format!(
                "no packet was marked, without which `{name}` answers losses alone: it wants `ecn` other than `latch`, and a queue that marks"
            )
        });
        let latched: BTreeSet<&str> = self
            .scenario
            .document()
            .flow
            .iter()
            .filter(|group| {
                group.ecn.as_ref().is_some_and(|echo| *echo.value() == AckEcho::Latch)
                    && needs_marks(group.algorithm.value())
            })
            .map(|group| group.algorithm.value().entry().name)
            .collect();
        let latched = latched.into_iter().map(|name| {
            format!("`{name}` answers the share of packets that are marked, which `ecn` of `latch` does not tell: it wants `per-packet`, `accecn`, `counts` or `l4s`")
        });
        let has = |queue: &str| setup.links.iter().any(|link| router(&link.discipline) == Some(queue));
        let by_routers = specs.clone().map(Spec::entry).filter(|entry| entry.basis == Basis::Routers);
        let routed: BTreeSet<&str> = by_routers.map(|entry| entry.name).filter(|name| !has(name)).collect();
        let routers = routed.into_iter().map(|name| {
            format!("no router on the path writes on packets for `{name}`, which then reacts to losses alone: it needs a queue `{name}:`")
        });
        let unused = self.scenario.unused().iter().map(ToString::to_string);
        let unlimited = self.beyond_windows().into_iter().chain(self.beyond_flight());
        let same = self.traces.len() > 1 && self.traces.windows(2).all(|pair| pair[0].digest == pair[1].digest);
        let same = same.then(|| {
            let why = if is_drawn(&setup) { "" } else { ", since nothing in it is random" };
            format!("all {} seeds gave the same run{why}: the intervals are of one run", self.traces.len())
        });
        unused
            .chain(unlimited)
            .chain(same)
            .chain(held)
            .chain(grew)
            .chain(marks)
            .chain(latched)
            .chain(routers)
            .chain(self.left_out())
            .collect()
    }

    /// Limits of slow start that no window of an algorithm's flows came near, in any seed.
    fn beyond_windows(&self) -> Vec<String> {
        let setup = self.scenario.setup(self.scenario.document().first_seed);
        let mut largest: BTreeMap<(&str, u32), f64> = BTreeMap::new();
        for (index, flow) in setup.flows.iter().enumerate() {
            let Some(SlowStart::Limited { max_threshold }) = flow.slow_start else { continue };
            let traces = self.traces.iter().filter_map(|trace| trace.flows.get(index));
            let windows = traces.flat_map(|flow| flow.window.iter().copied()).filter(|window| window.is_finite());
            let known = largest.entry((flow.algorithm.label(), max_threshold)).or_insert(f64::NAN);
            *known = windows.fold(*known, f64::max);
        }
        // The samples of a run may miss its peak.
        let beyond = largest.iter().filter(|((_, limit), window)| f64::from(*limit) > 2.0 * **window);
        let sentence = |((label, limit), window): (&(&str, u32), &f64)| {
            format!("`limited:{limit}` of {label} has no effect: its largest window was {window:.0} packets")
        };
        beyond.map(sentence).collect()
    }

    /// Windows of receivers that held no flow of their group back, in any seed.
    fn beyond_flight(&self) -> Vec<String> {
        let mut begin = 0;
        let mut beyond = Vec::new();
        for group in &self.scenario.document().flow {
            let own = begin..begin + group.count as usize;
            begin = own.end;
            let Some(window) = group.max_window.filter(|window| window.is_finite()) else { continue };
            let flows = self.traces.iter().filter_map(|trace| trace.flows.get(own.clone())).flatten();
            let held = |flow: &FlowTrace| flow.peer_limited.last().is_some_and(|held| *held > 0);
            let named = self.scenario.unused().iter().any(|one| one.key.ends_with(".max_window"));
            if !named && !flows.clone().any(held) && flows.count() > 0 {
                let label = group.algorithm.value().label();
                beyond.push(format!("`max_window = {window}` of {label} has no effect: it held no flow back"));
            }
        }
        beyond
    }

    /// Why there are no measures, or none of some flows and other traffic.
    fn left_out(&self) -> Vec<String> {
        let too_short = |trace: &&Trace| Window::measured(trace).is_empty();
        if let Some(trace) = self.traces.iter().find(too_short) {
            let millis = |nanos: u64| nanos as f64 * 1e-6;
            return vec![format!(
                "nothing is measured: the run goes on for {:.3} ms after the warm-up, less than a round trip and a packet of its slowest \
                 traffic, {:.3} ms",
                millis(Window::after_warmup(trace).length()),
                millis(Window::shortest(trace))
            )];
        }
        self.flows_left_out().into_iter().chain(self.traffic_left_out()).collect()
    }

    /// Traffic other than flows that is absent after the warm-up, or present too shortly.
    fn traffic_left_out(&self) -> Vec<String> {
        let Some(trace) = self.traces.first() else { return Vec::new() };
        let cbr = trace.cbr.iter().filter(|cbr| seconds_of_cbr(trace, cbr).is_none()).map(|cbr| &cbr.name);
        let flow_arrivals = trace
            .flow_arrivals
            .iter()
            .filter(|group| life_of_arrivals(trace, group).is_none())
            .map(|group| &group.name);
        let names: BTreeSet<&String> = cbr.chain(flow_arrivals).collect();
        names
            .into_iter()
            .map(|name| format!("no rates of `{name}`: it sends for less than a round trip of the measured time"))
            .collect()
    }

    /// Why flows have no measures of their own.
    fn flows_left_out(&self) -> Option<String> {
        let lacks = |index: &usize| {
            let of = |run: &Summary| run.flow_goodput_bps.get(*index).is_some_and(Option::is_none);
            self.summaries.iter().any(of)
        };
        let mut flows = (0..self.traces.first()?.flows.len()).filter(lacks);
        let first = &self.traces[0].flows[flows.next()?].name;
        let more = match flows.count() {
            0 => String::new(),
            1 => " and 1 more flow".to_string(),
            more => format!(" and {more} more flows"),
        };
        Some(format!(
            "no goodput, loss or share of `{first}`{more} in some or all seeds: less than a round trip of the measured time lies \
             between start and end, without pauses"
        ))
    }

    /// The measures over all seeds.
    #[must_use]
    pub fn estimates(&self) -> Estimates {
        Estimates::over(&self.summaries)
    }

    /// When they have left their beginning behind, by [`mser5`] on the goodput of all flows in intervals of 200 ms, averaged over the
    /// seeds. None where they have not by half of their duration. Such runs are not those to measure: they chose the time.
    #[must_use]
    pub fn settled(&self) -> Option<Span> {
        let series = self.traces.iter().map(|trace| -> Vec<f64> {
            let whole = Window { from: 0, to: trace.end };
            let flows = trace.flows.iter().filter_map(|flow| goodput_series(trace, flow, whole, SHORT_INTERVAL));
            flows.reduce(|sum, next| sum.iter().zip(&next).map(|(a, b)| a + b).collect()).unwrap_or_default()
        });
        let series: Vec<Vec<f64>> = series.collect();
        let length = series.iter().map(Vec::len).min().unwrap_or(0);
        let averaged: Vec<f64> = (0..length).map(|at| series.iter().map(|one| one[at]).sum()).collect();
        mser5(&averaged).map(|cut| Span::from_nanos(cut as u64 * SHORT_INTERVAL))
    }
}

/// Whether an algorithm says that it needs marks, each echoed; a whole stack says nothing.
fn needs_marks(algorithm: &Spec) -> bool {
    algorithm.as_stack().is_none() && algorithm.start(&Start::default()).needs_marks()
}

/// Whether the unused window of a flow grows, by its era or as for one of the agents of UDT.
fn grows_on(flow: &FlowSetup) -> bool {
    let policy = flow.rate_limited.unwrap_or(flow.era.policy.rate_limited);
    policy == RateLimited::None || flow.algorithm.grows_unused()
}

/// The algorithm for which a queue writes on packets.
fn router(discipline: &Discipline) -> Option<&'static str> {
    match discipline {
        Discipline::Xcp(_) => Some("xcp"),
        Discipline::Vcp(_) => Some("vcp"),
        Discipline::DecBit(_) => Some("decbit"),
        _ => None,
    }
}

/// Above this share of the time, a flow held by its source or its receiver says little of its algorithm.
const HELD_SHARE: f64 = 0.05;
