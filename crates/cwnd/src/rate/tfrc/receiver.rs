//! The receiver's half: loss intervals (RFC 5348 section 5) and when to report (section 6).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::equation::inverse;
use crate::control::ReceiverSide;
use crate::signal::{Arrival, Remote};
use crate::units::{Packets, Rate, Span, Time};

/// Keeps the history of loss intervals and reports once per round trip, and at once when the loss event rate rises.
#[derive(Debug)]
pub struct Receiver {
    /// Of the loss intervals, newest first.
    weights: Box<[f64]>,
    newest: Option<Arrival>,
    holes: Vec<Hole>,
    /// The first packet of the present loss event, and when it was lost.
    event: Option<(u64, Time)>,
    /// Lengths of the loss intervals before it, newest first; the one before the first loss is made up.
    closed: VecDeque<f64>,
    arrivals: u64,
    /// The two newest reports, newest first: when, and the arrivals until then.
    reports: [Option<(Time, u64)>; 2],
    /// The most that was ever reported as arriving.
    best: Rate,
    due: Option<Time>,
}

/// Packets that have not come, `first..end`.
#[derive(Clone, Copy, Debug)]
struct Hole {
    first: u64,
    end: u64,
    /// The arrivals around it: the number before it and when that came, and the time from then to the packet after it.
    before: u64,
    since: Time,
    gap: Span,
    steps: u64,
    /// Packets above it that have arrived.
    later: u32,
}

impl Receiver {
    /// A receiver that averages over `intervals` loss intervals, at least 2.
    #[must_use]
    pub fn new(intervals: usize) -> Self {
        Self {
            weights: weights(intervals),
            newest: None,
            holes: Vec::new(),
            event: None,
            closed: VecDeque::new(),
            arrivals: 0,
            reports: [None; 2],
            best: Rate(0.0),
            due: None,
        }
    }

    /// Section 5.4: the weighted mean of the intervals; the open one counts where that makes it longer. 0 before a loss.
    #[must_use]
    pub fn loss_event_rate(&self) -> f64 {
        let (Some((first, _)), Some(newest)) = (self.event, self.newest) else { return 0.0 };
        let open = (newest.number - first + 1) as f64;
        let mean = |intervals: &mut dyn Iterator<Item = f64>| {
            let weighted = intervals.zip(&self.weights);
            let (sum, all) =
                weighted.fold((0.0, 0.0), |(sum, all), (length, weight)| (sum + length * weight, all + weight));
            sum / all
        };
        let closed = || self.closed.iter().copied();
        let without = mean(&mut closed());
        let with = mean(&mut core::iter::once(open).chain(closed()).take(self.closed.len()));
        1.0 / with.max(without).max(1.0)
    }

    /// Takes in the numbers between the newest packet and one above it, and forgets those that come late.
    fn observe(&mut self, arrival: &Arrival, newest: &Arrival) {
        for hole in &mut self.holes {
            hole.later += u32::from(arrival.number >= hole.end);
        }
        if arrival.number > newest.number {
            let steps = arrival.number - newest.number;
            if steps > 1 {
                let (before, since, gap) = (newest.number, newest.at, arrival.at.since(newest.at));
                self.holes.push(Hole { first: before + 1, end: arrival.number, before, since, gap, steps, later: 1 });
            }
            self.newest = Some(*arrival);
        } else if let Some(at) = self.holes.iter().position(|hole| (hole.first..hole.end).contains(&arrival.number)) {
            let hole = self.holes.remove(at);
            let parts = [Hole { end: arrival.number, ..hole }, Hole { first: arrival.number + 1, ..hole }];
            self.holes.extend(parts.into_iter().filter(|part| part.first < part.end));
        }
    }

