//! COBALT: CoDel and BLUE side by side, as in Linux `net/sched/sch_cake.c`.
//!
//! CoDel acts on flows that slow down for a drop or a mark: a packet that has waited longer than the target begins a schedule, the next
//! drop after the interval divided by the square root of their number. Unlike RFC 8289, COBALT keeps that number when the queue gets
//! short, and lowers it along the same schedule. BLUE acts on flows that do not slow down: an overflow raises a probability of drops,
//! and an empty queue lowers it, each at most once per target.
//!
//! Linux visits empty queues until their state has decayed. Here the state decays at the next packet of the queue, as if a visit had come
//! at every instant.

use cwnd::{Span, Time};

use super::codel::drop_oldest;
use super::scheduled::Held;
use crate::net::packet::{Ecn, Packet};
use crate::net::setup::CakeSetup;
use crate::random::Stream;

/// The parameters of all queues.
#[derive(Debug)]
pub(crate) struct Cobalt {
    target: Span,
    interval: Span,
    /// A packet that has waited for less is left alone: the transmission of four of the largest packets.
    spared: Span,
    mark: bool,
    stream: Stream,
}

/// The state of a queue, with the names of `struct cobalt_vars` in parentheses.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// By whose root the interval is divided (count).
    count: u32,
    /// One over that root, and 1 for a count of 0 (rec_inv_sqrt). As in `cobalt_vars_init` it is 0 until the count changes for the first
    /// time: a queue that has never been above the target drops the second packet that is, and others wait for an interval.
    root: f64,
    /// When the next packet is due to be dropped, or was (drop_next).
    next: Time,
    /// The packet before had waited too long (dropping).
    dropping: bool,
    /// BLUE's probability in units of 2^-32 (p_drop), and when it changed last (blue_timer).
    blue: u32,
    blue_changed: Option<Time>,
    /// The queue was found empty since its last packet.
    rests: bool,
}

impl Cobalt {
    /// The parameters before a line of `rate` bit/s (`cake_set_rate`): the target is at least the transmission of one and a half of the
    /// largest packets, and the interval grows with it to at least twice the target.
    pub(crate) fn new(setup: &CakeSetup, rate: u64, stream: Stream) -> Self {
        let packet = Span::from_secs_f64(setup.mtu.bits() / rate as f64);
        let target = setup.target.max(packet.mul_f64(1.5));
        let interval = (setup.interval + (target - setup.target)).max(target * 2);
        Self { target, interval, spared: packet * 4, mark: setup.mark, stream }
    }

    /// The packet of `held` to be sent at `now` is the oldest once those to be dropped are gone: whether it gets a mark. None only if
    /// nothing is held, as the last packet is never dropped (`cake_dequeue`).
    pub(crate) fn choose(
        &mut self,
        state: &mut State,
        held: &mut Held,
        now: Time,
        dropped: &mut Vec<Packet>,
    ) -> Option<bool> {
        self.wake(state, now);
        loop {
            let Some((arrived, packet)) = held.oldest() else {
                self.find_empty(state, now);
                return None;
            };
            let capable = self.mark && packet.ecn != Ecn::NotCapable;
            let (drop, mark) = self.judge(state, now, now.since(*arrived), capable);
            if !drop || held.packets() == 1 {
                return Some(mark);
            }
            drop_oldest(held, dropped);
        }
    }

    /// The queue loses a packet because there are too many (`cobalt_queue_full`).
    pub(crate) fn overflow(&mut self, state: &mut State, now: Time) {
        self.wake(state, now);
        if state.blue_changed.is_none_or(|changed| now.since(changed) > self.target) {
            state.blue = state.blue.saturating_add(RISE);
            state.blue_changed = Some(now);
        }
        (state.dropping, state.next, state.count) = (true, now, state.count.max(1));
    }

    /// Whether a packet that has `waited` is to be dropped, and whether it is marked (`cobalt_should_drop`). BLUE drops what CoDel has
    /// marked too.
    fn judge(&mut self, state: &mut State, now: Time, waited: Span, capable: bool) -> (bool, bool) {
        let is_late = waited > self.target && waited > self.spared;
        let mut due = state.is_due(now);
        let mut overdue = now > state.next;
        if is_late {
            if !state.dropping {
                state.next = now + self.interval.mul_f64(state.root);
            }
            state.count = state.count.max(1);
        }
        state.dropping = is_late;
        let acts = due && is_late;
        if acts {
            self.step(state, state.count.saturating_add(1));
            overdue = now > state.next;
        }
        while due && !is_late {
            self.step(state, state.count - 1);
            (due, overdue) = (state.is_due(now), now > state.next);
        }
        let blue = state.blue > 0 && self.stream.below(1 << 32) < u64::from(state.blue);
        let drop = acts && !capable || blue;
        if state.count == 0 {
            // For how long the queue counts as active.
            state.next = now + self.interval;
        } else if overdue && !drop {
            state.next = now;
        }
        (drop, acts && capable)
    }

