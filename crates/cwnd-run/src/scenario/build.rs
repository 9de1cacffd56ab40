//! From a document to a setup of the simulator.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cwnd::registry::Transport;
use cwnd::{Bytes, Span};
use cwnd_sim::{
    CheckedSetup, Fault as PacketFault, FlowSetup, LinkId, LinkSetup, Reassembly, Sampling, Setup, SetupError,
    SetupPart, Tap, TokenBucket,
};

use super::cross::{self, Times};
use super::document::{Document, FlowGroup, Link, Variation};
use super::error::{Fault, Located, range};
use super::packets::Named;
use super::quantity::{MAX_PACKET, SampleEvery, Written};
use super::topology::{Topology, ends, hosts, route};

/// Checks `document` and makes a setup of it, for no seed in particular; also finds its bottleneck.
pub(super) fn build(document: &Document) -> Result<(CheckedSetup, usize), Located> {
    check_frame(document)?;
    let topology = Topology { hosts: hosts_of(document), ..Topology::of(document)? };
    if document.flow.is_empty() && document.arrivals.is_empty() {
        return Err(Located::at("", Fault::NoFlows));
    }
    let mut flows = Vec::new();
    for (index, group) in document.flow.iter().enumerate() {
        let key = format!("flow.{index}");
        let flow = flow(document, &topology, group, &key)?;
        if flows.len() + group.count as usize > MAX_FLOWS as usize {
            return Err(range(&key, "count", &group.count, &format!("at most {MAX_FLOWS} flows in all")));
        }
        flows.extend(std::iter::repeat_n(flow, group.count as usize));
    }
    check_samples(document, flows.len())?;
    let mut cbr = Vec::new();
    for (index, group) in document.cbr.iter().enumerate() {
        cbr.extend(cross::cbr(document, &topology, group, &format!("cbr.{index}"))?);
    }
    let group = |(index, group)| cross::group(document, &topology, group, &format!("arrivals.{index}"));
    let mut flow_arrivals = document.arrivals.iter().enumerate().map(group).collect::<Result<Vec<_>, _>>()?;
    let faults = faults(document)?;
    number(flows.iter_mut().map(|flow| &mut flow.name));
    number(cbr.iter_mut().map(|cbr| &mut cbr.name));
    number(flow_arrivals.iter_mut().map(|group| &mut group.flow.name));
    let setup = Setup {
        nodes: topology.nodes,
        links: topology.links,
        flows,
        cbr,
        flow_arrivals,
        taps: Vec::new(),
        packet_log: None,
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
    let located = |setup: &Setup, error: SetupError| locate(error, document, setup);
    let setup = Setup { taps: taps(&setup, faults).map_err(|error| located(&setup, error))?, ..setup };
    let setup = setup.checked().map_err(|refused| located(&refused.setup, refused.error))?;
    check_policers(document, &setup)?;
    let paths = if setup.flows.is_empty() { setup.arrivals_paths() } else { setup.paths() };
    let bottleneck = bottleneck(&setup.links, paths.map_err(|error| located(&setup, error))?);
    Ok((setup, bottleneck))
}

/// What happens to single packets, and whether to those on the reverse path.
fn faults(document: &Document) -> Result<Vec<(PacketFault, bool)>, Located> {
    let mut faults = Vec::new();
    let mut flow = 0;
    for (index, group) in document.flow.iter().enumerate() {
        let key = format!("flow.{index}");
        let acked = group.algorithm.value().entry().transport == Transport::Acked;
        let mut add = |name: &'static str, text: &str, named: Named, fault: &dyn Fn(u32) -> Option<PacketFault>| {
            if named.is_ack() && !acked {
                return Err(range(
                    &key,
                    name,
                    &format!("`{text}`"),
                    "data packets: only acknowledgements of TCP have numbers",
                ));
            }
            for flow in flow..flow + group.count {
                let Some(fault) = fault(flow) else {
                    return Err(range(
                        &key,
                        name,
                        &format!("`{text}`"),
                        &format!("a list without `{named}`, to which `{name}` does not apply"),
                    ));
                };
                if faults.len() >= MAX_FAULTS {
                    let accepted =
                        format!("at most {MAX_FAULTS} packets in a scenario, counted for each flow of a group");
                    return Err(range(&key, name, &format!("`{text}`"), &accepted));
                }
                faults.push((fault, named.is_ack()));
            }
            Ok(())
        };
        if let Some(packets) = &group.drop {
            for named in packets.value().named() {
                add("drop", packets.text(), *named, &|flow| Some(named.dropped(flow)))?;
            }
        }
        if let Some(packets) = &group.mark {
            for named in packets.value().named() {
                add("mark", packets.text(), *named, &|flow| named.marked(flow))?;
            }
        }
        if let Some(packets) = &group.hold {
            for (named, by) in packets.value().named() {
                add("hold", packets.text(), *named, &|flow| named.held(flow, *by))?;
            }
        }
        flow += group.count;
    }
    Ok(faults)
}

