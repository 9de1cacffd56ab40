//! Messages of a peer, or of somebody in its name, that cannot be true. Any of them ends or harms a connection of libudt's (udt-wire, 7.2
//! and 7.3); here they are ignored and counted.

use super::super::*;
use super::world::{PAYLOAD, World, agreed, at, header, seq, settings};
use crate::wire::{DropRequest, FullAck, LossRange, Losses, Rates};

/// In the midst of a transfer.
fn busy() -> World {
    let mut world = World::new(10, Some(50_000_000));
    world.ends[0].to_write = 3_000_000;
    world.run(200);
    world
}

fn finishes(mut world: World) {
    world.run_until(at(20_000), |world| world.ends[1].read == 3_000_000);
    assert_eq!(world.ends[1].read, 3_000_000);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent() {
    let mut world = busy();
    let next = world.ends[0].core.sender.outstanding.next();
    let far = seq(1000) + next + 1;
    let ack = FullAck { number: AckNumber::FIRST, next: far, rtt_us: 1, rtt_var_us: 1, window: 9, rates: None };
    let window = world.ends[0].core.stats(world.now).snd_wnd;
    world.forge(0, Message::Ack(ack));
    world.forge(0, Message::LightAck(far));
    world.forge(0, Message::LightAck(seq(900)));
    let stats = world.ends[0].core.stats(world.now);
    assert_eq!((stats.refused, stats.snd_wnd), (3, window));
    assert!(world.ends[0].core.ack2.is_empty(), "it is not confirmed either");
    finishes(world);
}

#[test]
fn a_nak_of_what_was_never_sent() {
    let mut world = busy();
    let next = world.ends[0].core.sender.outstanding.next();
    let lost = world.ends[0].core.stats(world.now).lost;
    let mut losses = Losses::new(LossRange::new(seq(1000) + next, seq(1000) + next).expect("forwards"));
    let more = [(seq(1000), seq(1000) + next), (seq(0x7000_0000), seq(0x7000_0001)), (seq(500), seq(900))];
    for (first, last) in more {
        assert!(losses.push(LossRange::new(first, last).expect("forwards")));
    }
    world.forge(0, Message::Nak(losses));
    let stats = world.ends[0].core.stats(world.now);
    assert_eq!((stats.refused, stats.lost), (4, lost));
    finishes(world);
}

#[test]
fn a_nak_of_what_is_acknowledged() {
    let mut world = busy();
    let lost = world.ends[0].core.stats(world.now).lost;
    world.forge(0, Message::Nak(Losses::new(LossRange::new(seq(1000), seq(1003)).expect("forwards"))));
    assert_eq!(world.ends[0].core.stats(world.now).lost, lost);
    finishes(world);
}

#[test]
fn data_from_afar_opens_no_gap() {
    let mut world = busy();
    let before = world.ends[1].core.stats(world.now);
    for far in [30_000, 1 << 20, (1 << 30) - 1, 1 << 30, (1 << 31) - 5000] {
        let arrived = Arrived { now: world.now, coalesced: false };
        assert_eq!(world.ends[1].core.handle_data(arrived, &header(seq(1000) + far), PAYLOAD), None);
    }
    let after = world.ends[1].core.stats(world.now);
    assert_eq!((after.missing, after.data_segs_in), (before.missing, before.data_segs_in));
    assert_eq!(after.refused + after.no_room + after.duplicates, 5);
    assert!(world.ends[1].core.receiver.buffer.slots_capacity() < 1000);
    finishes(world);
}

#[test]
fn data_of_a_wrong_length_is_counted_nowhere_else() {
    let mut world = busy();
    let before = world.ends[1].core.stats(world.now);
    let next = world.ends[1].core.receiver.buffer.next();
    for len in [0, PAYLOAD + 1, 70_000] {
        let arrived = Arrived { now: world.now, coalesced: false };
        assert_eq!(world.ends[1].core.handle_data(arrived, &header(seq(1000) + next + 50), len), None);
    }
    let after = world.ends[1].core.stats(world.now);
    assert_eq!((after.refused, after.missing, after.data_segs_in), (3, before.missing, before.data_segs_in));
    finishes(world);
}

#[test]
fn a_window_beyond_what_was_agreed() {
    let mut world = busy();
    let next = seq(1000) + world.ends[0].core.sender.outstanding.acked();
    let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: 0, rtt_var_us: 0, window: u32::MAX >> 1, rates: None };
    world.forge(0, Message::Ack(ack));
    assert_eq!(world.ends[0].core.stats(world.now).snd_wnd, 25_600);
    finishes(world);
}

#[test]
fn rates_beyond_every_link() {
    let mut world = busy();
    for _ in 0..50 {
        let next = seq(1000) + world.ends[0].core.sender.outstanding.next();
        let rates = Some(Rates { arrival: u32::MAX >> 1, capacity: u32::MAX >> 1 });
        let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: 1, rtt_var_us: 1, window: 25_600, rates };
        world.forge(0, Message::Ack(ack));
        world.run(1);
    }
    // An optimistic peer gets no more than the window beyond its honest share: memory is bounded.
    let stats = world.ends[0].core.stats(world.now);
    assert!(stats.unacked <= 25_600, "{stats:?}");
}

