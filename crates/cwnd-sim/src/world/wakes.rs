//! Hosts that do not wake at once.

use cwnd::Time;

use super::World;
use crate::endpoint::Receiver;
use crate::events::Component;
use crate::flow::Flow;
use crate::net::packet::{Body, Packet};
use crate::protocol::Timers;
use crate::wakes::End;

impl World {
    /// Keeps a packet that has arrived until its host wakes; false if that does not wait.
    #[cold]
    pub(super) fn keep_for_host(&mut self, packet: &Packet) -> bool {
        let index = packet.flow;
        let wakes = self.flows[index as usize].wakes.as_mut();
        let Some(due) = wakes.and_then(|wakes| wakes.keep(self.now, packet)) else { return false };
        if due < Time::MAX {
            self.events.push(due, Component::Host(index));
        }
        true
    }

    /// The host of either end handles all arrivals since it woke last. A whole stack answers after the last packet.
    #[cold]
    pub(super) fn wake_hosts(&mut self, index: u32) {
        for end in End::BOTH {
            let flow = &mut self.flows[index as usize];
            let whole = matches!(flow.receiver, Receiver::Stack(_));
            let Some(wakes) = &mut flow.wakes else { return };
            let mut packets = wakes.take(self.now, end);
            let last = packets.len().saturating_sub(1);
            for (place, packet) in packets.iter_mut().enumerate() {
                match packet.body {
                    Body::Datagram(datagram) if whole && place < last => {
                        self.hand_to_stack(packet, &datagram);
                    }
                    _ => self.arrive_awake(packet),
                }
            }
        }
    }

    /// A whole stack reads all arrivals before it looks at its timers, as event loops do.
    #[cold]
    pub(super) fn read_before_timers(&mut self, index: u32) {
        if let Receiver::Stack(_) = self.flows[index as usize].receiver {
            self.wake_hosts(index);
        }
    }

    /// The timers of a sender by the clock of its host.
    #[cold]
    pub(super) fn by_clock(flow: &Flow, timers: Timers) -> Timers {
        let expiry = |due| flow.expiry(due, End::Sender);
        Timers { release: expiry(timers.release), deadline: expiry(timers.deadline) }
    }
}
