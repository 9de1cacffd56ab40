//! XCP's router: how much more or less may come, and whose.
//!
//! Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.5, with the bookkeeping of the authors' ns-2 queue: the efficiency controller
//! finds the change of traffic per control interval, the fairness controller gives increases in equal parts to flows and takes
//! decreases in proportion to their rates. Changes are in bytes per second here, and in packets of window on packets.
//!
//! Feedback is written when a packet arrives, not when it leaves: the times between differ by the queue, which XCP keeps short.

use cwnd::{Span, Time};

use super::{Arriving, Decision};
use crate::net::packet::{Body, Header};
use crate::net::setup::XcpSetup;

/// The state of an XCP queue.
#[derive(Debug)]
pub(crate) struct Xcp {
    setup: XcpSetup,
    /// Bytes per second.
    capacity: f64,
    /// The control interval: when it began, and ends.
    began: Time,
    ends: Time,
    /// Bytes that came in it.
    input: f64,
    /// Of the packets with a header: the sum of rtt / window, and of that times the round trip.
    shares: f64,
    round_trips: f64,
    /// The mean round trip, weighted by these shares, seconds.
    mean_rtt: f64,
    /// The shortest queue of the present queue interval, and of the one before (which persists), bytes.
    least: f64,
    persistent: f64,
    queue_ends: Time,
    increase: Allotment,
    decrease: Allotment,
}

/// The rest to give or to take, and the amount per unit: of rtt / window for increases, per byte for decreases.
#[derive(Clone, Copy, Debug, Default)]
struct Allotment {
    left: f64,
    factor: f64,
}

impl Xcp {
    /// An empty queue before a line of `rate` bit/s.
    pub(crate) fn new(setup: XcpSetup, rate: u64) -> Self {
        Self {
            setup,
            capacity: rate as f64 / 8.0,
            began: Time::ZERO,
            ends: Time::ZERO + FIRST_INTERVAL,
            input: 0.0,
            shares: 0.0,
            round_trips: 0.0,
            mean_rtt: FIRST_INTERVAL.as_secs_f64(),
            least: 0.0,
            persistent: 0.0,
            queue_ends: Time::ZERO + FIRST_INTERVAL,
            increase: Allotment::default(),
            decrease: Allotment::default(),
        }
    }

    /// Takes in a packet, and writes on it if it has a congestion header.
    pub(crate) fn admit(&mut self, packet: &Arriving, body: &mut Body) -> Decision {
        self.pass(packet);
        self.input += f64::from(packet.size.0);
        if let Body::Headed(_, Header::Congestion { window, rtt, feedback, answered }) = body {
            let (window, round_trip) = (f64::from(*window), f64::from(*rtt));
            *feedback = if round_trip > 0.0 {
                let share = round_trip / window;
                self.shares += share;
                self.round_trips += share * round_trip.min(LONGEST_RTT);
                let size = f64::from(packet.size.0);
                let wished = f64::from(*feedback) * size / round_trip;
                (self.feedback(share, size, wished) * round_trip / size) as f32
            } else {
                0.0
            };
            *answered = true;
        }
        if packet.full { Decision::Drop } else { Decision::Queue }
    }

    /// The change of a flow's rate, bytes per second, that one of its packets brings; at most the `wished` change, by its sender or by
    /// a router before this one. An unused part of an increase stays available to others.
    fn feedback(&mut self, share: f64, size: f64, wished: f64) -> f64 {
        let more = self.increase.part(share);
        let less = self.decrease.part(size);
        let (more, less) = if wished >= more - less {
            (more, less)
        } else {
            let less = (less + (more - less - wished)).min(self.decrease.left);
            ((wished + less).max(0.0), less)
        };
        self.increase.take(more);
        self.decrease.take(less);
        wished.min(more - less)
    }

    /// Ends the intervals that are over.
    fn pass(&mut self, packet: &Arriving) {
        let queue = packet.bytes as f64;
        self.least = self.least.min(queue);
        if packet.now >= self.queue_ends {
            self.persistent = self.least;
            self.least = queue;
            let span = (self.mean_rtt - queue / self.capacity) / 2.0;
            self.queue_ends = packet.now + Span::from_secs_f64(span).max(SHORTEST_QUEUE_INTERVAL);
        }
        if packet.now >= self.ends {
            self.control(packet.now);
        }
    }

    /// Eqs. 2 to 7.
    fn control(&mut self, now: Time) {
        let input = self.input / now.since(self.began).as_secs_f64();
        if self.shares > 0.0 {
            self.mean_rtt = self.round_trips / self.shares;
        }
        let XcpSetup { alpha, beta, gamma } = self.setup;
        let phi = alpha * (self.capacity - input) - beta * self.persistent / self.mean_rtt;
        let shuffled = (gamma * input - phi.abs()).max(0.0);
        self.increase = Allotment::new(phi.max(0.0) + shuffled, self.shares);
        self.decrease = Allotment::new((-phi).max(0.0) + shuffled, self.input);
        (self.input, self.shares, self.round_trips) = (0.0, 0.0, 0.0);
        self.began = now;
        self.ends = now + Span::from_secs_f64(self.mean_rtt).max(SHORTEST_INTERVAL);
    }
}

