//! Peers that acknowledge what never arrived, and peers that do not.

use std::sync::{Arc, Mutex};

use super::super::*;
use super::world::{Loses, Parcel, World, agreed, at, seq, settings};
use crate::wire::{FullAck, LossRange, Losses, Missing, Rates, Report};

/// Two ends that have acknowledgements proven, with this seed.
fn proving(seed: u64, delay: u64, rate: Option<u64>) -> World {
    let settings = Settings { prove_acks: true, ..settings() };
    World::with(&settings, &Agreed { seed, ..agreed(1000, Mode::Stream) }, delay, rate)
}

/// The receiver acknowledges, each millisecond, all that was sent `behind` ago, whatever it has, and reports a fast path; until the end of
/// the connection, or for `millis`. Returns the bytes sent and why it ended.
fn optimistic(world: &mut World, behind: usize, millis: u64) -> (u64, Option<Event>) {
    world.ends[0].to_write = u64::MAX / 2;
    let mut said = Vec::new();
    for _ in 0..millis {
        said.push(world.ends[0].core.sender.outstanding.next());
        let next = seq(1000) + said[said.len().saturating_sub(behind + 1)];
        let rates = Some(Rates { arrival: 1_000_000, capacity: 1_000_000 });
        let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: 1000, rtt_var_us: 1, window: 25_600, rates };
        world.forge(0, Message::Ack(ack));
        world.run(1);
        if let Some(Event::Closed(reason)) = world.ends[0].events.last() {
            let sent = world.ends[0].core.stats(world.now).bytes_sent;
            return (sent, Some(Event::Closed(*reason)));
        }
    }
    (world.ends[0].core.stats(world.now).bytes_sent, None)
}

fn lose_all_data_and_reports(world: &mut World) {
    world.ends[0].line.loses = Box::new(|_, parcel| matches!(parcel, Parcel::Data(_)));
    world.ends[1].line.loses = Box::new(|_, _| true);
}

#[test]
fn a_peer_that_acknowledges_what_never_arrived_draws_little() {
    // Without a proof it gets as much as the host can send.
    let mut without_proof = World::new(1, None);
    lose_all_data_and_reports(&mut without_proof);
    let (sent, end) = optimistic(&mut without_proof, 0, 2000);
    assert!(sent > 100_000_000 && end.is_none(), "{sent} bytes, {end:?}");

    let mut all = Vec::new();
    for (seed, behind) in (0..40).zip([0, 1, 5, 20].into_iter().cycle()) {
        let mut world = proving(seed, 1, None);
        lose_all_data_and_reports(&mut world);
        let (sent, end) = optimistic(&mut world, behind, 2000);
        assert_eq!(end, Some(Event::Closed(Reason::FalseAck)), "seed {seed}, {behind} ms behind: {sent} bytes");
        all.push(sent);
    }
    let mean = all.iter().sum::<u64>() / all.len() as u64;
    println!("mean {mean} bytes, most {:?}", all.iter().max());
    // The packets of slow start until an acknowledgement of the withheld packet, one of the first 256.
    assert!(all.iter().all(|sent| *sent < 3_000_000), "{all:?}");
}

#[test]
fn a_peer_that_turns_optimistic_draws_no_more_than_twice_what_it_received() {
    for seed in 0..10 {
        let mut world = proving(seed, 5, Some(400_000_000));
        world.ends[0].to_write = u64::MAX / 2;
        world.run(1000);
        let received = world.ends[1].core.stats(world.now).bytes_received;
        let before = world.ends[0].core.stats(world.now).bytes_sent;
        assert!(received > 20_000_000, "{received}");
        lose_all_data_and_reports(&mut world);
        let (sent, end) = optimistic(&mut world, 0, 5000);
        assert_eq!(end, Some(Event::Closed(Reason::FalseAck)), "seed {seed}");
        // The packets that may be in flight when the packet is withheld, too.
        assert!(sent - before < 2 * received + 40_000_000, "seed {seed}: {} after {received}", sent - before);
    }
}

