//! The traffic that crosses each link.

use cwnd_sim::{CheckedSetup, Class, FlowSetup, HostPair, LinkId, LinkSetup, SetupError, Sizes, Source as Traffic};
use serde_json::{Map, Value};

use crate::scenario::document::Document;

/// The traffic that crosses the links.
pub(super) struct Paths<'a> {
    pub(super) setup: &'a CheckedSetup,
    pub(super) parties: Vec<Party<'a>>,
}

/// An entry of `[[flow]]`, of `[[arrivals]]` or of `[[cbr]]`.
pub(super) struct Party<'a> {
    /// Its key.
    pub(super) key: String,
    /// What it sets.
    pub(super) own: Map<String, Value>,
    /// None without congestion control.
    pub(super) flow: Option<&'a FlowSetup>,
    pub(super) class: Class,
    pub(super) hosts: HostPair,
    /// The size of each of its flows in packets, if all are equal.
    pub(super) packets: Option<u64>,
    /// The largest number of its flows at once.
    pub(super) count: u32,
    /// The links that its data and its acknowledgements cross.
    pub(super) ways: [Vec<LinkId>; 2],
}

impl<'a> Paths<'a> {
    pub(super) fn of(document: &Document, setup: &'a CheckedSetup) -> Result<Self, SetupError> {
        let written = |group: Result<Value, serde_json::Error>| match group {
            Ok(Value::Object(keys)) => keys,
            _ => Map::new(),
        };
        // The members of a group are alike.
        let first = |counts: &mut dyn Iterator<Item = u32>| -> Vec<usize> {
            let begins = counts.scan(0, |next, count| {
                let begin = *next;
                *next += count as usize;
                Some(begin)
            });
            begins.collect()
        };
        let flows = first(&mut document.flow.iter().map(|group| group.count));
        let of_flow = |flow: &'a FlowSetup| match flow.source {
            Traffic::Packets(packets) => (flow, Some(packets)),
            _ => (flow, None),
        };
        let arriving_packets = |sizes: &Sizes| match *sizes {
            Sizes::Constant(packets) => Some(packets),
            Sizes::Pareto { .. } => None,
        };
        let flow_arrivals = setup.flow_arrivals.iter().map(|group| (&group.flow, arriving_packets(&group.sizes)));
        let flows: Vec<(&FlowSetup, Option<u64>)> =
            flows.iter().map(|first| of_flow(&setup.flows[*first])).chain(flow_arrivals).collect();
        let keys = |table: &'static str, count| (0..count).map(move |index| format!("{table}.{index}"));
        let keys_of_flows = keys("flow", document.flow.len()).chain(keys("arrivals", document.arrivals.len()));
        let groups = document.flow.iter().map(|group| (group.count, written(serde_json::to_value(group))));
        let flow_arrivals = document.arrivals.iter().map(|group| (group.limit, written(serde_json::to_value(group))));
        let ways = setup.ways(flows.iter().map(|(flow, _)| *flow))?;
        let controlled = keys_of_flows.zip(groups.chain(flow_arrivals)).zip(flows.into_iter().zip(ways));
        let controlled = controlled.map(|((key, (count, own)), ((flow, packets), ways))| Party {
            key,
            own,
            flow: Some(flow),
            class: flow.class,
            hosts: flow.hosts,
            packets,
            count,
            ways,
        });
        let paths = setup.cbr_paths()?;
        let first = first(&mut document.cbr.iter().map(|group| group.count));
        let others = keys("cbr", document.cbr.len()).zip(&document.cbr).zip(first).map(|((key, group), first)| Party {
            key,
            own: written(serde_json::to_value(group)),
            flow: None,
            class: setup.cbr[first].class,
            hosts: setup.cbr[first].hosts,
            packets: None,
            count: group.count,
            ways: [paths[first].clone(), Vec::new()],
        });
        Ok(Self { setup, parties: controlled.chain(others).collect() })
    }

    /// Those with congestion control.
    pub(super) fn flows(&self) -> impl Iterator<Item = (&Party<'a>, &'a FlowSetup)> {
        self.parties.iter().filter_map(|party| Some((party, party.flow?)))
    }

    /// Those whose data crosses the link.
    pub(super) fn forward(&self, link: usize) -> impl Iterator<Item = &Party<'a>> {
        self.parties.iter().filter(move |party| party.ways[0].contains(&LinkId(link as u32)))
    }

    /// Those whose acknowledgements cross the link.
    pub(super) fn backward(&self, link: usize) -> impl Iterator<Item = &Party<'a>> {
        self.parties.iter().filter(move |party| party.ways[1].contains(&LinkId(link as u32)))
    }

    /// Those whose data or acknowledgements cross the link.
    pub(super) fn crossing(&self, link: usize) -> impl Iterator<Item = &Party<'a>> {
        let link = LinkId(link as u32);
        self.parties.iter().filter(move |party| party.ways.iter().any(|way| way.contains(&link)))
    }

    pub(super) fn links_of<'b>(&self, way: &'b [LinkId]) -> impl Iterator<Item = &'a LinkSetup> + use<'a, 'b> {
        let setup: &'a CheckedSetup = self.setup;
        way.iter().map(|link| &setup.links[link.0 as usize])
    }
}
