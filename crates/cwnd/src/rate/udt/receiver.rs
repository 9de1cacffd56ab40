//! UDT's window (daimd eq. 21) and its half at the receiver.

use alloc::boxed::Box;

use super::SYN;
use crate::control::ReceiverSide;
use crate::estimate::{ArrivalRate, NS2_PAIRS, PacketPairs, UDT4_PAIRS};
use crate::signal::{Arrival, Remote};
use crate::units::{Packets, Rate, Span, Time};

/// One update of UDT's window (daimd eq. 21): `w = lambda w + (1 - lambda) AS (SYN + RTT)`.
#[must_use]
pub fn window(w: Packets, lambda: f64, arrival_rate: Rate, rtt: Span) -> Packets {
    w * lambda + arrival_rate * (SYN + rtt) * (1.0 - lambda)
}

/// What UDT's receiver reports with each of its acknowledgements, every SYN: arrival rate and capacity by packet pairs.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: ArrivalRate,
    pairs: Pairs,
    /// The newest packet, to see whether the second of a pair follows the first.
    last: Option<Newest>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    at: Time,
    number: u64,
    retransmission: bool,
}

#[derive(Clone, Debug)]
enum Pairs {
    Ns2(PacketPairs<NS2_PAIRS>),
    Udt4(Box<PacketPairs<UDT4_PAIRS>>),
}

impl Receiver {
    /// As libudt measures.
    #[must_use]
    pub fn udt4() -> Self {
        Self { arrivals: ArrivalRate::udt4(), pairs: Pairs::Udt4(Box::new(PacketPairs::udt4())), last: None }
    }

    /// As the author's ns-2 agents measure, without their mistakes.
    #[must_use]
    pub fn ns2() -> Self {
        Self { arrivals: ArrivalRate::ns2(), pairs: Pairs::Ns2(PacketPairs::ns2()), last: None }
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        self.arrivals.on_packet(arrival.at);
        let Arrival { at, number, retransmission, .. } = *arrival;
        let first = self.last.replace(Newest { at, number, retransmission });
        let follows = |first: &Newest| first.number.checked_add(1) == Some(number);
        if let Some(first) = first.filter(|first| arrival.pair && !first.retransmission && follows(first)) {
            let gap = at.since(first.at);
            match &mut self.pairs {
                Pairs::Ns2(pairs) => pairs.on_pair(gap),
                Pairs::Udt4(pairs) => pairs.on_pair(gap),
            }
        }
    }

    fn report(&mut self, _now: Time) -> Remote {
        let capacity = match &self.pairs {
            Pairs::Ns2(pairs) => pairs.capacity(),
            Pairs::Udt4(pairs) => pairs.capacity(),
        };
        Remote { arrival_rate: self.arrivals.rate(), capacity, ..Remote::default() }
    }
}

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

    #[test]
    fn a_pair_counts_only_if_its_packets_follow_each_other() {
        for mut receiver in [Receiver::ns2(), Receiver::udt4()] {
            receiver.on_packet(&packet(15, 0));
            receiver.on_packet(&packet(17, 12));
            assert_eq!(receiver.report(Time::ZERO + SYN).capacity, None, "the first of the pair was lost");
            for pair in 2..6 {
                receiver.on_packet(&packet(16 * pair, 1000 * pair));
                receiver.on_packet(&packet(16 * pair + 1, 1000 * pair + 12));
            }
            let capacity = receiver.report(Time::ZERO + SYN).capacity.expect("a pair");
            assert!((capacity.to_bits(Bytes(1500)).0 - 1e9).abs() < 1.0, "1500 bytes in 12 us");
        }
    }
}
