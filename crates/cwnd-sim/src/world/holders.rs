//! The components that hold the memory of a run, for errors.

use super::World;
use crate::error::SetupPart;
use crate::net::setup::{LinkSetup, QueueLimit};
use crate::setup::Setup;

/// A component that holds memory of a run.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) bytes: u64,
    pub(crate) part: SetupPart,
    /// The kind of its contents in memory.
    pub(crate) what: &'static str,
    /// The remedy.
    pub(crate) remedy: &'static str,
}

impl Holder {
    /// The samples of a run.
    pub(crate) fn samples(bytes: u64) -> Self {
        let (part, what) = (SetupPart::Field("sampling"), "the samples of the run");
        Self { bytes, part, what, remedy: "take fewer samples" }
    }

    pub(crate) fn or_larger(self, other: Self) -> Self {
        if other.bytes > self.bytes { other } else { self }
    }
}

impl World {
    /// The holder of the most memory for packets: a link, or the access lines of flows.
    pub(crate) fn largest(&self, setup: &Setup) -> Holder {
        let links = (0..).zip(&setup.links).map(|(index, link)| self.held_by_link(index, link));
        links.fold(self.held_by_flows(setup), Holder::or_larger)
    }

    fn held_by_link(&self, index: usize, setup: &LinkSetup) -> Holder {
        let link = &self.links[index];
        let is_queue = 2 * link.waiting(self.now) >= link.in_transit().count();
        let (what, remedy) = match (is_queue, setup.rate, setup.queue) {
            (true, _, QueueLimit::Unlimited) => ("the packets in its queue", "give its queue a limit"),
            (true, ..) => ("the packets in its queue", "give its queue a lower limit"),
            (false, Some(_), _) => ("the packets on their way over it", "lower its rate or its delay"),
            (false, None, _) => ("the packets on their way over it", "give it a rate, and its queue a limit"),
        };
        Holder { bytes: link.memory(), part: SetupPart::Link(setup.name.clone()), what, remedy }
    }

    /// The flow, or the group, that has half of the packets on access lines; all flows if none has half.
    fn held_by_flows(&self, setup: &Setup) -> Holder {
        let of_one = setup.flows.len() + setup.cbr.len();
        let mut packets = vec![0; of_one + setup.flow_arrivals.len()];
        for (index, flow) in self.flows.iter().enumerate() {
            let member = flow.finite.as_ref().and_then(|finite| finite.member);
            let party = member.map_or(index, |member| of_one + member.group as usize);
            // A place without a flow is no party.
            if let Some(packets) = packets.get_mut(party).filter(|_| member.is_some() || index < of_one) {
                *packets += flow.access.in_transit(&self.departures);
            }
        }
        let all: usize = packets.iter().sum();
        let most = (0..packets.len()).max_by_key(|party| packets[*party]).filter(|party| 2 * packets[*party] >= all);
        let part = match most {
            Some(party) if party < setup.flows.len() => SetupPart::Flow(setup.flows[party].name.clone()),
            Some(party) if party < of_one => SetupPart::Cbr(setup.cbr[party - setup.flows.len()].name.clone()),
            Some(party) => SetupPart::FlowArrivals(setup.flow_arrivals[party - of_one].flow.name.clone()),
            None => SetupPart::Field("flows"),
        };
        let (what, remedy) = match part {
            SetupPart::Cbr(_) => ("the packets on its access line", "lower its rate"),
            SetupPart::FlowArrivals(_) => ("the packets on its access lines", "lower its load or its limit"),
            SetupPart::Flow(_) => (
                "the packets on its access line",
                "give a link on its way a rate and a queue with a limit, or the flow a largest window",
            ),
            _ => (
                "the packets on their access lines",
                "give the links on their way rates and queues with limits, or take fewer flows",
            ),
        };
        Holder { bytes: self.departures.charged(), part, what, remedy }
    }
}
