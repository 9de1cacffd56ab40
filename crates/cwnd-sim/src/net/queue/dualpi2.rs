//! Coupled dual queue with PI2 (DualPI2, RFC 9332 appendix A).
//!
//! Packets with ECT(1) or CE wait in L, all others in C. A controller computes a base probability from the delay of C; its square
//! drops packets of C, `coupling` times it marks packets of L, so that Reno in C and a scalable sender in L get equal windows at equal
//! round-trip times. A scheduler by credit sends from L first and keeps a share of the capacity for C.
//!
//! An update that falls on the instant of an arrival or a departure comes before it.

use cwnd::{Span, Time};

use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::{Ecn, Packet};
use crate::net::setup::{DualPi2Setup, DualPi2Variant, QueueLimit};
use crate::random::Stream;

/// The state of both queues, with the names of RFC 9332 appendix A in parentheses.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    setup: DualPi2Setup,
    limit: QueueLimit,
    stream: Stream,
    /// (lq)
    low: Queue,
    /// (cq)
    classic: Queue,
    /// The last packet that arrived went to L.
    newest_is_low: bool,
    /// Positive if C is next while packets wait in both, bytes.
    credit: f64,
    /// The base probability (p').
    base: f64,
    /// The delay at the last update (prevq).
    old_delay: Span,
    next_update: Time,
}

#[derive(Debug, Default)]
struct Queue {
    held: Held,
    /// The probabilities since the last hit, added up (count).
    accumulated: f64,
}

/// What becomes of a packet at the head of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Send,
    Mark,
    Drop,
}

impl DualPi2 {
    /// Two empty queues.
    pub(crate) fn new(setup: DualPi2Setup, limit: QueueLimit, stream: Stream) -> Self {
        Self {
            setup,
            limit,
            stream,
            low: Queue::default(),
            classic: Queue::default(),
            newest_is_low: false,
            credit: initial_credit(&setup),
            base: 0.0,
            old_delay: Span::ZERO,
            next_update: Time::ZERO + setup.update,
        }
    }

