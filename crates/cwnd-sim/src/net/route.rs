//! Static routes: the path of least propagation delay between two nodes, computed once, or the links that a flow names.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use cwnd::Span;

use super::setup::{LinkId, LinkSetup, NodeId};

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Over a link.
    Link(u32),
    /// Into the endpoint.
    End,
}

/// All routes in one table: a packet carries its place in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    steps: Vec<Step>,
    starts: BTreeMap<(NodeId, NodeId), u32>,
    named: BTreeMap<Vec<LinkId>, u32>,
}

/// The routes of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowRoutes {
    /// The place of the data's route.
    pub(crate) forward: u32,
    /// The place of the acknowledgements' route.
    pub(crate) reverse: u32,
    /// Round-trip time without queueing or transmission, and without what the seed adds.
    pub(crate) base_rtt: Span,
}

impl Routes {
    /// The place of the route from `from` to `to` over `links`; none if there is no way.
    pub(crate) fn find(&mut self, links: &[LinkSetup], from: NodeId, to: NodeId) -> Option<u32> {
        if let Some(start) = self.starts.get(&(from, to)) {
            return Some(*start);
        }
        let start = self.push(shortest(links, from, to)?)?;
        self.starts.insert((from, to), start);
        Some(start)
    }

    /// The place of the route over `route`; none if that does not lead from `from` to `to`.
    pub(crate) fn along(&mut self, links: &[LinkSetup], route: &[LinkId], (from, to): (NodeId, NodeId)) -> Option<u32> {
        let mut node = from;
        for link in route {
            let link = links.get(link.0 as usize).filter(|link| link.from == node)?;
            node = link.to;
        }
        if node != to {
            return None;
        }
        if let Some(start) = self.named.get(route) {
            return Some(*start);
        }
        let start = self.push(route.iter().map(|link| link.0).collect())?;
        self.named.insert(route.to_vec(), start);
        Some(start)
    }

    fn push(&mut self, route: Vec<u32>) -> Option<u32> {
        let start = u32::try_from(self.steps.len()).ok()?;
        self.steps.extend(route.into_iter().map(Step::Link));
        self.steps.push(Step::End);
        Some(start)
    }

    /// The step at a place.
    #[inline]
    pub(crate) fn step(&self, place: u32) -> Step {
        self.steps[place as usize]
    }

    /// The links from a place on.
    pub(crate) fn links(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        self.steps[place as usize..].iter().map_while(|step| match step {
            Step::Link(link) => Some(*link),
            Step::End => None,
        })
    }
}

/// Dijkstra's algorithm; among equal delays the route with fewer links, then the one found over lower indices.
fn shortest(links: &[LinkSetup], from: NodeId, to: NodeId) -> Option<Vec<u32>> {
    let nodes = links.iter().flat_map(|link| [link.from, link.to]).chain([from, to]).map(|node| node.0 as usize + 1);
    let mut best: Vec<Option<(u64, u32, u32)>> = vec![None; nodes.max().unwrap_or(0)];
    let mut frontier = BinaryHeap::from([Reverse((0_u64, 0_u32, from.0, u32::MAX))]);
    while let Some(Reverse((delay, hops, node, over))) = frontier.pop() {
        if best[node as usize].is_some() {
            continue;
        }
        best[node as usize] = Some((delay, hops, over));
        if node == to.0 {
            break;
        }
        for (index, link) in (0_u32..).zip(links) {
            if link.from.0 == node {
                let reached = delay.saturating_add(link.delay.as_nanos());
                frontier.push(Reverse((reached, hops + 1, link.to.0, index)));
            }
        }
    }
    best[to.0 as usize]?;
    let mut route = Vec::new();
    let mut node = to.0;
    while node != from.0 {
        let (_, _, over) = best[node as usize]?;
        route.push(over);
        node = links[over as usize].from.0;
    }
    route.reverse();
    Some(route)
}
