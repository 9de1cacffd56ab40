//! The scheme beside a scan over a record per packet, as RFC 8985 writes it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::net::packet::Block;

/// A packet as RFC 8985 section 5.2 has it.
#[derive(Clone, Copy, Debug)]
struct Segment {
    sent_at: Time,
    resends: u32,
    lost: bool,
    arrived: bool,
}

/// Section 6.2 with a scan of all segments for each acknowledgement.
#[derive(Clone, Debug, Default)]
struct Scan {
    segments: Vec<Segment>,
    acked: u64,
    newest: (Time, u64),
    rtt: Span,
    min_rtt: Option<Span>,
    seen: bool,
    forward: u64,
    quarters: u64,
    persist: u32,
    grown_until: Option<u64>,
}

impl Scan {
    fn missing(&self) -> impl Iterator<Item = (u64, &Segment)> {
        (0..).zip(&self.segments).filter(|(_, segment)| !segment.arrived)
    }

    fn waiting(&self) -> BTreeSet<u64> {
        self.missing().filter(|(_, segment)| segment.lost).map(|(number, _)| number).collect()
    }

    fn in_flight(&self) -> u64 {
        self.missing().filter(|(_, segment)| !segment.lost).count() as u64
    }

    /// Steps 1 to 4 for what `ack` delivers, in order.
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let blocks = ack.sack.iter().filter(|block| block.end > 0);
        let above = blocks.flat_map(|block| u64::from(block.first)..u64::from(block.end));
        let covered: Vec<_> = (0..ack.cumulative).chain(above.map(|offset| ack.cumulative + offset)).collect();
        for number in covered {
            let segment = &mut self.segments[number as usize];
            if std::mem::replace(&mut segment.arrived, true) {
                continue;
            }
            let rtt = now.since(segment.sent_at);
            if number >= self.forward {
                self.forward = number + 1;
            } else {
                self.seen |= segment.resends == 0;
            }
            let late = match segment.resends {
                0 => segment.lost,
                1 => !segment.lost && ack.echo < segment.sent_at && (number == self.acked || number >= ack.cumulative),
                _ => false,
            };
            self.seen |= late;
            if segment.resends == 0 {
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            } else if segment.lost || ack.echo < segment.sent_at || self.min_rtt.is_some_and(|min| rtt < min) {
                continue;
            }
            self.rtt = rtt;
            self.newest = self.newest.max((segment.sent_at, number));
        }
        self.acked = self.acked.max(ack.cumulative);
        if self.grown_until.is_some_and(|end| self.acked >= end) {
            self.grown_until = None;
        }
        self.seen |= ack.duplicate != 0;
        if ack.duplicate != 0 && self.grown_until.is_none() {
            self.grown_until = Some(self.segments.len() as u64);
            self.quarters += 1;
            self.persist = 16;
        }
    }

    /// Step 5.
    fn timeout(&self, repairing: bool, smoothed: Span) -> Span {
        let arrived = self.segments[self.acked as usize..].iter().filter(|segment| segment.arrived).count();
        let window = if !self.seen && (repairing || arrived >= 3) {
            Span::ZERO
        } else {
            (self.min_rtt.unwrap_or(smoothed) * (1 + self.quarters) / 4).min(smoothed)
        };
        self.rtt + window
    }

    fn detect(&mut self, now: Time, repairing: bool, smoothed: Span) {
        let timeout = self.timeout(repairing, smoothed);
        for (number, segment) in (0..).zip(&mut self.segments) {
            let overtaken = (segment.sent_at, number) < self.newest;
            if !segment.arrived && overtaken && segment.sent_at + timeout <= now {
                segment.lost = true;
            }
        }
    }
}

/// A receiver and the packets on their way to it.
#[derive(Clone, Debug, Default)]
struct ReceiverModel {
    in_network: Vec<(u64, Time)>,
    arrived: BTreeSet<u64>,
}

