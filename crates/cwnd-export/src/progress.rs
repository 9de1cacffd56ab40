//! What a log of packets says about transmissions: each with a number of its own, as in QUIC.

use std::collections::BTreeMap;

use cwnd_trace::{PacketLog, Seen};
use cwnd_udt::{Control, Packet, Seq};

/// What happened to a transmission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The sender takes it for lost: it sends its packet again. Known only then, the sender may have found out before.
    Lost(u64),
    /// It leaves.
    Sent {
        /// Its own number, ascending from 0.
        transmission: u64,
        /// The packet it carries.
        number: u64,
    },
    /// These have been acknowledged, ascending; the first and the last of each range.
    Acked(Vec<(u64, u64)>),
    /// Losses are being mended, or no longer: from the first packet sent again until everything sent before it has been
    /// acknowledged (RFC 6582 section 3.2).
    Recovering(bool),
}

/// Follows a log.
#[derive(Debug, Default)]
struct Follower {
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

/// The steps of a log with their times.
pub(crate) fn steps(log: &PacketLog) -> impl Iterator<Item = (u64, Step)> + '_ {
    let mut follower = Follower::default();
    log.iter().flat_map(move |(packet, bytes)| {
        let steps = match packet.seen {
            Seen::Data { number, again, .. } => follower.send(number, again),
            Seen::Ack { cumulative, sack, .. } => {
                let ranges = sack.map(|(first, end)| (cumulative + u64::from(first), cumulative + u64::from(end)));
                follower.acknowledge(cumulative, &ranges)
            }
            Seen::Report { newest, .. } => follower.report(newest),
            Seen::Control { arrives: true, .. } => match follower.reported(bytes) {
                Some(cumulative) => follower.acknowledge(cumulative, &[]),
                None => Vec::new(),
            },
            Seen::Control { arrives: false, .. } => Vec::new(),
        };
        steps.into_iter().map(move |step| (packet.at, step))
    })
}

impl Follower {
    fn send(&mut self, number: u64, again: bool) -> Vec<Step> {
        let transmission = self.sent;
        self.sent += 1;
        let before = self.outstanding.insert(number, transmission);
        let mut steps = Vec::with_capacity(3);
        if again && self.recover.is_none() {
            self.recover = Some(self.next);
            steps.push(Step::Recovering(true));
        }
        self.next = self.next.max(number + 1);
        steps.extend(before.map(Step::Lost));
        steps.push(Step::Sent { transmission, number });
        steps
    }

    fn acknowledge(&mut self, cumulative: u64, ranges: &[(u64, u64)]) -> Vec<Step> {
        self.cumulative = self.cumulative.max(cumulative);
        let above = self.outstanding.split_off(&self.cumulative);
        let mut acked: Vec<u64> = std::mem::replace(&mut self.outstanding, above).into_values().collect();
        for (first, end) in ranges {
            let numbers: Vec<u64> =
                self.outstanding.range(first..&(*end).max(*first)).map(|(number, _)| *number).collect();
            acked.extend(numbers.iter().filter_map(|number| self.outstanding.remove(number)));
        }
        acked.sort_unstable();
        let mut steps = Vec::with_capacity(2);
        if !acked.is_empty() {
            let ranges = acked.chunk_by(|a, b| a + 1 == *b);
            steps.push(Step::Acked(ranges.filter_map(|run| Some((*run.first()?, *run.last()?))).collect()));
        }
        if self.recover.is_some_and(|recover| self.cumulative >= recover) {
            self.recover = None;
            steps.push(Step::Recovering(false));
        }
        steps
    }

    /// A report names one packet that has arrived; which of those before it have is not told.
    fn report(&mut self, newest: u64) -> Vec<Step> {
        let above = self.outstanding.split_off(&(newest + 1));
        let below = std::mem::replace(&mut self.outstanding, above);
        below.get(&newest).map(|transmission| Step::Acked(vec![(*transmission, *transmission)])).into_iter().collect()
    }

    /// What a packet of UDT acknowledges.
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
    use cwnd_trace::Logged;

    use super::*;

    fn data(number: u64, again: bool) -> Seen {
        Seen::Data { number, again, capable: false, reacted: false }
    }

    fn ack(cumulative: u64, sack: (u32, u32)) -> Seen {
        Seen::Ack { cumulative, sack: [sack, (0, 0), (0, 0)], echoes: false }
    }

    #[test]
    fn a_hole_is_mended() {
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
        let steps: Vec<_> = steps(&log).collect();
        let sent = |transmission, number| Step::Sent { transmission, number };
        assert_eq!(steps[..4], [(0, sent(0, 0)), (1, sent(1, 1)), (2, sent(2, 2)), (3, sent(3, 3))]);
        assert_eq!(
            steps[4..],
            [
                (4, Step::Acked(vec![(0, 0)])),
                (5, Step::Acked(vec![(2, 3)])),
                (6, Step::Recovering(true)),
                (6, Step::Lost(1)),
                (6, sent(4, 1)),
                (7, Step::Acked(vec![(4, 4)])),
                (7, Step::Recovering(false)),
            ]
        );
    }
}
