//! The hosts at the ends of flows, and what a host's flows may send together: the isolation of hosts in [`cake`](super::cake).
//!
//! A flow that nobody has [assigned](HostShares::assign) to hosts has two of its own.

use std::collections::BTreeMap;

use crate::net::setup::{HostPair, Isolation};
use crate::random::Stream;

/// The places of a source and of a destination in the tables of hosts; [`OWN`] is a host of the flow's own.
pub(super) type Ends = [u32; 2];

/// A host that one flow alone has.
pub(super) const OWN: u32 = u32::MAX;

/// The hosts of flows, and how many queues of each take turns.
#[derive(Debug)]
pub(super) struct HostShares {
    isolation: Isolation,
    /// Places of hosts, by the number that setups give them.
    places: BTreeMap<u32, u32>,
    /// The hosts of each flow up to the last one assigned.
    flows: Vec<Ends>,
    /// The number of queues in the round of bulk flows, of each source and of each destination.
    bulk: [Vec<u32>; 2],
    dither: Stream,
}

impl HostShares {
    /// No flow is assigned.
    pub(super) fn new(isolation: Isolation, dither: Stream) -> Self {
        Self { isolation, places: BTreeMap::new(), flows: Vec::new(), bulk: [Vec::new(), Vec::new()], dither }
    }

    /// Gives a flow its hosts. Whether they decide on its queue.
    pub(super) fn assign(&mut self, flow: u32, hosts: HostPair) -> bool {
        let index = flow as usize;
        if self.isolation == Isolation::Flows || (hosts == HostPair::default() && index >= self.flows.len()) {
            return false;
        }
        if index >= self.flows.len() {
            self.flows.resize(index + 1, [OWN; 2]);
        }
        let [source, destination] = self.isolation.reads();
        let read = [hosts.source.filter(|_| source), hosts.destination.filter(|_| destination)];
        self.flows[index] = read.map(|host| host.map_or(OWN, |host| self.place_of(host)));
        self.isolation.queues_hosts()
    }

    fn place_of(&mut self, host: u32) -> u32 {
        let next = self.places.len() as u32;
        let place = *self.places.entry(host).or_insert(next);
        if place == next {
            self.bulk.iter_mut().for_each(|bulk| bulk.push(0));
        }
        place
    }

    /// The hosts of a flow.
    #[inline]
    pub(super) fn of(&self, flow: u32) -> Ends {
        self.flows.get(flow as usize).copied().unwrap_or([OWN; 2])
    }

    /// What flows that share a queue have in common, before the hash.
    pub(super) fn key(&self, flow: u32) -> u64 {
        let [source, destination] = self.of(flow).map(|host| if host == OWN { flow } else { SHARED | host });
        match self.isolation {
            Isolation::SrcHost => u64::from(source),
            Isolation::DstHost => u64::from(destination),
            Isolation::Hosts if source != flow || destination != flow => {
                u64::from(source) << 32 | u64::from(destination)
            }
            _ => u64::from(flow),
        }
    }

    /// A queue of these hosts joins the round of bulk flows.
    pub(super) fn join(&mut self, ends: Ends) {
        self.each(ends, |bulk| *bulk += 1);
    }

    /// A queue of these hosts leaves that round.
    pub(super) fn leave(&mut self, ends: Ends) {
        self.each(ends, |bulk| *bulk -= 1);
    }

    fn each(&mut self, ends: Ends, change: impl Fn(&mut u32)) {
        for (bulk, host) in self.bulk.iter_mut().zip(ends) {
            if let Some(bulk) = bulk.get_mut(host as usize) {
                change(bulk);
            }
        }
    }

