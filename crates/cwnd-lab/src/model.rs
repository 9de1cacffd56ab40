//! Results on paper: what `cwnd model` prints.
//!
//! Every row says of what kind its numbers are: `closed form`, or `model` for what the synchronous-feedback host computed.

use cwnd::Spec;
use cwnd::units::{BitRate, Bytes, Packets, Span};
use cwnd_model::convergence::{self, Scheme};
use cwnd_model::response::{Law, Path};
pub use cwnd_model::rounds::Setup;
use cwnd_model::rounds::{self, Clock, FlowSetup};
use cwnd_model::udt;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::measure::{Estimate, jain};

/// Windows against loss: `cwnd model response --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Responses {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Round trip, seconds. It matters to what grows by the clock, and to rates.
    pub rtt_s: f64,
    /// Packet on the wire, bytes.
    pub packet_bytes: u32,
    /// One object per algorithm and loss probability.
    pub rows: Vec<ResponseRow>,
}

/// An algorithm at a loss probability.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ResponseRow {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Loss probability per packet: one packet in every 1/p is lost.
    pub loss: f64,
    /// Always `closed form`, of all but `random_window_packets`.
    pub kind: &'static str,
    /// The mean under random loss instead, by renewal Monte Carlo over the seeds; null unless asked for, and for algorithms that
    /// set a rate.
    pub random_window_packets: Option<Estimate>,
    /// Packets per round trip, mean; null where no closed form is known.
    pub window_packets: Option<f64>,
    /// The window at each loss, packets.
    pub peak_packets: Option<f64>,
    /// Round trips between two losses.
    pub epoch_rtt: Option<f64>,
    /// The mean as a rate on the wire, bit/s.
    pub rate_bps: Option<f64>,
    /// The mean over that of TCP, `sqrt(3/(2p))`.
    pub over_tcp: Option<f64>,
}

/// Two flows under synchronous feedback: `cwnd model convergence --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Convergences {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The sum of windows at which both flows hear of congestion, packets.
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
    /// The same summed over epochs of their exact lengths; null where it would be `t2_rtt` again.
    pub t2_iterated_rtt: Option<f64>,
}

/// Paths of windows: `cwnd model rounds --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Paths {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Always `model`.
    pub kind: &'static str,
    /// The sum at which all flows hear of congestion, packets per round trip.
    pub capacity_packets: f64,
    /// Round trip, seconds.
    pub rtt_s: f64,
    /// Probability per packet of a loss that only its flow hears of.
    pub loss: f64,
    /// For these losses.
    pub seed: u64,
    /// One object per algorithm and time of common congestion.
    pub rows: Vec<PathRow>,
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
    /// What each flow had in the network, packets.
    pub before_packets: Vec<f64>,
    /// What its reaction left, packets.
    pub after_packets: Vec<f64>,
    /// Jain's index of the first.
    pub jain: Option<f64>,
}

/// UDT's stages: `cwnd model udt --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Stages {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Always `closed form`.
    pub kind: &'static str,
    /// Capacity, bit/s.
    pub capacity_bps: f64,
    /// Round trip, seconds.
    pub rtt_s: f64,
    /// Packet on the wire, bytes.
    pub packet_bytes: u32,
    /// SYNs without loss from rest to 90 % of the capacity, eq. 15 step by step.
    pub intervals_to_90: Option<u32>,
    /// Whether eq. 20 calls a flow friendly to TCP here.
    pub friendly: bool,
    /// The stages.
    pub stages: Vec<StageRow>,
    /// One object per loss probability.
    pub rows: Vec<EquilibriumRow>,
}

/// A stage of UDT.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StageRow {
    /// k.
    pub stage: i32,
    /// Where it begins, bit/s.
    pub from_bps: f64,
    /// Where it ends, bit/s.
    pub to_bps: f64,
    /// Increase per SYN, packets.
    pub increase_packets: f64,
    /// TF of eq. 19: the rate over that of a TCP at the same loss.
    pub tcp_ratio: f64,
}

/// UDT at a loss probability.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EquilibriumRow {
    /// Loss probability per packet.
    pub loss: f64,
    /// The stable stage (eqs. 13 and 14).
    pub stage: i32,
    /// x*, packets per SYN, by the exact root.
    pub packets_per_syn: f64,
    /// The rate this is, bit/s (eq. 12).
    pub rate_bps: f64,
    /// The same, not below the lower edge of its stage, bit/s.
    pub clipped_bps: f64,
}

