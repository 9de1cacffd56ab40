//! The transmissions of a log of packets, each with a number of its own as in QUIC.

use std::collections::BTreeMap;

use cwnd_trace::{PacketLog, Seen};
use cwnd_udt::{Control, Packet, Seq};

/// An event of the sender's recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TransmissionEvent {
    /// A transmission counts as lost when its packet is sent again. The sender may have detected the loss earlier.
    Lost(u64),
    /// A transmission was sent.
    Sent {
        /// Its own number, ascending from 0.
        transmission: u64,
        /// The packet it carries.
        number: u64,
    },
    /// Transmissions were acknowledged: the first and the last of each range, ascending.
    Acked(Vec<(u64, u64)>),
    /// Recovery began or ended: from the first retransmission until everything sent before it was acknowledged (RFC 6582 section
    /// 3.2).
    Recovering(bool),
}

/// The state of the sender while its log is read.
#[derive(Debug, Default)]
struct Tracker {
    sent: u64,
    /// The packets outstanding, each with its latest transmission.
    outstanding: BTreeMap<u64, u64>,
    /// Packets below have been acknowledged.
    cumulative: u64,
    /// One past the highest packet sent.
    next: u64,
    /// Recovery ends when everything below has been acknowledged.
    recover: Option<u64>,
}

/// The events of a log with their times, nanoseconds.
pub(crate) fn events(log: &PacketLog) -> impl Iterator<Item = (u64, TransmissionEvent)> + '_ {
    let mut tracker = Tracker::default();
    log.iter().flat_map(move |(packet, bytes)| {
        let events = match packet.seen {
            Seen::Data { number, again, .. } => tracker.send(number, again),
            Seen::Ack { cumulative, sack, .. } => {
                let ranges = sack.map(|(first, end)| (cumulative + u64::from(first), cumulative + u64::from(end)));
                tracker.acknowledge(cumulative, &ranges)
            }
            Seen::Report { newest, .. } => tracker.report(newest),
            Seen::Control { arrives: true, .. } => match tracker.reported(bytes) {
                Some(cumulative) => tracker.acknowledge(cumulative, &[]),
                None => Vec::new(),
            },
            Seen::Control { arrives: false, .. } => Vec::new(),
        };
        events.into_iter().map(move |step| (packet.at, step))
    })
}

impl Tracker {
    fn send(&mut self, number: u64, again: bool) -> Vec<TransmissionEvent> {
        let transmission = self.sent;
        self.sent += 1;
        let before = self.outstanding.insert(number, transmission);
        let mut events = Vec::with_capacity(3);
        if again && self.recover.is_none() {
            self.recover = Some(self.next);
            events.push(TransmissionEvent::Recovering(true));
        }
        self.next = self.next.max(number + 1);
        events.extend(before.map(TransmissionEvent::Lost));
        events.push(TransmissionEvent::Sent { transmission, number });
        events
    }

    fn acknowledge(&mut self, cumulative: u64, ranges: &[(u64, u64)]) -> Vec<TransmissionEvent> {
        self.cumulative = self.cumulative.max(cumulative);
        let above = self.outstanding.split_off(&self.cumulative);
        let mut acked: Vec<u64> = std::mem::replace(&mut self.outstanding, above).into_values().collect();
        for (first, end) in ranges {
            let numbers: Vec<u64> =
                self.outstanding.range(first..&(*end).max(*first)).map(|(number, _)| *number).collect();
            acked.extend(numbers.iter().filter_map(|number| self.outstanding.remove(number)));
        }
        acked.sort_unstable();
        let mut events = Vec::with_capacity(2);
        if !acked.is_empty() {
            let ranges = acked.chunk_by(|a, b| a + 1 == *b);
            events
                .push(TransmissionEvent::Acked(ranges.filter_map(|run| Some((*run.first()?, *run.last()?))).collect()));
        }
        if self.recover.is_some_and(|recover| self.cumulative >= recover) {
            self.recover = None;
            events.push(TransmissionEvent::Recovering(false));
        }
        events
    }

    /// A report names one packet that has arrived; which of the packets before it have arrived is unknown.
    fn report(&mut self, newest: u64) -> Vec<TransmissionEvent> {
        let above = self.outstanding.split_off(&(newest + 1));
        let below = std::mem::replace(&mut self.outstanding, above);
        below
            .get(&newest)
            .map(|transmission| TransmissionEvent::Acked(vec![(*transmission, *transmission)]))
            .into_iter()
            .collect()
    }

    /// The packet number up to which a packet of UDT acknowledges.
    fn reported(&self, bytes: &[u8]) -> Option<u64> {
        let Ok(Packet::Control { control, .. }) = Packet::parse(bytes) else { return None };
        let next = match control {
            Control::LightAck(next) => next,
            Control::Ack(ack) => ack.next,
            _ => return None,
        };
        next.number(Seq::new(0)?, self.cumulative)
    }
}

#[cfg(test)]
mod tests {
    use cwnd_trace::{EcnField, Logged};

    use super::*;

    fn data(number: u64, again: bool) -> Seen {
        Seen::Data { number, again, ecn: EcnField::NotEct, reacted: false }
    }

    fn ack(cumulative: u64, sack: (u32, u32)) -> Seen {
        Seen::Ack { cumulative, sack: [sack, (0, 0), (0, 0)], echoes: false }
    }

    #[test]
    fn a_lost_packet_is_retransmitted_and_acknowledged() {
        let seen = [
            data(0, false),
            data(1, false),
            data(2, false),
            data(3, false),
            ack(1, (0, 0)),
            ack(1, (1, 3)),
            data(1, true),
            ack(4, (0, 0)),
        ];
        let packets = seen.iter().zip(0..).map(|(seen, at)| Logged { at, seen: *seen }).collect();
        let log = PacketLog { packets, ..PacketLog::default() };
        let events: Vec<_> = events(&log).collect();
        let sent = |transmission, number| TransmissionEvent::Sent { transmission, number };
        assert_eq!(events[..4], [(0, sent(0, 0)), (1, sent(1, 1)), (2, sent(2, 2)), (3, sent(3, 3))]);
        assert_eq!(
            events[4..],
            [
                (4, TransmissionEvent::Acked(vec![(0, 0)])),
                (5, TransmissionEvent::Acked(vec![(2, 3)])),
                (6, TransmissionEvent::Recovering(true)),
                (6, TransmissionEvent::Lost(1)),
                (6, sent(4, 1)),
                (7, TransmissionEvent::Acked(vec![(4, 4)])),
                (7, TransmissionEvent::Recovering(false)),
            ]
        );
    }
}
