//! The ends of traffic without congestion control.

use cwnd::Time;
use cwnd::host::Counts;

use crate::net::packet::{Body, Data};
use crate::protocol::{Received, ReceiverProtocol, SenderProtocol, SenderState, Timers};
use crate::recent::Recent;
use crate::traffic::source::Backlog;

/// Sends packets by a schedule.
#[derive(Debug)]
pub(crate) struct Sender {
    backlog: Backlog,
    next: u64,
}

/// Only counts.
#[derive(Debug)]
pub(crate) struct Receiver(pub(crate) Recent);

impl Sender {
    /// A sender of what `backlog` hands over.
    pub(crate) fn new(backlog: Backlog) -> Self {
        Self { backlog, next: 0 }
    }
}

impl SenderProtocol for Sender {
    #[inline(always)]
    fn serve(&mut self, now: Time, _body: Option<&Body>, mut send: impl FnMut(Body) -> bool) -> Timers {
        while self.backlog.has(now, self.next) {
            let number = self.next;
            self.next += 1;
            let data = Data::new(number, now);
            if !send(Body::Data(data)) {
                break;
            }
        }
        Timers { release: self.backlog.due(), deadline: Time::MAX }
    }
}

impl SenderState for Sender {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        counts.sent = self.next;
        counts
    }

    fn scheduled_rate(&self) -> Option<u64> {
        Some(self.backlog.rate().unwrap_or(0))
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, _now: Time, data: &Data, _marked: bool, _answer: &mut Body) -> Received {
        Received { new: self.0.is_new(data.number), answered: false }
    }
}
