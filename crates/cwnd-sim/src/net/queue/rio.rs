//! Random early detection with an "in" and an "out" class (RIO).
//!
//! Clark and Fang, IEEE/ACM Transactions on Networking 6(4) (1998): packets of both classes share one first-in-first-out queue. In
//! packets are dropped early by the average number of in packets that wait, out packets by the average of all that wait. As the
//! paper has it, every arrival updates the average of all; ns-2 forgets to do so for out packets.

use cwnd::Time;

use super::red::Red;
use super::waiting::Waiting;
use super::{Arriving, Decision};
use crate::net::setup::{Class, RioSetup};
use crate::random::Stream;

/// The state of a RIO queue.
#[derive(Debug)]
pub(crate) struct Rio {
    inside: Red,
    /// Its average is that of all packets.
    outside: Red,
    /// The in packets among those that wait.
    waiting: Waiting,
    /// Packets that could have left while the line was idle since the last in packet.
    missed: f64,
}

impl Rio {
    /// An empty queue before a line of `rate` bit/s; `stream` gives each class its stream.
    pub(crate) fn new(setup: RioSetup, rate: u64, stream: impl Fn(&str) -> Stream) -> Self {
        Self {
            inside: Red::new(setup.inside, rate, stream("in")),
            outside: Red::new(setup.outside, rate, stream("out")),
            waiting: Waiting::default(),
            missed: 0.0,
        }
    }

    /// Decides on a packet, whose transmission would begin at `start`.
    pub(crate) fn admit(&mut self, packet: &Arriving, class: Class, start: Time) -> Decision {
        self.outside.update_average(packet, self.outside.missed(packet));
        self.missed += self.inside.missed(packet);
        match class {
            Class::Out => self.outside.decide(packet),
            Class::In => {
                self.waiting.advance(packet.now);
                let inside = Arriving { packets: self.waiting.packets(), bytes: self.waiting.bytes(), ..*packet };
                self.inside.update_average(&inside, std::mem::take(&mut self.missed));
                let fate = self.inside.decide(&inside);
                if fate != Decision::Drop && start > packet.now {
                    self.waiting.push(start, packet.size);
                }
                fate
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::setup::RedSetup;

    fn rio(weight: f64) -> Rio {
        let setup = RioSetup::default();
        let setup = RioSetup {
            inside: RedSetup { weight, ..setup.inside },
            outside: RedSetup { weight, wait: false, ..setup.outside },
        };
        // 1000 packets of 1500 bytes a second.
        Rio::new(setup, 12_000_000, |name| Stream::new(1, name))
    }

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// A packet arrives at `now` when `packets` wait; its transmission would begin at `start`.
    fn offer(rio: &mut Rio, class: Class, now: u64, packets: u64, start: u64) -> Decision {
        let idle_since = (start == now).then_some(Time::ZERO);
        let bytes = packets * 1500;
        let arriving = Arriving {
            now: ms(now),
            size: Bytes(1500),
            capable: false,
            packets,
            bytes,
            idle_since,
            full: packets >= 50,
        };
        rio.admit(&arriving, class, ms(start))
    }

    #[test]
    fn the_in_average_is_of_in_packets_and_the_other_of_all() {
        let mut queue = rio(0.5);
        let steps = [
            // Class, now, packets waiting, start; then half the old average and half the present queue, of in packets and of all.
            (Class::Out, 1, 0, 11, 0.0, 0.0),
            (Class::In, 1, 1, 21, 0.0, 0.5),
            (Class::In, 1, 2, 31, 0.5, 1.25),
            (Class::Out, 1, 3, 41, 0.5, 2.125),
            (Class::In, 1, 4, 51, 1.25, 3.0625),
            // The transmission of an out packet and of the first in packet has begun: two in packets are left of three.
            (Class::In, 21, 3, 61, 1.625, 3.03125),
            (Class::Out, 61, 0, 62, 1.625, 1.515625),
            (Class::In, 61, 1, 63, 0.8125, 1.2578125),
        ];
        for (class, now, packets, start, inside, all) in steps {
            assert_eq!(offer(&mut queue, class, now, packets, start), Decision::Queue);
            assert_eq!((queue.inside.average, queue.outside.average), (inside, all), "at {now} ms, {packets} waiting");
        }
    }

    #[test]
    fn idle_time_counts_for_the_in_average_though_an_out_packet_ends_it() {
        let mut queue = rio(0.5);
        (queue.inside.average, queue.outside.average) = (64.0, 64.0);
        // Five packets could have left in 5 ms, and one more arrives.
        offer(&mut queue, Class::Out, 5, 0, 5);
        assert_eq!((queue.inside.average, queue.outside.average), (64.0, 1.0));
        offer(&mut queue, Class::In, 5, 0, 6);
        assert_eq!((queue.inside.average, queue.outside.average), (1.0, 0.5));
    }

    #[test]
    fn out_packets_go_first() {
        // 20 packets wait, 10 of them in: above the outer class's upper threshold of 15, below the inner one's lower of 15.
        let mut queue = rio(1.0);
        for n in 0..20 {
            let class = if n % 2 == 0 { Class::In } else { Class::Out };
            let fate = offer(&mut queue, class, 1, n, 100);
            assert_eq!(fate == Decision::Drop, class == Class::Out && n >= 15, "packet {n}");
        }
        assert_eq!(queue.inside.average, 9.0);
    }

    #[test]
    fn in_packets_are_dropped_by_their_own_thresholds_and_by_the_limit() {
        let mut queue = rio(1.0);
        let fates: Vec<_> = (0..40).map(|n| offer(&mut queue, Class::In, 1, n, 100)).collect();
        assert!(fates[..16].iter().all(|fate| *fate == Decision::Queue));
        assert!(fates[16..30].iter().filter(|fate| **fate == Decision::Drop).count() <= 1, "at most 2 % a packet");
        // Dropped packets do not wait: the average is what entered.
        assert!(fates[32..].iter().all(|fate| *fate == Decision::Drop));
        assert_eq!(offer(&mut rio(1.0), Class::In, 1, 50, 100), Decision::Drop, "the queue is full");
    }
}
