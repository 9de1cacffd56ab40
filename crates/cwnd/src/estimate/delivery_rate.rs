//! Delivery-rate samples: draft-ietf-ccwg-bbr section 4.1.

use crate::signal::RateSample;
use crate::units::{Span, Time};

/// What a host keeps with each packet in the network, written when the packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it left.
    pub sent_at: Time,
    /// When the first packet of its sending interval left.
    first_sent_at: Time,
    /// Packets delivered by then, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// Packets lost by then.
    lost: u64,
    /// Packets in the network with it.
    in_flight: u64,
    /// The sender was held by its source or its peer.
    limited: bool,
}

/// Delivery and loss counters of a connection, and the sample under way.
///
/// Order of calls: [`on_send`](Self::on_send) as a packet leaves; [`on_delivered`](Self::on_delivered) for every packet an
/// acknowledgement delivers, [`on_lost`](Self::on_lost) for every packet it shows lost, then [`sample`](Self::sample) once.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// Until more than this many packets are delivered, packets leave a limited sender.
    limited_until: u64,
    newest: Option<Departure>,
}

impl DeliveryRate {
    /// A connection that has sent nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            lost: 0,
            limited_until: 0,
            newest: None,
        }
    }

    /// Packets delivered.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// A packet leaves, with `in_flight` packets in the network before it.
    #[must_use]
    pub fn on_send(&mut self, now: Time, in_flight: u64) -> Departure {
        if in_flight == 0 {
            // After idling both intervals start afresh.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Departure {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight: in_flight + 1,
            limited: self.limited_until > 0,
        }
    }

    /// The source or the peer holds the sender while `in_flight` packets are in the network: what leaves from now on, until these
    /// are delivered, shows a lower bound only.
    pub fn on_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// A packet was delivered, now and for the first time.
    pub fn on_delivered(&mut self, now: Time, packet: &Departure) {
        self.delivered += 1;
        self.delivered_at = now;
        let newer = |newest: Departure| (packet.delivered, packet.sent_at) >= (newest.delivered, newest.sent_at);
        if self.newest.is_none_or(newer) {
            self.newest = Some(*packet);
            self.first_sent_at = packet.sent_at;
        }
    }

    /// A packet was delivered now, and it is not known which: a duplicate acknowledgement without selective ones.
    pub fn on_unnamed(&mut self, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
    }

    /// Records the loss of a packet, and returns the state at its departure with the packets delivered and lost since.
    pub fn on_lost(&mut self, packet: &Departure) -> RateSample {
        self.lost += 1;
        self.since(packet)
    }

    /// The sample around the newest packet delivered since the last call; none without one. Its interval is empty, so that it has no
    /// rate, where it would be shorter than `min_rtt`: no path can do that, a spurious retransmission can.
    pub fn sample(&mut self, min_rtt: Option<Span>) -> Option<RateSample> {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let newest = self.newest.take()?;
        let sample = self.since(&newest);
        let reliable = min_rtt.is_none_or(|shortest| sample.interval >= shortest);
        Some(RateSample { interval: if reliable { sample.interval } else { Span::ZERO }, ..sample })
    }

    fn since(&self, packet: &Departure) -> RateSample {
        let sending = packet.sent_at.since(packet.first_sent_at);
        let acknowledging = self.delivered_at.since(packet.delivered_at);
        RateSample {
            delivered: self.delivered - packet.delivered,
            lost: self.lost - packet.lost,
            interval: sending.max(acknowledging),
            prior_delivered: packet.delivered,
            prior_in_flight: packet.in_flight,
            limited: packet.limited,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::units::Rate;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn acknowledgements_at_the_rate_of_the_bottleneck() {
        // Ten packets leave at once; after 100 ms they are acknowledged one by one, 10 ms apart.
        let mut rate = DeliveryRate::new();
        let packets: Vec<_> = (0..10).map(|n| rate.on_send(at(0), n)).collect();
        let mut rates = Vec::new();
        for (n, packet) in packets.iter().enumerate() {
            rate.on_delivered(at(100 + 10 * n as u64), packet);
            let sample = rate.sample(Some(Span::from_millis(100))).expect("an interval of at least a round trip");
            assert_eq!(sample.prior_in_flight, n as u64 + 1);
            rates.push(sample.rate().expect("a real interval").0);
        }
        // n + 1 packets in 100 + 10 n ms: approaching 100 packets/s from below in the first round.
        assert_eq!(rates[0], 10.0);
        assert!((rates[9] - 10.0 / 0.19).abs() < 1e-9);

        // The next packet leaves with the last acknowledgement, the one after it 10 ms later: ten delivered before either.
        let packets = [rate.on_send(at(190), 0), rate.on_send(at(200), 1)];
        rate.on_delivered(at(290), &packets[0]);
        rate.on_delivered(at(300), &packets[1]);
        let sample = rate.sample(None).expect("two packets");
        assert_eq!((sample.delivered, sample.prior_delivered), (2, 10));
        assert_eq!(sample.interval, Span::from_millis(110));
    }

    #[test]
    fn a_burst_of_acknowledgements_shows_the_sending_rate() {
        // Packets leave 10 ms apart; their acknowledgements were held and arrive together.
        let mut rate = DeliveryRate::new();
        let first = rate.on_send(at(0), 0);
        let packets: Vec<_> = (1..=10).map(|n| rate.on_send(at(10 * n), n)).collect();
        rate.on_delivered(at(195), &first);
        assert!(rate.sample(None).is_some());
        for packet in &packets {
            rate.on_delivered(at(200), packet);
        }
        let sample = rate.sample(None).expect("ten packets");
        // The last left 100 ms after the first, and its acknowledging interval began at 0.
        assert_eq!((sample.delivered, sample.interval), (11, Span::from_millis(200)));
        assert_eq!(sample.rate(), Some(Rate(55.0)));
    }

    #[test]
    fn an_interval_below_the_round_trip_gives_no_rate() {
        let mut rate = DeliveryRate::new();
        let packet = rate.on_send(at(0), 0);
        rate.on_delivered(at(50), &packet);
        let sample = rate.sample(Some(Span::from_millis(51))).expect("a packet");
        assert_eq!((sample.rate(), sample.delivered, sample.interval), (None, 1, Span::ZERO));
        assert_eq!(rate.sample(None), None, "nothing new");
    }

    #[test]
    fn packets_of_a_limited_sender_say_so_until_those_in_flight_are_delivered() {
        let mut rate = DeliveryRate::new();
        let first = rate.on_send(at(0), 0);
        rate.on_limited(1);
        let second = rate.on_send(at(1), 1);
        assert!(!first.limited && second.limited);
        rate.on_delivered(at(100), &first);
        assert_eq!(rate.sample(None).map(|sample| sample.limited), Some(false));
        assert!(rate.on_send(at(101), 1).limited, "one delivered is not more than one");
        rate.on_delivered(at(102), &second);
        assert_eq!(rate.sample(None).map(|sample| sample.limited), Some(true));
        assert!(!rate.on_send(at(103), 1).limited);
    }

    #[test]
    fn a_lost_packet_tells_how_it_left() {
        let mut rate = DeliveryRate::new();
        let packets = [rate.on_send(at(0), 0), rate.on_send(at(0), 1), rate.on_send(at(0), 2)];
        rate.on_delivered(at(100), &packets[1]);
        rate.on_delivered(at(100), &packets[2]);
        let state = rate.on_lost(&packets[0]);
        assert_eq!((state.delivered, state.lost, state.prior_in_flight), (2, 1, 1));
        assert_eq!((rate.delivered(), rate.lost()), (2, 1));
    }
}
