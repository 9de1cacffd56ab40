//! CAKE (Common Applications Kept Enhanced) for one kind of traffic: Linux `net/sched/sch_cake.c` with `besteffort flows`.
//!
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018 (arXiv 1804.07617). Queues of flows ([`flows`](super::flows)) under COBALT
//! ([`cobalt`](super::cobalt)), with the parameters that Linux derives from the rate of its shaper: here the link is the shaper. Overflow
//! drops one packet after the other, each from the head of the queue that is then the longest in bytes (`cake_drop`). Packets have neither
//! code points nor addresses of hosts here, so that there are no tins, and all flows have equal shares.

use cwnd::Time;

use super::cobalt::{Cobalt, State};
use super::flows::{FlowQueues, QueueControl, Shape};
use super::scheduled::Held;
use crate::net::packet::Packet;
use crate::net::setup::{CakeSetup, QueueLimit};
use crate::random::Stream;

/// Queues under COBALT's control.
pub(crate) type Cake = FlowQueues<Cobalt>;

impl Cake {
    /// An empty queue before a line of `rate` bit/s.
    pub(crate) fn new(setup: &CakeSetup, limit: QueueLimit, rate: u64, mut stream: Stream) -> Self {
        // The bytes of 1/4096 s (`cake_set_rate`).
        let quantum = (rate / 8 / 4096).clamp(300, 1514) as u32;
        let shape = Shape { limit, memory: u64::MAX, queues: QUEUES, quantum, ack_filter: setup.ack_filter };
        let perturbation = stream.seed();
        Self::of(Cobalt::new(setup, rate, stream), shape, perturbation)
    }
}

impl QueueControl for Cobalt {
    type State = State;

    /// As `CAKE_SET_WAYS`. Linux hands on a queue that is at rest; here a flow keeps its queue.
    const WAYS: u32 = 8;
    const EMPTY_LEAVES: bool = true;

    fn choose(&mut self, state: &mut State, held: &mut Held, now: Time, dropped: &mut Vec<Packet>) -> Option<bool> {
        self.choose(state, held, now, dropped)
    }

    fn overflow(&mut self, state: &mut State, now: Time) {
        self.overflow(state, now);
    }

    fn batch(_: u64) -> u64 {
        1
    }
}

