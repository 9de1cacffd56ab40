//! A link with the queue in front of it.
//!
//! A first-in-first-out queue needs no event when a packet is taken from it: transmission starts when the line is next free,
//! which is known on arrival. What remains is one ring of packets on their way, and one pending event for its head.

use std::collections::VecDeque;

use cwnd::{Bytes, Span, Time};
use cwnd_trace::Histogram;

use super::packet::{Ecn, Packet};
use super::red::{Arriving, Fate, Red};
use crate::random::{Stream, threshold};
use crate::setup::{LinkSetup, Loss, QueueLimit};

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    line: Option<Line>,
    delay: Span,
    loss: RandomLoss,
    in_transit: VecDeque<(Time, Packet)>,
    pub(crate) counts: Counts,
    /// How long packets waited for their transmission.
    pub(crate) wait: Histogram,
    /// Waits are counted from here on.
    measure_from: Time,
}

/// What has happened to the packets offered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    pub(crate) carried: u64,
    pub(crate) carried_bytes: u64,
}

/// What became of a packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It will arrive, and the link had been empty: its event is to be set for then.
    First(Time),
    /// It will arrive behind others.
    Behind,
    /// It is gone.
    Gone,
}

/// The transmitter and the packets that wait for it.
#[derive(Debug)]
struct Line {
    clock: LineClock,
    limit: QueueLimit,
    red: Option<Box<Red>>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Time,
    size: Bytes,
}

/// When the line is next free, exactly: whole nanoseconds and a remainder in units of 1/rate nanoseconds.
#[derive(Debug)]
struct LineClock {
    rate: u64,
    free: u64,
    remainder: u64,
    /// Transmission time of the last size seen, whole and remainder: most packets of a link have one size.
    cached: (Bytes, u64, u64),
}

#[derive(Debug)]
enum RandomLoss {
    None,
    Bernoulli { threshold: u64, stream: Stream },
    Periodic { every: u64, left: u64 },
}

impl Link {
    /// A link as set up, drawing its losses from its own stream.
    pub(crate) fn new(setup: &LinkSetup, seed: u64, measure_from: Time) -> Self {
        let line = setup.rate.map(|rate| Line {
            clock: LineClock { rate, free: 0, remainder: 0, cached: (Bytes(0), 0, 0) },
            limit: setup.queue,
            red: setup
                .red
                .map(|red| Box::new(Red::new(red, rate, Stream::new(seed, &format!("link {}: RED", setup.name))))),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        });
        let loss = match setup.loss {
            Loss::None => RandomLoss::None,
            Loss::Bernoulli(p) => RandomLoss::Bernoulli {
                threshold: threshold(p),
                stream: Stream::new(seed, &format!("link {}: loss", setup.name)),
            },
            Loss::Periodic(every) => RandomLoss::Periodic { every, left: every },
        };
        Self {
            line,
            delay: setup.delay,
            loss,
            in_transit: VecDeque::new(),
            counts: Counts::default(),
            wait: Histogram::default(),
            measure_from,
        }
    }

    /// Offers a packet.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, mut packet: Packet) -> Verdict {
        self.counts.offered += 1;
        if self.loss.strikes() {
            self.counts.lost += 1;
            return Verdict::Gone;
        }
        let mut at = now;
        if let Some(line) = &mut self.line {
            match line.admit(now, &packet) {
                Fate::Queue => {}
                Fate::Mark => {
                    packet.ecn = Ecn::Congestion;
                    self.counts.marked += 1;
                }
                Fate::Drop => {
                    self.counts.dropped += 1;
                    return Verdict::Gone;
                }
            }
            let (start, finish) = line.queue(now, packet.size);
            if now >= self.measure_from {
                self.wait.record(start.since(now).as_nanos());
            }
            at = finish;
        }
        let at = at + self.delay;
        let first = self.in_transit.is_empty();
        self.in_transit.push_back((at, packet));
        if first { Verdict::First(at) } else { Verdict::Behind }
    }

    /// Takes the packet that leaves now, and tells when the next one does.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.in_transit.pop_front()?;
        self.counts.carried += 1;
        self.counts.carried_bytes += u64::from(packet.size.0);
        Some((packet, self.in_transit.front().map(|(at, _)| *at)))
    }

    /// Packets and bytes that wait at `now`.
    pub(crate) fn queue(&mut self, now: Time) -> (u64, u64) {
        let Some(line) = &mut self.line else { return (0, 0) };
        line.advance(now);
        (line.waiting.len() as u64, line.waiting_bytes)
    }

    /// Packets waiting or on their way.
    pub(crate) fn in_transit(&self) -> impl Iterator<Item = &Packet> {
        self.in_transit.iter().map(|(_, packet)| packet)
    }
}

