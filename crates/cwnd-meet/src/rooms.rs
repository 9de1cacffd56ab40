//! The rooms of a relay.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use cwnd_udt::places::{Places, Standing, neighbourhood};
use cwnd_udt::quota::network;

use crate::message::{Cookie, LENGTH, Message, Role, Room, is_message};
use crate::pair::{Claim, Pair};

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
    rooms: BTreeMap<Room, Pair>,
    /// The places of the rooms, each taken by whoever came first. A room with one member is idle, and one with two is busy. One through which both
    /// send more than an idle connection does is kept, as long as its network has no more of them than its share.
    places: Places<Room>,
    /// The number of kept rooms of each network.
    kept: BTreeMap<IpAddr, usize>,
    /// The room of each member, after the network in which that is.
    members: BTreeMap<(IpAddr, SocketAddr), Room>,
    swept_at: Duration,
}

/// The limits of a relay.
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

/// The action required after a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// Nothing.
    Dropped,
    /// Send this to where it came from.
    Answer([u8; LENGTH]),
    /// Send the datagram on, unchanged, to this member.
    Forward(SocketAddr),
}

impl Rooms {
    /// A relay without rooms. The key, of random bytes, is used for cookies.
    #[must_use]
    pub fn new(key: [u8; 32], limits: Limits) -> Self {
        let places = Places::new(limits.rooms, usize::MAX);
        let (rooms, kept, members) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { key, limits, rooms, places, kept, members, swept_at: Duration::ZERO }
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

    /// The numbers of rooms and of members.
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
        let Some(pair) = self.rooms.get_mut(&room) else { return Handled::Dropped };
        let [Some(host), Some(guest)] = pair.members else { return Handled::Dropped };
        if pair.bytes.saturating_add(length as u64) > self.limits.bytes {
            return Handled::Dropped;
        }
        pair.sent(now, usize::from(from != host), length as u64);
        self.judge(now, room, false);
        Handled::Forward(if from == host { guest } else { host })
    }

    /// Gives a member its place, if there is one. Returns the message about the other member.
    fn join(&mut self, now: Duration, from: SocketAddr, room: Room, role: Role) -> Message {
        let (mine, other) = (role.place(), role.other().place());
        let before = self.rooms.get(&room).and_then(|pair| pair.members[mine]);
        if before != Some(from) {
            if self.is_full(from.ip()) {
                return Message::Full { room };
            }
            let claim = self.rooms.get_mut(&room).filter(|_| before.is_some()).map(|pair| pair.claim(now, mine));
            match claim {
                Some(Claim::Denied) => return Message::Busy { room },
                Some(Claim::Open) => return Message::Waiting { room },
                Some(Claim::Granted) | None => {}
            }
            // A socket has one place.
            self.leave(from);
            if !self.open(now, from, room) {
                return Message::Full { room };
            }
            let Some(pair) = self.rooms.get_mut(&room) else { return Message::Full { room } };
            for address in pair.seat(now, mine, from).into_iter().flatten() {
                self.members.remove(&key(address));
            }
            self.members.insert(key(from), room);
        }
        self.judge(now, room, true);
        let Some(pair) = self.rooms.get_mut(&room) else { return Message::Full { room } };
        pair.used_at = now;
        match pair.members[other] {
            _ if pair.bytes >= self.limits.bytes => Message::Full { room },
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
        if let Some(lost) = lost {
            self.close(lost);
        }
        self.rooms.insert(room, Pair::new(now, neighbourhood(from.ip())));
        true
    }

    /// Forgets a room.
    fn close(&mut self, room: Room) {
        self.places.release(room);
        let Some(pair) = self.rooms.remove(&room) else { return };
        for member in pair.members.into_iter().flatten() {
            self.members.remove(&key(member));
        }
        count(&mut self.kept, pair.network, pair.standing, Standing::Idle);
    }

    /// Holds the place of a room as firmly as it deserves; `used` says that it was used now, in any case.
    fn judge(&mut self, now: Duration, room: Room, used: bool) {
        let Some(pair) = self.rooms.get_mut(&room) else { return };
        let mut deserved = pair.deserves(now);
        let others = self.kept.get(&pair.network).copied().unwrap_or(0) - usize::from(pair.standing == Standing::Kept);
        if deserved == Standing::Kept && others >= (self.limits.rooms / NETWORKS).max(1) {
            deserved = Standing::Busy;
        }
        if used || deserved != Standing::Kept || deserved != pair.standing {
            self.places.set(room, deserved);
        }
        count(&mut self.kept, pair.network, pair.standing, deserved);
        pair.standing = deserved;
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
        let Some(pair) = self.rooms.get_mut(&room) else { return };
        for place in pair.members.iter_mut().filter(|place| **place == Some(member)) {
            *place = None;
        }
        if pair.members == [None; 2] {
            self.close(room);
        }
    }

    /// Forgets rooms that nobody uses, and those that have been there for too long. Those that carry less than they did hold their places less
    /// firmly.
    fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept_at) < SWEEP {
            return;
        }
        self.swept_at = now;
        let lifetime = self.limits.lifetime;
        let is_over =
            |pair: &Pair| now.saturating_sub(pair.used_at) >= IDLE || now.saturating_sub(pair.since) >= lifetime;
        let over: Vec<Room> = self.rooms.iter().filter(|(_, pair)| is_over(pair)).map(|(room, _)| *room).collect();
        over.into_iter().for_each(|room| self.close(room));
        let kept = self.rooms.iter().filter(|(_, pair)| pair.standing == Standing::Kept);
        let kept: Vec<Room> = kept.map(|(room, _)| *room).collect();
        kept.into_iter().for_each(|room| self.judge(now, room, false));
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

impl Default for Limits {
    fn default() -> Self {
        Self { rooms: 1024, per_address: 32, bytes: 100_000_000_000, lifetime: Duration::from_secs(24 * 3600) }
    }
}

fn key(member: SocketAddr) -> (IpAddr, SocketAddr) {
    (network(member.ip()), member)
}

/// Counts a room of this network whose standing changes.
fn count(kept: &mut BTreeMap<IpAddr, usize>, network: IpAddr, before: Standing, after: Standing) {
    let (was, is) = (before == Standing::Kept, after == Standing::Kept);
    if was == is {
        return;
    }
    let rooms = kept.entry(network).or_default();
    *rooms = if is { *rooms + 1 } else { *rooms - 1 };
    if *rooms == 0 {
        kept.remove(&network);
    }
}

fn widen(cookie: Cookie) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&cookie.0);
    bytes
}

/// Members of a room that is in use send something every second.
const IDLE: Duration = Duration::from_secs(60);
const SWEEP: Duration = Duration::from_secs(1);
/// The number of networks that together can have kept rooms in all places.
const NETWORKS: usize = 64;
/// The time for which a cookie is the newest, in seconds; it is valid for as long again.
const PERIOD: u64 = 60;

#[cfg(test)]
mod tests;
