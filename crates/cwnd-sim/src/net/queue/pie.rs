//! Proportional integral controller enhanced (PIE, RFC 8033).
//!
//! Packets are dropped on arrival with a probability that is computed anew at regular instants, from how far the delay is from its
//! target and from how much it has changed. An update that falls on the instant of a departure comes after it, and before an
//! arrival of that instant.

use std::collections::VecDeque;

use cwnd::{Span, Time};

use super::{Arriving, Decision};
use crate::net::setup::PieSetup;
use crate::random::Stream;

/// The state of the controller, with the names of RFC 8033's appendix A in parentheses.
#[derive(Debug)]
pub(crate) struct Pie {
    setup: PieSetup,
    stream: Stream,
    /// The packets that wait: when their transmission begins, and how long they will have waited.
    waiting: VecDeque<(Time, Span)>,
    /// How long the one waited whose transmission began last; zero if none waits (current_qdelay).
    delay: Span,
    /// The delay at the last update (qdelay_old_).
    old_delay: Span,
    /// Of dropping a packet (drop_prob_).
    probability: f64,
    /// For how long nothing is dropped early (burst_allowance_).
    allowance: Span,
    /// Of the packets since the last drop, together (accu_prob_, section 5.4).
    accumulated: f64,
    next_update: Time,
}

impl Pie {
    /// An empty queue.
    pub(crate) fn new(setup: PieSetup, stream: Stream) -> Self {
        Self {
            setup,
            stream,
            waiting: VecDeque::new(),
            delay: Span::ZERO,
            old_delay: Span::ZERO,
            probability: 0.0,
            allowance: Span::ZERO,
            accumulated: 0.0,
            next_update: Time::ZERO + setup.update,
        }
    }

    /// Decides on a packet, whose transmission would begin at `start`.
    pub(crate) fn admit(&mut self, packet: &Arriving, start: Time) -> Decision {
        self.advance(packet.now);
        if self.probability == 0.0 && self.is_low(self.delay) && self.is_low(self.old_delay) {
            self.allowance = self.setup.burst;
        }
        let fate = if packet.full {
            Decision::Drop
        } else if self.allowance > Span::ZERO || !self.strikes(packet) {
            Decision::Queue
        } else if packet.capable && self.setup.mark && self.probability < self.setup.mark_limit {
            Decision::Mark
        } else {
            Decision::Drop
        };
        if fate != Decision::Queue {
            self.accumulated = 0.0;
        }
        if fate != Decision::Drop && start > packet.now {
            self.waiting.push_back((start, start.since(packet.now)));
        }
        fate
    }

    /// Whether a packet is to be dropped early (section 4.1).
    fn strikes(&mut self, packet: &Arriving) -> bool {
        let calm = self.is_low(self.old_delay) && self.probability < 0.2;
        if calm || packet.bytes <= 2 * u64::from(self.setup.mean_packet.0) {
            return false;
        }
        if self.setup.derandomize {
            self.accumulated = if self.probability == 0.0 { 0.0 } else { self.accumulated + self.probability };
            if self.accumulated < LEAST {
                return false;
            }
            if self.accumulated >= MOST {
                return true;
            }
        }
        self.stream.unit() < self.probability
    }

    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            self.depart(self.next_update);
            self.update();
            self.next_update += self.setup.update;
            let delays = self.delay + self.old_delay;
            if self.probability == 0.0 && delays == Span::ZERO && self.waiting.is_empty() {
                // Until the next packet no update changes anything but the allowance, which that packet renews.
                let missed = now.since(self.next_update).as_nanos() / self.setup.update.as_nanos();
                self.next_update += self.setup.update * missed;
            }
        }
        self.depart(now);
    }

    fn depart(&mut self, now: Time) {
        while let Some((start, waited)) = self.waiting.front()
            && *start <= now
        {
            self.delay = *waited;
            self.waiting.pop_front();
        }
        if self.waiting.is_empty() {
            self.delay = Span::ZERO;
        }
    }

    /// Computes the probability anew (sections 4.2, 4.3 and 5.5).
    fn update(&mut self) {
        let [delay, old, target] = [self.delay, self.old_delay, self.setup.target].map(Span::as_secs_f64);
        let change = self.setup.alpha * (delay - target) + self.setup.beta * (delay - old);
        let mut change = change / divisor(self.probability);
        if self.probability >= 0.1 {
            change = change.min(MOST_GROWTH);
        }
        self.probability += change;
        if self.delay + self.old_delay == Span::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = self.delay;
        self.allowance = self.allowance - self.setup.update;
    }

    /// Below half of the target.
    fn is_low(&self, delay: Span) -> bool {
        delay * 2 < self.setup.target
    }
}

