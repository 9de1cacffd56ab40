//! Places that clients take, shared fairly among the networks that they come from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

use crate::quota::network;

/// A bounded number of places. When none is left, a place that can be lost goes to the newcomer:
///
/// - an [`Idle`](Standing::Idle) one of the network that has the most places, if that has more than the newcomer's;
/// - else an idle one of the newcomer's own network, if its address has more places than the newcomer's, or is the same;
/// - else a [`Busy`](Standing::Busy) one of a network, or of an address in the newcomer's network, that still has at least as many places
///   as the newcomer's after the exchange.
///
/// Within a network the address with the most places loses one, and of an address the one that was used least recently. A network is 24
/// bits of IPv4, the smallest block that is routed by itself, or 48 bits of IPv6, the most that a site usually gets. An address is one
/// of IPv4, or 64 bits of IPv6, as [`Quota`](crate::quota::Quota) counts them. The outcome depends on nothing but the calls made before.
///
/// ```
/// use cwnd_udt::places::{Full, Places, Standing};
///
/// let (crowd, stranger) = ("192.0.2.1".parse()?, "198.51.100.1".parse()?);
/// let mut places = Places::new(2, 2);
/// assert_eq!(places.take("first", crowd), Ok(None));
/// assert_eq!(places.take("second", crowd), Ok(None));
/// assert_eq!(places.take("third", stranger), Ok(Some("first")));
/// places.set("second", Standing::Kept);
/// places.set("third", Standing::Kept);
/// assert_eq!(places.take("fourth", crowd), Err(Full));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Places<K> {
    total: usize,
    per_address: usize,
    next: u64,
    taken: BTreeMap<K, Taken>,
    networks: BTreeMap<IpAddr, Network<K>>,
    rankings: [Ranking; 2],
}

/// How firmly a place is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its holder has not used it yet.
    Idle,
    /// Its holder uses it, and has not proven who it is.
    Busy,
    /// It is not lost to others.
    Kept,
}

/// There is no place, and nobody has to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no place is left")]
pub struct Full;

#[derive(Clone, Copy, Debug)]
struct Taken {
    address: IpAddr,
    standing: Standing,
    /// Grows with every use of any place.
    used: u64,
}

#[derive(Clone, Debug)]
struct Network<K> {
    count: usize,
    addresses: BTreeMap<IpAddr, Address<K>>,
    rankings: [Ranking; 2],
}

#[derive(Clone, Debug)]
struct Address<K> {
    count: usize,
    /// The places that can be lost, by when they were used.
    losable: [BTreeMap<u64, K>; 2],
}

/// Networks, or addresses, that can lose a place. The one with the most places comes last; of those with as many, the one whose place was
/// used least recently.
type Ranking = BTreeSet<Rank>;
type Rank = (usize, Reverse<u64>, IpAddr);

impl<K: Copy + Ord> Places<K> {
    /// `total` places, of which one address has at most `per_address`.
    #[must_use]
    pub fn new(total: usize, per_address: usize) -> Self {
        let (taken, networks, rankings) = (BTreeMap::new(), BTreeMap::new(), Default::default());
        Self { total, per_address, next: 0, taken, networks, rankings }
    }

    /// Takes a place for `key`, a newcomer at `ip`, which is idle at first. Returns the key that has lost its place to it.
    ///
    /// # Errors
    /// [`Full`] if there is no place, and none that can be lost to a newcomer from there. Nothing has changed then.
    pub fn take(&mut self, key: K, ip: IpAddr) -> Result<Option<K>, Full> {
        self.release(key);
        let address = network(ip);
        let lost = if self.of_address(address) >= self.per_address {
            Some(self.address(address).and_then(|held| held.oldest(IDLE)).ok_or(Full)?)
        } else if self.taken.len() >= self.total {
            Some(self.loser(address).ok_or(Full)?)
        } else {
            None
        };
        if let Some(lost) = lost {
            self.release(lost);
        }
        self.insert(key, address, Standing::Idle);
        Ok(lost)
    }

