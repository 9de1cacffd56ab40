//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1) of a UDT sender, for algorithms that ask for them.
//!
//! UDT acknowledges cumulatively, so that what lies above a hole counts as delivered once the hole is filled. Acknowledgements come on a
//! clock of 10 ms and, between its ticks, after every 64 packets or as many as the receiver's settings say: a rate is delivered packets
//! over an interval of at least a round trip that ends with such a report. The longest of a few round trips hides the clock; over paths of a
//! few milliseconds the packets between two reports are a burst that looks like aggregation.
//!
//! A packet that was lost counts as delivered when it is acknowledged, and no sample is taken around it. The packets above the hole that it
//! filled are delivered in the same instant, and its retransmission left after them: an interval that began with it would be too short
//! for all that are delivered in it.

use std::collections::VecDeque;

use cwnd::estimate::{DeliveryRate, Departure};
use cwnd::{Limit, RateSample, Span, Time};

/// The state in which each outstanding packet left.
#[derive(Debug, Default)]
pub(super) struct Samples {
    rate: DeliveryRate,
    /// From the cumulative acknowledgement to the next new packet.
    packets: VecDeque<Packet>,
    acked: u64,
    /// Losses of the outstanding packets.
    losses: u64,
    /// Packets that the NAK being handled reports lost, in order, with their samples at that time.
    missed: VecDeque<(u64, RateSample)>,
}

/// An outstanding packet.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// The departure of its newest transmission.
    departure: Departure,
    /// How often it was lost.
    losses: u32,
    /// A report has named it, so that it is counted.
    arrived: bool,
}

impl Samples {
    /// Packet `number` leaves, with `in_flight` packets in the network before it.
    pub(super) fn send(&mut self, now: Time, number: u64, in_flight: u64) {
        let departure = self.rate.on_send(now, in_flight);
        match number.checked_sub(self.acked).and_then(|at| self.packets.get_mut(usize::try_from(at).ok()?)) {
            Some(known) => known.departure = departure,
            None => {
                // Numbers of given-up messages, which no packet ever had, count as sent with this packet.
                let next = self.acked + self.packets.len() as u64;
                self.packets.extend((next..=number).map(|_| Packet { departure, losses: 0, arrived: false }));
            }
        }
    }

    /// Packets below `upto` have arrived; `min_rtt` is the shortest round trip. The sample is of the last of them that was never lost.
    pub(super) fn acknowledge(&mut self, now: Time, upto: u64, min_rtt: Option<Span>) -> Option<RateSample> {
        let count = usize::try_from(upto.saturating_sub(self.acked)).ok()?.min(self.packets.len());
        for packet in self.packets.drain(..count) {
            self.losses -= u64::from(packet.losses);
            if !packet.arrived {
                packet.deliver(&mut self.rate, now);
            }
        }
        self.acked = self.acked.max(upto);
        let mut sample = self.rate.sample(min_rtt)?;
        // Outstanding packets left after the packet of the sample, so their losses do not belong to the packets that left before.
        sample.lost = sample.lost.saturating_sub(self.losses);
        Some(sample)
    }

    /// Packet `number` has arrived above a hole.
    pub(super) fn arrive(&mut self, now: Time, number: u64) {
        let at = number.checked_sub(self.acked).and_then(|at| usize::try_from(at).ok());
        if let Some(packet) = at.and_then(|at| self.packets.get_mut(at)) {
            packet.arrived = true;
            packet.deliver(&mut self.rate, now);
        }
    }

    /// The sample of the last packet that arrived above a hole and was never lost.
    pub(super) fn above_hole(&mut self, min_rtt: Option<Span>) -> Option<RateSample> {
        self.rate.sample(min_rtt)
    }

    /// Packet `number` is lost. Returns the state with which it left, and the packets delivered and lost since.
    pub(super) fn lose(&mut self, number: u64) -> Option<RateSample> {
        let packet = self.packets.get_mut(usize::try_from(number.checked_sub(self.acked)?).ok()?)?;
        packet.losses = packet.losses.saturating_add(1);
        self.losses += 1;
        Some(self.rate.on_lost(&packet.departure))
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

impl Packet {
    fn deliver(&self, rate: &mut DeliveryRate, now: Time) {
        match self.losses {
            0 => rate.on_delivered(now, &self.departure),
            _ => rate.on_unnamed(now),
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
        // A packet per millisecond over 40 ms; arrivals are reported every 10 ms.
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
        // It arrives with the packet above it, which left before: that one's sample counts both, and the loss.
        samples.send(at(41), 1, 1);
        let sample = samples.acknowledge(at(90), 3, None).expect("two packets");
        assert_eq!((sample.delivered, sample.lost, sample.prior_delivered, sample.prior_in_flight), (3, 1, 0, 3));
        assert_eq!(sample.interval, Span::from_millis(90));
    }

    #[test]
    fn a_hole_that_is_filled_shows_no_more_than_what_was_sent() {
        // A packet per millisecond, acknowledged 40 ms later, one by one. The first transmissions of two packets are lost; each is found lost
        // as the next packet arrives, and sent again at once.
        const HOLES: [u64; 2] = [100, 120];
        let mut samples = Samples::default();
        let mut rates = Vec::new();
        for millis in 40..300 {
            (0..40).filter(|_| millis == 40).for_each(|number| samples.send(at(number), number, number));
            let unfilled = |hole: &u64| millis < hole + 81;
            let upto = HOLES.into_iter().find(unfilled).map_or(millis - 39, |hole| hole.min(millis - 39));
            let sample = samples.acknowledge(at(millis), upto, Some(Span::from_millis(40)));
            rates.extend(sample.and_then(|sample| sample.rate()).map(|rate| rate.0));
            samples.send(at(millis), millis, 40);
            for hole in HOLES.into_iter().filter(|hole| hole + 41 == millis) {
                samples.miss(hole);
                samples.send(at(millis), hole, 40);
            }
        }
        assert!(rates.iter().all(|rate| *rate <= 1025.0), "{rates:?}");
    }

    #[test]
    fn losses_of_what_left_later_are_none_of_the_sample() {
        let mut samples = Samples::default();
        (0..4).for_each(|number| samples.send(at(number), number, number));
        [1, 3].into_iter().for_each(|number| samples.miss(number));
        let sample = samples.acknowledge(at(50), 1, None).expect("a packet");
        assert_eq!(sample.lost, 0, "both lost ones are above");
        samples.send(at(51), 1, 2);
        let sample = samples.acknowledge(at(100), 3, None).expect("packet 2 was never lost");
        assert_eq!((sample.lost, sample.delivered, sample.prior_delivered), (1, 3, 0));
        samples.send(at(101), 3, 0);
        assert_eq!(samples.acknowledge(at(150), 4, None), None, "no packet that was never lost");
    }
}
