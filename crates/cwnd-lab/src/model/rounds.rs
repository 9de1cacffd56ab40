//! Windows under synchronous feedback.

use cwnd::Spec;
use cwnd::units::{Packets, Span};
use cwnd_model::convergence::{self, Scheme};
use cwnd_model::response::Law;
use cwnd_model::rounds::{self, Clock, Event, FlowSetup, Run, Setup};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CLOSED_FORM, Idle, MODEL, ShouldContinue};
use cwnd_run::measure::jain;

/// Two flows under synchronous feedback: `cwnd model convergence --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Convergences {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The sum of windows at which both flows are notified of congestion, packets.
    pub capacity_packets: f64,
    /// The two windows at the start, packets.
    pub start_packets: [f64; 2],
    /// Windows closer than this count as equal, packets.
    pub epsilon_packets: f64,
    /// One object per algorithm.
    pub rows: Vec<ConvergenceRow>,
}

/// The convergence of an algorithm (simd, Table 1).
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConvergenceRow {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// `closed form`, or `model` where none is known and the synchronous-feedback host ran the algorithm.
    pub kind: &'static str,
    /// Round trips until the sum reaches the capacity; null if it never does.
    pub t1_rtt: Option<f64>,
    /// The gap of the windows there, packets.
    pub delta_packets: Option<f64>,
    /// Round trips from there until the gap at congestion is below epsilon; null if that was not seen to happen.
    pub t2_rtt: Option<f64>,
    /// `t2_rtt` summed over epochs of their exact lengths; null where both are equal.
    pub t2_iterated_rtt: Option<f64>,
}

/// Paths of windows: `cwnd model rounds --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Paths {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Always `model`.
    pub kind: &'static str,
    /// The sum at which all flows are notified of congestion, packets per round trip.
    pub capacity_packets: f64,
    /// The round trip that time and capacity are counted in, seconds.
    pub rtt_s: f64,
    /// The round trip of each flow, seconds.
    pub flow_rtt_s: Vec<f64>,
    /// Probability per packet of a loss that only its flow is notified of.
    pub loss: f64,
    /// The seed of these losses.
    pub seed: u64,
    /// One object per algorithm and time of common congestion.
    pub rows: Vec<PathRow>,
    /// One object per algorithm: how its run ended.
    pub ends: Vec<PathEnd>,
}

/// How the run of an algorithm ended.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PathEnd {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Round trips that passed.
    pub at_rtt: f64,
    /// Times of common congestion; where there is none, the flows together never had the capacity in the network.
    pub events: usize,
    /// Losses that only one flow was notified of.
    pub losses: u64,
    /// `events` or `rounds` where it had as many as were requested, or `work` where it had done as much as one run may: 10⁹ steps of
    /// flows and packets that receivers see, with 128 for each flow and round trip.
    pub why: &'static str,
}

/// A time of common congestion.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PathRow {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Counted from 1.
    pub event: usize,
    /// When, round trips from the start.
    pub at_rtt: f64,
    /// The packets that each flow had in the network before its reaction.
    pub before_packets: Vec<f64>,
    /// The packets that each flow had in the network after its reaction.
    pub after_packets: Vec<f64>,
    /// Jain's index of the first.
    pub jain: Option<f64>,
}

/// Two windows, a capacity and a bound for [`convergences`], packets.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The sum of windows at which both flows are notified of congestion.
    pub capacity: f64,
    /// The windows at the start.
    pub windows: [f64; 2],
    /// Windows closer than this count as equal.
    pub epsilon: f64,
}

/// The convergence of two flows of each of `algorithms`.
#[must_use]
pub fn convergences(algorithms: &[&Spec], pair: Pair, should_continue: ShouldContinue<'_>) -> Convergences {
    let rows = algorithms.iter().map(|spec| match scheme(spec) {
        Some(scheme) => closed_convergence(spec, scheme, pair),
        None => run_convergence(spec, pair, should_continue),
    });
    Convergences {
        version: cwnd_run::VERSION,
        capacity_packets: pair.capacity,
        start_packets: pair.windows,
        epsilon_packets: pair.epsilon,
        rows: rows.collect(),
    }
}

/// An algorithm as the synchronous-feedback host ran it.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The algorithm.
    pub algorithm: Spec,
    /// The outcome.
    pub run: Run,
}

/// Runs each of `algorithms` on the flows of `setup`, all of which take it in turn.
#[must_use]
pub fn walks(algorithms: &[&Spec], setup: &Setup, should_continue: ShouldContinue<'_>) -> Vec<Walk> {
    let walk = |spec: &&Spec| Walk {
        algorithm: (*spec).clone(),
        run: rounds::run_while(&with_algorithm(setup, spec), should_continue),
    };
    algorithms.iter().map(walk).collect()
}

