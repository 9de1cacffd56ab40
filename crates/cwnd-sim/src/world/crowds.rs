//! Flows that come and go.

use cwnd::Time;

use super::World;
use crate::events::Component;
use crate::flow::Armed;

impl World {
    /// Lets in the flows of a crowd that are asked for now.
    pub(super) fn arrivals(&mut self, index: u32) {
        self.events.pop();
        if self.crowds[index as usize].armed != self.now {
            return;
        }
        self.crowds[index as usize].armed = Time::MAX;
        let mut requests = std::mem::take(&mut self.requests);
        while self.crowds[index as usize].due() <= self.now {
            let crowd = &mut self.crowds[index as usize];
            crowd.pass(&mut requests);
            for request in requests.drain(..) {
                let crowd = &mut self.crowds[index as usize];
                if let Some(flow) = crowd.open(index, self.now, request, self.now >= self.measure_from) {
                    let place = match self.free.pop() {
                        Some(place) => {
                            self.flows[place as usize] = flow;
                            place
                        }
                        None => {
                            self.flows.push(flow);
                            self.flows.len() as u32 - 1
                        }
                    };
                    self.pump(place);
                }
            }
        }
        self.requests = requests;
        self.arm_crowd(index);
    }

    pub(super) fn arm_crowd(&mut self, index: u32) {
        let crowd = &mut self.crowds[index as usize];
        let due = crowd.due();
        if due < crowd.armed {
            crowd.armed = due;
            self.events.push(due, Component::Arrival(index));
        }
    }

    /// The last packet of a finite flow has arrived.
    #[cold]
    pub(super) fn complete(&mut self, index: u32) {
        let Some(finite) = &mut self.flows[index as usize].finite else { return };
        let after = self.now.since(finite.start);
        finite.arrived = Some(after);
        if let Some(member) = finite.member {
            self.crowds[member.crowd as usize].complete(self.now, finite.size, after, member);
            self.arm_crowd(member.crowd);
        }
    }

    /// Something came to an end that the end of a finite flow may have waited for.
    ///
    /// A flow of a crowd is gone only when nothing of it is left anywhere: its place then goes to another flow, which must not
    /// meet its packets.
    pub(super) fn look_for_end(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Some(finite) = &mut flow.finite else { return };
        if flow.sender.acked() < finite.size {
            return;
        }
        let after = self.now.since(finite.start);
        let first = finite.acknowledged.is_none();
        finite.acknowledged.get_or_insert(after);
        let (size, Some(member)) = (finite.size, finite.member) else { return };
        let crowd = &mut self.crowds[member.crowd as usize];
        if first {
            crowd.acknowledge(size, after, member);
        }
        if flow.is_gone() {
            crowd.close(flow);
            flow.finite = None;
            // Events still pending are out of date.
            flow.armed = Armed::NONE;
            self.free.push(index);
        }
    }
}