/// A peer that reports arrivals above a hole names a packet that was never sent.
#[test]
fn a_report_of_what_was_never_sent_ends_the_connection() {
    for seed in 0..10 {
        let settings = Settings { prove_acks: true, ask_reports: true, ..settings() };
        let mut world = World::with(&settings, &Agreed { seed, ..agreed(1000, Mode::Stream) }, 1, None);
        lose_all_data_and_reports(&mut world);
        world.ends[0].to_write = u64::MAX / 2;
        for _ in 0..2000 {
            let next = seq(1000) + world.ends[0].core.sender.outstanding.next();
            let missing = Missing::new(LossRange::new(seq(1000), seq(1000)).expect("one packet"));
            world.forge(0, Message::Report(Report { from: seq(1000), next, missing }));
            world.run(1);
        }
        assert_eq!(world.ends[0].events.last(), Some(&Event::Closed(Reason::FalseAck)), "seed {seed}");
        let sent = world.ends[0].core.stats(world.now).bytes_sent;
        assert!(sent < 3_000_000, "seed {seed}: {sent} bytes");
    }
}

/// How long 20 MB take, without a proof and with one, the latter for five seeds.
fn times(settings: &Settings, delay: u64, rate: u64) -> (f64, Vec<f64>) {
    // No faster than the link, so that nothing is lost and no queue delays the packet that is missing.
    let settings = Settings { max_rate: Some(cwnd::BitRate(0.9 * rate as f64)), ..settings.clone() };
    let agreed = agreed(1000, Mode::Stream);
    let without = World::with(&settings, &agreed, delay, Some(rate)).transfer(20_000_000, 60_000).as_secs_f64();
    let with = (0..5).map(|seed| {
        let settings = Settings { prove_acks: true, ..settings.clone() };
        let mut world = World::with(&settings, &Agreed { seed, ..agreed }, delay, Some(rate));
        let with = world.transfer(20_000_000, 60_000).as_secs_f64();
        let stats = world.ends[0].core.stats(world.now);
        assert_eq!((stats.lost, stats.retrans, stats.timeouts, stats.tail_probes), (0, 0, 0, 0), "{stats:?}");
        let missing = world.ends[1].core.stats(world.now).missing;
        assert!((3..16).contains(&missing), "{missing} were withheld of 14,000");
        with
    });
    let with = with.collect();
    println!("{}, {delay} ms, {rate} bit/s: {with:.3?}, without a proof {without:.3}", settings.algorithm.entry().name);
    (without, with)
}

#[test]
fn a_proof_costs_a_correct_peer_no_more_than_three_per_cent() {
    for algorithm in ["udt", "cubic", "bbr3"] {
        for (delay, rate) in [(1, 1_000_000_000), (25, 100_000_000), (50, 300_000_000)] {
            let settings = Settings::new(cwnd::Spec::parse(algorithm).expect("registered"));
            let (without, with) = times(&settings, delay, rate);
            assert!(with.iter().all(|with| *with <= 1.03 * without), "{with:?}, without a proof {without}");
        }
    }
}

/// A receiver that grants no more than the path needs, as on a socket of 8 MiB.
#[test]
fn a_window_of_what_the_path_needs_is_large_enough_while_a_packet_is_withheld() {
    let settings = Settings { backlog: Some(5461), ..settings() };
    let (without, with) = times(&settings, 50, 300_000_000);
    let mean = with.iter().sum::<f64>() / with.len() as f64;
    assert!(mean <= 1.03 * without, "{with:?}, without a proof {without}");
}

