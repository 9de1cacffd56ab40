//! Controlled delay (CoDel, RFC 8289).
//!
//! What counts is how long the packet at the head has waited when the line is free for it. Bursts wait too, but not for long; once
//! every packet of an interval has waited longer than the target, the queue is a standing one, and packets are dropped from its
//! head, the next after an interval divided by the square root of their number, until one has waited less.
//!
//! A packet that can carry a mark is marked where it would be dropped, if the setup says so. As in Linux it is sent then, and what
//! else is due falls to the packets after it.

use cwnd::{Span, Time};

use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::{Ecn, Packet};
use crate::net::setup::{CoDelSetup, QueueLimit};

/// One queue under control.
#[derive(Debug)]
pub(crate) struct CoDel {
    setup: CoDelSetup,
    limit: QueueLimit,
    held: Held,
    control: Control,
}

/// The state of the control, with the names of RFC 8289 section 5.2 in parentheses.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// When packets will have waited too long for an interval (first_above_time_); none while they do not.
    standing_from: Option<Time>,
    /// The queue is in the drop state (dropping_).
    dropping: bool,
    /// When the next packet is dropped in that state (drop_next_).
    next: Time,
    /// By which the interval is divided (count_).
    count: u32,
    /// `count` when the drop state began (lastcount_).
    first_count: u32,
}

impl CoDel {
    /// An empty queue.
    pub(crate) fn new(setup: CoDelSetup, limit: QueueLimit) -> Self {
        Self { setup, limit, held: Held::default(), control: Control::default() }
    }
}

impl Scheduler for CoDel {
    fn push(&mut self, now: Time, packet: &Packet) -> bool {
        self.held.push(now, packet);
        self.limit.is_exceeded(self.held.packets(), self.held.bytes())
    }

    fn shed(&mut self, dropped: &mut Vec<Packet>) {
        while self.limit.is_exceeded(self.held.packets(), self.held.bytes()) {
            dropped.extend(self.held.pop_newest().map(|(_, packet)| packet));
        }
    }

    fn pull(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Pulled<'_>> {
        let marked = self.control.choose(&self.setup, &mut self.held, now, dropped)?;
        Pulled::of(&mut self.held, marked)
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    fn backlog(&self) -> (u64, u64) {
        (self.held.packets(), self.held.bytes())
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.held.iter())
    }
}

impl Control {
    /// The packet of `held` to be sent at `now` is the oldest once those to be dropped are gone (section 5.5): whether it gets a mark. None
    /// only if nothing is held: the last packet is never dropped.
    pub(crate) fn choose(
        &mut self,
        setup: &CoDelSetup,
        held: &mut Held,
        now: Time,
        dropped: &mut Vec<Packet>,
    ) -> Option<bool> {
        let marked = self.control(setup, held, now, dropped)?;
        Some(marked || is_beyond_threshold(setup, held, now))
    }

    /// [`choose`](Self::choose) without the threshold.
    fn control(&mut self, setup: &CoDelSetup, held: &mut Held, now: Time, dropped: &mut Vec<Packet>) -> Option<bool> {
        let standing = self.judge(setup, held, now)?;
        if standing && !self.dropping {
            self.begin(setup, now);
            if can_be_marked(setup, held) {
                return Some(true);
            }
            drop_oldest(held, dropped);
            return self.judge(setup, held, now).map(|_| false);
        }
        self.dropping &= standing;
        while self.dropping && now >= self.next {
            self.count += 1;
            if can_be_marked(setup, held) {
                self.next += self.pause(setup);
                return Some(true);
            }
            drop_oldest(held, dropped);
            self.dropping = self.judge(setup, held, now)?;
            if self.dropping {
                self.next += self.pause(setup);
            }
        }
        Some(false)
    }

    /// Section 5.6, `dodequeue`: whether the packet at the head may be dropped; none if there is none. It stays in its place.
    fn judge(&mut self, setup: &CoDelSetup, held: &Held, now: Time) -> Option<bool> {
        let Some((arrived, packet)) = held.oldest() else {
            (self.standing_from, self.dropping) = (None, false);
            return None;
        };
        let behind = held.bytes() - u64::from(packet.size.0);
        if now.since(*arrived) < setup.target || behind <= u64::from(setup.mtu.0) {
            self.standing_from = None;
            return Some(false);
        }
        let standing_from = *self.standing_from.get_or_insert(now + setup.interval);
        Some(now >= standing_from)
    }

    /// Enters the drop state with its first drop. Soon after the last time, the rate of drops that ended that one is where this one
    /// begins.
    fn begin(&mut self, setup: &CoDelSetup, now: Time) {
        let grown = self.count - self.first_count;
        let soon = now < self.next + setup.interval * SOON;
        self.count = if grown > 1 && soon { grown } else { 1 };
        self.first_count = self.count;
        self.next = now + self.pause(setup);
        self.dropping = true;
    }

