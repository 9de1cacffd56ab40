//! Messages: bounds, order, time to live.

use super::super::*;
use super::world::{PAYLOAD, Parcel, World, agreed, at, lose_first_copy_of, seq, settings};
use crate::wire::DropRequest;

const FULL: u64 = PAYLOAD as u64;

fn send(world: &mut World, bytes: u64, ttl: Option<u64>, in_order: bool) {
    let options = MessageOptions { ttl: ttl.map(Span::from_millis), in_order };
    let now = world.now;
    world.ends[0].core.send_message(now, bytes, options).expect("room");
}

fn lengths(world: &World) -> Vec<u64> {
    world.ends[1].messages.iter().map(|bytes| bytes.end - bytes.start).collect()
}

#[test]
fn bounds_are_kept() {
    let mut world = World::of_messages(5, Some(50_000_000));
    let sizes = [1, FULL, FULL + 1, 100, 5 * FULL, 7];
    for size in sizes {
        send(&mut world, size, None, true);
    }
    world.run(500);
    assert_eq!(lengths(&world), sizes);
}

#[test]
fn a_message_may_overtake_one_that_is_held_up_only_if_it_says_so() {
    for (in_order, expected) in [(false, [200, 300, 100]), (true, [100, 200, 300])] {
        let mut world = World::of_messages(20, Some(50_000_000));
        world.ends[0].line.loses = lose_first_copy_of(1);
        for size in [100, 200, 300] {
            send(&mut world, size, None, in_order);
        }
        world.run(500);
        assert_eq!(lengths(&world), expected);
    }
}

#[test]
fn a_message_that_was_never_sent_expires_without_a_trace() {
    // libudt checks the time to live of retransmissions only.
    let mut world = World::of_messages(5, None);
    world.ends[0].core.sender.peer_window = 1;
    send(&mut world, FULL, None, true);
    send(&mut world, FULL, Some(2), true);
    send(&mut world, FULL, None, true);
    world.run(100);
    assert_eq!(lengths(&world), [FULL, FULL]);
    let stats = world.ends[0].core.stats(world.now);
    assert_eq!((stats.expired, stats.data_segs_out, stats.bytes_acked), (1, 2, 3 * FULL));
    assert!(!world.messages_of(0).iter().any(|(_, message)| matches!(message, Message::DropRequest(_))));
}

#[test]
fn a_message_lost_beyond_its_time_is_dropped_and_the_rest_goes_on() {
    let mut world = World::of_messages(50, None);
    let mut first = true;
    world.ends[0].line.loses = Box::new(move |_, parcel| match parcel {
        Parcel::Data(data) => data.number == 1,
        // The first drop request gets lost as well.
        Parcel::Message(Message::DropRequest(_)) => std::mem::take(&mut first),
        Parcel::Message(_) => false,
    });
    send(&mut world, 3 * FULL, Some(60), true);
    send(&mut world, 500, None, true);
    world.run(3000);
    assert_eq!(lengths(&world), [500]);
    let sent = world.ends[0].core.stats(world.now);
    assert_eq!((sent.expired, sent.unacked, sent.timeouts), (1, 0, 0));
    assert_eq!(world.ends[1].core.stats(world.now).given_up, 1);
}

#[test]
fn a_message_that_expires_half_sent_is_not_finished() {
    let mut world = World::of_messages(5, Some(10_000_000));
    world.ends[0].core.sender.peer_window = 3;
    send(&mut world, 10 * FULL, Some(3), true);
    send(&mut world, 500, None, true);
    world.run(3000);
    assert_eq!(lengths(&world), [500]);
    let sent = world.ends[0].core.stats(world.now);
    assert_eq!((sent.unacked, sent.bytes_acked), (0, 10 * FULL + 500));
    assert!(sent.data_segs_out <= 8, "{sent:?}");
}

