//! UDT's window (daimd eq. 21) and its half at the receiver.

use alloc::boxed::Box;

use super::profile::{Profile, Settings};
use super::{DEFAULT_RTT, SYN};
use crate::control::ReceiverSide;
use crate::estimate::{ArrivalRate, NS2_PAIRS, PacketPairs, UDT4_PAIRS};
use crate::rate::{GREATEST_WINDOW, bounded_window};
use crate::signal::{Arrival, Remote};
use crate::units::{Packets, Rate, Span, Time};

/// One update of UDT's window (daimd eq. 21): `w = lambda w + (1 - lambda) AS (SYN + RTT)`.
#[must_use]
pub fn window(w: Packets, lambda: f64, arrival_rate: Rate, rtt: Span) -> Packets {
    w * lambda + arrival_rate * (SYN + rtt) * (1.0 - lambda)
}

/// What UDT's receiver reports with each of its acknowledgements, every SYN: arrival rate, capacity by packet pairs, and in the
/// profile `paper` the window.
///
/// [`Arrival::rtt`] is the receiver's own estimate, which UDT's receiver gets from its acknowledgements of acknowledgements.
#[derive(Clone, Debug)]
pub struct Receiver {
    measure: Measure,
    /// The newest packet, to see whether the second of a pair follows the first.
    last: Option<Arrival>,
    rtt: Span,
}

#[derive(Clone, Debug)]
enum Measure {
    /// Arrivals are counted between updates of the window.
    Paper {
        pairs: PacketPairs<NS2_PAIRS>,
        lambda: f64,
        window: Packets,
        arrivals: u64,
        since: Option<Time>,
    },
    Ns2 {
        pairs: PacketPairs<NS2_PAIRS>,
        arrivals: ArrivalRate,
    },
    Udt4 {
        pairs: Box<PacketPairs<UDT4_PAIRS>>,
        arrivals: ArrivalRate,
    },
}

impl Receiver {
    /// The receiver's half under `settings`.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let measure = match settings.profile {
            Profile::Paper => Measure::Paper {
                pairs: PacketPairs::ns2(),
                lambda: settings.lambda,
                window: settings.initial_window,
                arrivals: 0,
                since: None,
            },
            Profile::Ns2 => Measure::Ns2 { pairs: PacketPairs::ns2(), arrivals: ArrivalRate::ns2() },
            Profile::Udt4 => Measure::Udt4 { pairs: Box::new(PacketPairs::udt4()), arrivals: ArrivalRate::udt4() },
        };
        Self { measure, last: None, rtt: DEFAULT_RTT }
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        self.rtt = arrival.rtt.unwrap_or(self.rtt);
        match &mut self.measure {
            // The first packet starts the clock and is not counted.
            Measure::Paper { since: since @ None, .. } => *since = Some(arrival.at),
            Measure::Paper { arrivals, .. } => *arrivals += 1,
            Measure::Ns2 { arrivals, .. } | Measure::Udt4 { arrivals, .. } => arrivals.on_packet(arrival.at),
        }
        let first = self.last.replace(*arrival);
        let follows = |first: &Arrival| first.number.checked_add(1) == Some(arrival.number);
        if let Some(first) = first.filter(|first| arrival.pair && !first.retransmission && follows(first)) {
            let gap = arrival.at.since(first.at);
            match &mut self.measure {
                Measure::Paper { pairs, .. } | Measure::Ns2 { pairs, .. } => pairs.on_pair(gap),
                Measure::Udt4 { pairs, .. } => pairs.on_pair(gap),
            }
        }
    }

    fn report(&mut self, now: Time) -> Remote {
        match &mut self.measure {
            Measure::Paper { pairs, lambda, window: w, arrivals, since } => {
                let elapsed = since.map_or(Span::ZERO, |since| now.since(since));
                let mut arrival_rate = None;
                // "w will not be updated if no packets arrive or there are too few packets to estimate the arrival speed".
                if *arrivals >= ENOUGH && elapsed > Span::ZERO {
                    let rate = Packets(*arrivals as f64) / elapsed;
                    *w = bounded_window(window(*w, *lambda, rate, self.rtt).0, GREATEST_WINDOW);
                    *arrivals = 0;
                    *since = Some(now);
                    arrival_rate = Some(rate);
                }
                Remote { arrival_rate, capacity: pairs.capacity(), window: Some(*w), ..Remote::default() }
            }
            Measure::Ns2 { pairs, arrivals } => {
                Remote { arrival_rate: arrivals.rate(), capacity: pairs.capacity(), ..Remote::default() }
            }
            Measure::Udt4 { pairs, arrivals } => {
                Remote { arrival_rate: arrivals.rate(), capacity: pairs.capacity(), ..Remote::default() }
            }
        }
    }
}