    /// Sets the count, and with it the next time: the control law goes on from the last one (`cobalt_invsqrt`, `cobalt_control`).
    fn step(&self, state: &mut State, count: u32) {
        state.count = count;
        state.root = 1.0 / libm::sqrt(f64::from(count.max(1)));
        state.next += self.interval.mul_f64(state.root);
    }

    /// Its turn has come and nothing waits (`cobalt_queue_empty`).
    fn find_empty(&self, state: &mut State, now: Time) {
        if state.blue > 0 && state.blue_changed.is_some_and(|changed| now.since(changed) > self.target) {
            state.blue = state.blue.saturating_sub(FALL);
            state.blue_changed = Some(now);
        }
        if state.is_due(now) {
            self.step(state, state.count - 1);
        }
        (state.dropping, state.rests) = (false, true);
    }

    /// Makes up for the time in which the queue was empty.
    fn wake(&self, state: &mut State, now: Time) {
        if !std::mem::take(&mut state.rests) {
            return;
        }
        while let Some(changed) =
            state.blue_changed.filter(|changed| state.blue > 0 && now.since(*changed) > self.target)
        {
            state.blue = state.blue.saturating_sub(FALL);
            state.blue_changed = Some(changed + self.target);
        }
        while state.is_due(now) {
            self.step(state, state.count - 1);
        }
    }
}

impl State {
    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.next
    }
}

