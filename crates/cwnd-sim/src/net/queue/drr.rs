//! Deficit round robin, one class per flow.
//!
//! Shreedhar and Varghese, IEEE/ACM Transactions on Networking 4(3) (1996), as ns-2 has it: flows with packets waiting take turns;
//! a turn adds the quantum to the flow's deficit and lasts while the deficit covers the packet at the head; a flow that empties
//! forgets its deficit. All flows share one limit, and overflow drops from the head of the longest queue in bytes.

use std::collections::VecDeque;

use cwnd::Time;

use super::scheduled::{Held, Pulled, Scheduler};
use crate::net::packet::Packet;
use crate::net::setup::{DrrSetup, QueueLimit};

/// Packets that wait, flow by flow.
#[derive(Debug)]
pub(crate) struct Drr {
    limit: QueueLimit,
    quantum: u64,
    /// By flow; grows with the largest index seen.
    classes: Vec<Class>,
    /// The flows with packets waiting, the one whose turn it is first.
    round: VecDeque<u32>,
    /// The first of the round has had its quantum for this turn.
    turn_begun: bool,
    packets: u64,
    bytes: u64,
}

/// The packets of a flow.
#[derive(Debug, Default)]
struct Class {
    waiting: Held,
    /// What it may still send, bytes; 0 while nothing waits.
    deficit: u64,
}

impl Drr {
    /// An empty queue.
    pub(crate) fn new(setup: DrrSetup, limit: QueueLimit) -> Self {
        Self {
            limit,
            quantum: u64::from(setup.quantum.0),
            classes: Vec::new(),
            round: VecDeque::new(),
            turn_begun: false,
            packets: 0,
            bytes: 0,
        }
    }

    /// The flow that sends next, its deficit paid.
    fn take_turn(&mut self) -> Option<u32> {
        loop {
            let flow = *self.round.front()?;
            let class = &mut self.classes[flow as usize];
            let size = class.waiting.oldest().map_or(0, |(_, packet)| u64::from(packet.size.0));
            if !self.turn_begun {
                class.deficit += self.quantum;
                self.turn_begun = true;
            }
            if class.deficit >= size {
                class.deficit -= size;
                return Some(flow);
            }
            self.round.rotate_left(1);
            self.turn_begun = false;
        }
    }

    /// Drops the packet at the head of the longest queue; of equals, of the one whose turn comes first.
    fn evict(&mut self) -> Option<Packet> {
        // A walk over the flows that wait: drops are rare compared with arrivals.
        let lengths = self.round.iter().map(|flow| self.classes[*flow as usize].waiting.bytes()).enumerate();
        let (place, _) = lengths.rev().max_by_key(|(_, bytes)| *bytes)?;
        self.release_head(place, self.round[place])?.pop().map(|(_, packet)| packet)
    }

    /// Counts the packet at the head of `flow`, which is at `place` in the round, as gone: where it has to be taken out.
    fn release_head(&mut self, place: usize, flow: u32) -> Option<&mut Held> {
        let class = &mut self.classes[flow as usize];
        self.bytes -= u64::from(class.waiting.oldest()?.1.size.0);
        self.packets -= 1;
        if class.waiting.packets() == 1 {
            class.deficit = 0;
            self.round.remove(place);
            self.turn_begun &= place != 0;
        }
        Some(&mut class.waiting)
    }
}