#[test]
fn a_drop_request_that_runs_far_or_hits_a_stream() {
    let mut world = World::of_messages(10, None);
    let requests = [(seq(1000), seq(1000) + 25_602), (seq(1001), seq(1000)), (seq(0x4000_0000), seq(0x4000_0001))];
    for (first, last) in requests {
        world.forge(1, Message::DropRequest(DropRequest { message: MessageNumber::FIRST, first, last }));
    }
    let stats = world.ends[1].core.stats(world.now);
    assert_eq!((stats.refused, stats.given_up, stats.missing), (3, 0, 0));

    let mut world = busy();
    let (first, last) = (seq(1000), seq(1000) + 5000);
    world.forge(1, Message::DropRequest(DropRequest { message: MessageNumber::FIRST, first, last }));
    assert_eq!(world.ends[1].core.stats(world.now).refused, 1);
    finishes(world);
}

#[test]
fn a_drop_request_over_the_wrap() {
    let settings = Settings { mode: Mode::Messages, ..settings() };
    let mut world = World::with(&settings, &agreed(0x7fff_fffe, Mode::Messages), 10, None);
    let (first, last) = (seq(0x7fff_fffe), seq(3));
    world.forge(1, Message::DropRequest(DropRequest { message: MessageNumber::FIRST, first, last }));
    // All but the last: libudt leaves out 0x7fffffff.
    assert_eq!(world.ends[1].core.stats(world.now).given_up, 5);
}

#[test]
fn a_shutdown_while_the_peer_goes_on() {
    let mut world = busy();
    world.forge(1, Message::Shutdown);
    world.forge(0, Message::Shutdown);
    finishes(world);
}

#[test]
fn confirmations_of_nothing() {
    let mut world = busy();
    let rtt = world.ends[1].core.stats(world.now).rtt;
    for number in [0, 1, 5, 0x7fff_ffff] {
        world.forge(1, Message::Ack2(AckNumber::new(number).expect("31 bits")));
    }
    assert_eq!(world.ends[1].core.stats(world.now).rtt, rtt);
    finishes(world);
}

#[test]
fn floods_of_reports_take_bounded_memory() {
    let mut world = busy();
    let next = seq(1000) + world.ends[0].core.sender.outstanding.acked();
    for _ in 0..10_000 {
        let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: 1, rtt_var_us: 1, window: 100, rates: None };
        world.ends[0].core.handle_message(world.now, &Message::Ack(ack));
    }
    assert_eq!(world.ends[0].core.ack2.len(), 64, "acknowledgements to be confirmed");

    // Every second packet is missing, and nothing is sent meanwhile.
    let mut world = World::new(10, None);
    for number in 0..500 {
        let arrived = Arrived { now: world.now, coalesced: false };
        world.ends[1].core.handle_data(arrived, &header(seq(1000) + (2 * number + 1)), 100);
    }
    assert_eq!(world.ends[1].core.stats(world.now).missing, 500);
    assert_eq!(world.ends[1].core.receiver.waiting_naks(), 64, "ranges of losses");
}

#[test]
fn messages_given_up_wait_in_bounded_memory() {
    let mut world = World::of_messages(10, None);
    for _ in 0..2000 {
        world.ends[0].core.send_message(Time::ZERO, 1, MessageOptions::new()).expect("room for it");
    }
    world.run(1000);
    let end = &mut world.ends[0].core;
    let (first, now) = (end.sender.outstanding.acked(), world.now);
    assert_eq!(first, 2000, "the window has grown");
    for _ in 0..500 {
        end.send_message(now, 1, MessageOptions::new().ttl(Span::from_millis(100))).expect("room for it");
    }
    for step in 0..900 {
        end.sender.poll(now + Span::from_micros(100) * step);
    }
    let later = now + Span::from_millis(500);
    for number in first..end.sender.outstanding.next() {
        let lost = seq(1000) + number;
        let losses = Losses::new(LossRange::new(lost, lost).expect("one"));
        end.handle_message(later, &Message::Nak(losses));
    }
    assert!(end.sender.outstanding.next() >= first + 200, "{:?}", end.stats(later));
    end.sender.poll(later);
    assert_eq!(end.sender.waiting_drops(), 64);
}

#[test]
fn round_trips_of_hours() {
    let mut world = busy();
    let next = seq(1000) + world.ends[0].core.sender.outstanding.next();
    let hour = 2_000_000_000;
    let ack = FullAck { number: AckNumber::FIRST, next, rtt_us: hour, rtt_var_us: hour, window: 25_600, rates: None };
    world.forge(0, Message::Ack(ack));
    let rtt = world.ends[0].core.stats(world.now).rtt.expect("sampled");
    // An eighth of the longest that is believed, and of the true 10 ms or so.
    assert!(rtt < Span::from_millis(1280), "{rtt}");
}
