//! Data that meets no trouble.

use cwnd::{BitRate, Limit, Spec, registry};

use super::super::*;
use super::world::{PAYLOAD, Parcel, World, agreed, at, settings};

#[test]
fn numbers_wrap_in_both_directions() {
    let mut world = World::with(&settings(), &agreed(0x7fff_fff0, Mode::Stream), 5, Some(100_000_000));
    // Every tenth packet, among them some right at the wrap.
    for end in &mut world.ends {
        end.line.loses =
            Box::new(|_, parcel| matches!(parcel, Parcel::Data(data) if data.number % 10 == 3 && !data.retransmission));
        end.to_write = 300_000;
    }
    world.run_until(at(5000), |world| world.ends.iter().all(|end| end.read == 300_000));
    assert!(world.ends.iter().all(|end| end.read == 300_000));
    assert_eq!(world.ends[0].core.stats(world.now).refused, 0);
}

#[test]
fn the_first_flights_are_acknowledged_by_the_clock() {
    // libudt's receiver takes up to 100 ms: 60 packets need about 0.2 s there (udt-wire, 7.1).
    let mut world = World::new(0, Some(1_000_000_000));
    world.transfer(60 * u64::from(PAYLOAD), 1000);
    world.run(20);
    let first = world.messages_of(1).into_iter().find(|(_, message)| matches!(message, Message::Ack(_)));
    let (when, _) = first.expect("a full acknowledgement");
    assert!(when <= at(11), "{when}");
    assert!(world.now <= at(70), "{}", world.now);
}

#[test]
fn a_short_tail_waits_for_nothing() {
    let mut world = World::new(5, None);
    let took = world.transfer(100, 1000);
    assert_eq!(took, Span::from_millis(5));
    // Data written meanwhile shares packets.
    let took = world.transfer(u64::from(PAYLOAD) + 10, 1000);
    assert!(took < Span::from_micros(5002), "{took}");
    assert_eq!(world.ends[0].core.stats(world.now).data_segs_out, 3);
}

#[test]
fn the_bytes_of_a_stream_are_kept_until_they_are_acknowledged() {
    let mut settings = settings();
    settings.send_buffer = 32;
    let room = 32 * u64::from(PAYLOAD);
    let mut world = World::with(&settings, &agreed(0, Mode::Stream), 5, None);
    assert_eq!(world.ends[0].core.write(room + 1), room);
    world.run(1);
    assert_eq!((world.ends[0].core.released(), world.ends[0].core.room()), (0, 0));
    world.run(100);
    assert_eq!(world.ends[0].core.released(), room);
    assert_eq!(world.ends[0].events, [Event::Writable]);
}

#[test]
fn every_algorithm_drives_a_connection() {
    let accepted = |name: &str| {
        let algorithm = Spec::parse(name).expect("it is registered");
        Settings { algorithm, ..settings() }.check().is_ok()
    };
    let accepted: Vec<_> = registry::ALGORITHMS.iter().filter(|entry| accepted(entry.name)).collect();
    assert!(accepted.len() >= 25);
    for entry in accepted {
        let mut world = World::under(entry.name, 10, Some(50_000_000));
        world.ends[0].line.queue = 100;
        let mut sent = 0_u32;
        world.ends[0].line.loses = Box::new(move |_, parcel| {
            sent += u32::from(matches!(parcel, Parcel::Data(_)));
            sent % 100 == 50
        });
        let took = world.transfer(1_000_000, 60_000);
        let stats = world.ends[0].core.stats(world.now);
        assert!(stats.retrans < 300, "{}: {took}, {stats:?}", entry.name);
    }
}

#[test]
fn delivery_rates_show_the_path_however_often_it_is_acknowledged() {
    for ack_every in [64, 8] {
        let settings = Settings { ack_every, ..Settings::new(Spec::parse("bbr3").expect("registered")) };
        let mut world = World::with(&settings, &agreed(1000, Mode::Stream), 20, Some(50_000_000));
        world.ends[0].line.queue = 400;
        world.transfer(20_000_000, 10_000);
        let mut rate = 0.0;
        cwnd::CongestionControl::inspect(world.ends[0].core.algorithm(), &mut |name, value| {
            rate = if name == "max_bw" { value } else { rate };
        });
        let share = rate * 1500.0 * 8.0 / 50e6;
        assert!((share - 1.0).abs() < 0.05, "{ack_every}: {share}");
    }
}

#[test]
fn a_window_computed_at_the_receiver_is_the_algorithms() {
    // TEAR's receiver begins with two packets and adds one for the packet that arrives: three per round trip are its sender's rate.
    let mut world = World::under("tear", 25, Some(100_000_000));
    world.ends[0].to_write = 3_000_000;
    world.run(100);
    let stats = world.ends[0].core.stats(world.now);
    let (rate, rtt) = (stats.pacing_rate.expect("a rate"), stats.rtt.expect("a sample"));
    assert!((rate.0 * rtt.as_secs_f64() / (3.0 * 1500.0 * 8.0) - 1.0).abs() < 1e-6, "{stats:?}");
    assert_eq!(stats.limited.peer, Span::ZERO);
}

