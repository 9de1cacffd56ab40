//! From a document to a setup of the simulator.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use cwnd::{Span, Time};
use cwnd_sim::{FlowSetup, LinkId, LinkSetup, NodeId, Reassembly, Sampling, Setup, SetupError};

use super::document::{Direction, Document, Flow};
use super::error::Fault;
use super::quantity::SampleEvery;
use super::topology::Topology;

/// Checks `document` and makes a setup of it, for no seed in particular; also finds its bottleneck.
pub(super) fn build(document: &Document) -> Result<(Setup, usize), Located> {
    check_frame(document)?;
    let topology = Topology::of(document)?;
    if document.flow.is_empty() {
        return Err(Located::at("", Fault::NoFlows));
    }
    let mut flows = Vec::new();
    // The index of the group each flow belongs to: the simulator's errors name flows.
    let mut group_of = Vec::new();
    for (index, group) in document.flow.iter().enumerate() {
        let key = format!("flow.{index}");
        let flow = flow(document, &topology, group, &key)?;
        if flows.len() + group.count as usize > MAX_FLOWS {
            return Err(range(&key, "count", &group.count, &format!("at most {MAX_FLOWS} flows in all")));
        }
        for _ in 0..group.count {
            flows.push(flow.clone());
            group_of.push(index);
        }
    }
    check_samples(document, flows.len())?;
    number(&mut flows);
    let setup = Setup {
        nodes: topology.nodes,
        links: topology.links,
        flows,
        cbr: Vec::new(),
        crowds: Vec::new(),
        taps: Vec::new(),
        duration: *document.duration.value(),
        warmup: *document.warmup.value(),
        seed: 0,
        variation: cwnd_sim::Variation {
            start: document.variation.start.as_ref().map(|start| *start.value()),
            rtt: document.variation.rtt,
            jitter: document.variation.jitter,
        },
        sampling: match *document.sampling.value() {
            SampleEvery::Off => None,
            SampleEvery::Interval(interval) => Some(Sampling { interval, internals: true }),
        },
    };
    let located = |error: SetupError| Located { key: key_of(&error, document, &setup, &group_of), fault: error.into() };
    setup.check().map_err(located)?;
    let bottleneck = bottleneck(&setup.links, setup.paths().map_err(located)?);
    Ok((setup, bottleneck))
}

/// Columns of samples are held in memory until the run ends.
fn check_samples(document: &Document, flows: usize) -> Result<(), Located> {
    let SampleEvery::Interval(interval) = *document.sampling.value() else { return Ok(()) };
    let rows = document.duration.value().as_nanos() / interval.as_nanos().max(1);
    if rows.saturating_mul(flows as u64) > MAX_SAMPLES {
        let accepted =
            format!("`off`, or so long that flows times samples are at most {MAX_SAMPLES}: here {flows} x {rows}");
        return Err(range("", "sampling", &document.sampling, &accepted));
    }
    Ok(())
}

/// The slowest link that data crosses; of equals the one with most flows, then the first.
fn bottleneck(links: &[LinkSetup], paths: Vec<Vec<LinkId>>) -> usize {
    let mut flows = vec![0_u64; links.len()];
    for link in paths.into_iter().flatten() {
        flows[link.0 as usize] += 1;
    }
    let crossed = links.iter().zip(flows).enumerate().filter(|(_, (_, flows))| *flows > 0);
    let slowest = crossed.min_by_key(|(_, (link, flows))| (link.rate.unwrap_or(u64::MAX), Reverse(*flows)));
    slowest.map_or(0, |(index, _)| index)
}

/// The key of what an error of the simulator names: a flow, a link, or nothing in particular.
fn key_of(error: &SetupError, document: &Document, setup: &Setup, group_of: &[usize]) -> String {
    let flow_key = |name: &str| {
        let flow = setup.flows.iter().position(|flow| flow.name == name)?;
        Some(format!("flow.{}", group_of[flow]))
    };
    let link_key = || {
        let shape = [("dumbbell", document.dumbbell.is_some()), ("parking_lot", document.parking_lot.is_some())];
        shape.iter().find(|(_, given)| *given).map_or("link", |(key, _)| key).to_string()
    };
    match error {
        SetupError::Unreachable { flow, .. } => flow_key(flow),
        SetupError::Field { place, .. } if place.starts_with("link `") => Some(link_key()),
        SetupError::Field { place, .. } => place.split('`').nth(1).and_then(flow_key),
        SetupError::Interrupted => None,
    }
    .unwrap_or_default()
}

/// A fault with the dotted key it is at.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) key: String,
    pub(super) fault: Fault,
}

impl Located {
    pub(super) fn at(key: &str, fault: Fault) -> Self {
        Self { key: key.to_string(), fault }
    }
}

/// A value of `key` in the table `table` that is out of range.
pub(super) fn range(table: &str, key: &'static str, given: &dyn fmt::Display, accepted: &str) -> Located {
    let path = if table.is_empty() { key.to_string() } else { format!("{table}.{key}") };
    Located { key: path, fault: Fault::Range { key, given: given.to_string(), accepted: accepted.to_string() } }
}

