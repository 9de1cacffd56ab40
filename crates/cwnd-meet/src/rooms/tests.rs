//! Rooms, and those who would take them.

use super::*;
use crate::pair::LEAST;

const ROOM: Room = Room([1; 16]);

fn at(number: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, (number >> 8) as u8], number & 0xff | 0x100))
}

/// Joins with a cookie that this address was given.
fn join(rooms: &mut Rooms, now: Duration, from: SocketAddr, room: Room, role: Role) -> Message {
    let mut cookie = Cookie::default();
    loop {
        let Handled::Answer(answer) = rooms.handle(now, from, &Message::Join { room, role, cookie }.to_bytes()) else {
            panic!("no answer");
        };
        match Message::read(&answer).unwrap() {
            Message::Challenge { cookie: given, .. } => {
                assert_ne!(given, cookie, "it was just given");
                cookie = given;
            }
            message => return message,
        }
    }
}

/// Both members of a room send `bytes` bytes to each other, in datagrams of a kilobyte.
fn relay(rooms: &mut Rooms, now: Duration, pair: [SocketAddr; 2], bytes: u64) {
    for _ in 0..bytes.div_ceil(2048) {
        assert_eq!(rooms.handle(now, pair[0], &[0; 1024]), Handled::Forward(pair[1]));
        assert_eq!(rooms.handle(now, pair[1], &[0; 1024]), Handled::Forward(pair[0]));
    }
}

#[test]
fn a_member_that_begins_anew_waits_for_the_other_to_do_so() {
    let mut rooms = Rooms::new([1; 32], Limits::default());
    let now = Duration::ZERO;
    assert_eq!(join(&mut rooms, now, at(1), ROOM, Role::Host), Message::Waiting { room: ROOM });
    assert_eq!(join(&mut rooms, now, at(2), ROOM, Role::Guest), Message::Peer { room: ROOM, address: at(1) });
    assert_eq!(rooms.handle(now, at(1), b"data"), Handled::Forward(at(2)));
    // The host is connected directly, and waits for another guest.
    assert_eq!(join(&mut rooms, now, at(3), ROOM, Role::Host), Message::Waiting { room: ROOM });
    for old in [at(1), at(2), at(3)] {
        assert_eq!(rooms.handle(now, old, b"data"), Handled::Dropped);
    }
    assert_eq!(join(&mut rooms, now, at(4), ROOM, Role::Guest), Message::Peer { room: ROOM, address: at(3) });
    assert_eq!(rooms.len(), (1, 2));
}

// A second guest once ended the relay of the first.
#[test]
fn a_pair_keeps_its_places_while_it_needs_them_and_a_third_is_told() {
    let mut rooms = Rooms::new([1; 32], Limits::default());
    let ms = Duration::from_millis;
    let (waiting, busy) = (Message::Waiting { room: ROOM }, Message::Busy { room: ROOM });
    let pair = [at(1), at(2)];
    join(&mut rooms, ms(0), pair[0], ROOM, Role::Host);
    join(&mut rooms, ms(0), pair[1], ROOM, Role::Guest);
    // They try to connect directly.
    for now in [ms(0), ms(5000), ms(7999)] {
        assert_eq!(join(&mut rooms, now, at(3), ROOM, Role::Guest), waiting);
    }
    assert_eq!(rooms.len(), (1, 2));
    relay(&mut rooms, ms(8000), pair, 1);
    for (third, role, seconds) in [(at(3), Role::Guest, 8..30), (at(4), Role::Host, 30..50)] {
        for second in seconds {
            let now = ms(1000 * second);
            let answers = [ms(0), ms(500)].map(|later| {
                let answer = join(&mut rooms, now + later, third, ROOM, role);
                relay(&mut rooms, now + later + ms(10), pair, 1);
                answer
            });
            assert_eq!(answers[1], busy, "{second}");
            assert!([waiting, busy].contains(&answers[0]), "{answers:?}");
        }
    }
    // A guest that is gone loses its place when it has been silent for long enough, and not before.
    let gone = ms(50_000);
    relay(&mut rooms, gone, pair, 1);
    for later in [ms(100), ms(2400), ms(2500)] {
        assert_eq!(rooms.handle(gone + later, pair[0], b"data"), Handled::Forward(pair[1]));
        let answer = join(&mut rooms, gone + later, at(3), ROOM, Role::Guest);
        assert!(answer == waiting || (answer == busy && later < ms(2500)), "{later:?}: {answer:?}");
    }
    assert_eq!(rooms.handle(gone + ms(2600), pair[0], b"data"), Handled::Dropped, "its guest is another one");
    let met = join(&mut rooms, gone + ms(2700), at(5), ROOM, Role::Host);
    assert_eq!(met, Message::Peer { room: ROOM, address: at(3) });
}

