//! The rooms of a relay.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use cwnd_udt::places::{Places, Standing};
use cwnd_udt::quota::network;

use crate::message::{Cookie, LENGTH, Message, Role, Room, is_message};

/// The rooms of a relay. Time is an argument: how long the relay has been there.
///
/// ```
/// use std::time::Duration;
/// use cwnd_meet::{Handled, Response, Limits, Role, Room, Rooms, Client};
///
/// let mut rooms = Rooms::new([7; 32], Limits::default());
/// let mut ask = |client: &mut Client, from: &str| {
///     match rooms.handle(Duration::ZERO, from.parse().unwrap(), &client.request()) {
///         Handled::Answer(bytes) => client.handle(&bytes),
///         other => panic!("{other:?}"),
///     }
/// };
/// let (mut host, mut guest) = (Client::new(Room([1; 16]), Role::Host), Client::new(Room([1; 16]), Role::Guest));
/// assert_eq!(ask(&mut host, "192.0.2.1:5000"), Response::Challenge);
/// assert_eq!(ask(&mut host, "192.0.2.1:5000"), Response::Waiting);
/// assert_eq!(ask(&mut guest, "198.51.100.1:6000"), Response::Challenge);
/// assert_eq!(ask(&mut guest, "198.51.100.1:6000"), Response::Peer("192.0.2.1:5000".parse()?));
/// assert_eq!(ask(&mut host, "192.0.2.1:5000"), Response::Peer("198.51.100.1:6000".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug)]
pub struct Rooms {
    key: [u8; 32],
    limits: Limits,
    rooms: BTreeMap<Room, State>,
    /// The places of the rooms, each taken by whoever came first. A room with one member is idle, one with two is busy, and one in which
    /// both send through the relay is kept.
    places: Places<Room>,
    /// The room of each member, after the network in which that is.
    members: BTreeMap<(IpAddr, SocketAddr), Room>,
    swept_at: Duration,
}

/// What a relay does for others at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rooms at a time.
    pub rooms: usize,
    /// Members at a time with one address, of which a network of 64 bits of IPv6 is one.
    pub per_address: usize,
    /// Bytes that pass between the members of a room, both ways together, in the life of the room.
    pub bytes: u64,
    /// The longest life of a room.
    pub lifetime: Duration,
}

/// What is to be done about a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// Nothing.
    Dropped,
    /// Send this to where it came from.
    Answer([u8; LENGTH]),
    /// Send the datagram on, unchanged, to this member.
    Forward(SocketAddr),
}

#[derive(Debug)]
struct State {
    members: [Option<SocketAddr>; 2],
    since: Duration,
    used_at: Duration,
    /// When something of each member was last forwarded.
    sent_at: [Option<Duration>; 2],
    /// Forwarded so far.
    bytes: u64,
}

impl Rooms {
    /// A relay without rooms. The key, of random bytes, is that of the cookies.
    #[must_use]
    pub fn new(key: [u8; 32], limits: Limits) -> Self {
        let places = Places::new(limits.rooms, usize::MAX);
        Self { key, limits, rooms: BTreeMap::new(), places, members: BTreeMap::new(), swept_at: Duration::ZERO }
    }