impl Line {
    /// Whether a packet is let in. The queue is looked at only where there is one: an idle line takes every packet at once.
    #[inline]
    fn admit(&mut self, now: Time, packet: &Packet) -> Fate {
        self.advance(now);
        let busy = self.clock.next_start(now) > now;
        let (packets, bytes) = (self.waiting.len() as u64, self.waiting_bytes);
        if let Some(red) = &mut self.red {
            let capable = packet.ecn != Ecn::NotCapable;
            let idle_since = (!busy).then(|| self.clock.free_at());
            let arriving = Arriving { now, size: packet.size, capable, packets, bytes, idle_since };
            return red.admit(&arriving, if busy { self.limit } else { QueueLimit::Unlimited });
        }
        if busy && self.limit.refuses(packets, bytes, packet.size) { Fate::Drop } else { Fate::Queue }
    }

    /// Puts a packet of `size` behind the others: start and end of its transmission.
    #[inline]
    fn queue(&mut self, now: Time, size: Bytes) -> (Time, Time) {
        let start = self.clock.next_start(now);
        if start > now {
            self.waiting.push_back(Waiting { start, size });
            self.waiting_bytes += u64::from(size.0);
        }
        (start, self.clock.transmit(now, size))
    }

    /// Lets go of the packets whose transmission has begun.
    #[inline]
    fn advance(&mut self, now: Time) {
        while let Some(head) = self.waiting.front()
            && head.start <= now
        {
            self.waiting_bytes -= u64::from(head.size.0);
            self.waiting.pop_front();
        }
    }
}

impl LineClock {
    #[inline]
    fn next_start(&self, now: Time) -> Time {
        self.free_at().max(now)
    }

    /// The line is free only once the remainder has passed too.
    #[inline]
    fn free_at(&self) -> Time {
        Time::from_nanos(self.free + u64::from(self.remainder > 0))
    }

    /// Occupies the line for a packet of `size` from the moment it is free; when the last bit has left.
    #[inline]
    fn transmit(&mut self, now: Time, size: Bytes) -> Time {
        if self.cached.0 != size {
            let bit_nanos = u128::from(size.0) * 8 * 1_000_000_000;
            let rate = u128::from(self.rate);
            self.cached = (size, (bit_nanos / rate) as u64, (bit_nanos % rate) as u64);
        }
        if self.next_start(now) == now && self.free < now.as_nanos() {
            self.free = now.as_nanos();
            self.remainder = 0;
        }
        self.free += self.cached.1;
        self.remainder += self.cached.2;
        if self.remainder >= self.rate {
            self.remainder -= self.rate;
            self.free += 1;
        }
        self.free_at()
    }
}

