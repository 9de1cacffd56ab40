//! Cookies: a listener stores nothing about a client until the client has shown that it receives packets at its address.

use std::hash::{Hash, Hasher};
use std::net::SocketAddr;

use cwnd::{Span, Time};
use siphasher::sip::SipHasher24;

/// Makes cookies and knows them again, while they are fresh.
///
/// A cookie is a keyed hash of the client's address and the slot of time it was made in. One of the slot before is good too, so
/// that no client fails for having asked at the end of a slot.
#[derive(Clone, Debug)]
pub(super) struct Cookies {
    key: [u8; 16],
}

impl Cookies {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// The cookie for a client at `from`.
    pub(super) fn generate(&self, now: Time, from: SocketAddr) -> u32 {
        self.hash(slot(now), from)
    }

    /// Whether a client at `from` got this cookie in this slot or the one before.
    pub(super) fn is_valid(&self, now: Time, from: SocketAddr, cookie: u32) -> bool {
        let slot = slot(now);
        [Some(slot), slot.checked_sub(1)].into_iter().flatten().any(|slot| self.hash(slot, from) == cookie)
    }

    fn hash(&self, slot: u64, from: SocketAddr) -> u32 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        slot.hash(&mut hasher);
        from.hash(&mut hasher);
        hasher.finish() as u32
    }
}

fn slot(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos()
}

/// Longer than any client tries, so that a cookie outlives the attempt it was made for; short enough that one overheard is soon
/// of no use.
const SLOT: Span = Span::from_secs(60);