/// What is checked once, whatever the topology and the flows.
fn check_frame(document: &Document) -> Result<(), Located> {
    let (duration, warmup) = (&document.duration, &document.warmup);
    if *duration.value() == Span::ZERO {
        return Err(range("", "duration", &duration, "any time above zero"));
    }
    if warmup.value() >= duration.value() {
        return Err(range("", "warmup", &warmup, &format!("less than the duration, {duration}")));
    }
    if !(1..=MAX_SEEDS).contains(&document.seeds) {
        return Err(range("", "seeds", &document.seeds, &format!("1 to {MAX_SEEDS}")));
    }
    if document.payload.value() > document.packet.value() {
        return Err(range("", "payload", &document.payload, &format!("at most a packet, {}", document.packet)));
    }
    for (key, part) in [("rtt", document.variation.rtt), ("jitter", document.variation.jitter)] {
        if !(0.0..1.0).contains(&part) {
            return Err(range("variation", key, &part, "at least 0 and below 1"));
        }
    }
    Ok(())
}

fn flow(document: &Document, topology: &Topology, group: &Flow, key: &str) -> Result<FlowSetup, Located> {
    if group.count == 0 {
        return Err(range(key, "count", &0, "at least 1"));
    }
    if let Some(window) = group.max_window.filter(|window| !(1.0..f64::INFINITY).contains(window)) {
        return Err(range(key, "max_window", &window, "at least 1 packet"));
    }
    let start = group.start.as_ref().map_or(Span::ZERO, |start| *start.value());
    if start >= *document.duration.value() {
        let given = group.start.as_ref().map_or_else(String::new, ToString::to_string);
        return Err(range(key, "start", &given, &format!("less than the duration, {}", document.duration)));
    }
    if let Some(stop) = group.stop.as_ref().filter(|stop| *stop.value() <= start) {
        return Err(range(key, "stop", &stop, "later than the start"));
    }
    let (from, to) = ends(topology, group, key)?;
    let name = group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string());
    let access_rtt = topology.access_rtt + group.extra_rtt.as_ref().map_or(Span::ZERO, |extra| *extra.value());
    let era = *group.era.as_ref().unwrap_or(&document.era).value();
    Ok(FlowSetup {
        start: Time::ZERO + start,
        stop: group.stop.as_ref().map(|stop| Time::ZERO + *stop.value()),
        packet: *document.packet.value(),
        payload: *document.payload.value(),
        ack: *document.ack.value(),
        max_window: group.max_window,
        paced: group.paced,
        slow_start: group.slow_start.as_ref().map(|growth| *growth.value()),
        ecn: group.ecn.map(Into::into),
        delayed_ack: group.delayed_ack.as_ref().map(|delay| *delay.value()),
        ack_aggregation: group.ack_aggregation.as_ref().map(|interval| *interval.value()),
        recovery: *group.recovery.as_ref().unwrap_or(&document.recovery).value(),
        reassembly: group.receiver.as_ref().map_or_else(Reassembly::default, |kind| *kind.value()),
        ..FlowSetup::bulk(name, group.algorithm.value().clone(), era, (from, to), access_rtt)
    })
}

fn ends(topology: &Topology, group: &Flow, key: &str) -> Result<(NodeId, NodeId), Located> {
    let end = |name: &Option<String>, end_key: &'static str, default: Option<NodeId>| match name {
        Some(name) => topology.node(name).ok_or_else(|| Located {
            key: format!("{key}.{end_key}"),
            fault: Fault::UnknownNode { name: name.clone(), known: topology.nodes.clone() },
        }),
        None => default.ok_or_else(|| {
            Located::at(key, Fault::Missing { key: end_key, why: "a flow through a graph names its two nodes" })
        }),
    };
    let from = end(&group.from, "from", topology.ends.map(|(first, _)| first))?;
    let to = end(&group.to, "to", topology.ends.map(|(_, last)| last))?;
    if from == to {
        let given = format!("`{}`", topology.nodes[to.0 as usize]);
        return Err(range(key, "to", &given, "another node than `from`"));
    }
    Ok(match group.direction {
        Direction::Forward => (from, to),
        Direction::Reverse => (to, from),
    })
}

/// Numbers the flows that share a name.
fn number(flows: &mut [FlowSetup]) {
    let mut seen = BTreeMap::<String, (u32, u32)>::new();
    for flow in &*flows {
        seen.entry(flow.name.clone()).or_default().0 += 1;
    }
    for flow in flows {
        let (count, next) = seen.entry(flow.name.clone()).or_default();
        if *count > 1 {
            *next += 1;
            flow.name = format!("{} #{next}", flow.name);
        }
    }
}

/// At some two kilobytes each they take eight gigabytes before the first packet leaves.
const MAX_FLOWS: usize = 4_000_000;
/// At some 120 bytes each, six gigabytes a run.
const MAX_SAMPLES: u64 = 50_000_000;
/// More independent runs than any interval needs.
const MAX_SEEDS: u32 = 100_000;
