//! The receiving end: it measures arrivals, reports on a clock and names gaps.

use cwnd::estimate::RttEstimator;
use cwnd::{Arrival, Bytes, ReceiverSide, Remote, Rtt, Span, Time};

use super::SYN;
use crate::net::packet::{Body, Data, Report};
use crate::ranges::Ranges;

/// A receiver that reports every 10 ms while data arrives.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// The algorithm's half on this side, if it has one.
    side: Option<Box<dyn ReceiverSide>>,
    cumulative: u64,
    /// Arrived above the cumulative acknowledgement.
    beyond: Ranges,
    /// One past the largest number seen.
    seen: u64,
    newest: Option<(Data, Time)>,
    /// Data has arrived since the last report.
    news: bool,
    /// The next report.
    clock: Option<Time>,
    /// The first gap was last named then.
    named_at: Time,
    rtt: RttEstimator,
    /// The report due now has been made; the gap may still have to be named.
    reported: bool,
}

impl Receiver {
    /// A receiver of nothing yet.
    pub(crate) fn new(side: Option<Box<dyn ReceiverSide>>) -> Self {
        Self {
            side,
            cumulative: 0,
            beyond: Ranges::default(),
            seen: 0,
            newest: None,
            news: false,
            clock: None,
            named_at: Time::ZERO,
            rtt: RttEstimator::new(),
            reported: false,
        }
    }

    /// Takes in a data packet: whether it is new, and the gap it shows.
    pub(crate) fn on_data(&mut self, now: Time, data: &Data, size: Bytes, marked: bool) -> (bool, Option<Body>) {
        let rtt = Some(data.rtt).filter(|rtt| *rtt > Span::ZERO);
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt, Span::ZERO);
        }
        if let Some(side) = &mut self.side {
            side.on_packet(&Arrival {
                at: now,
                number: data.number,
                sent_at: Some(data.sent_at),
                rtt,
                packet: size,
                pair: data.pair,
                marked,
                retransmission: data.retransmission,
            });
        }
        let mut new = false;
        if data.number >= self.cumulative {
            self.beyond.insert(data.number, data.number + 1, |_, _| new = true);
        }
        let cumulative = self.beyond.gap_from(self.cumulative);
        self.cumulative = cumulative;
        self.beyond.remove_below(cumulative);
        self.newest = Some((*data, now));
        self.news = true;
        self.clock.get_or_insert(now + SYN);

        let gap = (data.number > self.seen).then_some(Body::Missing { first: self.seen, end: data.number });
        if gap.is_some() {
            self.named_at = now;
        }
        self.seen = self.seen.max(data.number + 1);
        (new, gap)
    }

    /// When the next report is due: on the clock, or earlier where the algorithm's half asks for it.
    pub(crate) fn next_timer(&self) -> Time {
        let Some(clock) = self.clock else { return Time::MAX };
        let asked = self.side.as_ref().and_then(|side| side.due());
        asked.map_or(clock, |asked| asked.min(clock))
    }

    /// The report that is due, then the first gap if it has been open for long.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Body> {
        let due = Some(self.next_timer()).filter(|due| *due <= now)?;
        if !self.reported {
            self.reported = true;
            if let Some(report) = self.report(now) {
                return Some(report);
            }
        }
        self.reported = false;
        let waiting = self.cumulative < self.seen;
        self.clock = (self.news || waiting).then_some(due + SYN);
        self.news = false;
        let patience =
            self.rtt.get().map_or(SYN * 10, |Rtt { smoothed, variation, .. }| smoothed + variation * 4 + SYN);
        if !waiting || now.since(self.named_at) < patience {
            return None;
        }
        self.named_at = now;
        let end = self.beyond.front().map_or(self.seen, |range| range.first);
        // The clock has moved on: this is the last thing it asks for now.
        Some(Body::Missing { first: self.cumulative, end })
    }

    fn report(&mut self, now: Time) -> Option<Body> {
        let (newest, arrived) = self.newest.filter(|_| self.news)?;
        let Remote { arrival_rate, capacity, window, .. } =
            self.side.as_mut().map_or_else(Remote::default, |side| side.report(now));
        Some(Body::Report(Report {
            cumulative: self.cumulative,
            echo: newest.sent_at + now.since(arrived),
            arrival_rate: arrival_rate.unwrap_or_default(),
            capacity: capacity.unwrap_or_default(),
            window: window.unwrap_or_default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(number: u64) -> Data {
        Data { number, sent_at: Time::ZERO, retransmission: false, reacted: false, pair: false, rtt: Span::ZERO }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn due(receiver: &mut Receiver, now: Time) -> Vec<Body> {
        std::iter::from_fn(|| receiver.on_timer(now)).collect()
    }

    #[test]
    fn reports_come_on_the_clock_and_stop_with_the_data() {
        let mut receiver = Receiver::new(None);
        assert_eq!(receiver.on_data(at(3), &data(0), Bytes(1500), false), (true, None));
        assert_eq!(receiver.next_timer(), at(13));
        assert!(due(&mut receiver, at(12)).is_empty());
        let report = due(&mut receiver, at(13));
        assert!(matches!(report[..], [Body::Report(Report { cumulative: 1, .. })]), "{report:?}");
        assert!(due(&mut receiver, at(23)).is_empty());
        assert_eq!(receiver.next_timer(), Time::MAX);
    }

    #[test]
    fn a_gap_is_named_at_once_and_again_after_a_while() {
        let mut receiver = Receiver::new(None);
        receiver.on_data(at(0), &data(0), Bytes(1500), false);
        let (_, gap) = receiver.on_data(at(1), &data(4), Bytes(1500), false);
        assert_eq!(gap, Some(Body::Missing { first: 1, end: 4 }));
        let mut named = Vec::new();
        for tick in 1..40 {
            let bodies = due(&mut receiver, at(10 * tick));
            named.extend(bodies.iter().filter(|body| matches!(body, Body::Missing { .. })).map(|_| tick));
        }
        // Without a round-trip time: every 100 ms.
        assert_eq!(named, [11, 21, 31]);
        assert_eq!(receiver.on_data(at(400), &data(2), Bytes(1500), false), (true, None));
        assert_eq!(receiver.on_data(at(401), &data(2), Bytes(1500), false), (false, None));
    }
}