#[test]
fn messages_that_expire_make_room_although_nobody_reads() {
    let settings = Settings { mode: Mode::Messages, send_buffer: 64, receive_buffer: 32, ..settings() };
    let agreed = Agreed { peer_window: 32, ..agreed(1000, Mode::Messages) };
    let mut world = World::with(&settings, &agreed, 5, Some(50_000_000));
    world.ends[1].reads = false;
    for _ in 0..500 {
        send(&mut world, 3 * FULL, Some(20), true);
        world.run(10);
    }
    world.run(1000);
    // The first ones fill the receiver; all others are given up.
    let core = &world.ends[0].core;
    let stats = core.stats(world.now);
    assert_eq!((core.released(), stats.notsent), (500 * 3 * FULL, 0));
    assert!(stats.expired >= 485, "{stats:?}");
    world.ends[1].reads = true;
    world.ends[1].core.consume(world.now, 1);
    world.run(5000);
    send(&mut world, 700, None, true);
    world.run(5000);
    assert_eq!(lengths(&world).last(), Some(&700));
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_reason() {
    let mut world = World::of_messages(5, None);
    let core = &mut world.ends[0].core;
    let options = MessageOptions { ttl: None, in_order: true };
    assert_eq!(core.send_message(at(0), 0, options), Err(SendError::Empty));
    let huge = (25_600 * FULL + 1, Err(SendError::TooLarge { packets: 25_601, room: 25_600 }));
    assert_eq!(core.send_message(at(0), huge.0, options), huge.1);
    assert!(core.send_message(at(0), 25_600 * FULL, options).is_ok());
    assert_eq!(core.send_message(at(0), 1, options), Err(SendError::Full));
    assert_eq!(core.write(100), 0);
    world.run(10_000);
    assert_eq!(world.ends[0].events, [Event::Writable]);
    world.ends[0].core.abort(at(20_000));
    assert_eq!(world.ends[0].core.send_message(at(20_000), 1, options), Err(SendError::Closed));
    let mut stream = World::new(5, None);
    assert_eq!(stream.ends[0].core.send_message(at(0), 1, options), Err(SendError::Stream));
}

/// Message 1 of two packets, of which the second is lost, and message 2 of one packet, lost as well. Then what libudt says if
/// message 1 has expired: packets 0 to 2.
fn drop_of_one_too_many() -> World {
    let mut world = World::of_messages(20, None);
    world.ends[0].line.loses =
        Box::new(|now, parcel| now < at(150) && matches!(parcel, Parcel::Data(data) if (1..=2).contains(&data.number)));
    send(&mut world, 2 * FULL, None, true);
    send(&mut world, 300, None, true);
    send(&mut world, 400, None, true);
    world.run(30);
    let request = DropRequest { message: MessageNumber::FIRST, first: seq(1000), last: seq(1002) };
    world.forge(1, Message::DropRequest(request));
    world
}

#[test]
fn a_drop_request_that_reaches_into_the_next_message_harms_nothing() {
    let mut world = drop_of_one_too_many();
    assert_eq!(world.ends[1].core.stats(world.now).given_up, 1);
    world.run(1000);
    assert_eq!(lengths(&world), [300, 400], "libudt's receiver would never deliver the 300 bytes");
}

#[test]
fn a_drop_request_said_twice_is_meant() {
    let mut world = drop_of_one_too_many();
    world.run(70);
    let request = DropRequest { message: MessageNumber::FIRST, first: seq(1000), last: seq(1002) };
    world.forge(1, Message::DropRequest(request));
    assert_eq!(world.ends[1].core.stats(world.now).given_up, 2);
}

#[test]
fn a_drop_request_spares_what_belongs_to_other_messages() {
    let mut world = World::of_messages(20, None);
    world.ends[0].line.loses = lose_first_copy_of(1);
    for size in [100, 200, 300] {
        send(&mut world, size, None, true);
    }
    world.run(25);
    let message = MessageNumber::new(9).expect("29 bits");
    world.forge(1, Message::DropRequest(DropRequest { message, first: seq(1001), last: seq(1002) }));
    world.run(500);
    assert_eq!(lengths(&world), [100, 200, 300]);
}

#[test]
fn a_message_whose_hole_is_filled_last_is_delivered_once() {
    for in_order in [false, true] {
        let mut world = World::of_messages(20, Some(50_000_000));
        world.ends[0].line.loses = lose_first_copy_of(2);
        send(&mut world, 3 * FULL, None, in_order);
        send(&mut world, 100, None, true);
        world.run(500);
        assert_eq!(lengths(&world), [3 * FULL, 100]);
    }
}

#[test]
fn a_message_that_expires_half_acknowledged_is_given_up_as_often_as_asked() {
    for lost in 0..4 {
        let mut world = World::of_messages(20, None);
        let mut requests = 0;
        world.ends[0].line.loses = Box::new(move |_, parcel| {
            let request = matches!(parcel, Parcel::Message(Message::DropRequest(_)));
            requests += u32::from(request);
            request && requests <= lost
        });
        // The first flight is acknowledged at 50 ms, which would let the rest leave; but at that instant the time is over.
        world.ends[0].core.sender.peer_window = 2;
        send(&mut world, 4 * FULL, Some(50), true);
        world.run(5000);
        assert_eq!(world.ends[0].core.stats(world.now).unacked, 0, "{lost} lost requests");
        send(&mut world, 500, None, true);
        world.run(500);
        assert_eq!(lengths(&world), [500], "{lost} lost requests");
    }
}

#[test]
fn doubts_about_several_messages_are_settled_one_by_one() {
    let mut world = World::of_messages(20, None);
    // Every message loses its second half, and its time is over when that is noticed.
    world.ends[0].line.loses = Box::new(|_, parcel| matches!(parcel, Parcel::Data(data) if data.number % 2 == 1));
    for _ in 0..40 {
        send(&mut world, 2 * FULL, Some(30), false);
    }
    world.run(20_000);
    let sent = world.ends[0].core.stats(world.now);
    assert_eq!((sent.unacked, sent.expired), (0, 40), "{sent:?}");
    assert!(lengths(&world).is_empty());
}