/// Arrivals needed for an arrival rate: it is computed from the time between two.
const ENOUGH: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn the_fixed_point_of_equation_21() {
        let (arrival_rate, rtt) = (Rate(83_333.0), Span::from_millis(100));
        let fixed = 83_333.0 * 0.11;
        let mut w = Packets(16.0);
        let mut updates = 0;
        while (w.0 / fixed - 1.0).abs() > 1e-9 {
            w = window(w, 0.875, arrival_rate, rtt);
            assert!(w.0 < fixed * (1.0 + 1e-12), "never above (SYN + RTT) AS");
            updates += 1;
            assert!(updates < 200);
        }
        // The distance shrinks by 1/8 per update: ln(1e-9) / ln(0.875) = 155.2.
        assert_eq!(updates, 156);
    }

    fn packet(number: u64, at: u64) -> Arrival {
        Arrival {
            at: Time::ZERO + Span::from_micros(at),
            number,
            sent_at: None,
            rtt: Some(Span::from_millis(90)),
            packet: Bytes(1500),
            pair: number % 16 == 1,
            marked: false,
            retransmission: false,
        }
    }

    fn receiver(profile: Profile) -> Receiver {
        Receiver::new(&Settings::new(profile, Bytes(1500)))
    }

    #[test]
    fn arrivals_are_counted_since_the_last_update() {
        let mut receiver = receiver(Profile::Paper);
        for n in 0..11 {
            receiver.on_packet(&packet(n, 1000 * n));
        }
        // 10 packets in 10 ms; 0.875 * 16 + 0.125 * 1000 * (0.01 + 0.09) = 26.5.
        let remote = receiver.report(Time::ZERO + Span::from_millis(10));
        assert_eq!(remote.arrival_rate, Some(Rate(1000.0)));
        assert!((remote.window.expect("always").0 - 26.5).abs() < 1e-9);
        // One packet more is too few: the window stays and the count goes on.
        receiver.on_packet(&packet(11, 15_000));
        let remote = receiver.report(Time::ZERO + Span::from_millis(20));
        assert_eq!(remote.arrival_rate, None);
        assert!((remote.window.expect("always").0 - 26.5).abs() < 1e-9);
        receiver.on_packet(&packet(12, 25_000));
        let remote = receiver.report(Time::ZERO + Span::from_millis(30));
        assert_eq!(remote.arrival_rate, Some(Rate(100.0)));
    }

    #[test]
    fn a_pair_counts_only_if_its_packets_follow_each_other() {
        for profile in [Profile::Paper, Profile::Ns2, Profile::Udt4] {
            let mut receiver = receiver(profile);
            receiver.on_packet(&packet(15, 0));
            receiver.on_packet(&packet(17, 12));
            assert_eq!(receiver.report(Time::ZERO + SYN).capacity, None, "the first of the pair was lost");
            for pair in 2..6 {
                receiver.on_packet(&packet(16 * pair, 1000 * pair));
                receiver.on_packet(&packet(16 * pair + 1, 1000 * pair + 12));
            }
            let capacity = receiver.report(Time::ZERO + SYN).capacity.expect("a pair");
            assert!((capacity.to_bits(Bytes(1500)).0 - 1e9).abs() < 1.0, "{profile:?}: 1500 bytes in 12 us");
        }
    }
}
