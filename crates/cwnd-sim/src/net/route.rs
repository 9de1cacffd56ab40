//! Static routes: the path of least propagation delay between two nodes, computed once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use cwnd::Span;

use crate::setup::{FlowSetup, NodeId, Setup, SetupError};
use crate::traffic::CbrSetup;

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
    /// The place of the route from `from` to `to`; none if there is no way.
    pub(crate) fn find(&mut self, setup: &Setup, from: NodeId, to: NodeId) -> Option<u32> {
        if let Some(start) = self.starts.get(&(from, to)) {
            return Some(*start);
        }
        let links = shortest(setup, from, to)?;
        let start = u32::try_from(self.steps.len()).ok()?;
        self.steps.extend(links.into_iter().map(Step::Link));
        self.steps.push(Step::End);
        self.starts.insert((from, to), start);
        Some(start)
    }

    /// The routes there and back of a flow; errors call it a `kind`.
    pub(crate) fn of_flow(
        &mut self,
        setup: &Setup,
        flow: &FlowSetup,
        kind: &'static str,
    ) -> Result<FlowRoutes, SetupError> {
        let forward = self.required(setup, (kind, &flow.name), flow.from, flow.to)?;
        let reverse = self.required(setup, (kind, &flow.name), flow.to, flow.from)?;
        let delays = self.links(forward).chain(self.links(reverse)).map(|link| setup.links[link as usize].delay);
        let base_rtt = delays.fold(flow.access_rtt, |sum, delay| sum + delay);
        if flow.access_rtt < base_rtt.mul_f64(setup.variation.rtt) {
            let place = format!("{kind} `{}`", flow.name);
            let reason = "its access delay must be at least `variation.rtt` times its round-trip time: the spread is taken from it";
            return Err(SetupError::Field { place, reason: reason.to_string() });
        }
        Ok(FlowRoutes { forward, reverse, base_rtt })
    }

    /// The route of a flow that nobody answers.
    pub(crate) fn of_cbr(&mut self, setup: &Setup, cbr: &CbrSetup) -> Result<FlowRoutes, SetupError> {
        let forward = self.required(setup, ("cbr", &cbr.name), cbr.from, cbr.to)?;
        Ok(FlowRoutes { forward, reverse: forward, base_rtt: Span::ZERO })
    }

    fn required(
        &mut self,
        setup: &Setup,
        (kind, name): (&'static str, &str),
        from: NodeId,
        to: NodeId,
    ) -> Result<u32, SetupError> {
        let node = |node: NodeId| setup.nodes[node.0 as usize].clone();
        self.find(setup, from, to).ok_or_else(|| SetupError::Unreachable {
            kind,
            flow: name.to_string(),
            from: node(from),
            to: node(to),
        })
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
fn shortest(setup: &Setup, from: NodeId, to: NodeId) -> Option<Vec<u32>> {
    let mut best: Vec<Option<(u64, u32, u32)>> = vec![None; setup.nodes.len()];
    let mut frontier = BinaryHeap::from([Reverse((0_u64, 0_u32, from.0, u32::MAX))]);
    while let Some(Reverse((delay, hops, node, over))) = frontier.pop() {
        if best[node as usize].is_some() {
            continue;
        }
        best[node as usize] = Some((delay, hops, over));
        if node == to.0 {
            break;
        }
        for (index, link) in (0_u32..).zip(&setup.links) {
            if link.from.0 == node {
                let reached = delay.saturating_add(link.delay.as_nanos());
                frontier.push(Reverse((reached, hops + 1, link.to.0, index)));
            }
        }
    }
    best[to.0 as usize]?;
    let mut links = Vec::new();
    let mut node = to.0;
    while node != from.0 {
        let (_, _, over) = best[node as usize]?;
        links.push(over);
        node = setup.links[over as usize].from.0;
    }
    links.reverse();
    Some(links)
}