#[test]
fn nothing_is_remembered_of_an_address_that_has_not_proven_itself() {
    let mut rooms = Rooms::new([1; 32], Limits::default());
    let message = Message::Join { room: ROOM, role: Role::Host, cookie: Cookie([9; 16]) };
    let Handled::Answer(answer) = rooms.handle(Duration::ZERO, at(1), &message.to_bytes()) else { panic!() };
    let Some(Message::Challenge { cookie, .. }) = Message::read(&answer) else { panic!() };
    let with_cookie = Message::Join { room: ROOM, role: Role::Host, cookie }.to_bytes();
    // The cookie of another address or of another hour serves for nothing.
    rooms.handle(Duration::ZERO, at(2), &with_cookie);
    rooms.handle(Duration::from_secs(3600), at(1), &with_cookie);
    assert!(rooms.is_empty());
    rooms.handle(Duration::from_secs(100), at(1), &with_cookie);
    assert_eq!(rooms.len(), (1, 1));
}

#[test]
fn limits_hold() {
    let limits = Limits { rooms: 3, per_address: 4, bytes: 100, lifetime: Duration::from_secs(100) };
    let mut rooms = Rooms::new([1; 32], limits);
    let now = Duration::ZERO;
    for number in 0..3 {
        let room = Room([number; 16]);
        let waits = join(&mut rooms, now, at(u16::from(number) << 8), room, Role::Host);
        assert_eq!(waits, Message::Waiting { room });
    }
    // The fifth of an address, in rooms where there is a place.
    for number in 0..3_u8 {
        let guest = join(&mut rooms, now, at(u16::from(number) + 1), Room([number; 16]), Role::Guest);
        assert!(matches!(guest, Message::Peer { .. }), "{guest:?}");
    }
    let room = Room([0; 16]);
    assert_eq!(join(&mut rooms, now, at(7), room, Role::Guest), Message::Full { room });
    let fourth = Room([9; 16]);
    assert_eq!(join(&mut rooms, now, at(9 << 8), fourth, Role::Host), Message::Full { room: fourth });

    assert_eq!(rooms.handle(now, at(1), &[0; 60]), Handled::Forward(at(0)));
    assert_eq!(rooms.handle(now, at(0), &[0; 41]), Handled::Dropped);
    assert_eq!(rooms.handle(now, at(0), &[0; 40]), Handled::Forward(at(1)));
    assert_eq!(join(&mut rooms, now, at(1), room, Role::Guest), Message::Full { room }, "its bytes are used up");

    // Members that are idle, or there for long, are forgotten.
    let room = Room([1; 16]);
    for second in 0..99 {
        let now = Duration::from_secs(second);
        assert!(matches!(join(&mut rooms, now, at(2), room, Role::Guest), Message::Peer { .. }), "{second}");
    }
    assert_eq!(rooms.len(), (1, 2));
    rooms.handle(Duration::from_secs(101), at(2), b"");
    assert!(rooms.is_empty() && rooms.members.is_empty() && rooms.places.is_empty());
}

