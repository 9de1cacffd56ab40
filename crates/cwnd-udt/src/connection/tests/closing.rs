//! How connections end, and how they stay alive.

use super::super::*;
use super::world::{Parcel, World, agreed, at, settings};

fn shutdowns(world: &World, from: usize) -> usize {
    world.messages_of(from).iter().filter(|(_, message)| *message == Message::Shutdown).count()
}

#[test]
fn what_was_written_arrives_before_the_end() {
    let mut world = World::new(20, Some(20_000_000));
    let now = world.now;
    assert_eq!(world.ends[0].core.write(1_000_000), 1_000_000);
    world.ends[0].core.finish(now);
    assert_eq!(world.ends[0].core.write(1), 0);
    world.run(5000);
    assert_eq!(world.ends[1].read, 1_000_000);
    assert_eq!(world.ends[0].events, [Event::Closed(Reason::Finished)]);
    assert_eq!(world.ends[1].events.last(), Some(&Event::Closed(Reason::PeerFinished)));
    assert_eq!(shutdowns(&world, 0), 3);
    assert!(world.ends.iter().all(|end| end.core.is_closed() && end.core.next_timeout().is_none()));
}

#[test]
fn whoever_leaves_acknowledges_first() {
    let mut world = World::new(20, None);
    world.ends[0].core.write(4 * 1456);
    // All has arrived, and the clock of acknowledgements has not struck.
    world.run(24);
    let now = world.now;
    assert_eq!(world.ends[1].read, 4 * 1456);
    world.ends[1].core.finish(now);
    world.run(3000);
    assert_eq!(world.ends[0].events.last(), Some(&Event::Closed(Reason::PeerFinished)));
}

#[test]
fn two_lost_shutdowns_do_no_harm() {
    let mut world = World::new(20, None);
    let mut lost = 0;
    world.ends[0].line.loses = Box::new(move |_, parcel| {
        let hit = matches!(parcel, Parcel::Message(Message::Shutdown)) && lost < 2;
        lost += u32::from(hit);
        hit
    });
    world.ends[0].core.finish(at(0));
    world.run(3000);
    assert_eq!(world.ends[1].events, [Event::Closed(Reason::PeerFinished)]);
}

#[test]
fn lingering_ends_in_time() {
    let mut settings = settings();
    settings.linger = Span::from_secs(3);
    let mut world = World::with(&settings, &agreed(0, Mode::Stream), 20, None);
    world.transfer(100_000, 1000);
    world.ends[0].line.loses = Box::new(|_, parcel| matches!(parcel, Parcel::Data(_)));
    let now = world.now;
    world.ends[0].core.write(1000);
    world.ends[0].core.finish(now);
    world.run(2900);
    assert!(!world.ends[0].core.is_closed());
    world.run(1000);
    assert_eq!(world.ends[0].events, [Event::Closed(Reason::Lingered)]);
}

#[test]
fn giving_up_tells_the_peer_that_data_is_lost() {
    let mut world = World::new(20, Some(20_000_000));
    world.ends[1].to_write = 5_000_000;
    world.run(300);
    let now = world.now;
    world.ends[0].core.abort(now);
    world.run(2000);
    assert_eq!(world.ends[0].events.last(), Some(&Event::Closed(Reason::Aborted)));
    assert_eq!(world.ends[1].events.last(), Some(&Event::Closed(Reason::PeerAborted)));
}

#[test]
fn what_has_arrived_can_be_read_after_the_end() {
    let mut world = World::new(20, None);
    world.ends[1].reads = false;
    world.ends[0].core.write(100_000);
    world.ends[0].core.finish(at(0));
    world.run(3000);
    assert!(world.ends[1].core.is_closed());
    world.ends[1].reads = true;
    world.run(1);
    assert_eq!(world.ends[1].read, 100_000);
}

#[test]
fn a_dead_peer_is_noticed_in_ten_seconds() {
    // libudt: 46.8 s (udt-wire, 7.1), longer with longer round trips.
    for busy in [false, true] {
        let mut world = World::new(100, Some(20_000_000));
        world.ends[0].to_write = if busy { 50_000_000 } else { 0 };
        world.run(5000);
        for end in &mut world.ends {
            end.line.loses = Box::new(|_, _| true);
        }
        let end = world.run_until(at(60_000), |world| world.ends[0].core.is_closed());
        assert_eq!(world.ends[0].events.last(), Some(&Event::Closed(Reason::Timeout)));
        assert!(end > at(13_000) && end <= at(15_300), "{end}");
    }
}

#[test]
fn idle_peers_stay_connected_at_a_packet_a_second() {
    let mut world = World::new(20, None);
    world.run(120_000);
    assert!(world.ends.iter().all(|end| end.events.is_empty() && !end.core.is_closed()));
    for from in 0..2 {
        let said = world.messages_of(from);
        assert!((118..=121).contains(&said.len()), "{}", said.len());
        assert!(said.iter().all(|(_, message)| *message == Message::KeepAlive));
    }
}

#[test]
fn an_error_of_the_peers_application_is_passed_on() {
    let mut world = World::new(20, None);
    world.forge(0, Message::PeerError(4000));
    world.run(1);
    assert_eq!(world.ends[0].events, [Event::PeerError(4000)]);
}