/// `CAKE_QUEUES`.
const QUEUES: u32 = 1024;

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Span};
    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::{Ack, Body, Data, Ecn};
    use crate::net::queue::scheduled::{Scheduler, Sent};
    use crate::net::setup::Class;

    fn packet(flow: u32, number: u64, size: u32) -> Packet {
        let data = Data::new(number, Time::ZERO);
        let (size, ecn, class) = (Bytes(size), Ecn::NotCapable, Class::Out);
        Packet { due: Time::ZERO, flow, hop: 0, size, ecn, class, body: Body::Data(data) }
    }

    fn label(packet: &Packet) -> (u32, u64) {
        let number = match packet.body {
            Body::Data(data) => data.number,
            Body::Ack(ack) => ack.cumulative,
            _ => panic!("neither data nor an acknowledgement"),
        };
        (packet.flow, number)
    }

    /// Before a line of 10 Mbit/s: 10^7 / 8 / 4096 are a quantum of 305 bytes.
    fn cake(limit: QueueLimit, ack_filter: bool) -> Cake {
        let setup = CakeSetup { ack_filter, ..CakeSetup::default() };
        Cake::new(&setup, limit, 10_000_000, Stream::new(1, "CAKE"))
    }

    fn push(queue: &mut Cake, packets: &[(u32, u64, u32)]) {
        for (flow, number, size) in packets {
            queue.push(Time::ZERO, &packet(*flow, *number, *size));
        }
    }

    fn sent(queue: &mut Cake, now: Time, dropped: &mut Vec<Packet>) -> Option<Sent> {
        queue.pull(now, dropped)?.take(now, now)
    }

    fn pull(queue: &mut Cake) -> Option<(u32, u64)> {
        sent(queue, Time::ZERO, &mut Vec::new()).map(|sent| label(&sent.packet))
    }

    fn drain(queue: &mut Cake) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| pull(queue)).collect()
    }

    #[test]
    fn a_sparse_flow_passes_a_bulk_flow() {
        let mut queue = cake(QueueLimit::Unlimited, false);
        (0..10).for_each(|number| push(&mut queue, &[(1, number, 1500)]));
        assert_eq!([pull(&mut queue), pull(&mut queue)], [Some((1, 0)), Some((1, 1))]);
        // Each packet of flow 2 is found in a new queue, as its own was found empty in between: 200 bytes are less than its quantum.
        for number in 0..4 {
            push(&mut queue, &[(2, number, 200)]);
            assert_eq!([pull(&mut queue), pull(&mut queue)], [Some((2, number)), Some((1, 2 + number))]);
        }
        // A packet of 400 bytes overdraws the quantum of 305 by 95: flow 2 joins the round of the bulk flows. It has credit there with the
        // next quantum, and flow 1, which has sent 1500 bytes, only after several.
        push(&mut queue, &[(2, 4, 400), (2, 5, 200)]);
        assert_eq!(drain(&mut queue)[..2], [(2, 4), (2, 5)]);
    }

    #[test]
    fn flows_with_packets_of_unequal_size_get_equal_bytes() {
        let mut queue = cake(QueueLimit::Unlimited, false);
        (0..100).for_each(|number| push(&mut queue, &[(1, number, 1500)]));
        (0..500).for_each(|number| push(&mut queue, &[(2, number, 300)]));
        // 150 kB each. At no time has one been served more than a largest packet and a quantum more than the other.
        let mut served = [0_i64; 2];
        while let Some((flow, _)) = pull(&mut queue) {
            served[flow as usize - 1] += if flow == 1 { 1500 } else { 300 };
            assert!((served[0] - served[1]).abs() <= 1500 + 305, "{served:?}");
        }
        assert_eq!(served, [150_000, 150_000]);
    }

    #[test]
    fn the_longest_queue_loses_one_packet_at_a_time() {
        let mut queue = cake(QueueLimit::Packets(11), false);
        // 3000 bytes of flow 1, 4500 of flow 2, 2000 of flow 3: fourteen packets, three too many. Flow 2 loses one, and of 3000 bytes of
        // flows 1 and 2 each the one with the lower place loses its first, and then the other.
        let mut dropped = Vec::new();
        (0..3).for_each(|number| push(&mut queue, &[(2, number, 1500)]));
        (0..2).for_each(|number| push(&mut queue, &[(1, number, 1500)]));
        (0..9).for_each(|number| push(&mut queue, &[(3, number, 220)]));
        queue.shed(&mut dropped);
        let mut gone: Vec<_> = dropped.iter().map(label).collect();
        assert_eq!(gone[0], (2, 0));
        gone.sort_unstable();
        assert_eq!(gone, [(1, 0), (2, 0), (2, 1)]);
        assert_eq!(queue.backlog(), (11, 2 * 1500 + 9 * 220));
    }

    #[test]
    fn the_first_eight_flows_have_queues_of_their_own() {
        for seed in 0..50 {
            let mut queue =
                Cake::new(&CakeSetup::default(), QueueLimit::Unlimited, 10_000_000, Stream::new(seed, "CAKE"));
            let mut places: Vec<_> = (0..100).map(|flow| queue.place(flow)).collect();
            assert!(places.iter().all(|place| *place < 1024));
            // 100 flows in 128 sets: the chance that nine meet in one is about 10^-7.
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 100);
        }
    }

    #[test]
    fn acknowledgements_drive_out_older_ones_with_the_filter() {
        for (filter, left) in [(false, vec![1, 2, 3, 4, 5]), (true, vec![4, 5])] {
            let mut queue = cake(QueueLimit::Unlimited, filter);
            let mut dropped = Vec::new();
            for cumulative in 1..=5 {
                let ack = Ack::of(cumulative, Time::ZERO);
                let too_much = queue.push(Time::ZERO, &Packet { body: Body::Ack(ack), ..packet(1, 0, 40) });
                assert_eq!(too_much, filter);
                queue.shed(&mut dropped);
            }
            assert_eq!(dropped.len() + left.len(), 5);
            assert_eq!(queue.backlog(), (left.len() as u64, 40 * left.len() as u64));
            assert_eq!(drain(&mut queue).iter().map(|(_, number)| *number).collect::<Vec<_>>(), left);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_count_of(
            limit in 0_u32..30,
            rate in 100_000_u64..1_000_000_000,
            (ack_filter, acks) in any::<(bool, bool)>(),
            steps in proptest::collection::vec((0_u64..30, proptest::option::of((0_u32..6, 40_u32..1500))), 1..300),
        ) {
            let setup = CakeSetup { ack_filter, interval: Span::from_millis(20), ..CakeSetup::default() };
            let mut queue = Cake::new(&setup, QueueLimit::Packets(limit), rate, Stream::new(1, "CAKE"));
            let (mut now, mut pushed, mut gone, mut dropped) = (Time::ZERO, 0, Vec::new(), Vec::new());
            for (number, (gap, step)) in (0..).zip(steps) {
                now += Span::from_millis(gap);
                if let Some((flow, size)) = step {
                    let ack = Body::Ack(Ack::of(number, now));
                    let data = packet(flow, number, size);
                    queue.push(now, &if acks { Packet { body: ack, ..data } } else { data });
                    pushed += 1;
                    queue.shed(&mut dropped);
                    prop_assert!(queue.packets <= u64::from(limit));
                } else {
                    let waited = queue.packets > 0;
                    let pulled = sent(&mut queue, now, &mut dropped);
                    prop_assert_eq!(pulled.is_some(), waited, "the link is never idle while packets wait");
                    gone.extend(pulled.map(|pulled| label(&pulled.packet)));
                }
                prop_assert_eq!(queue.packets, queue.waiting().count() as u64);
                prop_assert_eq!(queue.bytes, queue.waiting().map(|packet| u64::from(packet.size.0)).sum::<u64>());
                prop_assert_eq!(pushed, gone.len() as u64 + dropped.len() as u64 + queue.packets);
            }
            for flow in 0..6 {
                prop_assert!(gone.iter().filter(|label| label.0 == flow).is_sorted());
            }
        }
    }
}