/// Taps on the first links of the ways of flows.
fn taps(setup: &Setup, faults: Vec<(PacketFault, bool)>) -> Result<Vec<Tap>, SetupError> {
    let mut taps: Vec<Tap> = Vec::new();
    if faults.is_empty() {
        return Ok(taps);
    }
    let ways = setup.ways(setup.flows.iter())?;
    for (fault, back) in faults {
        let Some(link) = ways[fault.flow() as usize][usize::from(back)].first().copied() else { continue };
        match taps.iter_mut().find(|tap| tap.link == link) {
            Some(tap) => tap.faults.push(fault),
            None => taps.push(Tap { link, faults: vec![fault], record: false }),
        }
    }
    Ok(taps)
}

/// Columns of samples are held in memory until the run ends.
fn check_samples(document: &Document, flows: usize) -> Result<(), Located> {
    let SampleEvery::Interval(interval) = *document.sampling.value() else { return Ok(()) };
    let rows = document.duration.value().as_nanos() / interval.as_nanos().max(1);
    if rows.saturating_mul(flows as u64) > MAX_SAMPLES {
        return Err(Located::at("sampling", Fault::Samples { flows, rows, most: MAX_SAMPLES }));
    }
    Ok(())
}

/// A policer whose bucket does not hold the largest packet that crosses it drops every packet of that size.
fn check_policers(document: &Document, setup: &Setup) -> Result<(), Located> {
    let policers = |link: &LinkSetup| {
        let later = link.phases.steps.iter().filter_map(|(_, phase)| phase.impairments.policer);
        link.impairments.policer.into_iter().chain(later).collect::<Vec<_>>()
    };
    let policed = |index: usize| setup.links.get(index).is_some_and(|link| !policers(link).is_empty());
    if !(0..setup.links.len()).any(policed) {
        return Ok(());
    }
    let mut largest = vec![Bytes(0); setup.links.len()];
    let mut cross = |way: &[LinkId], size: Bytes| {
        for link in way {
            let largest = &mut largest[link.0 as usize];
            *largest = (*largest).max(size);
        }
    };
    let flows = || setup.flows.iter().chain(setup.flow_arrivals.iter().map(|group| &group.flow));
    let unreachable = |error: SetupError| Located::at("", error.into());
    for (flow, [forward, back]) in flows().zip(setup.ways(flows()).map_err(unreachable)?) {
        cross(&forward, flow.packet);
        cross(&back, flow.ack);
    }
    for (cbr, path) in setup.cbr.iter().zip(setup.cbr_paths().map_err(unreachable)?) {
        cross(&path, cbr.packet);
    }
    let mut keys: Vec<String> = ["impairments", "reverse_impairments"].map(|key| format!("dumbbell.{key}")).to_vec();
    if document.dumbbell.is_none() {
        let key = |(index, link): (usize, &Link)| {
            std::iter::repeat_n(format!("link.{index}.impairments"), 1 + usize::from(link.both_ways))
        };
        keys = document.link.iter().enumerate().flat_map(key).collect();
    }
    for ((link, key), largest) in setup.links.iter().zip(keys).zip(largest) {
        if policers(link).iter().any(|policer| policer.burst < largest) {
            let base = key.rsplit_once('.').map_or("", |(base, _)| base);
            let steps = (0..).map(|index| format!("{base}.schedule.steps.{index}"));
            let steps = steps.take_while(|key| document.value(key).is_some());
            let small = |key: &String| {
                let bucket = document
                    .written(&format!("{key}.policer"))
                    .and_then(|text| text.parse::<Written<TokenBucket>>().ok());
                bucket.is_some_and(|bucket| bucket.value().burst < largest)
            };
            let key = std::iter::once(key.clone()).chain(steps).find(small).unwrap_or(key);
            let given = document.written(&format!("{key}.policer")).unwrap_or_default();
            let accepted = format!("a burst of at least {}B, the largest packet that crosses it", largest.0);
            return Err(range(&key, "policer", &given, &accepted));
        }
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
    let rate = |link: &LinkSetup| {
        let buckets =
            [link.impairments.shaper, link.impairments.policer].into_iter().flatten().map(|bucket| bucket.rate);
        link.rate.into_iter().chain(buckets).min().unwrap_or(u64::MAX)
    };
    let slowest = crossed.min_by_key(|(_, (link, flows))| (rate(link), Reverse(*flows)));
    slowest.map_or(0, |(index, _)| index)
}

/// An error of the simulator at the key that it is about.
fn locate(error: SetupError, document: &Document, setup: &Setup) -> Located {
    let key = match &error {
        SetupError::Unreachable { part, .. }
        | SetupError::Field { part, .. }
        | SetupError::Range { part, .. }
        | SetupError::Access { part, .. }
        | SetupError::Memory { part, .. }
        | SetupError::Stalled { part, .. } => key_of(part, document, setup),
        SetupError::Stack(panic) => key_of(&panic.part, document, setup),
        SetupError::Interrupted => String::new(),
    };
    if let SetupError::Access { access, base_rtt, variation, .. } = error {
        return varied(document, &key, (access, base_rtt), variation);
    }
    let SetupError::Range { part, field, accepted } = error else { return Located { key, fault: error.into() } };
    // The keys of a dumbbell's two links lie in one table.
    let back = document.dumbbell.is_some() && matches!(&part, SetupPart::Link(name) if *name != setup.links[0].name);
    let field = BACK.into_iter().find(|key| back && key.ends_with(field)).unwrap_or(field);
    // A pause without an end may be one of several keys.
    let pauses = field == "schedule" && document.value(&format!("{key}.schedule")).is_none();
    let field = if pauses { "outage" } else { field };
    // What a part does not say itself holds for all of them.
    let paths = [format!("{key}.{field}"), field.to_string()];
    let [own, common] = paths.map(|path| document.written(&path).map(|given| (path, given)));
    let (path, given) = own.or(common).unwrap_or_else(|| {
        let path = format!("{key}.{field}");
        let given = if document.value(&path).is_some() { "as it is" } else { "missing" };
        (path, given.to_string())
    });
    let key = field.rsplit('.').next().unwrap_or(field);
    Located { key: path, fault: Fault::Range { key, given, accepted } }
}

/// A spread of round-trip times that the access lines of a flow at `key` are too short for. Where the spread is the usual one, they are.
fn varied(document: &Document, key: &str, (access, base_rtt): (Span, Span), variation: f64) -> Located {
    let share = access.as_secs_f64() / base_rtt.as_secs_f64();
    if document.variation.rtt != Variation::default().rtt {
        let accepted = format!(
            "at most {} here, the share of the access lines, from which it is taken, in the round-trip time; a longer `extra_rtt` allows more",
            (share * 1e3).floor() / 1e3
        );
        return range("", "variation.rtt", &variation, &accepted);
    }
    let missing = (base_rtt.mul_f64(variation).as_secs_f64() - access.as_secs_f64()) / (1.0 - variation);
    let path = format!("{key}.extra_rtt");
    let own = document.written(&path).and_then(|text| cwnd::quantity::span(&text).ok()).unwrap_or(Span::ZERO);
    let least = own + Span::from_micros((missing * 1e6).ceil() as u64);
    let given = document.written(&path).unwrap_or_else(|| "missing".to_string());
    let least = Written::from(least);
    let accepted = format!(
        "at least {least}, from which a `variation.rtt` of {variation} is taken, or any with a `variation.rtt` of 0"
    );
    range(key, "extra_rtt", &given, &accepted)
}

/// Keys of impairments of the reverse path.
const BACK: [&str; 4] = [
    "reverse_impairments.thin_acks",
    "reverse_impairments.shaper",
    "reverse_impairments.corrupt",
    "reverse_impairments.duplicate",
];

/// The key of a part of a setup; empty for the scenario as a whole.
fn key_of(part: &SetupPart, document: &Document, setup: &Setup) -> String {
    let shape = [("dumbbell", document.dumbbell.is_some()), ("parking_lot", document.parking_lot.is_some())];
    let key = match part {
        SetupPart::Flow(name) => setup
            .flows
            .iter()
            .position(|flow| flow.name == *name)
            .map(|nth| format!("flow.{}", group_of(nth, document.flow.iter().map(|group| group.count)))),
        SetupPart::Cbr(name) => setup
            .cbr
            .iter()
            .position(|cbr| cbr.name == *name)
            .map(|nth| format!("cbr.{}", group_of(nth, document.cbr.iter().map(|group| group.count)))),
        SetupPart::FlowArrivals(name) => {
            setup.flow_arrivals.iter().position(|group| group.flow.name == *name).map(|nth| format!("arrivals.{nth}"))
        }
        SetupPart::Link(name) => {
            let whole = shape.iter().find(|(_, given)| *given).map(|(key, _)| (*key).to_string());
            let ways = document.link.iter().map(|link| 1 + u32::from(link.both_ways));
            let of_graph = || {
                setup
                    .links
                    .iter()
                    .position(|link| link.name == *name)
                    .map(|nth| format!("link.{}", group_of(nth, ways)))
            };
            whole.or_else(of_graph)
        }
        SetupPart::Field(_) | SetupPart::Setup => None,
    };
    key.unwrap_or_default()
}

/// The index of the group that member `nth` of all groups together belongs to.
fn group_of(nth: usize, counts: impl Iterator<Item = u32>) -> usize {
    let ends = counts.scan(0, |sum, count| {
        *sum += count as usize;
        Some(*sum)
    });
    ends.take_while(|end| *end <= nth).count()
}

/// Checks that do not depend on the topology or the flows.
fn check_frame(document: &Document) -> Result<(), Located> {
    if !(1..=MAX_SEEDS).contains(&document.seeds) {
        return Err(range("", "seeds", &document.seeds, &format!("1 to {MAX_SEEDS}")));
    }
    for (key, size) in [("packet", &document.packet), ("ack", &document.ack)] {
        if *size.value() > MAX_PACKET {
            return Err(range("", key, &size, "at most 65535B, the longest IP packet"));
        }
    }
    Ok(())
}

fn flow(document: &Document, topology: &Topology, group: &FlowGroup, key: &str) -> Result<FlowSetup, Located> {
    if group.count == 0 {
        return Err(range(key, "count", &0, "at least 1"));
    }
    let Times { start, stop, pauses } = cross::times(document, (&group.start, &group.stop), &group.on, key)?;
    let ends = ends(topology, (&group.from, &group.to), group.direction, key)?;
    let name = group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string());
    let access_rtt = topology.access_rtt + group.extra_rtt.as_ref().map_or(Span::ZERO, |extra| *extra.value());
    let era = *group.era.as_ref().unwrap_or(&document.era).value();
    let scheme = group.recovery.as_ref().or(document.recovery.as_ref());
    let usual = FlowSetup::bulk(name, group.algorithm.value().clone(), era, ends, access_rtt);
    Ok(FlowSetup {
        via: route(topology, &group.via, ends, (key, "via"))?,
        via_back: route(topology, &group.via_back, (ends.1, ends.0), (key, "via_back"))?,
        start,
        source: cross::source(document, group, key)?,
        stop,
        pauses,
        packet: *document.packet.value(),
        payload: *document.payload.value(),
        ack: *document.ack.value(),
        max_window: group.max_window,
        paced: group.paced,
        host: cross::host(group.host.as_ref(), document, group.algorithm.value()),
        slow_start: group.slow_start.as_ref().or(document.slow_start.as_ref()).map(|growth| *growth.value()),
        rate_limited: group.rate_limited.as_ref().or(document.rate_limited.as_ref()).map(|policy| *policy.value()),
        resume: group.resume.as_ref().map(|saved| *saved.value()),
        ecn: cross::ecn(group.ecn.as_ref(), group.algorithm.value()),
        class: *group.class.value(),
        hosts: hosts(topology, (&group.src_host, &group.dst_host), key)?,
        handshake: group.handshake,
        delayed_ack: group.delayed_ack.as_ref().map_or(usual.delayed_ack, |delay| cross::delayed(*delay.value())),
        ack_aggregation: group.ack_aggregation.as_ref().map(|interval| *interval.value()),
        wake: group.wake.as_ref().map(|interval| *interval.value()),
        timer: group.timer.as_ref().map(|interval| *interval.value()),
        recovery: scheme.map_or(usual.recovery, |scheme| *scheme.value()),
        reassembly: group.receiver.as_ref().map_or_else(Reassembly::default, |kind| *kind.value()),
        ..usual
    })
}

