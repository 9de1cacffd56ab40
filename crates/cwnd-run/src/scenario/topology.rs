//! Nodes and links of the three kinds of topology.

use std::path::Path;

use cwnd::{BitRate, Bytes, Span};
use cwnd_sim::{Discipline, Duplex, HalfDuplex, HostPair, LinkId, LinkSetup, Loss, NodeId, QueueLimit};

use super::document::{Document, Dumbbell, Link, ParkingLot};
use super::error::{Fault, Located, range};
use super::impairments::Impairments;
use super::quantity::Written;
use super::queue::{Queue, ThresholdError};
use super::schedule::{follow_losses, vary};
use super::traffic::Direction;

/// Nodes, links, and what they give to flows that do not say otherwise.
#[derive(Debug, Default)]
pub(super) struct Topology {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSetup>,
    /// Where flows begin and end unless they say otherwise; none in a graph.
    pub(super) ends: Option<(NodeId, NodeId)>,
    /// Every flow's share of the round-trip time outside the links.
    pub(super) access_rtt: Span,
    /// The names of hosts, in order.
    pub(super) hosts: Vec<String>,
}

impl Topology {
    pub(super) fn of(document: &Document) -> Result<Self, Located> {
        let packet = *document.packet.value();
        match (&document.dumbbell, &document.parking_lot, document.link.as_slice()) {
            (Some(dumbbell), None, []) => Self::dumbbell(dumbbell, packet, &document.directory),
            (None, Some(lot), []) => Self::parking_lot(lot, packet),
            (None, None, []) => Err(Located::at("", Fault::Topology("no"))),
            (None, None, links) => Self::graph(links, packet, &document.directory),
            (Some(_), ..) => Err(Located::at("dumbbell", Fault::Topology("several"))),
            _ => Err(Located::at("parking_lot", Fault::Topology("several"))),
        }
    }

    fn dumbbell(dumbbell: &Dumbbell, packet: Bytes, directory: &Path) -> Result<Self, Located> {
        let rtt = *dumbbell.rtt.value();
        let rate = *dumbbell.rate.value();
        let reverse_rate = *dumbbell.reverse_rate.as_ref().unwrap_or(&dumbbell.rate).value();
        let reverse =
            dumbbell.reverse_queue.as_ref().map_or((&dumbbell.queue, "queue"), |queue| (queue, "reverse_queue"));
        let (reverse_queue, reverse_discipline) =
            queue_setup(reverse.0, (reverse_rate, rtt, packet), ("dumbbell", reverse.1))?;
        let path = cwnd_sim::Dumbbell {
            rate: bits(rate),
            rtt,
            queue: QueueLimit::Unlimited,
            loss: *dumbbell.loss.value(),
            reverse_rate: bits(reverse_rate),
            reverse_queue,
        };
        let mut links = path.links();
        if let [bottleneck, reverse] = links.as_mut_slice() {
            if let Some(schedule) = &dumbbell.schedule {
                schedule.apply(bottleneck, "dumbbell")?;
            }
            let table = vary(bottleneck, (&dumbbell.trace, directory), &dumbbell.outage, "dumbbell")?;
            let rate = bottleneck.rate.filter(|_| dumbbell.trace.is_some()).map_or(rate, |mean| BitRate(mean as f64));
            (bottleneck.queue, bottleneck.discipline) =
                queue_setup(&dumbbell.queue, (rate, rtt, packet), ("dumbbell", "queue"))?;
            bottleneck.impairments = impairments(&dumbbell.impairments);
            reverse.impairments = impairments(&dumbbell.reverse_impairments);
            reverse.discipline = reverse_discipline;
            reverse.loss = dumbbell.reverse_loss.as_ref().map_or(Loss::None, |loss| *loss.value());
            if let Some(schedule) = &dumbbell.schedule {
                let sized = |queue: &Written<Queue>, key: &str| queue_setup(queue, (rate, rtt, packet), (key, "queue"));
                schedule.apply_phases(bottleneck, "dumbbell", sized)?;
            }
            follow_losses(bottleneck, table.as_ref(), &dumbbell.trace, "dumbbell")?;
        }
        share(&dumbbell.duplex, 0, &mut links);
        Ok(Self::between_ends(path.nodes(), links, rtt))
    }

    fn parking_lot(lot: &ParkingLot, packet: Bytes) -> Result<Self, Located> {
        if !(1..=MAX_HOPS).contains(&lot.hops) {
            return Err(range("parking_lot", "hops", &lot.hops, &format!("1 to {MAX_HOPS}")));
        }
        let (rate, rtt) = (*lot.rate.value(), *lot.rtt.value());
        let (queue, discipline) = queue_setup(&lot.queue, (rate, rtt, packet), ("parking_lot", "queue"))?;
        let row = cwnd_sim::ParkingLot { hops: lot.hops, rate: bits(rate), rtt, queue };
        let mut links = row.links();
        for (index, link) in links.iter_mut().enumerate() {
            link.discipline = discipline;
            link.loss = if index % 2 == 0 { *lot.loss.value() } else { Loss::None };
        }
        Ok(Self::between_ends(row.nodes(), links, rtt))
    }

