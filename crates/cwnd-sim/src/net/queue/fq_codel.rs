//! Flow queueing with controlled delay (FQ-CoDel, RFC 8290).
//!
//! Each of the queues ([`flows`](super::flows)) is under CoDel's control by itself, exemption of a last packet included (Linux compares
//! the bytes of all queues there).

use cwnd::Time;

use super::codel::Control;
use super::flows::{FlowQueues, QueueControl, Shape};
use super::scheduled::Held;
use crate::net::packet::Packet;
use crate::net::setup::{CoDelSetup, FqCoDelSetup, Isolation, QueueLimit};
use crate::random::Stream;

/// Queues under CoDel's control.
pub(crate) type FqCoDel = FlowQueues<CoDelSetup>;

impl FqCoDel {
    /// An empty queue.
    pub(crate) fn new(setup: FqCoDelSetup, limit: QueueLimit, mut stream: Stream) -> Self {
        let FqCoDelSetup { codel, queues, quantum, memory } = setup;
        let isolation = Isolation::Flows;
        let shape = Shape { limit, memory, queues, quantum: quantum.0, ack_filter: false, isolation };
        Self::of(codel, shape, stream.seed())
    }
}

impl QueueControl for CoDelSetup {
    type State = Control;

    const WAYS: u32 = 1;
    const EMPTY_LEAVES: bool = false;

    fn choose(&mut self, control: &mut Control, held: &mut Held, now: Time, dropped: &mut Vec<Packet>) -> Option<bool> {
        control.choose(self, held, now, dropped)
    }

    fn overflow(&mut self, _: &mut Control, _: Time) {}

