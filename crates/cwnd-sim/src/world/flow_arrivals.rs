//! Flows that come and go.

use cwnd::Time;

use super::World;
use crate::events::Component;
use crate::flow::Armed;

impl World {
    /// Starts the flows of a group that are requested now.
    pub(super) fn arrivals(&mut self, index: u32) {
        self.events.pop();
        if self.flow_arrivals[index as usize].armed != self.now {
            return;
        }
        self.flow_arrivals[index as usize].armed = Time::MAX;
        let mut requests = std::mem::take(&mut self.requests);
        while self.flow_arrivals[index as usize].due() <= self.now {
            let group = &mut self.flow_arrivals[index as usize];
            group.pass(&mut requests);
            for request in requests.drain(..) {
                let group = &mut self.flow_arrivals[index as usize];
                if let Some((flow, handshake)) = group.open(index, self.now, request, self.now >= self.measure_from) {
                    if flow.sender.notes_packets() {
                        self.departures.charge_notes();
                    }
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
                    let (hosts, routes) = self.flow_arrivals[index as usize].ends();
                    self.assign(place, hosts, routes);
                    self.set_handshake(place, handshake);
                    self.start(place);
                }
            }
        }
        self.requests = requests;
        self.arm_arrivals(index);
    }

    pub(super) fn arm_arrivals(&mut self, index: u32) {
        let group = &mut self.flow_arrivals[index as usize];
        let due = group.due();
        if due < group.armed {
            group.armed = due;
            self.events.push(due, Component::Arrival(index));
        }
    }

    /// The last packet of a finite flow has arrived.
    #[cold]
    pub(super) fn complete(&mut self, index: u32) {
        let Some(finite) = &mut self.flows[index as usize].finite else { return };
        let after = finite.arrive(self.now);
        if let Some(member) = finite.member {
            self.flow_arrivals[member.group as usize].complete(self.now, finite.size, after, member);
            self.arm_arrivals(member.group);
        }
    }

    /// Checks whether a finite flow has ended, after one of the conditions for it became true.
    ///
    /// A flow of a group ends once none of its packets is in the network: the next flow in its place must not receive them.
    pub(super) fn look_for_end(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Some(finite) = &mut flow.finite else { return };
        if flow.sender.state().acked() < finite.size {
            return;
        }
        let (after, first) = finite.acknowledge(self.now);
        let (size, Some(member)) = (finite.size, finite.member) else { return };
        let group = &mut self.flow_arrivals[member.group as usize];
        if first {
            group.acknowledge(size, after, member);
        }
        if flow.is_gone() {
            group.close(flow);
            flow.finite = None;
            // Pending events of the old flow are ignored.
            flow.armed = Armed::NONE;
            self.events.set_receiver(index, Time::MAX);
            self.free.push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use cwnd::{Span, Spec};

    use super::*;
    use crate::recorder::Recorder;
    use crate::{Dumbbell, Era, FlowArrivalsSetup, Interarrival, QueueLimit, Sizes};

    #[test]
    fn places_are_used_again() {
        let bell = Dumbbell::new(100_000_000, Span::from_millis(20), QueueLimit::Packets(50));
        let spec = Spec::parse("reno").expect("registered");
        let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(20), Span::ZERO, 1);
        setup.flow_arrivals = vec![FlowArrivalsSetup {
            flow: setup.flows[0].clone(),
            gap: Interarrival::Constant(Span::from_millis(2)),
            sizes: Sizes::Constant(10),
            pages: None,
            rtt_spread: Span::ZERO,
            limit: const { NonZeroU32::new(1000).expect("above zero") },
        }];
        let mut world = World::new(&setup).expect("valid");
        let mut recorder = Recorder::new(&setup, &world);
        world.record(&recorder);
        assert!(world.simulate(Time::ZERO + setup.duration, &mut recorder, &mut |_, _| true));
        world.audit();
        let tally = &world.flow_arrivals[0].tally;
        assert!(tally.arrived > 9000, "{}", tally.arrived);
        // A flow lasts some 30 ms: 15 at once on average, and a Poisson number seldom reaches three times its mean.
        assert!((10..80).contains(&world.flows.len()), "{} places", world.flows.len());
        assert_eq!(world.flows.len() - 1 - world.free.len(), tally.present as usize);
        assert!(tally.arrived - tally.completed <= u64::from(tally.present));
        // Events of flows that have ended stay until their time: at most a timeout long.
        assert!(world.events.timers() < 2000, "{} events", world.events.timers());
    }
}
