//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1) of a UDT sender, for algorithms that ask for them.
//!
//! UDT acknowledges cumulatively, so that what lies above a hole counts as delivered once the hole is filled. Acknowledgements come on a
//! clock of 10 ms and, between its ticks, after every 64 packets or as many as the receiver's settings say: a rate is delivered packets
//! over an interval of at least a round trip that ends with such a report. The longest of a few round trips hides the clock; over paths of a
//! few milliseconds the packets between two reports are a burst that looks like aggregation.

use std::collections::VecDeque;

use cwnd::estimate::{DeliveryRate, Departure};
use cwnd::{Limit, RateSample, Span, Time};

/// The state in which each outstanding packet left.
#[derive(Debug, Default)]
pub(super) struct Samples {
    rate: DeliveryRate,
    /// From the cumulative acknowledgement to the next new packet, the newest transmission of each.
    departures: VecDeque<Departure>,
    acked: u64,
    /// Found lost by the NAK being handled, in order, with what they were then.
    missed: VecDeque<(u64, RateSample)>,
}

impl Samples {
    /// Packet `number` leaves, with `in_flight` packets in the network before it.
    pub(super) fn send(&mut self, now: Time, number: u64, in_flight: u64) {
        let departure = self.rate.on_send(now, in_flight);
        match number.checked_sub(self.acked).and_then(|at| self.departures.get_mut(usize::try_from(at).ok()?)) {
            Some(known) => *known = departure,
            None => {
                // Numbers that no packet ever had, of messages that were given up, are taken for sent with this one.
                let next = self.acked + self.departures.len() as u64;
                self.departures.extend((next..=number).map(|_| departure));
            }
        }
    }

    /// Packets below `upto` have arrived; `min_rtt` is the shortest round trip.
    pub(super) fn acknowledge(&mut self, now: Time, upto: u64, min_rtt: Option<Span>) -> Option<RateSample> {
        let count = usize::try_from(upto.saturating_sub(self.acked)).ok()?.min(self.departures.len());
        for departure in self.departures.drain(..count) {
            self.rate.on_delivered(now, &departure);
        }
        self.acked = self.acked.max(upto);
        self.rate.sample(min_rtt)
    }

    /// Packet `number` was found lost: the state it left with, and what was delivered and lost since.
    pub(super) fn lose(&mut self, number: u64) -> Option<RateSample> {
        let departure = self.departures.get(usize::try_from(number.checked_sub(self.acked)?).ok()?)?;
        Some(self.rate.on_lost(departure))
    }

    /// A NAK found packet `number` lost.
    pub(super) fn miss(&mut self, number: u64) {
        let sample = self.lose(number);
        self.missed.extend(sample.map(|sample| (number, sample)));
    }

    /// The next packet that the NAK found lost.
    pub(super) fn take_missed(&mut self) -> Option<(u64, RateSample)> {
        self.missed.pop_front()
    }

    /// `limit` keeps the next packet from leaving while `in_flight` are in the network.
    pub(super) fn blocked(&mut self, limit: Limit, in_flight: u64) {
        if matches!(limit, Limit::Source | Limit::Peer) {
            self.rate.on_limited(in_flight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn reports_on_a_clock_show_the_rate_of_the_path() {
        // A packet per millisecond over 40 ms; what has arrived is reported every 10 ms.
        let mut samples = Samples::default();
        let mut rates = Vec::new();
        for millis in 0..200 {
            samples.send(at(millis), millis, millis.min(40));
            if millis >= 50 && millis % 10 == 0 {
                let sample = samples.acknowledge(at(millis), millis - 40, Some(Span::from_millis(40)));
                rates.push(sample.and_then(|sample| sample.rate()).expect("an interval of a round trip").0);
            }
        }
        assert!(rates[8..].iter().all(|rate| (rate / 1000.0 - 1.0).abs() < 0.03), "{rates:?}");
    }

    #[test]
    fn a_lost_packet_tells_how_it_left() {
        let mut samples = Samples::default();
        (0..3).for_each(|number| samples.send(at(0), number, number));
        assert!(samples.acknowledge(at(40), 1, None).is_some());
        let lost = samples.lose(1).expect("it is outstanding");
        assert_eq!((lost.lost, lost.delivered, lost.prior_in_flight), (1, 1, 2));
        assert_eq!(samples.lose(0), None, "it has arrived");
        // Sent again, it counts from then.
        samples.send(at(41), 1, 1);
        let sample = samples.acknowledge(at(90), 3, None).expect("two packets");
        assert_eq!((sample.prior_delivered, sample.prior_in_flight), (1, 2));
    }
}
