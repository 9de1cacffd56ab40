//! The invariants at the end of a run, and its digest.

use super::World;
use crate::endpoint::Sender;

impl World {
    /// Conservation: each sent packet is delivered, dropped or in flight, for every flow and every link.
    ///
    /// # Panics
    /// If a packet appeared or vanished: an error in this crate that no setup can cause.
    pub(crate) fn audit(&self) {
        // Of each flow: data packets, and others.
        let on_access = (0..).zip(&self.flows).map(|(index, flow)| {
            let others = self.other_bodies.answers(index);
            (flow.access.in_transit(&self.departures) as u64 - u64::from(others), others)
        });
        let mut in_network: Vec<(u64, u32)> = on_access.collect();
        let on_links = self.links.iter().flat_map(|link| link.in_transit().chain(link.copy().copied()));
        let at_hosts = self.flows.iter().filter_map(|flow| flow.wakes.as_ref()).flat_map(|wakes| wakes.waiting());
        for packet in on_links.chain(at_hosts.copied()) {
            let (data, others) = &mut in_network[packet.flow as usize];
            if packet.body.is_data() {
                *data += 1;
            } else {
                *others += 1;
            }
        }
        for link in &self.links {
            let counts = link.counts;
            let inside = link.in_transit().count() as u64;
            assert_eq!(
                counts.offered,
                counts.dropped + counts.lost + counts.carried + inside,
                "a link conserves packets"
            );
        }
        for (flow, (data, others)) in self.flows.iter().zip(in_network) {
            assert_eq!(flow.in_network(), data, "a flow conserves packets");
            assert_eq!(flow.answers, others, "a flow conserves acknowledgements");
            if let Sender::Stack(host) = &flow.sender {
                assert_eq!(
                    host.live(),
                    [data, others.into()],
                    "what datagrams contain is kept as long as they are in the network"
                );
            }
        }
    }

    pub(crate) fn final_digest(&self) -> u64 {
        let mut digest = self.digest;
        for flow in &self.flows {
            let counts = flow.sender.state().counts();
            for value in [counts.sent, counts.retransmitted, counts.lost, counts.timeouts, flow.delivered, flow.marked]
            {
                digest.mix(value);
            }
        }
        for group in &self.flow_arrivals {
            for value in [group.tally.arrived, group.tally.refused, group.tally.completed, group.tally.past.sent] {
                digest.mix(value);
            }
        }
        for link in &self.links {
            for value in [link.counts.offered, link.counts.dropped, link.counts.lost, link.counts.marked] {
                digest.mix(value);
            }
        }
        digest.value()
    }
}