// 2112 packets from 33 addresses once filled it for a minute.
#[test]
fn a_crowd_fills_no_meeting_place_and_ends_no_relay() {
    let mut rooms = Rooms::new([1; 32], Limits::default());
    let from = |ip: [u8; 4], port| SocketAddr::from((ip, port));
    let (relayed, waiting) = (Room([1; 16]), Room([2; 16]));
    // One of the two is at an address of the crowd, whose network has more rooms than others.
    let pair = [from([198, 51, 0, 1], 60_000), from([203, 0, 114, 1], 1)];
    let mut now = Duration::ZERO;
    join(&mut rooms, now, pair[0], relayed, Role::Host);
    join(&mut rooms, now, pair[1], relayed, Role::Guest);
    for round in 0..12_u16 {
        now = Duration::from_secs(10 * u64::from(round));
        if round % 5 == 0 {
            relay(&mut rooms, now, pair, LEAST);
        }
        // 100 networks ask for more rooms than there are, and for others the next time.
        for crowd in 0..1600_u16 {
            let mut room = [3; 16];
            room[..2].copy_from_slice(&(crowd + round % 2 * 1600).to_be_bytes());
            join(&mut rooms, now, from([198, 51, (crowd / 16) as u8, 1], crowd + 1), Room(room), Role::Host);
        }
        let waits = join(&mut rooms, now, from([192, 0, 2, 1], 1), waiting, Role::Host);
        assert_eq!(waits, Message::Waiting { room: waiting }, "{round}");
        assert_eq!(rooms.rooms[&waiting].since, Duration::ZERO, "it had lost its room at {round}");
        assert_eq!((rooms.rooms.len(), rooms.places.len()), (1024, 1024));
    }
    assert_eq!(rooms.handle(now, pair[0], b"data"), Handled::Forward(pair[1]));
    let met = join(&mut rooms, now, from([192, 0, 3, 1], 1), waiting, Role::Guest);
    assert_eq!(met, Message::Peer { room: waiting, address: from([192, 0, 2, 1], 1) });
}

/// A meeting place of 64 rooms, each held by two addresses of this many networks, whose members send `bytes` to each other each 50 s; whether
/// somebody from elsewhere then has a room, and for as long as it takes another one to come.
fn is_open_among(networks: u8, bytes: u64) -> bool {
    let limits = Limits { rooms: 64, ..Limits::default() };
    let mut rooms = Rooms::new([1; 32], limits);
    let crowd: Vec<[SocketAddr; 2]> = (0..64_u8)
        .map(|number| [1, 2].map(|port| SocketAddr::from(([198, 51, number % networks, number / networks], port))))
        .collect();
    let stranger = [SocketAddr::from(([192, 0, 2, 1], 1)), SocketAddr::from(([203, 0, 113, 1], 1))];
    let (mut now, mut held) = (Duration::ZERO, false);
    for round in 0..6 {
        now = Duration::from_secs(50 * round);
        for (number, pair) in (0..).zip(&crowd) {
            let room = Room([number; 16]);
            join(&mut rooms, now, pair[0], room, Role::Host);
            join(&mut rooms, now, pair[1], room, Role::Guest);
            for _ in 0..bytes.div_ceil(2048) {
                pair.iter().for_each(|from| _ = rooms.handle(now, *from, &[0; 1024]));
            }
        }
        if round >= 2 {
            let joined = join(&mut rooms, now, stranger[0], Room([100; 16]), Role::Host);
            held = joined == Message::Waiting { room: Room([100; 16]) };
        }
    }
    let met = join(&mut rooms, now, stranger[1], Room([100; 16]), Role::Guest);
    held && met == Message::Peer { room: Room([100; 16]), address: stranger[0] }
}

// 64 addresses that sent through the relay once a minute once held every room.
#[test]
fn rooms_that_carry_little_make_room_and_a_network_keeps_a_share() {
    for networks in [1, 4, 16] {
        assert!(is_open_among(networks, 2048), "idle pairs of {networks} networks");
        assert!(is_open_among(networks, 2 * LEAST), "busy pairs of {networks} networks");
    }
    // What remains: as many networks as there are shares, which pay for it.
    assert!(!is_open_among(64, 2 * LEAST));
}

#[test]
fn nothing_is_counted_as_kept_that_is_gone() {
    let mut rooms = Rooms::new([1; 32], Limits::default());
    let pair = [at(1), at(0x201)];
    for round in 0..3 {
        let now = Duration::from_secs(1000 * round);
        join(&mut rooms, now, pair[0], ROOM, Role::Host);
        join(&mut rooms, now, pair[1], ROOM, Role::Guest);
        relay(&mut rooms, now, pair, LEAST);
        assert_eq!(rooms.kept.values().sum::<usize>(), 1);
    }
    rooms.handle(Duration::from_secs(2070), at(9), b"");
    assert!(rooms.is_empty() && rooms.kept.is_empty() && rooms.places.is_empty());
}
