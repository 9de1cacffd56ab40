//! Endpoints of the author's ns-2 agents of UDT: sender and receiver without the [rule](udt::Agent) that sets rate and window.
//!
//! They are simpler than the protocol of the wire and keep the habits of their releases, mistakes included, as data
//! ([`Habits`](udt::Habits)). Their timers run from the time 0, whenever a flow starts, and rates are reported as whole numbers. Every
//! packet that arrives counts as delivered, because the author's scripts count so. An ACK has the size of the flow's acknowledgements, and
//! other control packets have that of the agents ([`size`]).

mod gaps;
pub(crate) mod message;
mod receiver;
mod sender;
#[cfg(test)]
mod steps;
mod trend;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::rate::udt;
use cwnd::{Bytes, Span, Time};

pub(crate) use message::Message;
pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use crate::net::packet::Body;
use crate::setup::FlowSetup;
use crate::traffic::source::Backlog;

/// The lists of NAKs on their way, which are too long for a [`Packet`](crate::net::packet::Packet).
#[derive(Clone, Debug, Default)]
struct Lists(Arc<Mutex<VecDeque<List>>>);

/// Its number, and the packets it names.
type List = (u32, Vec<u64>);

impl Lists {
    fn put(&self, list: u32, numbers: Vec<u64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back((list, numbers));
    }

    /// A list; those before it have been lost on the way.
    fn take(&self, list: u32) -> Vec<u64> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((number, numbers)) = lists.pop_front() {
            if number == list {
                return numbers;
            }
        }
        Vec::new()
    }
}

/// Both ends of a flow that starts at `now` under `rule`.
pub(crate) fn ends(setup: &FlowSetup, rule: udt::Agent, backlog: Backlog, now: Time) -> (Sender, Receiver) {
    let lists = Lists::default();
    let receiver = Receiver::new(*rule.habits(), lists.clone());
    (Sender::new(setup, rule, (backlog, lists), now), receiver)
}

/// The size that the agents give a control packet, bytes; none for an ACK.
pub(crate) fn size(habits: &udt::Habits, body: &Body) -> Option<Bytes> {
    const HEADER: u32 = 32;
    match body {
        // A byte per number on its list; a number of 4 bytes, or the ends of a range.
        Body::Agent(Message::Nak { count, .. }) if habits.lists_numbers => Some(Bytes(HEADER + count)),
        Body::Agent(Message::Nak { count, .. }) => Some(Bytes(HEADER + 4 * (*count).min(2))),
        Body::Agent(Message::DelayWarning) | Body::ToReceiver(_) => Some(Bytes(HEADER)),
        _ => None,
    }
}

/// The first multiple of a SYN after `now`.
fn after_syn(now: Time) -> Time {
    Time::ZERO + udt::SYN * (now.as_nanos() / udt::SYN.as_nanos() + 1)
}

/// A time in seconds, as the agents reckon.
fn seconds(secs: f64) -> Span {
    Span::from_secs_f64(secs)
}

/// A round trip smoothed as the agents do: the first sample replaces a round trip of exactly a SYN, which 1.1 and 2.0 start with.
fn smoothed(rtt: f64, sample: f64) -> f64 {
    if rtt == udt::SYN.as_secs_f64() { sample } else { rtt * 0.875 + sample * 0.125 }
}