impl RandomLoss {
    #[inline]
    fn strikes(&mut self) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli { threshold, stream } => stream.chance(*threshold),
            Self::Periodic { every, left } => {
                *left -= 1;
                let strikes = *left == 0;
                if strikes {
                    *left = *every;
                }
                strikes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::{Body, Ecn};
    use crate::setup::NodeId;

    fn packet(size: u32) -> Packet {
        Packet { flow: 0, hop: 0, size: Bytes(size), ecn: Ecn::NotCapable, body: Body::Missing { first: 0, end: 0 } }
    }

    fn link(rate: Option<u64>, queue: QueueLimit, loss: Loss) -> Link {
        let delay = Span::from_nanos(7);
        let setup =
            LinkSetup { name: "test".to_string(), from: NodeId(0), to: NodeId(1), rate, delay, queue, red: None, loss };
        Link::new(&setup, 1, Time::ZERO)
    }

    /// The same queue as a server with a departure event per packet; times in units of 1/rate nanoseconds, so that all are whole.
    struct Server {
        rate: u128,
        limit: QueueLimit,
        /// End of the transmission under way.
        busy_until: Option<u128>,
        waiting: VecDeque<u32>,
        finished: Vec<u128>,
    }

    impl Server {
        fn transmission(&self, size: u32) -> u128 {
            u128::from(size) * 8 * 1_000_000_000
        }

        fn run_to(&mut self, now: u128) {
            while let Some(done) = self.busy_until
                && done <= now
            {
                self.finished.push(done);
                let next = self.waiting.pop_front();
                self.busy_until = next.map(|size| done + self.transmission(size));
            }
        }

        fn offer(&mut self, now: u64, size: u32) -> bool {
            let now = u128::from(now) * self.rate;
            self.run_to(now);
            if self.busy_until.is_none() {
                self.busy_until = Some(now + self.transmission(size));
                return true;
            }
            let bytes: u64 = self.waiting.iter().map(|size| u64::from(*size)).sum();
            let room = match self.limit {
                QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
                QueueLimit::Bytes(limit) => bytes + u64::from(size) <= limit,
                QueueLimit::Unlimited => true,
            };
            if room {
                self.waiting.push_back(size);
            }
            room
        }
    }

    fn limits() -> impl Strategy<Value = QueueLimit> {
        prop_oneof![
            (0_u32..6).prop_map(QueueLimit::Packets),
            (0_u64..8000).prop_map(QueueLimit::Bytes),
            Just(QueueLimit::Unlimited),
        ]
    }

    proptest! {
        #[test]
        fn arithmetic_equals_events(
            rate in 1_000_000_u64..10_000_000_000,
            limit in limits(),
            load in 0.3..3.0_f64,
            packets in proptest::collection::vec((0.0..2.0_f64, prop_oneof![Just(1500_u32), Just(40), 1_u32..9000]), 1..200),
        ) {
            let mut ours = link(Some(rate), limit, Loss::None);
            let mut server =
                Server { rate: u128::from(rate), limit, busy_until: None, waiting: VecDeque::new(), finished: Vec::new() };
            let mut now = 0_u64;
            for (gap, size) in packets {
                now += (gap / load * 1500.0 * 8e9 / rate as f64) as u64;
                let accepted = ours.offer(Time::from_nanos(now), packet(size)) != Verdict::Gone;
                prop_assert_eq!(accepted, server.offer(now, size));
                prop_assert_eq!(ours.queue(Time::from_nanos(now)).0, server.waiting.len() as u64);
            }
            server.run_to(u128::MAX);
            let left: Vec<u128> = ours.in_transit.iter().map(|(at, _)| u128::from(at.as_nanos() - 7)).collect();
            let finished: Vec<u128> = server.finished.iter().map(|done| done.div_ceil(u128::from(rate))).collect();
            prop_assert_eq!(left, finished);
        }
    }

    #[test]
    fn seven_gigabit_is_seven_gigabit() {
        // 1500 bytes take 1714.28… ns: rounding each one would be off by 0.02 %.
        let mut line = link(Some(7_000_000_000), QueueLimit::Unlimited, Loss::None);
        (0..7_000_000).for_each(|_| {
            line.offer(Time::ZERO, packet(1500));
        });
        let last = line.in_transit.back().map(|(at, _)| *at);
        assert_eq!(last, Some(Time::from_nanos(12_000_000_000 + 7)));
    }

    #[test]
    fn pure_delay_has_no_queue() {
        let mut line = link(None, QueueLimit::Packets(0), Loss::None);
        assert_eq!(line.offer(Time::ZERO, packet(1500)), Verdict::First(Time::from_nanos(7)));
        assert_eq!(line.offer(Time::ZERO, packet(1500)), Verdict::Behind);
        assert_eq!(line.take().map(|(_, next)| next), Some(Some(Time::from_nanos(7))));
        assert_eq!(line.take().map(|(_, next)| next), Some(None));
        assert!(line.take().is_none());
    }

    #[test]
    fn periodic_loss_takes_every_nth() {
        let mut line = link(None, QueueLimit::Unlimited, Loss::Periodic(3));
        let gone: Vec<_> = (0..9).map(|_| line.offer(Time::ZERO, packet(40)) == Verdict::Gone).collect();
        assert_eq!(gone, [false, false, true, false, false, true, false, false, true]);
        assert_eq!(line.counts.lost, 3);
    }
}