    /// Handles a datagram from this address.
    pub fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) -> Handled {
        self.sweep(now);
        if !is_message(datagram) {
            return self.forward(now, from, datagram.len());
        }
        let Some(Message::Join { room, role, cookie }) = Message::read(datagram) else { return Handled::Dropped };
        let answer = if self.is_valid(now, from, cookie) {
            self.join(now, from, room, role)
        } else {
            Message::Challenge { room, cookie: self.cookie(now.as_secs() / PERIOD, from) }
        };
        Handled::Answer(answer.to_bytes())
    }

    /// How many rooms there are, and how many members.
    #[must_use]
    pub fn len(&self) -> (usize, usize) {
        (self.rooms.len(), self.members.len())
    }

    /// Whether there is no room.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    fn forward(&mut self, now: Duration, from: SocketAddr, length: usize) -> Handled {
        let Some(room) = self.members.get(&key(from)).copied() else { return Handled::Dropped };
        let Some(state) = self.rooms.get_mut(&room) else { return Handled::Dropped };
        let [Some(host), Some(guest)] = state.members else { return Handled::Dropped };
        let bytes = state.bytes.saturating_add(length as u64);
        if bytes > self.limits.bytes {
            return Handled::Dropped;
        }
        let before = state.standing(now);
        (state.bytes, state.used_at) = (bytes, now);
        state.sent_at[usize::from(from != host)] = Some(now);
        if before != Standing::Kept {
            self.places.set(room, state.standing(now));
        }
        Handled::Forward(if from == host { guest } else { host })
    }

    /// Gives a member its place, if there is one, and says who is there.
    fn join(&mut self, now: Duration, from: SocketAddr, room: Room, role: Role) -> Message {
        let (mine, other) = (role.place(), role.other().place());
        let before = self.rooms.get(&room).and_then(|state| state.members[mine]);
        if before != Some(from) {
            if self.is_full(from.ip()) {
                return Message::Full { room };
            }
            // A socket has one place.
            self.leave(from);
            if !self.open(now, from, room) {
                return Message::Full { room };
            }
            let Some(state) = self.rooms.get_mut(&room) else { return Message::Full { room } };
            // This end has begun anew. Whether the other has too will show by its joining again.
            let gone = if before.is_some() { state.members[other].take() } else { None };
            state.sent_at = [None; 2];
            state.members[mine] = Some(from);
            for address in before.into_iter().chain(gone) {
                self.members.remove(&key(address));
            }
            self.members.insert(key(from), room);
        }
        let Some(state) = self.rooms.get_mut(&room) else { return Message::Full { room } };
        state.used_at = now;
        self.places.set(room, state.standing(now));
        match state.members[other] {
            _ if state.bytes >= self.limits.bytes => Message::Full { room },
            Some(address) => Message::Peer { room, address },
            None => Message::Waiting { room },
        }
    }

    /// Opens a room, unless it is there; whether there is a place for it. Another room may lose its place.
    fn open(&mut self, now: Duration, from: SocketAddr, room: Room) -> bool {
        if self.rooms.contains_key(&room) {
            return true;
        }
        let Ok(lost) = self.places.take(room, from.ip()) else { return false };
        if let Some(state) = lost.and_then(|lost| self.rooms.remove(&lost)) {
            for member in state.members.into_iter().flatten() {
                self.members.remove(&key(member));
            }
        }
        self.rooms.insert(room, State { members: [None; 2], since: now, used_at: now, sent_at: [None; 2], bytes: 0 });
        true
    }

    /// Whether there are as many members from this address as there may be.
    fn is_full(&self, ip: IpAddr) -> bool {
        let network_of = network(ip);
        let first = (network_of, SocketAddr::from(([0; 4], 0)));
        let near = self.members.range(first..).take_while(|((network, _), _)| *network == network_of);
        near.take(self.limits.per_address).count() >= self.limits.per_address
    }

    /// Takes the place of a member away.
    fn leave(&mut self, member: SocketAddr) {
        let Some(room) = self.members.remove(&key(member)) else { return };
        let Some(state) = self.rooms.get_mut(&room) else { return };
        for place in state.members.iter_mut().filter(|place| **place == Some(member)) {
            *place = None;
        }
        if state.members == [None; 2] {
            self.rooms.remove(&room);
            self.places.release(room);
        }
    }

    /// Forgets rooms that nobody uses, and those that have been there for too long.
    fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept_at) < SWEEP {
            return;
        }
        self.swept_at = now;
        let (lifetime, members, places) = (self.limits.lifetime, &mut self.members, &mut self.places);
        self.rooms.retain(|room, state| {
            let lives = now.saturating_sub(state.used_at) < IDLE && now.saturating_sub(state.since) < lifetime;
            if !lives {
                places.release(*room);
                for member in state.members.into_iter().flatten() {
                    members.remove(&key(member));
                }
            }
            lives
        });
    }

    /// The cookie of an address in a period, which is not stored.
    fn cookie(&self, period: u64, from: SocketAddr) -> Cookie {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        match from.ip() {
            IpAddr::V4(ip) => hasher.update(&ip.octets()),
            IpAddr::V6(ip) => hasher.update(&ip.octets()),
        };
        hasher.update(&from.port().to_be_bytes()).update(&period.to_be_bytes());
        let mut cookie = Cookie::default();
        hasher.finalize_xof().fill(&mut cookie.0);
        cookie
    }

    fn is_valid(&self, now: Duration, from: SocketAddr, cookie: Cookie) -> bool {
        let period = now.as_secs() / PERIOD;
        [period, period.saturating_sub(1)].into_iter().any(|period| {
            // Compared in constant time.
            blake3::Hash::from_bytes(widen(self.cookie(period, from))) == blake3::Hash::from_bytes(widen(cookie))
        })
    }
}

