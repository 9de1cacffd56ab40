//! Nodes and links of the three kinds of topology.

use cwnd::{BitRate, Bytes, Span};
use cwnd_sim::{LinkSetup, Loss, NodeId, QueueLimit};

use super::build::{Located, range};
use super::document::{Document, Dumbbell, Link, ParkingLot};
use super::error::Fault;
use super::quantity::QueueSize;

/// Nodes, links, and what they give to flows that do not say otherwise.
#[derive(Debug, Default)]
pub(super) struct Topology {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSetup>,
    /// Where flows begin and end unless they say otherwise; none in a graph.
    pub(super) ends: Option<(NodeId, NodeId)>,
    /// Every flow's share of the round-trip time outside the links.
    pub(super) access_rtt: Span,
}

impl Topology {
    pub(super) fn of(document: &Document) -> Result<Self, Located> {
        let packet = *document.packet.value();
        match (&document.dumbbell, &document.parking_lot, document.link.as_slice()) {
            (Some(dumbbell), None, []) => Ok(Self::dumbbell(dumbbell, packet)),
            (None, Some(lot), []) => Self::parking_lot(lot, packet),
            (None, None, []) => Err(Located::at("", Fault::Topology("no"))),
            (None, None, links) => Self::graph(links),
            _ => Err(Located::at("", Fault::Topology("several"))),
        }
    }

    /// The two links take half of the round-trip time; the other half is each flow's own, so that flows can differ in it.
    fn dumbbell(dumbbell: &Dumbbell, packet: Bytes) -> Self {
        let rtt = *dumbbell.rtt.value();
        let delay = rtt / 4;
        let link = |name: &str, from, to, rate: BitRate, queue: QueueSize, loss| LinkSetup {
            name: name.to_string(),
            from: NodeId(from),
            to: NodeId(to),
            rate: Some(bits(rate)),
            delay,
            queue: limit(queue, rate, rtt, packet),
            red: None,
            loss,
        };
        let (rate, queue) = (&dumbbell.rate, &dumbbell.queue);
        let reverse_rate = dumbbell.reverse_rate.as_ref().unwrap_or(rate);
        let reverse_queue = dumbbell.reverse_queue.as_ref().unwrap_or(queue);
        let reverse_loss = dumbbell.reverse_loss.as_ref().map_or(Loss::None, |loss| *loss.value());
        Self {
            nodes: vec!["left".to_string(), "right".to_string()],
            links: vec![
                link("bottleneck", 0, 1, *rate.value(), *queue.value(), *dumbbell.loss.value()),
                link("way back", 1, 0, *reverse_rate.value(), *reverse_queue.value(), reverse_loss),
            ],
            ends: Some((NodeId(0), NodeId(1))),
            access_rtt: rtt - delay * 2,
        }
    }

    fn parking_lot(lot: &ParkingLot, packet: Bytes) -> Result<Self, Located> {
        if !(1..=MAX_HOPS).contains(&lot.hops) {
            return Err(range("parking_lot", "hops", &lot.hops, &format!("1 to {MAX_HOPS}")));
        }
        let (rate, delay, access_rtt) = (*lot.rate.value(), *lot.delay.value(), *lot.access_rtt.value());
        let rtt = delay * (2 * u64::from(lot.hops)) + access_rtt;
        let link = |from: u32, to: u32, loss| LinkSetup {
            name: format!("n{from}-n{to}"),
            from: NodeId(from),
            to: NodeId(to),
            rate: Some(bits(rate)),
            delay,
            queue: limit(*lot.queue.value(), rate, rtt, packet),
            red: None,
            loss,
        };
        let hops =
            (0..lot.hops).flat_map(|hop| [link(hop, hop + 1, *lot.loss.value()), link(hop + 1, hop, Loss::None)]);
        Ok(Self {
            links: hops.collect(),
            nodes: (0..=lot.hops).map(|node| format!("n{node}")).collect(),
            ends: Some((NodeId(0), NodeId(lot.hops))),
            access_rtt,
        })
    }

    fn graph(links: &[Link]) -> Result<Self, Located> {
        let mut topology = Self::default();
        for (index, link) in links.iter().enumerate() {
            let key = format!("link.{index}");
            if link.from == link.to {
                return Err(range(&key, "to", &format!("`{}`", link.to), "another node than `from`"));
            }
            let (from, to) = (topology.node_or_new(&link.from), topology.node_or_new(&link.to));
            let forward = LinkSetup {
                name: link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to)),
                from,
                to,
                rate: link.rate.as_ref().map(|rate| bits(*rate.value())),
                delay: *link.delay.value(),
                queue: graph_queue(link, &key)?,
                red: None,
                loss: link.loss.as_ref().map_or(Loss::None, |loss| *loss.value()),
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
            topology.links.push(forward);
            topology.links.extend(link.both_ways.then_some(back));
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

fn graph_queue(link: &Link, key: &str) -> Result<QueueLimit, Located> {
    match (&link.queue, &link.rate) {
        (None, None) => Ok(QueueLimit::Unlimited),
        (None, Some(_)) => {
            Err(Located::at(key, Fault::Missing { key: "queue", why: "a link with a rate has a queue" }))
        }
        (Some(queue), None) => {
            Err(range(key, "queue", &format!("`{queue}`"), "none without a `rate`: nothing waits there"))
        }
        (Some(queue), Some(_)) => match *queue.value() {
            QueueSize::Bdp(_) => {
                let accepted = "packets or bytes: one link of a graph has no round-trip time of its own";
                Err(range(key, "queue", &format!("`{queue}`"), accepted))
            }
            size => Ok(limit(size, BitRate(0.0), Span::ZERO, Bytes(1))),
        },
    }
}

/// The limit of a queue before a link of `rate` on a path of `rtt`.
fn limit(size: QueueSize, rate: BitRate, rtt: Span, packet: Bytes) -> QueueLimit {
    match size {
        // Whole packets, as a router is configured, and room for one at least.
        QueueSize::Bdp(times) => {
            QueueLimit::Packets((times * (rate.to_packets(packet) * rtt).0).round().max(1.0) as u32)
        }
        QueueSize::Packets(packets) => QueueLimit::Packets(packets),
        QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
        QueueSize::Unlimited => QueueLimit::Unlimited,
    }
}

fn bits(rate: BitRate) -> u64 {
    rate.0.round() as u64
}

/// A row longer than any path of the Internet (an IP packet passes 255 routers at most).
const MAX_HOPS: u32 = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_delay_product_is_whole_packets() {
        let products = |times, rate, rtt| match limit(QueueSize::Bdp(times), BitRate(rate), rtt, Bytes(1500)) {
            QueueLimit::Packets(packets) => packets,
            other => panic!("{other:?}"),
        };
        // 100 Mbit/s for 50 ms are 625 kB: 416.67 packets.
        assert_eq!(products(1.0, 1e8, Span::from_millis(50)), 417);
        assert_eq!(products(2.5, 1e8, Span::from_millis(50)), 1042);
        assert_eq!(products(1.0, 1e6, Span::from_millis(1)), 1);
    }
}