    /// The control law: the time from one drop to the next.
    fn pause(&self, setup: &CoDelSetup) -> Span {
        setup.interval.mul_f64(1.0 / libm::sqrt(f64::from(self.count)))
    }
}

/// Whether the packet at the head gets a mark where it would be dropped.
fn can_be_marked(setup: &CoDelSetup, held: &Held) -> bool {
    setup.mark && held.oldest().is_some_and(|(_, packet)| packet.ecn != Ecn::NotCapable)
}

/// Whether the packet at the head has waited long enough for a mark by one of the thresholds.
fn is_beyond_threshold(setup: &CoDelSetup, held: &Held, now: Time) -> bool {
    let Some((arrived, packet)) = held.oldest() else { return false };
    let exceeds = |threshold: Option<Span>| threshold.is_some_and(|threshold| now.since(*arrived) > threshold);
    let scalable = matches!(packet.ecn, Ecn::Scalable | Ecn::Congestion);
    packet.ecn != Ecn::NotCapable && exceeds(setup.ce_threshold) || scalable && exceeds(setup.l4s_threshold)
}

/// Drops the packet at the head.
#[cold]
pub(super) fn drop_oldest(held: &mut Held, dropped: &mut Vec<Packet>) {
    dropped.extend(held.pop().map(|(_, packet)| packet));
}

