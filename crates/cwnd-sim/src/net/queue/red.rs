//! Random early detection as ns-2 does it.
//!
//! Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4) (1993), with what ns-2 added: the gentle slope above the upper
//! threshold, waiting between early drops, byte mode, marking (RFC 3168). The packet in transmission does not count as queued.

use cwnd::Bytes;

use super::{Arriving, Decision};
use crate::net::setup::RedSetup;
use crate::random::Stream;

/// The state of a RED queue.
#[derive(Debug)]
pub(crate) struct Red {
    setup: RedSetup,
    /// Packets of the mean size the line sends per second.
    line_rate: f64,
    stream: Stream,
    /// The averaged queue, in packets, or in bytes in byte mode.
    pub(super) average: f64,
    /// Packets and bytes since the last early drop.
    count: f64,
    count_bytes: f64,
    /// The average was at or above the lower threshold when the last packet arrived.
    above: bool,
}

impl Red {
    /// An empty queue before a line of `rate` bit/s.
    pub(crate) fn new(setup: RedSetup, rate: u64, stream: Stream) -> Self {
        let line_rate = rate as f64 / setup.mean_packet.bits();
        Self { setup, line_rate, stream, average: 0.0, count: 0.0, count_bytes: 0.0, above: false }
    }

    /// Decides on a packet.
    pub(crate) fn admit(&mut self, packet: &Arriving) -> Decision {
        self.update_average(packet, self.missed(packet));
        self.decide(packet)
    }

    /// How many packets could have left while the line was idle before this one.
    pub(crate) fn missed(&self, packet: &Arriving) -> f64 {
        let idle = packet.idle_since.map_or(0.0, |since| packet.now.since(since).as_secs_f64());
        libm::floor(idle * self.line_rate)
    }

    /// Takes the present queue into the exponential average, as if it had been updated for every one of the packets that were
    /// `missed` too.
    pub(crate) fn update_average(&mut self, packet: &Arriving, missed: f64) {
        let queued = if self.setup.byte_mode { packet.bytes } else { packet.packets };
        self.average *= libm::pow(1.0 - self.setup.weight, missed + 1.0);
        self.average += self.setup.weight * queued as f64;
    }

    /// Decides on a packet by the average as it is.
    pub(crate) fn decide(&mut self, packet: &Arriving) -> Decision {
        self.count += 1.0;
        self.count_bytes += f64::from(packet.size.0);
        let [low, high] = self.thresholds();
        // A queue of at most one packet is never dropped from early, however high the average still is.
        let early = if self.average < low || packet.packets <= 1 {
            self.above = false;
            Decision::Queue
        } else if low == high {
            // A step has no slope to draw from.
            self.refuse(packet, 1.0)
        } else {
            let ceiling = if self.setup.gentle { 2.0 * high } else { high };
            if self.average >= ceiling {
                Decision::Drop
            } else if self.above {
                self.draw(packet)
            } else {
                // The first packet of an excursion starts the count and passes.
                (self.above, self.count, self.count_bytes) = (true, 1.0, f64::from(packet.size.0));
                Decision::Queue
            }
        };
        let fate = if packet.full { Decision::Drop } else { early };
        if fate != Decision::Queue {
            (self.count, self.count_bytes) = (0.0, 0.0);
        }
        fate
    }

    fn draw(&mut self, packet: &Arriving) -> Decision {
        let base = self.base_probability();
        if self.stream.unit() > self.spread(base, packet.size) { Decision::Queue } else { self.refuse(packet, base) }
    }

    /// A packet that the probability `base` has hit: marked where that may be, dropped otherwise.
    fn refuse(&self, packet: &Arriving, base: f64) -> Decision {
        let marks = packet.capable && self.setup.mark && base <= self.setup.mark_limit;
        if marks { Decision::Mark } else { Decision::Drop }
    }

    /// p_b: from 0 at the lower threshold to `max_p` at the upper one, and on to 1 at twice that if gentle.
    fn base_probability(&self) -> f64 {
        let [low, high] = self.thresholds();
        let max_p = self.setup.max_p;
        if self.average < high {
            max_p * (self.average - low) / (high - low)
        } else {
            (max_p + (1.0 - max_p) * (self.average - high) / high).min(1.0)
        }
    }

    /// p_a: spreads early drops evenly over the packets that arrive between two of them.
    fn spread(&self, base: f64, size: Bytes) -> f64 {
        let mean = f64::from(self.setup.mean_packet.0);
        let since = base * if self.setup.byte_mode { self.count_bytes / mean } else { self.count };
        let spread = match (self.setup.wait, since) {
            (true, since) if since < 1.0 => 0.0,
            (true, since) if since < 2.0 => base / (2.0 - since),
            (false, since) if since < 1.0 => base / (1.0 - since),
            _ => 1.0,
        };
        if self.setup.byte_mode { (spread * f64::from(size.0) / mean).min(1.0) } else { spread }
    }

    fn thresholds(&self) -> [f64; 2] {
        let unit = if self.setup.byte_mode { f64::from(self.setup.mean_packet.0) } else { 1.0 };
        [self.setup.min * unit, self.setup.max * unit]
    }
}

#[cfg(test)]
mod tests {
    use cwnd::{Span, Time};

    use super::*;

    fn red(change: impl Fn(&mut RedSetup)) -> Red {
        let mut setup = RedSetup { min: 10.0, max: 30.0, ..RedSetup::default() };
        change(&mut setup);
        Red::new(setup, 12_000_000, Stream::new(1, "red"))
    }

