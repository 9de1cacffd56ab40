//! Results on paper, as `cwnd model` computes them.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;

use cwnd::{BitRate, Packets, Span, Spec, quantity};
use cwnd_lab::model::{self, Idle, Origin, Pair, Paths, Setup, ShouldContinue};
use cwnd_parquet::Tables;
use cwnd_run::files::to_json;
use cwnd_run::scenario::{Quantity, Written, packet_size};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::outside::{AlgorithmErrors, all_written};
use crate::table::Table;
use crate::work::{attached, in_background, left_behind};

/// Windows against loss.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Response {
    loss: Vec<f64>,
    rtt: String,
    packet: String,
    random: u32,
}

/// Two flows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Convergence {
    capacity: f64,
    start: Vec<f64>,
    epsilon: f64,
}

/// Paths of windows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Rounds {
    capacity: f64,
    start: Vec<f64>,
    rtt: String,
    flow_rtt: Vec<String>,
    events: u32,
    rounds: u32,
    steps: u32,
    decrease_rounds: u32,
    loss: f64,
    seed: u64,
}

/// UDT on a path.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Udt {
    capacity: String,
    loss: Vec<f64>,
    rtt: String,
    packet: String,
    flows: u32,
    delays: Vec<String>,
}

/// A document of `cwnd model`, and the given values on which no number depends, a sentence each.
type Warned = (String, Vec<String>);

/// The document of `cwnd model response --json`.
#[pyfunction]
pub(crate) fn response(
    py: Python<'_>,
    algorithms: Vec<Bound<'_, PyAny>>,
    settings: Response,
) -> Result<Warned, Failure> {
    let Response { loss, rtt, packet, random } = settings;
    each("loss", &loss, "a probability above 0 and at most 1", |p| p > 0.0 && p <= 1.0)?;
    let rtt = round_trip("rtt", &rtt)?;
    let packet = read("packet", &packet, packet_size)?;
    count("random", random, 0..=1000)?;
    with(py, &algorithms, |specs, should_continue| {
        model::bounded(specs, &loss, random).map_err(|error| Failure::Argument(format!("random, loss: {error}")))?;
        let mut warnings = model::unread(specs, Origin::Response { random: random > 0 });
        warnings.extend(sentences(&model::idle_of_responses(specs, &loss, (rtt, packet), random > 0)));
        Ok((to_json(&model::responses(specs, &loss, rtt, packet, random, should_continue)), warnings))
    })?
}

/// The document of `cwnd model convergence --json`.
#[pyfunction]
pub(crate) fn convergence(
    py: Python<'_>,
    algorithms: Vec<Bound<'_, PyAny>>,
    settings: Convergence,
) -> Result<Warned, Failure> {
    let Convergence { capacity, start, epsilon } = settings;
    windows("capacity", &[capacity])?;
    windows("start", &start)?;
    each("epsilon", &[epsilon], "a number of packets above 0, at most 1e9", |w| w > 0.0 && w <= 1e9)?;
    let &[one, other] = start.as_slice() else {
        return Err(Failure::Argument("start: expected two windows".to_string()));
    };
    fits(&start, capacity)?;
    let pair = Pair { capacity, windows: [one, other], epsilon };
    with(py, &algorithms, |specs, should_continue| {
        synchronous(specs)?;
        let run: Vec<&Spec> = specs.iter().copied().filter(|spec| !model::has_closed_form(spec)).collect();
        started(&run, &model::convergence_setup(pair))?;
        let warnings = model::unread(specs, Origin::Convergence);
        Ok((to_json(&model::convergences(specs, pair, should_continue)), warnings))
    })?
}

/// An algorithm's label, how many of the rows are its own, and what every flow did.
type Walk = (String, usize, Table);