impl Allotment {
    fn new(left: f64, units: f64) -> Self {
        Self { left, factor: if units > 0.0 { left / units } else { 0.0 } }
    }

    fn part(self, units: f64) -> f64 {
        (self.factor * units).min(self.left)
    }

    fn take(&mut self, part: f64) {
        self.left = (self.left - part).max(0.0);
    }
}

/// Before a round trip is known (ns-2).
const FIRST_INTERVAL: Span = Span::from_millis(50);
/// Control intervals at least (ns-2).
const SHORTEST_INTERVAL: Span = Span::from_millis(1);
/// Queue intervals at least (ns-2).
const SHORTEST_QUEUE_INTERVAL: Span = Span::from_millis(2);
/// A longer round trip counts as this, seconds (ns-2).
const LONGEST_RTT: f64 = 1.0;

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::packet::Data;

    /// 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
    fn xcp() -> Xcp {
        Xcp::new(XcpSetup::default(), 8_000_000)
    }

    /// A packet arrives after `millis` and finds `bytes` waiting; the feedback it leaves with, packets.
    fn offer(xcp: &mut Xcp, millis: u64, bytes: u64, window: f32, demand: f32) -> f32 {
        let now = Time::ZERO + Span::from_millis(millis);
        let size = Bytes(1000);
        let arriving =
            Arriving { now, size, capable: false, packets: bytes / 1000, bytes, idle_since: None, full: false };
        let data = Data::new(0, now);
        let header = Header::Congestion { window, rtt: 0.125, feedback: demand, answered: false };
        let mut body = Body::Headed(data, header);
        assert_eq!(xcp.admit(&arriving, &mut body), Decision::Queue);
        match body {
            Body::Headed(_, Header::Congestion { feedback, answered: true, .. }) => feedback,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn spare_capacity_goes_to_flows_in_equal_parts() {
        let mut xcp = xcp();
        // In 50 ms two flows send 4 and 1 packets of windows 8 and 2, at round trips of 125 ms: 100 kB/s of 1000.
        for n in 0..4 {
            assert_eq!(offer(&mut xcp, 10 * n, 0, 8.0, 1e6), 0.0);
        }
        assert_eq!(offer(&mut xcp, 40, 0, 2.0, 1e6), 0.0);
        // phi = 0.4 * 900 kB/s = 360 kB/s; nothing is shuffled. The shares add up to 4 * 0.125/8 + 0.125/2 = 0.125 s: 2.88 MB/s per second.
        // A packet of the first flow brings 2.88 * 0.125/8 MB/s = 45 kB/s, 5.625 packets in 125 ms; of the second four times as much.
        assert!((offer(&mut xcp, 50, 0, 8.0, 1e6) - 5.625).abs() < 1e-5);
        assert!((offer(&mut xcp, 51, 0, 2.0, 1e6) - 22.5).abs() < 1e-5);
        // Three more of the first take 135 kB/s: 360 = 45 + 180 + 135, and nothing is left.
        for n in 52..55 {
            assert!((offer(&mut xcp, n, 0, 8.0, 1e6) - 5.625).abs() < 1e-5);
        }
        assert_eq!(offer(&mut xcp, 55, 0, 8.0, 1e6), 0.0);
    }

    #[test]
    fn a_queue_that_persists_is_taken_from_all_by_their_bytes() {
        let mut xcp = xcp();
        // A packet per ms is the line's rate. 20 of them wait all the time, but the first queue interval began empty.
        for n in 0..175 {
            offer(&mut xcp, n, 20_000, 10.0, 1e6);
        }
        // At 175 ms, a mean round trip after the first interval: phi = -0.226 * 20 kB / 0.125 s = -36.16 kB/s. Of the input of 1 MB/s a
        // tenth may be shuffled, 100 kB/s less those. Per packet of the 125 of an interval 100 kB/s / 125 less and 63.84 kB/s / 125 more:
        // -289.28 B/s, 0.03616 packets in 125 ms.
        let found = offer(&mut xcp, 175, 20_000, 10.0, 1e6);
        assert!((found + 0.03616).abs() < 1e-6, "{found}");
    }

    #[test]
    fn nobody_gets_more_than_wished() {
        let mut xcp = xcp();
        for n in 0..5 {
            offer(&mut xcp, 10 * n, 0, 8.0, 1e6);
        }
        // Five equal packets: 360 kB/s / 5 = 72 kB/s, 9 packets, but for those that wish for 1, or to slow down.
        assert_eq!(offer(&mut xcp, 50, 0, 8.0, 1.0), 1.0);
        assert_eq!(offer(&mut xcp, 51, 0, 8.0, -0.5), -0.5);
        assert!((offer(&mut xcp, 52, 0, 8.0, 1e6) - 9.0).abs() < 1e-5);
    }
}