    /// Flows go from the first node to the last. The links take half of the round-trip time; the other half is each flow's own,
    /// so that flows can differ in it.
    fn between_ends(nodes: Vec<String>, links: Vec<LinkSetup>, rtt: Span) -> Self {
        let ends = Some((NodeId(0), NodeId(nodes.len() as u32 - 1)));
        Self { nodes, links, ends, access_rtt: rtt - rtt / 4 * 2, ..Self::default() }
    }

    fn graph(links: &[Link], packet: Bytes, directory: &Path) -> Result<Self, Located> {
        let mut topology = Self::default();
        for (index, link) in links.iter().enumerate() {
            let key = format!("link.{index}");
            if link.from == link.to {
                return Err(range(&key, "to", &format!("`{}`", link.to), "another node than `from`"));
            }
            let (from, to) = (topology.node_or_new(&link.from), topology.node_or_new(&link.to));
            let (queue, discipline) = graph_queue(link, packet, &key)?;
            let name = link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to));
            let rate = rate_of(link).map(bits);
            let mut forward = LinkSetup {
                discipline,
                loss: link.loss.as_ref().map_or(Loss::None, |loss| *loss.value()),
                ..LinkSetup::new(name, (from, to), rate, *link.delay.value(), queue)
            };
            let back = LinkSetup {
                name: link
                    .name
                    .as_ref()
                    .map_or_else(|| format!("{}-{}", link.to, link.from), |name| format!("{name} back")),
                from: to,
                to: from,
                loss: Loss::None,
                ..forward.clone()
            };
            if let Some(schedule) = &link.schedule {
                schedule.apply(&mut forward, &key)?;
            }
            let table = vary(&mut forward, (&link.trace, directory), &link.outage, &key)?;
            forward.impairments = impairments(&link.impairments);
            if let Some(schedule) = &link.schedule {
                let sized = |queue: &Written<Queue>, key: &str| {
                    graph_queue(&Link { queue: Some(queue.clone()), ..link.clone() }, packet, key)
                };
                schedule.apply_phases(&mut forward, &key, sized)?;
            }
            follow_losses(&mut forward, table.as_ref(), &link.trace, &key)?;
            let mut ways = vec![forward];
            ways.extend(link.both_ways.then_some(back));
            if let (true, false, Some(duplex)) =
                (share(&link.duplex, index as u32, &mut ways), link.both_ways, &link.duplex)
            {
                return Err(range(
                    &key,
                    "duplex",
                    &format!("`{duplex}`"),
                    "`full` for a link that none leads back along",
                ));
            }
            topology.links.extend(ways);
        }
        Ok(topology)
    }

    pub(super) fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node == name).map(|index| NodeId(index as u32))
    }

    fn node_or_new(&mut self, name: &str) -> NodeId {
        self.node(name).unwrap_or_else(|| {
            self.nodes.push(name.to_string());
            NodeId(self.nodes.len() as u32 - 1)
        })
    }
}

/// The rate of a link; that of one which follows a trace, and does not lead back, is yet to be found in there.
fn rate_of(link: &Link) -> Option<BitRate> {
    let own = link.rate.as_ref().map(|rate| *rate.value());
    let follows = link.trace.is_some() && link.queue.is_some() && !link.both_ways;
    own.or(follows.then_some(BitRate(1.0)))
}

fn graph_queue(link: &Link, packet: Bytes, key: &str) -> Result<(QueueLimit, Discipline), Located> {
    match (&link.queue, rate_of(link)) {
        (None, None) => Ok((QueueLimit::Unlimited, Discipline::DropTail)),
        (None, Some(_)) => {
            Err(Located::at(key, Fault::Missing { key: "queue", why: "a link with a rate has a queue" }))
        }
        (Some(queue), None) => {
            Err(range(key, "queue", &format!("`{queue}`"), "none without a `rate`: nothing waits there"))
        }
        (Some(queue), Some(_)) if queue.value().needs_path() => {
            let accepted = "packets, bytes or a time: one link of a graph has no round-trip time of its own";
            Err(range(key, "queue", &format!("`{queue}`"), accepted))
        }
        (Some(queue), Some(_)) if queue.value().needs_rate() && link.rate.is_none() => {
            Err(range(key, "queue", &format!("`{queue}`"), "packets or bytes: the link has no `rate`, but a `trace`"))
        }
        (Some(queue), Some(rate)) => queue_setup(queue, (rate, Span::ZERO, packet), (key, "queue")),
    }
}