    /// Brings the probability up to `now`.
    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            self.update(self.next_update);
            self.next_update += self.setup.update;
            if self.base == 0.0 && self.old_delay == Span::ZERO && self.is_empty() {
                // Until the next packet no update changes anything.
                let missed = now.since(self.next_update).as_nanos() / self.setup.update.as_nanos();
                self.next_update += self.setup.update * missed;
            }
        }
    }

    /// Computes the probability anew (appendix A.1, `dualpi2_update`).
    fn update(&mut self, now: Time) {
        let delay = match self.setup.variant {
            DualPi2Variant::Rfc => self.classic.delay(now),
            DualPi2Variant::Linux => self.classic.delay(now).max(self.low.delay(now)),
        };
        let [now, old, target] = [delay, self.old_delay, self.setup.target].map(Span::as_secs_f64);
        let change = self.setup.alpha * (now - target) + self.setup.beta * (now - old);
        let most = if self.setup.overload { 1.0 } else { 1.0 / self.setup.coupling };
        self.base = (self.base + change).clamp(0.0, most);
        self.old_delay = delay;
    }

    fn is_empty(&self) -> bool {
        self.low.held.packets() + self.classic.held.packets() == 0
    }

    fn bytes(&self) -> u64 {
        self.low.held.bytes() + self.classic.held.bytes()
    }

    /// Drops the packets that are hit, and chooses the one to be sent: whether it is the oldest of L, and whether it gets a mark. None if no
    /// packet waits.
    fn choose(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<(bool, bool)> {
        loop {
            let is_low = self.chooses_low()?;
            let outcome = if is_low { self.judge_low(now) } else { self.judge_classic() };
            if outcome != Outcome::Drop {
                return Some((is_low, outcome == Outcome::Mark));
            }
            let queue = if is_low { &mut self.low } else { &mut self.classic };
            dropped.extend(queue.held.pop().map(|(_, packet)| packet));
        }
    }

    /// Whether the next packet is one of L; none if no packet waits.
    fn chooses_low(&self) -> Option<bool> {
        match (self.low.held.packets(), self.classic.held.packets()) {
            (0, 0) => None,
            (_, 0) => Some(true),
            (0, _) => Some(false),
            _ => Some(self.credit <= 0.0),
        }
    }

    /// Whether the controller leaves packets alone because too few wait.
    fn is_spared(&self) -> bool {
        match self.setup.variant {
            DualPi2Variant::Rfc => self.low.held.packets() + self.classic.held.packets() == 1,
            DualPi2Variant::Linux => self.bytes() < 2 * u64::from(self.setup.mtu.0),
        }
    }

    /// Decides on the oldest packet of L.
    fn judge_low(&mut self, now: Time) -> Outcome {
        let coupled = self.setup.coupling * self.base;
        let own = self.own_probability(now);
        let spared = self.is_spared();
        match self.setup.variant {
            DualPi2Variant::Rfc if coupled >= 1.0 => {
                if !spared && self.low.strikes(self.base * self.base) {
                    Outcome::Drop
                } else {
                    Outcome::Mark
                }
            }
            DualPi2Variant::Rfc => {
                let hit = self.low.strikes(coupled.max(own));
                if hit { Outcome::Mark } else { Outcome::Send }
            }
            DualPi2Variant::Linux => {
                if !spared && coupled >= 1.0 {
                    return if self.rolls_twice() { Outcome::Drop } else { Outcome::Mark };
                }
                let by_coupling = !spared && self.stream.unit() < coupled;
                let by_threshold = own > 0.0 && (own >= 1.0 || self.stream.unit() < own);
                if by_coupling || by_threshold { Outcome::Mark } else { Outcome::Send }
            }
        }
    }

    /// Decides on the oldest packet of C.
    fn judge_classic(&mut self) -> Outcome {
        if self.is_spared() {
            return Outcome::Send;
        }
        let hit = match self.setup.variant {
            DualPi2Variant::Rfc => self.classic.strikes(self.base * self.base),
            DualPi2Variant::Linux => self.rolls_twice(),
        };
        let capable = self.classic.held.oldest().is_some_and(|(_, packet)| packet.ecn != Ecn::NotCapable);
        let overloaded = self.setup.overload && self.setup.coupling * self.base >= 1.0;
        match (hit, capable && !overloaded) {
            (false, _) => Outcome::Send,
            (true, true) => Outcome::Mark,
            (true, false) => Outcome::Drop,
        }
    }

    /// True with the square of the base probability.
    fn rolls_twice(&mut self) -> bool {
        let base = self.base;
        let mut roll = || self.stream.unit() < base;
        let first = roll();
        let second = roll();
        first && second
    }

    /// The probability of a mark by the time that the oldest packet of L has waited (appendix A.1, `laqm`).
    fn own_probability(&self, now: Time) -> f64 {
        if self.low.held.packets() <= u64::from(self.setup.spared) {
            return 0.0;
        }
        let waited = self.low.delay(now);
        let DualPi2Setup { threshold, range, .. } = self.setup;
        if waited <= threshold {
            0.0
        } else if waited >= threshold + range {
            1.0
        } else {
            (waited - threshold).as_secs_f64() / range.as_secs_f64()
        }
    }
}

impl Queue {
    /// How long its oldest packet has waited; zero without one.
    fn delay(&self, now: Time) -> Span {
        self.held.oldest().map_or(Span::ZERO, |(arrived, _)| now.since(*arrived))
    }

    /// Whether this packet is hit, if one in `1 / probability` is (appendix A.1, `recur`).
    fn strikes(&mut self, probability: f64) -> bool {
        self.accumulated += probability;
        let hit = self.accumulated > 1.0;
        if hit {
            self.accumulated -= 1.0;
        }
        hit
    }
}