    /// The place of `key`, if it has one, is used now and held like this from now on.
    pub fn set(&mut self, key: K, standing: Standing) {
        if let Some(Taken { address, .. }) = self.taken.get(&key).copied() {
            self.release(key);
            self.insert(key, address, standing);
        }
    }

    /// Releases the place of `key`, if it has one.
    pub fn release(&mut self, key: K) {
        let Some(Taken { address, standing, used }) = self.taken.remove(&key) else { return };
        self.change(address, |held| {
            held.count -= 1;
            if let Some(losable) = index(standing) {
                held.losable[losable].remove(&used);
            }
        });
    }

    /// How many places are taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether no place is taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    fn insert(&mut self, key: K, address: IpAddr, standing: Standing) {
        let used = self.next;
        self.next += 1;
        self.taken.insert(key, Taken { address, standing, used });
        self.change(address, |held| {
            held.count += 1;
            if let Some(losable) = index(standing) {
                held.losable[losable].insert(used, key);
            }
        });
    }

    /// The connection that gives up its place for a newcomer at `address`.
    fn loser(&self, address: IpAddr) -> Option<K> {
        let own = self.networks.get(&neighbourhood(address));
        let held = own.map_or(0, |network| network.count);
        let other = |losable: usize| {
            let (count, _, network) = self.rankings[losable].last()?;
            (*count > held + losable).then(|| self.networks[network].oldest(losable))?
        };
        let near = |losable| own.and_then(|network| network.loser(address, losable));
        other(IDLE).or_else(|| near(IDLE)).or_else(|| other(BUSY)).or_else(|| near(BUSY))
    }

    fn address(&self, address: IpAddr) -> Option<&Address<K>> {
        self.networks.get(&neighbourhood(address))?.addresses.get(&address)
    }

    fn of_address(&self, address: IpAddr) -> usize {
        self.address(address).map_or(0, |held| held.count)
    }

    /// Changes what an address holds, and then the rankings.
    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut Address<K>)) {
        let near = neighbourhood(address);
        let network = self.networks.entry(near).or_default();
        rank(&mut self.rankings, network.ranks(near), |ranking, old| _ = ranking.remove(&old));
        network.change(address, change);
        rank(&mut self.rankings, network.ranks(near), |ranking, new| _ = ranking.insert(new));
        if network.count == 0 {
            self.networks.remove(&near);
        }
    }
}

impl<K: Copy + Ord> Network<K> {
    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut Address<K>)) {
        let held = self.addresses.entry(address).or_default();
        self.count -= held.count;
        rank(&mut self.rankings, held.ranks(address), |ranking, old| _ = ranking.remove(&old));
        change(held);
        rank(&mut self.rankings, held.ranks(address), |ranking, new| _ = ranking.insert(new));
        self.count += held.count;
        if held.count == 0 {
            self.addresses.remove(&address);
        }
    }

    /// The place that the address with the most places used least recently.
    fn oldest(&self, losable: usize) -> Option<K> {
        let (_, _, address) = self.rankings[losable].last()?;
        self.addresses[address].oldest(losable)
    }

    /// The connection that gives up its place for a newcomer at `address`, which is in this network.
    fn loser(&self, address: IpAddr, losable: usize) -> Option<K> {
        let own = self.addresses.get(&address);
        let held = own.map_or(0, |own| own.count);
        let more = self.rankings[losable].last().is_some_and(|(count, ..)| *count > held + losable);
        let same = || own.filter(|_| losable == IDLE).and_then(|own| own.oldest(IDLE));
        if more { self.oldest(losable) } else { same() }
    }

    fn ranks(&self, network: IpAddr) -> [Option<Rank>; 2] {
        [IDLE, BUSY].map(|losable| self.rankings[losable].last().map(|(_, used, _)| (self.count, *used, network)))
    }
}

impl<K: Copy> Address<K> {
    fn oldest(&self, losable: usize) -> Option<K> {
        self.losable[losable].first_key_value().map(|(_, key)| *key)
    }