impl State {
    fn standing(&self, now: Duration) -> Standing {
        let sends = |at: Option<Duration>| at.is_some_and(|at| now.saturating_sub(at) < IDLE);
        match self.members {
            [Some(_), Some(_)] if self.sent_at.into_iter().all(sends) => Standing::Kept,
            [Some(_), Some(_)] => Standing::Busy,
            _ => Standing::Idle,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { rooms: 1024, per_address: 32, bytes: 100_000_000_000, lifetime: Duration::from_secs(24 * 3600) }
    }
}

fn key(member: SocketAddr) -> (IpAddr, SocketAddr) {
    (network(member.ip()), member)
}

fn widen(cookie: Cookie) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&cookie.0);
    bytes
}

/// Members of a room that is in use send something every second.
const IDLE: Duration = Duration::from_secs(60);
const SWEEP: Duration = Duration::from_secs(1);
/// How long a cookie is the newest, in seconds; it is valid for as long again.
const PERIOD: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room([1; 16]);

    fn at(number: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, (number >> 8) as u8], number & 0xff | 0x100))
    }

    /// Joins with a cookie that this address was given.
    fn join(rooms: &mut Rooms, now: Duration, from: SocketAddr, room: Room, role: Role) -> Message {
        let mut cookie = Cookie::default();
        loop {
            let Handled::Answer(answer) = rooms.handle(now, from, &Message::Join { room, role, cookie }.to_bytes())
            else {
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

    #[test]
    fn a_member_that_begins_anew_waits_for_the_other_to_do_so() {
        let mut rooms = Rooms::new([1; 32], Limits::default());
        let now = Duration::ZERO;
        assert_eq!(join(&mut rooms, now, at(1), ROOM, Role::Host), Message::Waiting { room: ROOM });
        assert_eq!(join(&mut rooms, now, at(2), ROOM, Role::Guest), Message::Peer { room: ROOM, address: at(1) });
        assert_eq!(rooms.handle(now, at(1), b"data"), Handled::Forward(at(2)));
        assert_eq!(join(&mut rooms, now, at(3), ROOM, Role::Guest), Message::Waiting { room: ROOM });
        for old in [at(1), at(2), at(3)] {
            assert_eq!(rooms.handle(now, old, b"data"), Handled::Dropped);
        }
        assert_eq!(join(&mut rooms, now, at(4), ROOM, Role::Host), Message::Peer { room: ROOM, address: at(3) });
        assert_eq!(rooms.len(), (1, 2));
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

        // Whoever is idle, or there for long, is forgotten.
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
                assert_eq!(rooms.handle(now, pair[0], b"data"), Handled::Forward(pair[1]), "{round}");
                assert_eq!(rooms.handle(now, pair[1], b"data"), Handled::Forward(pair[0]), "{round}");
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
}