    fn arriving(packets: u64) -> Arriving {
        let now = Time::ZERO + Span::from_secs(1);
        Arriving {
            now,
            size: Bytes(1500),
            capable: false,
            packets,
            bytes: packets * 1500,
            idle_since: None,
            full: false,
        }
    }

    #[test]
    fn the_slope_and_the_gentle_slope() {
        let mut queue = red(|_| {});
        for (average, p) in [(10.0, 0.0), (20.0, 0.05), (30.0, 0.1), (45.0, 0.55), (60.0, 1.0)] {
            queue.average = average;
            assert!((queue.base_probability() - p).abs() < 1e-12, "{average}");
        }
        let mut bytes = red(|setup| setup.byte_mode = true);
        bytes.average = 20.0 * 1500.0;
        assert!((bytes.base_probability() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn drops_are_spread() {
        let mut queue = red(|setup| setup.wait = false);
        queue.count = 10.0;
        assert!((queue.spread(0.05, Bytes(1500)) - 0.1).abs() < 1e-12, "0.05 / (1 - 10 x 0.05)");
        queue.count = 20.0;
        assert_eq!(queue.spread(0.05, Bytes(1500)), 1.0);
        let mut waiting = red(|setup| setup.wait = true);
        for (count, p) in [(19.0, 0.0), (20.0, 0.05), (30.0, 0.1), (40.0, 1.0)] {
            waiting.count = count;
            assert!((waiting.spread(0.05, Bytes(1500)) - p).abs() < 1e-12, "{count}");
        }
        let mut bytes = red(|setup| (setup.wait, setup.byte_mode) = (false, true));
        bytes.count_bytes = 10.0 * 1500.0;
        assert!((bytes.spread(0.05, Bytes(750)) - 0.05).abs() < 1e-12, "half a packet, half the chance");
    }

    #[test]
    fn the_average_decays_while_the_line_is_idle() {
        let mut queue = red(|_| {});
        queue.average = 20.0;
        // 12 Mbit/s send 1000 packets of 1500 bytes a second: 5 could have left in 5 ms, and one more arrives.
        let idle_since = Some(Time::ZERO + Span::from_millis(995));
        queue.admit(&Arriving { idle_since, ..arriving(0) });
        assert!((queue.average - 20.0 * 0.998_f64.powi(6)).abs() < 1e-9);
        queue.admit(&arriving(40));
        assert!((queue.average - (20.0 * 0.998_f64.powi(7) + 0.08)).abs() < 1e-9);
    }

    #[test]
    fn the_first_above_and_a_nearly_empty_queue_pass() {
        let mut queue = red(|setup| setup.weight = 1.0);
        assert_eq!(queue.admit(&arriving(25)), Decision::Queue);
        assert_eq!(queue.count, 1.0);
        queue.setup.weight = 1e-9;
        queue.average = 1000.0;
        assert_eq!(queue.admit(&arriving(1)), Decision::Queue);
        assert_eq!(queue.admit(&arriving(2)), Decision::Drop);
    }

    #[test]
    fn capable_packets_are_marked_up_to_the_limit_and_never_when_full() {
        let always = |setup: &mut RedSetup| (setup.wait, setup.weight, setup.mark) = (false, 1e-9, true);
        let mut queue = red(always);
        let capable = |packets| Arriving { capable: true, ..arriving(packets) };
        (queue.average, queue.above, queue.count) = (20.0, true, 1000.0);
        assert_eq!(queue.admit(&capable(20)), Decision::Mark);
        queue.count = 1000.0;
        assert_eq!(queue.admit(&arriving(20)), Decision::Drop);
        queue.count = 1000.0;
        assert_eq!(queue.admit(&Arriving { full: true, ..capable(20) }), Decision::Drop);
        queue.setup.mark_limit = 0.01;
        queue.count = 1000.0;
        assert_eq!(queue.admit(&capable(20)), Decision::Drop, "p_b = 0.05 is above the limit");
    }

    /// RFC 8257 section 3.1: every packet is marked that finds the queue at the threshold.
    #[test]
    fn equal_thresholds_are_a_step() {
        let mut queue = red(|setup| {
            (setup.min, setup.max, setup.weight, setup.mark) = (10.0, 10.0, 1.0, true);
        });
        let capable = |packets| Arriving { capable: true, ..arriving(packets) };
        assert_eq!([9, 10, 9, 30, 10].map(|packets| queue.admit(&capable(packets))), {
            use Decision::{Mark, Queue};
            [Queue, Mark, Queue, Mark, Mark]
        });
        assert_eq!(queue.admit(&arriving(10)), Decision::Drop);
        assert_eq!(queue.admit(&Arriving { full: true, ..capable(10) }), Decision::Drop);
    }

    #[test]
    fn early_drops_come_at_the_configured_rate() {
        let mut queue = red(|setup| (setup.wait, setup.weight) = (false, 1.0));
        queue.above = true;
        let n = 200_000;
        let dropped = (0..n).filter(|_| queue.admit(&arriving(20)) == Decision::Drop).count();
        // The packet itself counts, so the gap is uniform over 1..1/p_b: 10 on average at p_b = 0.05.
        let gap = f64::from(n) / dropped as f64;
        assert!((9.8..10.2).contains(&gap), "{gap}");
    }
}