    /// The packets of `hole` are lost (section 5.2): those within a round trip of the first of an event belong to it.
    fn lose(&mut self, hole: &Hole, rtt: Span) {
        let mut number = hole.first;
        while number < hole.end {
            let at = hole.lost_at(number);
            match self.event {
                Some((_, since)) if at <= since + rtt => {
                    number = number.max(hole.first_after(since + rtt));
                    continue;
                }
                Some((first, _)) => self.closed.push_front((number - first) as f64),
                None => self.closed.push_front(1.0 / self.first_loss(rtt)),
            }
            self.closed.truncate(self.weights.len());
            self.event = Some((number, at));
        }
    }

    /// Section 6.3.1: the interval before the first loss is the one at which the equation yields the most that has arrived, which is
    /// about half of the rate in slow start; half a packet per round trip if nothing was reported yet.
    fn first_loss(&self, rtt: Span) -> f64 {
        let target = if self.best.0 > 0.0 { self.best } else { Packets(0.5) / rtt };
        inverse(target, rtt)
    }

    /// What arrived per second since the newest report that is a round trip old (section 6.2, step 2).
    fn rate(&self, now: Time, rtt: Span) -> Rate {
        let old = |report: &&(Time, u64)| now.since(report.0) >= rtt;
        let known = || self.reports.iter().flatten();
        let from = known().find(old).or_else(|| known().last());
        from.filter(|(then, _)| now > *then)
            .map_or(Rate(0.0), |(then, arrivals)| Packets((self.arrivals - arrivals) as f64) / now.since(*then))
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        let rtt = arrival.rtt.unwrap_or(Span::ZERO);
        self.arrivals += 1;
        let newest = *self.newest.get_or_insert(*arrival);
        self.observe(arrival, &newest);
        let before = self.loss_event_rate();
        while let Some(at) = self.holes.iter().position(|hole| hole.later >= DUPLICATES) {
            let hole = self.holes.remove(at);
            self.lose(&hole, rtt);
        }
        // Section 6.1: at once if the loss event rate has risen, otherwise a round trip after the last report.
        let turn = self.reports[0].map_or(arrival.at, |(then, _)| (then + rtt).max(arrival.at));
        let rises = self.loss_event_rate() > before;
        self.due = Some(if rises { arrival.at } else { self.due.unwrap_or(turn) });
    }

    fn report(&mut self, now: Time) -> Remote {
        let rtt = self.newest.and_then(|newest| newest.rtt).unwrap_or(Span::ZERO);
        let rate = self.rate(now, rtt);
        self.best = Rate(self.best.0.max(rate.0));
        self.reports = [Some((now, self.arrivals)), self.reports[0]];
        self.due = None;
        Remote { arrival_rate: Some(rate), loss_event_rate: Some(self.loss_event_rate()), ..Remote::default() }
    }

    fn due(&self) -> Option<Time> {
        self.due
    }
}

impl Hole {
    /// When packet `number` should have come: evenly between the arrivals around the hole.
    fn lost_at(&self, number: u64) -> Time {
        let share = (number - self.before) as f64 / self.steps as f64;
        self.since + self.gap.mul_f64(share)
    }

    /// The first number lost after `until`, at most the end.
    fn first_after(&self, until: Time) -> u64 {
        let share = until.since(self.since).as_nanos() as f64 / self.gap.as_nanos().max(1) as f64;
        let guess = self.before.saturating_add((share * self.steps as f64) as u64).clamp(self.first, self.end);
        (guess..self.end).find(|number| self.lost_at(*number) > until).unwrap_or(self.end)
    }
}

/// Section 5.4: the newer half of the intervals weighs 1, the older ones less and less; 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 for eight.
fn weights(intervals: usize) -> Box<[f64]> {
    let half = intervals.div_ceil(2);
    let weight = |i: usize| if i < half { 1.0 } else { 1.0 - (i + 1 - half) as f64 / (intervals - half + 1) as f64 };
    (0..intervals).map(weight).collect()
}