    fn ranks(&self, address: IpAddr) -> [Option<Rank>; 2] {
        [IDLE, BUSY].map(|losable| {
            self.losable[losable].first_key_value().map(|(used, _)| (self.count, Reverse(*used), address))
        })
    }
}

impl<K> Default for Network<K> {
    fn default() -> Self {
        Self { count: 0, addresses: BTreeMap::new(), rankings: Default::default() }
    }
}

impl<K> Default for Address<K> {
    fn default() -> Self {
        Self { count: 0, losable: [BTreeMap::new(), BTreeMap::new()] }
    }
}

/// The network of an address: 24 bits of IPv4, 48 bits of IPv6.
#[must_use]
pub fn neighbourhood(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() >> 8 << 8)),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 80 << 80)),
    }
}

fn rank(rankings: &mut [Ranking; 2], ranks: [Option<Rank>; 2], change: impl Fn(&mut Ranking, Rank)) {
    for (ranking, rank) in rankings.iter_mut().zip(ranks) {
        if let Some(rank) = rank {
            change(ranking, rank);
        }
    }
}

/// Which of the places that can be lost a standing belongs to.
fn index(standing: Standing) -> Option<usize> {
    match standing {
        Standing::Idle => Some(IDLE),
        Standing::Busy => Some(BUSY),
        Standing::Kept => None,
    }
}