#[test]
fn what_ends_with_a_withheld_packet_does_not_wait_for_its_report() {
    for seed in 0..20 {
        let mut world = proving(seed, 50, Some(100_000_000));
        // Two thirds of the packets that may be sent before a proof is due.
        let bytes = 170 * u64::from(super::world::PAYLOAD);
        let with = world.transfer(bytes, 5000);
        let without = World::new(50, Some(100_000_000)).transfer(bytes, 5000);
        assert!(with <= without + Span::from_millis(10), "seed {seed}: {with}, without a proof {without}");
    }
}

#[test]
fn a_packet_released_at_the_end_of_a_burst_is_no_loss() {
    for (seed, delay) in (0..20).zip([0, 1, 50].into_iter().cycle()) {
        let mut world = proving(seed, delay, None);
        for _ in 0..200 {
            world.ends[0].to_write += 40 * u64::from(super::world::PAYLOAD);
            world.run(1 + delay / 3);
        }
        let (sender, receiver) = (world.ends[0].core.stats(world.now), world.ends[1].core.stats(world.now));
        assert_eq!((sender.lost, sender.retrans, sender.timeouts), (0, 0, 0), "seed {seed}, {delay} ms: {sender:?}");
        assert!(receiver.missing > 2, "{} were withheld", receiver.missing);
    }
}

/// Loses the first report of each gap: libudt's receiver makes no other.
fn first_naks_lost() -> Loses {
    let mut seen = std::collections::BTreeSet::new();
    Box::new(move |_, parcel| {
        let Parcel::Message(Message::Nak(losses)) = parcel else { return false };
        losses.ranges().iter().any(|range| seen.insert(range.first().get()))
    })
}

#[test]
fn a_packet_that_nobody_reports_comes_all_the_same() {
    let new = || {
        let mut world = proving(3, 10, Some(100_000_000));
        world.ends[0].line.queue = 100_000;
        world
    };
    let mut world = new();
    world.ends[1].line.loses = first_naks_lost();
    world.transfer(5_000_000, 20_000);
    let mut without_naks = new();
    without_naks.ends[1].line.loses = Box::new(|_, parcel| matches!(parcel, Parcel::Message(Message::Nak(_))));
    // Nothing shows that it receives, which 0.4 MB are sent without, and then 15 kB a second.
    without_naks.transfer(500_000, 20_000);
    assert!(without_naks.ends[0].core.stats(without_naks.now).tail_probes > 0);
}

#[test]
fn a_window_of_two_packets_avoids_no_proof() {
    let mut world = proving(5, 1, None);
    world.ends[0].to_write = u64::MAX / 2;
    lose_all_data_and_reports(&mut world);
    for _ in 0..4000 {
        let next = seq(1000) + world.ends[0].core.sender.outstanding.next();
        let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: 1000, rtt_var_us: 1, window: 2, rates: None };
        world.forge(0, Message::Ack(ack));
        world.run_until(world.now + Span::from_micros(100), |_| false);
    }
    assert_eq!(world.ends[0].events.last(), Some(&Event::Closed(Reason::FalseAck)));
    let stats = world.ends[0].core.stats(world.now);
    assert!(stats.data_segs_out < 1000, "{stats:?}");
}

#[test]
fn nothing_is_withheld_where_it_was_not_asked_for() {
    let mut world = World::new(5, Some(100_000_000));
    world.ends[0].line.queue = 100_000;
    world.transfer(5_000_000, 10_000);
    assert_eq!(world.ends[1].core.stats(world.now).missing, 0);
    assert!(world.now < at(10_000));
}