impl ReceiverModel {
    /// The packet at `place` arrives: the acknowledgement, with the ranges next to it and below the highest.
    fn deliver(&mut self, place: usize) -> Ack {
        let (number, echo) = self.in_network.remove(place);
        let again = !self.arrived.insert(number);
        let cumulative = (0..).find(|n| !self.arrived.contains(n)).expect("finite");
        let mut sack = [Block::default(); 3];
        if number > cumulative {
            let first = (0..=number).rev().take_while(|n| self.arrived.contains(n)).last().expect("itself");
            let end = (number..).find(|n| !self.arrived.contains(n)).expect("finite");
            sack[0] = Block { first: (first - cumulative) as u32, end: (end - cumulative) as u32 };
        }
        let duplicate = if again { (number.cast_signed() - cumulative.cast_signed()) as i32 } else { 0 };
        Ack { cumulative, echo, sack, marked: false, duplicate }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Packets are lost, in flight and waiting as a scan of all of them finds them, whatever arrives when.
    #[test]
    fn counting_equals_scanning(
        steps in proptest::collection::vec((0_u8..12, any::<u16>(), 0_u64..12), 1..250),
        plain in any::<bool>(),
    ) {
        let mut rack = Rack { smoothed: Span::from_millis(40), ..Rack::default() };
        let mut scan = Scan::default();
        let mut receiver = ReceiverModel::default();
        let mut now = Time::ZERO;
        for (step, pick, millis) in steps {
            now += Span::from_millis(millis);
            let repairing = !rack.is_open();
            match step {
                0..4 => {
                    receiver.in_network.push((rack.send(now, 1), now));
                    scan.segments.push(Segment { sent_at: now, resends: 0, lost: false, arrived: false });
                }
                4 | 5 => {
                    let expected = scan.waiting().first().copied().filter(|_| !rack.prefers_new());
                    prop_assert_eq!(rack.resend(now), expected);
                    if let Some(number) = expected {
                        receiver.in_network.push((number, now));
                        let segment = &mut scan.segments[number as usize];
                        (segment.sent_at, segment.lost) = (now, false);
                        segment.resends += 1;
                    }
                }
                6 if !receiver.in_network.is_empty() => {
                    receiver.in_network.remove(usize::from(pick) % receiver.in_network.len());
                }
                7 if pick % 16 == 0 && rack.outstanding() > 0 => {
                    let timeout = scan.timeout(repairing, rack.smoothed);
                    let first = scan.acked;
                    for (number, segment) in (0..).zip(&mut scan.segments).filter(|(_, segment)| !segment.arrived) {
                        segment.lost |= number == first || segment.sent_at + timeout <= now;
                    }
                    rack.on_timeout(now);
                }
                // The reordering timer; probes have tests of their own.
                8 if rack.detector.deadline() <= now => {
                    rack.detect(now, &mut AckOutcome::default());
                    scan.detect(now, repairing, rack.smoothed);
                }
                8 => {}
                _ if !receiver.in_network.is_empty() => {
                    let ack = receiver.deliver(usize::from(pick) % receiver.in_network.len().min(6));
                    scan.on_ack(now, &ack);
                    let outcome = if plain && let Some(newly) = rack.on_plain_ack(now, &ack) {
                        // Nothing else is outstanding that could be found lost.
                        AckOutcome { newly, advanced: true, ..AckOutcome::default() }
                    } else {
                        rack.on_ack(now, &ack)
                    };
                    if outcome.spurious {
                        for segment in scan.segments.iter_mut().filter(|segment| !segment.arrived) {
                            segment.lost &= segment.resends > 0;
                        }
                    }
                    scan.detect(now, repairing && !outcome.spurious, rack.smoothed);
                    let undone = repairing && outcome.spurious;
                    rack.leave(&outcome);
                    if undone || repairing && rack.is_open() {
                        scan.persist = scan.persist.saturating_sub(1);
                        if scan.persist == 0 {
                            scan.quarters = 0;
                        }
                    }
                }
                _ => {}
            }
            prop_assert_eq!(rack.board.acked(), scan.acked);
            let waiting: BTreeSet<_> = (scan.acked..rack.next()).filter(|number| rack.is_waiting(*number)).collect();
            prop_assert_eq!(waiting, scan.waiting());
            prop_assert_eq!(rack.in_flight(), scan.in_flight());
        }
    }
}

#[test]
fn a_record_stays_small() {
    assert_eq!(size_of::<board::Record>(), 16);
}
