//! The two members of a room, and the traffic between them.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use cwnd_udt::places::Standing;

/// A room.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The host and the guest.
    pub(crate) members: [Option<SocketAddr>; 2],
    /// The network that has the room's place.
    pub(crate) network: IpAddr,
    pub(crate) since: Duration,
    pub(crate) used_at: Duration,
    /// As the places know it.
    pub(crate) standing: Standing,
    /// Forwarded so far.
    pub(crate) bytes: u64,
    /// Since when both members are there.
    matched_at: Duration,
    /// When something of each member was last forwarded, since both are there.
    sent_at: [Option<Duration>; 2],
    /// When somebody else asked for a place that was taken.
    asked_at: Option<Duration>,
    period: Period,
}

/// The traffic forwarded in a period of [`PERIOD`], which is compared with the required minimum.
#[derive(Debug)]
struct Period {
    since: Duration,
    bytes: u64,
    /// Whether the least passed in the period before.
    was_enough: bool,
}

/// The outcome for a newcomer that wants a place that another member has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It gets the place.
    Granted,
    /// Whether the member is still there will show.
    Open,
    /// The member is there.
    Denied,
}

impl Pair {
    /// A room without members, opened from this network.
    pub(crate) fn new(now: Duration, network: IpAddr) -> Self {
        Self {
            members: [None; 2],
            network,
            since: now,
            used_at: now,
            standing: Standing::Idle,
            bytes: 0,
            matched_at: now,
            sent_at: [None; 2],
            asked_at: None,
            period: Period { since: now, bytes: 0, was_enough: false },
        }
    }

    /// Whether both members send through the relay.
    fn is_relayed(&self) -> bool {
        self.members.iter().all(Option::is_some) && self.sent_at.iter().all(Option::is_some)
    }

    /// Decides about somebody with another address who wants the place of a member. Two that send to each other through the relay keep their
    /// places while they do. Two that have only just met have the time to try to connect directly; a host that comes again meanwhile has done so
    /// and waits for the next guest.
    pub(crate) fn claim(&mut self, now: Duration, place: usize) -> Claim {
        let since = |at: Duration| now.saturating_sub(at);
        let both = self.members.iter().all(Option::is_some);
        if !self.is_relayed() {
            let waits = both && place == GUEST && since(self.matched_at) < MEETING;
            return if waits { Claim::Open } else { Claim::Granted };
        }
        let sent_at = self.sent_at[place].unwrap_or(self.matched_at);
        if since(sent_at) >= SILENCE {
            return Claim::Granted;
        }
        let asked_at = *self.asked_at.insert(match self.asked_at {
            Some(at) if since(at) < 2 * SILENCE => at,
            _ => now,
        });
        if sent_at > asked_at { Claim::Denied } else { Claim::Open }
    }

    /// Gives a place to a member. If another one had it, this end has begun anew. If the other end has too, it will join again, and its
    /// place is free. Returns the members that have lost a place.
    pub(crate) fn seat(&mut self, now: Duration, place: usize, member: SocketAddr) -> [Option<SocketAddr>; 2] {
        let before = self.members[place].replace(member);
        let gone = before.and_then(|_| self.members[1 - place].take());
        (self.sent_at, self.asked_at, self.matched_at) = ([None; 2], None, now);
        [before, gone]
    }

    /// Counts what a member has sent to the other one.
    pub(crate) fn sent(&mut self, now: Duration, place: usize, bytes: u64) {
        (self.used_at, self.sent_at[place]) = (now, Some(now));
        self.bytes = self.bytes.saturating_add(bytes);
        self.turn(now);
        self.period.bytes = self.period.bytes.saturating_add(bytes);
    }

    /// How firmly the room holds its place. Nobody has proven anything to a relay, for which what passes is noise: progress counts instead.
    pub(crate) fn deserves(&mut self, now: Duration) -> Standing {
        self.turn(now);
        let sends = |at: Option<Duration>| at.is_some_and(|at| now.saturating_sub(at) < PERIOD);
        let moves = self.period.was_enough || self.period.bytes >= LEAST;
        match self.members {
            [Some(_), Some(_)] if moves && self.sent_at.into_iter().all(sends) => Standing::Kept,
            [Some(_), Some(_)] => Standing::Busy,
            _ => Standing::Idle,
        }
    }

    /// Begins a new period if the last one is over.
    fn turn(&mut self, now: Duration) {
        let took = now.saturating_sub(self.period.since);
        if took >= PERIOD {
            let was_enough = took < 2 * PERIOD && self.period.bytes >= LEAST;
            self.period = Period { since: now, bytes: 0, was_enough };
        }
    }
}

/// The index of the place of the guest.
const GUEST: usize = 1;
/// A member that is there sends something every second: two of the packets that keep an idle connection alive, and a round trip.
const SILENCE: Duration = Duration::from_millis(2500);
/// As long as an end tries to connect directly, and until the first packets of the next attempt, which is through the relay.
const MEETING: Duration = Duration::from_secs(8);
/// In each such period a room has to carry [`LEAST`] bytes, both ways together, to be lost to nobody: 1.1 kB a second, of which an idle
/// connection sends less than a tenth.
pub(crate) const PERIOD: Duration = Duration::from_secs(60);
pub(crate) const LEAST: u64 = 64 << 10;