/// Whatever the path, also where slow start overruns a short queue and loses most packets, a transfer with proofs ends in time.
#[test]
fn proofs_delay_no_correct_peer_for_long() {
    let time = |algorithm: &str, (rate, delay): (u64, u64), queue: usize, one_in: u64, proven: bool| {
        let settings = Settings::new(cwnd::Spec::parse(algorithm).expect("registered"));
        let settings = Settings { prove_acks: proven, ask_reports: true, ..settings };
        let mut world = World::with(&settings, &agreed(1000, Mode::Stream), delay, Some(rate));
        let mut sent = 0_u64;
        world.ends[0].line.queue = queue;
        world.ends[0].line.loses = Box::new(move |_, _| {
            sent += 1;
            sent.is_multiple_of(one_in)
        });
        world.ends[0].to_write = 1_000_000;
        world.run_until(at(120_000), |world| world.ends[1].read >= 1_000_000).as_secs_f64()
    };
    for algorithm in ["udt", "cubic", "bbr3"] {
        for path in [(1_000_000, 10), (10_000_000, 2), (10_000_000, 50), (100_000_000, 5), (100_000_000, 50)] {
            for (queue, one_in) in [(5, u64::MAX), (50, u64::MAX), (400, u64::MAX), (50, 100), (50, 5)] {
                let [without, with] = [false, true].map(|proven| time(algorithm, path, queue, one_in, proven));
                let case = format!("{algorithm}, {path:?}, {queue} packets, one in {one_in} lost");
                assert!(with <= 2.0 * without + 0.5, "{case}: {with} s, without proofs {without} s");
            }
        }
    }
}
/// The messages in a millisecond of a peer that receives nothing, about the packets `from..next` that are not acknowledged: those that it
/// reports missing, and the end of those that it acknowledges.
type Lie = Box<dyn FnMut(u64, u64) -> (Vec<std::ops::Range<u64>>, u64)>;

/// The lie of a seed.
type MakeLie = fn(u64) -> Lie;

/// One range.
fn one(range: std::ops::Range<u64>) -> Vec<std::ops::Range<u64>> {
    std::iter::once(range).collect()
}

/// The bytes that a liar draws in 8 s, and whether it was caught. It knows the packets that were sent a round trip ago.
fn lies(seed: u64, delay: u64, lie: Lie) -> (u64, bool) {
    lies_from(&Arc::new(Mutex::new(Unproven::new())), seed, delay, lie)
}

/// The bytes that a liar draws in 8 s, and whether it was caught, at an address to which `unproven` may be sent.
fn lies_from(unproven: &Arc<Mutex<Unproven>>, seed: u64, delay: u64, mut lie: Lie) -> (u64, bool) {
    let mut world = proving(seed, delay, None);
    world.ends[0].core.share(Arc::clone(unproven));
    lose_all_data_and_reports(&mut world);
    world.ends[0].to_write = u64::MAX / 2;
    let mut said = std::collections::VecDeque::from(vec![0; 2 * delay as usize]);
    for _ in 0..8000 {
        said.push_back(world.ends[0].core.sender.outstanding.next());
        let known = said.pop_front().unwrap_or(0);
        let acked = world.ends[0].core.sender.outstanding.acked();
        let (missing, upto) = lie(acked, known.max(acked));
        for range in missing.into_iter().filter(|range| !range.is_empty()) {
            let range = LossRange::new(seq(1000) + range.start, seq(1000) + (range.end - 1)).expect("not empty");
            world.forge(0, Message::Nak(Losses::new(range)));
        }
        let (rates, next) = (Some(Rates { arrival: 1_000_000, capacity: 1_000_000 }), seq(1000) + upto);
        // Some claim a path that is shorter.
        let (rtt_us, number) = (if delay == 10 { 1000 } else { 2000 * delay as u32 }, AckNumber::FIRST);
        world.forge(0, Message::Ack(FullAck { number, next, rtt_us, rtt_var_us: 100, window: 25_600, rates }));
        world.run(1);
        if let Some(Event::Closed(reason)) = world.ends[0].events.last() {
            return (world.ends[0].core.stats(world.now).bytes_sent, *reason == Reason::FalseAck);
        }
    }
    (world.ends[0].core.stats(world.now).bytes_sent, false)
}