#[test]
fn a_slow_reader_stops_the_sender_and_starts_it_again_at_once() {
    let mut settings = settings();
    settings.receive_buffer = 100;
    let mut agreed = agreed(0, Mode::Stream);
    agreed.peer_window = 100;
    let mut world = World::with(&settings, &agreed, 10, Some(100_000_000));
    world.ends[1].reads = false;
    world.ends[0].to_write = 1_000_000;
    world.run(2000);
    let stats = world.ends[0].core.stats(world.now);
    let spacing = world.ends[0].core.spacing();
    assert_eq!((stats.limit, stats.snd_wnd), (Limit::Peer, 2));
    // The buffer is full to its two spare places; nothing was sent that had no room.
    assert_eq!(world.ends[1].core.stats(world.now).data_segs_in, 102);

    // libudt's sender is granted the room with its next retransmission, 300 ms after the last one or later.
    world.ends[1].reads = true;
    let said = world.ends[0].said.len();
    world.run(25);
    assert!(world.ends[0].said.len() > said + 50, "{:?}", &world.ends[0].said[said..]);
    assert_eq!(world.ends[0].core.stats(world.now).timeouts, stats.timeouts);
    assert!(world.ends[0].core.spacing() <= spacing, "a full reader is no congestion");
}

#[test]
fn a_reader_in_bursts_loses_nothing() {
    let mut settings = settings();
    settings.receive_buffer = 64;
    let mut agreed = agreed(0, Mode::Stream);
    agreed.peer_window = 64;
    let mut world = World::with(&settings, &agreed, 3, Some(200_000_000));
    world.ends[0].to_write = 3_000_000;
    let mut turns = 0;
    while world.ends[1].read < 3_000_000 && turns < 2000 {
        world.ends[1].reads = turns % 7 == 0;
        world.run(5);
        turns += 1;
    }
    assert_eq!(world.ends[1].read, 3_000_000);
}

#[test]
fn a_burst_leaves_ahead_of_its_time_and_no_faster() {
    let mut settings = settings();
    settings.max_rate = Some(BitRate(12_000_000.0));
    settings.burst = Span::from_millis(5);
    let mut world = World::with(&settings, &agreed(0, Mode::Stream), 1, None);
    world.ends[0].to_write = 500_000;
    world.run(100);
    let at_once = world.ends[0].said.iter().filter(|(when, _)| *when == at(0)).count();
    assert_eq!(at_once, 6, "those due until 5 ms");
    let sent = world.ends[0].core.stats(world.now).data_segs_out;
    assert!((100..=106).contains(&sent), "{sent} packets of a millisecond in 100 ms");
}

#[test]
fn every_sixteenth_packet_is_followed_at_once() {
    let mut settings = settings();
    settings.max_rate = Some(BitRate(12_000_000.0));
    let mut world = World::with(&settings, &agreed(24, Mode::Stream), 1, None);
    world.ends[0].to_write = 500_000;
    world.run(200);
    let sent: Vec<_> = world.ends[0]
        .said
        .iter()
        .filter_map(|(when, parcel)| if let Parcel::Data(data) = parcel { Some((*when, data.clone())) } else { None })
        .collect();
    let mut pairs = 0;
    for two in sent.windows(2) {
        let [(before, _), (when, data)] = two else { unreachable!("windows of two") };
        let second = data.header.seq.get() % 16 == 1;
        assert_eq!(data.pair, second, "the numbers on the wire count, not ours from 0");
        assert_eq!(before == when, second);
        pairs += u32::from(second);
    }
    assert!(pairs >= 10);
    let receiver = world.ends[1].core.stats(world.now);
    assert!(receiver.data_segs_in + 2 >= sent.len() as u64);
}

#[test]
fn the_limits_of_a_sender_add_up() {
    let mut world = World::new(10, Some(20_000_000));
    world.ends[0].to_write = 2_000_000;
    world.run(3000);
    let stats = world.ends[0].core.stats(world.now);
    let Spent { window, rate, source, peer } = stats.limited;
    assert_eq!(window + rate + source + peer, Span::from_secs(3));
    assert_eq!((stats.limit, stats.unacked, stats.notsent), (Limit::Source, 0, 0));
    assert!(source > Span::from_secs(1), "{stats:?}");
}

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<Connection>() <= 2032, "{} bytes", size_of::<Connection>());
    let mut world = World::new(10, Some(100_000_000));
    world.transfer(3_000_000, 10_000);
    world.run(3000);
    assert_eq!(world.ends[0].core.sender.outstanding.capacity(), 0);
    assert_eq!(world.ends[1].core.receiver.buffer.slots_capacity(), 0);
}
