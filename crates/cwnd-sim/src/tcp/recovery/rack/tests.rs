//! The scheme compared with a scan over a record per packet, as RFC 8985 writes it.

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

    /// When the timer of section 6.2, step 5, expires after [`detect`](Self::detect).
    fn deadline(&self, timeout: Span) -> Time {
        let waiting =
            self.missing().filter(|(number, segment)| !segment.lost && (segment.sent_at, *number) < self.newest);
        waiting.map(|(_, segment)| segment.sent_at + timeout).max().unwrap_or(Time::MAX)
    }

    /// When the timer expires next.
    fn detect(&mut self, now: Time, repairing: bool, smoothed: Span) -> Time {
        let timeout = self.timeout(repairing, smoothed);
        for (number, segment) in (0..).zip(&mut self.segments) {
            let overtaken = (segment.sent_at, number) < self.newest;
            if !segment.arrived && overtaken && segment.sent_at + timeout <= now {
                segment.lost = true;
            }
        }
        self.deadline(timeout)
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
        Ack { sack, duplicate, ..Ack::of(cumulative, echo) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Packets are lost, in flight and waiting as a scan of all of them finds them, whatever arrives when.
    #[test]
    fn counting_equals_scanning(
        // Half of the steps at one instant: packets sent again then are in the order of their numbers.
        steps in proptest::collection::vec((0_u8..12, any::<u16>(), prop_oneof![Just(0), 0_u64..12]), 1..250),
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
                7 if pick % 16 == 0 && !rack.outstanding().is_empty() => {
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
                    prop_assert_eq!(rack.detector.deadline(), scan.detect(now, repairing, rack.smoothed));
                }
                8 => {}
                _ if !receiver.in_network.is_empty() => {
                    let ack = receiver.deliver(usize::from(pick) % receiver.in_network.len().min(6));
                    scan.on_ack(now, &ack);
                    let (outcome, detects) = if plain && let Some(newly) = rack.on_ack_in_order(now, &ack) {
                        // Nothing else is outstanding that could be found lost.
                        (AckOutcome { newly, advanced: true, ..AckOutcome::default() }, false)
                    } else {
                        (rack.on_ack(now, &ack, |_, _| ()), true)
                    };
                    if outcome.spurious {
                        for segment in scan.segments.iter_mut().filter(|segment| !segment.arrived) {
                            segment.lost &= segment.resends > 0;
                        }
                    }
                    let deadline = scan.detect(now, repairing && !outcome.spurious, rack.smoothed);
                    prop_assert!(!detects || rack.detector.deadline() == deadline);
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
            let waiting: BTreeSet<_> = (scan.acked..rack.outstanding().end).filter(|number| rack.next_waiting(*number) == Some(*number)).collect();
            prop_assert_eq!(waiting, scan.waiting());
            prop_assert_eq!(rack.in_flight(), scan.in_flight());
        }
    }
}

#[test]
fn a_record_stays_small() {
    assert_eq!(size_of::<board::Record>(), 16);
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// An acknowledgement of all below `cumulative` and of `above`, for the packet that left at `echo`.
fn ack(cumulative: u64, above: std::ops::Range<u64>, echo: Time) -> Ack {
    let offset = |number: u64| (number - cumulative.min(number)) as u32;
    let first = Block { first: offset(above.start), end: offset(above.end) };
    let sack = [first, Block::default(), Block::default()];
    Ack { sack, ..Ack::of(cumulative, echo) }
}

/// Section 6.2, step 5: one timer, for the last of the packets that others have overtaken.
#[test]
fn the_timer_waits_for_the_last_packet_that_was_overtaken() {
    let mut rack = Rack { smoothed: Span::from_millis(40), ..Rack::default() };
    for millis in [0, 1, 2, 3] {
        rack.send(at(millis), 1);
    }
    assert_eq!(rack.on_ack(at(43), &ack(0, 3..4, at(3)), |_, _| ()).lost, 0);
    assert_eq!(rack.deadline(), at(2 + 40 + 10));
    assert_eq!(rack.on_deadline(at(52), false).lost, 3);
}

/// Packets sent again at one instant are in the order of their numbers, whichever was found lost first (`RACK_sent_after`, section 6.2).
#[test]
fn what_is_sent_again_at_one_instant_is_in_the_order_of_its_numbers() {
    let mut rack = Rack { smoothed: Span::from_millis(40), ..Rack::default() };
    (0..6).for_each(|millis| _ = rack.send(at(millis), 1));
    rack.on_ack(at(45), &ack(0, 5..6, at(5)), |_, _| ());
    // Packet 4 leaves as a probe, the four before it as they are found lost, all of them at one instant.
    assert_eq!(rack.board.resend_last(at(60)), Some(4));
    rack.on_deadline(at(60), false);
    assert_eq!(std::iter::from_fn(|| rack.resend(at(60))).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // The last of these arrives, a round trip later: those of lower numbers left before it and are lost, and no timer waits for them.
    assert_eq!(rack.on_ack(at(100), &ack(0, 3..4, at(60)), |_, _| ()).lost, 3);
    assert_eq!(rack.detector.deadline(), Time::MAX);
}

/// RFC 9937: a packet declared lost by time leaves at once, since the window stays and the network holds less.
#[test]
fn what_is_found_lost_by_time_may_leave() {
    let mut reduction = ProportionalReduction::new(10);
    reduction.on_ack(1, 9, 5, false);
    reduction.sent(reduction.allowance());
    assert_eq!(reduction.allowance(), 0);
    reduction.on_lost(3);
    assert_eq!(reduction.allowance(), 3);
}

/// RFC 5682 section 3.1, step 1.
#[test]
fn f_rto_is_not_used_in_the_midst_of_repairs() {
    let mut open = Rack { smoothed: Span::from_millis(40), ..Rack::default() };
    open.send(at(0), 10);
    let mut repairing = open.clone();
    open.on_timeout(at(1000));
    assert_eq!(open.frto, Frto::begin(10));
    open.on_timeout(at(3000));
    assert_eq!(open.frto, Frto::begin(10), "again for the same packet");
    assert_eq!(open.resend(at(3000)), Some(0));
    open.on_ack(at(3040), &ack(1, 1..1, at(3000)), |_, _| ());
    open.on_timeout(at(5000));
    assert_eq!(open.frto, Frto::Off, "some of it was repaired");
    assert!(repairing.on_ack(at(40), &ack(0, 3..9, at(0)), |_, _| ()).begun);
    repairing.on_timeout(at(1000));
    assert_eq!(repairing.frto, Frto::Off);
}
