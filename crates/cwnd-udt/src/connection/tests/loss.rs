//! Packets and reports that get lost.

use super::super::*;
use super::world::{Loses, PAYLOAD, Parcel, World, at, header, lose_first_copy_of, seq};
use crate::wire::LossRange;

/// Loses each packet of data with probability `p`.
fn at_random(p: f64) -> Loses {
    let mut state = 12345_u64;
    Box::new(move |_, parcel| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        matches!(parcel, Parcel::Data(_)) && (((state >> 33) as f64) / (1_u64 << 31) as f64) < p
    })
}

fn naks(world: &World) -> Vec<(Time, Vec<LossRange>)> {
    let said = world.messages_of(1).into_iter();
    said.filter_map(|(when, message)| match message {
        Message::Nak(losses) => Some((when, losses.ranges().to_vec())),
        _ => None,
    })
    .collect()
}

fn data(world: &World) -> Vec<(Time, DataPacket)> {
    let said = world.ends[0].said.iter();
    said.filter_map(|(when, parcel)| match parcel {
        Parcel::Data(data) => Some((*when, data.clone())),
        Parcel::Message(_) => None,
    })
    .collect()
}

#[test]
fn an_early_loss_costs_next_to_nothing() {
    // libudt: 6.0 s for 5 MB, a dozen times the time without the loss (udt-wire, 7.1).
    for rate in [None, Some(100_000_000), Some(1_000_000_000)] {
        let clean = World::new(25, rate).transfer(5_000_000, 20_000);
        let mut world = World::new(25, rate);
        world.ends[0].line.loses = lose_first_copy_of(5);
        let lossy = world.transfer(5_000_000, 20_000);
        assert!(lossy.as_secs_f64() < 1.25 * clean.as_secs_f64(), "{rate:?}: {lossy}, without loss {clean}");
    }
}

#[test]
fn a_gap_is_named_at_once_and_again_if_nothing_comes() {
    let mut world = World::under("udt:start=none,initial_rate=12mbit", 20, Some(20_000_000));
    world.ends[0].to_write = 4_000_000;
    world.run(1000);
    let before = naks(&world).len();
    let lost = world.ends[0].core.sender.outstanding.next() + 1;
    world.ends[0].line.loses = lose_first_copy_of(lost + 1);
    // The first NAK is lost as well; libudt's receiver names a gap once and then never again.
    let mut first = true;
    world.ends[1].line.loses =
        Box::new(move |_, parcel| matches!(parcel, Parcel::Message(Message::Nak(_))) && std::mem::take(&mut first));
    world.run(300);
    let found = &naks(&world)[before..];
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].1, found[1].1);
    let pause = found[1].0.since(found[0].0);
    // RTT + 4 RTTVar, and a tick of the clock.
    assert!(pause >= Span::from_millis(50) && pause <= Span::from_millis(75), "{pause}");
    assert_eq!(world.ends[0].core.stats(world.now).retrans, 1);
    assert_eq!(world.ends[0].core.stats(world.now).timeouts, 0);
}

#[test]
fn losses_that_nobody_names_again_are_mended_many_at_a_time() {
    // As a receiver of libudt: every gap is named once. A hundred packets are lost when sent again, too.
    let mut world = World::under("udt:start=none,initial_rate=60mbit", 20, Some(100_000_000));
    let mut copies = std::collections::BTreeMap::<u64, u32>::new();
    world.ends[0].line.loses = Box::new(move |_, parcel| {
        let Parcel::Data(data) = parcel else { return false };
        let copies = copies.entry(data.number).or_default();
        *copies += 1;
        (100..200).contains(&data.number) && *copies <= 2
    });
    let mut named = std::collections::BTreeSet::new();
    world.ends[1].line.loses = Box::new(move |_, parcel| match parcel {
        Parcel::Message(Message::Nak(losses)) => !losses.ranges().iter().any(|range| named.insert(range.last().get())),
        _ => false,
    });
    // One after the other, each after a probe interval of two round trips and more, they would take 10 s.
    let took = world.transfer(1_500_000, 60_000);
    assert!(took < Span::from_secs(3), "{took}");
    let stats = world.ends[0].core.stats(world.now);
    assert!(stats.retrans < 500 && stats.tail_probes + stats.timeouts < 10, "{stats:?}");
}