/// The document of `cwnd model rounds --json` with its warnings; and for each algorithm its label, how many of the rows are its own, and
/// what every flow did over time.
#[pyfunction]
pub(crate) fn rounds(
    py: Python<'_>,
    algorithms: Vec<Bound<'_, PyAny>>,
    settings: Rounds,
) -> Result<(Warned, Vec<Walk>), Failure> {
    let setup = settings.setup()?;
    with(py, &algorithms, |specs, should_continue| {
        synchronous(specs)?;
        started(specs, &setup)?;
        let walks = model::walks(specs, &setup, should_continue);
        let mut warnings = model::unread(specs, Origin::Rounds);
        warnings.extend(sentences(&model::idle_of_walks(&setup, &walks, should_continue)));
        let found = walks.iter().map(|walk| {
            let table = Table::of(Tables::FlowSamples.of(&[(setup.seed, &walk.run.trace)]))?;
            Ok((walk.algorithm.label().to_string(), walk.run.events.len(), table))
        });
        Ok(((to_json(&Paths::of(&setup, &walks)), warnings), found.collect::<Result<_, Failure>>()?))
    })?
}

/// The document of `cwnd model udt --json`.
#[pyfunction]
pub(crate) fn udt(py: Python<'_>, settings: Udt) -> Result<String, Failure> {
    let Udt { capacity, loss, rtt, packet, flows, delays } = settings;
    each("loss", &loss, "a probability above 0 and at most 1", |p| p > 0.0 && p <= 1.0)?;
    count("flows", flows, 1..=1_000_000)?;
    let capacity = read("capacity", &capacity, <BitRate as Quantity>::read)?;
    let packet = read("packet", &packet, packet_size)?;
    let rtt = round_trip("rtt", &rtt)?;
    let delays: Vec<Span> = delays.iter().map(|delay| round_trip("delays", delay)).collect::<Result<_, _>>()?;
    left_behind(py, None, move |_| {
        Ok(to_json(&model::stages(model::Udt { capacity, packet, rtt, losses: &loss, flows, delays: &delays })))
    })
}

/// The document of `cwnd algorithms NAME --card --json`.
#[pyfunction]
pub(crate) fn axioms(py: Python<'_>, algorithm: Bound<'_, PyAny>) -> Result<String, Failure> {
    with(py, &[algorithm], |specs, should_continue| {
        let card = |spec: &&Spec| model::card(spec, should_continue).map(|card| to_json(&card));
        let cards: Result<String, _> = specs.iter().map(card).collect();
        cards.map_err(|error| Failure::Argument(format!("algorithm: {error}")))
    })?
}

impl Rounds {
    fn setup(self) -> Result<Setup, Failure> {
        let Self { capacity, start, rtt, flow_rtt, events, rounds, steps, decrease_rounds, loss, seed } = self;
        windows("capacity", &[capacity])?;
        windows("start", &start)?;
        each("loss", &[loss], "a probability, 0 to 1", |p| (0.0..=1.0).contains(&p))?;
        count("events", events, 1..=10_000)?;
        count("rounds", rounds, 1..=1_000_000)?;
        count("steps", steps, 1..=4096)?;
        count("decrease_rounds", decrease_rounds, 0..=10)?;
        if !flow_rtt.is_empty() && flow_rtt.len() != start.len() {
            let (flows, given) = (start.len(), flow_rtt.len());
            return Err(Failure::Argument(format!("flow_rtt: expected {flows} times, one per window, got {given}")));
        }
        let rtt = round_trip("rtt", &rtt)?;
        let own: Vec<Span> = flow_rtt.iter().map(|rtt| round_trip("flow_rtt", rtt)).collect::<Result<_, _>>()?;
        let flows: Vec<(f64, Option<Span>)> =
            start.iter().enumerate().map(|(index, window)| (*window, own.get(index).copied())).collect();
        let load = |(window, own): &(f64, Option<Span>)| window * rtt.as_secs_f64() / own.unwrap_or(rtt).as_secs_f64();
        fits(&flows.iter().map(load).collect::<Vec<f64>>(), capacity)?;
        Ok(Setup {
            flows: model::flows(&flows),
            capacity: Packets(capacity),
            rtt,
            clock: model::clock(steps),
            decrease_rounds,
            loss,
            seed,
            rounds: f64::from(rounds),
            events: events as usize,
            ..Setup::default()
        })
    }
}