impl Scheduler for Drr {
    fn push(&mut self, now: Time, packet: &Packet) -> bool {
        let index = packet.flow as usize;
        if index >= self.classes.len() {
            self.classes.resize_with(index + 1, Class::default);
        }
        let class = &mut self.classes[index];
        if class.waiting.packets() == 0 {
            self.round.push_back(packet.flow);
        }
        class.waiting.push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size.0);
        self.limit.is_exceeded(self.packets, self.bytes)
    }

    fn shed(&mut self, dropped: &mut Vec<Packet>) {
        while self.limit.is_exceeded(self.packets, self.bytes) {
            dropped.extend(self.evict());
        }
    }

    fn pull(&mut self, _: Time, _: &mut Vec<Packet>) -> Option<Pulled<'_>> {
        let flow = self.take_turn()?;
        self.release_head(0, flow).and_then(|held| Pulled::of(held, false))
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    fn backlog(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.classes.iter().flat_map(|class| class.waiting.iter()))
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::net::line::Line;
    use crate::net::packet::{Body, Data, Ecn};
    use crate::net::queue::scheduled::{Scheduled, Sent};
    use crate::net::setup::Class as Profile;

    /// 8 Gbit/s: a byte takes a nanosecond.
    const RATE: u64 = 8_000_000_000;

    struct Tested(Scheduled<Drr>);

    impl Tested {
        fn offer(&mut self, now: Time, packet: Packet) -> Option<Sent> {
            self.0.offer(now, &packet)
        }

        fn next(&mut self, now: Time) -> Option<Sent> {
            self.0.next(now)
        }

        /// Flow and number of the packets dropped since last asked.
        fn dropped(&mut self) -> Vec<(u32, u64)> {
            self.0.dropped.drain(..).map(|packet| label(&packet)).collect()
        }

        /// Everything that leaves from now on, in order.
        fn drain(&mut self) -> Vec<(u32, u64)> {
            std::iter::from_fn(|| self.next(Time::MAX)).map(|sent| label(&sent.packet)).collect()
        }
    }

    fn drr(quantum: u32, limit: QueueLimit) -> Tested {
        Tested(Scheduled::new(Line::new(RATE, None), Drr::new(DrrSetup { quantum: Bytes(quantum) }, limit)))
    }

    fn packet(flow: u32, number: u64, size: u32) -> Packet {
        let data = Data::new(number, Time::ZERO);
        Packet {
            due: Time::ZERO,
            flow,
            hop: 0,
            size: Bytes(size),
            ecn: Ecn::NotCapable,
            class: Profile::Out,
            body: Body::Data(data),
        }
    }

    fn label(packet: &Packet) -> (u32, u64) {
        let Body::Data(data) = packet.body else { panic!("not data") };
        (packet.flow, data.number)
    }

    #[test]
    fn a_turn_lasts_while_the_deficit_does() {
        // The first packet goes at once. Flow 1 has packets of 200, 750, 20 and 500 bytes, flow 2 of 500, 500 and 500; quantum 500.
        // Flow 1: 500 - 200 = 300 are too few for 750. Flow 2: 500 - 500 = 0. Flow 1: 800 - 750 - 20 = 30. Flow 2: 0.
        // Flow 1: 530 - 500, and it is empty. Flow 2: the last one.
        let mut queue = drr(500, QueueLimit::Unlimited);
        assert!(queue.offer(Time::ZERO, packet(0, 0, 100)).is_some());
        for (number, size) in (0..).zip([200, 750, 20, 500]) {
            queue.offer(Time::ZERO, packet(1, number, size));
        }
        for number in 0..3 {
            queue.offer(Time::ZERO, packet(2, number, 500));
        }
        assert_eq!(queue.drain(), [(1, 0), (2, 0), (1, 1), (1, 2), (2, 1), (1, 3), (2, 2)]);
        assert_eq!(queue.0.queue.backlog(), (0, 0));
    }

    #[test]
    fn a_flow_that_empties_forgets_its_deficit() {
        let mut queue = drr(1000, QueueLimit::Unlimited);
        queue.offer(Time::ZERO, packet(0, 0, 100));
        queue.offer(Time::ZERO, packet(1, 0, 100));
        assert_eq!(queue.next(Time::from_nanos(100)).map(|sent| label(&sent.packet)), Some((1, 0)));
        // With the 900 bytes left over from its turn, flow 1 could send all of these before flow 2.
        for number in 1..4 {
            queue.offer(Time::from_nanos(100), packet(1, number, 600));
        }
        queue.offer(Time::from_nanos(100), packet(2, 0, 600));
        assert_eq!(queue.drain(), [(1, 1), (2, 0), (1, 2), (1, 3)]);
    }

    #[test]
    fn overflow_drops_from_the_head_of_the_longest() {
        let mut queue = drr(1500, QueueLimit::Packets(4));
        queue.offer(Time::ZERO, packet(0, 0, 1500));
        for (flow, number, size) in [(1, 0, 1500), (2, 0, 1000), (2, 1, 1000), (1, 1, 1500)] {
            queue.offer(Time::ZERO, packet(flow, number, size));
        }
        assert_eq!(queue.dropped(), []);
        // 3000 bytes of flow 1 are more than 2000 of flow 2, though it is flow 3 that arrives.
        queue.offer(Time::ZERO, packet(3, 0, 40));
        assert_eq!(queue.dropped(), [(1, 0)]);
        // Then flow 2 is the longest, then flow 1 with 1500 + 500 bytes.
        queue.offer(Time::ZERO, packet(3, 1, 40));
        queue.offer(Time::ZERO, packet(1, 2, 500));
        assert_eq!(queue.dropped(), [(2, 0), (1, 1)]);
        assert_eq!(queue.drain(), [(1, 2), (2, 1), (3, 0), (3, 1)]);
    }

    #[test]
    fn of_equally_long_flows_the_one_whose_turn_comes_first_loses() {
        let mut queue = drr(1500, QueueLimit::Packets(2));
        queue.offer(Time::ZERO, packet(0, 0, 1500));
        (1..4).for_each(|flow| {
            queue.offer(Time::ZERO, packet(flow, 0, 500));
        });
        assert_eq!(queue.dropped(), [(1, 0)]);
        queue.offer(Time::ZERO, packet(2, 1, 500));
        assert_eq!(queue.drain(), [(2, 1), (3, 0)], "flow 2 was the longest then");
    }

    #[test]
    fn a_large_packet_drives_out_several_small_ones() {
        let mut queue = drr(1500, QueueLimit::Bytes(2000));
        queue.offer(Time::ZERO, packet(0, 0, 1500));
        (0..20).for_each(|number| {
            queue.offer(Time::ZERO, packet(1, number, 100));
        });
        queue.offer(Time::ZERO, packet(2, 0, 900));
        assert_eq!(queue.dropped().len(), 9);
        assert_eq!(queue.0.queue.backlog(), (12, 2000));
        // With nothing else to drop a packet larger than the limit goes itself.
        let mut small = drr(1500, QueueLimit::Bytes(1000));
        small.offer(Time::ZERO, packet(0, 0, 1500));
        small.offer(Time::ZERO, packet(1, 7, 1500));
        assert_eq!(small.dropped(), [(1, 7)]);
    }

    /// One queue, drop from the head, by departure events.
    struct HeadDrop {
        limit: usize,
        busy_until: u64,
        waiting: VecDeque<(u64, u32)>,
        log: Vec<(bool, u64)>,
    }

    impl HeadDrop {
        fn run_to(&mut self, now: u64) {
            while self.busy_until <= now
                && let Some((number, size)) = self.waiting.pop_front()
            {
                self.log.push((true, number));
                self.busy_until += u64::from(size);
            }
        }

        fn offer(&mut self, now: u64, number: u64, size: u32) {
            self.run_to(now);
            if self.busy_until <= now {
                self.log.push((true, number));
                self.busy_until = now + u64::from(size);
                return;
            }
            self.waiting.push_back((number, size));
            if self.waiting.len() > self.limit
                && let Some((number, _)) = self.waiting.pop_front()
            {
                self.log.push((false, number));
            }
        }
    }

    proptest! {
        #[test]
        fn one_flow_is_a_queue_that_drops_from_its_head(
            quantum in 1_u32..3000,
            limit in 0_u32..6,
            packets in proptest::collection::vec((0_u64..2000, 1_u32..1500), 1..100),
        ) {
            let mut ours = drr(quantum, QueueLimit::Packets(limit));
            let mut model = HeadDrop { limit: limit as usize, busy_until: 0, waiting: VecDeque::new(), log: Vec::new() };
            let (mut log, mut now) = (Vec::new(), 0);
            for (number, (gap, size)) in (0..).zip(packets) {
                now += gap;
                let at = Time::from_nanos(now);
                while let Some(sent) = ours.next(at) {
                    log.push((true, label(&sent.packet).1));
                }
                log.extend(ours.offer(at, packet(0, number, size)).map(|sent| (true, label(&sent.packet).1)));
                log.extend(ours.dropped().into_iter().map(|(_, number)| (false, number)));
                model.offer(now, number, size);
            }
            log.extend(ours.drain().into_iter().map(|(_, number)| (true, number)));
            model.run_to(u64::MAX);
            prop_assert_eq!(log, model.log);
        }

        #[test]
        fn the_line_never_rests_and_flows_keep_their_order(
            quantum in 100_u32..3000,
            limit in prop_oneof![(0_u32..20).prop_map(QueueLimit::Packets), (0_u64..20_000).prop_map(QueueLimit::Bytes)],
            packets in proptest::collection::vec((0_u64..1200, 0_u32..4, 1_u32..1500), 1..200),
        ) {
            let mut queue = drr(quantum, limit);
            let (mut now, mut sent, mut gone) = (0, Vec::new(), 0);
            let offered = packets.len();
            for (number, (gap, flow, size)) in (0..).zip(packets) {
                now += gap;
                let at = Time::from_nanos(now);
                sent.extend(std::iter::from_fn(|| queue.next(at)));
                sent.extend(queue.offer(at, packet(flow, number, size)));
                gone += queue.dropped().len();
                let (packets, bytes) = queue.0.queue.backlog();
                prop_assert!(!limit.is_exceeded(packets, bytes));
                prop_assert_eq!(packets, queue.0.queue.waiting().count() as u64);
                prop_assert_eq!(bytes, queue.0.queue.waiting().map(|packet| u64::from(packet.size.0)).sum::<u64>());
            }
            sent.extend(std::iter::from_fn(|| queue.next(Time::MAX)));
            prop_assert_eq!(offered, sent.len() + gone);
            // A transmission begins when the one before has ended, or, if the line had been idle, on arrival.
            for pair in sent.windows(2) {
                prop_assert_eq!(pair[1].start, pair[0].finish.max(pair[1].arrived));
            }
            for flow in 0..4 {
                let numbers: Vec<_> = sent.iter().map(|sent| label(&sent.packet)).filter(|label| label.0 == flow).collect();
                prop_assert!(numbers.is_sorted());
            }
        }

        #[test]
        fn backlogged_flows_get_equal_shares_whatever_their_packets(
            quantum in 50_u32..3000,
            sizes in proptest::collection::vec(40_u32..1500, 2..8),
        ) {
            let mut queue = drr(quantum, QueueLimit::Unlimited);
            queue.offer(Time::ZERO, packet(99, 0, 1500));
            for (flow, size) in (0..).zip(&sizes) {
                (0..100_000 / u64::from(*size)).for_each(|number| {
                    queue.offer(Time::ZERO, packet(flow, number, *size));
                });
            }
            // Until the first flow runs dry no two have been served bytes that differ by more than a quantum and a packet.
            let bound = i64::from(quantum + sizes.iter().max().copied().unwrap_or(0));
            let mut served = vec![0_i64; sizes.len()];
            while queue.0.queue.round.len() == sizes.len()
                && let Some(sent) = queue.next(Time::MAX)
            {
                served[sent.packet.flow as usize] += i64::from(sent.packet.size.0);
                let (least, most) = (served.iter().min().copied(), served.iter().max().copied());
                prop_assert!(most.unwrap_or(0) - least.unwrap_or(0) <= bound, "{:?}", served);
            }
        }
    }
}