    /// Half of them, but no more than 64: finding the longest queue takes a look at all of them, so that several packets go at once
    /// (RFC 8290 section 4.1).
    fn batch(packets: u64) -> u64 {
        (packets / 2).clamp(1, 64)
    }
}

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Span};
    use proptest::prelude::*;

    use super::*;
    use crate::net::queue::flows::Turn;
    use crate::net::queue::flows::testing::{account, drain, label, pull, push};
    use crate::net::queue::scheduled::Scheduler;

    fn fq(limit: QueueLimit, change: impl Fn(&mut FqCoDelSetup)) -> FqCoDel {
        // CoDel out of the way.
        let codel = CoDelSetup { interval: Span::from_secs(1_000_000), ..CoDelSetup::default() };
        let mut setup = FqCoDelSetup { codel, ..FqCoDelSetup::default() };
        change(&mut setup);
        FqCoDel::new(setup, limit, Stream::new(1, "FQ-CoDel"))
    }

    fn unlimited() -> FqCoDel {
        fq(QueueLimit::Unlimited, |_| {})
    }

    #[test]
    fn a_turn_lasts_until_the_credits_are_used_up() {
        // Quantum 1500. Flow 1 sends 1000 and, as 500 are left, 1000 more: 500 short. So does flow 2 with 1500. In the round of old
        // queues flow 1 has 1000 and sends one, flow 2 has 1500 and sends one.
        let mut queue = unlimited();
        push(
            &mut queue,
            &[(1, 0, 1000), (1, 1, 1000), (1, 2, 1000), (1, 3, 1000), (2, 0, 1500), (2, 1, 1500), (2, 2, 1500)],
        );
        assert_eq!(drain(&mut queue), [(1, 0), (1, 1), (2, 0), (1, 2), (2, 1), (1, 3), (2, 2)]);
        assert_eq!(queue.backlog(), (0, 0));
        assert!(queue.new.first.is_none() && queue.old.first.is_none());
        assert!(queue.queues.iter().all(|queue| queue.turn == Turn::None));
    }

    #[test]
    fn a_new_flow_comes_before_the_old_ones_once() {
        let mut queue = unlimited();
        push(&mut queue, &[(1, 0, 1500), (1, 1, 1500), (1, 2, 1500), (2, 0, 1500), (2, 1, 1500), (2, 2, 1500)]);
        assert_eq!([pull(&mut queue), pull(&mut queue), pull(&mut queue)], [Some((1, 0)), Some((2, 0)), Some((1, 1))]);
        push(&mut queue, &[(3, 0, 100)]);
        assert_eq!(pull(&mut queue), Some((3, 0)), "ahead of flow 2, whose turn it is");
        // Its queue is found empty before flow 2 sends and goes to the end of the old ones, where its next packet waits for those
        // before it; flow 1, without credits, has just gone behind it.
        assert_eq!(pull(&mut queue), Some((2, 1)));
        push(&mut queue, &[(3, 1, 100), (4, 0, 100)]);
        assert_eq!(drain(&mut queue), [(4, 0), (3, 1), (1, 2), (2, 2)]);
        // An old queue that is found empty is forgotten, and new with its next packet.
        push(&mut queue, &[(1, 3, 1500), (2, 3, 1500)]);
        assert_eq!(drain(&mut queue), [(1, 3), (2, 3)]);
    }

    #[test]
    fn new_flows_do_not_starve_an_old_one() {
        let mut queue = unlimited();
        (0..100).for_each(|number| push(&mut queue, &[(0, number, 1500)]));
        assert_eq!([pull(&mut queue), pull(&mut queue)], [Some((0, 0)), Some((0, 1))]);
        // As many new flows as there are hashes, each with a packet of a whole quantum, two for every packet that leaves.
        let (mut next, mut served) = (1, 0);
        for _ in 0..20_000 {
            for _ in 0..2 {
                push(&mut queue, &[(next, 0, 1500)]);
                next = next % 5000 + 1;
            }
            served += u32::from(pull(&mut queue).is_some_and(|(flow, _)| flow == 0));
        }
        // Once all queues are in the round its share is one in 1024.
        assert!((15..=20).contains(&served), "{served}");
    }

    #[test]
    fn the_longest_queue_loses_half_of_its_packets_but_no_more_than_64() {
        let mut dropped = Vec::new();
        let mut queue = fq(QueueLimit::Packets(20), |_| {});
        (0..8).for_each(|number| push(&mut queue, &[(1, number, 1500), (2, number, 500)]));
        (0..5).for_each(|number| push(&mut queue, &[(3, number, 40)]));
        queue.shed(&mut dropped);
        assert_eq!(
            dropped.drain(..).map(|packet| label(&packet)).collect::<Vec<_>>(),
            [(1, 0), (1, 1), (1, 2), (1, 3)]
        );
        assert_eq!(queue.backlog(), (17, 4 * 1500 + 8 * 500 + 5 * 40));

        let mut queue = fq(QueueLimit::Packets(1000), |_| {});
        (0..1001).for_each(|number| push(&mut queue, &[(1, number, 1500)]));
        queue.shed(&mut dropped);
        assert_eq!((dropped.len(), label(&dropped[0]), label(&dropped[63])), (64, (1, 0), (1, 63)));
    }

    #[test]
    fn memory_is_a_limit_of_its_own() {
        let mut queue = fq(QueueLimit::Packets(1000), |setup| setup.memory = 10_000);
        let mut dropped = Vec::new();
        (0..7).for_each(|number| push(&mut queue, &[(1, number, 1500)]));
        queue.shed(&mut dropped);
        assert_eq!((dropped.len(), queue.backlog()), (3, (4, 6000)));
        // A queue of one packet that is too much loses it.
        push(&mut queue, &[(2, 0, 9000)]);
        queue.shed(&mut dropped);
        assert_eq!(queue.backlog(), (4, 6000));
    }

    #[test]
    fn a_seed_perturbs_which_flows_share_a_queue() {
        let places = |seed| {
            let setup = FqCoDelSetup { queues: 1000, ..FqCoDelSetup::default() };
            let mut queue = FqCoDel::new(setup, QueueLimit::Unlimited, Stream::new(seed, "FQ-CoDel"));
            (0..1000).map(|flow| queue.place(flow)).collect::<Vec<_>>()
        };
        assert_eq!(places(1), places(1));
        assert_ne!(places(1), places(2));
        // 1000 balls leave 1000 / e = 368 of 1000 urns empty, with a standard deviation of 10.
        let mut hit = places(1);
        hit.sort_unstable();
        hit.dedup();
        assert!((590..675).contains(&hit.len()), "{}", hit.len());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_count_of(
            (limit, memory, queues) in (0_u32..30, 0_u64..20_000, 1_u32..5),
            quantum in 1_u32..3000,
            steps in proptest::collection::vec((0_u64..30, proptest::option::of((0_u32..6, 40_u32..1500))), 1..300),
        ) {
            let codel = CoDelSetup { mtu: Bytes(500), ..CoDelSetup::default() };
            let setup = FqCoDelSetup { codel, queues, quantum: Bytes(quantum), memory };
            let mut queue = FqCoDel::new(setup, QueueLimit::Packets(limit), Stream::new(1, "FQ-CoDel"));
            account(&mut queue, steps, |_, _, packet| packet, |queue| queue.packets <= u64::from(limit) && queue.bytes <= memory);
        }
    }
}