/// `setup` with all its flows under `spec`.
pub(super) fn with_algorithm(setup: &Setup, spec: &Spec) -> Setup {
    let flows = setup.flows.iter().map(|flow| FlowSetup { algorithm: spec.clone(), ..flow.clone() }).collect();
    Setup { flows, ..setup.clone() }
}

/// The settings of `setup` that have no effect on the path of an algorithm in `walks`, which are of it: a round trip or a seed other than
/// the default, and steps that reports overrule.
#[must_use]
pub fn idle_of_walks(setup: &Setup, walks: &[Walk], should_continue: ShouldContinue<'_>) -> Vec<Idle> {
    let usual = Setup::default();
    let of = |walk: &Walk| {
        let own = with_algorithm(setup, &walk.algorithm);
        let like = |other: &Setup| {
            let other = rounds::run_while(other, should_continue);
            alike(&walk.run.events, &other.events) && lost(&walk.run) == lost(&other)
        };
        let rtt = setup.rtt != usual.rtt && like(&Setup { rtt: usual.rtt, ..own.clone() });
        let seed = setup.seed != usual.seed && like(&Setup { seed: usual.seed, ..own.clone() });
        let steps = rounds::steps(&own);
        let overruled = rounds::steps(setup) != steps;
        let at = usual.rtt.as_secs_f64() * 1e3;
        let found = [
            (rtt, "rtt", format!("in round trips, its path is that at {at} ms")),
            (seed, "seed", "nothing is drawn".to_string()),
            (
                overruled,
                "steps",
                format!("fewer than {steps} act as {steps}, the reports of its receiver in a round trip"),
            ),
        ];
        let algorithm = walk.algorithm.label().to_string();
        found.into_iter().filter(|(is_idle, ..)| *is_idle).map(move |(_, setting, why)| Idle {
            setting,
            algorithm: algorithm.clone(),
            why,
        })
    };
    walks.iter().flat_map(of).collect()
}

/// How many packets each flow lost, at random too.
fn lost(run: &Run) -> Vec<Option<u64>> {
    run.trace.flows.iter().map(|flow| flow.lost.last().copied()).collect()
}

/// Whether two paths are one, but for rounding.
fn alike(one: &[Event], other: &[Event]) -> bool {
    let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    let all = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| near(a, b));
    let same = |(a, b): (&Event, &Event)| near(&a.at, &b.at) && all(&a.before, &b.before) && all(&a.after, &b.after);
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Flows of a setup by their first window, packets, and their round trip; [`walks`] gives them their algorithms.
#[must_use]
pub fn flows(of: &[(f64, Option<Span>)]) -> Vec<FlowSetup> {
    let any = Spec::parse("reno").expect("registered");
    let flow =
        |(window, rtt): &(f64, Option<Span>)| FlowSetup { algorithm: any.clone(), window: Packets(*window), rtt: *rtt };
    of.iter().map(flow).collect()
}

/// The flows that [`convergences`] is about, each until it is seen to be fair or after a hundred times of congestion.
#[must_use]
pub fn convergence_walks(algorithms: &[&Spec], pair: Pair) -> Vec<Walk> {
    let mut walks = walks(algorithms, &Setup { events: DRAWN_EVENTS, ..convergence_setup(pair) }, &|| true);
    for walk in &mut walks {
        let fair = walk.run.events.iter().position(|event| gap(event) < pair.epsilon);
        walk.run.events.truncate(fair.map_or(usize::MAX, |at| at + 1));
    }
    walks
}

impl Paths {
    /// The times of common congestion of `walks` over `setup`.
    #[must_use]
    pub fn of(setup: &Setup, walks: &[Walk]) -> Self {
        let row = |walk: &Walk, index: usize, event: &Event| PathRow {
            algorithm: walk.algorithm.label().to_string(),
            event: index + 1,
            at_rtt: event.at,
            jain: jain(&event.before),
            before_packets: event.before.clone(),
            after_packets: event.after.clone(),
        };
        let rows = walks
            .iter()
            .flat_map(|walk| walk.run.events.iter().enumerate().map(move |(at, event)| row(walk, at, event)));
        Self {
            version: cwnd_run::VERSION,
            kind: MODEL,
            capacity_packets: setup.capacity.0,
            rtt_s: setup.rtt.as_secs_f64(),
            flow_rtt_s: setup.flows.iter().map(|flow| flow.rtt.unwrap_or(setup.rtt).as_secs_f64()).collect(),
            loss: setup.loss,
            seed: setup.seed,
            rows: rows.collect(),
            ends: walks.iter().map(|walk| end(setup, walk)).collect(),
        }
    }
}

