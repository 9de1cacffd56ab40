//! Socket ids that look random and map to a place in a table.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::number::SocketId;

/// Turns places of a table into socket ids and back. Without the key the ids of other connections cannot be guessed;
/// libudt counts its ids down, so that one id reveals the others.
#[derive(Clone, Debug)]
pub(crate) struct SocketIds {
    key: [u8; 16],
}

impl SocketIds {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// An id for `place`, below [`PLACES`]; another one for each of the 4096 values of `salt` that differ in their low bits.
    pub(crate) fn id(&self, place: u32, salt: u32) -> SocketId {
        let value = ((salt << PLACE_BITS) | (place % PLACES)) & ((1 << (2 * HALF)) - 1);
        let halves = (0..ROUNDS)
            .fold((value >> HALF, value & MASK), |(left, right), round| (right, left ^ self.mix(round, right)));
        SocketId::new(((halves.0 << HALF) | halves.1) + 1).expect("at least 1, at most 2^30")
    }

    /// The place an id was made for; for an id that was never made, any place or none.
    pub(crate) fn place(&self, id: SocketId) -> Option<u32> {
        let value = id.get() - 1;
        if value >> (2 * HALF) != 0 {
            return None;
        }
        let halves = (0..ROUNDS)
            .rev()
            .fold((value >> HALF, value & MASK), |(left, right), round| (right ^ self.mix(round, left), left));
        Some(((halves.0 << HALF) | halves.1) % PLACES)
    }

    /// The round function of a Feistel network, which makes any mix a permutation.
    fn mix(&self, round: u32, half: u32) -> u32 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write_u32((round << HALF) | half);
        hasher.finish() as u32 & MASK
    }
}

/// Places that ids can lead to.
pub(crate) const PLACES: u32 = 1 << PLACE_BITS;
/// A quarter of a million connections on a port, and 12 bits of salt.
const PLACE_BITS: u32 = 18;
/// Half the bits of an id; libudt's ids start below 2^30 too.
const HALF: u32 = 15;
const MASK: u32 = (1 << HALF) - 1;
/// Four rounds of a strong function are a strong permutation (Luby and Rackoff, SIAM J. Comput. 1988).
const ROUNDS: u32 = 4;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_id_leads_back_and_none_is_given_twice() {
        let names = SocketIds::new([7; 16]);
        let mut seen = BTreeSet::new();
        for place in (0..PLACES).step_by(97) {
            for salt in [0, 1, 4095] {
                let id = names.id(place, salt);
                assert!(seen.insert(id));
                assert_eq!(names.place(id), Some(place));
            }
        }
        assert_eq!(names.place(SocketId::new(0x7fff_ffff).unwrap()), None);
    }

    #[test]
    fn neighbours_have_unrelated_ids_and_another_key_gives_others() {
        let (ours, theirs) = (SocketIds::new([1; 16]), SocketIds::new([2; 16]));
        let near = (1..1000).filter(|place| ours.id(*place, 0).get().abs_diff(ours.id(place - 1, 0).get()) < 1 << 20);
        // Two random ids of 30 bits are that near with a probability of 2^-9.
        assert!(near.count() < 10);
        assert!((0..1000).all(|place| ours.id(place, 0) != theirs.id(place, 0)));
    }
}