#[test]
fn a_nak_names_four_gaps_at_most() {
    let mut world = World::new(20, None);
    world.ends[1].reads = false;
    let receiver = &mut world.ends[1].core;
    for n in 0..7 {
        let arrived = Arrived { now: at(0), coalesced: false };
        assert_eq!(receiver.handle_data(arrived, &header(seq(1000) + 2 * n), PAYLOAD), Some(Slot(2 * n)));
    }
    world.run(1);
    let named: Vec<Vec<_>> =
        naks(&world).into_iter().map(|(_, ranges)| ranges.iter().map(|range| range.first().get()).collect()).collect();
    assert_eq!(named, [vec![1001, 1003, 1005, 1007], vec![1009, 1011]]);
}

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut world = World::new(20, Some(20_000_000));
    let mut copies = 0;
    world.ends[0].line.loses = Box::new(move |_, parcel| {
        let hit = matches!(parcel, Parcel::Data(data) if data.number == 100);
        copies += u32::from(hit);
        hit && copies <= 3
    });
    world.transfer(2_000_000, 10_000);
    let stats = world.ends[0].core.stats(world.now);
    // Three copies of the missing packet, and maybe the newest one as a probe.
    assert!(stats.timeouts == 0 && (3..=5).contains(&stats.retrans), "{stats:?}");
}

#[test]
fn a_lost_tail_is_probed_after_a_few_round_trips() {
    let mut world = World::new(20, Some(50_000_000));
    world.transfer(1_000_000, 10_000);
    world.run(500);
    let start = world.now;
    let last = world.ends[0].core.sender.outstanding.next() + 2;
    world.ends[0].line.loses = lose_first_copy_of(last + 1);
    let took = world.transfer(3 * u64::from(PAYLOAD), 1000);
    // libudt waits for 300 ms without an acknowledgement. Here three round trips of 40 ms, their variation, and two ticks pass before the probe.
    assert!(took < Span::from_millis(260), "{took}, {:?}", world.ends[0].core.stats(world.now));
    assert_eq!(world.ends[0].core.stats(world.now).timeouts, 0);
    let again: Vec<_> = data(&world).into_iter().filter(|(when, data)| *when >= start && data.retransmission).collect();
    assert_eq!(again.len(), 1);
}

#[test]
fn a_tail_lost_with_its_beginning_is_named_by_the_receiver() {
    let mut world = World::new(20, Some(50_000_000));
    world.transfer(1_000_000, 10_000);
    world.run(500);
    let from = world.ends[0].core.sender.outstanding.next();
    world.ends[0].line.loses =
        Box::new(move |_, parcel| matches!(parcel, Parcel::Data(data) if !data.retransmission && data.number >= from));
    let took = world.transfer(30 * u64::from(PAYLOAD), 2000);
    // The newest packet is sent again with the oldest, and the receiver asks for those between them.
    assert!(took < Span::from_millis(350), "{took}");
    assert_eq!(world.ends[0].core.stats(world.now).retrans, 30);
}

#[test]
fn a_timeout_repeats_the_first_packets_and_lowers_the_rate() {
    let mut world = World::new(20, Some(100_000_000));
    world.ends[0].to_write = 40_000_000;
    world.run(1000);
    let rate = |world: &World| world.ends[0].core.stats(world.now).pacing_rate.expect("paced").0;
    let before = rate(&world);
    let dark = |now: Time| now >= at(1000) && now < at(1800);
    for end in &mut world.ends {
        end.line.loses = Box::new(move |now, _| dark(now));
    }
    world.run(810);
    let stats = world.ends[0].core.stats(world.now);
    assert!(stats.timeouts >= 1, "{stats:?}");
    assert!(rate(&world) <= 0.51 * before, "{} of {before}", rate(&world));
    let again = data(&world).into_iter().filter(|(when, data)| *when >= at(1050) && data.retransmission).count();
    // Of some hundred packets outstanding; libudt sends them all.
    assert!(stats.unacked > 200 && again <= 12, "{again} of {}", stats.unacked);
    let resumed = world.run_until(at(5000), |world| world.ends[0].core.stats(world.now).unacked < 100);
    assert!(resumed < at(4000), "{resumed}");
    let repeated = world.ends[1].core.stats(world.now).duplicates;
    assert!(repeated < 50, "{repeated} sent for nothing");
}