/// Intervals after which the last drop state says nothing of the next (RFC 8289 section 5.5).
const SOON: u64 = 16;

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::packet::{Body, Data};
    use crate::net::queue::scheduled::Sent;
    use crate::net::setup::Class;

    fn ms(millis: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(millis / 1e3)
    }

    fn packet(number: u64) -> Packet {
        let data = Data::new(number, Time::ZERO);
        let (size, ecn, class) = (Bytes(1500), Ecn::NotCapable, Class::Out);
        Packet { due: Time::ZERO, flow: 0, hop: 0, size, ecn, class, body: Body::Data(data) }
    }

    fn number(packet: &Packet) -> u64 {
        let Body::Data(data) = packet.body else { panic!("not data") };
        data.number
    }

    /// The packet that is sent at `now`, milliseconds.
    fn pull(queue: &mut CoDel, now: f64, dropped: &mut Vec<Packet>) -> Option<Sent> {
        queue.pull(ms(now), dropped)?.take(ms(now), ms(now))
    }

    fn codel(setup: CoDelSetup) -> CoDel {
        CoDel::new(setup, QueueLimit::Unlimited)
    }

    /// Milliseconds at which something is dropped or marked if the line asks every 10 µs from `from` on and `waited` packets
    /// have waited for ages.
    fn actions(queue: &mut CoDel, from: f64, to: f64, ecn: Ecn) -> Vec<f64> {
        let mut at = Vec::new();
        for step in (from * 100.0) as u64..(to * 100.0) as u64 {
            let now = step as f64 / 100.0;
            while queue.backlog().0 < 10 {
                queue.push(Time::ZERO, &Packet { ecn, ..packet(0) });
            }
            let mut dropped = Vec::new();
            let pulled = pull(queue, now, &mut dropped).expect("it holds packets");
            assert!(dropped.len() + usize::from(pulled.marked) <= 1);
            assert_eq!(pulled.marked, pulled.packet.ecn == Ecn::Congestion);
            if pulled.marked || !dropped.is_empty() {
                at.push(now);
            }
        }
        at
    }

    /// A packet that has not waited passes: the queue is no longer a standing one.
    fn relieve(queue: &mut CoDel, now: f64) {
        let old = std::iter::from_fn(|| queue.held.pop()).count();
        assert!(old > 0);
        queue.push(ms(now), &packet(0));
        assert!(pull(queue, now, &mut Vec::new()).is_some_and(|pulled| !pulled.marked));
    }

    #[test]
    fn drops_follow_the_control_law() {
        // Above the target from 10 ms on, for an interval at 110 ms. Then 100 ms over the roots of 1, 2, 3, …: after 100, 70.711,
        // 57.735, 50, 44.721, 40.825 ms; found by the next look, at most 0.01 ms later.
        let expected = [110.0, 210.0, 280.711, 338.446, 388.446, 433.167, 473.992];
        for (mark, ecn) in
            [(false, Ecn::NotCapable), (false, Ecn::Capable), (true, Ecn::NotCapable), (true, Ecn::Capable)]
        {
            let mut queue = codel(CoDelSetup { mark, ..CoDelSetup::default() });
            let at = actions(&mut queue, 10.0, 500.0, ecn);
            assert_eq!(at.len(), expected.len(), "{at:?}");
            assert!(
                at.iter().zip(expected).all(|(at, expected)| (0.0..0.0101).contains(&(at - expected + 1e-9))),
                "{at:?}"
            );
        }
    }

    #[test]
    fn the_rate_of_drops_is_remembered_for_sixteen_intervals() {
        let again = |later: f64| {
            let mut queue = codel(CoDelSetup::default());
            // Drops at 110, 210, 280.7, 338.4, 388.4 ms: five, the first with a count of 1.
            assert_eq!(actions(&mut queue, 10.0, 410.0, Ecn::NotCapable).len(), 5);
            relieve(&mut queue, 410.0);
            let drops = actions(&mut queue, 410.0 + later, 760.0 + later, Ecn::NotCapable);
            assert_eq!(drops[0], 510.0 + later);
            drops.len()
        };
        // The next drop was due at 433.2 ms. A new drop state that begins before 2033.2 has a count of 5 - 1 = 4: after its first
        // drop pauses of 50, 44.7, 40.8, 37.8, 35.4 and 33.3 ms within the 250 left. Later ones: of 100, 70.7 and 57.7 ms.
        assert_eq!([100.0, 1520.0, 1530.0].map(again), [7, 7, 4]);
    }

    #[test]
    fn a_short_time_in_the_drop_state_is_not_remembered() {
        let mut queue = codel(CoDelSetup::default());
        // Two drops: the count has grown by one only.
        assert_eq!(actions(&mut queue, 10.0, 250.0, Ecn::NotCapable), [110.0, 210.0]);
        relieve(&mut queue, 250.0);
        assert_eq!(actions(&mut queue, 300.0, 550.0, Ecn::NotCapable), [400.0, 500.0]);
    }

    #[test]
    fn several_drops_may_be_due_at_once() {
        let mut queue = codel(CoDelSetup::default());
        assert_eq!(actions(&mut queue, 10.0, 150.0, Ecn::NotCapable), [110.0]);
        // The line comes back after a pause. Due were 210, 280.7, 338.4, 388.4 and 433.2 ms.
        (0..20).for_each(|number| _ = queue.push(Time::ZERO, &packet(number)));
        let mut dropped = Vec::new();
        assert!(pull(&mut queue, 440.0, &mut dropped).is_some());
        assert_eq!(dropped.len(), 5);
    }

    #[test]
    fn a_burst_shorter_than_the_interval_passes() {
        // A packet leaves every millisecond. All of them have waited for 5 ms or more from the sixth on, at 5 ms: a drop at 105 ms.
        let dropped_of = |burst: u64| {
            let mut queue = codel(CoDelSetup::default());
            let (mut dropped, mut left) = (Vec::new(), 0_u32);
            (0..burst).for_each(|number| _ = queue.push(Time::ZERO, &packet(number)));
            while pull(&mut queue, f64::from(left), &mut dropped).is_some() {
                left += 1;
            }
            dropped.iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(dropped_of(106), [], "the last one is left alone");
        assert_eq!(dropped_of(107), [], "and so is a packet with no more than the largest one behind it");
        assert_eq!(dropped_of(108), [105]);
        assert_eq!(dropped_of(200), [105], "the next drop would be at 205 ms");
    }

    #[test]
    fn a_queue_of_one_packet_is_left_alone() {
        let mut queue = codel(CoDelSetup::default());
        // The line is slow: each packet waits for 30 ms with one more behind it.
        (0..2).for_each(|number| _ = queue.push(Time::ZERO, &packet(number)));
        let mut dropped = Vec::new();
        for n in 1..100_u64 {
            assert!(pull(&mut queue, n as f64 * 30.0, &mut dropped).is_some());
            queue.push(ms((n - 1) as f64 * 30.0), &packet(n + 1));
        }
        assert!(dropped.is_empty());
        // With two behind it the queue stands.
        queue.push(ms(2970.0), &packet(0));
        for n in 100..110_u64 {
            pull(&mut queue, n as f64 * 30.0, &mut dropped);
            (0..=dropped.len() as u64).for_each(|n| _ = queue.push(ms(2970.0), &packet(n)));
        }
        assert!(!dropped.is_empty());
    }

    #[test]
    fn a_full_queue_drops_what_arrives() {
        let mut queue = CoDel::new(CoDelSetup::default(), QueueLimit::Packets(2));
        let mut dropped = Vec::new();
        for number in 0..4 {
            queue.push(Time::ZERO, &packet(number));
            queue.shed(&mut dropped);
        }
        assert_eq!(dropped.iter().map(number).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(queue.backlog(), (2, 3000));
    }
}
