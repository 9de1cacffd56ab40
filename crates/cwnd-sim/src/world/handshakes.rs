//! Handshakes before the first data of flows.

use cwnd::Time;

use super::World;
use crate::events::Component;
use crate::handshake::Handshake;
use crate::net::packet::{Body, Ecn, HandshakePacket, Packet};
use crate::net::route::Step;
use crate::protocol::SenderProtocol;

impl World {
    /// Prepares the handshake of a new flow. Its sender handles no answer ahead of time until the handshake is complete.
    pub(super) fn set_handshake(&mut self, index: u32, handshake: Option<Handshake>) {
        let ahead = self.may_be_ahead(&self.flows[index as usize]);
        match handshake {
            Some(mut handshake) => {
                handshake.ahead = ahead;
                self.handshakes.insert(index, handshake);
            }
            None => {
                self.handshakes.remove(&index);
                self.flows[index as usize].ahead = ahead;
            }
        }
    }

    /// Starts a flow with its handshake, or with data.
    pub(super) fn start(&mut self, index: u32) {
        if self.handshakes.contains_key(&index) {
            self.shake_hands(index);
        } else {
            self.poll_sender(index);
        }
    }

    /// Sends the packet of a handshake if one is due, and sets the timer that sends it again.
    #[cold]
    pub(super) fn shake_hands(&mut self, index: u32) {
        let now = self.now;
        let Some(handshake) = self.handshakes.get_mut(&index) else { return };
        let Some(packet) = handshake.packet(now) else { return };
        let due = handshake.due();
        let flow = &mut self.flows[index as usize];
        let idle = flow.access.next() == Time::MAX;
        flow.answers += 1;
        self.other_bodies.put(index, Body::Handshake(packet));
        flow.access.offer(&mut self.departures, now, None);
        if idle {
            self.events.set_access(index, flow.access.next());
        }
        self.events.push(due, Component::Handshake(index));
    }

    /// A handshake packet arrives at either end.
    #[cold]
    pub(super) fn arrive_at_handshake(&mut self, packet: &mut Packet, handshake: HandshakePacket) {
        if !handshake.to_receiver {
            return self.answer_handshake(packet.flow, &handshake);
        }
        let flow = &self.flows[packet.flow as usize];
        (packet.hop, packet.size, packet.ecn) = (flow.reverse, flow.ack, Ecn::NotCapable);
        packet.body = Body::Handshake(HandshakePacket { to_receiver: false, ..handshake });
        match self.routes.step(packet.hop) {
            Step::Link(link) => self.forward_to(link, packet),
            // Both ends of the flow are at one node.
            Step::End => self.answer_handshake(packet.flow, &handshake),
        }
    }

    /// The answer of the receiver arrives at the sender.
    fn answer_handshake(&mut self, index: u32, answer: &HandshakePacket) {
        let now = self.now;
        let flow = &mut self.flows[index as usize];
        flow.answers -= 1;
        let sample = self.handshakes.get_mut(&index).and_then(|handshake| {
            let rtt = handshake.on_answer(now, answer)?;
            Some((rtt, handshake.restarted(), handshake.is_done(), handshake.ahead))
        });
        match sample {
            Some((rtt, restarted, done, ahead)) => {
                flow.sender.on_handshake(now, rtt, restarted);
                if done {
                    flow.ahead = ahead;
                    self.poll_sender(index);
                } else {
                    self.shake_hands(index);
                }
            }
            None => self.look_for_end(index),
        }
    }
}