/// Lets links share a channel of this number if they are to; whether they are.
fn share(duplex: &Option<Written<Duplex>>, channel: u32, links: &mut [LinkSetup]) -> bool {
    let Some(Duplex::Half(sharing)) = duplex.as_ref().map(|duplex| *duplex.value()) else { return false };
    links.iter_mut().for_each(|link| link.half_duplex = Some(HalfDuplex { channel, sharing }));
    true
}

fn impairments(given: &Option<Impairments>) -> cwnd_sim::Impairments {
    given.as_ref().map(Impairments::setup).unwrap_or_default()
}

/// A queue before a link of a rate on a path of a round-trip time; `key` is where it was written.
fn queue_setup(
    queue: &Written<Queue>,
    (rate, rtt, packet): (BitRate, Span, Bytes),
    (table, key): (&str, &'static str),
) -> Result<(QueueLimit, Discipline), Located> {
    let wrong = |error: ThresholdError| range(table, key, &format!("`{queue}`"), &error.to_string());
    queue.value().checked_setup(rate, rtt, packet).map_err(wrong)
}

fn bits(rate: BitRate) -> u64 {
    rate.0.round() as u64
}

/// A row longer than any path of the Internet (an IP packet passes 255 routers at most).
const MAX_HOPS: u32 = 255;

/// The nodes where data goes in and comes out.
pub(super) fn ends(
    topology: &Topology,
    (from, to): (&Option<String>, &Option<String>),
    direction: Direction,
    key: &str,
) -> Result<(NodeId, NodeId), Located> {
    let end = |name: &Option<String>, end_key: &'static str, default: Option<NodeId>| match name {
        Some(name) => topology.node(name).ok_or_else(|| Located {
            key: format!("{key}.{end_key}"),
            fault: Fault::Unknown { what: "node", name: name.clone(), known: topology.nodes.clone() },
        }),
        None => default.ok_or_else(|| {
            Located::at(key, Fault::Missing { key: end_key, why: "a flow through a graph names its two nodes" })
        }),
    };
    let from = end(from, "from", topology.ends.map(|(first, _)| first))?;
    let to = end(to, "to", topology.ends.map(|(_, last)| last))?;
    if from == to {
        let given = format!("`{}`", topology.nodes[to.0 as usize]);
        return Err(range(key, "to", &given, "another node than `from`"));
    }
    Ok(match direction {
        Direction::Forward => (from, to),
        Direction::Reverse => (to, from),
    })
}

/// The hosts at both ends, by their places among the names of all hosts.
pub(super) fn hosts(
    topology: &Topology,
    (source, destination): (&Option<String>, &Option<String>),
    table: &str,
) -> Result<HostPair, Located> {
    let number = |name: &Option<String>, key: &'static str| {
        let Some(name) = name else { return Ok(None) };
        if name.trim().is_empty() {
            return Err(range(table, key, &format!("`{name}`"), "a name of at least one character"));
        }
        Ok(topology.hosts.binary_search(name).ok().map(|place| place as u32))
    };
    Ok(HostPair { source: number(source, "src_host")?, destination: number(destination, "dst_host")? })
}

/// The links called `names`, which lead from one node to another in their order; none if there are no names.
pub(super) fn route(
    topology: &Topology,
    names: &[String],
    (from, to): (NodeId, NodeId),
    (table, key): (&str, &'static str),
) -> Result<Option<Vec<LinkId>>, Located> {
    let known = || topology.links.iter().map(|link| link.name.clone()).collect();
    let node = |node: NodeId| &topology.nodes[node.0 as usize];
    let mut at = from;
    let mut route = Vec::new();
    for name in names {
        let mut found = topology.links.iter().enumerate().filter(|(_, link)| link.name == *name);
        let (index, link) = found.next().ok_or_else(|| Located {
            key: format!("{table}.{key}"),
            fault: Fault::Unknown { what: "link", name: name.clone(), known: known() },
        })?;
        if found.next().is_some() {
            let accepted = "a name that one link alone has: give links a `name`";
            return Err(range(table, key, &format!("`{name}`"), accepted));
        }
        if link.from != at {
            let accepted = format!("a link from `{}`, where the route is by then", node(at));
            return Err(range(table, key, &format!("`{name}`, which begins at `{}`", node(link.from)), &accepted));
        }
        at = link.to;
        route.push(LinkId(index as u32));
    }
    if !route.is_empty() && at != to {
        let given = format!("`{}`, which ends at `{}`", names.join("`, `"), node(at));
        return Err(range(table, key, &given, &format!("links that lead to `{}`", node(to))));
    }
    Ok((!route.is_empty()).then_some(route))
}