/// Reports each packet missing with probability `chance`, in runs of 1 to 16, and acknowledges the packets it has reported.
fn random_liar(seed: u64, chance: f64) -> Lie {
    // A linear congruential generator (Knuth's constants) suffices here.
    let mut state = seed ^ 0x11a2;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut from = 0;
    Box::new(move |acked, next| {
        let mut missing = Vec::new();
        let mut at = acked.max(from);
        while at < next {
            let end = (at + 1 + (unit() * 16.0) as u64).min(next);
            if unit() < chance {
                missing.push(at..end);
            }
            at = end;
        }
        from = next;
        (missing, next)
    })
}

/// Blind liars of all kinds draw a megabyte at most, but for one in forty that is lucky.
#[test]
fn who_reports_missing_what_it_then_acknowledges_draws_a_megabyte() {
    let liars: [(&str, MakeLie); 11] = [
        ("all missing, then acknowledged", |_| Box::new(|acked, next| (one(acked..next), next))),
        ("all missing, acknowledged a second later", |_| {
            let mut past = std::collections::VecDeque::new();
            Box::new(move |acked, next| {
                past.push_back(next);
                let upto = if past.len() > 1000 { past.pop_front().unwrap_or(0) } else { 0 };
                (one(acked..next), upto.max(acked))
            })
        }),
        ("all missing, never acknowledged", |_| Box::new(|acked, next| (one(acked..next), acked))),
        ("the newest missing, never acknowledged", |_| {
            Box::new(|acked, next| (one(next.max(acked + 1) - 1..next), acked))
        }),
        ("missing from the newest down, then acknowledged", |_| {
            Box::new(|acked, next| ((acked..next).rev().map(|number| number..number + 1).collect(), next))
        }),
        ("each missing as it comes, and acknowledged", |_| {
            let mut reported = 0;
            Box::new(move |acked, next| {
                let from = reported.max(acked);
                reported = next;
                ((from..next).rev().map(|number| number..number + 1).collect(), next)
            })
        }),
        // Acknowledgements come late, and claim a short path: the sender repeats the awaited packets.
        ("acknowledged late, nothing missing", |_| {
            let mut past = std::collections::VecDeque::from(vec![0; 60]);
            Box::new(move |_, next| {
                past.push_back(next);
                (Vec::new(), past.pop_front().unwrap_or(0))
            })
        }),
        ("a quarter missing", |seed| random_liar(seed, 0.25)),
        ("half missing", |seed| random_liar(seed, 0.5)),
        ("three quarters missing", |seed| random_liar(seed, 0.75)),
        ("nine tenths missing", |seed| random_liar(seed, 0.9)),
    ];
    for (what, liar) in liars {
        for delay in [10, 30] {
            let mut drawn: Vec<(u64, bool)> = (0..40).map(|seed| lies(seed, delay, liar(seed))).collect();
            drawn.sort_unstable();
            let found = drawn.iter().filter(|(_, found)| *found).count();
            let mean = drawn.iter().map(|(bytes, _)| *bytes).sum::<u64>() / 40;
            let most = (drawn[37].0, drawn[39].0);
            println!(
                "{what}, {} ms: mean {mean}, 38 of 40 below {}, most {}, {found} found out",
                2 * delay,
                most.0,
                most.1
            );
            assert!(most.0 <= 1_000_000 && most.1 <= 2_000_000, "{what}, {} ms: {drawn:?}", 2 * delay);
        }
    }
}

/// A peer that connects again and again draws no more from one address.
#[test]
fn a_liar_that_comes_again_draws_no_more() {
    for chance in [0.0, 0.25, 0.5, 1.0] {
        let address = Arc::new(Mutex::new(Unproven::new()));
        let drawn: Vec<u64> = (0..20).map(|seed| lies_from(&address, seed, 10, random_liar(seed, chance)).0).collect();
        let all = drawn.iter().sum::<u64>();
        println!("{chance} missing: {all} bytes in 20 connections, {drawn:?}");
        assert!(all <= 1_000_000, "{chance}: {drawn:?}");
    }
}