impl Scheduler for DualPi2 {
    fn push(&mut self, now: Time, packet: &Packet) -> bool {
        self.advance(now);
        self.newest_is_low = matches!(packet.ecn, Ecn::Scalable | Ecn::Congestion);
        let queue = if self.newest_is_low { &mut self.low } else { &mut self.classic };
        queue.held.push(now, packet);
        let (packets, bytes) = self.backlog();
        self.limit.is_exceeded(packets, bytes)
    }

    fn shed(&mut self, dropped: &mut Vec<Packet>) {
        loop {
            let (packets, bytes) = self.backlog();
            if !self.limit.is_exceeded(packets, bytes) {
                return;
            }
            let [first, second] = [&mut self.low, &mut self.classic];
            let (newest, other) = if self.newest_is_low { (first, second) } else { (second, first) };
            // Others go only where the limit has become smaller.
            let gone = newest.held.pop_newest().or_else(|| other.held.pop_newest());
            dropped.extend(gone.map(|(_, packet)| packet));
        }
    }

    fn pull(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Pulled<'_>> {
        self.advance(now);
        let Some((is_low, marked)) = self.choose(now, dropped) else {
            self.credit = initial_credit(&self.setup);
            return None;
        };
        let (chosen, other) = if is_low { (&mut self.low, &self.classic) } else { (&mut self.classic, &self.low) };
        let size = chosen.held.oldest()?.1.size;
        if other.held.packets() > 0 {
            let weight = if is_low { self.setup.share } else { self.setup.share - 1.0 };
            self.credit += weight * f64::from(size.0);
        }
        Pulled::of(&mut chosen.held, marked)
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    fn backlog(&self) -> (u64, u64) {
        (self.low.held.packets() + self.classic.held.packets(), self.bytes())
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.low.held.iter().chain(self.classic.held.iter()))
    }
}