/// What BLUE's probability rises by per overflow, 1/256, and falls by per empty queue, 1/4096 (`cake_set_rate`).
const RISE: u32 = 1 << 24;
const FALL: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::packet::{Body, Data};
    use crate::net::setup::Class;

    /// 1500 bytes take 12 µs: the default target and interval hold.
    const RATE: u64 = 1_000_000_000;

    fn ms(millis: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(millis / 1e3)
    }

    fn span(millis: f64) -> Span {
        Span::from_secs_f64(millis / 1e3)
    }

    fn cobalt(rate: u64) -> Cobalt {
        Cobalt::new(&CakeSetup::default(), rate, Stream::new(1, "COBALT"))
    }

    /// Milliseconds at which something is dropped or marked where a packet that has waited for `waited` ms is looked at every 10 µs.
    fn actions(cobalt: &mut Cobalt, state: &mut State, (from, to): (f64, f64), waited: f64, capable: bool) -> Vec<f64> {
        let looks = ((from * 100.0) as u64..(to * 100.0) as u64).map(|step| step as f64 / 100.0);
        let acts = |now: &f64| {
            let (drop, mark) = cobalt.judge(state, ms(*now), span(waited), capable);
            assert!(!(drop && capable || mark && !capable));
            drop || mark
        };
        looks.filter(acts).collect()
    }

    /// Actions are found by the next look, at most 0.01 ms later.
    fn assert_near(at: &[f64], expected: &[f64]) {
        assert_eq!(at.len(), expected.len(), "{at:?}");
        let near = |(at, expected): (&f64, &f64)| (0.0..0.0101).contains(&(at - expected + 1e-9));
        assert!(at.iter().zip(expected).all(near), "{at:?} instead of {expected:?}");
    }

    #[test]
    fn a_standing_queue_meets_the_control_law() {
        // A new queue: above the target at 10 ms, the first with the next packet, at 10.01 ms. Then 100 ms over the roots of 2, 3, 4, 5, 6,
        // 7, counted from 10 ms: 70.711, 57.735, 50, 44.721, 40.825, 37.796 ms.
        let first = [10.01, 80.711, 138.446, 188.446, 233.167, 273.992, 311.788];
        for capable in [false, true] {
            let (mut cobalt, mut state) = (cobalt(RATE), State::default());
            assert_near(&actions(&mut cobalt, &mut state, (10.0, 340.0), 6.0, capable), &first);
            assert_eq!(state.count, 8);
            // Below the target from 340 ms on. The next was due at 311.788 + 35.355 (root of 8) = 347.143 ms. From there the count falls,
            // with times for 7, 6, …, 1 of 37.796, 40.825, 44.721, 50, 57.735, 70.711 and 100 ms: it is 0 at 347.143 + 401.788 = 748.931
            // ms.
            assert_eq!(actions(&mut cobalt, &mut state, (340.0, 748.9), 4.0, capable), [0.0; 0]);
            assert_eq!(state.count, 1);
            assert_eq!(actions(&mut cobalt, &mut state, (748.9, 800.0), 4.0, capable), [0.0; 0]);
            assert_eq!(state.count, 0);
            // Above it again at 800 ms: the first after a whole interval.
            assert_near(&actions(&mut cobalt, &mut state, (800.0, 1050.0), 6.0, capable), &[900.0, 970.711, 1028.446]);
        }
    }

    #[test]
    fn a_queue_that_is_long_again_goes_on_with_the_count() {
        let (mut cobalt, mut state) = (cobalt(RATE), State::default());
        // Three drops, so that the count is 4: the next is due at 188.446 ms.
        assert_eq!(actions(&mut cobalt, &mut state, (10.0, 150.0), 6.0, false).len(), 3);
        assert_eq!(actions(&mut cobalt, &mut state, (150.0, 160.0), 4.0, false), [0.0; 0]);
        assert_eq!(state.count, 4);
        // The schedule begins anew at 160 ms, with 100 ms over the root of 4, then of 5 and 6.
        assert_near(&actions(&mut cobalt, &mut state, (160.0, 300.0), 6.0, false), &[210.0, 254.721, 295.546]);
    }

    #[test]
    fn slow_lines_have_longer_targets() {
        // 1500 bytes at 1 Mbit/s take 12 ms: a target of 18 ms, an interval of 100 + 13 ms. At 100 kbit/s 120 ms: 180 ms, and twice that,
        // which is more than 100 + 175 ms.
        let parameters = |rate| {
            let Cobalt { target, interval, spared, .. } = cobalt(rate);
            [target, interval, spared].map(|span| span.as_secs_f64() * 1e3)
        };
        for (rate, expected) in
            [(RATE, [5.0, 100.0, 0.048]), (1_000_000, [18.0, 113.0, 48.0]), (100_000, [180.0, 360.0, 480.0])]
        {
            assert!(parameters(rate).iter().zip(expected).all(|(is, expected)| (is - expected).abs() < 1e-6), "{rate}");
        }
        // Four packets at 1 Mbit/s take longer than its target.
        for (waited, acts) in [(47.9, false), (48.1, true)] {
            let drops = actions(&mut cobalt(1_000_000), &mut State::default(), (10.0, 20.0), waited, false);
            assert_eq!(!drops.is_empty(), acts, "{waited}");
        }
    }

    #[test]
    fn blue_rises_with_overflows_once_per_target() {
        let (mut cobalt, mut state) = (cobalt(RATE), State::default());
        // 1/256 of 2^32 each: at 1, 6.1 and 20 ms, but not 5 ms after the one before.
        for (at, rises) in [(1.0, 1), (1.0, 1), (6.0, 1), (6.1, 2), (11.0, 2), (20.0, 3)] {
            cobalt.overflow(&mut state, ms(at));
            assert_eq!(u64::from(state.blue), rises * (1_u64 << 32) / 256, "{at} ms");
            assert_eq!((state.count, state.dropping, state.next), (1, true, ms(at)));
        }
        (0..300_u32).for_each(|n| cobalt.overflow(&mut state, ms(30.0 + 6.0 * f64::from(n))));
        assert_eq!(state.blue, u32::MAX, "it does not wrap");
    }

    #[test]
    fn blue_falls_while_the_queue_is_empty() {
        let (mut cobalt, mut state) = (cobalt(RATE), State::default());
        cobalt.overflow(&mut state, ms(10.0));
        // 1/256 are 16/4096. One goes at 15.1 ms, when the queue is found empty, and one every 5 ms after that: at 20.1, 25.1 and 30.1 ms.
        let mut held = Held::default();
        assert_eq!(cobalt.choose(&mut state, &mut held, ms(14.0), &mut Vec::new()), None);
        assert_eq!(state.blue, 16 << 20);
        assert_eq!(cobalt.choose(&mut state, &mut held, ms(15.1), &mut Vec::new()), None);
        assert_eq!(state.blue, 15 << 20);
        cobalt.wake(&mut state, ms(30.2));
        assert_eq!(state.blue, 12 << 20);
        // It does not fall while packets wait.
        cobalt.wake(&mut state, ms(1000.0));
        assert_eq!(state.blue, 12 << 20);
        state.rests = true;
        cobalt.wake(&mut state, ms(1000.0));
        assert_eq!((state.blue, state.count), (0, 0));
    }

    #[test]
    fn blue_drops_at_random_whatever_a_packet_carries() {
        for capable in [false, true] {
            let (mut cobalt, mut state) = (cobalt(RATE), State { blue: 1 << 31, ..State::default() });
            let drops = (0..10_000).filter(|_| cobalt.judge(&mut state, ms(1.0), Span::ZERO, capable).0).count();
            // Half of 10 000, with a standard deviation of 50.
            assert!((4750..5250).contains(&drops), "{drops}");
        }
    }

    #[test]
    fn the_last_packet_is_sent() {
        let data = Data::new(0, Time::ZERO);
        let (size, ecn, class) = (Bytes(1500), Ecn::NotCapable, Class::Out);
        let packet = Packet { due: Time::ZERO, flow: 0, hop: 0, size, ecn, class, body: Body::Data(data) };
        let (mut cobalt, mut state) = (cobalt(RATE), State { blue: u32::MAX, ..State::default() });
        let (mut held, mut dropped) = (Held::default(), Vec::new());
        (0..3).for_each(|_| held.push(Time::ZERO, &packet));
        assert_eq!(cobalt.choose(&mut state, &mut held, ms(10.0), &mut dropped), Some(false));
        assert_eq!((dropped.len(), held.packets()), (2, 1));
    }
}