/// Divisor of changes of a small probability, so that they stay small relative to it (section 4.2).
fn divisor(probability: f64) -> f64 {
    SCALE.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

/// Probabilities below the first number have their changes divided by the second.
const SCALE: [(f64, f64); 6] = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
/// Of the probability at each update while no packet waits (section 4.2).
const DECAY: f64 = 0.98;
/// Of a probability of 10 % or more at an update (section 5.5).
const MOST_GROWTH: f64 = 0.02;
/// No drop before the probabilities of the packets since the last one add up to this, and one as soon as they do to the other
/// (section 5.4).
const LEAST: f64 = 0.85;
const MOST: f64 = 8.5;

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;

    fn pie(change: impl Fn(&mut PieSetup)) -> Pie {
        let mut setup = PieSetup::default();
        change(&mut setup);
        Pie::new(setup, Stream::new(1, "PIE"))
    }

    fn ms(millis: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(millis / 1e3)
    }

    /// A packet arrives at `now` behind as many of 1500 bytes as the line sends in `wait` milliseconds, one in each.
    fn arriving(now: f64, wait: f64) -> Arriving {
        let packets = wait as u64;
        let (size, bytes) = (Bytes(1500), packets * 1500);
        Arriving { now: ms(now), size, capable: false, packets, bytes, idle_since: None, full: false }
    }

    fn offer(queue: &mut Pie, now: f64, wait: f64) -> Decision {
        queue.admit(&arriving(now, wait), ms(now + wait))
    }

    #[test]
    fn changes_are_scaled_by_the_probability() {
        // At 35 ms, from 25 ms: 20 ms / 8 + 10 ms x 5 / 4 = 0.0025 + 0.0125 = 0.015.
        let after = |probability| {
            let mut queue = pie(|_| {});
            (queue.probability, queue.delay, queue.old_delay) =
                (probability, Span::from_millis(35), Span::from_millis(25));
            queue.update();
            assert_eq!(queue.old_delay, Span::from_millis(35));
            queue.probability - probability
        };
        for (probability, change) in [
            (0.0, 7.324_218_75e-6),
            (9.9e-7, 7.324_218_75e-6),
            (1e-6, 2.929_687_5e-5),
            (1e-5, 1.171_875e-4),
            (1e-4, 4.6875e-4),
            (1e-3, 1.875e-3),
            (1e-2, 7.5e-3),
            (0.099, 7.5e-3),
            (0.1, 0.015),
            (0.9, 0.015),
        ] {
            assert!((after(probability) / change - 1.0).abs() < 1e-9, "{probability}: {}", after(probability));
        }
    }

    #[test]
    fn high_probabilities_grow_by_two_percent_at_most_and_end_at_one() {
        let mut queue = pie(|_| {});
        let mut grow = |probability, delay| {
            (queue.probability, queue.delay, queue.old_delay) = (probability, Span::from_millis(delay), Span::ZERO);
            queue.update();
            queue.probability
        };
        // 85 ms / 8 + 100 ms x 5 / 4 = 0.135625: half of it below a probability of 0.1, capped above.
        assert!((grow(0.05, 100) - 0.117_812_5).abs() < 1e-12);
        assert!((grow(0.2, 100) - 0.22).abs() < 1e-12);
        assert_eq!(grow(0.99, 100), 1.0);
        // An empty queue: -15 ms / 8 = -0.001875, and 2 % off.
        assert!((grow(0.2, 0) - 0.198_125 * 0.98).abs() < 1e-12);
        assert_eq!(grow(1e-7, 0), 0.0);
    }

    #[test]
    fn the_delay_is_that_of_the_last_packet_to_leave() {
        let mut queue = pie(|_| {});
        // Arrivals at 0 ms that leave at 5, 10 and 20 ms.
        [5.0, 10.0, 20.0].into_iter().for_each(|wait| {
            offer(&mut queue, 0.0, wait);
        });
        for (now, delay) in [(4.0, 0), (5.0, 5), (19.0, 10), (20.0, 0)] {
            queue.advance(ms(now));
            assert_eq!(queue.delay, Span::from_millis(delay), "at {now} ms");
        }
        // The update at 15 ms saw 10 ms: -5 ms / 8 + 10 ms x 5 / 4, divided by 2048.
        assert!((queue.probability * 2048.0 - 0.011_875).abs() < 1e-12);
        assert_eq!(queue.old_delay, Span::from_millis(10));
        // Idle for an hour: the probability is gone with the first update, and the updates keep their grid.
        queue.advance(ms(3_600_007.0));
        assert_eq!((queue.probability, queue.next_update), (0.0, ms(3_600_015.0)));
    }

    #[test]
    fn a_burst_passes_and_what_goes_on_is_dropped_from() {
        // 100 packets are there at once, and from then on 2 come for each that leaves: the delay grows by a millisecond in each.
        let drops = |burst| {
            let mut queue = pie(|setup| setup.burst = Span::from_millis(burst));
            let arrivals = (0..1200).map(|step| f64::from(step) / 2.0);
            arrivals.filter(|now| offer(&mut queue, *now, 100.0 + now) == Decision::Drop).collect::<Vec<_>>()
        };
        // Nothing leaves before 100 ms; the update at 105 ms is the first to see a delay. The allowance is full until then, and used up
        // by the tenth update or the twentieth.
        for (burst, from, to) in [(0, 105.0, 240.0), (150, 240.0, 300.0), (300, 390.0, 420.0)] {
            let dropped = drops(burst);
            assert!((from..to).contains(&dropped[0]), "{burst} ms: {}", dropped[0]);
            assert!(dropped.len() > 100, "{burst} ms: {}", dropped.len());
        }
    }

    #[test]
    fn calm_or_short_queues_are_left_alone() {
        let sure = |old_delay, probability, wait| {
            let mut queue = pie(|_| {});
            (queue.probability, queue.old_delay) = (probability, Span::from_millis(old_delay));
            offer(&mut queue, 0.0, wait)
        };
        assert_eq!(sure(20, 1.0, 20.0), Decision::Drop);
        assert_eq!(sure(20, 1.0, 2.0), Decision::Queue, "two packets wait");
        assert_eq!(sure(7, 0.199, 20.0), Decision::Queue, "below half of the target");
        assert_eq!(sure(7, 1.0, 20.0), Decision::Drop);
    }

    #[test]
    fn marks_stand_for_drops_up_to_ten_percent() {
        let fate = |mark, capable, probability, full| {
            let mut queue = pie(|setup| setup.mark = mark);
            (queue.probability, queue.old_delay) = (probability, Span::from_millis(20));
            let packet = Arriving { capable, full, ..arriving(0.0, 20.0) };
            // Until chance strikes.
            (0..1000).map(|_| queue.admit(&packet, ms(20.0))).find(|fate| *fate != Decision::Queue)
        };
        assert_eq!(fate(true, true, 0.09, false), Some(Decision::Mark));
        assert_eq!(fate(true, true, 0.11, false), Some(Decision::Drop));
        assert_eq!(fate(true, false, 0.09, false), Some(Decision::Drop));
        assert_eq!(fate(false, true, 0.09, false), Some(Decision::Drop));
        assert_eq!(fate(true, true, 0.0, true), Some(Decision::Drop), "a full queue marks nothing");
    }

    #[test]
    fn drops_come_at_the_probability_and_without_chance_at_distances() {
        let gaps = |derandomize| {
            let mut queue = pie(|setup| setup.derandomize = derandomize);
            (queue.probability, queue.old_delay) = (1.0 / 16.0, Span::from_millis(20));
            let fates: Vec<_> = (0..100_000).map(|_| queue.admit(&arriving(0.0, 20.0), ms(20.0))).collect();
            fates.split(|fate| *fate == Decision::Drop).map(|run| run.len() + 1).collect::<Vec<_>>()
        };
        let mean = |gaps: &[usize]| gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        let random = gaps(false);
        assert!((mean(&random) - 16.0).abs() < 1.0, "{}", mean(&random));
        assert!(random.contains(&1) && random.iter().any(|gap| *gap > 60));
        // 0.85 x 16 = 13.6: 13 packets pass. Then the gap is random, and 8.5 x 16 = 136 at most. Its mean is 13 + 16.
        let spread = gaps(true);
        // The last one has not ended.
        let whole = &spread[..spread.len() - 1];
        assert!(
            whole.iter().all(|gap| (14..=136).contains(gap)),
            "{:?} to {:?}",
            whole.iter().min(),
            whole.iter().max()
        );
        assert!((mean(whole) - 29.0).abs() < 1.0, "{}", mean(whole));
    }
}