/// What an algorithm is like: `cwnd algorithms NAME --card --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Card {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Always `model`.
    pub kind: &'static str,
    /// The axioms.
    pub axioms: Vec<AxiomRow>,
}

/// An axiom of a card.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AxiomRow {
    /// Its name.
    pub name: &'static str,
    /// Null where the algorithm never came to what is measured.
    pub value: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// What it means.
    pub definition: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
}

/// Two windows, a capacity and a bound for [`convergences`], packets.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The sum of windows at which both flows hear of congestion.
    pub capacity: f64,
    /// The windows at the start.
    pub windows: [f64; 2],
    /// Windows closer than this count as equal.
    pub epsilon: f64,
}

/// The deterministic response of `algorithms` at each of `losses`, and that under random loss over `random_seeds` seeds from 1 on.
#[must_use]
pub fn responses(algorithms: &[&Spec], losses: &[f64], rtt: Span, packet: Bytes, random_seeds: u32) -> Responses {
    let path = Path { rtt: rtt.as_secs_f64(), packet };
    let mut rows = Vec::new();
    for spec in algorithms {
        let law = Law::of(spec);
        for loss in losses {
            let response = law.and_then(|law| law.response(*loss, path));
            let mean = response.map(|response| response.mean);
            rows.push(ResponseRow {
                algorithm: spec.label().to_string(),
                loss: *loss,
                kind: CLOSED_FORM,
                random_window_packets: random_window(spec, *loss, rtt, random_seeds),
                window_packets: mean,
                peak_packets: response.map(|response| response.peak),
                epoch_rtt: response.map(|response| response.rounds),
                rate_bps: mean.map(|mean| (Packets(mean) / rtt).to_bits(packet).0),
                over_tcp: mean.map(|mean| mean / cwnd_model::friendly::tcp_rate(*loss, 1.0)),
            });
        }
    }
    Responses { version: crate::VERSION, rtt_s: path.rtt, packet_bytes: packet.0, rows }
}

/// The card of an algorithm.
#[must_use]
pub fn card(spec: &Spec) -> Card {
    let axioms = cwnd_model::card::card(spec).map(|axiom| AxiomRow {
        name: axiom.name,
        value: axiom.value,
        unit: axiom.unit,
        definition: axiom.definition,
        source: axiom.source,
    });
    Card { version: crate::VERSION, algorithm: spec.label().to_string(), kind: MODEL, axioms: axioms.into() }
}

/// The convergence of two flows of each of `algorithms`.
#[must_use]
pub fn convergences(algorithms: &[&Spec], pair: Pair) -> Convergences {
    let rows = algorithms.iter().map(|spec| match scheme(spec) {
        Some(scheme) => closed_convergence(spec, scheme, pair),
        None => run_convergence(spec, pair),
    });
    Convergences {
        version: crate::VERSION,
        capacity_packets: pair.capacity,
        start_packets: pair.windows,
        epsilon_packets: pair.epsilon,
        rows: rows.collect(),
    }
}

/// The times of common congestion of each of `algorithms`; every flow of `setup` takes it in turn.
#[must_use]
pub fn paths(algorithms: &[&Spec], setup: &Setup, windows: &[f64]) -> Paths {
    let mut rows = Vec::new();
    for spec in algorithms {
        let run = rounds::run(&Setup { flows: flows(spec, windows), ..setup.clone() });
        rows.extend(run.events.into_iter().enumerate().map(|(index, event)| PathRow {
            algorithm: spec.label().to_string(),
            event: index + 1,
            at_rtt: event.at,
            jain: jain(&event.before),
            before_packets: event.before,
            after_packets: event.after,
        }));
    }
    Paths {
        version: crate::VERSION,
        kind: MODEL,
        capacity_packets: setup.capacity.0,
        rtt_s: setup.rtt.as_secs_f64(),
        loss: setup.loss,
        seed: setup.seed,
        rows,
    }
}

/// How finely `steps` per round trip apply the rules: one is the papers' form.
#[must_use]
pub fn clock(steps: u32) -> Clock {
    if steps == 1 { Clock::Rounds } else { Clock::Continuous { steps } }
}