/// L is first unless C has the larger share.
fn initial_credit(setup: &DualPi2Setup) -> f64 {
    f64::from(setup.mtu.0) * (2.0 * setup.share - 1.0)
}

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::packet::{Body, Data};
    use crate::net::setup::Class;

    fn packet(ecn: Ecn) -> Packet {
        let data = Data::new(0, Time::ZERO);
        Packet { due: Time::ZERO, flow: 0, hop: 0, size: Bytes(1500), ecn, class: Class::Out, body: Body::Data(data) }
    }

    fn dual(setup: DualPi2Setup) -> DualPi2 {
        DualPi2::new(setup, QueueLimit::Packets(1_000_000), Stream::new(1, "DualPI2"))
    }

    fn ms(millis: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(millis / 1e3)
    }

    /// Sends the next packet at `now`: whether it waited in L.
    fn pull(queue: &mut DualPi2, now: Time, dropped: &mut Vec<Packet>) -> Option<bool> {
        let pulled = queue.pull(now, dropped)?;
        let low = pulled.held.oldest().is_some_and(|(_, packet)| packet.ecn == Ecn::Scalable);
        pulled.take(now, now).map(|_| low)
    }

    const VARIANTS: [DualPi2Setup; 2] = [DualPi2Setup::RFC, DualPi2Setup::LINUX];

    #[test]
    fn a_delay_at_the_target_leaves_the_probability_alone() {
        for setup in VARIANTS {
            let mut queue = dual(setup);
            (queue.base, queue.old_delay) = (0.3, setup.target);
            queue.classic.held.push(ms(0.0), &packet(Ecn::NotCapable));
            queue.update(Time::ZERO + setup.target);
            assert!((queue.base - 0.3).abs() < 1e-12, "{}", queue.base);
        }
    }

    #[test]
    fn the_probability_follows_the_delay_of_a_packet_that_stays() {
        // Alpha 0.16, beta 3.2, updates each 16 ms, and a packet that arrives at 24 ms.
        let setup = DualPi2Setup { alpha: 0.16, beta: 3.2, ..DualPi2Setup::LINUX };
        let mut queue = dual(setup);
        queue.push(ms(24.0), &packet(Ecn::NotCapable));
        for (now, base) in [(24.0, 0.0), (32.0, 0.02448), (48.0, 0.07712), (64.0, 0.13232), (80.0, 0.19008)] {
            queue.advance(ms(now));
            assert!((queue.base - base).abs() < 1e-9, "{now} ms: {}", queue.base);
        }
    }

    #[test]
    fn a_queue_of_twenty_five_milliseconds_raises_the_probability_from_rest() {
        let linux = DualPi2Setup { alpha: 0.16, beta: 3.2, ..DualPi2Setup::LINUX };
        for (setup, base) in [(linux, 0.0816), (DualPi2Setup::RFC, 0.0765)] {
            let mut queue = dual(setup);
            queue.classic.held.push(ms(0.0), &packet(Ecn::NotCapable));
            queue.update(ms(25.0));
            assert!((queue.base - base).abs() < 1e-9, "{}", queue.base);
        }
    }

    #[test]
    fn only_linux_looks_at_the_delay_of_the_low_latency_queue() {
        for (setup, moves) in VARIANTS.into_iter().zip([false, true]) {
            let mut queue = dual(setup);
            queue.low.held.push(ms(0.0), &packet(Ecn::Scalable));
            queue.update(ms(25.0));
            assert_eq!(queue.base > 0.0, moves);
        }
    }

    /// The shares of packets dropped from C and marked in L at the base probability, with neither threshold nor controller.
    fn shares(setup: DualPi2Setup, base: f64, classic: Ecn) -> [f64; 4] {
        const PACKETS: u32 = 200_000;
        let setup = DualPi2Setup { threshold: Span::from_secs(1), alpha: 0.0, beta: 0.0, ..setup };
        let mut queue = dual(setup);
        queue.base = base;
        for _ in 0..PACKETS {
            queue.push(ms(0.0), &packet(Ecn::Scalable));
            queue.push(ms(0.0), &packet(classic));
        }
        let (mut dropped, mut marked) = (Vec::new(), [0, 0]);
        while let Some(pulled) = queue.pull(ms(0.0), &mut dropped) {
            let low = pulled.held.oldest().is_some_and(|(_, packet)| packet.ecn == Ecn::Scalable);
            marked[usize::from(low)] += u32::from(pulled.marked);
            pulled.take(ms(0.0), ms(0.0)).expect("a packet");
        }
        let lost_low = dropped.iter().filter(|packet| packet.ecn == Ecn::Scalable).count() as u32;
        let lost_classic = dropped.len() as u32 - lost_low;
        [lost_classic, marked[0], marked[1], lost_low].map(|count| f64::from(count) / f64::from(PACKETS))
    }

    #[test]
    fn the_classic_queue_drops_with_the_square_of_half_the_share_that_the_other_marks() {
        for setup in VARIANTS {
            for base in [0.05, 0.1, 0.2, 0.3, 0.45] {
                let [lost, _, marked, lost_low] = shares(setup, base, Ecn::NotCapable);
                assert!((marked / (2.0 * base) - 1.0).abs() < 0.02, "{base}: {marked}");
                let coupled = (marked / setup.coupling).powi(2);
                // 500 drops of 200,000 packets differ by 4 % from one run to the next.
                let tolerance = if setup.variant == DualPi2Variant::Rfc { 0.02 } else { 0.15 };
                assert!((lost / coupled - 1.0).abs() < tolerance, "{base}: {lost} for {coupled}");
                assert_eq!(lost_low, 0.0);
            }
        }
    }

    #[test]
    fn marks_stand_for_drops_until_the_load_is_too_high() {
        for setup in VARIANTS {
            let [lost, marked, ..] = shares(setup, 0.3, Ecn::Capable);
            assert_eq!(lost, 0.0);
            assert!((marked / 0.09 - 1.0).abs() < 0.05, "{marked}");
            // Overload: p' of 0.6 drops 36 % of both queues, whatever they carry, and marks the rest of L.
            let [lost, marked, low, lost_low] = shares(setup, 0.6, Ecn::Capable);
            assert!((lost - 0.36).abs() < 0.01 && marked == 0.0, "{lost} {marked}");
            assert!((lost_low - 0.36).abs() < 0.01 && (low + lost_low - 1.0).abs() < 1e-4, "{low} {lost_low}");
        }
    }

    #[test]
    fn without_overload_the_probability_stays_where_all_of_the_low_latency_queue_is_marked() {
        let mut queue = dual(DualPi2Setup { overload: false, ..DualPi2Setup::RFC });
        queue.classic.held.push(ms(0.0), &packet(Ecn::Capable));
        (1..100).for_each(|update| queue.update(ms(f64::from(update) * 100.0)));
        assert_eq!(queue.base, 0.5);
    }

    #[test]
    fn the_low_latency_queue_marks_by_its_own_waiting_time() {
        // Of two packets, so that neither is spared.
        let marked = |setup: DualPi2Setup, waited: f64, packets: u32| {
            let mut queue = dual(DualPi2Setup { alpha: 0.0, beta: 0.0, ..setup });
            (0..packets).for_each(|_| queue.low.held.push(ms(0.0), &packet(Ecn::Scalable)));
            queue.own_probability(ms(waited))
        };
        for (waited, probability) in [(0.8, 0.0), (0.9, 0.25), (1.0, 0.5), (1.2, 1.0), (5.0, 1.0)] {
            assert!((marked(DualPi2Setup::RFC, waited, 2) - probability).abs() < 1e-9, "{waited} ms");
        }
        assert_eq!(marked(DualPi2Setup::RFC, 5.0, 1), 0.0, "a packet alone");
        for (waited, probability) in [(1.0, 0.0), (1.01, 1.0)] {
            assert_eq!(marked(DualPi2Setup::LINUX, waited, 1), probability, "{waited} ms");
        }
    }

    #[test]
    fn the_classic_queue_keeps_its_share() {
        for setup in VARIANTS {
            let setup = DualPi2Setup { threshold: Span::from_secs(1), alpha: 0.0, beta: 0.0, ..setup };
            let mut queue = dual(setup);
            for _ in 0..20_000 {
                queue.push(ms(0.0), &packet(Ecn::Scalable));
                queue.push(ms(0.0), &packet(Ecn::NotCapable));
            }
            let sent = (0..16_000).filter_map(|_| pull(&mut queue, ms(0.0), &mut Vec::new()));
            let classic = sent.filter(|low| !low).count() as f64;
            assert!((classic / 16_000.0 / setup.share - 1.0).abs() < 0.01, "{classic}");
        }
    }

    #[test]
    fn both_queues_share_the_limit_and_the_newest_packet_goes() {
        let mut queue = DualPi2::new(DualPi2Setup::RFC, QueueLimit::Packets(2), Stream::new(1, "DualPI2"));
        assert!(!queue.push(ms(0.0), &packet(Ecn::NotCapable)));
        assert!(!queue.push(ms(0.0), &packet(Ecn::Scalable)));
        assert!(queue.push(ms(0.0), &packet(Ecn::Congestion)));
        let mut dropped = Vec::new();
        queue.shed(&mut dropped);
        assert_eq!(dropped.iter().map(|packet| packet.ecn).collect::<Vec<_>>(), [Ecn::Congestion]);
        assert_eq!(queue.backlog(), (2, 3000));
    }

    #[test]
    fn what_waits_last_is_sent() {
        for setup in VARIANTS {
            let mut queue = dual(setup);
            queue.base = 1.0;
            queue.classic.accumulated = 1.0;
            queue.push(ms(0.0), &packet(Ecn::NotCapable));
            assert!(pull(&mut queue, ms(0.0), &mut Vec::new()).is_some());
            assert!(pull(&mut queue, ms(0.0), &mut Vec::new()).is_none());
        }
    }

    #[test]
    fn idle_updates_keep_their_grid() {
        let mut queue = dual(DualPi2Setup::RFC);
        queue.base = 0.01;
        queue.advance(ms(3_600_007.0));
        assert_eq!((queue.base, queue.next_update), (0.0, ms(3_600_015.0)));
    }
}
