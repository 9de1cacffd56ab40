//! The messages of the receiving half, and their times.

use super::super::*;
use super::world::{PAYLOAD, Parcel, World, at, header, seq};
use crate::wire::FullAck;

fn light(message: &Message) -> bool {
    matches!(message, Message::LightAck(_))
}

fn full(message: &Message) -> bool {
    matches!(message, Message::Ack(_))
}

#[test]
fn a_light_acknowledgement_comes_with_every_64_packets() {
    let mut world = World::new(30, Some(1_000_000_000));
    world.transfer(3_000_000, 5000);
    world.run(200);
    let said = world.messages_of(1);
    let lights = said.iter().filter(|(_, message)| light(message)).count();
    // 2061 packets, most of them in bursts of hundreds between two ticks of the clock.
    assert!((15..=32).contains(&lights), "{lights}");
}

#[test]
fn full_acknowledgements_keep_to_the_clock() {
    let mut world = World::new(30, Some(20_000_000));
    world.transfer(1_000_000, 5000);
    let ticks: Vec<_> =
        world.messages_of(1).iter().filter(|(_, message)| full(message)).map(|(when, _)| *when).collect();
    assert!(ticks.len() > 20);
    // The last one answers the short packet at the end.
    let steady = ticks.windows(2).rev().skip(1).take(20).all(|two| two[1].since(two[0]) == Span::from_millis(10));
    assert!(steady, "{ticks:?}");
}

#[test]
fn every_full_acknowledgement_is_confirmed_and_gives_a_round_trip() {
    let mut world = World::new(20, Some(50_000_000));
    world.transfer(500_000, 5000);
    world.run(500);
    let acks: Vec<_> = world
        .messages_of(1)
        .iter()
        .filter_map(|(_, message)| if let Message::Ack(ack) = message { Some(ack.number) } else { None })
        .collect();
    let confirmed: Vec<_> = world
        .messages_of(0)
        .iter()
        .filter_map(|(_, message)| if let Message::Ack2(number) = message { Some(*number) } else { None })
        .collect();
    assert_eq!(acks, confirmed);
    for end in &world.ends {
        let rtt = end.core.stats(world.now).minrtt.expect("measured");
        assert!(rtt >= Span::from_millis(40) && rtt < Span::from_millis(42), "{rtt}");
    }
    let quiet = world.messages_of(1).len();
    world.run(400);
    assert_eq!(world.messages_of(1).len(), quiet, "a confirmed report is not repeated");
}

#[test]
fn an_acknowledgement_that_nobody_confirms_is_repeated_more_and_more_rarely() {
    let mut world = World::new(20, None);
    world.ends[0].line.loses = Box::new(|_, parcel| matches!(parcel, Parcel::Message(Message::Ack2(_))));
    world.transfer(1000, 5000);
    world.run(200_000);
    let acks = world.messages_of(1).into_iter().filter(|(_, message)| full(message)).count();
    assert_eq!(acks, 7);
}

#[test]
fn a_short_packet_is_acknowledged_at_once_but_not_each_of_a_thousand() {
    let mut world = World::new(5, None);
    world.transfer(100, 1000);
    let (when, _) = world.messages_of(1)[0];
    assert_eq!(when, at(5));

    let mut world = World::of_messages(0, None);
    for _ in 0..1000 {
        let options = MessageOptions { ttl: None, in_order: true };
        let now = world.now;
        world.ends[0].core.send_message(now, 10, options).expect("room");
        world.run_until(now + Span::from_micros(20), |_| false);
    }
    let acks = world.messages_of(1).into_iter().filter(|(_, message)| full(message)).count();
    assert!((15..=25).contains(&acks), "{acks} in 20 ms");
}

#[test]
fn rates_are_measured_and_reported() {
    let mut world = World::new(10, Some(48_000_000));
    world.transfer(2_000_000, 5000);
    let rates: Vec<_> = world
        .messages_of(1)
        .iter()
        .filter_map(|(_, message)| if let Message::Ack(ack) = message { ack.rates } else { None })
        .collect();
    let last = rates.last().expect("reports");
    // 1500-byte packets over 48 Mbit/s: 4000 packets/s.
    assert!((3990..=4010).contains(&last.capacity), "{last:?}");
    assert!((3000..=4010).contains(&last.arrival), "{last:?}");
    assert_eq!(rates[0].capacity, 0, "not measured, not invented");
}

#[test]
fn coalesced_pairs_and_batches_do_not_fool_the_estimates() {
    let mut world = World::new(0, None);
    let receiver = &mut world.ends[1];
    // 8 packets per millisecond, read together: 8000 packets/s, and pairs of no meaning.
    let mut number = 0;
    for tick in 0..200 {
        for _ in 0..8 {
            let arrived = Arrived { now: at(tick), coalesced: true };
            receiver.core.handle_data(arrived, &header(seq(1000) + number), PAYLOAD);
            number += 1;
        }
        while let Some(Transmit::Message(message)) = receiver.core.poll_transmit(at(tick)) {
            if let Message::Ack(ack) = message {
                let rates = ack.rates.expect("each 10 ms");
                assert_eq!(rates.capacity, 0);
                assert!(tick < 30 || (7900..=8100).contains(&rates.arrival), "{rates:?}");
            }
        }
        let unread = receiver.core.readable().count() as u64;
        receiver.core.consume(at(tick), unread);
    }
}

#[test]
fn a_capacity_below_what_got_through_is_refuted() {
    // Pairs torn apart by something on the path say a tenth of the truth (daimd section VII, footnote 5).
    let mut world = World::under("udt:start=none,initial_rate=40mbit", 10, Some(100_000_000));
    world.ends[1].line.alters = Box::new(|parcel| {
        if let Parcel::Message(Message::Ack(FullAck { rates: Some(rates), .. })) = parcel {
            rates.capacity /= 10;
        }
    });
    world.transfer(5_000_000, 5000);
    let mut capacity = 0.0;
    cwnd::CongestionControl::inspect(world.ends[0].core.algorithm(), &mut |name, value| {
        if name == "pair_rate" {
            capacity = value;
        }
    });
    // 40 Mbit/s are 3333 packets/s; the pairs say 833.
    assert!((3200.0..4000.0).contains(&capacity), "{capacity}");
}