/// Section 5.1: as many packets above one make it lost (NDUPACK).
const DUPLICATES: u32 = 3;

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::equation;
    use super::*;
    use crate::units::Bytes;

    /// Packet `number` of a flow of 100 packets/s over 100 ms.
    fn packet(number: u64) -> Arrival {
        let at = Time::ZERO + Span::from_millis(10 * number);
        let rtt = Some(Span::from_millis(100));
        let packet = Bytes(1000);
        Arrival { at, number, sent_at: Some(at), rtt, packet, pair: false, marked: false, retransmission: false }
    }

    /// Receives packets of `numbers` but for `lost`, and reports when due.
    fn receive(receiver: &mut Receiver, numbers: impl Iterator<Item = u64>, lost: &[u64]) -> Vec<(u64, Remote)> {
        let mut reports = Vec::new();
        for arrival in numbers.filter(|number| !lost.contains(number)).map(packet) {
            receiver.on_packet(&arrival);
            if receiver.due().is_some_and(|due| due <= arrival.at) {
                reports.push((arrival.number, receiver.report(arrival.at)));
            }
        }
        reports
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn the_weights_of_the_rfc() {
        assert_eq!(weights(8)[..5], [1.0, 1.0, 1.0, 1.0, 0.8]);
        assert!((weights(8)[7] - 0.2).abs() < 1e-12);
        assert_eq!(weights(2)[..], [1.0, 0.5]);
    }

    #[test]
    fn a_report_each_round_trip_and_at_once_when_losses_rise() {
        let mut receiver = Receiver::new(8);
        // 24 is lost once 25, 27 and 28 are there. 26 belongs to the same event, and 29 only counts as the third after it.
        let reports = receive(&mut receiver, 0..30, &[24, 26]);
        let numbers: Vec<_> = reports.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 10, 20, 28]);
        assert_eq!(reports[0].1.arrival_rate, Some(Rate(0.0)), "nothing to measure from");
        assert_eq!((reports[2].1.arrival_rate, reports[2].1.loss_event_rate), (Some(Rate(100.0)), Some(0.0)));
        // A round trip before 28 is 18: the report at 10 is the newest that old. 11 to 28 without two are 16 packets in 180 ms.
        close(reports[3].1.arrival_rate.map_or(0.0, |rate| rate.0), 16.0 / 0.18);
        // Nothing faster than 100 packets/s was reported before.
        let p = reports[3].1.loss_event_rate.unwrap_or(0.0);
        close(equation(p, Span::from_millis(100)).0, 100.0);
    }

    #[test]
    fn the_loss_event_rate_is_that_of_the_last_eight_intervals() {
        let mut receiver = Receiver::new(8);
        let losses: Vec<u64> = (1..=9).map(|n| 100 * n).collect();
        receive(&mut receiver, 0..950, &losses);
        // Eight intervals of 100; the open one is shorter and does not count.
        close(receiver.loss_event_rate(), 0.01);
        // The open one has grown to 401: (401 + 100 (1 + 1 + 1 + 0.8 + 0.6 + 0.4 + 0.2)) / 6.
        receive(&mut receiver, 950..1301, &[]);
        close(receiver.loss_event_rate(), 6.0 / 901.0);
    }

    #[test]
    fn a_long_outage_is_an_event_per_round_trip() {
        let mut receiver = Receiver::new(8);
        receive(&mut receiver, (0..50).chain(85..90), &[]);
        // 50 is lost at 500 ms; more than 100 ms later are 61, 72 and 83: intervals of 11, and an open one of 89 - 83 + 1.
        assert_eq!(receiver.event.map(|(first, _)| first), Some(83));
        assert_eq!(receiver.closed.iter().copied().take(3).collect::<Vec<_>>(), [11.0, 11.0, 11.0]);
    }

    #[test]
    fn a_late_packet_was_not_lost() {
        let mut receiver = Receiver::new(8);
        let late = [0, 1, 2, 5, 6, 3, 7, 4, 8, 9, 10];
        receive(&mut receiver, late.into_iter(), &[]);
        // 4 was missing when 5, 6 and 7 had come: too late. 3 was in time.
        assert_eq!(receiver.event.map(|(first, _)| first), Some(4));
    }
}