/// The names of hosts, each once and in order.
fn hosts_of(document: &Document) -> Vec<String> {
    let flows = document.flow.iter().flat_map(|group| [&group.src_host, &group.dst_host]);
    let cbr = document.cbr.iter().flat_map(|group| [&group.src_host, &group.dst_host]);
    let arrivals = document.arrivals.iter().flat_map(|group| [&group.src_host, &group.dst_host]);
    let mut names: Vec<String> = flows.chain(cbr).chain(arrivals).flatten().cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Numbers the flows that share a name.
fn number<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut names: Vec<&mut String> = names.collect();
    let mut seen = BTreeMap::<String, (u32, u32)>::new();
    for name in &names {
        seen.entry((*name).clone()).or_default().0 += 1;
    }
    for name in &mut names {
        let (count, next) = seen.entry((*name).clone()).or_default();
        if *count > 1 {
            *next += 1;
            **name = format!("{name} #{next}");
        }
    }
}

/// The most flows: at some two kilobytes each they take eight gigabytes before the first packet leaves.
pub const MAX_FLOWS: u32 = 4_000_000;
/// Most packets that are dropped, marked or held back by number: each packet of the run is compared with all of them.
const MAX_FAULTS: usize = 1000;
/// At some 120 bytes each, six gigabytes a run.
const MAX_SAMPLES: u64 = 50_000_000;
/// The most seeds: more independent runs than any interval needs.
pub const MAX_SEEDS: u32 = 100_000;