#[test]
fn random_loss_leaves_the_rate_that_theory_says() {
    // daimd eq. 10 at the increase of 0.1 packets per SYN: 3 sqrt(0.1 / 0.001) = 30 packets per SYN, 36 Mbit/s.
    let mut world = World::new(25, Some(100_000_000));
    world.ends[0].line.loses = at_random(0.001);
    let took = world.transfer(60_000_000, 100_000);
    let rate = 480.0 / took.as_secs_f64();
    assert!((28.0..45.0).contains(&rate), "{rate} Mbit/s");
    let stats = world.ends[0].core.stats(world.now);
    assert!(stats.retrans <= stats.lost && world.ends[1].core.stats(world.now).duplicates <= 2, "{stats:?}");
}

#[test]
fn reports_that_get_lost_cost_little() {
    let world = || {
        let mut world = World::new(20, Some(50_000_000));
        world.ends[0].line.queue = 200;
        world
    };
    let clean = world().transfer(5_000_000, 10_000);
    let mut world = world();
    let mut said = 0_u32;
    world.ends[1].line.loses = Box::new(move |_, _| {
        said += 1;
        said.is_multiple_of(3)
    });
    let lossy = world.transfer(5_000_000, 10_000);
    let stats = world.ends[0].core.stats(world.now);
    assert!(lossy.as_secs_f64() < 1.3 * clean.as_secs_f64(), "{lossy} against {clean}, {stats:?}");
}

#[test]
fn retransmissions_keep_to_the_pace() {
    let mut world = World::under("udt:start=none,initial_rate=12mbit", 10, None);
    let few = 50..80;
    world.ends[0].line.loses = Box::new(
        move |_, parcel| matches!(parcel, Parcel::Data(data) if few.contains(&data.number) && data.number % 2 == 1 && !data.retransmission),
    );
    world.transfer(500_000, 10_000);
    let sent = data(&world);
    let spacing = Span::from_micros(700);
    for two in sent.windows(2) {
        // One packet per millisecond at first, and never much more: libudt sends one at once for every NAK.
        let pair = two[0].1.header.seq.get() % 16 == 0 && !two[0].1.retransmission;
        assert!(pair || two[1].0.since(two[0].0) >= spacing, "{two:?}");
    }
}

#[test]
fn a_window_of_one_packet_goes_on_after_any_loss() {
    for lost in 1..6 {
        let mut world = World::under("aimd", 10, Some(50_000_000));
        // A retransmission and the one after it are lost as well, while the other direction keeps the peer talking.
        let mut copies = 0;
        world.ends[0].line.loses = Box::new(move |_, parcel| {
            let hit = matches!(parcel, Parcel::Data(data) if (5..10).contains(&data.number));
            copies += u32::from(hit);
            hit && copies <= 5 * lost
        });
        world.ends[1].to_write = 10_000_000;
        let took = world.transfer(100_000, 30_000);
        assert!(took < Span::from_secs(20), "{lost} losses of each: {took}");
    }
}

/// Packets that overtake each other by less than the receiver has seen are no losses, and those that are lost are still reported.
#[test]
fn a_path_that_reorders_is_not_taken_for_one_that_loses() {
    let retransmitted = |late: u64| {
        let mut world = World::new(20, Some(50_000_000));
        world.ends[0].line.queue = 100_000;
        world.ends[0].line.late =
            Box::new(move |number| if number % 5 == 0 { Span::from_millis(late) } else { Span::ZERO });
        world.transfer(20_000_000, 20_000);
        world.ends[0].core.stats(world.now).retrans
    };
    assert_eq!(retransmitted(0), 0);
    // Three late packets are treated as lost, with the gaps around them.
    assert!((1..100).contains(&retransmitted(3)), "{}", retransmitted(3));
}