/// Does `job` with algorithms of the registry and of Python's.
fn with<T: Send>(
    py: Python<'_>,
    algorithms: &[Bound<'_, PyAny>],
    job: impl FnOnce(&[&Spec], ShouldContinue<'_>) -> T + Send,
) -> Result<T, Failure> {
    let errors: Arc<AlgorithmErrors> = Arc::default();
    let algorithms = all_written("algorithms", algorithms, &errors)?;
    if algorithms.is_empty() {
        return Err(Failure::Argument("algorithms: name at least one".to_string()));
    }
    let python = algorithms.iter().any(|algorithm| algorithm.value().is_outside());
    let algorithms: Vec<&Spec> = algorithms.iter().map(Written::value).collect();
    errors.or_result(in_background(py, None, |progress| {
        let job = || job(&algorithms, &|| progress.should_continue() && !errors.any());
        if python { attached(job) } else { Ok(job()) }
    }))
}

/// The arguments on which no number of an algorithm depends.
fn sentences(idle: &[Idle]) -> impl Iterator<Item = String> + '_ {
    idle.iter().map(|Idle { setting, algorithm, why }| format!("`{setting}` has no effect on {algorithm}: {why}"))
}

/// Refuses algorithms that have no meaning under synchronous feedback.
fn synchronous(specs: &[&Spec]) -> Result<(), Failure> {
    model::synchronous(specs).map_err(|error| Failure::Argument(format!("algorithms: {error}")))
}

/// Refuses windows from which an algorithm does not start.
fn started(specs: &[&Spec], setup: &Setup) -> Result<(), Failure> {
    model::started(specs, setup).map_err(|error| Failure::Argument(format!("start: {error}")))
}

/// `loads`: packets per round trip.
fn fits(loads: &[f64], capacity: f64) -> Result<(), Failure> {
    if loads.iter().sum::<f64>() <= capacity {
        return Ok(());
    }
    Err(Failure::Argument(format!("start: the windows add up to more than the capacity of {capacity} packets")))
}

fn windows(name: &str, values: &[f64]) -> Result<(), Failure> {
    each(name, values, "a number of packets, 1 to 1e9", |w| (1.0..=1e9).contains(&w))
}

fn each(name: &str, values: &[f64], accepted: &str, good: impl Fn(f64) -> bool) -> Result<(), Failure> {
    match values.iter().find(|value| !good(**value)) {
        _ if values.is_empty() => Err(Failure::Argument(format!("{name}: expected {accepted}, got nothing"))),
        Some(value) => Err(Failure::Argument(format!("{name}: expected {accepted}, got {value}"))),
        None => Ok(()),
    }
}

fn count(name: &str, value: u32, accepted: RangeInclusive<u32>) -> Result<(), Failure> {
    if accepted.contains(&value) {
        return Ok(());
    }
    Err(Failure::Argument(format!("{name}: expected {} to {}, got {value}", accepted.start(), accepted.end())))
}

fn round_trip(name: &str, text: &str) -> Result<Span, Failure> {
    let span = read(name, text, quantity::span)?;
    if (Span::from_millis(1)..=Span::from_secs(100)).contains(&span) {
        return Ok(span);
    }
    Err(Failure::Argument(format!("{name}: expected a time from 1ms to 100s, got {text}")))
}

fn read<T, E: Display>(name: &str, text: &str, read: impl Fn(&str) -> Result<T, E>) -> Result<T, Failure> {
    read(text).map_err(|error| Failure::Argument(format!("{name}: {error}")))
}
