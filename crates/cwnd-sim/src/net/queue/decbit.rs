//! DECbit's router: a bit where the queue is long on average.
//!
//! Ramakrishnan and Jain, ACM Transactions on Computer Systems 8(2), 1990, section 4.1: the queue, with the packet in transmission, is
//! averaged since the beginning of the last but one regeneration cycle: over the last busy and idle period and the present one.

use std::collections::VecDeque;

use cwnd::Time;

use super::{Arriving, Decision};
use crate::net::packet::{Body, Header};
use crate::net::setup::DecBitSetup;

/// The state of a DECbit queue.
#[derive(Debug)]
pub(crate) struct DecBit {
    setup: DecBitSetup,
    /// Seconds per byte.
    pace: f64,
    /// When the last bit of each packet present leaves.
    leaving: VecDeque<Time>,
    /// The integral of the queue was taken until then.
    until: Time,
    /// The cycles before the present one, and that one.
    last: Cycle,
    present: Cycle,
}

/// A busy period and the idle one after it, as far as they have gone: packet-seconds and when it began.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    began: Time,
    area: f64,
}

impl DecBit {
    /// An empty queue before a line of `rate` bit/s.
    pub(crate) fn new(setup: DecBitSetup, rate: u64) -> Self {
        let pace = 8.0 / rate as f64;
        let (last, present) = (Cycle::default(), Cycle::default());
        Self { setup, pace, leaving: VecDeque::new(), until: Time::ZERO, last, present }
    }

    /// Takes in a packet whose transmission would begin at `start`, and sets its bit if it has one.
    pub(crate) fn admit(&mut self, packet: &Arriving, start: Time, body: &mut Body) -> Decision {
        let now = packet.now;
        self.integrate(now);
        if self.leaving.is_empty() {
            self.last = self.present;
            self.present = Cycle { began: now, area: 0.0 };
        }
        if packet.full {
            return Decision::Drop;
        }
        if let Body::Headed(_, Header::Load(bit)) = body
            && self.average(now) >= self.setup.threshold
        {
            *bit = 1;
        }
        let transmission = cwnd::Span::from_secs_f64(self.pace * f64::from(packet.size.0));
        self.leaving.push_back(start + transmission);
        Decision::Queue
    }

    /// Over both cycles until `now`.
    fn average(&self, now: Time) -> f64 {
        let span = now.since(self.last.began).as_secs_f64();
        if span > 0.0 { (self.last.area + self.present.area) / span } else { 0.0 }
    }

    fn integrate(&mut self, now: Time) {
        while let Some(left) = self.leaving.front().copied().filter(|left| *left <= now) {
            self.add(left);
            self.leaving.pop_front();
        }
        self.add(now);
    }

    fn add(&mut self, until: Time) {
        self.present.area += self.leaving.len() as f64 * until.since(self.until).as_secs_f64();
        self.until = self.until.max(until);
    }
}

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Span};

    use super::*;
    use crate::net::packet::Data;

    #[test]
    fn the_average_is_over_the_last_cycle_and_the_present_one() {
        // 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
        let mut queue = DecBit::new(DecBitSetup::default(), 8_000_000);
        let mut free = Time::ZERO;
        let mut offer = |micros: u64| {
            let now = Time::ZERO + Span::from_micros(micros);
            let size = Bytes(1000);
            let arriving = Arriving { now, size, capable: false, packets: 0, bytes: 0, idle_since: None, full: false };
            let data = Data::new(0, now);
            let mut body = Body::Headed(data, Header::Load(0));
            let start = free.max(now);
            queue.admit(&arriving, start, &mut body);
            free = start + Span::from_millis(1);
            (queue.average(now), matches!(body, Body::Headed(_, Header::Load(1))))
        };
        // Two packets at 10 ms, done at 12: 1 ms of two and 1 ms of one, 3 packet-ms, in a cycle that ends at 14.
        // The cycle before it began with the world.
        assert_eq!(offer(10_000), (0.0, false));
        assert_eq!(offer(10_000), (0.0, false));
        let (average, bit) = offer(14_000);
        assert!((average - 3.0 / 4.0).abs() < 1e-9 && !bit, "{average}");
        // Three more at once: at 15 ms four have been there for 1 ms: (3 + 4) / 5.
        (0..3).for_each(|_| {
            offer(14_000);
        });
        let (average, bit) = offer(15_000);
        assert!((average - 7.0 / 5.0).abs() < 1e-9 && bit, "{average}");
        // Done at 19: 4 + 4 + 3 + 2 + 1 = 14 packet-ms. At 24 the cycle from 10 to 14 is forgotten: 14 / 10.
        let (average, bit) = offer(24_000);
        assert!((average - 1.4).abs() < 1e-9 && bit, "{average}");
    }
}