/// The index of idle places. It is also by how many places more than the newcomer's a network that loses one must have.
const IDLE: usize = 0;
/// The margin for busy places: without this one place more, two networks would take the last place from each other in turns.
const BUSY: usize = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(network: u8, host: u8) -> IpAddr {
        IpAddr::from([192, 0, network, host])
    }

    #[test]
    fn networks_and_addresses_are_told_apart() {
        let near = |text: &str| neighbourhood(text.parse().unwrap()).to_string();
        assert_eq!(near("192.0.2.77"), "192.0.2.0");
        assert_eq!(near("::ffff:192.0.2.77"), "192.0.2.0");
        assert_eq!(near("2001:db8:1:2::3"), "2001:db8:1::");
    }

    #[test]
    fn the_network_with_the_most_places_makes_room_and_its_greediest_address_first() {
        let mut places = Places::new(5, 3);
        for (key, from) in [(1, ip(1, 1)), (2, ip(2, 1)), (3, ip(2, 2)), (4, ip(2, 2)), (5, ip(1, 2))] {
            assert_eq!(places.take(key, from), Ok(None));
        }
        assert_eq!(places.take(6, ip(3, 1)), Ok(Some(3)), "the older of the address with two");
        assert_eq!(places.take(7, ip(3, 2)), Ok(Some(1)), "the oldest of networks with as many");
        places.set(2, Standing::Kept);
        assert_eq!(
            places.take(8, ip(2, 9)),
            Ok(Some(4)),
            "its own network has as many as any: an address with more gives"
        );
        assert_eq!(places.len(), 5);
    }

    #[test]
    fn who_is_busy_makes_room_for_those_with_fewer_only_and_who_is_kept_for_nobody() {
        let mut places = Places::new(4, 4);
        for key in 1..=4 {
            assert_eq!(places.take(key, ip(1, 1)), Ok(None));
            places.set(key, Standing::Busy);
        }
        assert_eq!(places.take(5, ip(1, 1)), Err(Full), "its own transfers go on");
        assert_eq!(places.take(5, ip(1, 2)), Ok(Some(1)), "a neighbour with none");
        places.set(5, Standing::Busy);
        assert_eq!(places.take(6, ip(2, 1)), Ok(Some(2)));
        places.set(6, Standing::Busy);
        assert_eq!(places.take(7, ip(2, 1)), Ok(Some(3)));
        places.set(7, Standing::Busy);
        assert_eq!(places.take(8, ip(2, 1)), Err(Full), "both networks have two");
        [4, 5, 6, 7].into_iter().for_each(|key| places.set(key, Standing::Kept));
        assert_eq!(places.take(8, ip(3, 1)), Err(Full));
    }

    #[test]
    fn an_address_at_its_bound_replaces_its_own_and_a_use_renews() {
        let mut places = Places::new(10, 2);
        assert_eq!([places.take(1, ip(1, 1)), places.take(2, ip(1, 1))], [Ok(None), Ok(None)]);
        places.set(1, Standing::Idle);
        assert_eq!(places.take(3, ip(1, 1)), Ok(Some(2)));
        [1, 3].into_iter().for_each(|key| places.set(key, Standing::Busy));
        assert_eq!(places.take(4, ip(1, 1)), Err(Full));
        places.release(1);
        assert_eq!((places.take(4, ip(1, 1)), places.len()), (Ok(None), 2));
    }

    #[test]
    fn one_place_held_from_afar_outlives_any_crowd() {
        let mut places = Places::new(64, 16);
        places.take(u32::MAX, ip(9, 1)).unwrap();
        for key in 0..10_000_u32 {
            let crowd = places.take(key, ip((key % 8) as u8, 1));
            assert_ne!(crowd, Ok(Some(u32::MAX)), "{key}");
        }
        assert!(places.taken.contains_key(&u32::MAX));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Take(u8, u8),
        Set(usize, Standing),
        Release(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let standing = prop_oneof![Just(Standing::Idle), Just(Standing::Busy), Just(Standing::Kept)];
        prop_oneof![
            3 => (0_u8..5, 0_u8..3).prop_map(|(network, host)| Step::Take(network, host)),
            1 => (any::<usize>(), standing).prop_map(|(which, standing)| Step::Set(which, standing)),
            1 => any::<usize>().prop_map(Step::Release),
        ]
    }

    fn count(places: &Places<usize>, is: impl Fn(IpAddr) -> bool) -> usize {
        places.taken.values().filter(|taken| is(taken.address)).count()
    }

    /// The result of each step.
    fn outcomes(steps: &[Step]) -> Result<Vec<Result<Option<usize>, Full>>, TestCaseError> {
        let mut places = Places::new(8, 4);
        let mut outcomes = Vec::new();
        for (key, step) in steps.iter().enumerate() {
            let nth = |which: usize| places.taken.keys().nth(which % places.len().max(1)).copied();
            match *step {
                Step::Set(which, standing) => nth(which).into_iter().for_each(|key| places.set(key, standing)),
                Step::Release(which) => nth(which).into_iter().for_each(|key| places.release(key)),
                Step::Take(near, host) => {
                    let (before, from) = (places.clone(), ip(near, host));
                    let outcome = places.take(key, from);
                    outcomes.push(outcome);
                    let of = |address: IpAddr| count(&before, |ip| neighbourhood(ip) == neighbourhood(address));
                    if let Ok(Some(lost)) = outcome {
                        let Taken { address, standing, .. } = before.taken[&lost];
                        prop_assert_ne!(standing, Standing::Kept);
                        let near = neighbourhood(address) == neighbourhood(from);
                        prop_assert!(near || of(address) > of(from), "a network lost a place to one with as many");
                        prop_assert!(standing == Standing::Idle || of(address) > 1 + of(from) || near);
                    }
                    prop_assert!(outcome.is_ok() || before.taken.keys().eq(places.taken.keys()));
                }
            }
            prop_assert!(
                places.len() <= 8
                    && (0..5).all(|near| (0..3).all(|host| count(&places, |at| at == ip(near, host)) <= 4))
            );
            let counted: usize = places.networks.values().map(|network| network.count).sum();
            prop_assert_eq!(counted, places.len());
        }
        (0..steps.len()).for_each(|key| places.release(key));
        prop_assert!(places.networks.is_empty() && places.rankings.iter().all(BTreeSet::is_empty));
        Ok(outcomes)
    }

    proptest! {
        #[test]
        fn no_network_loses_a_place_to_one_with_as_many(steps in prop::collection::vec(step(), 1..200)) {
            prop_assert_eq!(outcomes(&steps)?, outcomes(&steps)?);
        }
    }
}