fn end(setup: &Setup, walk: &Walk) -> PathEnd {
    let Run { trace, events, rounds, cut_short } = &walk.run;
    let lost: u64 = trace.flows.iter().filter_map(|flow| flow.lost.last()).sum();
    PathEnd {
        algorithm: walk.algorithm.label().to_string(),
        at_rtt: *rounds,
        events: events.len(),
        losses: lost.saturating_sub((events.len() * trace.flows.len()) as u64),
        why: if events.len() >= setup.events {
            "events"
        } else if *cut_short {
            "work"
        } else {
            "rounds"
        },
    }
}

/// How finely `steps` per round trip apply the rules: one is the papers' form.
#[must_use]
pub fn clock(steps: u32) -> Clock {
    if steps == 1 { Clock::Rounds } else { Clock::Continuous { steps } }
}

/// The closed form of an algorithm's convergence, where there is one.
pub(super) fn scheme(spec: &Spec) -> Option<Scheme> {
    match Law::of(spec)? {
        Law::Power { k: 0.0, a, l: 1.0, b, c: 0.0 } => Some(Scheme::Aimd { a, b }),
        Law::Power { k: 1.0, a, l: 0.0, b, c: 0.0 } => Some(Scheme::Iiad { a, b }),
        Law::Simd { b, periodic } => Some(Scheme::Simd { b, periodic }),
        _ => None,
    }
}

fn closed_convergence(spec: &Spec, scheme: Scheme, pair: Pair) -> ConvergenceRow {
    let Pair { capacity, windows: [w1, w2], epsilon } = pair;
    let start = convergence::Start { capacity, w1: w1.min(w2), w2: w1.max(w2), epsilon };
    let found = scheme.convergence(start);
    let (_, [peak1, peak2]) = scheme.rise(capacity, start.w1, start.w2);
    let iterated = scheme.iterate(convergence::Start { w1: peak1, w2: peak2, ..start });
    ConvergenceRow {
        algorithm: spec.label().to_string(),
        kind: CLOSED_FORM,
        t1_rtt: Some(found.t1),
        delta_packets: Some(found.delta),
        t2_rtt: Some(found.t2),
        t2_iterated_rtt: iterated.map(|iterated| iterated.t2),
    }
}

fn run_convergence(spec: &Spec, pair: Pair, should_continue: ShouldContinue<'_>) -> ConvergenceRow {
    let walk = walks(&[spec], &Setup { events: MOST_EVENTS, ..convergence_setup(pair) }, should_continue);
    let events = walk.iter().flat_map(|walk| &walk.run.events);
    let first = events.clone().next();
    let fair = events.clone().find(|event| gap(event) < pair.epsilon);
    ConvergenceRow {
        algorithm: spec.label().to_string(),
        kind: MODEL,
        t1_rtt: first.map(|event| event.at),
        delta_packets: first.map(gap),
        t2_rtt: first.zip(fair).map(|(first, fair)| fair.at - first.at),
        t2_iterated_rtt: None,
    }
}

/// Two flows as [`convergences`] runs them where there is no closed form.
#[must_use]
pub fn convergence_setup(pair: Pair) -> Setup {
    Setup {
        flows: flows(&pair.windows.map(|window| (window, None))),
        capacity: Packets(pair.capacity),
        rounds: LONGEST,
        clock: Clock::Continuous { steps: STEPS },
        ..Setup::default()
    }
}

fn gap(event: &Event) -> f64 {
    (event.before[1] - event.before[0]).abs()
}

/// Round trips after which an algorithm is taken not to converge.
const LONGEST: f64 = 20_000.0;
const MOST_EVENTS: usize = 2000;
/// More cannot be distinguished in a plot.
const DRAWN_EVENTS: usize = 100;
/// Within half a percent of the continuous limit for the curved paths (SIMD), exact for the straight ones.
const STEPS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_closed_form_agrees_with_the_model_that_runs_it() {
        let pair = Pair { capacity: 100.0, windows: [10.0, 80.0], epsilon: 1.0 };
        for text in ["reno", "aimd:b=1/16", "simd"] {
            let spec = Spec::parse(text).expect("an algorithm");
            let closed = convergences(&[&spec], pair, &|| true).rows.remove(0);
            let ran = run_convergence(&spec, pair, &|| true);
            assert_eq!((closed.kind, ran.kind), (CLOSED_FORM, MODEL));
            for (closed, ran) in [
                (closed.t1_rtt, ran.t1_rtt),
                (closed.delta_packets, ran.delta_packets),
                (closed.t2_iterated_rtt, ran.t2_rtt),
            ] {
                let (closed, ran) = (closed.expect("closed"), ran.expect("ran"));
                // SIMD's path is curved, and its epochs add up the errors of each step of 1/64 round trip.
                assert!((ran / closed - 1.0).abs() < 0.03, "{text}: {ran} for {closed}");
            }
        }
    }
}
