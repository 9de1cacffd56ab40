//! The datagrams of whole stacks.

use cwnd::{Bytes, Time};

use super::World;
use crate::endpoint::Sender;
use crate::net::packet::{Body, Datagram, Ecn, Packet};
use crate::net::route::Step;
use crate::stack::{Failure, Host};
use crate::wakes::End;

impl World {
    /// A flow whose stack has panicked, with the panic.
    pub(crate) fn failed_stack(&self) -> Option<(u32, &Failure)> {
        self.stacks.iter().find_map(|index| match &self.flows[*index as usize].sender {
            Sender::Stack(host) => Some((*index, host.failure()?)),
            _ => None,
        })
    }

    /// A datagram arrives at either end, which may answer.
    #[cold]
    pub(super) fn arrive_at_stack(&mut self, packet: &Packet, datagram: &Datagram) {
        let (index, now) = (packet.flow, self.now);
        let datagram = self.digested(packet, datagram);
        let marked = datagram.marked;
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

    /// A datagram arrives at either end, which answers after one to come.
    pub(super) fn hand_to_stack(&mut self, packet: &Packet, datagram: &Datagram) {
        let now = self.now;
        let datagram = self.digested(packet, datagram);
        let flow = &mut self.flows[packet.flow as usize];
        if datagram.to_receiver {
            flow.marked += u64::from(datagram.marked);
        } else {
            flow.answers -= 1;
        }
        self.with_stack(packet.flow, |host| host.read(now, &datagram));
    }

    /// Adds the arrival of a datagram to the digest, and returns it with the mark of its packet.
    fn digested(&mut self, packet: &Packet, datagram: &Datagram) -> Datagram {
        let flow = u64::from(packet.flow);
        self.digest.mix(self.now.as_nanos());
        self.digest.mix(flow << 40 ^ u64::from(datagram.bytes) << 1 ^ u64::from(datagram.to_receiver));
        Datagram { marked: packet.ecn == Ecn::Congestion, ..*datagram }
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
                Step::End => self.arrive(&mut packet),
            }
        }
        let due = self.with_stack(index, |host| host.receiver_timeout(now)).unwrap_or(Time::MAX);
        let due = self.flows[index as usize].expiry(due, End::Receiver);
        self.events.set_receiver_if_earlier(index, due);
    }

    fn with_stack<R>(&mut self, index: u32, call: impl FnOnce(&mut Host) -> R) -> Option<R> {
        if let Sender::Stack(host) = &mut self.flows[index as usize].sender { Some(call(host)) } else { None }
    }
}