/// UDT's stages on a capacity, and where loss holds it.
#[must_use]
pub fn stages(capacity: BitRate, losses: &[f64], rtt: Span, packet: Bytes) -> Stages {
    let rtt_s = rtt.as_secs_f64();
    let stages = (0..SHOWN_STAGES).map(|index| {
        let stage = udt::stage(capacity.0, index, packet);
        StageRow {
            stage: index,
            from_bps: stage.from,
            to_bps: stage.to,
            increase_packets: stage.increase,
            tcp_ratio: udt::tcp_friendliness(capacity.0, index, rtt_s),
        }
    });
    let rows = losses.iter().map(|loss| {
        let found = udt::equilibrium(capacity.0, *loss, packet);
        EquilibriumRow {
            loss: *loss,
            stage: found.stage.index,
            packets_per_syn: found.packets_per_syn,
            rate_bps: found.rate,
            clipped_bps: found.clipped,
        }
    });
    Stages {
        version: crate::VERSION,
        kind: CLOSED_FORM,
        capacity_bps: capacity.0,
        rtt_s,
        packet_bytes: packet.0,
        intervals_to_90: udt::intervals_to(capacity.0, 0.9, packet),
        friendly: udt::is_friendly(capacity.0, rtt_s),
        stages: stages.collect(),
        rows: rows.collect(),
    }
}

fn random_window(spec: &Spec, loss: f64, rtt: Span, seeds: u32) -> Option<Estimate> {
    let packets = (LOSSES / loss) as u64;
    let runs: Vec<u64> = (1..=u64::from(seeds)).collect();
    let mean = |seed: &u64| cwnd_model::bernoulli::mean_window(spec, loss, packets, rtt, *seed);
    Estimate::over(&runs.par_iter().filter_map(mean).collect::<Vec<f64>>())
}

/// The closed form of an algorithm's convergence, where there is one.
fn scheme(spec: &Spec) -> Option<Scheme> {
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

fn run_convergence(spec: &Spec, pair: Pair) -> ConvergenceRow {
    let setup = Setup {
        flows: flows(spec, &pair.windows),
        capacity: Packets(pair.capacity),
        rounds: LONGEST,
        events: MOST_EVENTS,
        clock: Clock::Continuous { steps: STEPS },
        ..Setup::default()
    };
    let events = rounds::run(&setup).events;
    let gap = |event: &rounds::Event| (event.before[1] - event.before[0]).abs();
    let first = events.first();
    let fair = events.iter().find(|event| gap(event) < pair.epsilon);
    ConvergenceRow {
        algorithm: spec.label().to_string(),
        kind: MODEL,
        t1_rtt: first.map(|event| event.at),
        delta_packets: first.map(gap),
        t2_rtt: first.zip(fair).map(|(first, fair)| fair.at - first.at),
        t2_iterated_rtt: None,
    }
}

fn flows(spec: &Spec, windows: &[f64]) -> Vec<FlowSetup> {
    let flow = |window: &f64| FlowSetup { algorithm: spec.clone(), window: Packets(*window), rtt: None };
    windows.iter().map(flow).collect()
}

/// Losses of a run under random loss: a seed's mean is then good to about two percent.
const LOSSES: f64 = 3000.0;
const CLOSED_FORM: &str = "closed form";
const MODEL: &str = "model";
/// The increase falls to a ten-thousandth: nothing of interest lies above.
const SHOWN_STAGES: i32 = 4;
/// Round trips after which an algorithm is taken not to converge.
const LONGEST: f64 = 20_000.0;
const MOST_EVENTS: usize = 2000;
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
            let closed = convergences(&[&spec], pair).rows.remove(0);
            let ran = run_convergence(&spec, pair);
            assert_eq!((closed.kind, ran.kind), (CLOSED_FORM, MODEL));
            for (closed, ran) in [
                (closed.t1_rtt, ran.t1_rtt),
                (closed.delta_packets, ran.delta_packets),
                (closed.t2_iterated_rtt, ran.t2_rtt),
            ] {
                let (closed, ran) = (closed.expect("closed"), ran.expect("ran"));
                // SIMD's path is curved, and its epochs add up what each step of 1/64 round trip is off.
                assert!((ran / closed - 1.0).abs() < 0.03, "{text}: {ran} for {closed}");
            }
        }
    }

    #[test]
    fn an_algorithm_without_a_law_has_a_row_without_numbers() {
        let specs = ["new-aimd", "reno"].map(|text| Spec::parse(text).expect("registered"));
        let document = responses(&specs.each_ref(), &[1e-4, 1e-2], Span::from_millis(100), Bytes(1500), 0);
        let windows: Vec<_> = document.rows.iter().map(|row| row.window_packets.map(f64::round)).collect();
        assert_eq!(windows, [None, None, Some(122.0), Some(12.0)]);
    }
}
