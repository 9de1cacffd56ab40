//! Acknowledgements that leave together, as behind a radio or cable link that has to wait before it sends.

use std::collections::VecDeque;

use cwnd::{Span, Time};

use super::receiver::Receiver;
use crate::net::packet::{Ack, Body, Data};
use crate::protocol::{Received, ReceiverProtocol};

/// A receiver whose acknowledgements wait for one another. The first one waits for a fixed time, the others leave with it: none
/// is lost or merged, but those of up to this much data reach the sender at once.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    receiver: Receiver,
    interval: Span,
    due: Time,
    waiting: VecDeque<Ack>,
}

impl Aggregate {
    /// Holds back what `receiver` sends, for `interval`.
    pub(crate) fn new(receiver: Receiver, interval: Span) -> Self {
        Self { receiver, interval, due: Time::MAX, waiting: VecDeque::new() }
    }

    fn hold(&mut self, now: Time, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        if self.waiting.is_empty() {
            self.due = now + self.interval;
        }
        self.waiting.push_back(ack);
    }
}

impl ReceiverProtocol for Aggregate {
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, _answer: &mut Body) -> Received {
        let (new, ack) = self.receiver.on_data(now, data, marked);
        self.hold(now, ack);
        Received { new, answered: false }
    }

    fn handle_lost_ect(&mut self) {
        self.receiver.handle_lost_ect();
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        let delayed = self.receiver.on_timer(now);
        self.hold(now, delayed);
        let ack = if self.due <= now { self.waiting.pop_front() } else { None };
        if self.waiting.is_empty() {
            self.due = Time::MAX;
        }
        ack.map(Body::Ack)
    }

    /// When the acknowledgements that wait are due, or one that the receiver itself delays.
    fn next_timeout(&self) -> Time {
        self.due.min(self.receiver.next_timeout())
    }
}
