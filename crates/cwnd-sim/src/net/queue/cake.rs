//! CAKE (Common Applications Kept Enhanced) for one kind of traffic: Linux `net/sched/sch_cake.c` with `besteffort`.
//!
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018 (arXiv 1804.07617). Queues of flows ([`flows`](super::flows)) under COBALT
//! ([`cobalt`](super::cobalt)), with the parameters that Linux derives from the rate of its shaper: here the link is the shaper. Overflow
//! drops one packet after the other, each from the head of the queue that is then the longest in bytes (`cake_drop`). Packets have no
//! code points here, so that there are no tins. Hosts are those of the setup: [`host_shares`](super::host_shares).

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
        let CakeSetup { ack_filter, isolation, .. } = *setup;
        let shape = Shape { limit, memory: u64::MAX, queues: QUEUES, quantum, ack_filter, isolation };
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
    use cwnd::Span;
    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::{Ack, Body};
    use crate::net::queue::flows::testing::{account, drain, label, packet, pull, push};
    use crate::net::queue::scheduled::Scheduler;
    use crate::net::setup::{HostPair, Isolation};

    /// Before a line of 10 Mbit/s: 10^7 / 8 / 4096 are a quantum of 305 bytes.
    fn cake(limit: QueueLimit, ack_filter: bool) -> Cake {
        let setup = CakeSetup { ack_filter, ..CakeSetup::default() };
        Cake::new(&setup, limit, 10_000_000, Stream::new(1, "CAKE"))
    }

    /// The hosts of flows: source and destination.
    fn assign(queue: &mut Cake, flows: &[(u32, Option<u32>, Option<u32>)]) {
        for (flow, source, destination) in flows {
            queue.assign(*flow, HostPair { source: *source, destination: *destination });
        }
    }

    /// The packets of each of `flows` among the next `count`, while each always has ten packets of 1500 bytes waiting.
    fn served<const FLOWS: usize>(queue: &mut Cake, flows: [u32; FLOWS], count: usize) -> [u32; FLOWS] {
        let mut served = [0; FLOWS];
        for flow in flows {
            (0..10).for_each(|number| push(queue, &[(flow, number, 1500)]));
        }
        for _ in 0..count {
            let Some((flow, number)) = pull(queue) else { panic!("ten of each flow wait") };
            if let Some(index) = flows.iter().position(|one| *one == flow) {
                served[index] += 1;
            }
            push(queue, &[(flow, number + 10, 1500)]);
        }
        served
    }

    fn isolated(isolation: Isolation) -> Cake {
        let setup = CakeSetup { isolation, ..CakeSetup::default() };
        Cake::new(&setup, QueueLimit::Unlimited, 10_000_000, Stream::new(1, "CAKE"))
    }

    /// Flow 0 to host 0, and flows 1 to 8 to host 1; from one source if there is one.
    fn two_homes(queue: &mut Cake, source: Option<u32>) {
        assign(queue, &[(0, source, Some(0))]);
        (1..9).for_each(|flow| assign(queue, &[(flow, source, Some(1))]));
    }

    #[test]
    fn hosts_get_equal_shares() {
        // Of 7200 packets: half where hosts share, a ninth where flows do. With triple isolation and one source, nine flows of that
        // count more than eight of a destination, and so for all of them.
        for (isolation, source, expected) in [
            (Isolation::Flows, None, [800, 800]),
            (Isolation::SrcHost, None, [800, 800]),
            (Isolation::DualSrcHost, Some(7), [800, 800]),
            (Isolation::TripleIsolate, Some(7), [800, 800]),
            (Isolation::DstHost, Some(7), [3600, 450]),
            (Isolation::Hosts, Some(7), [3600, 450]),
            (Isolation::DualDstHost, Some(7), [3600, 450]),
            (Isolation::TripleIsolate, None, [3600, 450]),
        ] {
            let mut queue = isolated(isolation);
            two_homes(&mut queue, source);
            let served = served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 7200);
            let [first, others] = expected;
            assert!(served[0].abs_diff(first) <= first / 50, "{isolation:?}: {served:?}");
            // A queue of a host has packets of its flows in the order of their arrival.
            assert!(served[1..].iter().all(|count| count.abs_diff(others) <= others / 20), "{isolation:?}: {served:?}");
        }
    }

    #[test]
    fn hosts_of_sources_get_equal_shares() {
        for (isolation, expected) in
            [(Isolation::DualSrcHost, 3600), (Isolation::DualDstHost, 800), (Isolation::SrcHost, 3600)]
        {
            let mut queue = isolated(isolation);
            assign(&mut queue, &[(0, Some(0), None)]);
            (1..9).for_each(|flow| assign(&mut queue, &[(flow, Some(1), None)]));
            let served = served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 7200);
            assert!(served[0].abs_diff(expected) <= expected / 50, "{isolation:?}: {served:?}");
        }
    }

    #[test]
    fn a_sparse_flow_of_a_busy_host_still_passes() {
        let mut queue = isolated(Isolation::DualDstHost);
        two_homes(&mut queue, None);
        assign(&mut queue, &[(9, None, Some(1))]);
        served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 900);
        // Its first turn is an eighth of a quantum, of 305 bytes: 30 bytes are within it.
        for number in 0..5 {
            push(&mut queue, &[(9, number, 30)]);
            assert_eq!(pull(&mut queue), Some((9, number)));
            assert_ne!(pull(&mut queue).map(|(flow, _)| flow), Some(9));
        }
        // It never counted as one of the flows of its host.
        let served = served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 7200);
        assert!(served[0].abs_diff(3600) <= 72, "{served:?}");
    }

    #[test]
    fn a_flow_that_ends_leaves_its_share_to_its_host() {
        let mut queue = isolated(Isolation::DualDstHost);
        two_homes(&mut queue, None);
        served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 900);
        drain(&mut queue);
        // Two flows are left to host 1: a quarter each.
        let served = served(&mut queue, [0, 1, 2], 4000);
        let expected = [2000, 1000, 1000];
        assert!(served.iter().zip(expected).all(|(served, expected)| served.abs_diff(expected) <= 40), "{served:?}");
    }

    #[test]
    fn a_place_of_a_flow_gets_the_hosts_of_the_next_one() {
        for isolation in Isolation::ALL {
            let mut queue = isolated(isolation);
            two_homes(&mut queue, None);
            served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 900);
            drain(&mut queue);
            // Flows 1 to 4 move to host 0.
            (1..5).for_each(|flow| assign(&mut queue, &[(flow, None, Some(0))]));
            let served = served(&mut queue, [0, 1, 2, 3, 4, 5, 6, 7, 8], 7200);
            // Half by destination; five of nine by flow, and by pairs of hosts, whose sources differ.
            let expected = if isolation.reads()[1] && isolation != Isolation::Hosts { 3600 } else { 4000 };
            let moved: u32 = served[..5].iter().sum();
            assert!(moved.abs_diff(expected) <= expected / 50, "{isolation:?}: {served:?}");
        }
    }

    #[test]
    fn without_hosts_every_isolation_is_that_of_flows() {
        let order = |isolation| {
            let mut queue = isolated(isolation);
            (0..2000).for_each(|number| push(&mut queue, &[(number as u32 % 37, number, 100 + number as u32 % 1400)]));
            drain(&mut queue)
        };
        assert!(Isolation::ALL.into_iter().all(|isolation| order(isolation) == order(Isolation::Flows)));
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
            isolation in proptest::sample::select(Isolation::ALL.to_vec()),
            steps in proptest::collection::vec((0_u64..30, proptest::option::of((0_u32..6, 40_u32..1500))), 1..300),
        ) {
            let setup = CakeSetup { ack_filter, isolation, interval: Span::from_millis(20), ..CakeSetup::default() };
            let mut queue = Cake::new(&setup, QueueLimit::Packets(limit), rate, Stream::new(1, "CAKE"));
            assign(&mut queue, &[(1, Some(1), Some(1)), (2, Some(1), Some(2)), (3, None, Some(2))]);
            let change = |number, now, packet: Packet| {
                let body = if acks { Body::Ack(Ack::of(number, now)) } else { packet.body };
                Packet { body, ..packet }
            };
            account(&mut queue, steps, change, |queue| queue.packets <= u64::from(limit));
        }
    }
}
