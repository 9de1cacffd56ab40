//! The datagrams of whole stacks.

use cwnd::{Bytes, Time};

use super::World;
use crate::endpoint::Sender;
use crate::net::packet::{Body, Datagram, Ecn, Packet};
use crate::net::route::Step;
use crate::stack::{Failure, Host};

impl World {
    /// A flow whose stack has panicked, with the panic.
    pub(crate) fn failed_stack(&self) -> Option<(u32, &Failure)> {
        self.stacks.iter().find_map(|index| match &self.flows[*index as usize].sender {
            Sender::Stack(host) => Some((*index, host.failure()?)),
            _ => None,
        })
    }

    /// A datagram arrives at either end.
    #[cold]
    pub(super) fn arrive_at_stack(&mut self, packet: &Packet, datagram: &Datagram) {
        let (index, now) = (packet.flow, self.now);
        let marked = packet.ecn == Ecn::Congestion;
        let datagram = Datagram { marked, ..*datagram };
        self.digest.mix(now.as_nanos());
        self.digest.mix(u64::from(index) << 40 ^ u64::from(datagram.bytes) << 1 ^ u64::from(datagram.to_receiver));
        if !datagram.to_receiver {
            return self.arrive_at_sender(index, &Body::Datagram(datagram));
        }
        let mut sent = Vec::new();
        self.with_stack(index, |host| host.receive(now, &datagram, &mut sent));
        let flow = &mut self.flows[index as usize];
        flow.marked += u64::from(marked);
        if let Sender::Stack(host) = &flow.sender {
            flow.delivered = host.delivered();
        }
        let complete = |size| flow.delivered >= size;
        if flow.finite.as_ref().is_some_and(|finite| finite.arrived().is_none() && complete(finite.size)) {
            self.complete(index);
        }
        self.send_back(index, sent);
    }

    /// The timer of a stack's receiver may be due.
    #[cold]
    pub(super) fn wake_stack(&mut self, index: u32) {
        let (now, mut sent) = (self.now, Vec::new());
        self.with_stack(index, |host| host.wake_receiver(now, &mut sent));
        self.send_back(index, sent);
    }

    /// Sends the datagrams of a stack's receiver, and sets its timer.
    fn send_back(&mut self, index: u32, sent: Vec<Datagram>) {
        let now = self.now;
        for datagram in sent {
            let flow = &mut self.flows[index as usize];
            flow.answers += 1;
            let (hop, ecn, class, body) = (flow.reverse, datagram.ecn(), flow.class, Body::Datagram(datagram));
            let size = Bytes(datagram.bytes);
            let mut packet = Packet { due: now, flow: index, hop, size, ecn, class, body };
            match self.routes.step(hop) {
                Step::Link(link) => self.forward_to(link, &mut packet),
                // Both ends of the flow are at one node.
                Step::End => self.arrive_at_sender(index, &packet.body),
            }
        }
        let due = self.with_stack(index, |host| host.receiver_timeout(now)).unwrap_or(Time::MAX);
        let armed = &mut self.flows[index as usize].armed;
        if due < armed.receiver {
            armed.receiver = due;
            self.events.set_receiver(index, due);
        }
    }

    fn with_stack<R>(&mut self, index: u32, call: impl FnOnce(&mut Host) -> R) -> Option<R> {
        if let Sender::Stack(host) = &mut self.flows[index as usize].sender { Some(call(host)) } else { None }
    }
}