    /// What a queue of these hosts may send in its next turn, of a whole `quantum`: its share of the host that has more queues in the round
    /// (`cake_get_flow_quantum`). Rounding is up or down at random, so that small shares are right on average.
    #[inline]
    pub(super) fn quantum(&mut self, quantum: u32, ends: Ends) -> i64 {
        if ends == [OWN; 2] {
            return i64::from(quantum);
        }
        let weighs = self.isolation.weighs_hosts();
        let counts = self.bulk.iter().zip(ends).zip(weighs).filter(|(_, weighs)| *weighs);
        let load = counts.filter_map(|((bulk, host), _)| bulk.get(host as usize)).max().map_or(1, |load| *load);
        if load <= 1 {
            return i64::from(quantum);
        }
        // `quantum_div`, in units of 2^-16.
        let part = u64::from(quantum) * u64::from(u32::from(u16::MAX) / load) + self.dither.below(1 << 16);
        (part >> 16) as i64
    }
}

/// Keys of hosts are apart from those of flows, of which there are fewer.
const SHARED: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(source: u32, destination: u32) -> HostPair {
        HostPair { source: Some(source), destination: Some(destination) }
    }

    fn shares(isolation: Isolation) -> HostShares {
        let mut shares = HostShares::new(isolation, Stream::new(1, "hosts"));
        // A server sends to two hosts, and one of these to another server. Flow 3 has hosts of its own.
        for (flow, hosts) in (0..).zip([pair(7, 1), pair(7, 2), pair(9, 2), HostPair::default()]) {
            shares.assign(flow, hosts);
        }
        shares
    }

    #[test]
    fn flows_of_one_host_share_a_key() {
        let equal = |isolation| {
            let shares = shares(isolation);
            let keys: Vec<u64> = (0..4).map(|flow| shares.key(flow)).collect();
            assert_eq!(keys[3], 3, "{isolation:?}");
            [(0, 1), (1, 2), (0, 2)].map(|(first, second)| keys[first] == keys[second])
        };
        assert_eq!(equal(Isolation::SrcHost), [true, false, false]);
        assert_eq!(equal(Isolation::DstHost), [false, true, false]);
        for isolation in [Isolation::Hosts, Isolation::Flows, Isolation::DualSrcHost, Isolation::TripleIsolate] {
            assert_eq!(equal(isolation), [false; 3], "{isolation:?}");
        }
    }

    #[test]
    fn a_host_that_is_not_read_changes_nothing() {
        for isolation in Isolation::ALL {
            let ends = |strip: bool| {
                let mut shares = HostShares::new(isolation, Stream::new(1, "hosts"));
                let kept = isolation.reads().map(|read| read || !strip);
                for (flow, HostPair { source, destination }) in (0..).zip([pair(7, 1), pair(9, 2), pair(7, 2)]) {
                    let [source, destination] = [source.filter(|_| kept[0]), destination.filter(|_| kept[1])];
                    shares.assign(flow, HostPair { source, destination });
                }
                [0, 1, 2].map(|flow| (shares.of(flow), shares.key(flow)))
            };
            assert_eq!(ends(false), ends(true), "{isolation:?}");
        }
    }

    #[test]
    fn a_quantum_is_divided_by_the_queues_of_a_host() {
        // Queues of flows 0, 0, 1 and 2 in the round: the server 7 has three, host 2 has two.
        let quanta = |isolation| {
            let mut shares = shares(isolation);
            for flow in [0, 0, 1, 2] {
                let ends = shares.of(flow);
                shares.join(ends);
            }
            let mean = |shares: &mut HostShares, flow| {
                let ends = shares.of(flow);
                (0..4096).map(|_| shares.quantum(1001, ends)).sum::<i64>() as f64 / 4096.0
            };
            [0, 1, 2, 3].map(|flow| mean(&mut shares, flow))
        };
        let [third, half] = [1001.0 / 3.0, 1001.0 / 2.0];
        for (isolation, expected) in [
            (Isolation::Flows, [1001.0; 4]),
            (Isolation::Hosts, [1001.0; 4]),
            (Isolation::DualSrcHost, [third, third, 1001.0, 1001.0]),
            (Isolation::DualDstHost, [half, half, half, 1001.0]),
            (Isolation::TripleIsolate, [third, third, half, 1001.0]),
        ] {
            let found = quanta(isolation);
            let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.05);
            assert!(close, "{isolation:?}: {found:?}");
        }
    }
}
